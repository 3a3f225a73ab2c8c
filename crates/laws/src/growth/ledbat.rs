//! LEDBAT: RFC 6817 (December 2012), low extra delay background transport.
//!
//! The window follows the distance of the queueing delay from a target, so that the flow fills what others leave. One-way
//! delays are differences of timestamps (RFC 7323): the peer's clock when it sent the ACK less this end's when the segment
//! that it answers was sent, in milliseconds.

use ackclock_units::Duration;

use super::contract::{About, Law};
use super::published::{Published, Rule, Settled};
use super::variables::variables;
use crate::data::delays::{DelayHistory, OneWay};
use crate::event::{Ack, Acked};
use crate::words::{ANY, Described, Word};

/// `TARGET` (§2.5: 100 ms at most), in seconds.
const TARGET: f64 = 0.1;
/// `GAIN` (§2.4.2: at most 1).
const GAIN: f64 = 1.0;
/// `ALLOWED_INCREASE`: segments by which the window may exceed what was in flight.
const ALLOWED_INCREASE: f64 = 1.0;
/// `MIN_CWND`, in segments.
const MIN_CWND: f64 = 2.0;
/// LEDBAT's difference from Reno.
#[derive(Clone, Copy, Debug, Default)]
pub struct LedbatRule {
    one_way: OneWay,
    delays: DelayHistory,
}

/// LEDBAT.
pub type Ledbat = Published<LedbatRule>;

impl Described for Ledbat {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone(
        "ledbat",
        (),
        "what others leave, with a queue of 100 ms at most, by one-way delays (LEDBAT, RFC 6817)",
    )];
}

impl Law for Ledbat {
    const ABOUT: About = About {
        source: "RFC 6817",
        // `INIT_CWND` (§2.5).
        defaults: &[(ANY, "iw2")],
        // Less than what is not in flight, used or not.
        resettles: true,
        wants_timestamps: true,
        ..About::PLAIN
    };

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl LedbatRule {
    /// `off_target`; 1 where nothing was measured, as Reno grows.
    fn off_target(&self) -> f64 {
        let queueing = self.delays.queueing().map_or(0.0, Duration::as_secs_f64);
        (TARGET - queueing) / TARGET
    }

    /// The most that the window may be: what was in flight before the ACK, and a segment.
    fn most(ack: &Ack) -> f64 {
        ack.in_flight_before.segments(ack.mss) + ALLOWED_INCREASE
    }
}

impl Rule for LedbatRule {
    variables! { law =>
        "queueing_s", "the current queueing delay, one way": law.delays.queueing();
    }

    const HEARS_ACKS: bool = true;

    fn judge(&mut self, ack: &Ack, cwnd: f64, in_slow_start: bool) -> Option<Settled> {
        let off = self.off_target();
        let acked = ack.newly_acked.segments(ack.mss);
        let grown = cwnd + GAIN * off * acked / cwnd;
        // RFC 6817 lets an implementation use slow start and does not say how that ends but for a loss: here at the target.
        let left = if off < 0.0 {
            if in_slow_start { grown } else { grown.min(Self::most(ack)) }
        } else if in_slow_start || Self::most(ack) >= cwnd {
            return None;
        } else {
            Self::most(ack)
        };
        let least = if ack.may_grow { MIN_CWND.min(cwnd + acked) } else { MIN_CWND.min(cwnd) };
        Some(Settled::avoiding(left.max(least)))
    }

    fn increase(&mut self, ack: &Ack, cwnd: f64, acked: f64) -> f64 {
        (GAIN * self.off_target() * acked / cwnd).min(Self::most(ack) - cwnd)
    }

    fn on_acked(&mut self, acked: &Acked) {
        // A duplicate echoes a segment before the gap (RFC 7323 §4.3).
        if acked.newly_acked.get() == 0 {
            return;
        }
        // DEVIATION(rfc6817 §2.3): round-trip times where the ends do not use timestamps: nothing else is known then.
        let delay = match acked.stamps {
            Some(stamps) => Some(self.one_way.delay(stamps.value, stamps.echo)),
            None => acked.rtt,
        };
        if let Some(delay) = delay {
            self.delays.sample(acked.now, delay);
        }
    }
}

#[cfg(test)]
mod tests {
    use ackclock_packet::Seq;
    use ackclock_units::{Bytes, Instant, Mss};

