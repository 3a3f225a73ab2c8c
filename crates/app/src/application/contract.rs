//! The contract of an application: its description of itself.

use std::borrow::Cow;
use std::fmt::Debug;

use ackclock_units::random::Stream;
use ackclock_units::written::DurationDraw;
use ackclock_units::written::kinds::ListFile;
use ackclock_units::{Bytes, Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::program::ProgramConfig;
use crate::Moment;

/// A key that is wrong, and why.
pub type Refusal = (String, String);

/// An application that a host holds behind an indirect call: one that has no variant in [`AnyApp`](crate::AnyApp).
#[derive(Clone, Copy, Debug)]
pub struct Other<A>(pub A);

/// The load that an application makes, to estimate what a run takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// The bytes that it gives.
    pub volume: f64,
    /// The messages, bursts or segments among them.
    pub objects: f64,
    /// The pictures that it keeps.
    pub pictures: f64,
}

impl Load {
    /// A volume alone.
    pub const fn of(volume: f64) -> Self {
        Self { volume, objects: 0.0, pictures: 0.0 }
    }
}

/// An application's description of itself, in its own file.
///
/// The settings are those of a scenario: their fields are its keys, and their documentation is that of the scenario and
/// of the class in Python.
pub trait Described {
    /// The settings.
    type Settings: Clone + Debug + Serialize + DeserializeOwned + JsonSchema;

    /// The application of the sender, which [`AnyApp`](crate::AnyApp) can be made from: a variant of it, or [`Other`].
    type Sender;

    /// The application of the receiver, likewise.
    type Receiver;

    /// The word that names it in a scenario: `kind`.
    const KIND: &'static str;

    /// The document that says how it works; empty if it needs none.
    const SOURCE: &'static str = "";

    /// Words for it in other tools, which are refused with a hint.
    const ALSO: &'static [&'static str] = &[];

    /// The list that a file may stand for, if there is one.
    const FILE: Option<ListFile> = None;

    /// True if it needs a live run.
    const LIVE_ALONE: bool = false;

    /// True if both of its ends need the same kind of transport in a live run.
    const NEEDS_ONE_TRANSPORT: bool = false;

    /// True if it reports its own measurement at its end.
    const REPORTS: bool = false;

    /// The volume of one transfer, given as the connection opens: [`Bytes::UNLIMITED`] if it has no end; `None` of every
    /// other application.
    fn transfer(_: &Self::Settings) -> Option<Bytes> {
        None
    }

    /// True if its data has an end.
    fn is_sized(settings: &Self::Settings) -> bool;

    /// True if the receiver opens the connection, as one that asks for a video does.
    fn receiver_opens(_: &Self::Settings) -> bool {
        false
    }

    /// The rate that it asks the routers for by itself.
    fn asks(_: &Self::Settings) -> Option<Rate> {
        None
    }

    /// The number of events of this kind that its flow has.
    fn events(_: &Self::Settings, _: Moment) -> usize {
        0
    }

    /// The programs on the flow's hosts, if that is what it is.
    fn program(_: &Self::Settings) -> Option<Cow<'_, ProgramConfig>> {
        None
    }

    /// The programs that somebody has to allow before they run.
    fn to_be_allowed(_: &Self::Settings) -> Option<Cow<'_, ProgramConfig>> {
        None
    }

    /// The load in `seconds`. Settings that the check refuses later have any.
    fn load(settings: &Self::Settings, seconds: f64) -> Load;

    /// Checks the settings, in a run that lasts so long.
    ///
    /// # Errors
    /// The first key that is wrong, and why.
    fn check(settings: &Self::Settings, lasts: Duration) -> Result<(), Refusal>;

    /// The applications of a flow's sender and receiver, which draw from the streams that `stream` names.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    fn apps(
        settings: &Self::Settings,
        stream: &dyn Fn(&str) -> Stream,
    ) -> Result<(Self::Sender, Self::Receiver), Refusal>;
}

/// The refusal of an application that a simulation does not play.
pub fn live_alone() -> Refusal {
    ("kind".to_owned(), "programs need a live run (--on live)".to_owned())
}

/// The moment at which the connection closes.
pub fn stop_at(stop: Option<Duration>) -> Instant {
    stop.map_or(Instant::NEVER, |stop| Instant::START + stop)
}

/// Refuses the value of `key`.
///
/// # Errors
/// Always.
pub fn refuse(key: &str, why: &str) -> Result<(), Refusal> {
    Err((key.to_owned(), why.to_owned()))
}

/// A refusal with a word of ours.
pub fn owned((key, why): (&str, &str)) -> Refusal {
    (key.to_owned(), why.to_owned())
}

/// Checks the moment at which the connection closes.
pub fn check_stop(stop: Option<Duration>) -> Result<(), Refusal> {
    match stop {
        Some(Duration::ZERO) => refuse("stop", "expected more than 0 s"),
        _ => Ok(()),
    }
}

/// Checks a time that may be drawn, and is not always zero if it has to be `positive`.
pub fn check_draw(key: &str, draw: &DurationDraw, positive: bool) -> Result<(), Refusal> {
    if let Some((at, expected)) = draw.fault() {
        return refuse(&format!("{key}{at}"), expected);
    }
    if positive && draw.is_zero() {
        return refuse(key, "expected more than 0 s");
    }
    Ok(())
}

/// Messages that one flow may send in a run: at 60 bytes each about 1 GB.
const MOST_OBJECTS: f64 = 2e7;

/// Checks messages of `message` bytes at `rate`.
pub fn check_messages(rate: Rate, message: Bytes, lasts: Duration) -> Result<(), Refusal> {
    if message == Bytes::ZERO {
        return refuse("message", "expected more than 0 B");
    }
    let messages = rate.as_bps() as f64 / message.bits() as f64 * lasts.as_secs_f64();
    if messages > MOST_OBJECTS {
        let why = format!("{messages:.0} messages are more than {MOST_OBJECTS:.0}");
        return refuse("message", &why);
    }
    Ok(())
}

/// The load of messages of `message` bytes at `rate`.
pub fn messages(rate: Rate, message: Bytes, seconds: f64) -> Load {
    let bits = rate.as_bps() as f64 * seconds;
    Load { objects: bits / message.bits().max(1) as f64, ..Load::of(bits / 8.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_refused_beyond_what_a_run_holds() {
        // A message of one byte each second at 8 bit/s: 2e7 seconds are as many messages.
        let check = |seconds: u64| {
            check_messages(Rate::from_bps(8), Bytes::new(1), Duration::from_secs(seconds))
        };
        assert_eq!(check(20_000_000), Ok(()));
        assert!(check(20_000_001).is_err());
        assert!(check(40_000_000).is_err());
    }
}
