//! Rate-limited traffic: RFC 7661.
//!
//! `pipeACK` is what the network is known to carry: the most that was acknowledged in a round trip of
//! late. While it is at least half of the window, the window is validated and standard rules hold.
//! While it is not, the window is kept, for five minutes, and grows only if it is full; a loss then is
//! answered from what was known or in flight, and not from the window.

use std::collections::VecDeque;

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant};

use super::contract::{Idle, Rule, Usage};
use crate::event::{Ack, Limit, Proposal, Why};
use crate::words::{Described, Word};

/// The time that a window which is not validated is kept (§4.4.3: five minutes is "the recommended value").
const NON_VALIDATED_PERIOD: Duration = Duration::from_secs(300);

/// RFC 7661's rules.
#[derive(Clone, Debug, Default)]
pub struct NewCwv {
    /// Samples of pipeACK, each less than the one before it: a moving maximum.
    samples: VecDeque<(Instant, Bytes)>,
    /// True if there was a sample since the beginning or the last repair. Until then pipeACK is
    /// undefined, and the window counts as validated.
    defined: bool,
    /// The round trip being measured: SND.UNA at its beginning, and the number whose ACK ends it.
    round: Option<(Seq, Seq)>,
    /// When the window was last validated.
    validated_at: Option<Instant>,
    /// The window from which the reduction of the repair under way started, if it was not validated.
    reduced_from: Option<Bytes>,
}

impl NewCwv {
    fn measure(&mut self, ack: &Ack) {
        if ack.in_recovery {
            // §4.2: nothing is measured during fast recovery.
            self.round = None;
            return;
        }
        if let Some((from, until)) = self.round {
            if ack.una < until {
                return;
            }
            let sample = ack.una.since(from);
            while self.samples.back().is_some_and(|(_, least)| *least <= sample) {
                self.samples.pop_back();
            }
            self.samples.push_back((ack.now, sample));
            self.defined = true;
        }
        // A round that begins with nothing outstanding would measure silence.
        self.round = (ack.nxt > ack.una).then_some((ack.una, ack.nxt));
    }

    /// pipeACK over the sampling period, max(3 RTT, 1 s) (§4.2); `None` while undefined.
    fn pipe_ack(&mut self, now: Instant, srtt: Option<Duration>) -> Option<Bytes> {
        let period = (srtt.unwrap_or_default() * 3).max(Duration::from_secs(1));
        while self.samples.front().is_some_and(|(at, _)| now.since(*at) > period) {
            self.samples.pop_front();
        }
        let most = self.samples.front().map_or(Bytes::ZERO, |(_, sample)| *sample);
        self.defined.then_some(most)
    }

    /// True if the window is validated (§4.3).
    fn validates(&mut self, now: Instant, srtt: Option<Duration>, cwnd: Bytes) -> bool {
        let validated = self.pipe_ack(now, srtt).is_none_or(|pipe_ack| pipe_ack * 2 >= cwnd);
        if validated {
            self.validated_at = Some(now);
        }
        validated
    }

    /// The window after the periods for which it was not validated (§4.4.3).
    fn expire(&mut self, usage: &Usage) -> Option<Proposal> {
        if self.validates(usage.now, usage.srtt, usage.cwnd) {
            return None;
        }
        let since = *self.validated_at.get_or_insert(usage.now);
        let periods = usage.now.since(since).as_nanos() / NON_VALIDATED_PERIOD.as_nanos();
        if periods == 0 {
            return None;
        }
        self.validated_at = Some(since + NON_VALIDATED_PERIOD * periods);
        let cwnd = (0..periods.min(64)).fold(usage.cwnd, |cwnd, _| cwnd / 2);
        Some(Proposal {
            cwnd: Some(cwnd.max(usage.initial_window).min(usage.cwnd)),
            ssthresh: usage.ssthresh.map(|ssthresh| ssthresh.max(usage.cwnd * 3 / 4)),
            mss: usage.mss,
            why: Why::Idle,
        })
    }
}

impl Described for NewCwv {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone(
        "newcwv",
        (),
        "the window is kept for 5 min; a loss is answered from what was used of it (RFC 7661)",
    )];
}

impl Rule for NewCwv {
    fn make((): ()) -> Self {
        Self::default()
    }
}

impl Idle for NewCwv {
    fn before_send(&mut self, usage: &Usage) -> Option<Proposal> {
        self.round = None;
        self.expire(usage)
    }

    fn looks_after_bursts(&self) -> bool {
        true
    }

    fn after_burst(&mut self, usage: &Usage) -> Option<Proposal> {
        if usage.undisturbed { self.expire(usage) } else { None }
    }

    fn may_grow(&mut self, ack: &Ack, cwnd: Bytes, _: bool) -> bool {
        self.measure(ack);
        self.validates(ack.now, ack.srtt, cwnd)
            || ack.limited_by == Limit::Cwnd
            || ack.in_flight_before + ack.mss.bytes() > cwnd
    }

    /// §4.4.1: max(pipeACK, `LossFlightSize`).
    fn on_loss(&mut self, usage: &Usage) -> Option<Bytes> {
        let pipe_ack = self.pipe_ack(usage.now, usage.srtt);
        let validated = self.validates(usage.now, usage.srtt, usage.cwnd);
        // §4.4.1: a new measurement begins after the repair.
        self.samples.clear();
        self.defined = false;
        self.round = None;
        self.reduced_from = None;
        if validated {
            return None;
        }
        let used = pipe_ack.unwrap_or_default().max(usage.outstanding).min(usage.cwnd);
        self.reduced_from = Some(used.max(usage.mss.bytes()));
        self.reduced_from
    }

    /// §4.4.1: (max(pipeACK, `LossFlightSize`) - R)/2, at least one segment.
    fn after_repair(&mut self, reduced_to: Bytes, again: Bytes) -> Option<Bytes> {
        let from = self.reduced_from.take()?;
        // The law's own factor in place of 1/2, as RFC 9438 has its own.
        let kept = u128::from(reduced_to.get()) * u128::from(from.saturating_sub(again).get())
            / u128::from(from.get());
        Some(Bytes::new(u64::try_from(kept).unwrap_or(reduced_to.get())))
    }
}
