//! The contract of a jitter, and its description of itself.

use std::fmt::Debug;

use ackclock_units::random::Stream;
use ackclock_units::written::kinds::ListFile;
use ackclock_units::{Duration, Instant};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::check::Refusal;

/// A jitter's description of itself, in its own file.
///
/// The settings are those of a scenario: their fields are its keys, and their documentation is that of the scenario and
/// of the class in Python.
pub trait Described: Clone + Debug + Sized {
    /// The settings.
    type Settings: Clone + Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema;

    /// The word that names it in a scenario: `kind`.
    const KIND: &'static str;

    /// The document that says how it works; empty if it needs none.
    const SOURCE: &'static str = "";

    /// Words for it in other tools, which are refused with a hint.
    const ALSO: &'static [&'static str] = &[];

    /// The list that a file may stand for, if there is one.
    const FILE: Option<ListFile> = None;

    /// True if packets may overtake one another.
    fn reorders(_: &Self::Settings) -> bool {
        false
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// The first key that is wrong, and why.
    fn check(settings: &Self::Settings) -> Result<(), Refusal>;

    /// The jitter of checked settings, which draws from `random`.
    fn make(settings: &Self::Settings, random: Stream) -> Self;

    /// The delay of the next packet, which would arrive at `at` without it.
    fn delay(&mut self, at: Instant) -> Duration;
}
