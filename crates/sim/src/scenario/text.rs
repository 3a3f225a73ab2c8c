//! Quantities as text in files: one wrapper for every type that parses and prints.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use ackclock_units::written::{self, Written};
use ackclock_units::{Duration, ParseError, written_as_text};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Every, RateOrZero, Span};

/// A value that stands in a file as text with a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Text<T>(pub T);

impl<T: Written> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de, T: Written> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        written::read(deserializer).map(Self)
    }
}

impl<T: Written> JsonSchema for Text<T> {
    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        written::schema::<T>()
    }
}

written_as_text! {
    RateOrZero: "RateOrZero", "A rate, which may be zero: a number and bit/s, kbit/s, Mbit/s or Gbit/s.", "0 bit/s";
    Span: "Span", "A duration, or a number of the flow's base round trips: a number and RTT.", "5 RTT";
    Every: "Every", "How often: change, or an interval.", "change";
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
