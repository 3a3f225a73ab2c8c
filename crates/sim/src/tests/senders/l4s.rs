use super::*;
use crate::records::{ClassRows, LinkRow};

/// Two flows over a dual queue of 40 Mbit/s with 20 ms of propagation there and back, measured from 10 to 30 s. A packet of
/// 1500 B takes 0.3 ms.
fn pair(one: &str, other: &str) -> Run {
    run(&format!(
        r#"{{
            "duration": "30 s",
            "topology": {{
                "kind": "dumbbell",
                "bottleneck": {{"rate": "40 Mbit/s", "delay": "9 ms", "queue": {{"kind": "dualpi2"}}}},
                "access": {{"rate": "1 Gbit/s", "delay": "0.5 ms"}}
            }},
            "flow": [{{"name": "one", {one}}}, {{"name": "other", "start": "100 ms", {other}}}],
            "measure": [{{"name": "late", "from": "10 s"}}]
        }}"#
    ))
}

fn late(run: &Run) -> (&LinkRow, &ClassRows) {
    let rows = run.links.iter();
    let row = rows
        .filter(|row| row.classes.is_some())
        .find(|row| (&*row.measure, &*row.link, row.direction) == ("late", "bottleneck", "forward"))
        .unwrap();
    (row, row.classes.as_ref().unwrap())
}

fn goodputs(run: &Run) -> Vec<f64> {
    run.flows.iter().filter(|row| row.measure == "late").map(|row| row.goodput_bps).collect()
}

/// RFC 9332 Appendix C with k = 2: a Prague flow of a virtual round trip of 25 ms has (20 + 15) / (1.4 * 25) = 1.0 of the rate of
/// a Classic one. L4S packets wait no longer than the step and a packet that is being sent.
#[test]
fn prague_shares_a_dual_queue_with_cubic() {
    let run = pair(r#""variant": "prague""#, r#""variant": "cubic""#);
    let (link, classes) = late(&run);
    assert!(classes.l4s.queue_delay_p99_s.unwrap() <= 1.3e-3, "{classes:?}");
    assert_eq!(classes.l4s.dropped_packets, 0);
    // The controller's target is 15 ms.
    assert!((0.005..0.020).contains(&classes.classic.queue_delay_mean_s.unwrap()), "{classes:?}");
    assert!(link.utilisation > 0.97, "{link:?}");
    let ratio = goodputs(&run)[0] / goodputs(&run)[1];
    assert!((0.5..2.0).contains(&ratio), "{ratio}");
    // Every packet is of one class.
    let (l4s, classic) = (classes.l4s.delivered_packets, classes.classic.delivered_packets);
    // Of what one class has dequeued, a packet may still be on the wire at either end.
    assert!((l4s + classic).abs_diff(link.delivered_packets) <= 1, "{classes:?}");
    assert_eq!(classes.l4s.marked_packets + classes.classic.marked_packets, link.marked_packets);
}

/// Without independence of round trips a Prague flow of 10 ms has more than a CUBIC flow: 2.6 to 1 in heistp/l4s-tests, at 50
/// Mbit/s.
#[test]
fn prague_that_depends_on_round_trips_takes_more_where_they_are_short() {
    let of = |variant: &str| {
        let run = pair(&format!(r#""variant": "{variant}""#), r#""variant": "cubic""#);
        goodputs(&run)[0]
    };
    assert!(of("prague(rttdependent)") > of("prague"));
}

/// The key alone makes a flow's packets those of L4S; Classic ones of a flow that asks for ECT(0) are marked, not dropped.
#[test]
fn the_codepoint_chooses_the_queue() {
    let run = pair(
        r#""variant": "newreno", "tcp": {"ecn": "on", "ect": "1"}"#,
        r#""variant": "newreno", "tcp": {"ecn": "on"}"#,
    );
    let (_, classes) = late(&run);
    assert!(classes.l4s.delivered_packets > 0 && classes.classic.marked_packets > 0, "{classes:?}");
    assert_eq!(classes.classic.dropped_packets, 0);
    let [base, coupled, squared] = classes.probabilities.unwrap();
    assert!((coupled / base - 2.0).abs() < 0.01 && squared < base, "{classes:?}");
}
