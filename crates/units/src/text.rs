//! The text form of quantities: a number, a blank, a unit.

use std::fmt;
use std::str::FromStr;

use crate::{Bytes, Duration, Frequency, Instant, Mss, PacketRate, Percent, Rate, RateOrZero};

mod meant;

/// Why a text is not a quantity: what stood there, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    text: String,
    expected: &'static str,
    hint: Option<String>,
    meant: Option<String>,
}

impl ParseError {
    /// An error saying that `text` is not the `expected` thing.
    pub fn new(text: &str, expected: &'static str) -> Self {
        Self { text: text.to_owned(), expected, hint: None, meant: None }
    }

    /// This error, with the reason in a few words.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// This error, with the text that was most likely meant.
    #[must_use]
    pub fn or_rather(mut self, meant: impl Into<String>) -> Self {
        self.meant = Some(meant.into());
        self
    }

    /// The reason, if one is known.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The text that was most likely meant, if one is known.
    pub fn meant(&self) -> Option<&str> {
        self.meant.as_deref()
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(meant) = &self.meant {
            return write!(f, "`{}`: write \"{meant}\" (expected {})", self.text, self.expected);
        }
        write!(f, "`{}` is not {}", self.text, self.expected)?;
        if let Some(hint) = &self.hint {
            write!(f, " ({hint})")?;
        }
        Ok(())
    }
}

impl std::error::Error for ParseError {}

/// A unit's spelling and its worth in the quantity's base unit.
type Unit = (&'static str, f64);

/// The unit and the number of them that a unit of another spelling is; `None` if nobody can tell.
type Meant = fn(&str) -> Option<(&'static str, f64)>;

const TIME_UNITS: &[Unit] =
    &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9), ("h", 3600e9)];
const VOLUME_UNITS: &[Unit] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];
const RATE_UNITS: &[Unit] = &[
    ("bit/s", 1.0),
    ("kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
    ("Tbit/s", 1e12),
    ("b/s", 1.0),
    ("kb/s", 1e3),
    ("Mb/s", 1e6),
    ("Gb/s", 1e9),
    ("bps", 1.0),
    ("kbps", 1e3),
    ("Mbps", 1e6),
    ("Gbps", 1e9),
];
const PACKET_RATE_UNITS: &[Unit] = &[("packet/s", 1.0), ("packets/s", 1.0), ("pps", 1.0)];
const FREQUENCY_UNITS: &[Unit] =
    &[("/s", 1.0), ("/min", 1.0 / 60.0), ("/h", 1.0 / 3600.0), ("Hz", 1.0)];
const PERCENT_UNITS: &[Unit] = &[("%", 1.0)];

const A_DURATION: &str = "a duration such as \"30 ms\"";
const A_VOLUME: &str = "a volume such as \"1460 B\"";
/// The largest volume: its bits, and the sum of a thousand such volumes, are below 2^63.
const MOST_BYTES: f64 = 1e15;
const A_RATE: &str = "a rate such as \"10 Mbit/s\"";
const A_PACKET_RATE: &str = "a packet rate such as \"100 packet/s\"";
const A_FREQUENCY: &str = "a rate of events such as \"100 /s\"";
const A_PERCENTAGE: &str = "a share such as \"1 %\", or a number from 0 to 1";
const AN_MSS: &str = "a segment size such as \"1460 B\", from 1 B to 65535 B";

/// Bytes of the number that `text` begins with.
fn number_len(text: &str) -> usize {
    let digits = |from: usize, signs: &str| {
        text[from..]
            .find(|c: char| !(c.is_ascii_digit() || c == '_' || signs.contains(c)))
            .map_or(text.len(), |n| from + n)
    };
    let mantissa = digits(0, ".-+");
    // An exponent is part of the number only when digits follow it: `1e3 s`, but `1 e`.
    let Some(exponent) = text[mantissa..].strip_prefix(['e', 'E']) else { return mantissa };
    if exponent.trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit()) {
        digits(mantissa + 1, "-+")
    } else {
        mantissa
    }
}

/// The value of `text` in the base unit of `units`; never negative, never infinite.
fn parse_scaled(
    text: &str,
    units: &[Unit],
    meant: Meant,
    expected: &'static str,
) -> Result<f64, ParseError> {
    let error = || ParseError::new(text, expected);
    let trimmed = text.trim();
    let (number, unit) = trimmed.split_at(number_len(trimmed));
    let unit = unit.trim();
    let value: f64 = number.replace('_', "").parse().map_err(|_| error())?;
    if value.is_sign_negative() && value != 0.0 {
        return Err(error().with_hint("it must not be negative"));
    }
    if unit.is_empty() {
        return Err(error().with_hint(format!("the unit is missing: one of {}", spellings(units))));
    }
    if let Some(written) = meant::with_point(number, unit)
        && parse_scaled(&written, units, meant, expected).is_ok()
    {
        return Err(error().or_rather(written));
    }
    let Some((_, worth)) = units.iter().find(|(name, _)| *name == unit) else {
        return Err(match meant(unit) {
            Some((near, each)) => error().or_rather(meant::written(value * each, near)),
            None => error()
                .with_hint(format!("unknown unit `{unit}`, expected one of {}", spellings(units))),
        });
    };
    let scaled = value * worth;
    // 2^63 base units: beyond that, sums of two would overflow.
    if scaled < 9.2e18 { Ok(scaled) } else { Err(error().with_hint("it is too large")) }
}

