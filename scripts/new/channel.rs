//! Probe: TODO the document, and what it says, by section.

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::Described;
use crate::check::{Refusal, check_time};

/// TODO one sentence that says what the channel does, as the reference and Python have it. Each packet takes a time of
/// its own besides that of its bits.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ProbeConfig {
    /// The time that a packet takes besides that of its bits.
    pub overhead: Duration,
}

/// The channel in use.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    rate: Rate,
    overhead: Duration,
}

impl Described for Probe {
    type Settings = ProbeConfig;

    const KIND: &'static str = "probe";
    const SOURCE: &'static str = "TODO the document";

    fn make(config: &ProbeConfig, rate: Rate, _: Stream) -> Result<Self, Refusal> {
        check_time("overhead", config.overhead)?;
        Ok(Self { rate, overhead: config.overhead })
    }

    fn time(&mut self, _: Instant, _: Instant, size: u64) -> Duration {
        self.overhead + Duration::from_nanos(size * 8 * 1_000_000_000 / self.rate.as_bps())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probe_adds_its_time_to_that_of_the_bits() {
        // TODO the new channel's arithmetic. 1500 bytes at 12 Mbit/s take 1 ms, and 0.5 ms come on top.
        let config = ProbeConfig { overhead: Duration::from_micros(500) };
        let rate = Rate::from_bps(12_000_000);
        let mut probe = Probe::make(&config, rate, Stream::new(1, "channel")).unwrap();
        let time = probe.time(Instant::START, Instant::START, 1500);
        assert_eq!(time, Duration::from_micros(1500));
    }

    #[test]
    fn no_time_is_refused() {
        let config = ProbeConfig { overhead: Duration::ZERO };
        let made = Probe::make(&config, Rate::from_bps(12_000_000), Stream::new(1, "channel"));
        assert_eq!(made.unwrap_err().0, "overhead");
    }
}
