//! Texts of scenarios that are neither quantities nor of another crate.

use std::fmt;
use std::str::FromStr;

use ackclock_units::{Duration, ParseError, written_as_text};

use super::{Every, Span};

written_as_text! {
    Span: "Span", "A duration, or a number of the flow's base round trips: a number and RTT.", "5 RTT";
    Every: "Every", "The moments of a record: change, or an interval.", "10 ms";
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
