use ackclock_packet::Seq;
use ackclock_units::{Duration, Instant, Mss};

use super::*;
use crate::event::Limit;

const MSS: u64 = 1000;

pub fn segments(n: u64) -> Bytes {
    Bytes::new(n * MSS)
}

/// A sender whose last segment left `idle` ago, with a window of 100 segments; IW 10, RTO 1 s.
fn after(idle: Duration) -> Usage {
    let last = Instant::from_nanos(5_000_000_000);
    Usage {
        now: last + idle,
        last_send: Some(last),
        all_acked_at: Some(last + Duration::from_millis(200)),
        rto: Duration::from_secs(1),
        unclamped_rto: Duration::from_millis(240),
        srtt: Some(Duration::from_millis(200)),
        cwnd: segments(100),
        ssthresh: None,
        in_slow_start: false,
        in_flight: Bytes::ZERO,
        outstanding: Bytes::ZERO,
        una: Seq::FIRST_BYTE,
        nxt: Seq::FIRST_BYTE,
        limited_by: Limit::Application,
        peer_window: segments(1000),
        undisturbed: true,
        initial_window: segments(10),
        mss: Mss::new(1000).unwrap(),
    }
}

pub fn window(rule: &mut impl Idle, idle: u64) -> Option<Bytes> {
    rule.before_send(&after(Duration::from_millis(idle))).and_then(|proposal| proposal.cwnd)
}

#[test]
fn rfc5681_restarts_after_more_than_an_rto() {
    let mut rule = Rfc5681::new(IdleClock::LastSend, None);
    assert_eq!(window(&mut rule, 1000), None);
    assert_eq!(window(&mut rule, 1001), Some(segments(10)));
    let mut rule = Rfc5681::new(IdleClock::LastSend, Some(1));
    assert_eq!(window(&mut rule, 1001), Some(segments(1)));
}

