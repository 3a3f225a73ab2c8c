//! Token buckets, in whole numbers: a token is a byte, and a level is kept in bits times nanoseconds.

use ackclock_units::{Duration, Instant, Rate};

use crate::check::{Refusal, refuse};
use crate::limit::{Limit, QueueLimit, QueueUnit};

/// A bit that takes a second, in bits times nanoseconds.
const SECOND: u128 = 1_000_000_000;

/// A bucket that fills at a rate up to a size, and begins full.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    rate: Rate,
    size: u128,
    level: u128,
    filled: Instant,
}

const fn cost(bytes: u64) -> u128 {
    bytes as u128 * 8 * SECOND
}

impl Bucket {
    /// A full bucket of `bytes`.
    pub const fn new(rate: Rate, bytes: u64) -> Self {
        Self { rate, size: cost(bytes), level: cost(bytes), filled: Instant::START }
    }

    /// The rate at which it fills.
    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// Adds the tokens that have come by `now`; returns those for which there is no room, in bits times nanoseconds.
    pub fn fill(&mut self, now: Instant) -> u128 {
        let new = u128::from(now.since(self.filled).as_nanos()) * u128::from(self.rate.as_bps());
        self.filled = self.filled.max(now);
        self.add(new)
    }

    /// Adds tokens that another bucket has had no room for.
    pub fn add(&mut self, tokens: u128) -> u128 {
        let added = tokens.min(self.size - self.level);
        self.level += added;
        tokens - added
    }

    /// True if there are tokens for so many bytes.
    pub const fn holds(&self, bytes: u64) -> bool {
        self.level >= cost(bytes)
    }

    /// Takes tokens for so many bytes, which it [holds](Self::holds).
    pub const fn take(&mut self, bytes: u64) {
        self.level = self.level.saturating_sub(cost(bytes));
    }

    /// The time after the last filling until there are tokens for so many bytes, which are no more than its size.
    pub fn wait(&self, bytes: u64) -> Duration {
        let missing = cost(bytes).min(self.size).saturating_sub(self.level);
        let nanos = missing.div_ceil(u128::from(self.rate.as_bps()));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// The bytes of a burst, written as a volume or as a time at `rate`.
///
/// # Errors
/// A burst that is written otherwise, or that no full packet fits into.
pub fn burst(key: &'static str, written: Limit, rate: Rate) -> Result<u64, Refusal> {
    let bytes = match written.resolve(rate, Duration::ZERO) {
        QueueLimit { amount, unit: QueueUnit::Bytes } => amount,
        QueueLimit { unit: QueueUnit::Packets, .. } => {
            return refuse(key, "expected a volume or a time, as \"64 kB\" or \"50 ms\"");
        }
    };
    if bytes < 1500 {
        return refuse(key, "expected at least 1500 B, a full packet");
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_at_the_rate_and_no_more_than_fit() {
        // 1 Mbit/s are 125 bytes a millisecond.
        let mut bucket = Bucket::new(Rate::from_bps(1_000_000), 2000);
        bucket.take(2000);
        let ms = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        assert_eq!((bucket.fill(ms(4)), bucket.holds(500), bucket.holds(501)), (0, true, false));
        assert_eq!(bucket.wait(1000), Duration::from_millis(4));
        // 16 ms fill it; 12 more of them were to come, of 20.
        assert_eq!(bucket.fill(ms(24)), cost(8 * 125));
        assert!(bucket.holds(2000) && !bucket.holds(2001));
    }

    #[test]
    fn a_burst_is_a_volume_or_a_time() {
        let rate = Rate::from_bps(8_000_000);
        let read = |text: &str| burst("burst", text.parse().unwrap(), rate);
        assert_eq!((read("64 kB"), read("50 ms")), (Ok(64_000), Ok(50_000)));
        for wrong in ["10 packet", "1 BDP", "unlimited", "1 ms"] {
            assert_eq!(read(wrong).unwrap_err().0, "burst", "{wrong}");
        }
    }
}
