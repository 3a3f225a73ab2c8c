//! CCP and CCPD over whole paths: 10 Mbit/s, a base round trip of 40 ms.

use super::{Run, run};

fn scenario(variant: &str, buffer: u32, more: &str) -> String {
    format!(
        r#"{{
            "duration": "60 s",
            "topology": {{
                "kind": "dumbbell",
                "bottleneck": {{
                    "rate": "10 Mbit/s", "delay": "18 ms", "reverse": {{"loss": 0.0}},
                    "queue": {{"kind": "droptail", "limit": "{buffer} packet"}}{more}
                }},
                "access": {{"rate": "1 Gbit/s", "delay": "1 ms"}}
            }},
            "flow": [{{"name": "f0", "variant": "{variant}"}}],
            "probe": [{{"flow": "f0", "what": ["cwnd"], "every": "change"}}],
            "measure": [{{"name": "late", "from": "20 s"}}]
        }}"#
    )
}

/// The mean over time of the window from 20 s on, in segments.
fn late_window(run: &Run) -> f64 {
    const FROM: u64 = 20_000_000_000;
    const END: u64 = 60_000_000_000;
    let samples = &run.flow_samples;
    let ends = samples.time_ns.iter().skip(1).copied().chain([END]);
    let changes = samples.time_ns.iter().zip(ends).zip(&samples.cwnd_segments);
    let sum: f64 = changes
        .map(|((at, end), window)| end.max(FROM).saturating_sub((*at).max(FROM)) as f64 * window)
        .sum();
    sum / (END - FROM) as f64
}

fn utilisation(run: &Run) -> f64 {
    let is_late = |l: &&crate::records::LinkRow| {
        l.measure == "late" && l.link == "bottleneck" && l.direction == "forward"
    };
    run.links.iter().find(is_late).unwrap().utilisation
}

#[test]
fn each_reading_settles_where_its_equation_does() {
    // 10 Mbit/s are 833.3 packets of 1500 bytes a second. The base round trip is 40 ms, 1.2 ms for a
    // packet on the bottleneck and a little for the access links: 41.3 ms, so CD = 34.4 segments. A
    // full buffer of N packets adds N segments: B = 34.4 + N for the path, B = N for the buffer.
    // Where the pipe is full x = W - CD. Put into the equations with Kp = 1 (docs/algorithms/ccp.md):
    // incremental W = (B + CD)/2; literal CCP W = (B + CD)/4, literal CCPD W = (B + CD)/3. Where it is
    // not full x = 0: literal CCP W = B/3, literal CCPD W = B/2.
    for (variant, buffer, expected) in [
        ("ccp(1)", 132, 100.4),
        ("ccpd(1,2000)", 132, 100.4),
        ("ccpd(1,4000)", 132, 100.4),
        ("ccp(1)", 33, 50.9),
        ("ccpd(1,2000)", 33, 50.9),
        ("ccp(1,buffer)", 132, 83.2),
        ("ccp(1,literal)", 132, 50.2),
        ("ccpd(1,2000,literal)", 132, 66.9),
        ("ccp(1,literal,buffer)", 132, 41.6),
        ("ccpd(1,2000,literal,buffer)", 132, 55.5),
        ("ccp(1,literal)", 33, 22.5),
        ("ccpd(1,2000,literal)", 33, 33.7),
    ] {
        let window = late_window(&run(&scenario(variant, buffer, "")));
        assert!(
            (window / expected - 1.0).abs() < 0.05,
            "{variant}, {buffer} packets: {window}, not {expected}"
        );
    }
}

#[test]
fn other_gains_move_the_equilibrium_of_ccp_alone() {
    // Kp = 0.5: CCP W = 0.5 (B - x) = 0.5 (B + CD)/1.5 = 201.2/3 = 66.9. In CCPD the whole difference
    // is weighted, which is zero where it was: 100.4.
    for (variant, expected) in [("ccp(0.5)", 66.9), ("ccpd(0.5,2000)", 100.4)] {
        let window = late_window(&run(&scenario(variant, 132, "")));
        assert!((window / expected - 1.0).abs() < 0.05, "{variant}: {window}, not {expected}");
    }
}

#[test]
fn losses_that_are_not_congestion_cost_nothing() {
    for variant in ["ccp(1)", "ccpd(1,2000)", "ccpd(1,4000)"] {
        let lossy = run(&scenario(variant, 33, r#", "loss": 0.01"#));
        assert!(utilisation(&lossy) > 0.97, "{variant} {}", utilisation(&lossy));
    }
    // Mathis: 12.2 segments a round trip of 34.
    let reno = run(&scenario("newreno+sack", 33, r#", "loss": 0.01"#));
    assert!(utilisation(&reno) < 0.4);
}

#[test]
fn only_the_path_as_storage_fills_a_pipe_with_a_shallow_buffer() {
    // N = 16: B = 50.4. Incremental (50.4 + 34.4)/2 = 42.4, more than the pipe's 34.4; literal CCP
    // 50.4/3 = 16.8, half of it.
    let full = utilisation(&run(&scenario("ccp(1)", 16, "")));
    assert!(full > 0.99, "{full}");
    let half = utilisation(&run(&scenario("ccp(1,literal)", 16, "")));
    assert!((half - 16.8 / 34.4).abs() < 0.05, "{half}");
}
