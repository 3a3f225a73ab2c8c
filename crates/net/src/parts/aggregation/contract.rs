//! The contract of an aggregation, and its description of itself.

use std::fmt::Debug;

use ackclock_units::random::Stream;
use ackclock_units::written::kinds::ListFile;
use ackclock_units::{Instant, Rate};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::check::Refusal;

/// The most that a frame has. The first packet is in it whatever its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

/// An aggregation's description of itself, in its own file.
///
/// The settings are those of a scenario: their fields are its keys, and their documentation is that of the scenario and
/// of the class in Python.
pub trait Described: Clone + Debug + Sized {
    /// The settings.
    type Settings: Copy + Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema;

    /// The word that names it in a scenario: `kind`.
    const KIND: &'static str;

    /// The document that says how it works; empty if it needs none.
    const SOURCE: &'static str = "";

    /// Words for it in other tools, which are refused with a hint.
    const ALSO: &'static [&'static str] = &[];

    /// The list that a file may stand for, if there is one.
    const FILE: Option<ListFile> = None;

    /// True if all packets of a frame leave with its last bit; false if they leave one after another.
    const IN_ONE: bool;

    /// Checks the settings.
    ///
    /// # Errors
    /// The first key that is wrong, and why.
    fn check(settings: &Self::Settings) -> Result<(), Refusal>;

    /// The aggregation of checked settings, which draws from `random`.
    fn make(settings: &Self::Settings, random: Stream) -> Self;

    /// A packet comes to wait behind `others` that have no place in a frame.
    fn comes(&mut self, _now: Instant, _others: u64) {}

    /// The beginning of the next frame if nothing more comes: the wire is free at `now`, and `waiting` packets wait, one
    /// at least, the first of them `since` then. Asked again whenever a packet comes; a moment that has passed is now.
    fn opens(&mut self, now: Instant, waiting: u64, since: Instant) -> Instant;

    /// A frame begins at `now` on a wire of `rate`, and `waiting` packets wait: the most that it has.
    fn begin(&mut self, now: Instant, waiting: u64, rate: Rate) -> Frame;

    /// The frame that begins at `now` has left so many packets behind.
    fn leaves(&mut self, _now: Instant, _behind: u64) {}
}
