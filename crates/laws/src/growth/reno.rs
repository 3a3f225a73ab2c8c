//! Reno's law: RFC 5681 §3.1 (growth) and §3.2 (reduction).
//!
//! Congestion avoidance counts bytes, which §3.1 recommends: one segment is added each time a
//! window of data has been acknowledged.

use ackclock_units::Bytes;

use super::contract::{About, Growth, Law, Model, Window};
use crate::Profile;
use crate::event::{Ack, Congestion, Proposal, RecoveryEnd, Signal, SlowStartStep};
use crate::words::{Defaults, Described, Word};

/// The words for the law, which differ in the recovery that comes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenoWord {
    /// `newreno`: partial-ACK recovery.
    NewReno,
    /// `reno`: fast recovery.
    Reno,
    /// `reno(rfc5681)`: the same under `linux`, too.
    Rfc5681,
}

/// One segment a window in congestion avoidance; half the flight after a loss.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reno {
    window: Window,
    /// Acknowledged bytes that have not yet bought a segment.
    acked: Bytes,
    /// The window before the last reduction.
    undo: Option<Window>,
}

impl Reno {
    /// The threshold becomes `left`, and the window at most that.
    pub(super) fn reduce_to(&mut self, left: Bytes) {
        self.acked = Bytes::ZERO;
        self.undo = Some(self.window);
        self.window.ssthresh = Some(left);
        self.window.cwnd = self.window.cwnd.min(left);
    }
}

impl Described for Reno {
    type Settings = RenoWord;

    const WORDS: &'static [Word<RenoWord>] = &[
        Word::alone("newreno", RenoWord::NewReno, "RFC 5681's law with RFC 6582's recovery"),
        Word::alone("reno", RenoWord::Reno, "RFC 5681: one segment per window, half after a loss"),
        Word::with(
            "reno",
            "rfc5681",
            RenoWord::Rfc5681,
            "Reno in bytes, which is the form of `rfc` and `ns2`",
        ),
    ];
}

impl Law for Reno {
    const ABOUT: About =
        About { source: "RFC 5681", page: "reno", model: Some(Model::Reno), ..About::PLAIN };

    fn make(_: RenoWord) -> Self {
        Self::default()
    }

    fn published(word: RenoWord) -> RenoWord {
        match word {
            RenoWord::NewReno => word,
            RenoWord::Reno | RenoWord::Rfc5681 => RenoWord::Rfc5681,
        }
    }

    fn is_same(_: RenoWord, _: RenoWord) -> bool {
        true
    }

    fn defaults(word: RenoWord) -> Defaults {
        match word {
            RenoWord::NewReno => {
                &[(&[Profile::Rfc, Profile::Ns2], "partialack"), (&[Profile::Rfc], "rfc3390")]
            }
            RenoWord::Reno | RenoWord::Rfc5681 => {
                &[(&[Profile::Rfc, Profile::Ns2], "fastrecovery"), (&[Profile::Rfc], "rfc3390")]
            }
        }
    }
}

impl Growth for Reno {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        if let Some(step) = slow_start {
            self.window.slow_start(step);
            self.acked += step.left_over;
            return;
        }
        self.acked += ack.newly_acked;
        if self.acked >= self.window.cwnd {
            self.acked -= self.window.cwnd;
            self.window.cwnd += ack.mss.bytes();
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        // RFC 5681 equation 4.
        let half = (congestion.reduce_from / 2).max(congestion.mss.times(2));
        self.acked = Bytes::ZERO;
        if !matches!(congestion.signal, Signal::Timeout { consecutive: 2.. }) {
            self.undo = Some(self.window);
        }
        match congestion.signal {
            Signal::Ecn { abe: true } => {
                // RFC 8511 §3: 0.8 after a mark.
                let left = (congestion.reduce_from * 4 / 5).max(congestion.mss.times(2));
                self.window.ssthresh = Some(left);
                self.window.cwnd = left;
            }
            Signal::Loss | Signal::Ecn { abe: false } => {
                self.window.ssthresh = Some(half);
                self.window.cwnd = half;
            }
            Signal::Timeout { consecutive } => {
                // §3.1: a segment that times out again leaves ssthresh as it is.
                if consecutive == 1 {
                    self.window.ssthresh = Some(half);
                }
                self.window.cwnd = congestion.mss.bytes();
            }
        }
    }

    fn on_recovery_end(&mut self, end: &RecoveryEnd) {
        if let Some(at_most) = end.at_most {
            self.window.cwnd = self.window.cwnd.min(at_most);
        }
    }

    fn on_spurious(&mut self) {
        if let Some(undo) = self.undo.take() {
            self.window = self.window.undone(undo);
        }
    }

    fn rebase(&mut self, proposal: &Proposal) {
        self.window.rebase(proposal);
    }

    #[inline]
    fn cwnd(&self) -> Bytes {
        self.window.cwnd
    }

    #[inline]
    fn ssthresh(&self) -> Option<Bytes> {
        self.window.ssthresh
    }
}
