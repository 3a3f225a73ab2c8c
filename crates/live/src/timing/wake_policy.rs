//! The wake policy of the path's thread: sleep, or wait awake, so that packets are on time and the
//! processor is not taken whole (decision 0020).

use ackclock_units::{Duration, Instant};

use crate::sys::Scheduling;

/// An estimate of the wake-up latency: a high quantile of the samples, followed by stochastic
/// approximation (Robbins and Monro, 1951). A step up where a sample lies above it, a smaller one down where
/// it lies below: it stands still where [`QUANTILE`](Self::QUANTILE) of the samples lie below.
#[derive(Clone, Copy, Debug)]
struct WakeLatency {
    late_ns: f64,
}

impl WakeLatency {
    const QUANTILE: f64 = 0.95;
    const STEP_NS: f64 = 2000.0;
    /// The first estimate: a common latency.
    const FIRST_NS: f64 = 60_000.0;
    const LEAST_NS: f64 = 5000.0;
    /// The upper bound: more is another program's doing, and no wait of ours would mend it.
    const MOST_NS: f64 = 150_000.0;

    fn note(&mut self, late: Duration) {
        let above = late.as_nanos() as f64 > self.late_ns;
        let step = if above { Self::QUANTILE } else { Self::QUANTILE - 1.0 };
        self.late_ns = (self.late_ns + step * Self::STEP_NS).clamp(Self::LEAST_NS, Self::MOST_NS);
    }

    const fn margin(self) -> Duration {
        nanos(self.late_ns)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "never negative, and below a second"
)]
const fn nanos(nanos: f64) -> Duration {
    Duration::from_nanos(nanos as u64)
}

/// The processor time that the thread took beyond its share of the time: a leaky bucket.
#[derive(Clone, Copy, Debug)]
struct LeakyBucket {
    share: f64,
    /// The excess that may be had at once, in nanoseconds.
    most: f64,
    level: f64,
}

impl LeakyBucket {
    const fn new(share: f64, most: Duration) -> Self {
        Self { share, most: most.as_nanos() as f64, level: 0.0 }
    }

    /// Adds a period and the processor time that was used in it.
    const fn add(&mut self, passed: Duration, used: Duration) {
        let more = used.as_nanos() as f64 - self.share * passed.as_nanos() as f64;
        // Beyond twice the bound it is forgotten: one long piece of work is not atoned for a second long.
        self.level = (self.level + more).clamp(0.0, 2.0 * self.most);
    }

    const fn is_over(&self) -> bool {
        self.level > self.most
    }

    /// The sleep after which nothing of it is left.
    const fn drain_time(&self) -> Duration {
        nanos(self.level / self.share)
    }
}

/// The way to wait while there is nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Look at the devices and the clock again at once.
    Look,
    /// Sleep for so long, or until a device has something.
    Sleep(Duration),
}

/// Tells the path's thread when to sleep.
#[derive(Debug)]
pub struct WakePolicy {
    wake_up: WakeLatency,
    polls: bool,
    /// True if sleeps end at their moment, as in a Linux whose clock stands still while it works.
    exact: bool,
    /// May it wait awake for a release?
    waiting: LeakyBucket,
    /// May it look at the devices for a while after something has come?
    lingering: LeakyBucket,
    /// Must it rest whatever there is to do?
    working: LeakyBucket,
    /// The time at which something was read or released last.
    active: Instant,
    /// The time of the last count, and the processor time that had been used by then.
    counted: (Instant, Duration),
    /// Both, since the beginning.
    passed: Duration,
    used: Duration,
}

/// The interval at which the thread reads its processor time: not oftener, as that is a call.
const COUNT_EVERY: Duration = Duration::from_micros(200);

/// The kernel keeps 5 % of each second from real-time threads on a processor, and does so in one piece
/// (`kernel.sched_rt_runtime_us`). Who takes less by himself is never stopped.
const WORK_SHARE: f64 = 0.92;
/// In pieces of about this length, divided by the share that is left.
const REST: Duration = Duration::from_micros(100);

/// A wait before which a sleep is not worth its two calls.
const SHORT: Duration = Duration::from_micros(10);

