//! A packet that is offered to a link: what is known before, and what became of it.

use crate::fast::link::Verdict;

/// The outcome of an offer, without the rest of the verdict: so that the verdict itself need not lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferOutcome {
    /// It has its place on the wire.
    Sent,
    Dropped,
    Waiting,
}

impl OfferOutcome {
    #[inline]
    pub const fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Dropped => Self::Dropped,
            Verdict::Waits { .. } => Self::Waiting,
            Verdict::Arrives { .. } | Verdict::Lost | Verdict::Impaired { .. } => Self::Sent,
        }
    }
}

/// The state of a link with hooks before a packet is offered to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offering {
    /// The sum of waiting times at the link.
    pub waited_ns: u128,
    /// It finds the queue so long that it is to be marked.
    pub marking: bool,
    /// It asks for ECN, and the link may want to know.
    pub ecn: bool,
}
