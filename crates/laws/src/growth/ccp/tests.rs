use super::*;
use crate::growth::bbr::path::{MSS, Path as Acks, segments};

/// A controller after slow start over a round trip of 100 ms that ten segments went through 1 ms
/// apart: a capacity of 1000 segments a second, 100 segments a round trip.
fn controller(settings: CcpSettings) -> Acks<Ccp> {
    let mut acks = Acks::new(Ccp::new(settings));
    for n in 0..10 {
        acks.rtt = Duration::from_millis(100 + n);
        acks.ack(Duration::from_millis(if n == 0 { 100 } else { 1 }), 1, 9 - n);
    }
    acks.congestion(Signal::Loss);
    acks
}

/// A law whose round-trip time, at once the smoothed one, was once at most this.
fn with_largest(settings: CcpSettings, millis: u64) -> Acks<Ccp> {
    let mut acks = controller(settings);
    acks.rtt = Duration::from_millis(millis);
    acks.ack(Duration::from_millis(500), 1, 1);
    acks
}

/// ACKs of one segment 1 ms apart at a round-trip time of `millis`, until the window has had time to
/// get anywhere. The flight, with what the ACK delivers, is `flight`.
fn settle(acks: &mut Acks<Ccp>, millis: u64, flight: u64) -> f64 {
    acks.rtt = Duration::from_millis(millis);
    for _ in 0..2000 {
        acks.ack(Duration::from_millis(1), 1, flight - 1);
    }
    acks.law.cwnd
}

fn assert_close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-3 * b, "{a} is not {b}");
}

#[test]
fn equation_5() {
    // C = 1000/s, RTTmax 300 ms: B = 300. RTT 150 ms: x = 50. 120 in flight.
    // Literal (300 - 50 - 120)/2 = 65; beyond the flight 120 + 65 = 185.
    let literal = CcpSettings { reading: Reading::Literal, ..CcpSettings::CCP };
    assert_close(settle(&mut with_largest(literal, 300), 150, 120), 65.0);
    assert_close(settle(&mut with_largest(CcpSettings::CCP, 300), 150, 120), 185.0);
    // The buffer alone: B = 300 - 100 = 200, (200 - 50 - 120)/2 = 15 beyond the flight.
    let buffer = CcpSettings { storage: Storage::Buffer, ..CcpSettings::CCP };
    assert_close(settle(&mut with_largest(buffer, 300), 150, 120), 135.0);
    // Kp = 2: (2 * 250 - 120)/2 = 190.
    let twice = CcpSettings { proportional_thousandths: 2000, ..CcpSettings::CCP };
    assert_close(settle(&mut with_largest(twice, 300), 150, 120), 310.0);
}

#[test]
fn the_delivery_rate_takes_the_place_of_pairs() {
    // A segment is acknowledged 0.5 ms after the one before and met as long a queue: 2000/s were delivered, and it
    // is no pair. B = 600, x = 100: 120 + (600 - 100 - 120)/2 = 310, where pairs tell 1000/s and 185.
    let settled = |estimate| {
        let mut acks = with_largest(CcpSettings { estimate, ..CcpSettings::CCP }, 300);
        acks.ack(Duration::from_micros(500), 1, 1);
        settle(&mut acks, 150, 120)
    };
    assert_close(settled(Estimate::Delivery), 310.0);
    assert_close(settled(Estimate::Pairs), 185.0);
    assert_close(settled(Estimate::Largest), 185.0);
}

#[test]
fn equation_6() {
    // As above: 300 - 50 - 120 = 130, and no change of the load.
    let mut acks = with_largest(CcpSettings::CCPD, 300);
    assert_close(settle(&mut acks, 150, 120), 250.0);
    // The flight falls by one in 1 ms: Kd/dt = 2000 us/1000 us = 2 more, and one less in flight,
    // which the law's proportional part takes up: 119 + 131 + 2 = 252. The guard allows 251 at once.
    acks.ack(Duration::from_millis(1), 1, 118);
    assert_close(acks.law.cwnd, 251.0);
    // It rises by one in 4 ms: 120 + 130 - 0.5 = 249.5.
    acks.ack(Duration::from_millis(4), 1, 119);
    assert_close(acks.law.cwnd, 249.5);
    // By one in a tenth of a segment's time counts as in a segment's time, 1 ms: 121 + 129 - 2 = 248.
    acks.ack(Duration::from_micros(100), 1, 120);
    assert_close(acks.law.cwnd, 248.0);
}

#[test]
fn a_loss_ends_slow_start_and_changes_nothing_else() {
    let mut acks = Acks::new(Ccp::new(CcpSettings::CCP));
    assert!(acks.law.in_slow_start());
    acks.congestion(Signal::Loss);
    assert!(!acks.law.in_slow_start());
    assert_eq!(acks.law.cwnd(), segments(10));
    let mut acks = with_largest(CcpSettings::CCP, 300);
    let before = settle(&mut acks, 150, 120);
    acks.congestion(Signal::Loss);
    assert_close(acks.law.cwnd, before);
}

#[test]
fn a_timeout_leaves_a_segment_and_the_controller_leads_back_no_faster_than_slow_start() {
    let mut acks = with_largest(CcpSettings::CCP, 300);
    settle(&mut acks, 150, 120);
    acks.congestion(Signal::Timeout { consecutive: 1 });
    assert_eq!(acks.law.cwnd(), MSS().bytes());
    assert!(!acks.law.in_slow_start());
    for n in 0..5 {
        acks.ack(Duration::from_millis(1), 1, 0);
        assert_close(acks.law.cwnd, f64::from(n + 2));
    }
    // It was for nothing: the 185 come back.
    acks.law.on_spurious();
    assert_close(acks.law.cwnd, 185.0);
}

#[test]
fn the_window_is_at_least_two_segments() {
    // B = 100: nothing but the pipe. x = 200: the law is far below zero.
    let mut acks = controller(CcpSettings { reading: Reading::Literal, ..CcpSettings::CCP });
    acks.law.path.largest_rtt = Duration::from_millis(100);
    acks.rtt = Duration::from_millis(100);
    assert!(settle(&mut acks, 100, 120) >= 2.0);
    assert_eq!(acks.law.cwnd(), segments(2));
}

#[test]
fn an_ack_that_was_kept_back_is_no_largest_round_trip_time() {
    let mut acks = with_largest(CcpSettings::CCP, 300);
    acks.law.on_delivery(&Delivery {
        now: acks.now + Duration::from_millis(1),
        newly_delivered: segments(1),
        newly_lost: Bytes::ZERO,
        delivered: segments(1),
        lost: Bytes::ZERO,
        sample: None,
        rtt: Some(Duration::from_millis(500)),
        maybe_delayed: true,
        srtt: Some(Duration::from_millis(150)),
        in_flight_before: segments(1),
        in_flight: segments(0),
        is_cwnd_limited: true,
        repair: Repair::None,
        selective: true,
        mss: MSS(),
    });
    assert_eq!(acks.law.path.largest_rtt, Duration::from_millis(300));
}
