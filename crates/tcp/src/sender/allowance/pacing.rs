//! Pacing: when the next segment may leave.
//!
//! Segments leave one at a time, each the time that the one before it takes at the pacing rate after
//! that one (draft-ietf-ccwg-bbr-06 §5.6.2), by a timer of the sender's own, as Linux paces without
//! the `fq` queue. The quantum is one segment: the smallest that §5.6.3 allows for, and what a host
//! without segmentation offload sends. Where it is Linux that paces, the quantum is what Linux would
//! hand down at once: what the rate carries in a millisecond, at least two segments
//! (`tcp_tso_autosize`). Data and retransmissions wait; ACKs do not.

mod pacer;

use ackclock_units::{Bytes, Duration, Instant, Rate};

use crate::config::Pacing;

/// Segments that Linux lets go unpaced at the beginning (`tcp_update_skb_after_send`).
const UNPACED: u32 = 10;
/// Linux's rate in slow start and in congestion avoidance, in windows a round-trip time
/// (`net.ipv4.tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`).
const SLOW_START_RATIO: f64 = 2.0;
const AVOIDANCE_RATIO: f64 = 1.2;

/// The clock by which segments leave where they are paced.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    /// The most that the application asks for.
    most: Option<Rate>,
    /// True if the last segment's time came from that.
    at_most: bool,
    /// The rate of a jump past slow start, and what each segment counts besides its payload.
    jump: Option<(Rate, Bytes)>,
    /// When the next segment may leave, `C.next_send_time`.
    next: Instant,
    /// The moment that the next segment was held back for, or never if it was not: where the clock is real, the timer
    /// is late.
    waited_for: Instant,
    /// Data that may still leave with the quantum that has begun, and the unused time that it may
    /// make up for.
    quantum: Bytes,
    credit: Duration,
    pacing: Pacing,
    /// True if the rate follows from the window, as the law gives none.
    by_window: bool,
    /// Segments that may still leave unpaced.
    unpaced: u32,
    /// A rate, and what so much data takes at it: most segments are of one size, and a rate lasts.
    taken: (Rate, Bytes, Duration),
}

impl Pacer {
    pub const fn new(pacing: Pacing) -> Self {
        let unpaced = match pacing {
            Pacing::Linux => UNPACED,
            Pacing::Off | Pacing::Law => 0,
        };
        Self {
            pacing,
            by_window: true,
            most: None,
            at_most: false,
            next: Instant::START,
            waited_for: Instant::NEVER,
            unpaced,
            quantum: Bytes::ZERO,
            credit: Duration::ZERO,
            jump: None,
            taken: (Rate::from_bps(1), Bytes::ZERO, Duration::ZERO),
        }
    }

    /// The time that `len` takes at `rate`.
    fn time_for(&mut self, len: Bytes, rate: Rate) -> Duration {
        if (self.taken.0, self.taken.1) != (rate, len) {
            self.taken = (rate, len, rate.transmission_time(len));
        }
        self.taken.2
    }

    /// A jump past slow start: every segment is paced at its rate.
    pub fn begin_jump(&mut self, rate: Rate, overhead: Bytes) {
        self.jump = Some((rate, overhead));
        self.by_window = false;
        self.unpaced = 0;
        self.quantum = Bytes::ZERO;
    }

    /// Its paced round trip is over.
    pub fn end_jump(&mut self) {
        self.jump = None;
    }

    /// Nothing more goes out for now: what is left of a quantum is lost.
    pub const fn end_quantum(&mut self) {
        self.quantum = Bytes::ZERO;
    }

    /// True if a segment may leave at `now`.
    #[inline]
    pub fn may_send(&self, now: Instant) -> bool {
        self.next <= now || self.quantum > Bytes::ZERO
    }

    /// A segment of `len` left at `now` that takes `span` at the pacing rate; full ones have `mss`.
    fn on_sent(&mut self, now: Instant, span: Duration, len: Bytes, mss: Bytes) {
        if self.unpaced > 0 {
            self.unpaced -= 1;
            self.next = now;
            return;
        }
        if self.pacing != Pacing::Linux || self.jump.is_some() {
            // What a timer is late is made up for, up to a segment's time; time that passed unused is not.
            self.next = self.next.max(now) + span.saturating_sub(now.since(self.waited_for));
            return;
        }
        if self.quantum == Bytes::ZERO {
            let in_a_millisecond = len * 1_000_000 / span.as_nanos().max(1);
            self.quantum = (in_a_millisecond / mss.get() * mss.get()).max(mss * 2);
            self.credit = now.since(self.next);
        }
        self.quantum = self.quantum.saturating_sub(len);
        // Linux makes up for time that passed unused, up to half of what is sent takes.
        let credit = self.credit.min(span / 2);
        self.credit = self.credit.saturating_sub(credit);
        self.next = self.next.max(now) + span.saturating_sub(credit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_segment_takes_goes_by_its_size_and_by_the_rate() {
        // 10,000 bits at 10 and at 20 Mbit/s, then twice as many.
        let mut pacer = Pacer::new(Pacing::Law);
        let (slow, fast) = (Rate::from_bps(10_000_000), Rate::from_bps(20_000_000));
        let (short, long) = (Bytes::new(1250), Bytes::new(2500));
        let taken = [(short, slow), (short, fast), (long, fast), (long, fast)]
            .map(|(len, rate)| pacer.time_for(len, rate));
        assert_eq!(taken, [1000, 500, 1000, 1000].map(Duration::from_micros));
    }
}