fn spellings(units: &[Unit]) -> String {
    units.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "parse_scaled returns a value from 0 to 2^63"
)]
fn to_whole(scaled: f64) -> u64 {
    scaled.round() as u64
}

impl FromStr for Duration {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse_scaled(text, TIME_UNITS, meant::time, A_DURATION)
            .map(|nanos| Self::from_nanos(to_whole(nanos)))
    }
}

impl FromStr for Bytes {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let scaled = parse_scaled(text, VOLUME_UNITS, meant::volume, A_VOLUME)?;
        if (scaled - scaled.round()).abs() > 1e-6 {
            return Err(
                ParseError::new(text, A_VOLUME).with_hint("it is not a whole number of bytes")
            );
        }
        if scaled > MOST_BYTES {
            return Err(ParseError::new(text, A_VOLUME).with_hint("expected at most 1000 TB"));
        }
        Ok(Self::new(to_whole(scaled)))
    }
}

impl FromStr for Rate {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        match to_whole(parse_scaled(text, RATE_UNITS, meant::rate, A_RATE)?) {
            0 => Err(ParseError::new(text, A_RATE).with_hint("it must be at least 1 bit/s")),
            bps => Ok(Self::from_bps(bps)),
        }
    }
}

impl FromStr for RateOrZero {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        // A tiny rate is no zero: whoever writes 0.1 bit/s has the unit wrong.
        let is_zero = text
            .strip_suffix("bit/s")
            .map(|text| text.trim_end_matches(['k', 'M', 'G', ' ']).trim_start())
            .and_then(|number| number.parse::<f64>().ok())
            .is_some_and(|number| number == 0.0);
        if is_zero { Ok(Self(None)) } else { text.parse().map(|rate| Self(Some(rate))) }
    }
}

impl fmt::Display for RateOrZero {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(rate) => rate.fmt(f),
            None => f.write_str("0 bit/s"),
        }
    }
}

impl FromStr for PacketRate {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::from_pps(parse_scaled(text, PACKET_RATE_UNITS, meant::packet_rate, A_PACKET_RATE)?)
            .ok_or_else(|| ParseError::new(text, A_PACKET_RATE).with_hint("it must be above zero"))
    }
}

impl FromStr for Frequency {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::from_hz(parse_scaled(text, FREQUENCY_UNITS, meant::frequency, A_FREQUENCY)?)
            .ok_or_else(|| ParseError::new(text, A_FREQUENCY).with_hint("it must be above zero"))
    }
}

impl FromStr for Percent {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        if text.trim().parse::<f64>().is_ok() {
            return Err(ParseError::new(text, A_PERCENTAGE)
                .with_hint("a number without a unit stands without quotes"));
        }
        if parse_scaled(text, PERCENT_UNITS, meant::percent, A_PERCENTAGE)? > 100.0 {
            return Err(ParseError::new(text, A_PERCENTAGE).with_hint("it is more than 100 %"));
        }
        // `0.7 %` is 0.007 as text is read; 0.7 / 100 is not.
        let number = text.trim().trim_end_matches('%').trim().replace('_', "");
        let (mantissa, power) = number.split_once(['e', 'E']).unwrap_or((&number, "0"));
        let power = power.parse::<i32>().unwrap_or(0) - 2;
        format!("{mantissa}e{power}")
            .parse()
            .map(Self::of)
            .map_err(|_| ParseError::new(text, A_PERCENTAGE))
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", (self.share() * 1e12).round() / 1e10)
    }
}

impl FromStr for Mss {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let bytes = text.parse::<Bytes>().map_err(|error| {
            let plain = ParseError::new(text, AN_MSS);
            error.meant().map_or(plain.clone(), |meant| plain.or_rather(meant))
        })?;
        u16::try_from(bytes.get())
            .ok()
            .and_then(Self::new)
            .ok_or_else(|| ParseError::new(text, AN_MSS))
    }
}

/// Writes `value` base units in the largest of `units` that keeps the number at least one.
fn write_scaled(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    let (name, worth) = units.iter().rev().find(|(_, worth)| value >= *worth).unwrap_or(&units[0]);
    let (whole, part) = (value / worth, value % worth);
    if part == 0 {
        return write!(f, "{whole} {name}");
    }
    let digits = worth.ilog10() as usize;
    let fraction = format!("{part:0digits$}");
    write!(f, "{whole}.{} {name}", fraction.trim_end_matches('0'))
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.as_nanos() == 0 {
            return f.write_str("0 s");
        }
        write_scaled(
            f,
            self.as_nanos(),
            &[("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)],
        )
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.since(Self::START).fmt(f)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.get())
    }
}

impl fmt::Display for Mss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes().fmt(f)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(
            f,
            self.as_bps(),
            &[("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)],
        )
    }
}

impl fmt::Display for PacketRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} packet/s", self.as_pps())
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} /s", self.as_hz())
    }
}

#[cfg(test)]
mod tests;
