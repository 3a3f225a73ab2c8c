//! Reno's law: RFC 5681 §3.1 (growth) and §3.2 (reduction).
//!
//! Congestion avoidance counts bytes, which §3.1 recommends: one segment is added each time a
//! window of data has been acknowledged.

use ackclock_units::Bytes;

use super::contract::{Growth, Window};
use crate::event::{Ack, Congestion, Proposal, RecoveryEnd, Signal, SlowStartStep};

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
