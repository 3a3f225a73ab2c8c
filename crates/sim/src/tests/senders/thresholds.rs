//! Windows that come to their threshold.

use super::run;

#[test]
fn real_windows_pass_their_threshold_under_linux() {
    // Half of a window is rarely a whole number of bytes. 20 Mbit/s and 40 ms hold 66 segments, the buffer as many: Tahoe
    // is full within some seconds again and again, and so is Compound.
    for law in ["tahoe", "compound"] {
        let text = format!(
            r#"{{
                "duration": "30 s",
                "topology": {{"kind": "path", "rate": "20 Mbit/s", "rtt": "40 ms"}},
                "flow": [{{"name": "f", "variant": "{law}", "profile": "linux"}}],
                "measure": [{{"name": "late", "from": "10 s"}}]
            }}"#
        );
        let run = run(&text);
        let late = run.flows.iter().find(|flow| flow.measure == "late").unwrap();
        assert!(late.congestion_events > 1, "{law}: {}", late.congestion_events);
    }
}
