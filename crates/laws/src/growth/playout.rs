//! A law made for video, after the wish that G. Watanabe et al., "Performance Characterization of
//! Streaming Video over TCP Variants", 2013, section VI, ends with: few pictures discarded on every
//! path, and nothing sent again that need not be.
//!
//! Ours, from known parts: the window of FAST (C. Jin, D. Wei and S. Low, INFOCOM 2004, equation 4),
//! which rests with α segments waiting, by the least delay of a round (the standing delay of Copa, V.
//! Arun and H. Balakrishnan, NSDI 2018) instead of the mean, with Copa's velocity while there is no
//! queue; and the distinction of losses by the backlog that they meet, of Veno (C. P. Fu and S. C. Liew,
//! IEEE JSAC 21(2), 2003). `docs/algorithms/playout.md` has the derivation.

use ackclock_units::{Bytes, Duration, Mss, Rate};

use super::bbr::{Rounds, pacing_rate};
use super::contract::{About, Growth, Law, Recoveries, Wants, whole_bytes};
use super::variables::variables;
use crate::event::{
    Ack, Congestion, Delivery, Established, Proposal, RecoveryEnd, Signal, SlowStartStep,
};
use crate::words::{ANY, Described, Word};

/// α, in segments: what the flow keeps waiting (Vegas's β: Brakmo and Peterson 1995).
const BACKLOG: f64 = 4.0;
/// A loss that meets less than this share of the longest queue seen is none of congestion.
const CONGESTED: f64 = 0.5;
/// More lost of a round than this is congestion whatever the delay (`BBR.LossThresh`,
/// draft-ietf-ccwg-bbr-06 §2.7).
const TOO_MUCH: f64 = 0.02;
/// The part of the window that is left after congestion (CUBIC's β, RFC 9438 §4.6).
const LEFT: f64 = 0.7;
/// The part that is left after a mark (RFC 8511).
const LEFT_BY_MARK: f64 = 0.85;
/// Round-trip times of a round before their least one may end slow start (`N_RTT_SAMPLE`,
/// RFC 9406 §4.3).
const SAMPLES: u32 = 8;
/// Others fill the queue if, for so many rounds in a row, at least this share of the longest queue
/// stands and the flow has less than this share of the most that it ever had: by itself it keeps a
/// short queue and all of the path.
const OTHERS_ROUNDS: u32 = 8;
const OTHERS_QUEUE: f64 = 0.25;
const OTHERS_RATE: f64 = 0.75;
/// The part of the window that is left after a loss beside them: Reno's.
const LEFT_BESIDE: f64 = 0.5;
/// Rounds without a queue before the window hurries (Copa, section 2.1).
const PATIENCE: u32 = 3;
const LEAST_WINDOW: f64 = 2.0;
/// The pacing rate in windows a round trip, in slow start and after it (Linux's).
const SLOW_START_RATIO: f64 = 2.0;
const AVOIDANCE_RATIO: f64 = 1.2;
/// The round-trip time that the first pacing rate assumes, if none was measured.
const NOMINAL_RTT: Duration = Duration::from_millis(1);

/// The facts of one round trip.
#[derive(Clone, Copy, Debug, Default)]
struct RoundSample {
    least_rtt: Option<Duration>,
    samples: u32,
    /// True if the window was in full use.
    full: bool,
    /// Data delivered and found lost since the connection began, when the round did.
    delivered: Bytes,
    lost: Bytes,
}

/// The law.
#[derive(Clone, Copy, Debug)]
pub struct Playout {
    mss: Mss,
    /// In segments.
    cwnd: f64,
    ssthresh: Option<f64>,
    undo: Option<(f64, Option<f64>)>,
    srtt: Option<Duration>,
    /// The least round-trip time of the connection, and the largest standing one of a round.
    base_rtt: Option<Duration>,
    largest_rtt: Duration,
    rounds: Rounds,
    round: RoundSample,
    /// The standing round-trip time of the last round.
    standing: Option<Duration>,
    /// Rounds in a row with hardly a queue.
    empty_rounds: u32,
    /// The share of the last round that was lost.
    loss: f64,
    /// The largest delivery rate, in bytes per second.
    peak: f64,
    /// Rounds in a row in which others seemed to fill the queue.
    crowded_rounds: u32,
}

impl Default for Playout {
    fn default() -> Self {
        Self {
            mss: Mss::default(),
            cwnd: 1.0,
            ssthresh: None,
            undo: None,
            srtt: None,
            base_rtt: None,
            largest_rtt: Duration::ZERO,
            rounds: Rounds::default(),
            round: RoundSample::default(),
            standing: None,
            empty_rounds: 0,
            loss: 0.0,
            peak: 0.0,
            crowded_rounds: 0,
        }
    }
}

