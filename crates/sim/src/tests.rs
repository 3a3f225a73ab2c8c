use crate::records::Run;
use crate::{Engine, Meter, Scenario, simulate};

mod apps;
mod dice;
mod engines;
mod links;
mod models;
mod moments;
mod senders;

pub(super) fn scenario(text: &str) -> Scenario {
    Scenario::from_json(text).unwrap()
}

/// The run of a scenario, which both engines leave alike.
fn run(text: &str) -> Run {
    let scenario = scenario(text);
    let run = simulate(&scenario).unwrap();
    assert_conserved(&run);
    let plain = Engine::Reference.simulate(&scenario, &Meter::default()).unwrap().unwrap();
    // As text, since NaN stands for "none" in samples and is not equal to itself.
    let alike =
        format!("{plain:?}") == format!("{:?}", Run { events: plain.events, ..run.clone() });
    assert!(alike, "the engines differ on {text}");
    run
}

/// Offered = delivered + dropped + queued on every link over the whole run, in packets and bytes.
fn assert_conserved(run: &Run) {
    for link in run.links.iter().filter(|link| link.measure == "run") {
        assert_eq!(
            link.offered_packets,
            link.delivered_packets + link.dropped_packets + link.queued_packets,
            "{link:?}"
        );
        assert_eq!(
            link.offered_bytes,
            link.delivered_bytes + link.dropped_bytes + link.queued_bytes,
            "{link:?}"
        );
        assert!((0.0..=1.0).contains(&link.utilisation), "{link:?}");
    }
}

pub(super) fn one_flow(flow: &str, bottleneck: &str, more: &str) -> String {
    format!(
        r#"{{
            "duration": "30 s",
            "topology": {{
                "kind": "dumbbell",
                "bottleneck": {{"rate": "8 Mbit/s", "delay": "18 ms"{bottleneck}}},
                "access": {{"rate": "80 Mbit/s", "delay": "1 ms"}}
            }},
            "flow": [{{"name": "f", "tcp": {{"mss": "960 B", "delayed_ack": "off"}}{flow}}}]
            {more}
        }}"#
    )
}

