//! The part of packets' headers that disciplines with classes and hosts read.

use std::fmt;
use std::str::FromStr;

use ackclock_units::{ParseError, written_as_text};

/// A Differentiated Services codepoint (RFC 2474).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dscp(u8);

/// Names of codepoints besides `CS0` to `CS7` and `AF11` to `AF43`: RFC 3246, RFC 5865, RFC 8622.
const NAMES: [(&str, u8); 5] = [("EF", 46), ("VA", 44), ("LE", 1), ("DF", 0), ("BE", 0)];

impl Dscp {
    /// The codepoint of this number.
    ///
    /// # Panics
    /// Above 63.
    pub const fn new(number: u8) -> Self {
        assert!(number < 64, "a codepoint has six bits");
        Self(number)
    }

    /// The number, from 0 to 63.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl FromStr for Dscp {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let upper = text.trim().to_uppercase();
        if let Some((_, number)) = NAMES.iter().find(|(name, _)| *name == upper) {
            return Ok(Self(*number));
        }
        let digits = |of: &str| of.parse::<u8>().ok().filter(|_| of.len() <= 2);
        let found = if let Some(class) = upper.strip_prefix("CS") {
            digits(class).filter(|class| *class < 8).map(|class| 8 * class)
        } else if let Some(both) = upper.strip_prefix("AF") {
            // RFC 2597: the class, and the precedence of drops.
            digits(both)
                .map(|both| (both / 10, both % 10))
                .filter(|(class, drop)| (1..=4).contains(class) && (1..=3).contains(drop))
                .map(|(class, drop)| 8 * class + 2 * drop)
        } else {
            digits(&upper).filter(|number| *number < 64)
        };
        found.map(Self).ok_or_else(|| {
            ParseError::new(text, "a DSCP such as \"EF\", \"CS1\", \"AF41\", \"LE\" or \"46\"")
        })
    }
}

impl fmt::Display for Dscp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (class, drop) = (self.0 / 8, self.0 % 8);
        if let Some((name, _)) = NAMES.iter().find(|(_, number)| *number == self.0 && self.0 > 0) {
            f.write_str(name)
        } else if drop == 0 {
            write!(f, "CS{class}")
        } else if (1..=4).contains(&class) && drop % 2 == 0 {
            write!(f, "AF{class}{}", drop / 2)
        } else {
            write!(f, "{}", self.0)
        }
    }
}

written_as_text! {
    Dscp: "Dscp", "A Differentiated Services codepoint: CS0 to CS7, AF11 to AF43, EF, VA, LE, DF, or its number, in quotes: \"46\".", "EF";
}

/// The part of a flow's header that disciplines read in one direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The codepoint.
    pub dscp: Dscp,
    /// The host that sends, and the one that receives.
    pub hosts: [u32; 2],
}

/// The headers of flows, by class.
#[derive(Clone, Debug, Default)]
pub struct Headers(Vec<Header>);

impl Headers {
    /// Notes the header of the packets of `class`.
    pub fn set(&mut self, class: u32, header: Header) {
        let class = class as usize;
        if self.0.len() <= class {
            self.0.resize(class + 1, Header::default());
        }
        self.0[class] = header;
    }

    /// The header of the packets of `class`.
    pub fn of(&self, class: u32) -> Header {
        self.0.get(class as usize).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codepoints_have_names() {
        // RFC 2474 §4.2.2, RFC 2597 §6, RFC 3246, RFC 5865, RFC 8622.
        for (name, number) in [
            ("CS0", 0),
            ("CS1", 8),
            ("CS7", 56),
            ("AF11", 10),
            ("AF23", 22),
            ("AF41", 34),
            ("EF", 46),
            ("VA", 44),
            ("LE", 1),
            ("2", 2),
            ("63", 63),
        ] {
            let dscp: Dscp = name.parse().unwrap();
            assert_eq!((dscp.get(), dscp.to_string()), (number, name.to_owned()));
        }
        for (other, number) in [("BE", 0), ("df", 0), ("ef", 46), ("48", 48), ("0", 0)] {
            assert_eq!(other.parse::<Dscp>().unwrap().get(), number);
        }
        for wrong in ["", "CS8", "AF14", "AF51", "64", "-1", "EFF", "AF1", "CS"] {
            assert!(wrong.parse::<Dscp>().is_err(), "{wrong}");
        }
    }
}
