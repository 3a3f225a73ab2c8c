//! Links whose rate is not one number, and losses in bursts, over whole paths.

use super::{Run, run};
use crate::records::LinkRow;

fn scenario(bottleneck: &str, duration: &str) -> String {
    format!(
        r#"{{
            "duration": "{duration}",
            "topology": {{
                "kind": "dumbbell",
                "bottleneck": {{
                    "delay": "18 ms", "reverse": {{"rate": "1 Gbit/s", "channel": {{"kind": "wifi"}}}},
                    {bottleneck}
                }},
                "access": {{"rate": "1 Gbit/s", "delay": "1 ms"}}
            }},
            "flow": [{{"name": "f", "variant": "cubic"}}],
            "measure": [{{"name": "late", "from": "5 s"}}]
        }}"#
    )
}

fn late_goodput(run: &Run) -> f64 {
    run.flows.iter().find(|flow| flow.measure == "late").unwrap().goodput_bps
}

#[test]
fn a_flow_gets_the_rate_of_a_wireless_lan() {
    // 31.9 Mbit/s, 1460 of 1500 bytes are data: 31.05 Mbit/s. The deep queue is never empty, so that
    // bundles are full. Levels of 0.6 to 1.4 in steps that last 0.1 s: over 100 s the mean is within
    // some 5 %.
    let wifi = r#""rate": "31.9 Mbit/s", "channel": {"kind": "wifi", "hold": "100 ms"},
        "queue": {"kind": "droptail", "limit": "4 BDP"}"#;
    let goodput = late_goodput(&run(&scenario(wifi, "105 s")));
    assert!((goodput / 31.05e6 - 1.0).abs() < 0.07, "{goodput}");
}

#[test]
fn a_flow_gets_what_a_trace_delivers() {
    // 100 opportunities a second: 1.2 Mbit/s, 1.168 of data. The link's rate says nothing.
    let times: Vec<String> = (1..=100).map(|n| (10 * n).to_string()).collect();
    let trace = format!(
        r#""rate": "10 Mbit/s", "channel": {{"kind": "trace", "times_ms": [{}]}}"#,
        times.join(",")
    );
    let run = run(&scenario(&trace, "25 s"));
    let goodput = late_goodput(&run);
    assert!((goodput / 1.168e6 - 1.0).abs() < 0.01, "{goodput}");
}

#[test]
fn utilisation_is_what_was_carried_of_what_could_have_been() {
    // A window of 20 segments (29,200 of 30,000 bytes) goes round in 40 ms, 1 ms on the link, 1 ms in which an ACK waits
    // for the second segment, and what is left to an opportunity: 42 to 44 ms, 454 to 476 packets a second. 12 Mbit/s
    // are 1000, and so are one opportunity a millisecond, two in every other one, and a series whose mean is that. A
    // link that never changes is in use for as much of the time.
    let held = r#""tcp": {"receive_window": "30 kB"}"#;
    let used = |channel: &str| {
        let fast = format!(r#""rate": "12 Mbit/s"{channel}"#);
        let text = scenario(&fast, "20 s")
            .replace(r#", "channel": {"kind": "wifi"}"#, "")
            .replace(r#""variant": "cubic""#, &format!(r#""variant": "cubic", {held}"#));
        let run = run(&text);
        let of = |row: &&LinkRow| row.measure == "late" && row.link == "bottleneck";
        let row = run.links.iter().find(of).unwrap();
        let share = row.delivered_packets as f64 / (1000.0 * row.duration_s);
        assert!((row.utilisation - share).abs() < 1e-3, "{row:?}");
        row.utilisation
    };
    let plain = used("");
    let trace = used(r#", "channel": {"kind": "trace", "times_ms": [1]}"#);
    let pairs = used(r#", "channel": {"kind": "trace", "times_ms": [2, 2]}"#);
    let rates = used(
        r#", "channel": {"kind": "rates", "series": [
            {"at": "0 s", "rate": "18 Mbit/s"}, {"at": "1 ms", "rate": "6 Mbit/s"}]}"#,
    );
    for found in [plain, trace, pairs, rates] {
        assert!((0.454..0.4765).contains(&found), "{plain} {trace} {pairs} {rates}");
    }
    // A flow that is not held uses nearly all; what is missing are a few times in which the queue was empty.
    let full = run(&scenario(
        r#""rate": "12 Mbit/s", "channel": {"kind": "cellular", "period": "20 s"}"#,
        "20 s",
    ));
    let late = full.links.iter().find(|l| l.measure == "late" && l.link == "bottleneck").unwrap();
    assert!((0.95..=1.0).contains(&late.utilisation), "{late:?}");
}

#[test]
fn a_drawn_link_is_a_function_of_the_seed() {
    let cellular = r#""rate": "8 Mbit/s", "channel": {"kind": "cellular", "period": "20 s"}"#;
    let text = scenario(cellular, "20 s");
    assert_eq!(run(&text), run(&text));
    let other = text.replace(r#""duration""#, r#""seed": 2, "duration""#);
    assert_ne!(run(&text).flows, run(&other).flows);
}

#[test]
fn an_aqm_may_stand_in_front_of_a_channel() {
    let wifi = r#""rate": "31.9 Mbit/s", "channel": {"kind": "wifi", "hold": "100 ms"},
        "queue": {"kind": "fq_codel"}"#;
    let goodput = late_goodput(&run(&scenario(wifi, "35 s")));
    assert!(goodput > 20e6, "{goodput}");
}

#[test]
fn losses_come_in_bursts() {
    // 0.0005/(0.0005 + 0.25) = 0.2 % of the packets.
    let lossy = r#""rate": "20 Mbit/s", "loss": {"to_bad": 0.0005, "to_good": 0.25}"#;
    let run = run(&scenario(lossy, "60 s"));
    let link = run.links.iter().find(|l| l.measure == "run" && l.link == "bottleneck").unwrap();
    let share = link.lost_packets as f64 / link.delivered_packets as f64;
    assert!((0.0005..0.005).contains(&share), "{share}");
}

#[test]
fn impossible_channels_are_refused_by_their_key() {
    let error = |bottleneck: &str| {
        let scenario = crate::Scenario::from_json(&scenario(bottleneck, "1 s")).unwrap();
        scenario.check().unwrap_err().to_string()
    };
    let channel = |channel: &str| error(&format!(r#""rate": "10 Mbit/s", "channel": {channel}"#));
    let key = "topology.bottleneck.channel";
    assert!(channel(r#"{"kind": "wifi", "bundle": 0}"#).starts_with(&format!("{key}.bundle: ")));
    assert!(channel(r#"{"kind": "wifi", "levels": []}"#).starts_with(&format!("{key}.levels: ")));
    assert!(channel(r#"{"kind": "wifi", "hold": "0 s"}"#).starts_with(&format!("{key}.hold: ")));
    let slow = channel(r#"{"kind": "wifi", "bundle": 1, "overhead": "10 ms"}"#);
    assert!(slow.starts_with(&format!("{key}.overhead: ")), "{slow}");
    let trace = channel(r#"{"kind": "trace", "times_ms": [5, 3]}"#);
    assert!(trace.starts_with(&format!("{key}.times_ms: expected times in order")), "{trace}");
    assert!(channel(r#"{"kind": "cellular", "period": "1 ms"}"#).contains("channel.period: "));
    let loss = error(r#""rate": "10 Mbit/s", "loss": {"to_bad": 1.5, "to_good": 0.5}"#);
    assert!(loss.starts_with("topology.bottleneck.loss.to_bad: 1.5 is not"), "{loss}");
}
