//! Growth laws: their trait, the events that they hear of, and the units of those.
//!
//! A law owns cwnd and ssthresh. [`Growth`] says when each of its methods is called; all but six have defaults.

pub use ackclock_laws::event::{
    Ack, Congestion, Delivery, Established, Limit, LostSegment, Proposal, RateSample, RecoveryEnd,
    Repair, RttSample, SendStart, Signal, SlowStartStep, Why,
};
pub use ackclock_laws::growth::{Growth, Wants, fail};
pub use ackclock_packet::Seq;
pub use ackclock_tcp::judge::law_check::{Broken, Kept, Plan};
pub use ackclock_units::{Bytes, Duration, Instant, Mss, Rate};

use ackclock_laws::growth::AnyGrowth;
use ackclock_tcp::{Profile, Variant};

use crate::Error;

/// Gives a law a name for as long as the process runs, for scenarios that are read from then on.
///
/// # Errors
/// The name is not lower-case letters and digits, or a word of the package's own.
pub fn register_law(
    name: &str,
    make: impl Fn() -> Box<dyn Growth> + Send + Sync + 'static,
) -> Result<(), Error> {
    let named = ackclock_tcp::variant::register_law(name, make);
    named.map_err(|why| Error::Input(format!("law `{name}`: {why}")))
}

/// Tells the law of this name `stories` random stories of a sender, and holds it against the rules of growth laws.
///
/// # Errors
/// The law breaks a rule: the shortest story found in which it does.
///
/// # Panics
/// The name is none of a law.
pub fn check_law(name: &str, stories: u64, seed: u64) -> Result<Kept, Box<Broken>> {
    let plan = Plan { stories, seed, only: None, heard: None };
    let kept = ackclock_tcp::judge::law_check::check_law(name, &plan, |_| true)?;
    Ok(kept.expect("nobody ends it early"))
}

/// A new law of the package's own, in its published form, for a transport of yours: of `"cubic"`, that of RFC 9438.
///
/// # Errors
/// The name is none of a sender.
pub fn built_in(name: &str) -> Result<Box<dyn Growth>, Error> {
    let parts = name.parse::<Variant>().and_then(|variant| variant.resolve(Profile::Rfc));
    let parts = parts.map_err(|why| Error::Input(format!("law `{name}`: {why}")))?;
    Ok(Box::new(AnyGrowth::new(parts.growth)))
}
