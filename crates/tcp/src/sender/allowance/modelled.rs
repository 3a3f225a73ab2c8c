//! A law that models the path: it is told of every delivery and every loss.

mod telling;

use ackclock_packet::Seq;
use ackclock_units::Bytes;

use crate::delivery::Tracker;

/// The records for such a law: three cache lines.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
pub struct Modelled {
    tracker: Tracker,
    /// The number before which all that was sent is being repaired after a timeout.
    timeout_until: Seq,
}

/// The sender just before an ACK.
#[derive(Clone, Copy, Debug)]
pub struct BeforeAck {
    pub(in crate::sender) in_flight: Bytes,
    lost: Bytes,
    /// True if it repeats the one before and tells nothing else.
    duplicate: bool,
}
