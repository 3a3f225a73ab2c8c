use super::*;

/// 1 ms a segment, 100 ms there and back, handshake included.
fn transfer(segments: f64) -> Transfer {
    Transfer {
        segments,
        handshake_s: 0.1,
        rtt_s: 0.1,
        segment_s: 0.001,
        initial_window: 10.0,
        packets_per_ack: 1.0,
        w_max_packets: f64::INFINITY,
    }
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
}

#[test]
fn a_transfer_of_one_window_takes_the_handshake_and_a_round_trip() {
    // The tenth segment begins 9 ms after the first; its ACK comes 100 ms later.
    let found = slow_start(&transfer(10.0)).unwrap();
    close(found.seconds, 0.1 + 0.009 + 0.1);
    assert_eq!((found.rounds, found.largest_window), (1, 10.0));
}

#[test]
fn each_round_of_slow_start_waits_for_its_acks() {
    // 10 + 20 + 40 are three rounds; in the third the 40th segment begins 39 ms after the first.
    let found = slow_start(&transfer(70.0)).unwrap();
    close(found.seconds, 0.1 + 2.0 * 0.1 + 0.039 + 0.1);
    assert_eq!((found.rounds, found.largest_window), (3, 40.0));
}

#[test]
fn a_window_that_fills_the_path_keeps_the_bottleneck_busy() {
    // 10, 20, 40, 80 take four round trips; from the window of 160 on, 160 ms, nothing stalls any more: the other
    // 9,850 segments go out at 1 ms each, and the last ACK comes 99 ms after the last began to leave.
    let found = slow_start(&transfer(10_000.0)).unwrap();
    close(found.seconds, 0.1 + 4.0 * 0.1 + 9.850 + 0.099);
}

#[test]
fn delayed_acks_let_the_window_grow_by_half() {
    // 10 + 15 + 22.5: 40 segments take three rounds, 15 of them in the third.
    let found = slow_start(&Transfer { packets_per_ack: 2.0, ..transfer(40.0) }).unwrap();
    close(found.seconds, 0.1 + 2.0 * 0.1 + 0.014 + 0.1);
}

#[test]
fn the_receivers_window_ends_growth() {
    // 10, 20, 20, 20, ...: 110 segments are 10 + 5 x 20.
    let found = slow_start(&Transfer { w_max_packets: 20.0, ..transfer(110.0) }).unwrap();
    close(found.seconds, 0.1 + 5.0 * 0.1 + 0.019 + 0.1);
    assert_eq!(found.rounds, 6);
}

#[test]
fn quick_start_sends_at_the_approved_rate_at_once() {
    // 500 segments/s for 0.1 s are a window of 50; the 50th begins 49 x 2 ms after the first.
    let found = quick_start(&transfer(50.0), 500.0, f64::INFINITY).unwrap();
    close(found.seconds, 0.1 + 0.098 + 0.1);
    // Then 100 in the next round trip, each 1 ms after the other.
    let found = quick_start(&transfer(150.0), 500.0, f64::INFINITY).unwrap();
    close(found.seconds, 0.1 + 0.1 + 0.099 + 0.1);
}

#[test]
fn slow_start_after_quick_start_is_limited() {
    // On a path ten times as fast: 2,000 segments/s are a window of 200, above RFC 3742's 100: the next is 250, then 300.
    let fast = Transfer { segment_s: 0.0001, ..transfer(750.0) };
    let found = quick_start(&fast, 2000.0, f64::INFINITY).unwrap();
    assert_eq!((found.rounds, found.largest_window), (3, 300.0));
    close(found.seconds, 0.1 + 2.0 * 0.1 + 299.0 * (0.1 / 300.0) + 0.1);
}

#[test]
fn the_window_of_the_first_answer_limits_the_jump() {
    // Of 50 segments 20 leave, 2 ms apart, in the first round trip, and 30 of the next 40 in the second, 1 ms apart.
    let found = quick_start(&transfer(50.0), 500.0, 20.9).unwrap();
    assert_eq!((found.rounds, found.largest_window), (2, 40.0));
    close(found.seconds, 0.1 + 0.1 + 0.029 + 0.1);
}

#[test]
fn a_rate_that_fills_less_than_the_first_window_changes_nothing() {
    let slow = transfer(70.0);
    assert_eq!(quick_start(&slow, 90.0, f64::INFINITY), slow_start(&slow));
}

#[test]
fn what_is_out_of_range_is_named() {
    let named = |changed: Transfer| slow_start(&changed).unwrap_err().parameter;
    assert_eq!(named(transfer(0.0)), "segments");
    assert_eq!(named(Transfer { segment_s: 0.2, ..transfer(1.0) }), "segment_s");
    assert_eq!(named(Transfer { rtt_s: f64::NAN, ..transfer(1.0) }), "rtt_s");
    assert_eq!(named(Transfer { packets_per_ack: 0.5, ..transfer(1.0) }), "packets_per_ack");
    assert_eq!(
        quick_start(&transfer(1.0), 1001.0, f64::INFINITY).unwrap_err().parameter,
        "approved_pps"
    );
}
