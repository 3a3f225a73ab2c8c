//! ACKs that come in bundles, or not all of them.

use super::{Run, run};
use crate::records::FlowRow;

/// A flow whose window of 100 kB is twice the bandwidth-delay product of 10 Mbit/s and 40 ms, so that the link is busy
/// and nothing is lost; each segment is acknowledged. These keys are of the way back.
fn flow(reverse: &str) -> (Run, FlowRow) {
    let run = run(&format!(
        r#"{{
            "duration": "10 s",
            "topology": {{"kind": "path", "rate": "10 Mbit/s", "rtt": "40 ms", "buffer": "200 packet",
                "reverse": {{{reverse}}}}},
            "flow": [{{"name": "f", "variant": "newreno",
                "tcp": {{"delayed_ack": "off", "receive_window": "100 kB"}}}}],
            "measure": [{{"name": "steady", "from": "2 s", "acks": true}}]
        }}"#
    ));
    let row = run.flows.iter().find(|row| row.measure == "steady").unwrap().clone();
    assert_eq!(row.timeouts + row.segments_retransmitted, 0, "{reverse}");
    // 1460 of 1500 bytes: 9.733 Mbit/s.
    assert!((row.goodput_bps / 9.733e6 - 1.0).abs() < 0.005, "{reverse}: {}", row.goodput_bps);
    (run, row)
}

fn near(value: Option<f64>, expected: f64, share: f64) {
    let value = value.unwrap();
    assert!((value / expected - 1.0).abs() <= share, "{value} {expected}");
}

#[test]
fn each_segment_is_acknowledged_as_it_leaves_the_bottleneck() {
    // A packet of 1500 bytes takes 1.2 ms.
    let (_, row) = flow(r#""loss": 0"#);
    let acks = row.acks.unwrap();
    near(row.bytes_per_ack(), 1460.0, 0.002);
    near(acks.gap_mean_s, 0.0012, 0.002);
    near(acks.gap_p99_s, 0.0012, 0.016);
    // A window of 100 kB has 68 whole segments, all in flight: as many ACKs a round trip.
    near(row.acks_per_rtt(), 68.0, 0.02);
}

#[test]
fn thinning_leaves_one_ack_for_so_many_segments() {
    let (run, row) = flow(r#""ack_thinning": {"every": 4}"#);
    // Four segments each, 4.8 ms apart.
    let acks = row.acks.unwrap();
    near(row.bytes_per_ack(), 5840.0, 0.005);
    near(acks.gap_mean_s, 0.0048, 0.005);
    near(acks.gap_p99_s, 0.0048, 0.016);
    let back =
        run.links.iter().find(|l| l.measure == "steady" && l.direction == "reverse").unwrap();
    let thinned = back.dropped_early_packets as f64 / back.offered_packets as f64;
    assert!((thinned - 0.75).abs() < 0.001, "{thinned}");
}

#[test]
fn held_acks_come_in_bundles() {
    let (_, row) = flow(r#""aggregation": {"kind": "hold", "time": "10 ms"}"#);
    // An ACK comes each 1.2 ms. Nine come within 10 ms, the first among them; they leave 40 bytes or 32 us apart. The next
    // bundle's first comes up to 1.2 ms after that, and waits for 10 ms: one gap in nine is of some 10.8 - 8 * 0.032 ms.
    let acks = row.acks.unwrap();
    near(acks.gap_mean_s, 0.0012, 0.005);
    near(row.bytes_per_ack(), 1460.0, 0.005);
    let p99 = acks.gap_p99_s.unwrap();
    assert!((0.0100..0.0112).contains(&p99), "{p99}");
    // By number: sixteen each 19.2 ms, of which they take 15 * 32 us.
    let (_, row) = flow(r#""aggregation": {"kind": "hold", "packets": 16, "time": "50 ms"}"#);
    near(row.acks.unwrap().gap_p99_s, 0.0192 - 0.000_48, 0.017);
}

#[test]
fn grants_come_as_often_as_their_delay_says() {
    // ACKs that come between a request and its grant ask as the grant begins: a grant each 4 ms, of three or four.
    let (_, row) = flow(r#""aggregation": {"kind": "grants"}"#);
    let p99 = row.acks.unwrap().gap_p99_s.unwrap();
    assert!((0.0038..0.0041).contains(&p99), "{p99}");
}
