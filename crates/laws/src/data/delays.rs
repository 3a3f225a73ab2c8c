//! The delays of the last minutes, for laws that keep the queue short: the least of them, and the least of the last few.

use ackclock_units::{Duration, Instant};

/// `BASE_HISTORY` of RFC 6817 §2.5: the minutes whose least delays are kept, the one under way included.
const MINUTES: usize = 10;
/// `CURRENT_FILTER`: the samples of which the least is the current delay. RFC 6817 §4.2 asks for four at least.
const CURRENT: usize = 4;

/// The minute of a moment, counted from the beginning.
const fn minute_of(now: Instant) -> u64 {
    now.as_nanos() / 60_000_000_000
}

/// A history of delays.
#[derive(Clone, Copy, Debug)]
pub struct DelayHistory {
    /// The minute of the last sample; `None` before the first.
    minute: Option<u64>,
    /// The least delay of each minute, at its number modulo [`MINUTES`].
    minima: [Duration; MINUTES],
    last: [Duration; CURRENT],
    next: usize,
}

impl Default for DelayHistory {
    fn default() -> Self {
        Self {
            minute: None,
            minima: [Duration::MAX; MINUTES],
            last: [Duration::MAX; CURRENT],
            next: 0,
        }
    }
}

impl DelayHistory {
    /// A delay was measured.
    pub fn sample(&mut self, now: Instant, delay: Duration) {
        let minute = minute_of(now);
        let passed = self.minute.map_or(u64::MAX, |last| minute.saturating_sub(last));
        // After a silence of so many minutes nothing is left.
        for back in 0..passed.min(MINUTES as u64) {
            self.minima[Self::place(minute - back.min(minute))] = Duration::MAX;
        }
        self.minute = Some(minute);
        let least = &mut self.minima[Self::place(minute)];
        *least = (*least).min(delay);
        if passed >= MINUTES as u64 {
            self.last = [Duration::MAX; CURRENT];
        }
        self.last[self.next] = delay;
        self.next = (self.next + 1) % CURRENT;
    }

    #[expect(clippy::cast_possible_truncation, reason = "less than ten")]
    const fn place(minute: u64) -> usize {
        (minute % MINUTES as u64) as usize
    }

    /// The base delay; `None` before the first sample.
    pub fn base(&self) -> Option<Duration> {
        self.minute?;
        self.minima.iter().min().copied()
    }

    /// The current delay; `None` before the first sample.
    pub fn current(&self) -> Option<Duration> {
        self.minute?;
        self.last.iter().min().copied()
    }

    /// The part of the current delay that is queueing; `None` before the first sample.
    pub fn queueing(&self) -> Option<Duration> {
        Some(self.current()?.saturating_sub(self.base()?))
    }
}

/// A delay that stands for the difference of two clocks at the first sample: what follows may be less.
const MIDDLE: u64 = 1 << 31;

/// One-way delays by timestamps (RFC 7323) in milliseconds: the peer's clock when it sent an ACK, less this end's when the
/// segment that it answers was sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneWay {
    /// The difference of the clocks at the first sample.
    origin: Option<u32>,
}

impl OneWay {
    /// The delay by the timestamp `value` and the `echo` of an ACK: more than the first by as much as it took longer.
    pub fn delay(&mut self, value: u32, echo: u32) -> Duration {
        let difference = value.wrapping_sub(echo);
        let since = difference.wrapping_sub(*self.origin.get_or_insert(difference)).cast_signed();
        Duration::from_millis(MIDDLE.saturating_add_signed(since.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_behind_measures_the_same_delays() {
        // The differences wrap: 2^32 - 3000 at first, then 120 ms more, and 50 ms less.
        let mut one_way = OneWay::default();
        let first = one_way.delay(0, 3000);
        assert_eq!(one_way.delay(120, 3000), first + MS(120));
        assert_eq!(one_way.delay(0_u32.wrapping_sub(50), 3000) + MS(50), first);
    }

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn minutes(n: u64) -> Instant {
        Instant::START + Duration::from_secs(60 * n)
    }

    #[test]
    fn the_base_is_the_least_of_ten_minutes_and_the_current_delay_of_four_samples() {
        let mut delays = DelayHistory::default();
        assert_eq!(delays.queueing(), None);
        for delay in [20, 60, 70, 80] {
            delays.sample(minutes(0), MS(delay));
        }
        assert_eq!((delays.base(), delays.current()), (Some(MS(20)), Some(MS(20))));
        delays.sample(minutes(0), MS(90));
        assert_eq!(delays.queueing(), Some(MS(60 - 20)));
        // The minute of 20 ms is the tenth before in minute 9, and forgotten in minute 10.
        for minute in 1..=9 {
            delays.sample(minutes(minute), MS(30 + minute));
        }
        assert_eq!(delays.base(), Some(MS(20)));
        delays.sample(minutes(10), MS(50));
        assert_eq!(delays.base(), Some(MS(31)));
    }

    #[test]
    fn after_ten_minutes_of_silence_nothing_is_left() {
        let mut delays = DelayHistory::default();
        delays.sample(minutes(3), MS(20));
        delays.sample(minutes(12), MS(70));
        assert_eq!(delays.base(), Some(MS(20)));
        let mut delays = DelayHistory::default();
        delays.sample(minutes(3), MS(20));
        delays.sample(minutes(13), MS(70));
        assert_eq!((delays.base(), delays.current()), (Some(MS(70)), Some(MS(70))));
    }
}
