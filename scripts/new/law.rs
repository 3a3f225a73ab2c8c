//! Probe: TODO the document, and what it says, by section.

use ackclock_units::Bytes;

use super::contract::{About, Growth, Law, Window};
use crate::event::{Ack, Congestion, Proposal, RecoveryEnd, Signal, SlowStartStep};
use crate::words::{Described, Word};

/// The window of Probe: one segment a round trip, half of it after a loss.
#[derive(Clone, Copy, Debug, Default)]
pub struct Probe {
    window: Window,
    /// Acknowledged bytes that have not yet bought a segment.
    acked: Bytes,
    /// The window before the last reduction.
    undo: Option<Window>,
}

impl Described for Probe {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone("probe", (), "TODO one line of help")];
}

impl Law for Probe {
    const ABOUT: About = About { source: "TODO the document", ..About::PLAIN };

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl Growth for Probe {
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
        let half = (congestion.reduce_from / 2).max(congestion.mss.times(2));
        self.acked = Bytes::ZERO;
        if !matches!(congestion.signal, Signal::Timeout { consecutive: 2.. }) {
            self.undo = Some(self.window);
        }
        match congestion.signal {
            Signal::Loss | Signal::Ecn { .. } => {
                self.window.ssthresh = Some(half);
                self.window.cwnd = half;
            }
            Signal::Timeout { consecutive } => {
                if consecutive <= 1 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::tests::Story;

    #[test]
    fn probe_adds_a_segment_a_window_and_halves_at_a_loss() {
        // TODO the new law's arithmetic. Half of 20 segments is 10, a window of ACKs adds one, and
        // half of 11 is 5.5.
        let mut story = Story::of(Probe::make(()), 20);
        story.congestion(Signal::Loss, 20).acks(10);
        assert_eq!(story.law.cwnd(), story.mss.times(11));
        story.congestion(Signal::Loss, 11);
        assert_eq!(story.law.cwnd(), Bytes::new(5500));
    }
}
