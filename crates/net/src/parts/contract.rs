//! The contract of a part of a link.

use ackclock_units::Rate;

use crate::check::Refusal;

/// The settings of a part of a link, in one direction.
pub trait Part {
    /// Checks the settings for a link of this rate.
    ///
    /// # Errors
    /// The first key that is wrong, and why.
    fn check(&self, rate: Rate) -> Result<(), Refusal>;

    /// True if a packet leaves and arrives when the rate, the delay and the queue alone say.
    fn keeps_times(&self) -> bool {
        false
    }

    /// True if packets wait there for others that come later, so that no departure is known as they come.
    fn waits_for_others(&self) -> bool {
        false
    }

    /// True if a router in front of the link reads and writes packets.
    fn is_router(&self) -> bool {
        false
    }

    /// The number of 8-byte entries that a link of this rate draws in advance.
    fn entries(&self, _: Rate) -> f64 {
        0.0
    }
}
