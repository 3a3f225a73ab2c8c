//! The clock of a run.

use ackclock_units::{Duration, Instant};

use crate::sys;

/// The time of a run by the machine's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin_ns: u64,
}

impl Clock {
    /// A run that begins so much later than now.
    pub fn starting_in(wait: Duration) -> Self {
        Self { origin_ns: sys::monotonic_ns() + wait.as_nanos() }
    }

    /// The beginning of the run by `CLOCK_MONOTONIC`.
    pub const fn origin_ns(self) -> u64 {
        self.origin_ns
    }

    /// The time since the run began; [`Instant::START`] before it.
    pub fn now(self) -> Instant {
        self.of(sys::monotonic_ns())
    }

    /// The time of the run at a time of `CLOCK_MONOTONIC`.
    pub const fn of(self, nanos: u64) -> Instant {
        Instant::from_nanos(nanos.saturating_sub(self.origin_ns))
    }

    /// The time left until `at`, also before the run begins.
    pub fn until(self, at: Instant) -> Duration {
        let at = self.origin_ns + at.as_nanos();
        Duration::from_nanos(at.saturating_sub(sys::monotonic_ns()))
    }
}
