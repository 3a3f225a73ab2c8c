//! The common part of laws that are Reno with another increase and another reduction, as their papers have them: windows
//! are real numbers of segments. A law is one file beside this one.

use std::fmt::Debug;

use ackclock_units::{Bytes, Duration, Mss};

use super::contract::{About, Growth, Law, LawForm, Wants, Window, whole_bytes};
use super::variables::{Value, Variable};
use crate::event::{
    Ack, Acked, Congestion, Established, Proposal, RecoveryEnd, RttSample, Signal, SlowStartStep,
};
use crate::words::{Described, Word};

/// A window that a law sets without a loss, in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settled {
    pub(super) cwnd: f64,
    /// The threshold; `None` leaves it as it is.
    pub(super) ssthresh: Option<f64>,
}

impl Settled {
    /// A smaller window in congestion avoidance: a threshold above it would begin slow start.
    pub(super) const fn avoiding(cwnd: f64) -> Self {
        Self { cwnd, ssthresh: Some(cwnd) }
    }
}

/// The difference of a law from Reno. Windows are in segments.
pub trait Rule: Debug + Default + Send {
    /// True if an ACK may add more than what it acknowledges.
    const OUTGROWS: bool = false;
    /// True if the law is told of every ACK.
    const HEARS_ACKS: bool = false;

    /// The factor of slow start's increase.
    fn slow_start(&self) -> f64 {
        1.0
    }

    /// The increase in congestion avoidance for an ACK of `acked` segments.
    fn increase(&mut self, _: &Ack, cwnd: f64, acked: f64) -> f64 {
        acked / cwnd
    }

    /// The window that a loss leaves of `cwnd`.
    fn left(&mut self, _: &Congestion, cwnd: f64) -> f64 {
        cwnd / 2.0
    }

    /// The window at once, if the law sets it on an ACK without a loss.
    fn judge(&mut self, _: &Ack, _cwnd: f64, _in_slow_start: bool) -> Option<Settled> {
        None
    }

    /// False while the law lets the window grow by nothing.
    fn grows(&self) -> bool {
        true
    }

    /// A round-trip time was measured, by an ACK or by the handshake.
    fn on_rtt(&mut self, _: Duration) {}

    /// A round-trip time was measured by an ACK.
    fn on_sample(&mut self, sample: &RttSample) {
        self.on_rtt(sample.rtt);
    }

    /// An ACK, before anything else comes of it. Only of a law that [hears ACKs](Self::HEARS_ACKS).
    fn on_acked(&mut self, _: &Acked) {}

    /// Congestion; before [`left`](Self::left).
    fn on_congestion(&mut self, _: &Congestion) {}

    /// The seed of random choices.
    fn on_seed(&mut self, _: u64) {}

    /// Those of [`Growth::variables`].
    fn variables(&self, _: &mut dyn FnMut(Variable, Value)) {}
}

/// A rule with one word, which is Linux's form of the law under `linux`.
pub trait Paper: Rule {
    /// The words.
    const WORDS: &'static [Word<LawForm>];

    /// The description.
    const ABOUT: About;
}

/// A law of a paper.
#[derive(Clone, Debug, Default)]
pub struct Published<R> {
    window: Window,
    /// Bytes of an increase that are not yet one.
    credit: f64,
    /// The window before the last reduction.
    undo: Option<Window>,
    pub(super) rule: R,
}

impl<R: Paper> Described for Published<R> {
    type Settings = LawForm;

    const WORDS: &'static [Word<LawForm>] = R::WORDS;
}

impl<R: Paper> Law for Published<R> {
    const ABOUT: About = R::ABOUT;

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

impl<R: Rule> Published<R> {
    fn segments(&self, mss: Mss) -> f64 {
        self.window.cwnd.segments(mss)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number of bytes, rounded down"
    )]
    fn add(&mut self, segments: f64, mss: Mss) {
        self.credit += segments * mss.bytes().as_f64();
        let whole = self.credit as u64;
        self.credit -= whole as f64;
        self.window.cwnd += Bytes::new(whole);
    }
}

