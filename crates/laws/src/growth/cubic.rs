//! CUBIC: RFC 9438 (August 2023) §4, with the application-limited time of §5.8.
//!
//! Windows are in segments, as the RFC has them, and times in seconds.

use ackclock_units::{Bytes, Duration, Instant, Mss};

use super::contract::{About, Growth, Law, LawForm, Model, whole_bytes};
use super::real::{larger, smaller};
use super::variables::variables;
use crate::Profile;
use crate::event::{Ack, Congestion, Limit, Proposal, RecoveryEnd, Signal, SlowStartStep};
use crate::words::{Described, Word};

/// β of §4.6: what is left of the window after a loss.
const BETA: f64 = 0.7;
/// C of §5.1, in segments per second cubed.
const C: f64 = 0.4;
/// α of §4.3, with which AIMD(α, β) has the average window of Reno's AIMD(1, 0.5).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// The largest target, in windows (§4.2).
const LARGEST_TARGET: f64 = 1.5;

/// A time in seconds, to within a bit of the nearest number.
#[inline]
fn seconds(time: Duration) -> f64 {
    time.as_nanos().cast_signed() as f64 * 1e-9
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// `t_epoch`, moved on by the time that does not count.
    start: Instant,
    /// The origin of the curve: the window that it aims at.
    w_max: f64,
    /// Seconds from `start` until the curve reaches `w_max`.
    k: f64,
    /// Reno's window under the same events.
    w_est: f64,
    /// When the last ACK came.
    last_ack: Instant,
    /// True if the window was full then, and something still on its way.
    was_full: bool,
}

impl Epoch {
    /// `W_cubic` of `t` seconds after the start (equation 1).
    fn w_cubic(&self, t: f64) -> f64 {
        let off = t - self.k;
        C * off * off * off + self.w_max
    }
}

/// The state that a reduction changes, and an undo gives back (§4.9.2).
#[derive(Clone, Copy, Debug)]
struct State {
    cwnd: f64,
    ssthresh: Option<f64>,
    /// The origin of the next curve; `None` if none is known, as after a timeout (§4.8) or a slow
    /// start that ended without a loss (§4.10).
    w_max: Option<f64>,
    /// cwnd when ssthresh was last set.
    cwnd_prior: Option<f64>,
    /// `None` until the first ACK of a stage of congestion avoidance.
    epoch: Option<Epoch>,
}

/// CUBIC: after a loss the window returns to where the loss was along a cubic curve of time, lingers
/// there and then probes beyond; it never falls behind Reno's.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Cubic {
    /// The window of `state` in whole bytes: it is asked for many times an ACK.
    window: Bytes,
    mss: Mss,
    state: State,
    /// The state before the last reduction.
    undo: Option<State>,
}

impl Default for Cubic {
    fn default() -> Self {
        let state = State { cwnd: 1.0, ssthresh: None, w_max: None, cwnd_prior: None, epoch: None };
        let mss = Mss::default();
        Self { window: whole_bytes(state.cwnd, mss), mss, state, undo: None }
    }
}

/// True if the window was in full use when `ack` came (§5.8).
///
/// The flight is asked too: while a tail is being repaired the application has nothing more to give,
/// and yet it is the window that holds the sender back.
fn is_full(ack: &Ack, cwnd: Bytes) -> bool {
    ack.limited_by == Limit::Cwnd || ack.in_flight_before + ack.mss.bytes() > cwnd
}

impl State {
    /// Begins a stage of congestion avoidance at `now`.
    fn begin(&mut self, now: Instant) -> Epoch {
        let cwnd = self.cwnd;
        self.cwnd_prior.get_or_insert(cwnd);
        let (w_max, k) = match self.w_max {
            Some(w_max) if w_max > cwnd => (w_max, libm::cbrt((w_max - cwnd) / C)),
            // §4.8 and §4.10: K = 0 and the curve begins at its origin. The same where a window
            // begins above the last loss, for which equation 2 has no positive K.
            _ => (cwnd, 0.0),
        };
        Epoch { start: now, w_max, k, w_est: cwnd, last_ack: now, was_full: true }
    }