impl Playout {
    /// A standing round-trip time over the least: at least 1; `None` before there is one.
    fn stretch(&self, standing: Option<Duration>) -> Option<f64> {
        let base = self.base_rtt.filter(|base| *base > Duration::ZERO)?.as_secs_f64();
        Some((standing?.as_secs_f64() / base).max(1.0))
    }

    /// The part of the window that is not on its way but waits.
    fn waiting(&self, stretch: f64) -> f64 {
        self.cwnd * (1.0 - 1.0 / stretch)
    }

    /// Ends slow start if more waits than is to; what waits beyond that is not sent again.
    fn look(&mut self, standing: Option<Duration>) {
        let Some(stretch) = self.stretch(standing) else { return };
        if self.waiting(stretch) > BACKLOG {
            self.cwnd = (self.cwnd / stretch + BACKLOG).max(LEAST_WINDOW);
            self.end_slow_start();
        }
    }

    /// True if others fill the queue, by the standing round-trip time of a round.
    fn crowds(&self, standing: Duration) -> bool {
        let Some(base) = self.base_rtt else { return false };
        let (waits, longest) =
            (standing.saturating_sub(base), self.largest_rtt.saturating_sub(base));
        let rate = self.cwnd * f64::from(self.mss.get()) / standing.as_secs_f64();
        waits.as_secs_f64() >= OTHERS_QUEUE * longest.as_secs_f64()
            && rate < OTHERS_RATE * self.peak
    }

    /// True if the law is Reno's for now, which a law that keeps queues short must be beside one
    /// that does not (Copa, section 2.2).
    const fn is_beside_others(&self) -> bool {
        self.crowded_rounds >= OTHERS_ROUNDS
    }

    /// True if a loss now is congestion's.
    fn is_congested(&self) -> bool {
        let Some(base) = self.base_rtt else { return true };
        // The round that goes on may have seen the queue that the last one did not.
        let standing = self.standing.max(self.round.least_rtt).unwrap_or(base);
        let (waits, longest) =
            (standing.saturating_sub(base), self.largest_rtt.saturating_sub(base));
        waits.as_secs_f64() >= CONGESTED * longest.as_secs_f64() || self.loss > TOO_MUCH
    }

    fn end_slow_start(&mut self) {
        self.ssthresh = Some(self.cwnd.max(LEAST_WINDOW));
    }

    /// A round is over.
    fn judge(&mut self, seen: &RoundSample, delivery: &Delivery) {
        let arrived = (delivery.delivered - seen.delivered).get() as f64;
        let lost = (delivery.lost - seen.lost).get() as f64;
        self.loss = if arrived + lost > 0.0 { lost / (arrived + lost) } else { 0.0 };
        if seen.least_rtt.is_some() {
            self.standing = seen.least_rtt;
            self.largest_rtt = self.largest_rtt.max(self.standing.unwrap_or_default());
        }
        if self.in_slow_start() {
            self.look(seen.least_rtt);
            return;
        }
        let Some(stretch) = self.stretch(seen.least_rtt) else { return };
        // A window that is not used says nothing of the path.
        if !seen.full {
            self.empty_rounds = 0;
            return;
        }
        let crowded = seen.least_rtt.is_some_and(|standing| self.crowds(standing));
        self.crowded_rounds = if crowded { self.crowded_rounds.saturating_add(1) } else { 0 };
        if self.is_beside_others() {
            self.cwnd += 1.0;
            return;
        }
        let empty = self.waiting(stretch) < BACKLOG / 2.0;
        self.empty_rounds = if empty { self.empty_rounds + 1 } else { 0 };
        // FAST's equation 4 with its γ of one half.
        let step = (self.cwnd / stretch + BACKLOG - self.cwnd) / 2.0;
        let doublings = self.empty_rounds.saturating_sub(PATIENCE).min(16);
        let hurried = step * f64::from(1_u32 << doublings);
        // As in slow start at most.
        let next = (self.cwnd + hurried).min(2.0 * self.cwnd).max(LEAST_WINDOW);
        self.cwnd = next;
        // Below the threshold slow start would begin anew.
        self.ssthresh = self.ssthresh.map(|old| old.min(next));
    }
}

impl Described for Playout {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone(
        "playout",
        (),
        "made for video: paced, four segments waiting, losses without a queue cost nothing",
    )];
}

