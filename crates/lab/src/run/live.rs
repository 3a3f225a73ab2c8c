//! Runs on real packets.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ackclock_live::Feed;
use ackclock_sim::{Run, Scenario};
use ackclock_writer::Place;

use crate::{BadInput, SweepError, printable};

/// The settings of a live run.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct LivePlan {
    /// `tun` or `veth`; the best that there is if not given.
    pub ports: Option<String>,
    /// The kind of the senders, `kernel` or `ackclock`; as the scenario says if not given.
    pub sender: Option<String>,
    /// The kind of the receivers, likewise.
    pub receiver: Option<String>,
    /// The Quick-Start routers with an admission: `ackclock`, or the kernel's as `xdp` or `tc`; ours if not given.
    pub routers: Option<String>,
    /// True if the kernel's own laws leave a record of each ACK.
    pub records: bool,
    /// A folder for captures of what passes the hosts' devices.
    pub pcap: Option<Place>,
    /// True if the path's thread polls, and has a processor to itself.
    pub busy: bool,
    /// A folder for what programs print and write; one that is gone with the run if not given.
    pub programs: Option<PathBuf>,
    /// The words that start the command `ackclock`, for programs that are that.
    pub ackclock: Vec<String>,
    /// Permission to run the programs that the scenario names.
    pub allow_programs: bool,
    /// Programs have this process's rights, and not those of an ordinary user.
    pub as_root: bool,
    /// The place for rows while the run lasts.
    pub feed: Option<Arc<Feed>>,
}

/// The result of a live run.
#[derive(Debug)]
pub struct Lived {
    /// The rows.
    pub run: Run,
    /// The report, as JSON text: how the run was made, and how well the path kept time.
    pub report: String,
    /// The captures that were written.
    pub captures: Vec<PathBuf>,
}

/// Runs `scenario` on real packets, until its end or until `cancelled` answers true.
///
/// # Errors
/// A scenario that cannot be run live, what this user or this machine lacks, or a cancellation.
#[cfg(target_os = "linux")]
pub fn live(
    scenario: &Scenario,
    plan: &LivePlan,
    cancelled: impl Fn() -> bool,
) -> Result<Lived, SweepError> {
    use ackclock_live::{End, Options, PortKind};

    use crate::run::kernel::{HeldLaws, quick_start, routers};

    let port = match plan.ports.as_deref() {
        None => None,
        Some("tun") => Some(PortKind::Tun),
        Some("veth") => Some(PortKind::Pair),
        Some(other) => {
            let message = format!("ports: unknown word `{other}`, expected `tun` or `veth`");
            return Err(BadInput::new(message).into());
        }
    };
    let end = |key: &str, word: Option<&str>| match word {
        None => Ok(None),
        Some("kernel") => Ok(Some(End::Kernel)),
        Some("ackclock") => Ok(Some(End::Own)),
        Some(other) => {
            let message = format!("{key}: unknown word `{other}`, expected `kernel` or `ackclock`");
            Err(BadInput::new(message))
        }
    };
    let ends = [end("sender", plan.sender.as_deref())?, end("receiver", plan.receiver.as_deref())?];
    let owners = ackclock_live::ends(scenario, ends);
    let held = HeldLaws::of(scenario, &owners, plan.records)?;
    let options = Options {
        port,
        ends,
        pcap: plan.pcap.clone(),
        busy: plan.busy,
        programs: plan.programs.clone(),
        ackclock: plan.ackclock.clone(),
        allow_programs: plan.allow_programs,
        as_root: plan.as_root,
        laws: held.laws(),
        law_records: held.records(),
        quick_start: quick_start(scenario, &owners)?,
        routers: routers(plan.routers.as_deref())?,
        feed: plan.feed.clone(),
    };
    let mut lived = ackclock_live::run(scenario, &options, cancelled).map_err(live_error)?;
    lived.report.kernel_laws = held.finish();
    Ok(Lived { run: lived.run, report: lived.report.to_json(), captures: lived.captures })
}

#[cfg(target_os = "linux")]
pub(crate) fn live_error(error: ackclock_live::LiveError) -> SweepError {
    use ackclock_live::LiveError;

    match error {
        LiveError::Scenario(error) => {
            BadInput::new(format_args!("{}: {}", error.key, error.message)).into()
        }
        LiveError::Store(error) => error.into(),
        LiveError::Cancelled => SweepError::Cancelled,
        error @ (LiveError::NoNamespace(_) | LiveError::NoDevice { .. } | LiveError::Step(..)) => {
            SweepError::Machine(error.to_string())
        }
    }
}

/// The commands that a live run of `scenario` would run, and the files that it would write for it, a line each, that
/// have to be allowed: a scenario is data.
pub fn programs_asked(scenario: &Scenario) -> Vec<String> {
    let asked = ackclock_sim::scenario::programs_asked(scenario);
    asked.iter().map(|(key, what)| printable(&format!("{key}: {what}"), 1000)).collect()
}

/// Those of these files and folders that programs could not read: they are an ordinary user's.
///
/// # Errors
/// There is no ordinary user here.
#[cfg(target_os = "linux")]
pub fn closed_to_programs(paths: &[PathBuf]) -> Result<Vec<PathBuf>, SweepError> {
    ackclock_live::closed_to_programs(paths).map_err(|error| SweepError::Machine(error.to_string()))
}

/// None: without live runs there are no programs.
///
/// # Errors
/// Never.
#[cfg(not(target_os = "linux"))]
pub fn closed_to_programs(_: &[PathBuf]) -> Result<Vec<PathBuf>, SweepError> {
    Ok(Vec::new())
}

/// Refuses: live runs need Linux.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn live(_: &Scenario, _: &LivePlan, _: impl Fn() -> bool) -> Result<Lived, SweepError> {
    Err(SweepError::Machine("live runs need Linux".to_owned()))
}

/// Plays the file at `url` with the player of `video`, a table as that of a scenario's application as
/// JSON text, for `limit_s` seconds at most or until `cancelled`; returns what became of it as JSON text.
///
/// # Errors
/// The address or the table; a server that does not answer as it should; a cancellation.
pub fn play(
    url: &str,
    video: &str,
    limit_s: Option<f64>,
    cancelled: impl Fn() -> bool,
) -> Result<String, SweepError> {
    use ackclock_live::{PlayError, PlayPlan};
    use ackclock_sim::scenario::VideoConfig;
    use ackclock_units::random::Stream;

    let limit = limit_s
        .map(|seconds| Duration::try_from_secs_f64(seconds).map_err(|_| seconds))
        .transpose()
        .map_err(|seconds| BadInput::new(format_args!("{seconds} s: expected a time to play")))?;
    let video: VideoConfig =
        serde_json::from_str(video).map_err(|error| BadInput::new(format_args!("{error}")))?;
    let player = video
        .player(&mut Stream::new(0, "play"))
        .map_err(|(key, why)| BadInput::new(format_args!("{key}: {why}")))?;
    let plan = PlayPlan { url: url.to_owned(), limit };
    let played = ackclock_live::play(&plan, player, cancelled).map_err(|error| match error {
        PlayError::Url(why) => BadInput::new(why).into(),
        PlayError::Cancelled => SweepError::Cancelled,
        error @ (PlayError::Answer { .. } | PlayError::Failed { .. }) => {
            SweepError::Machine(error.to_string())
        }
    })?;
    serde_json::to_string(&played).map_err(|error| SweepError::Internal(error.to_string()))
}
