use super::*;
use crate::records::LinkRow;

/// Bulk flows over a bottleneck of 20 Mbit/s with 60 ms of propagation there and back, measured from
/// 10 to 40 s. A packet of 1500 B takes 0.6 ms; the path holds 100.
fn bulk(flows: &str, queue: &str, more: &str) -> Run {
    run(&format!(
        r#"{{
            "duration": "40 s",
            "topology": {{
                "kind": "dumbbell",
                "bottleneck": {{"rate": "20 Mbit/s", "delay": "28 ms", "queue": {queue}}},
                "access": {{"rate": "1 Gbit/s", "delay": "1 ms"}}
            }},
            "flow": [{flows}],
            "measure": [{{"name": "late", "from": "10 s"}}],
            "probe": [{{"link": "bottleneck", "every": "1 ms", "from": "10 s"}}]
            {more}
        }}"#
    ))
}

const EIGHT: &str = r#"{"name": "f", "count": 8, "variant": "newreno+sack", "stagger": "100 ms"}"#;
const EIGHT_WITHOUT_DELAYED_ACKS: &str = r#"{"name": "f", "count": 8, "variant": "newreno+sack",
    "stagger": "100 ms", "tcp": {"delayed_ack": "off"}}"#;
const EIGHT_WITH_ECN: &str = r#"{"name": "f", "count": 8, "variant": "newreno+sack",
    "stagger": "100 ms", "tcp": {"ecn": "on"}}"#;

fn bottleneck(run: &Run) -> &LinkRow {
    run.links
        .iter()
        .find(|row| (&*row.measure, &*row.link, row.direction) == ("late", "bottleneck", "forward"))
        .unwrap()
}