    /// Congestion avoidance (§4.2 to §4.5).
    fn avoid(&mut self, ack: &Ack, full: bool) {
        if self.epoch.is_none() {
            self.epoch = Some(self.begin(ack.now));
        }
        let Self { cwnd, cwnd_prior, epoch: Some(epoch), .. } = self else { return };
        // §4.2, §5.8: time in which the application, or the receiver, held the sender back does not
        // count. Between two ACKs it held back at some point if it did at either.
        if !(full && epoch.was_full) {
            epoch.start += ack.now.since(epoch.last_ack);
        }
        epoch.last_ack = ack.now;
        // What ends with nothing in flight may be followed by silence, however small the window.
        epoch.was_full = full && (ack.in_flight > Bytes::ZERO || ack.limited_by == Limit::Cwnd);
        if !full {
            return;
        }

        let acked = ack.newly_acked.segments(ack.mss);
        // One division for both curves, which waits for neither: the next segment waits for the window.
        let share = acked / *cwnd;
        let t = seconds(ack.now.since(epoch.start));
        // §4.3, equation 4.
        let alpha = if cwnd_prior.is_some_and(|prior| epoch.w_est >= prior) { 1.0 } else { ALPHA };
        epoch.w_est += alpha * share;

        if epoch.w_cubic(t) < epoch.w_est {
            // DEVIATION(rfc9438 §4.3): the window never shrinks to W_est, which §4.2 would not let
            // it do either, and grows on one ACK by no more than slow start would.
            *cwnd = larger(*cwnd, smaller(epoch.w_est, *cwnd + acked));
        } else {
            let rtt = seconds(ack.srtt.unwrap_or_default());
            let target = smaller(larger(epoch.w_cubic(t + rtt), *cwnd), LARGEST_TARGET * *cwnd);
            // DEVIATION(rfc9438 §4.4, §4.5): the step is made for each segment acknowledged and not
            // for each ACK, so that the window keeps up with the curve whether or not the receiver
            // delays its ACKs; it stops at the target.
            *cwnd = smaller(*cwnd + (target - *cwnd) * share, target);
        }
    }

    /// Remembers the window as the place where the path was full (§4.7).
    fn remember(&mut self) {
        self.w_max = Some(match self.w_max {
            // DEVIATION(rfc9438 §4.7): less by a segment, as it is where windows are whole numbers.
            // This one comes up to its plateau from below, and a loss there finds it some hundredths
            // of a segment short, which says nothing of the path.
            Some(w_max) if self.cwnd <= w_max - 1.0 => self.cwnd * (1.0 + BETA) / 2.0,
            _ => self.cwnd,
        });
    }
}

impl Cubic {
    /// `W_max` of the stage under way, or else of the next one.
    fn w_max(&self) -> Option<f64> {
        self.state.epoch.map(|epoch| epoch.w_max).or(self.state.w_max)
    }

    /// The region of the curve at the last ACK (§4.3 to §4.5).
    fn region(&self) -> &'static str {
        let Some(epoch) = self.state.epoch.filter(|_| !self.in_slow_start()) else {
            return "slow_start";
        };
        let t = seconds(epoch.last_ack.since(epoch.start));
        if epoch.w_cubic(t) < epoch.w_est {
            "reno_friendly"
        } else if self.state.cwnd < epoch.w_max {
            "concave"
        } else {
            "convex"
        }
    }

    /// The window has changed, or what a segment is.
    #[inline]
    fn settle(&mut self) {
        self.window = whole_bytes(self.state.cwnd, self.mss);
    }

    fn grow(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        let full = is_full(ack, self.window);
        let state = &mut self.state;
        let Some(step) = slow_start else {
            state.avoid(ack, full);
            return;
        };
        state.epoch = None;
        if full {
            state.cwnd += step.increase.segments(ack.mss);
        }
        if step.exit {
            // §4.10: no loss said where the path is full.
            state.ssthresh = Some(state.cwnd.max(2.0));
            state.cwnd_prior = Some(state.cwnd);
            state.w_max = None;
        }
    }
}

impl Described for Cubic {
    type Settings = LawForm;

