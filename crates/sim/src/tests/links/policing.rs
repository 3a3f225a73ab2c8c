//! Policers, shapers and delays that vary, over whole paths.

use super::{Run, run};

/// A path of 100 Mbit/s with these keys and flows, for 30 s.
fn path(keys: &str, variant: &str, count: u32) -> Run {
    run(&format!(
        r#"{{
            "duration": "30 s",
            "topology": {{"kind": "path", "rate": "100 Mbit/s", {keys}}},
            "flow": [{{"name": "f", "variant": "{variant}", "count": {count}}}],
            "measure": [{{"name": "late", "from": "10 s"}}]
        }}"#
    ))
}

fn late_mbps(run: &Run) -> f64 {
    let late = run.flows.iter().filter(|flow| flow.measure == "late");
    late.map(|flow| flow.goodput_bps).sum::<f64>() / 1e6
}

#[test]
fn a_policer_leaves_a_loss_based_sender_less_the_longer_its_round_trip() {
    let policed = |rtt: &str, variant: &str, count| {
        let queue = r#""queue": {"kind": "policer", "rate": "20 Mbit/s", "burst": "30 kB"}"#;
        late_mbps(&path(&format!(r#""rtt": "{rtt}", {queue}"#), variant, count))
    };
    // Tokens of 20 Mbit/s let 1460 of 1500 bytes through: 19.47 Mbit/s at most. Nothing waits, so that a window of a
    // bandwidth-delay product loses, and a loss leaves half of it.
    let [near, far] = ["10 ms", "100 ms"].map(|rtt| policed(rtt, "newreno+sack", 1));
    assert!(near < 19.5 && far < 0.85 * near, "{near} {far}");
    // BBR's model of the path takes losses above 2 % for its bound, and four flows do not halve at once.
    let [bbr, four] = [policed("100 ms", "bbr", 1), policed("100 ms", "newreno+sack", 4)];
    assert!(bbr > 1.15 * far && four > 1.1 * far, "{bbr} {four} {far}");
    assert!(bbr < 19.5 && four < 19.5);
}

#[test]
fn a_shaper_queues_what_a_policer_drops() {
    let shaper = r#"{"kind": "path", "rate": "20 Mbit/s", "rtt": "40 ms", "buffer": "100 ms",
        "channel": {"kind": "shaper", "burst": "300 kB", "peak": "100 Mbit/s"}}"#;
    let scenario = |flow: &str| {
        format!(
            r#"{{"duration": "30 s", "topology": {shaper}, "flow": [{{"name": "f", {flow}}}]}}"#
        )
    };
    let bulk = run(&scenario(r#""variant": "cubic""#));
    // 1460 of 1500 bytes, and the burst besides: 19.47 Mbit/s over 30 s, and 0.08 of 300 kB.
    let goodput = bulk.flows[0].goodput_bps / 1e6;
    assert!((19.0..19.6).contains(&goodput), "{goodput}");
    // 62 kB find tokens for all of them: they leave as on a path of 100 Mbit/s, in 5 ms. At 20 Mbit/s it were 25.
    let small = r#""variant": "cubic+iw50", "app": {"kind": "bulk", "size": "60 kB"}"#;
    let took = run(&scenario(small)).flows[0].completed_s.unwrap();
    // A round trip for the handshake and one for the data.
    assert!((0.084..0.086).contains(&took), "{took}");
}

#[test]
fn a_link_is_used_by_its_share_of_the_rate_that_it_can_keep() {
    // A packet of 1500 bytes each 1.5 ms: 8 Mbit/s. Tokens of 20 Mbit/s let 2.5 times as much pass, whatever the wire's
    // rate: used 0.4. On a wire of 5 Mbit/s from 10 s on packets wait: it carries 80 + 50 of 200 + 50 Mbit.
    let used = |bottleneck: &str, more: &str| {
        let run = run(&format!(
            r#"{{
                "duration": "20 s",
                "topology": {{"kind": "path", "rtt": "10 ms", {bottleneck}}},
                "cross_traffic": [{{"name": "c", "link": "bottleneck", "kind": "periodic",
                    "rate": "666.6667 packet/s", "size": "1500 B"}}]
                {more}
            }}"#
        ));
        run.links.iter().find(|link| link.direction == "forward").unwrap().utilisation
    };
    let queue = r#""queue": {"kind": "policer", "rate": "20 Mbit/s", "limit": "100 ms"}"#;
    let policed = format!(r#""rate": "1 Gbit/s", {queue}"#);
    let shaped = r#""rate": "20 Mbit/s", "buffer": "100 ms",
        "channel": {"kind": "shaper", "burst": "32 kB", "peak": "10 Gbit/s"}"#;
    let cake = r#""rate": "1 Gbit/s", "queue": {"kind": "cake", "bandwidth": "20 Mbit/s"}"#;
    for bottleneck in [shaped, &policed, cake] {
        let found = used(bottleneck, "");
        assert!((found - 0.4).abs() < 1e-3, "{bottleneck} {found}");
    }
    let slower =
        r#", "event": [{"at": "10 s", "link": "bottleneck", "set": {"rate": "5 Mbit/s"}}]"#;
    let found = used(&policed, slower);
    assert!((found - 0.52).abs() < 1e-3, "{found}");
}

#[test]
fn a_trace_of_delays_sets_the_round_trip() {
    // 20 ms for two seconds, then 50, each way: 40 and 100 ms there and back, and an idle path otherwise.
    let jitter = r#"{"kind": "trace", "delays_ms": [20, 50], "every": "2 s"}"#;
    let text = format!(
        r#"{{
            "duration": "8 s",
            "topology": {{"kind": "path", "rate": "100 Mbit/s", "rtt": "0 s", "buffer": "10 packet",
                "jitter": {jitter}}},
            "flow": [{{"name": "f", "variant": "newreno",
                "app": {{"kind": "cbr", "rate": "200 kbit/s", "message": "1000 B"}}}}],
            "measure": [
                {{"name": "low", "from": "4.3 s", "for": "1.6 s"}},
                {{"name": "high", "from": "2.3 s", "for": "1.6 s"}}
            ]
        }}"#
    );
    let run = run(&text);
    let rtt = |name: &str| {
        let row = run.flows.iter().find(|flow| flow.measure == name).unwrap();
        row.path_rtt_mean_s.unwrap() * 1e3
    };
    // A message each 40 ms takes 0.08 ms; ACKs may be delayed by up to 40 ms, which the path's round trip has in it.
    assert!((40.0..85.0).contains(&rtt("low")) && (100.0..145.0).contains(&rtt("high")));
    assert!(rtt("high") - rtt("low") > 55.0, "{} {}", rtt("low"), rtt("high"));
    assert!(run.links.iter().all(|link| link.reordered_packets == 0));
    assert_eq!(run.flows[0].segments_retransmitted, 0);
}

#[test]
fn jitter_in_order_is_no_loss_to_a_sender() {
    let jittered = |reorders: bool| {
        let jitter = format!(r#"{{"kind": "uniform", "most": "10 ms", "reorders": {reorders}}}"#);
        path(
            &format!(r#""rtt": "40 ms", "buffer": "unlimited", "jitter": {jitter}"#),
            "newreno+sack",
            1,
        )
    };
    let [kept, free] = [false, true].map(jittered);
    // In order nothing seems lost; out of order three duplicates come within 10 ms, which are 83 packets at this rate.
    assert_eq!(kept.flows[0].segments_retransmitted, 0);
    assert!(free.flows[0].segments_retransmitted > 100);
}