#[test]
fn a_transfer_takes_the_time_that_its_packets_take() {
    // One segment of 960 B: packets of 1000 B, 0.1 ms on an access link and 1 ms on the
    // bottleneck. SYN: 48 B with MSS and window scale, 4.8 us + 48 us + 4.8 us; so is the SYN-ACK.
    // Each way 20 ms of propagation. Established at 2 * (20 ms + 57.6 us) = 40.1152 ms.
    // Data follows the ACK of the SYN-ACK (40 B) at once: the ACK's 4 us on the first link delay it,
    // and then 0.1 + 1 + 0.1 + 20 ms; its ACK takes 4 + 40 + 4 us + 20 ms. The FIN travels with the
    // data. Completed at 40.1152 + 1.2 + 20 + 20.048 = 81.3632 ms, plus 4 us if the ACK goes first.
    let run =
        run(&one_flow(r#", "variant": "reno", "app": {"kind": "bulk", "size": "960 B"}"#, "", ""));
    let flow = &run.flows[0];
    assert!((flow.established_s.unwrap() - 0.040_115_2).abs() < 1e-9, "{flow:?}");
    assert!((flow.completed_s.unwrap() - 0.081_363_2).abs() < 5e-6, "{flow:?}");
    assert_eq!((flow.segments_sent, flow.delivered_bytes), (1, 960));
    // The receiver has it a one-way trip after that: 40.1152 + 1.2 + 20 = 61.3152 ms.
    let objects = &run.objects;
    assert_eq!(
        (&*objects.flow, &*objects.object, &*objects.bytes),
        (&[0][..], &[0][..], &[960][..])
    );
    assert_eq!(objects.requested_ns, [0]);
    assert_eq!(objects.first_byte_ns, objects.completed_ns);
    assert!(objects.completed_ns[0].abs_diff(61_315_200) < 5000, "{objects:?}");
    // From the start of transmission on the first link: 1.2 + 20 + 20.048 ms.
    assert!((flow.path_rtt_mean_s.unwrap() - 0.041_248).abs() < 1e-9, "{flow:?}");
}

#[test]
fn every_byte_arrives_once_over_a_lossy_path() {
    for variant in [
        "tahoe",
        "tahoe(bytes)",
        "reno",
        "newreno",
        "newreno+gobackn",
        "newreno+sack",
        "newreno+prr",
        "bbr1",
        "bbr",
        "bbr+sack",
    ] {
        for seed in 1..=5 {
            let text = one_flow(
                &format!(
                    r#", "variant": "{variant}", "app": {{"kind": "bulk", "size": "300 kB"}}"#
                ),
                r#", "loss": 0.03"#,
                &format!(r#", "seed": {seed}"#),
            )
            .replace("30 s", "900 s");
            let flow = run(&text).flows[0].clone();
            assert_eq!(flow.delivered_bytes, 300_000, "{variant} {seed}");
            assert!(flow.completed_s.is_some(), "{variant} {seed}");
            assert!(flow.segments_retransmitted > 0, "{variant} {seed}");
        }
    }
}

#[test]
fn a_flow_loses_just_the_segments_that_the_link_is_told_to_lose() {
    // 410 segments. The 100th, 250th and 400th transmission of data is lost on its way over the link;
    // as each is made once more, 413 leave no room for a fourth loss at 550. The ACKs pass.
    let text = one_flow(
        r#", "variant": "newreno+sack", "app": {"kind": "bulk", "size": "393600 B"}"#,
        r#", "loss": {"every": 150, "first": 100}, "queue": {"kind": "droptail"}"#,
        "",
    );
    let run = run(&text);
    let (flow, link) = (&run.flows[0], &run.links[0]);
    assert_eq!((flow.delivered_bytes, flow.segments_retransmitted), (393_600, 3));
    assert_eq!((flow.segments_sent, flow.congestion_events, flow.timeouts), (413, 3, 0));
    assert_eq!((&*link.link, link.direction, link.lost_packets), ("bottleneck", "forward", 3));
    assert_eq!((run.links[1].direction, run.links[1].lost_packets), ("reverse", 0));
}

#[test]
fn the_mean_timeout_is_that_of_a_steady_path() {
    // The round trip is the same for every packet: 41.248 ms, as above. RTTVAR falls to nothing and
    // leaves the granularity, 1 ms, and the result is rounded up to it: 43 ms (RFC 6298 section 2).
    let text = one_flow(
        r#", "variant": "reno""#,
        "",
        r#", "measure": [{"name": "late", "from": "10 s"}]"#,
    )
    .replace(
        r#""960 B","#,
        r#""960 B", "receive_window": "960 B", "min_rto": "1 ms", "clock_granularity": "1 ms","#,
    );
    let late = &run(&text).flows[1];
    assert!((late.rto_mean_s.unwrap() - 0.043).abs() < 1e-9, "{late:?}");
}

#[test]
fn a_long_flow_fills_the_bottleneck() {
    // 960 of 1000 bytes are payload: at most 7.68 Mbit/s. The buffer holds one bandwidth-delay
    // product, so that halving the window leaves the link just full.
    let run = run(&one_flow(
        r#", "variant": "newreno""#,
        "",
        r#", "measure": [{"name": "late", "from": "10 s"}]"#,
    ));
    let late = &run.flows[1];
    assert!(late.goodput_bps > 0.97 * 7.68e6 && late.goodput_bps <= 7.68e6, "{late:?}");
    assert!(
        run.links
            .iter()
            .any(|l| l.measure == "late" && l.link == "bottleneck" && l.utilisation > 0.97)
    );
}

#[test]
fn a_small_receive_window_limits_a_flow_to_a_window_a_round_trip() {
    // Nine segments a round trip. Data: 0.1 + 1 + 0.1 ms, ACK: 48 us, propagation 40 ms: 41.248 ms
    // with no queue, as nine segments take 9 ms at the bottleneck. The window of 8,640 B fits the
    // 16-bit field, so that no scaling rounds it.
    let text = one_flow(
        r#", "variant": "reno""#,
        "",
        r#", "measure": [{"name": "late", "from": "10 s"}]"#,
    )
    .replace(r#""960 B","#, r#""960 B", "receive_window": "8640 B","#);
    let late = &run(&text).flows[1];
    let expected = 9.0 * 960.0 * 8.0 / 0.041_248;
    assert!((late.goodput_bps / expected - 1.0).abs() < 0.002, "{late:?}");
    assert_eq!(late.segments_retransmitted, 0);
}

#[test]
fn cross_traffic_takes_its_share_and_is_counted() {
    let text = one_flow(
        r#", "variant": "newreno""#,
        "",
        r#", "cross_traffic": [
            {"link": "bottleneck", "kind": "periodic", "rate": "100 packet/s", "size": "1000 B", "phase": 0.5},
            {"name": "noise", "link": "bottleneck", "kind": "poisson", "rate": "200 packet/s", "size": "500 B"},
            {"name": "late", "link": "bottleneck", "kind": "periodic", "rate": "10 packet/s", "size": "500 B",
             "direction": "reverse", "start": "10 s", "stop": "20 s", "phase": 0.0}
        ]"#,
    );
    let run = run(&text);
    let source = |name: &str| run.sources.iter().find(|s| s.source == name).unwrap();
    // At 5 ms, 15 ms ... up to 29.995 s: 3000 packets. Poisson: 6000 expected, sigma 77.
    assert_eq!(source("cross-1").offered_packets, 3000);
    assert!(source("noise").offered_packets.abs_diff(6000) < 320);
    // At 10.0, 10.1 ... 19.9 s.
    assert_eq!(source("late").offered_packets, 100);
    assert_eq!(source("late").delivered_packets, 100);
    for source in &run.sources {
        // At most the queue's 27 packets are held at the end.
        let held = source.offered_packets - source.delivered_packets - source.dropped_packets;
        assert!(held <= 30, "{source:?}");
    }
}

#[test]
fn a_run_is_a_function_of_scenario_and_seed() {
    let text = |seed| {
        one_flow(
            r#", "count": 3, "variant": "newreno", "start": {"uniform": ["0 s", "1 s"]}"#,
            r#", "loss": 0.001"#,
            &format!(
                r#", "seed": {seed},
                "cross_traffic": [{{"link": "bottleneck", "kind": "poisson", "rate": "100 packet/s", "size": "500 B"}}],
                "probe": [{{"flow": "f", "every": "change"}}, {{"link": "bottleneck", "every": "10 ms"}}]"#
            ),
        )
    };
    // As text, since NaN stands for "none" in samples and is not equal to itself.
    let [once, again, other] = [1, 1, 2].map(|seed| format!("{:?}", run(&text(seed))));
    assert!(once == again && once != other);
}

#[test]
fn another_component_does_not_change_a_components_draws() {
    let poisson = r#"{"name": "p", "link": "bottleneck", "kind": "poisson", "rate": "100 packet/s", "size": "500 B"}"#;
    let other = r#"{"name": "a", "link": "bottleneck", "kind": "poisson", "rate": "10 packet/s", "size": "500 B"}"#;
    let offered = |sources: &str, variant: &str| {
        let flow = format!(r#", "variant": "{variant}""#);
        let run = run(&one_flow(&flow, "", &format!(r#", "cross_traffic": [{sources}]"#)));
        run.sources.iter().find(|s| s.source == "p").unwrap().offered_packets
    };
    let alone = offered(poisson, "newreno");
    assert_eq!(offered(&format!("{other}, {poisson}"), "newreno"), alone);
    assert_eq!(offered(poisson, "tahoe"), alone);
}

#[test]
fn probes_record_at_changes_and_at_intervals() {
    let run = run(&one_flow(
        r#", "variant": "newreno", "app": {"kind": "bulk", "size": "9600 B"}"#,
        "",
        r#", "probe": [
            {"flow": "f", "what": ["cwnd"], "every": "change"},
            {"link": "bottleneck", "what": ["queue"], "every": "100 ms", "from": "1 s", "until": "2 s"}
        ]"#,
    ));
    // Ten segments, one ACK each, in slow start from RFC 3390's 4 (min(3840, 4380) B): the window
    // goes 4, 5 ... 14 by way of every ACK.
    let cwnd = &run.flow_samples.cwnd_segments;
    assert!((cwnd[cwnd.len() - 1] - 14.0).abs() < 1e-9, "{cwnd:?}");
    assert!(run.flow_samples.srtt_s.iter().all(|srtt| srtt.is_nan()));
    assert_eq!(run.link_samples.time_ns.len(), 11);
    assert_eq!(run.link_samples.time_ns[10], 2_000_000_000);
}

#[test]
fn flows_of_a_fair_queue_share_whatever_their_round_trips() {
    let text = r#"{
        "duration": "60 s",
        "topology": {"kind": "graph", "link": [
            {"name": "near", "from": "a", "to": "r", "rate": "80 Mbit/s", "delay": "1 ms"},
            {"name": "far", "from": "b", "to": "r", "rate": "80 Mbit/s", "delay": "40 ms"},
            {"name": "shared", "from": "r", "to": "z", "rate": "8 Mbit/s", "delay": "5 ms",
             "queue": {"kind": "fair", "limit": "2 BDP"}}
        ]},
        "flow": [
            {"name": "n", "variant": "newreno", "from": "a", "to": "z"},
            {"name": "f", "variant": "newreno", "from": "b", "to": "z"}
        ],
        "measure": [{"name": "late", "from": "20 s"}]
    }"#;
    let run = run(text);
    let goodput: Vec<f64> =
        run.flows.iter().filter(|f| f.measure == "late").map(|f| f.goodput_bps).collect();
    // A drop-tail queue would give the flow of 12 ms several times what the flow of 90 ms gets.
    assert!(goodput[0] / goodput[1] < 1.6, "{goodput:?}");
}

#[test]
fn what_cannot_be_run_is_refused_by_key() {
    let refused = |flow: &str, bottleneck: &str, more: &str| {
        simulate(&scenario(&one_flow(flow, bottleneck, more))).unwrap_err().to_string()
    };
    let reno = r#", "variant": "reno""#;
    assert!(
        refused(reno, r#", "loss": 1.5"#, "").starts_with("topology.bottleneck.loss: 1.5 is not")
    );
    let every = refused(reno, r#", "loss": {"every": 0}"#, "");
    assert!(every.starts_with("topology.bottleneck.loss.every: expected at least 1"), "{every}");
    let first = refused(reno, r#", "loss": {"every": 9, "first": 0}"#, "");
    assert!(first.starts_with("topology.bottleneck.loss.first: expected at least 1"), "{first}");
    let reverse = refused(reno, r#", "reverse": {"loss": {"every": 0}}"#, "");
    assert!(reverse.starts_with("topology.bottleneck.reverse.loss.every:"), "{reverse}");
    assert!(
        refused(r#", "variant": "tahoe+partialack""#, "", "")
            .starts_with("flow[0].variant: `tahoe`")
    );
    assert!(refused(r#", "variant": "reno", "count": 0"#, "", "").starts_with("flow[0].count:"));
    assert!(refused(r#", "variant": "reno", "from": "a""#, "", "").starts_with("flow[0].from:"));
    let cross = r#", "cross_traffic": [{"link": "bottlenek", "kind": "poisson", "rate": "1 packet/s", "size": "1 B"}]"#;
    assert!(
        refused(reno, "", cross).contains("unknown link `bottlenek`, expected one of `bottleneck`")
    );
    let probe = r#", "probe": [{"flow": "g", "every": "change"}]"#;
    assert!(refused(reno, "", probe).contains("unknown flow `g`, expected one of `f`"));
    let measure = r#", "measure": [{"name": "m", "from": "30 s"}]"#;
    assert!(refused(reno, "", measure).starts_with("measure[0].from:"));
}
