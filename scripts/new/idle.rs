//! Probe: TODO the document, and what it says, by section.

use super::contract::{Idle, Rule, Usage};
use crate::event::{Proposal, Why};
use crate::words::{Described, Word};

/// Half of the window after silence of more than a retransmission timeout, and the first window at least.
#[derive(Clone, Copy, Debug)]
pub struct Probe;

impl Described for Probe {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone("probe", (), "TODO one line of help")];
}

impl Rule for Probe {
    fn make((): ()) -> Self {
        Self
    }
}

impl Idle for Probe {
    fn before_send(&mut self, usage: &Usage) -> Option<Proposal> {
        let silent = usage.now.since(usage.last_send?) > usage.rto;
        let window = (usage.cwnd / 2).max(usage.initial_window);
        (silent && usage.cwnd > window).then_some(Proposal {
            cwnd: Some(window),
            ssthresh: None,
            mss: usage.mss,
            why: Why::Idle,
        })
    }

    fn wants_acks(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{segments, window};
    use super::*;

    #[test]
    fn probe_halves_after_a_timeout_of_silence() {
        // TODO the new rule's arithmetic. A timeout of 1 s, a window of 100 segments: 50 after more than that.
        assert_eq!(window(&mut Probe, 1000), None);
        assert_eq!(window(&mut Probe, 1001), Some(segments(50)));
    }
}