impl<R: Rule> Growth for Published<R> {
    fn variables(&self, give: &mut dyn FnMut(Variable, Value)) {
        self.rule.variables(give);
    }

    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        let mss = ack.mss;
        let in_slow_start = slow_start.is_some();
        if let Some(settled) = self.rule.judge(ack, self.segments(mss), in_slow_start) {
            self.window.cwnd = whole_bytes(settled.cwnd, mss).max(mss.bytes());
            if let Some(ssthresh) = settled.ssthresh {
                self.window.ssthresh = Some(whole_bytes(ssthresh, mss).max(mss.times(2)));
            }
            self.credit = 0.0;
            return;
        }
        let mut acked = ack.newly_acked;
        if let Some(step) = slow_start {
            let grows = ack.may_grow && self.rule.grows();
            let most = self.window.ssthresh.map_or(Bytes::UNLIMITED, |ssthresh| {
                // Slow start itself may end beyond the threshold.
                ssthresh.max(self.window.cwnd + step.increase)
            });
            let factor = if grows { self.rule.slow_start() } else { 0.0 };
            self.add(step.increase.segments(mss) * factor, mss);
            self.window.cwnd = self.window.cwnd.min(most);
            if step.exit {
                self.window.ssthresh = Some(self.window.cwnd);
            }
            acked = step.left_over;
        }
        if acked > Bytes::ZERO && ack.may_grow && self.rule.grows() {
            let (cwnd, acked) = (self.segments(mss), acked.segments(mss));
            let increase = self.rule.increase(ack, cwnd, acked);
            let most = if R::OUTGROWS { f64::INFINITY } else { acked };
            self.add(increase.clamp(0.0, most), mss);
        }
    }

    fn wants(&self) -> Wants {
        Wants { grows_unused: true, hears_acks: R::HEARS_ACKS, ..Wants::ACKS }
    }

    fn on_rtt(&mut self, sample: &RttSample) {
        self.rule.on_sample(sample);
    }

    fn on_acked(&mut self, acked: &Acked) {
        self.rule.on_acked(acked);
    }

    fn on_established(&mut self, established: &Established) {
        self.rule.on_seed(established.seed);
        if let Some(srtt) = established.srtt {
            self.rule.on_rtt(srtt);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let mss = congestion.mss;
        let again = matches!(congestion.signal, Signal::Timeout { consecutive: 2.. });
        if !again {
            self.undo = Some(self.window);
            self.rule.on_congestion(congestion);
            let left = self.rule.left(congestion, congestion.reduce_from.segments(mss));
            // To the nearest byte: one byte less than six segments is five.
            let left = whole_bytes(left + 0.5 / mss.bytes().as_f64(), mss).max(mss.times(2));
            self.window.ssthresh = Some(left);
        }
        self.credit = 0.0;
        // DEVIATION: a mark is answered as a loss is; the papers know no ECN.
        self.window.cwnd = match congestion.signal {
            Signal::Timeout { .. } => mss.bytes(),
            Signal::Loss | Signal::Ecn { .. } => {
                let most = self.window.cwnd.max(mss.times(2));
                self.window.ssthresh.map_or(most, |ssthresh| ssthresh.min(most))
            }
        };
    }

    fn on_recovery_end(&mut self, end: &RecoveryEnd) {
        if let Some(at_most) = end.at_most {
            self.window.cwnd = self.window.cwnd.min(at_most);
        }
    }

    fn on_spurious(&mut self) {
        if let Some(before) = self.undo.take() {
            self.window = self.window.undone(before);
        }
    }

    fn rebase(&mut self, proposal: &Proposal) {
        self.window.rebase(proposal);
    }

    fn cwnd(&self) -> Bytes {
        self.window.cwnd
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.window.ssthresh
    }
}

/// The least and the last round-trip time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Path {
    pub(super) base: Option<Duration>,
    pub(super) last: Duration,
    pub(super) largest: Duration,
}

impl Path {
    pub(super) fn measure(&mut self, rtt: Duration) {
        self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        self.largest = self.largest.max(rtt);
        self.last = rtt;
    }

    /// The part of the last round-trip time that is queueing; zero before the first.
    pub(super) fn queueing(&self) -> f64 {
        let base = self.base.unwrap_or(self.last);
        self.last.saturating_sub(base).as_secs_f64() / self.last.as_secs_f64().max(1e-9)
    }
}