impl Law for Playout {
    const ABOUT: About = About {
        defaults: &[(ANY, "standard"), (ANY, "noidle")],
        recoveries: Recoveries::LeavingTheWindow(
            "the law must know how much was lost, and its window goes on moving while losses are \
             repaired",
        ),
        ..About::PLAIN
    };

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl Growth for Playout {
    variables! { law =>
        "base_rtt_s", "the least round-trip time of the connection": law.base_rtt;
        "standing_rtt_s", "the least round-trip time of the last round": law.standing;
        "largest_rtt_s", "the largest of those": law.largest_rtt;
        "loss", "the share of the last round that was lost": law.loss;
        "peak_bps", "the largest delivery rate": 8.0 * law.peak;
    }

    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        self.mss = ack.mss;
        if let Some(step) = slow_start {
            self.cwnd += step.increase.segments(ack.mss);
            if step.exit {
                self.end_slow_start();
            }
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.mss = congestion.mss;
        let left = match congestion.signal {
            Signal::Timeout { consecutive } => {
                if consecutive <= 1 {
                    self.undo = Some((self.cwnd, self.ssthresh));
                    self.ssthresh = Some((LEFT * self.cwnd).max(LEAST_WINDOW));
                }
                // RFC 5681 §3.1: the loss window.
                self.cwnd = 1.0;
                self.empty_rounds = 0;
                return;
            }
            Signal::Loss if !self.is_congested() => return,
            Signal::Loss if self.is_beside_others() => LEFT_BESIDE,
            Signal::Loss => LEFT,
            Signal::Ecn { .. } => LEFT_BY_MARK,
        };
        self.undo = Some((self.cwnd, self.ssthresh));
        self.cwnd = (left * self.cwnd).max(LEAST_WINDOW);
        self.empty_rounds = 0;
        self.end_slow_start();
    }

    fn on_recovery_end(&mut self, _: &RecoveryEnd) {}

    fn on_spurious(&mut self) {
        if let Some((cwnd, ssthresh)) = self.undo.take() {
            self.cwnd = self.cwnd.max(cwnd);
            self.ssthresh = ssthresh;
        }
    }

    fn rebase(&mut self, proposal: &Proposal) {
        self.mss = proposal.mss;
        if let Some(cwnd) = proposal.cwnd {
            self.cwnd = cwnd.segments(self.mss).max(1.0);
        }
        if let Some(ssthresh) = proposal.ssthresh {
            self.ssthresh = Some(ssthresh.segments(self.mss).max(LEAST_WINDOW));
        }
        self.empty_rounds = 0;
    }

    fn cwnd(&self) -> Bytes {
        whole_bytes(self.cwnd, self.mss)
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.ssthresh.map(|ssthresh| whole_bytes(ssthresh, self.mss))
    }

    fn in_slow_start(&self) -> bool {
        self.ssthresh.is_none_or(|ssthresh| self.cwnd < ssthresh)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let ratio = if self.in_slow_start() { SLOW_START_RATIO } else { AVOIDANCE_RATIO };
        let window = self.cwnd * f64::from(self.mss.get());
        Some(pacing_rate(ratio * window / self.srtt.unwrap_or(NOMINAL_RTT).as_secs_f64()))
    }

    fn wants(&self) -> Wants {
        Wants { models_path: true, ..Wants::ACKS }
    }

    fn on_delivery(&mut self, delivery: &Delivery) {
        self.mss = delivery.mss;
        self.srtt = delivery.srtt.filter(|srtt| *srtt > Duration::ZERO).or(self.srtt);
        if let Some(rtt) = delivery.rtt {
            let least = |old: Option<Duration>| Some(old.map_or(rtt, |old| old.min(rtt)));
            self.base_rtt = least(self.base_rtt);
            self.round.least_rtt = least(self.round.least_rtt);
            self.round.samples += 1;
            if self.round.samples == SAMPLES && self.in_slow_start() {
                self.look(self.round.least_rtt);
            }
        }
        self.round.full |= delivery.is_cwnd_limited;
        let Some(sample) = delivery.sample else { return };
        self.peak = self.peak.max(sample.rate());
        self.rounds.on_delivered(sample.prior_delivered, delivery.delivered);
        if self.rounds.start {
            let seen = self.round;
            self.round = RoundSample {
                delivered: delivery.delivered,
                lost: delivery.lost,
                ..RoundSample::default()
            };
            self.judge(&seen, delivery);
        }
    }

    fn on_established(&mut self, established: &Established) {
        self.srtt = established.srtt.filter(|srtt| *srtt > Duration::ZERO);
    }
}

#[cfg(test)]
mod tests;