    use super::*;
    use crate::event::{CaState, Limit, Proposal, Signal, Stamps, Why};
    use crate::growth::tests::Story;
    use crate::growth::{Growth, GrowthChoice};

    const MSS: u64 = 1446;

    fn mss() -> Mss {
        Mss::new(1446).unwrap()
    }

    /// An ACK whose one-way delay is so many milliseconds, and 5000 ms of the clocks' difference.
    fn acked(delay: u32) -> Acked {
        Acked {
            now: Instant::START,
            newly_acked: mss().bytes(),
            newly_delivered: mss().bytes(),
            una: Seq::FIRST_BYTE,
            nxt: Seq::FIRST_BYTE,
            rtt: Some(Duration::from_millis(900)),
            delivered_since_sent: None,
            sacked: false,
            echoed: false,
            state: CaState::Open,
            stamps: Some(Stamps { value: 5000 + delay, echo: 0, now: 0 }),
            drawn: None,
            mss: mss(),
        }
    }

    /// The window after an ACK of two segments, from `cwnd` in avoidance with `flight` under way, where the delays were
    /// `base` and then `delay` for four ACKs.
    fn after(cwnd: u64, flight: u64, base: u32, delay: u32) -> u64 {
        let mut law = Ledbat::default();
        let cwnd = Bytes::new(cwnd);
        let mss = mss();
        law.rebase(&Proposal {
            cwnd: Some(cwnd),
            ssthresh: Some(mss.times(2)),
            mss,
            why: Why::Established,
        });
        for delay in [base, delay, delay, delay, delay] {
            law.on_acked(&acked(delay));
        }
        let una = Seq::FIRST_BYTE + mss.times(2);
        law.on_ack(
            &Ack {
                now: Instant::START,
                newly_acked: mss.times(2),
                newly_delivered: mss.times(2),
                una,
                nxt: una + cwnd,
                rtt: None,
                srtt: None,
                in_flight_before: Bytes::new(flight),
                in_flight: Bytes::new(flight),
                limited_by: Limit::Cwnd,
                in_recovery: false,
                may_grow: true,
                paced: false,
                mss,
            },
            None,
        );
        law.cwnd().get()
    }

    #[test]
    fn windows_are_those_of_ns3() {
        // ns-3's tcp-ledbat-test: six segments of 1446 bytes, two acknowledged, a base of 20 ms. 60 ms: 40 wait,
        // (100 - 40)/100 * 2 * 1446/6 = 289.2. 140 ms: 120 wait, -0.2 * 2 * 1446/6 = -96.4. Five in flight: no more than six.
        // Two segments are the least.
        assert_eq!(after(6 * MSS, 6 * MSS, 20, 60), 8676 + 289);
        assert_eq!(after(6 * MSS, 5 * MSS, 20, 60), 8676);
        assert_eq!(after(6 * MSS, 6 * MSS, 20, 140), 8676 - 97);
        assert_eq!(after(2 * MSS, 2 * MSS, 20, 140), 2892);
    }

    #[test]
    fn slow_start_ends_at_the_target() {
        let mut story = Story::new(GrowthChoice::Ledbat(()), 10);
        let delayed = |story: &mut Story, delay: u32| {
            story.law.on_acked(&Acked { newly_acked: Bytes::new(1000), ..acked(delay) });
            story.ack(1);
        };
        for delay in [0, 99, 99, 99, 99] {
            delayed(&mut story, delay);
        }
        assert!(story.law.in_slow_start());
        assert!((story.cwnd() - 15.0).abs() < 1e-9);
        for _ in 0..4 {
            delayed(&mut story, 130);
        }
        assert!(!story.law.in_slow_start());
        // The fourth sees 30 ms too much: 18 - 0.3/18.
        assert!((story.cwnd() - (18.0 - 0.3 / 18.0)).abs() < 2e-3, "{}", story.cwnd());
    }

    #[test]
    fn a_loss_halves_the_window_and_two_segments_are_left() {
        let mut story = Story::avoiding(GrowthChoice::Ledbat(()), 20);
        assert!((story.congestion(Signal::Loss, 20).cwnd() - 10.0).abs() < 1e-9);
        assert!((story.congestion(Signal::Loss, 3).cwnd() - 2.0).abs() < 1e-9);
    }
}