impl WakePolicy {
    /// A thread that is scheduled so, and that polls, or sleeps where it can.
    pub const fn new(polls: bool, scheduling: Scheduling) -> Self {
        // An ordinary thread that does not sleep loses its turn when it matters.
        let (waiting, lingering, working) = match scheduling {
            Scheduling::Realtime => (0.6, 0.3, WORK_SHARE),
            Scheduling::Ordinary => (0.25, 0.1, if polls { WORK_SHARE } else { 1.0 }),
        };
        Self {
            wake_up: WakeLatency { late_ns: WakeLatency::FIRST_NS },
            polls,
            exact: false,
            waiting: LeakyBucket::new(waiting, Duration::from_millis(2)),
            lingering: LeakyBucket::new(lingering, Duration::from_millis(1)),
            working: LeakyBucket::new(working, REST),
            active: Instant::START,
            counted: (Instant::START, Duration::ZERO),
            passed: Duration::ZERO,
            used: Duration::ZERO,
        }
    }

    /// A real-time thread of applications: another of its wake-ups is a delay of their own and what whoever
    /// wakes it has to do, so that it lingers where the path `polls`, and hardly where it does not.
    pub const fn of_applications(polls: bool, scheduling: Scheduling) -> Self {
        Self {
            polls: false,
            waiting: LeakyBucket::new(0.1, Duration::from_millis(2)),
            lingering: LeakyBucket::new(if polls { 0.9 } else { 0.1 }, Duration::from_millis(1)),
            ..Self::new(false, scheduling)
        }
    }

    /// This policy in virtual time, if `is`: it sleeps to the moment, and never waits awake. Work takes no time there, and
    /// each look at the clock takes some.
    #[must_use]
    pub const fn in_virtual_time(mut self, is: bool) -> Self {
        self.exact = is;
        self.polls = self.polls && !is;
        self
    }

    /// Counts, if it is time to, what the thread used of a processor, which `used` tells: since it exists.
    pub fn count(&mut self, now: Instant, used: impl FnOnce() -> Duration) {
        if !self.exact && now.since(self.counted.0.min(now)) >= COUNT_EVERY {
            self.count_now(now, used());
        }
    }

    /// Counts at once, as after a rest.
    pub fn count_now(&mut self, now: Instant, now_used: Duration) {
        let (then, before) = self.counted;
        let passed = now.since(then.min(now));
        let used = now_used.saturating_sub(before);
        self.counted = (now, now_used);
        if before == Duration::ZERO {
            // It did other things before it began.
            return;
        }
        self.passed += passed;
        self.used += used;
        for bucket in [&mut self.waiting, &mut self.lingering, &mut self.working] {
            bucket.add(passed, used);
        }
    }

    /// A packet came or went at `now`.
    pub const fn note_activity(&mut self, now: Instant) {
        self.active = now;
    }

    /// The time to sleep now, whatever there is to do.
    pub fn rest(&self) -> Option<Duration> {
        let late = self.wake_up.margin();
        let rest = || self.working.drain_time().saturating_sub(late).max(Duration::from_micros(1));
        (self.working.is_over() && !self.exact).then(rest)
    }

    /// The way to wait when the next known event is due in `left`.
    pub fn wait(&self, now: Instant, left: Duration) -> Wait {
        if self.polls || left == Duration::ZERO {
            return Wait::Look;
        }
        if self.exact {
            return Wait::Sleep(left);
        }
        let margin = self.wake_up.margin();
        let may_wait = !self.waiting.is_over();
        if may_wait && left <= margin + SHORT {
            return Wait::Look;
        }
        // Who waits for as long as a wake-up costs pays at most twice what was needed (Karlin et al.,
        // 1990, on spinning and blocking).
        if now.since(self.active.min(now)) <= margin && !self.lingering.is_over() {
            return Wait::Look;
        }
        Wait::Sleep(if may_wait { left.saturating_sub(margin) } else { left })
    }

    /// A sleep of `asked` that nothing but time ended was over when so long had passed.
    pub fn note_sleep(&mut self, asked: Duration, passed: Duration) {
        self.wake_up.note(passed.saturating_sub(asked));
    }

    /// The share of a processor that it took.
    pub fn share(&self) -> f64 {
        let passed = self.passed.as_secs_f64();
        if passed > 0.0 { self.used.as_secs_f64() / passed } else { 0.0 }
    }

    /// The estimated wake-up latency of this machine.
    pub const fn wake_up_latency(&self) -> Duration {
        self.wake_up.margin()
    }
}

#[cfg(test)]
mod tests;
