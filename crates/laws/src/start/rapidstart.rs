//! Rapid Start: draft-kazuho-ccwg-rapid-start, the text of the authors' repository at commit 00e5ea1d (K = 2/3).
//!
//! The window triples each round trip while there is no queue. The first loss then leaves what the path was seen to hold,
//! and not a fixed part of a window that may be three times as large.

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration};

use super::contract::{Law, SlowStart};
use super::standard::Standard;
use crate::event::{Ack, SlowStartStep};
use crate::words::{Described, Word};

/// The delay beyond the least round-trip time that is a queue: at most so much, and at most a tenth of it.
const MOST_QUEUE: Duration = Duration::from_millis(4);
const QUEUE_DIVISOR: u64 = 10;
/// Bytes that each acknowledged one adds while there is no queue.
const FACTOR: u64 = 2;
/// K, of which the reduction factors are made.
const K: f64 = 2.0 / 3.0;
/// The first repair leaves this part at least of what the law leaves.
const LEAST_DIVISOR: f64 = 3.0;

/// Rapid Start.
// DEVIATION(rapid-start): proportional rate reduction, where the recovery has it, spreads what goes out over the ACKs, so that
// there is no silence at first; and segments are paced where the flow's settings say so.
#[derive(Clone, Copy, Debug, Default)]
pub struct RapidStart {
    least: Option<Duration>,
    /// The end of the round, and its least round-trip time (`rtt_floor`).
    end: Option<Seq>,
    floor: Option<Duration>,
    /// The window before the first ACK, and at the last.
    first_cwnd: Bytes,
    last_cwnd: Bytes,
    /// Data delivered during the first repair, and the window that it has come to.
    delivered: Bytes,
    window: Option<Bytes>,
    over: bool,
}

impl RapidStart {
    fn measure(&mut self, ack: &Ack) {
        if self.end.is_none_or(|end| ack.una > end) {
            self.end = Some(ack.nxt);
            self.floor = None;
        }
        if let Some(rtt) = ack.rtt {
            let less = |least: Option<Duration>| Some(least.map_or(rtt, |least| least.min(rtt)));
            self.least = less(self.least);
            self.floor = less(self.floor);
        }
    }

    fn has_queue(&self) -> bool {
        let (Some(floor), Some(least)) = (self.floor, self.least) else { return false };
        floor > least + MOST_QUEUE.min(least / QUEUE_DIVISOR)
    }
}

impl Described for RapidStart {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone(
        "rapidstart",
        (),
        "three times the window each round trip until a queue builds up (draft-kazuho-ccwg-rapid-start)",
    )];
}

impl Law for RapidStart {
    const OUTGROWS_ACKS: bool = true;

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl SlowStart for RapidStart {
    fn on_ack(&mut self, ack: &Ack, cwnd: Bytes, ssthresh: Option<Bytes>) -> SlowStartStep {
        self.over |= cwnd < self.last_cwnd;
        if self.first_cwnd == Bytes::ZERO {
            self.first_cwnd = cwnd;
        }
        self.last_cwnd = cwnd;
        if self.over {
            return Standard.on_ack(ack, cwnd, ssthresh);
        }
        self.measure(ack);
        let factor = if self.has_queue() { 1 } else { FACTOR };
        let step = SlowStartStep::grow(ack.newly_acked * factor);
        self.last_cwnd = cwnd + step.increase;
        step
    }

    fn follows_repair(&self) -> bool {
        !self.over && self.last_cwnd > Bytes::ZERO
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
    fn in_repair(&mut self, reduced_to: Bytes, delivered: Bytes, lost: Bytes) -> Option<Bytes> {
        self.delivered += delivered;
        let before = self.last_cwnd.as_f64();
        let beta = (reduced_to.as_f64() / before).min(1.0);
        let ack_factor = K * (1.0 - beta);
        let loss_factor = beta + ack_factor;
        let lost = lost.as_f64().min(before);
        // Data sent during the repair is not of the window that it began with.
        let acked = self.delivered.as_f64().min(before - lost);
        let window = before * loss_factor - acked * ack_factor - lost * loss_factor;
        // "MAY stop reducing" at the initial window times beta.
        let least = (before * beta / LEAST_DIVISOR).max(self.first_cwnd.as_f64() * beta);
        self.window = Some(Bytes::new(window.max(least) as u64));
        self.window
    }

    fn after_repair(&mut self) -> Option<Bytes> {
        self.over = true;
        self.window.take()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Path;
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn the_window_triples_until_a_queue_builds_up() {
        let mut path = Path::new(RapidStart::default(), 10);
        for segments in [30, 90] {
            path.round(MS(30));
            assert_eq!(path.cwnd, Bytes::new(1000 * segments));
        }
        // 33 ms are a tenth more, which is allowed; 34 ms are not. The first ACK is of the round before.
        path.round(MS(33));
        assert_eq!(path.cwnd, Bytes::new(270_000));
        path.round(MS(34));
        assert!((540_000..=542_000).contains(&path.cwnd.get()), "{:?}", path.cwnd);
    }

    #[test]
    fn on_a_long_path_four_milliseconds_are_a_queue() {
        let mut law = RapidStart { least: Some(MS(100)), ..RapidStart::default() };
        for (floor, has_queue) in [(104, false), (105, true)] {
            law.floor = Some(MS(floor));
            assert_eq!(law.has_queue(), has_queue);
        }
    }

    /// The segments that the first repair leaves of 300, of which the law left so many and so many were lost.
    fn left(reduced_to: u64, lost: u64) -> f64 {
        let segments = |n| Bytes::new(1000 * n);
        let mut law = RapidStart {
            first_cwnd: segments(10),
            last_cwnd: segments(300),
            ..RapidStart::default()
        };
        law.in_repair(segments(reduced_to), segments(300 - lost), segments(lost));
        let left = law.after_repair().unwrap();
        assert!(!law.follows_repair() && law.after_repair().is_none());
        left.as_f64() / 1000.0
    }

    #[test]
    fn the_first_repair_leaves_beta_of_what_the_path_held() {
        // The draft's factors with beta = 1/2: 300 * 5/6 - 100/3 - 200 * 5/6 = 50; with 7/10: 300 * 9/10 - 100/5 - 200 * 9/10
        // = 70. Nothing lost, as with a mark: 250 - 300/3 = 150, and 270 - 300/5 = 210. No less than beta/3 of the window,
        // however much was lost.
        for (reduced_to, lost, expected) in
            [(150, 200, 50.0), (210, 200, 70.0), (150, 0, 150.0), (210, 0, 210.0), (150, 290, 50.0)]
        {
            let left = left(reduced_to, lost);
            assert!((left - expected).abs() < 2e-3, "{reduced_to} {lost}: {left}");
        }
    }

    #[test]
    fn the_window_shrinks_with_the_repair() {
        // beta = 1/2: 250 at first; 30 acknowledged and 60 lost: 250 - 10 - 50 = 190.
        let segments = |n: u64| Bytes::new(1000 * n);
        let mut law = RapidStart { last_cwnd: segments(300), ..RapidStart::default() };
        let mut near = |delivered, lost, expected: f64| {
            let window = law.in_repair(segments(150), segments(delivered), segments(lost)).unwrap();
            assert!((window.as_f64() / 1000.0 - expected).abs() < 2e-3, "{window:?}");
        };
        near(0, 0, 250.0);
        near(30, 60, 190.0);
    }
}
