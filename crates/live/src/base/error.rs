//! The errors of live runs.

use std::io;

use ackclock_sim::ScenarioError;

#[cfg(target_os = "linux")]
use crate::base::options::PortKind;

/// Why there is no live run: one line.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The scenario cannot be run, or not live.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// Network namespaces cannot be made.
    #[error(
        "cannot make a network namespace ({0}); live runs need root (`sudo ackclock ...`), or a \
         user namespace (`unshare -Urn ackclock ...`)"
    )]
    NoNamespace(io::Error),
    /// The hosts' devices cannot be made.
    #[cfg(target_os = "linux")]
    #[error("cannot make a {kind} device ({why}); `ackclock doctor` says what is missing", kind = kind.as_str())]
    NoDevice {
        /// Their kind.
        kind: PortKind,
        /// The kernel's error.
        why: io::Error,
    },
    /// A step failed that should not.
    #[error("cannot {0} ({1})")]
    Step(&'static str, io::Error),
    /// A capture cannot be written.
    #[error(transparent)]
    Store(#[from] ackclock_writer::WriteError),
    /// The run was asked to stop.
    #[error("interrupted")]
    Cancelled,
}

impl LiveError {
    /// The error of a step.
    #[cfg(target_os = "linux")]
    pub(crate) fn step(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Step(what, error)
    }
}
