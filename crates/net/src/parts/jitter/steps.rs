//! Delays that step at regular moments, as those of a satellite network that hands over.

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::Described;
use crate::check::{Refusal, check_time, refuse};

/// The delay is drawn anew at regular moments, evenly from 0 to `most`, and stays in between. A network of satellites in
/// low orbits hands over every 15 s.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct StepsConfig {
    /// The time between two steps.
    pub every: Duration,
    /// The largest delay.
    pub most: Duration,
    /// True if packets may overtake one another where the delay falls.
    pub reorders: bool,
}

impl Default for StepsConfig {
    fn default() -> Self {
        Self { every: Duration::from_secs(15), most: Duration::from_millis(28), reorders: false }
    }
}

/// Each step is drawn, however long the link is silent.
const LEAST: Duration = Duration::from_micros(100);

/// Delays that step.
#[derive(Clone, Debug)]
pub struct Steps {
    config: StepsConfig,
    now: Duration,
    until: Instant,
    random: Stream,
}

impl Described for Steps {
    type Settings = StepsConfig;

    const KIND: &'static str = "steps";

    const ALSO: &'static [&'static str] = &["starlink", "leo", "satellite", "handover", "periodic"];

    fn reorders(config: &StepsConfig) -> bool {
        config.reorders
    }

    fn check(config: &StepsConfig) -> Result<(), Refusal> {
        check_time("most", config.most)?;
        if config.every < LEAST { refuse("every", "expected at least 100 us") } else { Ok(()) }
    }

    fn make(config: &StepsConfig, random: Stream) -> Self {
        Self { config: *config, now: Duration::ZERO, until: Instant::START, random }
    }

    fn delay(&mut self, at: Instant) -> Duration {
        while self.until <= at {
            let most = self.config.most.as_secs_f64();
            self.now = Duration::from_secs_f64(self.random.uniform() * most);
            self.until += self.config.every;
        }
        self.now
    }
}
