//! Jitter of a wireless LAN, by the formula of the test scenarios of C4 (draft-huitema-ccwg-c4-test).

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::Described;
use crate::check::{Refusal, refuse};

/// The delays of a wireless LAN (draft-huitema-ccwg-c4-test): a Poisson number of milliseconds, and now and then a spike of
/// a Poisson number of 7.5 ms, which is 90 ms in the mean.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct WifiJitterConfig {
    /// The mean delay that is aimed at, from 1 to 91 ms; the mean that comes out is 0.3 ms less.
    pub mean: Duration,
}

impl Default for WifiJitterConfig {
    fn default() -> Self {
        // "Good Wi-Fi" of the draft has 7 ms.
        Self { mean: Duration::from_millis(7) }
    }
}

const LEAST: Duration = Duration::from_millis(1);
const MOST: Duration = Duration::from_millis(91);

/// The delays of a wireless LAN in use.
#[derive(Clone, Debug)]
pub struct WifiJitter {
    /// The probability of a spike.
    spikes: f64,
    random: Stream,
}

impl WifiJitter {
    /// A Poisson number, as the count of uniform numbers whose product stays above exp(-mean) (Knuth).
    fn poisson(&mut self, mean: f64) -> u32 {
        let least = libm::exp(-mean);
        let mut product = self.random.uniform();
        let mut count = 0;
        while product > least {
            product *= self.random.uniform();
            count += 1;
        }
        count
    }
}

impl Described for WifiJitter {
    type Settings = WifiJitterConfig;

    const KIND: &'static str = "wifi";

    const SOURCE: &'static str = "draft-huitema-ccwg-c4-test";

    const ALSO: &'static [&'static str] = &["wlan", "c4", "wireless"];

    fn check(config: &WifiJitterConfig) -> Result<(), Refusal> {
        if (LEAST..=MOST).contains(&config.mean) {
            return Ok(());
        }
        refuse("mean", "expected 1 to 91 ms")
    }

    fn make(config: &WifiJitterConfig, random: Stream) -> Self {
        let beyond = config.mean.saturating_sub(LEAST);
        Self { spikes: beyond.as_secs_f64() / MOST.saturating_sub(LEAST).as_secs_f64(), random }
    }

    fn delay(&mut self, _: Instant) -> Duration {
        let few = self.poisson(1.0);
        let r = self.random.uniform();
        let spike = if self.random.bernoulli(self.spikes) { self.poisson(12.0) } else { 0 };
        let less = if few > 0 { r } else { 0.0 };
        Duration::from_secs_f64((f64::from(few) + 7.5 * f64::from(spike) - less) / 1e3)
    }
}
