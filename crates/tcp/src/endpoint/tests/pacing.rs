use ackclock_laws::event::{Ack, Congestion, Proposal, RecoveryEnd, SlowStartStep};
use ackclock_laws::growth::Growth;
use ackclock_units::Rate;

use super::*;
use crate::config::Pacing;

/// A law with a window and a rate that never change.
#[derive(Debug)]
struct Fixed {
    cwnd: Bytes,
    rate: Option<Rate>,
}

impl Growth for Fixed {
    fn on_ack(&mut self, _: &Ack, _: Option<SlowStartStep>) {}
    fn on_congestion(&mut self, _: &Congestion) {}
    fn on_recovery_end(&mut self, _: &RecoveryEnd) {}
    fn rebase(&mut self, _: &Proposal) {}
    fn cwnd(&self) -> Bytes {
        self.cwnd
    }
    fn ssthresh(&self) -> Option<Bytes> {
        Some(self.cwnd)
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.rate
    }
}

/// A segment of 1000 bytes a millisecond, over a round trip of 20 ms.
fn fixed(pacing: Pacing, cwnd_segments: u64) -> Pair {
    let config = Config { pacing, ..config("newreno+sack") };
    let mut pair = Pair::new(config, config);
    let law =
        Fixed { cwnd: Bytes::new(1000 * cwnd_segments), rate: Some(Rate::from_bps(8_000_000)) };
    pair.ends[0].sender_mut().set_growth(Box::new(law));
    pair.ends[0].write(Bytes::UNLIMITED);
    pair
}

#[test]
fn segments_leave_one_by_one_at_the_rate_of_the_law() {
    let mut pair = fixed(Pacing::Law, 50);
    pair.until(120);
    for millis in 20..=120 {
        assert_eq!(pair.sent_at(millis), [millis - 20], "{millis}");
    }
}

#[test]
fn a_timer_that_is_late_takes_nothing_off_the_rate() {
    // A segment a millisecond, from 20 ms on, when the handshake is done. The clock looks 0.4 ms late
    // each time, as one of a real machine may: 30 segments still leave in 30 ms, and not in 42.
    let mut pair = fixed(Pacing::Law, 50);
    pair.until(20);
    let sender = &mut pair.ends[0];
    let mut left = Vec::new();
    while left.len() < 30 {
        let Some(at) = sender.poll_at() else { panic!("the sender has more to send") };
        let now = at + Duration::from_micros(400);
        while sender.poll_transmit(now).is_some() {
            left.push(now.as_nanos() / 1000);
        }
    }
    let expected: Vec<u64> = (1..=30).map(|n| 20_000 + 1000 * n + 400).collect();
    assert_eq!(left, expected);
    // Later than a segment takes, it is late by that: nothing leaves in a burst.
    let at = sender.poll_at().unwrap() + Duration::from_micros(5400);
    let burst = std::iter::from_fn(|| sender.poll_transmit(at)).count();
    assert_eq!(burst, 2);
}

#[test]
fn the_window_holds_back_what_the_rate_would_let_go() {
    // Ten segments at 20 ms .. 29 ms, then silence until the ACK of the first at 40 ms.
    let mut pair = fixed(Pacing::Law, 10);
    pair.until(80);
    for millis in 20..=80 {
        let expected = usize::from(millis % 20 < 10);
        assert_eq!(pair.sent_at(millis).len(), expected, "{millis}");
    }
}

#[test]
fn what_is_sent_again_waits_for_its_time_too() {
    let mut pair = fixed(Pacing::Law, 50);
    pair.drop = vec![5];
    pair.until(120);
    for millis in 20..=120 {
        assert_eq!(pair.sent_at(millis).len(), 1, "{millis}");
    }
    // Sent at 25 ms; 6, 7 and 8 are SACKed at 46, 47 and 48 ms. What left at 48 ms did so on its own
    // timer, a microsecond or so before the ACK, so that the retransmission is the next.
    assert_eq!(pair.sent_at(49), [5]);
}

