//! The contract of a channel, and its description of itself.

use std::fmt::Debug;

use ackclock_units::random::Stream;
use ackclock_units::written::kinds::ListFile;
use ackclock_units::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::check::Refusal;

/// A channel's description of itself, in its own file.
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

    /// The number of 8-byte entries that it draws in advance for a link of `rate`, for the estimate of memory.
    fn entries(_: &Self::Settings, _: Rate) -> f64 {
        0.0
    }

    /// An idle channel in place of a constant `rate`, which draws from `random`.
    ///
    /// # Errors
    /// The first key that is wrong, and why.
    fn make(settings: &Self::Settings, rate: Rate, random: Stream) -> Result<Self, Refusal>;

    /// The time that a packet of `size` bytes spends on the channel: it came at `now`, behind others that leave by
    /// `starts`.
    fn time(&mut self, now: Instant, starts: Instant, size: u64) -> Duration;

    /// All that a sender that never rests could have sent by `now`, in bits times 10^9; `None` where it depends on the
    /// packets, so that the time in use says how far the channel is used.
    fn capacity(&self, _: Instant) -> Option<u128> {
        None
    }
}
