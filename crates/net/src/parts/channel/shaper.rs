//! A token-bucket shaper: bursts leave at the wire's rate, and in the long run bytes at the rate of tokens.

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::Described;
use crate::bucket::{Bucket, burst};
use crate::check::{Refusal, refuse};
use crate::limit::Limit;

/// A token-bucket shaper in front of a faster wire, as Linux's `tbf`: a packet waits until there are tokens for it, in
/// order. The link's `rate` is the rate at which tokens come.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ShaperConfig {
    /// The most tokens, in bytes ("64 kB") or as the time in which they come ("50 ms"). The bucket begins full.
    pub burst: Limit,
    /// The rate of the wire, at which packets with tokens are sent (`peakrate` of `tbf`).
    pub peak: Rate,
}

/// A shaper in use.
#[derive(Clone, Debug)]
pub struct Shaper {
    bucket: Bucket,
    peak: Rate,
    /// The rest of a nanosecond that packets back to back have left, in units of 1/peak nanoseconds.
    carry: u64,
    /// When the last packet has left.
    free: Instant,
}

impl Described for Shaper {
    type Settings = ShaperConfig;

    const KIND: &'static str = "shaper";

    const SOURCE: &'static str = "tc-tbf(8)";

    const ALSO: &'static [&'static str] =
        &["tbf", "token_bucket", "tokenbucket", "htb", "leaky_bucket", "shape"];

    fn make(config: &ShaperConfig, rate: Rate, _: Stream) -> Result<Self, Refusal> {
        let bytes = burst("burst", config.burst, rate)?;
        if config.peak <= rate {
            return refuse("peak", "expected more than the link's rate, at which tokens come");
        }
        let bucket = Bucket::new(rate, bytes);
        Ok(Self { bucket, peak: config.peak, carry: 0, free: Instant::START })
    }

    fn time(&mut self, _: Instant, starts: Instant, size: u64) -> Duration {
        self.bucket.fill(starts);
        let wait = self.bucket.wait(size);
        self.bucket.fill(starts + wait);
        // A packet larger than the bucket goes when that is full.
        self.bucket.take(size);
        let owed = if wait == Duration::ZERO && starts == self.free { self.carry } else { 0 };
        // 2^64 are 2.3 * 10^9 bytes, more than a packet has.
        let scaled = size * 8 * 1_000_000_000 + owed;
        self.carry = scaled % self.peak.as_bps();
        let time = wait + Duration::from_nanos(scaled / self.peak.as_bps());
        self.free = starts + time;
        time
    }

    /// The tokens that have come: the burst that the bucket began with is not repeated.
    fn capacity(&self, now: Instant) -> Option<u128> {
        Some(u128::from(now.as_nanos()) * u128::from(self.bucket.rate().as_bps()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shaper(burst: u64, rate_bytes: u64, peak_bytes: u64) -> Shaper {
        let peak = Rate::from_bps(8 * peak_bytes);
        let config = ShaperConfig { burst: Limit::bytes(burst), peak };
        Shaper::make(&config, Rate::from_bps(8 * rate_bytes), Stream::new(1, "channel")).unwrap()
    }

    /// The departures, in milliseconds, of packets of so many bytes that come at these moments.
    fn departures(mut shaper: Shaper, size: u64, comes_ms: impl Iterator<Item = u64>) -> Vec<u64> {
        let mut free = Instant::START;
        let leaves = comes_ms.map(|ms| {
            let comes = Instant::from_nanos(ms * 1_000_000);
            let starts = free.max(comes);
            free = starts + shaper.time(comes, starts, size);
            free.as_nanos().div_euclid(1_000_000)
        });
        leaves.collect()
    }

    #[test]
    fn a_full_bucket_passes_a_burst() {
        // ns-3's test 1 of its tbf: 6000 bytes of tokens, 6000 a second, five packets of 1500 bytes at once. Four have
        // tokens; the fifth waits for 1500 more, 250 ms. Behind the fast wire a packet takes 1.5 us.
        let left = departures(shaper(6000, 6000, 1_000_000_000), 1500, [0; 5].into_iter());
        assert_eq!(left, [0, 0, 0, 0, 250]);
    }

    #[test]
    fn after_the_burst_packets_leave_at_the_rate() {
        // 5000 bytes, 5000 a second; packets of 1000 bytes, one each 100 ms. The bucket has 5000 + 500 k - 1000 (k + 1)
        // tokens after packet k, from 0: none after that at 800 ms. The next finds 500 and waits until 1000 ms; then each
        // takes 200 ms.
        let comes = (0..11).map(|k| 100 * k);
        let left = departures(shaper(5000, 5000, 1_000_000_000), 1000, comes);
        assert_eq!(left, [0, 100, 200, 300, 400, 500, 600, 700, 800, 1000, 1200]);
    }

    #[test]
    fn bursts_leave_at_the_peak() {
        // 3000 bytes of tokens, a wire of 10 bytes a millisecond: packets of 1000 bytes at 100, 200, 300 ms. Tokens come
        // at 2 bytes a millisecond: at 300 ms there are 600, and the fourth waits until 500 ms, and takes 100 ms more.
        let left = departures(shaper(3000, 2000, 10_000), 1000, [0; 4].into_iter());
        assert_eq!(left, [100, 200, 300, 600]);
    }

    #[test]
    fn settings_that_cannot_be_are_refused() {
        let make = |burst: Limit, peak: u64| {
            let config = ShaperConfig { burst, peak: Rate::from_bps(peak) };
            Shaper::make(&config, Rate::from_bps(8_000_000), Stream::new(1, "channel"))
        };
        assert_eq!(make(Limit::bytes(1000), 80_000_000).unwrap_err().0, "burst");
        assert_eq!(make(Limit::bytes(1500), 8_000_000).unwrap_err().0, "peak");
    }
}
