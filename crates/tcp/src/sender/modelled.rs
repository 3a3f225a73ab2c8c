//! What a law that models the path is told: every delivery and every loss.

mod telling;

use ackclock_packet::Seq;
use ackclock_units::Bytes;

use crate::delivery::Tracker;

/// What a sender keeps for such a law: three cache lines.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
pub struct Modelled {
    tracker: Tracker,
    /// What was sent before this is being repaired after a timeout.
    timeout_until: Seq,
}

impl Modelled {
    pub(super) const fn tracker(&self) -> &Tracker {
        &self.tracker
    }

    /// A segment on the board was cut in two, and the second part is at place `rest`.
    pub(super) fn cut(&mut self, rest: usize) {
        self.tracker.cut(rest);
    }
}

/// The sender just before an ACK.
#[derive(Clone, Copy, Debug)]
pub struct BeforeAck {
    pub(super) in_flight: Bytes,
    lost: Bytes,
    /// Whether it repeats the one before and tells nothing else.
    duplicate: bool,
}
