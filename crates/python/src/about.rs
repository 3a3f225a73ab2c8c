//! The build, and what it lets a run take.

use pyo3::prelude::*;

use crate::errors::guarded;

/// The version of the package.
#[pyfunction]
pub const fn version() -> &'static str {
    ackclock_lab::version()
}

/// The version of the engine's rules: a hash of the sources that decide numbers, the same in every build of them.
#[pyfunction]
pub const fn rules() -> &'static str {
    ackclock_lab::rules()
}

/// The kind of build, as the Makefile names it: a Cargo profile, or ``wheel``; ``unknown`` of other builds.
#[pyfunction]
pub const fn build() -> &'static str {
    match option_env!("ACKCLOCK_BUILD") {
        Some(kind) => kind,
        None => "unknown",
    }
}

/// Let every run of this process take so much memory (text such as ``"16 GB"``) and so many events; what is left out
/// stays. Returns both, the memory in bytes. Raises ``BadInput``.
#[pyfunction]
#[pyo3(signature = (memory = None, events = None))]
pub fn allow(memory: Option<&str>, events: Option<f64>) -> PyResult<(f64, f64)> {
    guarded(|| ackclock_lab::allow(memory, events))
        .map(|budget| (budget.memory_bytes, budget.events))
}
