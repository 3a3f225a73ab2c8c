//! The time of the machine, for waits and for players; a run has a clock of its own.

use std::time::Instant;

/// The time now.
#[expect(clippy::disallowed_methods, reason = "here time is real")]
pub fn now() -> Instant {
    Instant::now()
}
