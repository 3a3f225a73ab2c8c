//! Jitter of RFC 8868 §4.5: the half of a normal distribution.

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::Described;
use crate::check::{Refusal, check_time};

/// Delays drawn from half of a normal distribution, cut off at three deviations (RFC 8868 §4.5).
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct NormalJitterConfig {
    /// The standard deviation of the whole distribution; the mean delay is 0.8 of it.
    pub sd: Duration,
    /// True if packets may overtake one another (§4.5.2).
    pub reorders: bool,
}

impl Default for NormalJitterConfig {
    fn default() -> Self {
        // RFC 8868 §4.5.3.
        Self { sd: Duration::from_millis(5), reorders: false }
    }
}

/// Delays drawn from half of a normal distribution.
#[derive(Clone, Debug)]
pub struct Normal {
    sd_s: f64,
    random: Stream,
}

impl Described for Normal {
    type Settings = NormalJitterConfig;

    const KIND: &'static str = "normal";

    const SOURCE: &'static str = "RFC 8868";

    const ALSO: &'static [&'static str] = &["gaussian", "gauss", "rmcat"];

    fn reorders(config: &NormalJitterConfig) -> bool {
        config.reorders
    }

    fn check(config: &NormalJitterConfig) -> Result<(), Refusal> {
        check_time("sd", config.sd)
    }

    fn make(config: &NormalJitterConfig, random: Stream) -> Self {
        Self { sd_s: config.sd.as_secs_f64(), random }
    }

    fn delay(&mut self, _: Instant) -> Duration {
        Duration::from_secs_f64(self.random.normal().abs().min(3.0) * self.sd_s)
    }
}
