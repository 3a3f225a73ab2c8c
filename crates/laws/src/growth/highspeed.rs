//! HSTCP ("High-Speed TCP"): RFC 3649 (December 2003) §5.
//!
//! Reno's law while the window is small; beyond 38 segments it adds more a round and gives up less
//! at a loss, so that the average window is 0.12/p^0.835 for a loss rate p.

use ackclock_units::{Bytes, Mss};

use super::contract::{About, Growth, Law, LawForm, whole_bytes};
use crate::event::{Ack, Congestion, Proposal, RecoveryEnd, Signal, SlowStartStep};
use crate::words::{Described, Word};

/// `Low_Window` of §5, in segments: up to here the law is Reno's.
const LOW_WINDOW: f64 = 38.0;
/// `Low_P` of §5: the loss rate at which the average window is `LOW_WINDOW`.
const LOW_P: f64 = 1e-3;
/// `High_Window` of §5, in segments.
const HIGH_WINDOW: f64 = 83_000.0;
/// `High_P` of §5: the loss rate at which the average window is `HIGH_WINDOW`.
const HIGH_P: f64 = 1e-7;
/// `High_Decrease` of §5: the share of `HIGH_WINDOW` that a loss costs.
const HIGH_DECREASE: f64 = 0.1;
/// The share of `LOW_WINDOW` that a loss costs, as in Reno.
const LOW_DECREASE: f64 = 0.5;

/// The place of `w` on the way from `LOW_WINDOW`, 0, to `HIGH_WINDOW`, 1, by logarithms.
fn place(w: f64) -> f64 {
    libm::log(w / LOW_WINDOW) / libm::log(HIGH_WINDOW / LOW_WINDOW)
}

/// b(w): the share of the window that a loss costs.
pub(super) fn decrease(w: f64) -> f64 {
    if w <= LOW_WINDOW {
        return LOW_DECREASE;
    }
    // §5 does not say how b(w) goes on beyond High_Window, where the line would reach zero: it
    // stays.
    (LOW_DECREASE + (HIGH_DECREASE - LOW_DECREASE) * place(w)).max(HIGH_DECREASE)
}

/// a(w): segments that a window without a loss adds.
fn increase(w: f64) -> f64 {
    if w <= LOW_WINDOW {
        return 1.0;
    }
    let p = LOW_P * libm::exp(libm::log(HIGH_P / LOW_P) * place(w));
    let b = decrease(w);
    // DEVIATION(rfc3649 §5): never less than Reno's segment, which the formula, with High_Window and
    // High_P rounded, falls short of by a little just above Low_Window.
    (w * w * p * 2.0 * b / (2.0 - b)).max(1.0)
}

/// HSTCP: a(w) segments a window, b(w) of the window at a loss.
#[derive(Clone, Copy, Debug)]
pub struct HighSpeed {
    mss: Mss,
    /// w, in segments.
    w: f64,
    ssthresh: Option<f64>,
    /// The window and the threshold before the last reduction.
    undo: Option<(f64, Option<f64>)>,
}

impl Default for HighSpeed {
    fn default() -> Self {
        Self { mss: Mss::default(), w: 1.0, ssthresh: None, undo: None }
    }
}

impl Described for HighSpeed {
    type Settings = LawForm;

    const WORDS: &'static [Word<LawForm>] = &[
        Word::alone(
            "highspeed",
            LawForm::OfProfile,
            "Reno below 38 segments, bolder above (RFC 3649)",
        ),
        Word::with(
            "highspeed",
            "rfc3649",
            LawForm::Published,
            "HSTCP by the formulas of RFC 3649, which is the form of `rfc` and `ns2`",
        ),
    ];
}

impl Law for HighSpeed {
    const ABOUT: About = About { source: "RFC 3649", ..About::PLAIN };

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

impl Growth for HighSpeed {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        self.mss = ack.mss;
        if let Some(step) = slow_start {
            self.w += step.increase.segments(ack.mss);
            if step.exit {
                self.ssthresh = Some(self.w.max(2.0));
            }
            return;
        }
        // DEVIATION(rfc3649 §5): a(w)/w for each segment acknowledged and not for each ACK, as every
        // law here counts (RFC 5681 §3.1).
        self.w += increase(self.w) / self.w * ack.newly_acked.segments(ack.mss);
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.mss = congestion.mss;
        let left = congestion.reduce_from.segments(self.mss) * (1.0 - decrease(self.w));
        let left = left.max(2.0);
        if !matches!(congestion.signal, Signal::Timeout { consecutive: 2.. }) {
            self.undo = Some((self.w, self.ssthresh));
        }
        match congestion.signal {
            Signal::Loss | Signal::Ecn { .. } => {
                self.ssthresh = Some(left);
                self.w = left;
            }
            Signal::Timeout { consecutive } => {
                // RFC 5681 §3.1: a segment that times out again leaves ssthresh as it is.
                if consecutive <= 1 {
                    self.ssthresh = Some(left);
                }
                self.w = 1.0;
            }
        }
    }

    fn on_recovery_end(&mut self, end: &RecoveryEnd) {
        if let Some(at_most) = end.at_most {
            self.w = self.w.min(at_most.segments(end.mss)).max(1.0);
        }
    }

    fn on_spurious(&mut self) {
        let Some((window, ssthresh)) = self.undo.take() else { return };
        self.w = self.w.max(window);
        self.ssthresh = ssthresh.and_then(|then| self.ssthresh.map(|now| now.max(then)));
    }

    fn rebase(&mut self, proposal: &Proposal) {
        self.mss = proposal.mss;
        if let Some(cwnd) = proposal.cwnd {
            self.w = cwnd.segments(self.mss).max(1.0);
        }
        if let Some(ssthresh) = proposal.ssthresh {
            self.ssthresh = Some(ssthresh.segments(self.mss).max(2.0));
        }
    }

    #[inline]
    fn cwnd(&self) -> Bytes {
        whole_bytes(self.w, self.mss)
    }

    #[inline]
    fn ssthresh(&self) -> Option<Bytes> {
        self.ssthresh.map(|ssthresh| whole_bytes(ssthresh, self.mss))
    }

    #[inline]
    fn in_slow_start(&self) -> bool {
        self.ssthresh.is_none_or(|ssthresh| self.w < ssthresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appendix_b_is_met() {
        // RFC 3649 appendix B, the first window at which a(w) is so many segments, and b(w) there
        // to two digits.
        for (w, a, b) in [
            (38.0, 1.0, 0.50),
            (118.0, 2.0, 0.44),
            (221.0, 3.0, 0.41),
            (347.0, 4.0, 0.38),
            (495.0, 5.0, 0.37),
            (663.0, 6.0, 0.35),
            (851.0, 7.0, 0.34),
            (1058.0, 8.0, 0.33),
        ] {
            assert!((increase(w) - a).abs() < 0.02 * a, "a({w}) = {}", increase(w));
            assert!((decrease(w) - b).abs() < 0.005 + 1e-9, "b({w}) = {}", decrease(w));
        }
    }

    #[test]
    fn the_ends_of_the_range_are_met() {
        // §5 by hand: at 83000, p = 1e-7 and b = 0.1: a = 83000² · 1e-7 · 0.2/1.9 = 72.5.
        assert!((increase(83_000.0) - 72.5).abs() < 0.1);
        assert!((decrease(83_000.0) - 0.1).abs() < 1e-9);
        assert!((decrease(1e6) - 0.1).abs() < 1e-9);
        assert!((increase(10.0) - 1.0).abs() < 1e-9 && (decrease(10.0) - 0.5).abs() < 1e-9);
    }
}
