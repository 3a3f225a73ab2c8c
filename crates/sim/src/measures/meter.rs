//! The progress of a run, for others to read while it goes on.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ackclock_units::Instant;

/// The simulated time of a run under way, and a word to it that nobody waits any more.
#[derive(Debug)]
pub struct Meter {
    now_ns: AtomicU64,
    stopped: AtomicBool,
    /// The moment at which time stood still; `u64::MAX`: it did not.
    stuck_ns: AtomicU64,
}

impl Default for Meter {
    fn default() -> Self {
        Self::new()
    }
}

impl Meter {
    /// A meter of a run that has not begun.
    pub const fn new() -> Self {
        Self {
            now_ns: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            stuck_ns: AtomicU64::new(u64::MAX),
        }
    }

    /// The simulated time.
    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.now_ns.load(Ordering::Relaxed))
    }

    /// Ends the run soon, without a result.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Says how far the run is; `false` if it is to end.
    pub(crate) fn reach(&self, now: Instant) -> bool {
        self.now_ns.store(now.as_nanos(), Ordering::Relaxed);
        !self.stopped.load(Ordering::Relaxed)
    }

    /// Says that time stands still.
    pub(crate) fn is_stuck_at(&self, now: Instant) {
        self.stuck_ns.store(now.as_nanos(), Ordering::Relaxed);
    }

    /// The moment at which time stood still.
    pub(crate) fn stuck(&self) -> Option<Instant> {
        Instant::from_nanos(self.stuck_ns.load(Ordering::Relaxed)).if_ever()
    }
}
