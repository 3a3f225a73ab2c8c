//! The clock of a run.

use std::cell::Cell;

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

/// The clock of a thread that looks at it once a wake where time is virtual, as each look is a call and takes time there,
/// and work takes none. Elsewhere it looks whenever it is asked.
#[derive(Debug)]
pub struct ThreadClock {
    clock: Clock,
    is_virtual: bool,
    seen: Cell<Option<Instant>>,
}

impl ThreadClock {
    /// The clock of this thread.
    pub const fn new(clock: Clock, is_virtual: bool) -> Self {
        Self { clock, is_virtual, seen: Cell::new(None) }
    }

    /// The thread has slept.
    pub fn wake(&self) {
        self.seen.set(None);
    }

    /// The time since the run began; [`Instant::START`] before it.
    pub fn now(&self) -> Instant {
        let now = self.seen.get().unwrap_or_else(|| self.clock.now());
        // Before the run every moment is its beginning, and a sleep would begin too late.
        self.seen.set((self.is_virtual && now > Instant::START).then_some(now));
        now
    }

    /// The time left until `at`, also before the run begins.
    pub fn until(&self, at: Instant) -> Duration {
        match self.seen.get() {
            Some(now) => at.since(now.min(at)),
            None => self.clock.until(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;
    use std::time::Duration as StdDuration;

    use super::*;

    #[test]
    fn a_thread_looks_once_a_wake_where_time_is_virtual() {
        let clock = Clock::starting_in(Duration::ZERO);
        let wait = || sleep(StdDuration::from_millis(1));
        wait();
        let own = ThreadClock::new(clock, true);
        let first = own.now();
        wait();
        assert_eq!(own.now(), first);
        assert_eq!(own.until(first + Duration::from_secs(3)), Duration::from_secs(3));
        own.wake();
        assert!(own.now() > first);
        let elsewhere = ThreadClock::new(clock, false);
        let first = elsewhere.now();
        wait();
        assert!(elsewhere.now() > first);
    }
}
