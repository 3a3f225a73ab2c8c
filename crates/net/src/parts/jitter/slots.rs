//! Packets that arrive in bundles, as behind a network that grants slots or aggregates ACKs.

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::Described;
use crate::check::{Refusal, check_time};

/// Packets are held until the next slot, and arrive together: what a grant of a cable network, a frame of a radio network
/// or the aggregation of ACKs does.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct SlotsConfig {
    /// The time between two slots, from the start of the run on.
    pub every: Duration,
}

impl Default for SlotsConfig {
    fn default() -> Self {
        // A request and its grant take two intervals of 2 ms in a cable network (DOCSIS).
        Self { every: Duration::from_millis(4) }
    }
}

/// Slots in use.
#[derive(Clone, Copy, Debug)]
pub struct Slots {
    every: Duration,
}

impl Described for Slots {
    type Settings = SlotsConfig;

    const KIND: &'static str = "slots";

    const ALSO: &'static [&'static str] =
        &["slot", "aggregation", "batch", "docsis", "tti", "ack_aggregation"];

    fn check(config: &SlotsConfig) -> Result<(), Refusal> {
        check_time("every", config.every)
    }

    fn make(config: &SlotsConfig, _: Stream) -> Self {
        Self { every: config.every }
    }

    fn delay(&mut self, at: Instant) -> Duration {
        let (at, every) = (at.as_nanos(), self.every.as_nanos());
        Duration::from_nanos(at.div_ceil(every).saturating_mul(every) - at)
    }
}
