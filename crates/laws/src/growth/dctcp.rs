//! DCTCP: RFC 8257 §3.3 to §3.5.
//!
//! A window of data after another, the sender measures which fraction of its bytes met congestion
//! marks, and a mark reduces the window by half of the mean fraction: little where few bytes are
//! marked, to one half where all are. All else is as in Reno.

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Mss};

use super::contract::{About, Growth, Law, LawForm, Wants};
use super::reno::Reno;
use super::variables::variables;
use crate::event::{Ack, Congestion, MarkReport, Proposal, RecoveryEnd, Signal, SlowStartStep};
use crate::words::{Described, Word};

/// The weight of the last window in the mean: g of §3.3, in the value of the paper (Alizadeh et al.
/// 2010 §4) and of Linux.
const GAIN: f64 = 1.0 / 16.0;

/// Reno, reduced in proportion to the marks.
#[derive(Clone, Copy, Debug)]
pub struct Dctcp {
    reno: Reno,
    /// The mean fraction of bytes that met congestion, 0 to 1.
    alpha: f64,
    /// The observation window ends when more than this is acknowledged.
    window_end: Seq,
    /// Bytes acknowledged in the observation window.
    acked: Bytes,
    /// Those of them that met congestion.
    marked: Bytes,
}

impl Default for Dctcp {
    fn default() -> Self {
        Self {
            reno: Reno::default(),
            // §3.3: the first reduction is conventional TCP's.
            alpha: 1.0,
            window_end: Seq::FIRST_BYTE,
            acked: Bytes::ZERO,
            marked: Bytes::ZERO,
        }
    }
}

impl Dctcp {
    /// The mean fraction of bytes that met congestion, 0 to 1.
    pub const fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Step 9 of §3.3, in whole bytes.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a window, rounded down to whole bytes"
    )]
    fn after_mark(&self, mss: Mss) -> Bytes {
        let left = self.cwnd().get() as f64 * (1.0 - self.alpha / 2.0);
        Bytes::new(left as u64).max(mss.times(2))
    }
}

impl Described for Dctcp {
    type Settings = LawForm;

    const WORDS: &'static [Word<LawForm>] = &[
        Word::alone(
            "dctcp",
            LawForm::OfProfile,
            "reduced by the share of its data that met congestion marks (RFC 8257); asks for ECN",
        ),
        Word::with(
            "dctcp",
            "rfc8257",
            LawForm::Published,
            "DCTCP as RFC 8257 has it, which is the form of `rfc` and `ns2`",
        ),
    ];
}

impl Law for Dctcp {
    const ABOUT: About = About { source: "RFC 8257", needs_marks: true, ..About::PLAIN };

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

impl Growth for Dctcp {
    variables! { law =>
        "alpha", "the mean share of bytes that met congestion": law.alpha;
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        self.reno.on_ack(ack, slow_start);
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        match congestion.signal {
            // RFC 8511 is for laws that would halve: `abe` says nothing here.
            Signal::Ecn { .. } => self.reno.reduce_to(self.after_mark(congestion.mss)),
            Signal::Loss | Signal::Timeout { .. } => self.reno.on_congestion(congestion),
        }
    }

    fn on_recovery_end(&mut self, end: &RecoveryEnd) {
        self.reno.on_recovery_end(end);
    }

    fn on_spurious(&mut self) {
        self.reno.on_spurious();
    }

    fn rebase(&mut self, proposal: &Proposal) {
        self.reno.rebase(proposal);
    }

    #[inline]
    fn cwnd(&self) -> Bytes {
        self.reno.cwnd()
    }

    #[inline]
    fn ssthresh(&self) -> Option<Bytes> {
        self.reno.ssthresh()
    }

    fn wants(&self) -> Wants {
        Wants { measures_marks: true, ..Wants::ACKS }
    }

    /// Steps 1 to 8 of §3.3.
    fn on_marks(&mut self, report: &MarkReport) {
        self.acked += report.counted;
        self.marked += report.marked;
        if report.una <= self.window_end || self.acked == Bytes::ZERO {
            return;
        }
        let fraction = self.marked.get() as f64 / self.acked.get() as f64;
        self.alpha = self.alpha * (1.0 - GAIN) + GAIN * fraction;
        self.window_end = report.nxt;
        (self.acked, self.marked) = (Bytes::ZERO, Bytes::ZERO);
    }
}

#[cfg(test)]
mod tests;
