//! Laws of one's own: from shared libraries, and from other languages.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use ackclock_laws::event::CaState;
use ackclock_tcp::Config;
use ackclock_tcp::judge::law_check::{Heard, Plan, check_law as check};
use ackclock_tcp::judge::law_trace::{Difference, Kind, Plan as TracePlan, compare};
use ackclock_units::Mss;
use serde_json::json;

pub use ackclock_foreign::tell_exits;

use crate::run::sweep::SweepError;
use ackclock_input::BadInput;

/// Loads the law of a shared library, so that `variant = "NAME"` means it for as long as the process runs.
///
/// The library's code runs in this process, with all that the process may do.
///
/// # Errors
/// The file is no library with a law, or the name is a word of the house's.
pub fn load_law(name: &str, path: &Path) -> Result<(), BadInput> {
    let make = ackclock_foreign::load(name, path);
    register_law(name, make.map_err(|why| BadInput::new(format_args!("law `{name}`: {why}")))?)
}

/// Registers the law whose table of callbacks is at an address of this process, as a compiler in it made them.
///
/// # Errors
/// There is no table that can be used, or the name is a word of the house's.
///
/// # Safety
/// At `address` is an `ackclock_law` of the header `ackclock_law.h`, for as long as the process runs; its functions keep
/// to the header.
#[expect(unsafe_code, reason = "the caller vouches for the address")]
pub unsafe fn load_law_at(name: &str, address: usize) -> Result<(), BadInput> {
    // SAFETY: the caller's.
    let make = unsafe { ackclock_foreign::load_at(name, address) };
    register_law(name, make.map_err(|why| BadInput::new(format_args!("law `{name}`: {why}")))?)
}

/// Registers a law of this process's, so that `variant = "NAME"` means it for as long as the process runs.
///
/// # Errors
/// The name is a word of the house's, or none that a file could have.
pub fn register_law(
    name: &str,
    make: impl Fn() -> Box<dyn law::Growth> + Send + Sync + 'static,
) -> Result<(), BadInput> {
    ackclock_tcp::variant::register_law(name, make)
        .map_err(|why| BadInput::new(format_args!("law `{name}`: {why}")))
}

/// The stories that [`check_law`] tells.
#[derive(Clone, Copy, Debug)]
pub struct CheckPlan<'a> {
    /// The number of stories with each recovery.
    pub stories: u64,
    /// The seed that they are drawn from.
    pub seed: u64,
    /// One story alone.
    pub only: Option<u64>,
    /// A file that says at any time which story is told, and with `only` which event: eight bytes, and a word. A law in a
    /// library may end the process, and nobody else knows then where it was.
    pub trail: Option<&'a Path>,
}

/// Tells a law stories, and holds what it does against the rules of growth laws; answers in JSON: `kept` with the numbers
/// of stories and events, or `broken` with the rule, the steps and the events.
///
/// # Errors
/// The word is none of a law, the trail cannot be written, or somebody cancels.
pub fn check_law(
    law: &str,
    plan: CheckPlan<'_>,
    cancelled: &dyn Fn() -> bool,
) -> Result<String, SweepError> {
    ackclock_input::expect_law(law)?;
    let trail = plan.trail.map(|path| {
        let file = File::create(path);
        file.map(Arc::new)
            .map_err(|why| BadInput::new(format_args!("{}: {}", path.display(), why.kind())))
    });
    let trail = trail.transpose()?;
    let of_events = trail.clone().filter(|_| plan.only.is_some());
    let heard = of_events.map(|file| -> Heard {
        Arc::new(move |event: &str| {
            // A trail that cannot be written leaves the check as it is.
            let _ = file.write_all_at(format!("{event:<24}").as_bytes(), 8);
        })
    });
    let stories = Plan { stories: plan.stories, seed: plan.seed, only: plan.only, heard };
    let found = check(law, &stories, |number| {
        if let Some(file) = &trail {
            let _ = file.write_all_at(&number.to_le_bytes(), 0);
        }
        !cancelled()
    });
    let told = match found {
        Ok(None) => return Err(SweepError::Cancelled),
        Ok(Some(kept)) => json!({"kept": {"stories": kept.stories, "events": kept.events}}),
        Err(broken) => json!({"broken": {
            "rule": broken.rule,
            "what": broken.what,
            "sender": broken.sender,
            "steps": broken.steps,
            "events": broken.events,
        }}),
    };
    Ok(told.to_string())
}

