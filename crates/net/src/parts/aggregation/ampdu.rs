//! Frames of a wireless LAN: the A-MPDU of IEEE 802.11n and its block acknowledgment.

use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::{Described, Frame};
use crate::check::{Refusal, check_time, refuse};

/// Frames of a wireless LAN (the A-MPDU of IEEE 802.11n). The link wins the medium for each frame, which takes what waits
/// then, at the link's rate. The receiver has all of its packets at its end, as one block acknowledgment covers them.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct AmpduConfig {
    /// The most packets of a frame: the window of the block acknowledgment.
    pub packets: u32,
    /// The most bytes of a frame.
    pub volume: Bytes,
    /// The longest time that a frame takes at the link's rate.
    pub airtime: Duration,
    /// The mean time from a free medium to a frame, with preamble and acknowledgment; each draws from half to one and a
    /// half.
    pub access: Duration,
}

impl Default for AmpduConfig {
    fn default() -> Self {
        Self {
            // The block acknowledgment and the length of IEEE 802.11n; 802.11ac has 1,048,575 B, 802.11ax 256 packets.
            packets: 64,
            volume: Bytes::new(65_535),
            airtime: Duration::from_micros(5484),
            // As the overhead of the channel `wifi`.
            access: Duration::from_micros(200),
        }
    }
}

/// Frames of a wireless LAN in use.
#[derive(Clone, Debug)]
pub struct Ampdu {
    config: AmpduConfig,
    random: Stream,
    /// When the link has won the medium.
    won: Option<Instant>,
}

impl Described for Ampdu {
    type Settings = AmpduConfig;

    const KIND: &'static str = "ampdu";

    const SOURCE: &'static str = "IEEE 802.11n";

    const ALSO: &'static [&'static str] =
        &["a-mpdu", "wifi", "wlan", "802.11", "block_ack", "txop"];

    const IN_ONE: bool = true;

    fn check(config: &AmpduConfig) -> Result<(), Refusal> {
        if config.packets == 0 {
            return refuse("packets", "expected at least 1 packet in a frame");
        }
        if config.volume == Bytes::ZERO {
            return refuse("volume", "expected more than 0 B");
        }
        check_time("airtime", config.airtime)?;
        check_time("access", config.access)
    }

    fn make(config: &AmpduConfig, random: Stream) -> Self {
        Self { config: *config, random, won: None }
    }

    fn opens(&mut self, now: Instant, _: u64, _: Instant) -> Instant {
        let Self { config, random, won } = self;
        let mean = config.access.as_secs_f64();
        *won.get_or_insert_with(|| {
            now + Duration::from_secs_f64(mean * random.uniform_in(0.5, 1.5))
        })
    }

    fn begin(&mut self, _: Instant, _: u64, rate: Rate) -> Frame {
        self.won = None;
        let bytes = rate.volume_in(self.config.airtime).min(self.config.volume);
        Frame { packets: u64::from(self.config.packets), bytes: bytes.get() }
    }
}
