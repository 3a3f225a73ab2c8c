//! The shaper of CAKE, and the lengths that it counts.

use ackclock_units::{Bytes, Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A link layer, with the bytes that it adds to a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkLayer {
    /// Packets alone.
    #[default]
    Raw,
    /// ATM with more than any link adds: 48 B.
    Conservative,
    /// Ethernet with preamble and gap: 38 B, at least 84 B.
    Ethernet,
    /// DOCSIS: 18 B, at least 64 B.
    Docsis,
    /// VDSL with PPP over Ethernet: 30 B, PTM.
    PppoePtm,
    /// VDSL without: 22 B, PTM.
    BridgedPtm,
    /// ADSL: 8 B, ATM.
    IpoaVcmux,
    /// ADSL: 16 B, ATM.
    IpoaLlcsnap,
    /// ADSL: 24 B, ATM.
    BridgedVcmux,
    /// ADSL: 32 B, ATM.
    BridgedLlcsnap,
    /// ADSL: 10 B, ATM.
    PppoaVcmux,
    /// ADSL: 14 B, ATM.
    PppoaLlc,
    /// ADSL: 32 B, ATM.
    PppoeVcmux,
    /// ADSL: 40 B, ATM.
    PppoeLlcsnap,
}

/// The cells in which a link layer sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Framing {
    /// None.
    None,
    /// ATM: 53 B for each 48 B.
    Atm,
    /// PTM: a byte more for each 64 B.
    Ptm,
}

impl LinkLayer {
    /// The bytes that it adds, the least of a packet, and the cells.
    const fn adds(self) -> (u64, u64, Framing) {
        match self {
            Self::Raw => (0, 0, Framing::None),
            Self::Conservative => (48, 0, Framing::Atm),
            Self::Ethernet => (38, 84, Framing::None),
            Self::Docsis => (18, 64, Framing::None),
            Self::PppoePtm => (30, 0, Framing::Ptm),
            Self::BridgedPtm => (22, 0, Framing::Ptm),
            Self::IpoaVcmux => (8, 0, Framing::Atm),
            Self::IpoaLlcsnap => (16, 0, Framing::Atm),
            Self::BridgedVcmux => (24, 0, Framing::Atm),
            Self::BridgedLlcsnap | Self::PppoeVcmux => (32, 0, Framing::Atm),
            Self::PppoaVcmux => (10, 0, Framing::Atm),
            Self::PppoaLlc => (14, 0, Framing::Atm),
            Self::PppoeLlcsnap => (40, 0, Framing::Atm),
        }
    }
}

/// The lengths of packets as the shaper counts them.
#[derive(Clone, Copy, Debug)]
pub struct Lengths {
    overhead: u64,
    mpu: u64,
    framing: Framing,
}

impl Lengths {
    /// The lengths on `layer`, but for what is said.
    pub fn new(
        layer: LinkLayer,
        overhead: Option<Bytes>,
        mpu: Option<Bytes>,
        framing: Option<Framing>,
    ) -> Self {
        let (adds, least, cells) = layer.adds();
        Self {
            overhead: overhead.map_or(adds, Bytes::get),
            mpu: mpu.map_or(least, Bytes::get),
            framing: framing.unwrap_or(cells),
        }
    }

    /// The length of a packet of `size` bytes.
    pub fn of(&self, size: u32) -> u64 {
        let bytes = (u64::from(size) + self.overhead).max(self.mpu);
        match self.framing {
            Framing::None => bytes,
            Framing::Atm => bytes.div_ceil(48) * 53,
            Framing::Ptm => bytes + bytes.div_ceil(64),
        }
    }
}

/// The time that `bytes` take at `rate`.
pub fn time(rate: Rate, bytes: u64) -> Duration {
    Duration::from_nanos(bytes * 8 * 1_000_000_000 / rate.as_bps())
}

/// The clock of the shaper.
#[derive(Clone, Copy, Debug)]
pub struct Shaper {
    rate: Option<Rate>,
    /// When the next packet may be sent; and when at the latest, however many were dropped.
    next: Instant,
    failsafe: Instant,
}

impl Shaper {
    pub const fn new(rate: Option<Rate>) -> Self {
        Self { rate, next: Instant::START, failsafe: Instant::START }
    }

    /// Notes that a packet comes to an empty queue.
    pub fn begin(&mut self, now: Instant) {
        if self.next < now {
            (self.next, self.failsafe) = (now, now);
        }
    }

    /// Charges `bytes` that are sent or dropped.
    pub fn charge(&mut self, bytes: u64, dropped: bool) {
        let Some(rate) = self.rate else { return };
        let time = time(rate, bytes);
        self.next += time;
        if !dropped {
            self.failsafe += time + time / 2;
        }
    }

    /// The time before which nothing is sent.
    pub fn holds_until(&self) -> Instant {
        self.next.min(self.failsafe)
    }
}