/// A comparison with a recorded trace.
#[derive(Clone, Copy, Debug)]
pub struct LawTracePlan<'a> {
    /// The trace: CSV, plain or compressed by gzip.
    pub file: &'a Path,
    /// The sender's name, as in `variant`.
    pub variant: &'a str,
    /// The profile.
    pub profile: &'a str,
    /// The payload bytes of the trace's segments.
    pub mss: u16,
    /// The peer's clock of timestamps less this end's, in milliseconds.
    pub stamp_offset: u32,
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Init => "init",
        Kind::Ack => "ack",
        Kind::DupAck => "dupack",
        Kind::EnterRecovery => "enter_recovery",
        Kind::ExitRecovery => "exit_recovery",
        Kind::Undo => "undo",
        Kind::Timeout => "timeout",
        Kind::IdleRestart => "idle_restart",
    }
}

fn state(state: CaState) -> &'static str {
    match state {
        CaState::Open => "Open",
        CaState::Disorder => "Disorder",
        CaState::Cwr => "CWR",
        CaState::Recovery => "Recovery",
        CaState::Loss => "Loss",
    }
}

fn difference(found: &Difference) -> serde_json::Value {
    json!({
        // The first line has the names of the columns.
        "line": found.event + 2,
        "at_s": found.at.as_secs_f64(),
        "kind": kind(found.kind),
        "state": state(found.state[0]),
        "state_in_trace": state(found.state[1]),
        "cwnd": found.cwnd[0],
        "cwnd_in_trace": found.cwnd[1],
        "ssthresh": found.ssthresh[0],
        "ssthresh_in_trace": found.ssthresh[1],
    })
}

/// Gives the events of a recorded trace to a sender, and compares their windows; answers in JSON.
///
/// # Errors
/// The file is no trace, or the sender or the profile is not known.
pub fn law_trace(plan: &LawTracePlan<'_>) -> Result<String, BadInput> {
    let profile = ackclock_input::profile(plan.profile)
        .map_err(|why| BadInput::new(format_args!("profile: {why}")))?;
    let bad_variant = |why: &dyn std::fmt::Display| BadInput::new(format_args!("variant: {why}"));
    let variant = ackclock_input::parse_variant(plan.variant).map_err(|why| bad_variant(&why))?;
    let parts = variant.resolve(profile).map_err(|why| bad_variant(&why))?;
    let mss = Mss::new(plan.mss)
        .ok_or_else(|| BadInput::new("mss: `0` is too small, expected at least 1"))?;
    let rows = ackclock_input::read_law_trace(plan.file)?;
    let trace = TracePlan { mss, stamp_offset: plan.stamp_offset };
    let found = compare(&Config::new(parts, profile), trace, rows);
    Ok(json!({
        "events": found.events,
        "compared": found.compared,
        "equal": found.equal,
        "within_one": found.within_one,
        "ssthresh_equal": found.ssthresh_equal,
        "state_equal": found.state_equal,
        "taken_over": found.taken_over,
        "first_difference": found.first_difference.as_ref().map(difference),
    })
    .to_string())
}

/// The words of a law: its trait, its events, and their units.
pub mod law {
    pub use ackclock_laws::event::*;
    pub use ackclock_laws::growth::{Growth, Wants, fail};
    pub use ackclock_units::{Bytes, Duration, Instant, Mss, Rate};
}
