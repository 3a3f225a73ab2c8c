use super::*;

const MSS: u64 = 1000;

fn segments(n: u64) -> Bytes {
    Bytes::new(n * MSS)
}

/// A sender whose last segment left `idle` ago, with a window of 100 segments; IW 10, RTO 1 s.
fn after(idle: Duration) -> Usage {
    let last = Instant::from_nanos(5_000_000_000);
    Usage {
        now: last + idle,
        last_send: Some(last),
        rto: Duration::from_secs(1),
        cwnd: segments(100),
        ssthresh: None,
        in_slow_start: false,
        in_flight: Bytes::ZERO,
        outstanding: Bytes::ZERO,
        una: Seq::FIRST_BYTE,
        nxt: Seq::FIRST_BYTE,
        limited_by: Limit::Application,
        undisturbed: true,
        initial_window: segments(10),
        mss: Mss::new(1000).unwrap(),
    }
}

fn window(rule: &mut impl Idle, idle: u64) -> Option<Bytes> {
    rule.before_send(&after(Duration::from_millis(idle))).and_then(|proposal| proposal.cwnd)
}

#[test]
fn rfc5681_restarts_after_more_than_an_rto() {
    assert_eq!(window(&mut Rfc5681, 1000), None);
    assert_eq!(window(&mut Rfc5681, 1001), Some(segments(10)));
}

#[test]
fn linux_halves_once_for_every_whole_rto_and_stops_at_the_first_window() {
    // The kernel subtracts the RTO until nothing is left, and halves while something is: 100, 50
    // after more than 1 s, 25 after more than 2 s, 12.5 after more than 3 s, then IW.
    for (idle, expected) in [
        (1000, None),
        (1001, Some(50_000)),
        (2000, Some(50_000)),
        (2001, Some(25_000)),
        (3001, Some(12_500)),
        (4001, Some(10_000)),
        (900_000, Some(10_000)),
    ] {
        let found = window(&mut LinuxIdle::new(true), idle);
        assert_eq!(found, expected.map(Bytes::new), "{idle} ms");
    }
    assert_eq!(window(&mut LinuxIdle::new(false), 900_000), None);
}

#[test]
fn linux_remembers_three_quarters_in_ssthresh_if_there_is_one() {
    let usage = Usage { ssthresh: Some(segments(40)), ..after(Duration::from_secs(2)) };
    let proposal = LinuxIdle::new(true).before_send(&usage).unwrap();
    assert_eq!(proposal.ssthresh, Some(segments(75)));
    let higher = Usage { ssthresh: Some(segments(80)), ..usage };
    let proposal = LinuxIdle::new(true).before_send(&higher).unwrap();
    assert_eq!(proposal.ssthresh, Some(segments(80)));
    let none = Usage { ssthresh: None, ..usage };
    assert_eq!(LinuxIdle::new(true).before_send(&none).unwrap().ssthresh, None);
}

fn ack() -> Ack {
    Ack {
        now: Instant::START,
        newly_acked: segments(2),
        newly_delivered: segments(2),
        una: Seq::FIRST_BYTE,
        nxt: Seq::FIRST_BYTE,
        rtt: None,
        srtt: None,
        in_flight_before: Bytes::ZERO,
        in_flight: Bytes::ZERO,
        limited_by: Limit::Application,
        in_recovery: false,
        mss: Mss::new(1000).unwrap(),
    }
}

#[test]
fn linux_lets_slow_start_reach_twice_what_was_out() {
    // IW 10, six segments out: the window may grow to twelve, and no further.
    let mut rule = LinuxIdle::new(true);
    let usage = Usage {
        cwnd: segments(10),
        in_slow_start: true,
        in_flight: segments(6),
        outstanding: segments(6),
        nxt: Seq::FIRST_BYTE + segments(6),
        ..after(Duration::ZERO)
    };
    assert_eq!(rule.after_burst(&usage).map(|proposal| proposal.cwnd), None);
    assert!(rule.may_grow(&ack(), segments(10), true));
    assert!(!rule.may_grow(&ack(), segments(12), true));
    // In congestion avoidance it has to be full.
    assert!(!rule.may_grow(&ack(), segments(10), false));
    let full = Usage { in_flight: segments(10), outstanding: segments(10), ..usage };
    rule.after_burst(&full);
    assert!(rule.may_grow(&ack(), segments(10), false));
}

#[test]
fn linux_takes_half_of_what_was_not_used_for_an_rto() {
    // 100 segments, 20 of them used: after an RTO (100 + 20) / 2 = 60, ssthresh 3/4 of 100.
    let mut rule = LinuxIdle::new(true);
    let usage = |ms: u64| Usage {
        ssthresh: Some(segments(30)),
        in_flight: segments(20),
        outstanding: segments(20),
        ..after(Duration::from_millis(ms))
    };
    assert!(rule.after_burst(&usage(0)).is_none());
    assert!(rule.after_burst(&usage(999)).is_none());
    let proposal = rule.after_burst(&usage(1000)).unwrap();
    assert_eq!((proposal.cwnd, proposal.ssthresh), (Some(segments(60)), Some(segments(75))));
    // Not again before another RTO, and never while losses are repaired.
    assert!(rule.after_burst(&usage(1500)).is_none());
    let disturbed = Usage { undisturbed: false, ..usage(2500) };
    assert!(rule.after_burst(&disturbed).is_none());
    assert!(LinuxIdle::new(false).after_burst(&usage(9000)).is_none());
}