/// The delay of what waits, in seconds, every millisecond.
fn delays(run: &Run) -> Vec<f64> {
    run.link_samples.queue_bytes.iter().map(|bytes| *bytes as f64 * 8.0 / 20e6).collect()
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

#[test]
fn codel_leaves_no_more_than_its_target_standing() {
    // A standing queue is what remains in every interval of 100 ms (RFC 8289 §3.1): drop-tail with a
    // bandwidth-delay product leaves tens of milliseconds, CoDel no more than 5 ms in the mean, give
    // or take the packet in service.
    let standing = |queue: &str| {
        let run = bulk(EIGHT, queue, "");
        let delays = delays(&run);
        let least = |interval: &[f64]| interval.iter().copied().fold(f64::MAX, f64::min);
        let link = bottleneck(&run).clone();
        (mean(delays.chunks(100).map(least)), link)
    };
    let (droptail, _) = standing(r#"{"kind": "droptail", "limit": "1 BDP"}"#);
    let (codel, link) = standing(r#"{"kind": "codel"}"#);
    assert!(droptail > 0.020, "{droptail}");
    assert!((0.001..0.0056).contains(&codel), "{codel}");
    assert!(link.utilisation > 0.95, "{link:?}");
    assert!(link.dropped_early_packets > 0, "{link:?}");
    assert_eq!(link.dropped_early_packets, link.dropped_packets);
}

#[test]
fn pie_holds_its_target() {
    // The controller aims at 15 ms and counts half of that as no congestion (RFC 8033 §4.1).
    for more in ["", r#", "derandomise": true"#, r#", "estimate": "departure_rate""#] {
        let run = bulk(EIGHT, &format!(r#"{{"kind": "pie"{more}}}"#), "");
        let (link, delay) = (bottleneck(&run), mean(delays(&run).into_iter()));
        assert!((0.0075..0.0225).contains(&delay), "{more}: {delay}");
        assert!(link.utilisation > 0.95, "{link:?}");
        assert_eq!(link.dropped_early_packets, link.dropped_packets);
    }
}

#[test]
fn red_keeps_its_average_between_its_thresholds() {
    // A window of (100 + 17)/8 = 14.6 segments bears 1.5/14.6^2 = 0.7 % of losses (Mathis et al. 1997),
    // which gaps spread evenly make of a probability of 0.35 %: 10 + 20 * 0.35 = 17 packets.
    let queue = r#"{"kind": "red", "min_th": "10 packet", "max_th": "30 packet", "max_p": 0.01}"#;
    let run = bulk(EIGHT_WITHOUT_DELAYED_ACKS, queue, "");
    let (link, delay) = (bottleneck(&run), mean(delays(&run).into_iter()));
    // 0.6 ms a packet; the packet being sent is no part of the average.
    let waiting = delay / 0.6e-3 - link.utilisation;
    assert!((10.0..30.0).contains(&waiting), "{waiting}");
    assert!(link.dropped_early_packets > 0, "{link:?}");
    assert_eq!(link.dropped_early_packets, link.dropped_packets);
    // A limit below what the bursts need drops what chance would not.
    let queue =
        r#"{"kind": "red", "limit": "12 packet", "min_th": "10 packet", "max_th": "30 packet"}"#;
    let run = bulk(EIGHT, queue, "");
    let link = bottleneck(&run);
    assert!(link.dropped_packets > link.dropped_early_packets, "{link:?}");
}

#[test]
fn flows_that_ask_for_ecn_are_marked_and_lose_nothing() {
    for queue in [
        r#"{"kind": "red", "min_th": "10 packet", "max_th": "60 packet", "max_p": 0.01, "ecn": true}"#,
        r#"{"kind": "codel", "ecn": true}"#,
        r#"{"kind": "fq_codel"}"#,
        r#"{"kind": "pie", "ecn": true}"#,
    ] {
        let run = bulk(EIGHT_WITH_ECN, queue, "");
        let link = bottleneck(&run);
        assert!(link.marked_packets > 0 && link.dropped_packets == 0, "{queue}: {link:?}");
        assert!(link.utilisation > 0.9, "{queue}: {link:?}");
        for flow in run.flows.iter().filter(|flow| flow.measure == "late") {
            assert!(flow.congestion_events > 0, "{queue}: {flow:?}");
            assert_eq!(flow.segments_retransmitted, 0, "{queue}: {flow:?}");
        }
    }
}

#[test]
fn fq_codel_keeps_bulk_away_from_those_that_send_little() {
    // Four bulk flows, calls of 50 packets of 200 B a second, and a transfer of three segments at 20 s.
    let flows = r#"
        {"name": "bulk", "count": 4, "variant": "cubic", "stagger": "100 ms"},
        {"name": "short", "variant": "newreno", "start": "20 s",
         "app": {"kind": "bulk", "size": "4380 B"}}"#;
    let calls = r#", "cross_traffic": [{"name": "calls", "link": "bottleneck", "kind": "periodic",
        "rate": "50 packet/s", "size": "200 B", "phase": 0.3}]"#;
    let transfer = |queue: &str| {
        let run = bulk(flows, queue, calls);
        let short = run.flows.iter().find(|row| row.measure == "run" && row.flow == "short");
        let calls = run.sources.iter().find(|row| row.measure == "run").unwrap();
        (
            short.unwrap().completed_s.unwrap() - 20.0,
            calls.dropped_packets,
            bottleneck(&run).clone(),
        )
    };
    let (took, lost, link) = transfer(r#"{"kind": "fq_codel"}"#);
    // Two round trips and 3 x 0.6 ms for the data, without anyone else. Each of the five packets that
    // go there may have to wait for the one in service, and two of data, beyond the first quantum, for
    // a turn of the five others, 3 ms. On the access links and back all take less than a millisecond.
    assert!((0.1218..0.1218 + 5.0 * 0.0006 + 2.0 * 0.003 + 0.001).contains(&took), "{took}");
    assert_eq!(lost, 0);
    assert!(link.dropped_early_packets > 0 && link.utilisation > 0.95, "{link:?}");
    // Behind a drop-tail queue of tens of milliseconds the same takes that much longer, twice.
    let (droptail, _, _) = transfer(r#"{"kind": "droptail", "limit": "1 BDP"}"#);
    assert!(droptail > took + 0.040, "{droptail} {took}");
}

#[test]
fn fq_codel_gives_unlike_flows_alike() {
    // Laws of unlike appetite: a third each.
    let flows = r#"{"name": "a", "variant": "newreno+sack"}, {"name": "b", "variant": "cubic"},
        {"name": "c", "variant": "highspeed"}"#;
    let run = bulk(flows, r#"{"kind": "fq_codel", "classify": "flow"}"#, "");
    let goodput: Vec<f64> =
        run.flows.iter().filter(|row| row.measure == "late").map(|row| row.goodput_bps).collect();
    let total: f64 = goodput.iter().sum();
    for share in goodput.iter().map(|goodput| goodput / total) {
        assert!((share - 1.0 / 3.0).abs() < 0.05, "{goodput:?}");
    }
}

#[test]
fn a_seed_repeats_its_run_and_another_does_not() {
    for queue in
        [r#"{"kind": "red"}"#, r#"{"kind": "pie"}"#, r#"{"kind": "fq_codel", "queues": 4}"#]
    {
        let seeded = |seed: u64| bulk(EIGHT, queue, &format!(r#", "seed": {seed}"#));
        assert_eq!(seeded(1), seeded(1));
        assert_ne!(seeded(1).links, seeded(2).links);
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |queue: &str| {
        let text = one_flow(r#", "variant": "reno""#, &format!(r#", "queue": {queue}"#), "");
        let error = simulate(&scenario(&text)).unwrap_err().to_string();
        error.trim_start_matches("topology.bottleneck.queue.").to_owned()
    };
    for (queue, expected) in [
        (r#"{"kind": "red", "min_th": "5 kB"}"#, "max_th: expected the unit of `min_th`"),
        (r#"{"kind": "red", "min_th": "15 packet"}"#, "max_th: expected a limit above `min_th`"),
        (r#"{"kind": "red", "max_th": "unlimited"}"#, "max_th: expected a limit above `min_th`"),
        (
            // 8 Mbit/s and 40 ms are 26 packets of 1500 B.
            r#"{"kind": "red", "min_th": "30 packet", "max_th": "1 BDP"}"#,
            "topology: on link `bottleneck` the `max_th` of the queue comes to 26, expected more than \
             its `min_th`, 30",
        ),
        (r#"{"kind": "red", "weight": 0}"#, "weight: expected more than 0"),
        (
            r#"{"kind": "red", "max_p": 1.5}"#,
            "max_p: 1.5 is not a probability, expected a number from 0 to 1",
        ),
        (r#"{"kind": "codel", "target": "0 s"}"#, "target: expected more than 0 s"),
        (r#"{"kind": "codel", "limit": "0 packet"}"#, "limit: expected more than 0"),
        (r#"{"kind": "fq_codel", "queues": 0}"#, "queues: expected from 1 to 65536 queues"),
        (
            r#"{"kind": "fq_codel", "classify": "flow", "queues": 8}"#,
            "queues: each flow has a queue; leave this key out",
        ),
        (r#"{"kind": "fq_codel", "quantum": "0 B"}"#, "quantum: expected from 1 B to 1 GiB"),
        (r#"{"kind": "fq_codel", "drop_batch": 0}"#, "drop_batch: expected at least 1 packet"),
        (r#"{"kind": "pie", "update": "0 s"}"#, "update: expected at least 10 us"),
        (r#"{"kind": "pie", "beta": -1}"#, "beta: expected 0 or more"),
    ] {
        assert_eq!(refused(queue), expected, "{queue}");
    }
}
