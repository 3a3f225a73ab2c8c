//! Scenario to run to records.
//!
//! [`simulate`] is a pure function of (scenario, seed): the same bytes on any machine, on one
//! thread or many, in debug and release.

pub mod records;
pub mod scenario;

pub use records::Run;
pub use scenario::Scenario;

/// Why a scenario that reads well still cannot be run: which key, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The key, as a path: `flow[0].count`.
    pub key: String,
    /// What was expected, in one line.
    pub message: String,
}

/// Runs `scenario` from its beginning to its end.
///
/// # Errors
/// The first key whose value cannot be run.
pub fn simulate(scenario: &Scenario) -> Result<Run, ScenarioError> {
    todo!()
}