#[test]
fn linux_halves_once_for_every_whole_rto_and_stops_at_the_first_window() {
    // The kernel subtracts the RTO until nothing is left, and halves while something is: 100, 50
    // after more than 1 s, 25 after more than 2 s, 12 whole ones after more than 3 s, then IW.
    for (idle, expected) in [
        (1000, None),
        (1001, Some(50_000)),
        (2000, Some(50_000)),
        (2001, Some(25_000)),
        (3001, Some(12_000)),
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

#[test]
fn linux_halves_and_quarters_whole_segments() {
    // tcp_current_ssthresh: (91 >> 1) + (91 >> 2) = 45 + 22 = 67, where three quarters are 68.25.
    let usage = Usage {
        cwnd: segments(91),
        ssthresh: Some(segments(40)),
        ..after(Duration::from_millis(1001))
    };
    let proposal = LinuxIdle::new(true).before_send(&usage).unwrap();
    assert_eq!((proposal.cwnd, proposal.ssthresh), (Some(segments(45)), Some(segments(67))));
    // tcp_cwnd_application_limited: 91 segments, 10.5 of them used, are (91 + 11) >> 1 = 51.
    let mut rule = LinuxIdle::new(true);
    let used = Usage { outstanding: Bytes::new(10_500), in_flight: Bytes::new(10_500), ..usage };
    assert!(rule.after_burst(&used).is_none());
    let later = Usage { now: used.now + Duration::from_millis(1000), ..used };
    let proposal = rule.after_burst(&later).unwrap();
    assert_eq!((proposal.cwnd, proposal.ssthresh), (Some(segments(51)), Some(segments(67))));
}

#[test]
fn linux_counts_silence_and_timeout_in_jiffies() {
    // From 0.9 to 1001.1 ms are 1001 jiffies and 1000.2 ms: more than a timeout of 1000 ms, whose 1000 jiffies leave one.
    let micros = |us: u64| Instant::from_nanos(us * 1000);
    let usage =
        Usage { now: micros(1_001_100), last_send: Some(micros(900)), ..after(Duration::ZERO) };
    let window = |usage| LinuxIdle::new(true).before_send(&usage).and_then(|it| it.cwnd);
    assert_eq!(window(usage), Some(segments(50)));
    // From 0.1 to 1000.9 ms are 1000 jiffies.
    assert_eq!(
        window(Usage { now: micros(1_000_900), last_send: Some(micros(100)), ..usage }),
        None
    );
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
        may_grow: true,
        paced: false,
        mss: Mss::new(1000).unwrap(),
    }
}

#[test]
fn a_window_that_has_to_be_full_grows_on_no_other_ack() {
    let restart = |full| Restart { clock: IdleClock::Timer, window: Some(1), full };
    let mut rule = Rfc5681::make(restart(true));
    // Nine of ten segments are in flight: one more may go.
    let found = |in_flight| Ack { in_flight_before: segments(in_flight), ..ack() };
    assert!(!rule.may_grow(&found(9), segments(10), true));
    assert!(rule.may_grow(&found(10), segments(10), true));
    assert!(Rfc5681::make(restart(false)).may_grow(&found(9), segments(10), true));
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

#[test]
fn linux_leaves_a_window_alone_while_acks_come() {
    // As seen of Linux 6.18: 10 of 48 segments used for seconds, and 48 they stay. Each ACK that may
    // raise the window sets snd_cwnd_stamp, whether it then grows or not.
    let mut rule = LinuxIdle::new(true);
    let usage = |ms: u64| Usage {
        in_flight: segments(20),
        outstanding: segments(20),
        ..after(Duration::from_millis(ms))
    };
    for ms in (0..5000).step_by(200) {
        assert!(rule.after_burst(&usage(ms)).is_none(), "at {ms} ms");
        let now = usage(ms).now;
        assert!(!rule.may_grow(&Ack { now, ..ack() }, segments(100), true));
    }
    // The last ACK came at 4800 ms, and an RTO is a second.
    assert!(rule.after_burst(&usage(5790)).is_none());
    assert!(rule.after_burst(&usage(5800)).is_some());
}

#[test]
fn the_timer_counts_from_the_ack_of_everything() {
    // ACKed 200 ms after the last send, RTO 1 s: the timer expires at 1200 ms of silence, and leaves
    // one segment, ns-2's restart window.
    let mut ns2 = Rfc5681::new(IdleClock::Timer, Some(1));
    assert_eq!(window(&mut ns2, 1199), None);
    assert_eq!(window(&mut ns2, 1200), Some(segments(1)));
    let never_acked = Usage { all_acked_at: None, ..after(Duration::from_secs(9)) };
    assert!(ns2.before_send(&never_acked).is_none());
}

#[test]
fn cwv_leaves_the_window_over_two_to_the_n_and_at_least_a_segment() {
    // RFC 2861 §3.2: after n whole RTOs of silence max(cwnd / 2^n, 1 segment). 100 segments of
    // 1000 B: 50,000, 25,000, 12,500, 6,250 B ...; 100,000 / 64 = 1562, / 128 is less than a segment.
    for (idle, expected) in [
        (999, None),
        (1000, Some(50_000)),
        (1999, Some(50_000)),
        (2000, Some(25_000)),
        (3000, Some(12_500)),
        (4500, Some(6_250)),
        (6000, Some(1_562)),
        (7000, Some(1_000)),
        (900_000, Some(1_000)),
    ] {
        let found = window(&mut Cwv::new(CwvRto::Clamped), idle);
        assert_eq!(found, expected.map(Bytes::new), "{idle} ms");
    }
}

#[test]
fn the_timeout_that_cwv_counts_decides_how_often_it_halves() {
    // 1.5 s of silence: once in RTOs of 1 s, three times in 0.5 s, six times in 0.24 s
    // (1.5 / 0.24 = 6.25): 100 / 2, 100 / 8, 100 / 64 segments.
    for (rto, expected) in [
        (CwvRto::Clamped, 50_000),
        (CwvRto::Fixed(Duration::from_millis(500)), 12_500),
        (CwvRto::Unclamped, 1_562),
    ] {
        assert_eq!(window(&mut Cwv::new(rto), 1500), Some(Bytes::new(expected)), "{rto:?}");
    }
}

#[test]
fn cwv_halves_no_more_than_the_receiver_offers() {
    // min(100, 20) / 2 = 10, then min(10, 20) / 2 = 5.
    let usage = Usage { peer_window: segments(20), ..after(Duration::from_secs(2)) };
    let proposal = Cwv::new(CwvRto::Clamped).before_send(&usage).unwrap();
    assert_eq!(proposal.cwnd, Some(segments(5)));
}

#[test]
fn cwv_remembers_three_quarters_in_ssthresh() {
    // max(40, 3/4 * 100) = 75, and max(80, 75) = 80, from the window before the first halving.
    for (ssthresh, expected) in [(40, 75), (80, 80)] {
        let usage = Usage { ssthresh: Some(segments(ssthresh)), ..after(Duration::from_secs(3)) };
        let proposal = Cwv::new(CwvRto::Clamped).before_send(&usage).unwrap();
        assert_eq!(proposal.ssthresh, Some(segments(expected)));
    }
}

#[test]
fn cwv_takes_silence_but_once_where_the_send_has_to_wait() {
    let mut rule = Cwv::new(CwvRto::Clamped);
    assert_eq!(window(&mut rule, 1500), Some(segments(50)));
    assert_eq!(window(&mut rule, 1600), None);
    // A second after the first payment, there is another.
    assert_eq!(window(&mut rule, 2500), Some(segments(50)));
}

#[test]
fn who_waits_for_an_ack_is_not_idle() {
    let usage = Usage { limited_by: Limit::Cwnd, ..after(Duration::from_secs(3)) };
    let mut rule = Cwv::new(CwvRto::Fixed(Duration::from_millis(500)));
    assert!(rule.before_send(&usage).is_none());
}

#[test]
fn cwv_goes_half_way_to_what_was_used_for_an_rto() {
    // RFC 2861 §3.2, the application-limited step: 100 segments, of which at most 20 were
    // outstanding for an RTO: (100 + 20) / 2 = 60; then, at 10: (60 + 10) / 2 = 35.
    let mut rule = Cwv::new(CwvRto::Clamped);
    let usage = |ms: u64, cwnd, out| Usage {
        cwnd: segments(cwnd),
        ssthresh: Some(segments(30)),
        in_flight: segments(out),
        outstanding: segments(out),
        ..after(Duration::from_millis(ms))
    };
    assert!(rule.after_burst(&usage(0, 100, 20)).is_none());
    assert!(rule.after_burst(&usage(999, 100, 10)).is_none());
    let step = rule.after_burst(&usage(1000, 100, 10)).unwrap();
    assert_eq!((step.cwnd, step.ssthresh), (Some(segments(60)), Some(segments(75))));
    assert!(rule.after_burst(&usage(1999, 60, 10)).is_none());
    let step = rule.after_burst(&usage(2000, 60, 10)).unwrap();
    assert_eq!((step.cwnd, step.ssthresh), (Some(segments(35)), Some(segments(45))));
}

#[test]
fn a_full_window_is_valid_for_an_rto_from_then_on() {
    let mut rule = Cwv::new(CwvRto::Clamped);
    let usage = |ms: u64, out| Usage {
        in_flight: segments(out),
        outstanding: segments(out),
        ..after(Duration::from_millis(ms))
    };
    assert!(rule.after_burst(&usage(0, 20)).is_none());
    // 100 of 100 at 900 ms: what was used before no longer counts.
    assert!(rule.after_burst(&usage(900, 100)).is_none());
    assert!(rule.after_burst(&usage(1800, 4)).is_none());
    let step = rule.after_burst(&usage(1900, 2)).unwrap();
    // (100 + 4) / 2.
    assert_eq!(step.cwnd, Some(segments(52)));
}

#[test]
fn under_cwv_only_a_full_window_grows() {
    let mut rule = Cwv::new(CwvRto::Clamped);
    let with = |before| Ack { in_flight_before: segments(before), ..ack() };
    assert!(!rule.may_grow(&with(9), segments(10), true));
    assert!(rule.may_grow(&with(10), segments(10), true));
    // Less than a segment of room is none.
    assert!(rule.may_grow(&with(9), Bytes::new(9_999), true));
}

/// An ACK of `una` at `ms` when `nxt` is the next number to send; segments counted from the first byte.
fn acked(ms: u64, una: u64, nxt: u64) -> Ack {
    Ack {
        now: Instant::from_nanos(ms * 1_000_000),
        una: Seq::FIRST_BYTE + segments(una),
        nxt: Seq::FIRST_BYTE + segments(nxt),
        srtt: Some(Duration::from_millis(200)),
        in_flight_before: segments(nxt - una + 2),
        ..ack()
    }
}

/// A rule that has seen `per_round` segments acknowledged in each of `rounds` round trips of 200 ms.
fn seen(per_round: u64, rounds: u64) -> NewCwv {
    let mut rule = NewCwv::default();
    for round in 0..=rounds {
        let una = round * per_round;
        rule.may_grow(&acked(200 * round, una, una + per_round), segments(100), false);
    }
    rule
}

fn used(ms: u64, cwnd: u64, outstanding: u64) -> Usage {
    Usage {
        now: Instant::from_nanos(ms * 1_000_000),
        cwnd: segments(cwnd),
        ssthresh: Some(segments(30)),
        outstanding: segments(outstanding),
        in_flight: segments(outstanding),
        ..after(Duration::ZERO)
    }
}

#[test]
fn newcwv_lets_a_validated_window_grow_and_keeps_another() {
    // RFC 7661 §4.3: pipeACK = 40 segments. 40 >= 80 / 2 is validated, 40 < 82 / 2 is not.
    let mut rule = seen(40, 3);
    assert!(rule.may_grow(&acked(601, 121, 161), segments(80), false));
    assert!(!rule.may_grow(&acked(602, 122, 162), segments(82), false));
    // A window in full use grows all the same (§4.4).
    let full = Ack { in_flight_before: segments(82), ..acked(603, 123, 205) };
    assert!(rule.may_grow(&full, segments(82), false));
    // Undefined at first: validated.
    assert!(NewCwv::default().may_grow(&acked(0, 1, 3), segments(100), true));
}

#[test]
fn newcwv_keeps_the_window_for_five_minutes() {
    // §4.4.3: cwnd = max(cwnd / 2, IW), ssthresh = max(ssthresh, 3/4 cwnd), once for each 300 s.
    let mut rule = seen(40, 3);
    assert!(rule.may_grow(&acked(601, 121, 161), segments(80), false));
    assert!(rule.before_send(&used(300_600, 80, 0)).is_none());
    let first = rule.before_send(&used(300_601, 80, 0)).unwrap();
    assert_eq!((first.cwnd, first.ssthresh), (Some(segments(40)), Some(segments(60))));
    assert!(rule.before_send(&used(600_600, 40, 0)).is_none());
    // 900 s later three periods more: 40 / 8 is less than IW 10.
    let later = rule.before_send(&used(1_200_601, 40, 0)).unwrap();
    assert_eq!(later.cwnd, Some(segments(10)));
}

#[test]
fn newcwv_answers_a_loss_from_what_was_used() {
    // §4.4.1: cwnd 100, pipeACK 12, 20 outstanding: the reduction starts from max(12, 20) = 20. Reno
    // leaves 10; with R = 4 segments sent again the window after the repair is (20 - 4) / 2 = 8.
    let mut rule = seen(12, 3);
    assert_eq!(rule.on_loss(&used(700, 100, 20)), Some(segments(20)));
    assert_eq!(rule.after_repair(segments(10), segments(4)), Some(segments(8)));
    assert_eq!(rule.after_repair(segments(10), segments(4)), None);
    // pipeACK is undefined now, so that the window counts as validated.
    assert!(rule.on_loss(&used(701, 100, 20)).is_none());
    // CUBIC leaves 0.7 * 20 = 14: (20 - 5) * 0.7 = 10.5.
    let mut rule = seen(12, 3);
    rule.on_loss(&used(700, 100, 20));
    assert_eq!(rule.after_repair(segments(14), segments(5)), Some(Bytes::new(10_500)));
}

#[test]
fn newcwv_answers_a_loss_in_a_validated_window_as_others_do() {
    let mut rule = seen(60, 3);
    assert!(rule.on_loss(&used(700, 100, 90)).is_none());
    assert!(rule.after_repair(segments(50), segments(4)).is_none());
}

#[test]
fn what_the_network_carried_long_ago_does_not_count() {
    // The sampling period is max(3 * 200 ms, 1 s): the samples of 200, 400 and 600 ms are gone at
    // 1601 ms, and the loss starts from what is outstanding.
    let mut rule = seen(12, 3);
    assert_eq!(rule.on_loss(&used(1600, 100, 5)), Some(segments(12)));
    let mut rule = seen(12, 3);
    assert_eq!(rule.on_loss(&used(1601, 100, 5)), Some(segments(5)));
}
