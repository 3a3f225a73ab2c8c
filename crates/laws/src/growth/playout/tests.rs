use super::*;
use crate::growth::bbr::path::{MSS, Path, segments};

/// A window of so many segments after slow start, over a least round trip of 100 ms.
fn settled(window: f64) -> Path<Playout> {
    let mut path = Path::new(Playout::default());
    path.round(10);
    path.law.cwnd = window;
    path.law.end_slow_start();
    path
}

fn assert_close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-6 * b.max(1.0), "{a} is not {b}");
}

/// A round at a round-trip time of `millis`, the window in flight.
fn round(path: &mut Path<Playout>, millis: f64) -> f64 {
    path.rtt = Duration::from_secs_f64(millis / 1e3);
    let window = path.cwnd();
    path.round(window);
    path.law.cwnd
}

#[test]
fn a_round_goes_half_of_the_way_to_the_target() {
    // 125 ms: 50 * 100/125 + 4 = 44, half of the way: 47. Then 47/1.25 + 4 = 41.6: 44.3.
    let mut path = settled(50.0);
    assert_close(round(&mut path, 125.0), 47.0);
    assert_close(round(&mut path, 125.0), 44.3);
}

#[test]
fn four_segments_wait_in_the_end() {
    // 1000 segments a second: 100 in the pipe, and the rest waits, a millisecond each.
    for window in [20.0, 180.0] {
        let mut path = settled(window);
        for _ in 0..80 {
            let rtt = path.law.cwnd.max(100.0);
            round(&mut path, rtt);
        }
        assert!((path.law.cwnd - 104.0).abs() < 1.0, "{}", path.law.cwnd);
    }
}

#[test]
fn without_a_queue_the_steps_double() {
    // Two a round for three rounds; 4, 8, 16 and 32 in those after. The seventh would add 64 to 84.
    let mut path = settled(20.0);
    let windows: Vec<f64> = (0..8).map(|_| round(&mut path, 100.0)).collect();
    for (window, expected) in windows.iter().zip([22.0, 24.0, 26.0, 30.0, 38.0, 54.0, 86.0, 150.0])
    {
        assert_close(*window, expected);
    }
    // A queue ends it: 150 * 100/110 + 4 = 140.36: 145.18.
    assert_close(round(&mut path, 110.0), (150.0 + 150.0 / 1.1 + 4.0) / 2.0);
    let before = path.law.cwnd;
    assert_close(round(&mut path, 100.0), before + 2.0);
}

#[test]
fn a_window_that_is_not_used_stays() {
    let mut path = settled(50.0);
    path.is_cwnd_limited = false;
    for _ in 0..10 {
        assert_close(round(&mut path, 100.0), 50.0);
    }
}

#[test]
fn slow_start_ends_when_more_than_four_segments_wait() {
    let mut path = Path::new(Playout::default());
    path.round(10);
    // At 110 ms 40 * (1 - 1/1.1) = 3.6 wait: it goes on.
    path.law.cwnd = 40.0;
    round(&mut path, 110.0);
    assert!(path.law.in_slow_start());
    // At 120 ms 6.7: 40/1.2 + 4 = 37.3 are left.
    assert_close(round(&mut path, 120.0), 40.0 / 1.2 + 4.0);
    assert!(!path.law.in_slow_start());
}

/// The longest queue was 100 ms; then one of `millis` stands.
fn with_queue(millis: f64) -> Path<Playout> {
    let mut path = settled(50.0);
    round(&mut path, 200.0);
    path.law.cwnd = 50.0;
    path.is_cwnd_limited = false;
    round(&mut path, 100.0 + millis);
    path
}

#[test]
fn a_loss_without_a_queue_costs_nothing() {
    // Less than half of the longest queue.
    let mut path = with_queue(40.0);
    path.congestion(Signal::Loss);
    assert_close(path.law.cwnd, 50.0);
    // And 0.7 of the window are left after one with.
    let mut path = with_queue(60.0);
    path.congestion(Signal::Loss);
    assert_close(path.law.cwnd, 35.0);
    assert_eq!(path.law.ssthresh(), Some(Bytes::new(35_000)));
    path.law.on_spurious();
    assert_close(path.law.cwnd, 50.0);
}

#[test]
fn a_loss_in_slow_start_without_a_queue_does_not_end_it() {
    let mut path = Path::new(Playout::default());
    path.round(10);
    round(&mut path, 108.0);
    round(&mut path, 100.0);
    path.congestion(Signal::Loss);
    assert!(path.law.in_slow_start());
}

#[test]
fn more_than_two_in_a_hundred_lost_are_congestion() {
    // 49 arrive and 1 is lost: 2 %, not more. With 2 of 50 it is 4 %.
    for (lost, left) in [(1, 50.0), (2, 35.0)] {
        let mut path = with_queue(0.0);
        path.lost += segments(lost);
        path.ack(path.rtt, 50 - lost, 50);
        path.congestion(Signal::Loss);
        assert_close(path.law.cwnd, left);
    }
}

#[test]
fn beside_others_it_is_reno() {
    // The longest queue was 100 ms, and 50 segments were delivered in 100 ms. With 30 segments at
    // 140 ms, 214 a second, there are less than three quarters of that and more than a quarter of the
    // queue. Seven rounds the law draws back; from the eighth on a segment a round.
    let mut path = settled(50.0);
    round(&mut path, 100.0);
    round(&mut path, 200.0);
    path.law.cwnd = 30.0;
    let mut before = 30.0;
    for n in 1..=7 {
        let after = round(&mut path, 140.0);
        assert!(after < before, "{n}: {after}");
        before = after;
    }
    assert_close(round(&mut path, 140.0), before + 1.0);
    assert_close(round(&mut path, 150.0), before + 2.0);
    // Half after a loss with a queue.
    path.congestion(Signal::Loss);
    assert_close(path.law.cwnd, f64::midpoint(before, 2.0));
    // The queue is gone, and with it they.
    path.law.cwnd = 30.0;
    assert_close(round(&mut path, 100.0), 32.0);
}

#[test]
fn marks_and_timeouts() {
    // RFC 8511 for a mark; a timeout leaves one segment, and slow start leads back to 0.7.
    let mut path = settled(50.0);
    path.congestion(Signal::Ecn { abe: false });
    assert_close(path.law.cwnd, 42.5);
    let mut path = settled(50.0);
    path.congestion(Signal::Timeout { consecutive: 1 });
    assert_eq!(path.law.cwnd(), Bytes::new(1000));
    assert_eq!(path.law.ssthresh(), Some(Bytes::new(35_000)));
    path.congestion(Signal::Timeout { consecutive: 2 });
    assert_eq!(path.law.ssthresh(), Some(Bytes::new(35_000)));
}

#[test]
fn it_paces_at_twice_the_window_a_round_trip_and_then_at_six_fifths() {
    // Ten segments of 1000 B in 100 ms: 100 kB/s.
    let mut path = Path::new(Playout::default());
    assert_close(path.pacing(), 200_000.0);
    path.law.cwnd = 10.0;
    path.law.end_slow_start();
    assert_close(path.pacing(), 120_000.0);
    assert_eq!(MSS().get(), 1000);
}
