//! A trace of delays.

use ackclock_units::random::Stream;
use ackclock_units::written::kinds::ListFile;
use ackclock_units::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::Described;
use crate::check::{Refusal, check_time, refuse};

/// Delays from a list, each for `every`; the list begins again at its end. A packet has the delay of the slot in which it
/// would arrive without. `delay = "0 s"` beside it leaves all of the delay to the list.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct DelaysConfig {
    /// The delays, in milliseconds. In a scenario file also the name of a file with one a line, from the folder of the
    /// scenario.
    pub delays_ms: Vec<f64>,
    /// The time for which each holds; default: 10 ms.
    #[serde(default = "ten_ms")]
    pub every: Duration,
    /// True if packets may overtake one another where the delay falls.
    #[serde(default)]
    pub reorders: bool,
}

const fn ten_ms() -> Duration {
    Duration::from_millis(10)
}

/// A delay of a thousand seconds is an error of units.
const MOST_MS: f64 = 1e6;

/// A trace of delays in use.
#[derive(Clone, Debug)]
pub struct Delays {
    delays: Vec<Duration>,
    every: Duration,
}

impl Described for Delays {
    type Settings = DelaysConfig;

    const KIND: &'static str = "trace";

    const ALSO: &'static [&'static str] = &["leoreplayer", "file", "list", "delays"];

    const FILE: Option<ListFile> = Some(ListFile { list: "delays_ms", beside: &[] });

    fn reorders(config: &DelaysConfig) -> bool {
        config.reorders
    }

    fn check(config: &DelaysConfig) -> Result<(), Refusal> {
        check_time("every", config.every)?;
        if config.delays_ms.is_empty() {
            return refuse("delays_ms", "expected at least one delay");
        }
        match config.delays_ms.iter().position(|ms| !(0.0..=MOST_MS).contains(ms)) {
            Some(n) => refuse(
                "delays_ms",
                &format!(
                    "{:?} at place {}, expected 0 to 1,000,000 ms",
                    config.delays_ms[n],
                    n + 1
                ),
            ),
            None => Ok(()),
        }
    }

    fn make(config: &DelaysConfig, _: Stream) -> Self {
        let delays = config.delays_ms.iter().map(|ms| Duration::from_secs_f64(ms / 1e3));
        Self { delays: delays.collect(), every: config.every }
    }

    fn delay(&mut self, at: Instant) -> Duration {
        let slot = at.as_nanos() / self.every.as_nanos() % self.delays.len() as u64;
        self.delays[usize::try_from(slot).expect("less than the length of a list")]
    }
}