    const WORDS: &'static [Word<LawForm>] = &[
        Word::alone(
            "cubic",
            LawForm::OfProfile,
            "a cubic curve of time around the last loss, at least Reno's window; the profile's form",
        ),
        Word::with(
            "cubic",
            "rfc9438",
            LawForm::Published,
            "CUBIC as RFC 9438 has it, which is the form of `rfc` and `ns2`",
        ),
    ];
}

impl Law for Cubic {
    const ABOUT: About = About {
        source: "RFC 9438",
        model: Some(Model::Cubic),
        // §4.10 recommends it; ns-2.35's CUBIC has it not.
        defaults: &[(&[Profile::Rfc, Profile::Linux], "hystartpp")],
        ..About::PLAIN
    };

    fn make(_: LawForm) -> Self {
        Self::default()
    }

    fn published(_: LawForm) -> LawForm {
        LawForm::Published
    }

    fn is_same(_: LawForm, _: LawForm) -> bool {
        true
    }
}

impl Growth for Cubic {
    variables! { law =>
        "w_max_segments", "the origin of the curve: the window at the last loss (W_max)": law.w_max();
        "k_s", "the time from the start of the stage until the curve is at its origin (K)": law.state.epoch.map(|epoch| epoch.k);
        "w_est_segments", "Reno's window under the same losses (W_est)": law.state.epoch.map(|epoch| epoch.w_est);
        "region", "the region of the curve: slow_start, reno_friendly, concave or convex": law.region();
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        if self.mss != ack.mss {
            self.mss = ack.mss;
            self.settle();
        }
        self.grow(ack, slow_start);
        self.settle();
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.mss = congestion.mss;
        let before = self.state;
        let state = &mut self.state;
        let beta = match congestion.signal {
            // RFC 8511 §3.
            Signal::Ecn { abe: true } => 0.85,
            _ => BETA,
        };
        let reduced = (congestion.reduce_from.segments(self.mss) * beta).max(2.0);
        state.epoch = None;
        match congestion.signal {
            Signal::Loss | Signal::Ecn { .. } => {
                self.undo = Some(before);
                state.remember();
                state.cwnd_prior = Some(state.cwnd);
                state.ssthresh = Some(reduced);
                state.cwnd = reduced;
            }
            Signal::Timeout { consecutive } => {
                // RFC 5681 §3.1: a segment that times out again leaves ssthresh as it is.
                if consecutive <= 1 {
                    self.undo = Some(before);
                    state.cwnd_prior = Some(state.cwnd);
                    state.ssthresh = Some(reduced);
                }
                state.w_max = None;
                state.cwnd = 1.0;
            }
        }
        self.settle();
    }

    fn on_recovery_end(&mut self, end: &RecoveryEnd) {
        if let Some(at_most) = end.at_most {
            self.state.cwnd = self.state.cwnd.min(at_most.segments(end.mss)).max(1.0);
            self.settle();
        }
    }

    fn on_spurious(&mut self) {
        // §4.9.2: not if the window has already grown beyond what it was.
        if let Some(undo) = self.undo.take()
            && self.state.cwnd < undo.cwnd
        {
            self.state = undo;
            self.settle();
        }
    }

    fn rebase(&mut self, proposal: &Proposal) {
        self.mss = proposal.mss;
        let state = &mut self.state;
        if let Some(ssthresh) = proposal.ssthresh {
            state.cwnd_prior = Some(state.cwnd);
            state.ssthresh = Some(ssthresh.segments(self.mss).max(2.0));
        }
        if let Some(cwnd) = proposal.cwnd {
            state.cwnd = cwnd.segments(self.mss).max(1.0);
            // Another stage begins, with the origin that is known.
            state.epoch = None;
        }
        self.settle();
    }

    #[inline]
    fn cwnd(&self) -> Bytes {
        self.window
    }

    #[inline]
    fn ssthresh(&self) -> Option<Bytes> {
        self.state.ssthresh.map(|ssthresh| whole_bytes(ssthresh, self.mss))
    }

    #[inline]
    fn in_slow_start(&self) -> bool {
        self.state.ssthresh.is_none_or(|ssthresh| self.state.cwnd < ssthresh)
    }
}

#[cfg(test)]
mod tests;
