use super::*;
use crate::records::{FlowRow, LinkRow};

/// Flows over a bottleneck of 100 Mbit/s with 2 ms of propagation there and back. A packet of 1500
/// bytes takes 120 us there and 12 us on each access link, so that without a queue a round takes 2.15
/// ms and the path holds 17.9 packets. Measured after half a second of two.
fn share(flows: &str, queue: &str, more: &str) -> Run {
    run(&format!(
        r#"{{
            "duration": "2 s",
            "topology": {{
                "kind": "dumbbell",
                "bottleneck": {{"rate": "100 Mbit/s", "delay": "0.8 ms", "queue": {{"kind": {queue}}}}},
                "access": {{"rate": "1 Gbit/s", "delay": "0.1 ms"}}
            }},
            "flow": [{flows}],
            "measure": [{{"name": "late", "from": "0.5 s"}}]
            {more}
        }}"#
    ))
}

fn bottleneck<'r>(run: &'r Run, measure: &str) -> &'r LinkRow {
    run.links
        .iter()
        .find(|row| {
            (&*row.measure, &*row.link, row.direction) == (measure, "bottleneck", "forward")
        })
        .unwrap()
}

fn late(run: &Run) -> Vec<&FlowRow> {
    run.flows.iter().filter(|row| row.measure == "late").collect()
}

/// The mean of what a packet finds waiting, in packets of 120 us.
fn waiting(link: &LinkRow) -> f64 {
    link.queue_delay_mean_s.unwrap() / 120e-6
}

#[test]
fn two_dctcp_flows_hold_the_queue_at_the_mark() {
    let flows =
        r#"{"name": "f", "count": 2, "variant": "dctcp", "start": {"uniform": ["0 s", "10 ms"]}}"#;
    for kind in ["droptail", "fair"] {
        let run =
            share(flows, &format!(r#""{kind}", "limit": "250 packet", "mark": "20 packet""#), "");
        assert_eq!(bottleneck(&run, "run").dropped_packets, 0);
        let link = bottleneck(&run, "late");
        assert!(link.marked_packets > 0, "{link:?}");
        assert!(link.utilisation > 0.95, "{link:?}");
        // Alizadeh et al. (SIGCOMM 2010) equations 8 and 10, for two flows in step: the queue moves
        // between K + N = 22 and sqrt(2 N (C RTT + K)) / 2 = 6.2 below, whatever its kind.
        let queue = waiting(link);
        assert!((12.0..26.0).contains(&queue), "{kind}: {queue}");
        for flow in late(&run) {
            assert!(flow.congestion_events > 0 && flow.segments_retransmitted == 0, "{flow:?}");
        }
    }
}

#[test]
fn marks_below_the_bandwidth_delay_product_cost_newreno_more_than_dctcp() {
    // One flow and a mark at 5 waiting packets: the path holds 17.9, so that a flight of 23 is marked
    // and NewReno goes back to 11.5, where it stays for the rest of the marked flight and a round:
    // 5.5 ms at 11/17.9. Six rounds of 2.2 ms with 12 to 17 in flight follow, at 81 % in the mean, and
    // six of 2.5 ms with 18 to 23, at 100 %: (3.4 + 10.7 + 15) / 33.7 = 0.86. DCTCP's swing is
    // sqrt(2 * 22.9) / 2 = 3.4 segments: its queue is never empty.
    let queue = r#""droptail", "limit": "250 packet", "mark": "5 packet""#;
    let of = |variant: &str| {
        let tcp = r#""tcp": {"ecn": "on", "delayed_ack": "off"}"#;
        let run = share(&format!(r#"{{"name": "f", "variant": "{variant}", {tcp}}}"#), queue, "");
        let link = bottleneck(&run, "late");
        assert_eq!(link.dropped_packets, 0);
        assert!(link.marked_packets > 0 && late(&run)[0].congestion_events > 0, "{link:?}");
        link.utilisation
    };
    let (newreno, dctcp) = (of("newreno"), of("dctcp"));
    assert!((newreno - 0.86).abs() < 0.03, "{newreno}");
    assert!(dctcp > 0.99, "{dctcp}");
}

#[test]
fn what_does_not_ask_for_marks_meets_the_limit_alone() {
    let run = share(
        r#"{"name": "f", "variant": "newreno"}"#,
        r#""droptail", "limit": "30 packet", "mark": "5 packet""#,
        r#", "cross_traffic": [{"link": "bottleneck", "kind": "poisson", "rate": "4000 packet/s", "size": "1500 B"}]"#,
    );
    let link = bottleneck(&run, "run");
    assert_eq!(link.marked_packets, 0);
    assert!(link.dropped_packets > 0, "{link:?}");
    assert!(run.sources[0].dropped_packets > 0, "{:?}", run.sources[0]);
}

#[test]
fn a_mark_that_no_packet_can_meet_is_refused() {
    let refused = |queue: &str| {
        let text = one_flow(r#", "variant": "dctcp""#, &format!(", {queue}"), "");
        simulate(&scenario(&text)).unwrap_err().to_string()
    };
    for (limit, mark) in [
        ("20 packet", "20 packet"),
        ("30 kB", "30 kB"),
        ("1 BDP", "1 BDP"),
        ("unlimited", "unlimited"),
    ] {
        let queue =
            format!(r#""queue": {{"kind": "droptail", "limit": "{limit}", "mark": "{mark}"}}"#);
        let expected = "queue.mark: expected less than `limit`: nothing would be marked";
        assert_eq!(refused(&queue), format!("topology.bottleneck.{expected}"));
        let reverse = format!(r#""reverse": {{{queue}}}"#);
        assert_eq!(refused(&reverse), format!("topology.bottleneck.reverse.{expected}"));
    }
}
