//! A trace of delivery opportunities: [`Opportunities`] from a file.

use ackclock_units::random::Stream;
use ackclock_units::written::kinds::ListFile;
use ackclock_units::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::Described;
use super::opportunities::Opportunities;
use crate::check::Refusal;

/// Moments at which up to 1500 bytes may leave, as mahimahi's traces have them. `rate` is used
/// where a limit is written as a multiple of the bandwidth-delay product, and nowhere else.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct TraceConfig {
    /// The moments, in milliseconds and in order; they begin again with the last. In a scenario file also the name
    /// of a file of mahimahi's, from the folder of the scenario.
    pub times_ms: Vec<u64>,
}

/// A trace in use.
#[derive(Clone, Debug)]
pub struct Trace(Opportunities);

impl Described for Trace {
    type Settings = TraceConfig;

    const KIND: &'static str = "trace";

    const ALSO: &'static [&'static str] = &["mahimahi", "mahi", "lte", "4g", "mpshell"];

    const FILE: Option<ListFile> = Some(ListFile { list: "times_ms", beside: &[] });

    fn make(config: &TraceConfig, _: Rate, _: Stream) -> Result<Self, Refusal> {
        let made = Opportunities::new(config.times_ms.clone());
        made.map(Self).map_err(|why| ("times_ms", why.to_owned()))
    }

    fn time(&mut self, now: Instant, starts: Instant, size: u64) -> Duration {
        self.0.time(now, starts, size)
    }

    fn capacity(&self, now: Instant) -> Option<u128> {
        Some(self.0.capacity(now))
    }
}
