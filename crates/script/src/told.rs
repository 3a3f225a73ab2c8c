//! Packets, times and what became of scripts as JSON, by which a stack in another process is asked and answers.
//! A packet is text in packetdrill's notation, a time nanoseconds.

use std::fmt;

use ackclock_units::Instant;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ast::{Action, Packet, stamp};

impl Serialize for Packet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Packet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let script = crate::parse("packet", &format!("0 {text}")).map_err(D::Error::custom)?;
        match script.events.into_iter().next().map(|event| event.action) {
            Some(Action::Packet(packet)) => Ok(packet),
            _ => Err(D::Error::custom(format!("`{text}` is no packet"))),
        }
    }
}

/// Durations as nanoseconds.
pub(crate) mod nanos {
    use ackclock_units::Duration;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    pub(crate) fn serialize<S: Serializer>(span: &Duration, to: S) -> Result<S::Ok, S::Error> {
        span.as_nanos().serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_nanos)
    }
}

/// Instants as nanoseconds since the beginning.
pub(crate) mod moment {
    use ackclock_units::Instant;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    pub(crate) fn serialize<S: Serializer>(at: &Instant, to: S) -> Result<S::Ok, S::Error> {
        at.as_nanos().serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Instant, D::Error> {
        u64::deserialize(from).map(Instant::from_nanos)
    }
}

/// A packet of a stack's, and when it passed since the script or the case began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimedPacket {
    /// When.
    #[serde(with = "moment")]
    pub at: Instant,
    /// The packet, its numbers counted from both SYNs.
    pub packet: Packet,
}

/// Time and packet in packetdrill's notation.
impl fmt::Display for TimedPacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", stamp(self.at), self.packet)
    }
}
