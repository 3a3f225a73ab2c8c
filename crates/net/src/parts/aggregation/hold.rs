//! Packets that are held until enough have come, or for a time.

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::{Described, Frame};
use crate::check::{Refusal, check_time, refuse};

/// Packets are held until so many wait, or until the first of them has waited for a time. Then all that wait leave, one
/// after another at the link's rate: the aggregation of ACKs by a modem or a driver.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct HoldConfig {
    /// The number of waiting packets at which they leave; default: none, and the time alone counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    /// The longest time that a packet is held.
    pub time: Duration,
}

impl Default for HoldConfig {
    fn default() -> Self {
        Self { packets: None, time: Duration::from_millis(10) }
    }
}

/// Packets that are held.
#[derive(Clone, Copy, Debug)]
pub struct Hold(HoldConfig);

impl Described for Hold {
    type Settings = HoldConfig;

    const KIND: &'static str = "hold";

    const ALSO: &'static [&'static str] =
        &["ack_aggregation", "batch", "coalesce", "count", "timer", "delay"];

    const IN_ONE: bool = false;

    fn check(config: &HoldConfig) -> Result<(), Refusal> {
        if config.packets.is_some_and(|packets| packets < 2) {
            return refuse("packets", "expected at least 2; one packet waits for no other");
        }
        check_time("time", config.time)
    }

    fn make(config: &HoldConfig, _: Stream) -> Self {
        Self(*config)
    }

    fn opens(&mut self, now: Instant, waiting: u64, since: Instant) -> Instant {
        let enough = self.0.packets.is_some_and(|packets| waiting >= u64::from(packets));
        if enough { now } else { since + self.0.time }
    }

    fn begin(&mut self, _: Instant, waiting: u64, _: Rate) -> Frame {
        Frame { packets: waiting, bytes: u64::MAX }
    }
}
