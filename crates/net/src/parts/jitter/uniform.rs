//! Jitter that is drawn evenly.

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::Described;
use crate::check::{Refusal, check_time};

/// Delays drawn evenly from 0 to `most`, as netem draws them around its mean.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct UniformJitterConfig {
    /// The largest delay.
    pub most: Duration,
    /// True if packets may overtake one another, as in netem.
    #[serde(default)]
    pub reorders: bool,
}

/// Evenly drawn delays.
#[derive(Clone, Debug)]
pub struct Uniform {
    most_s: f64,
    random: Stream,
}

impl Described for Uniform {
    type Settings = UniformJitterConfig;

    const KIND: &'static str = "uniform";

    const ALSO: &'static [&'static str] = &["even", "flat", "netem", "random"];

    fn reorders(config: &UniformJitterConfig) -> bool {
        config.reorders
    }

    fn check(config: &UniformJitterConfig) -> Result<(), Refusal> {
        check_time("most", config.most)
    }

    fn make(config: &UniformJitterConfig, random: Stream) -> Self {
        Self { most_s: config.most.as_secs_f64(), random }
    }

    fn delay(&mut self, _: Instant) -> Duration {
        Duration::from_secs_f64(self.random.uniform() * self.most_s)
    }
}
