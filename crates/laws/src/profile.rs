//! The profiles of stacks.

use std::fmt;
use std::str::FromStr;

use ackclock_units::ParseError;

/// The stack whose habits decide the details on which stacks differ.
///
/// A profile supplies the default of every key of a transport and of every part of a variant's name
/// that is not spelled out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// The RFCs' recommendations.
    #[default]
    Rfc,
    /// Linux.
    Linux,
    /// ns-2.35.
    Ns2,
}

impl Profile {
    /// Every profile, with its name.
    pub const ALL: [(&'static str, Self); 3] =
        [("rfc", Self::Rfc), ("linux", Self::Linux), ("ns2", Self::Ns2)];
}

ackclock_units::written_as_text! {
    Profile: "Profile", "The profile that supplies what is not said: rfc, linux or ns2.", "rfc";
}

impl FromStr for Profile {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::ALL
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, profile)| *profile)
            .ok_or_else(|| ParseError::new(text, "a profile: `rfc`, `linux` or `ns2`"))
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, _) = Self::ALL.iter().find(|(_, p)| p == self).expect("ALL lists every profile");
        f.write_str(name)
    }
}