#[test]
fn pacing_may_be_off() {
    let mut pair = fixed(Pacing::Off, 10);
    pair.until(20);
    assert_eq!(pair.sent_at(20), (0..10).collect::<Vec<_>>());
}

#[test]
fn as_linux_paces_the_first_ten_leave_at_once_and_the_rest_in_half_a_round_trip() {
    let config = Config { pacing: Pacing::Linux, ..config("newreno+sack+iw20") };
    let mut pair = Pair::new(config, config);
    pair.ends[0].write(Bytes::UNLIMITED);
    pair.until(39);
    // 2 · 20 segments in 20 ms: 0.5 ms each. Ten go unpaced and the eleventh finds nothing before it;
    // 11 leaves at 20.5 ms, 12 at 21 ms ... 19 at 24.5 ms.
    assert_eq!(pair.sent_at(20), (0..12).collect::<Vec<_>>());
    for millis in 21..=24 {
        let first = 12 + 2 * (millis - 21);
        assert_eq!(pair.sent_at(millis), [first, first + 1], "{millis}");
    }
    assert_eq!(pair.data_sent, 20);
}

#[test]
fn as_linux_paces_a_window_takes_five_sixths_of_a_round_trip_in_avoidance() {
    let config = Config { pacing: Pacing::Linux, ..config("newreno+sack") };
    let mut pair = Pair::new(config, config);
    let law = Fixed { cwnd: Bytes::new(24_000), rate: None };
    pair.ends[0].sender_mut().set_growth(Box::new(law));
    pair.ends[0].write(Bytes::UNLIMITED);
    // 1.2 · 24 segments in 20 ms: 0.694 ms each. Whatever came in a bunch is spread over
    // 24 · 0.694 = 16.7 ms after some round trips; the next 3.3 ms are silent.
    pair.until(260);
    let each: Vec<usize> = (201..=260).map(|millis| pair.sent_at(millis).len()).collect();
    assert!(each.iter().all(|n| *n <= 2), "{each:?}");
    assert!((71..=73).contains(&each.iter().sum::<usize>()), "{each:?}");
    let silent = each.iter().filter(|n| **n == 0).count();
    assert!((3 * 3..=3 * 4).contains(&silent), "{each:?}");
}

#[test]
fn an_application_may_ask_for_less() {
    for pacing in [Pacing::Off, Pacing::Law, Pacing::Linux] {
        // 1000 B at 4 Mbit/s are 2 ms: one at 20 ms, 22 ms, ... although the window has fifty and the
        // law's rate, where it counts, is twice that. Linux lets ten go at first, and one with them.
        let mut pair = fixed(pacing, 50);
        pair.ends[0].pace_at_most(Some(Rate::from_bps(4_000_000)));
        pair.until(200);
        let sent: usize = (101..=200).map(|millis| pair.sent_at(millis).len()).sum();
        assert_eq!(sent, 50, "{pacing:?}");
        assert!((101..=200).all(|millis| pair.sent_at(millis).len() <= 2), "{pacing:?}");
        // Without the bound the law's 8 Mbit/s again, or the window: fifty in 20 ms.
        pair.ends[0].pace_at_most(None);
        pair.until(300);
        let sent: usize = (221..=280).map(|millis| pair.sent_at(millis).len()).sum();
        let expected = if pacing == Pacing::Off { 150 } else { 60 };
        assert!(sent.abs_diff(expected) <= 2, "{pacing:?}: {sent}");
    }
}

#[test]
fn bbr_with_a_peer_without_sack_delivers_all_the_same() {
    for variant in ["bbr", "bbr1"] {
        let mut pair = Pair::new(config(variant), config("newreno"));
        pair.drop = vec![12, 40, 41, 60, 100, 101, 102];
        pair.ends[0].write(Bytes::new(400_000));
        pair.ends[0].shutdown_write();
        pair.until(20_000);
        assert_eq!(pair.ends[1].received(), Bytes::new(400_000), "{variant}");
        assert!(pair.ends[0].sender().all_acked(), "{variant}");
    }
}
