//! Quantities as text in files: one wrapper for every type that parses and prints.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use ackclock_net::{QueueLimit, QueueUnit};
use ackclock_tcp::{Profile, Variant};
use ackclock_units::{Bytes, Duration, Frequency, Mss, PacketRate, ParseError, Rate};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Every, Limit, RateOrZero, Span};

/// A value that stands in a file as text with a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Text<T>(pub T);

/// What a schema says about a kind of text.
pub trait Described {
    /// The schema's name.
    const NAME: &'static str;
    /// What the text is.
    const SAYS: &'static str;
    /// A text that is valid.
    const EXAMPLE: &'static str;
}

macro_rules! described {
    ($($type:ty: $name:literal, $says:literal, $example:literal;)*) => {
        $(impl Described for $type {
            const NAME: &'static str = $name;
            const SAYS: &'static str = $says;
            const EXAMPLE: &'static str = $example;
        })*
    };
}

described! {
    Duration: "Duration", "A duration: a number and ns, us, ms, s, min or h.", "30 ms";
    Bytes: "Bytes", "A volume: a number and B, kB, MB, GB, TB, KiB, MiB or GiB.", "1460 B";
    Mss: "Mss", "A segment size, from 1 B to 65535 B.", "1460 B";
    Rate: "Rate", "A rate: a number and bit/s, kbit/s, Mbit/s or Gbit/s.", "10 Mbit/s";
    RateOrZero: "RateOrZero", "A rate, which may be zero: a number and bit/s, kbit/s, Mbit/s or Gbit/s.", "0 bit/s";
    PacketRate: "PacketRate", "A rate of packets: a number and packet/s.", "100 packet/s";
    Frequency: "Frequency", "A rate of events: a number and /s, /min or /h.", "100 /s";
    Variant: "Variant", "A sender: a growth law, then +part for each choice that differs from its default.", "newreno+iw10";
    Profile: "Profile", "Whose habits supply what is not said: rfc, linux or ns2.", "rfc";
    Limit: "Limit", "A queue's limit: packets, bytes, a multiple of the bandwidth-delay product, or unlimited.", "1 BDP";
    Span: "Span", "A duration, or a number of the flow's base round trips: a number and RTT.", "5 RTT";
    Every: "Every", "How often: change, or an interval.", "change";
}

impl<T: fmt::Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de, T> Deserialize<'de> for Text<T>
where
    T: FromStr<Err: fmt::Display> + Described,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<T>(PhantomData<T>);
        impl<T: FromStr<Err: fmt::Display> + Described> de::Visitor<'_> for Visitor<T> {
            type Value = Text<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "text such as \"{}\"", T::EXAMPLE)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text<T>, E> {
                text.parse().map(Text).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Visitor(PhantomData))
    }
}

impl<T: Described> JsonSchema for Text<T> {
    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": T::SAYS, "examples": [T::EXAMPLE] })
    }
}

const A_LIMIT: &str = "a limit such as \"50 packet\", \"64 kB\", \"1 BDP\" or \"unlimited\"";

impl FromStr for Limit {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let error = || ParseError::new(text, A_LIMIT);
        if text == "unlimited" {
            return Ok(Self::Fixed(QueueLimit::UNLIMITED));
        }
        let text = text.trim();
        if let Some(number) = text.strip_suffix("BDP") {
            let multiple: f64 = number.trim().parse().map_err(|_| error())?;
            return if multiple.is_finite() && multiple > 0.0 {
                Ok(Self::Bdp(multiple))
            } else {
                Err(error())
            };
        }
        for unit in ["packets", "packet"] {
            if let Some(number) = text.strip_suffix(unit) {
                let amount: u64 = number.trim().parse().map_err(|_| error())?;
                return Ok(Self::Fixed(QueueLimit { amount, unit: QueueUnit::Packets }));
            }
        }
        let bytes: Bytes = text.parse().map_err(|_| error())?;
        Ok(Self::Fixed(QueueLimit { amount: bytes.get(), unit: QueueUnit::Bytes }))
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(QueueLimit::UNLIMITED) => f.write_str("unlimited"),
            Self::Fixed(QueueLimit { amount, unit: QueueUnit::Packets }) => {
                write!(f, "{amount} packet")
            }
            Self::Fixed(QueueLimit { amount, unit: QueueUnit::Bytes }) => write!(f, "{amount} B"),
            Self::Bdp(multiple) => write!(f, "{multiple} BDP"),
        }
    }
}

impl FromStr for Every {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        if text == "change" {
            return Ok(Self::Change);
        }
        match text.parse() {
            Ok(interval) if interval > Duration::ZERO => Ok(Self::Interval(interval)),
            _ => Err(ParseError::new(text, "\"change\" or an interval such as \"10 ms\"")),
        }
    }
}

impl fmt::Display for Every {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Change => f.write_str("change"),
            Self::Interval(interval) => interval.fmt(f),
        }
    }
}

impl FromStr for Span {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let error = || ParseError::new(text, "a span such as \"5 RTT\" or \"1 s\"");
        if let Some(number) = text.trim().strip_suffix("RTT") {
            let n: f64 = number.trim().parse().map_err(|_| error())?;
            return if n.is_finite() && n > 0.0 { Ok(Self::RoundTrips(n)) } else { Err(error()) };
        }
        text.parse().map(Self::Time).map_err(|_| error())
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => time.fmt(f),
            Self::RoundTrips(n) => write!(f, "{n} RTT"),
        }
    }
}
