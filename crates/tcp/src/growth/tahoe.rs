//! Tahoe, as E. Altman et al., "Performance Modeling of TCP/IP in a Wide-Area Network" (1997) §2
//! states it: equations 7 and 8.

use ackclock_units::Bytes;

use super::{Growth, Window};
use crate::event::{Ack, Congestion, Proposal, RecoveryEnd, Signal, SlowStartStep};

/// What congestion avoidance counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counting {
    /// 1/floor(W) segments an ACK (equation 7).
    Acks,
    /// One segment a window of bytes acknowledged (RFC 5681 §3.1).
    Bytes,
}

/// Tahoe: W + 1 an ACK below the threshold, W + 1/floor(W) above it; any loss sets the threshold
/// to half of W and W to one segment.
#[derive(Clone, Copy, Debug)]
pub struct Tahoe {
    window: Window,
    counting: Counting,
    /// What the window is owed, in units of bytes / floor(W): whole numbers, so that floor(W) ACKs
    /// give exactly one segment.
    credit: u64,
}

impl Tahoe {
    /// Growing by 1/floor(W) segments an ACK (equation 7).
    pub fn counting_acks() -> Self {
        Self { window: Window::default(), counting: Counting::Acks, credit: 0 }
    }

    /// Growing by one segment a window of bytes acknowledged (RFC 5681 §3.1).
    pub fn counting_bytes() -> Self {
        Self { counting: Counting::Bytes, ..Self::counting_acks() }
    }

    fn avoid(&mut self, ack: &Ack) {
        match self.counting {
            Counting::Acks => {
                let whole = self.window.cwnd.whole_segments(ack.mss).max(1);
                self.credit += ack.mss.bytes().get();
                self.window.cwnd += Bytes::new(self.credit / whole);
                self.credit %= whole;
            }
            Counting::Bytes => {
                self.credit += ack.newly_acked.get();
                if self.credit >= self.window.cwnd.get() {
                    self.credit -= self.window.cwnd.get();
                    self.window.cwnd += ack.mss.bytes();
                }
            }
        }
    }
}

impl Growth for Tahoe {
    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        match slow_start {
            Some(step) => self.window.slow_start(step),
            None => self.avoid(ack),
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let repeated = matches!(congestion.signal, Signal::Timeout { consecutive: 2.. });
        if !repeated {
            // The floor of two segments is RFC 5681's (equation 4); the paper's W stays above it.
            self.window.ssthresh = Some((congestion.reduce_from / 2).max(congestion.mss.times(2)));
        }
        self.window.cwnd = congestion.mss.bytes();
        self.credit = 0;
    }

    fn on_recovery_end(&mut self, _: &RecoveryEnd) {}

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
