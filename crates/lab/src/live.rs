//! Runs on real packets.

use std::path::PathBuf;

use ackclock_sim::{Run, Scenario};

use crate::SweepError;

/// How a live run is made.
#[derive(Clone, Debug, Default)]
pub struct LivePlan {
    /// `tun` or `veth`; the best that there is if not given.
    pub ports: Option<String>,
    /// Whose the senders are, `kernel` or `ackclock`; as the scenario says if not given.
    pub sender: Option<String>,
    /// Whose the receivers are, likewise.
    pub receiver: Option<String>,
    /// A folder for captures of what passes the hosts' devices.
    pub pcap: Option<PathBuf>,
    /// Whether the path's thread polls, and has a processor to itself.
    pub busy: bool,
}

/// What a live run left.
#[derive(Debug)]
pub struct Lived {
    /// The rows.
    pub run: Run,
    /// How it was made and how well the path kept time, as JSON text.
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
    use ackclock_live::{End, LiveError, Options, PortKind};

    use crate::BadInput;

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
    let options = Options { port, ends, pcap: plan.pcap.clone(), busy: plan.busy };
    let lived = ackclock_live::run(scenario, &options, cancelled).map_err(|error| match error {
        LiveError::Scenario(error) => {
            BadInput::new(format_args!("{}: {}", error.key, error.message)).into()
        }
        LiveError::Cancelled => SweepError::Cancelled,
        error @ (LiveError::NoNamespace(_) | LiveError::NoDevice { .. } | LiveError::Step(..)) => {
            SweepError::Machine(error.to_string())
        }
    })?;
    Ok(Lived { run: lived.run, report: lived.report.to_json(), captures: lived.captures })
}

/// Refuses: live runs need Linux.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn live(_: &Scenario, _: &LivePlan, _: impl Fn() -> bool) -> Result<Lived, SweepError> {
    Err(SweepError::Machine("live runs need Linux".to_owned()))
}
