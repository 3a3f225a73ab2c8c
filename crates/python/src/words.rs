//! The words of a scenario: the schema, the names of senders, quantities with a unit.

use pyo3::prelude::*;

use crate::errors::guarded;

/// The JSON schema of a scenario, as JSON text.
#[pyfunction]
pub fn schema() -> String {
    ackclock_lab::schema()
}

/// Return the seconds of a duration such as ``30 ms``, which stands under ``key``. Raises ``BadInput``.
#[pyfunction]
pub fn seconds(key: &str, text: &str) -> PyResult<f64> {
    guarded(|| ackclock_lab::seconds(key, text))
}

/// Return the bits per second of a rate such as ``10 Mbit/s``, which stands under ``key``. Raises ``BadInput``.
#[pyfunction]
pub fn bits_per_second(key: &str, text: &str) -> PyResult<f64> {
    guarded(|| ackclock_lab::bits_per_second(key, text))
}

/// Return the share of a text in percent such as ``1 %``, which stands under ``key``. Raises ``BadInput``.
#[pyfunction]
pub fn share(key: &str, text: &str) -> PyResult<f64> {
    guarded(|| ackclock_lab::share(key, text))
}

/// Return the canonical name of a sender. Raises ``BadInput``.
#[pyfunction]
#[pyo3(signature = (variant, profile = "rfc"))]
pub fn variant_name(variant: &str, profile: &str) -> PyResult<String> {
    guarded(|| ackclock_lab::variant_name(variant, profile))
}

/// Return the names of the variables that a sender's law publishes. Raises ``BadInput``.
#[pyfunction]
#[pyo3(signature = (variant, profile = "rfc"))]
pub fn law_variables(variant: &str, profile: &str) -> PyResult<Vec<&'static str>> {
    guarded(|| ackclock_lab::law_variables(variant, profile))
}

/// Return the senders of a scenario (JSON text) with their parts, as JSON: a row an entry. Raises ``BadInput``.
#[pyfunction]
pub fn senders(py: Python<'_>, scenario: &str) -> PyResult<String> {
    py.detach(|| guarded(|| ackclock_lab::senders(&ackclock_lab::from_json(scenario)?)))
}

/// Refuse so many runs of each scenario (JSON texts) whose results no memory holds. Raises ``BadInput``.
#[pyfunction]
pub fn check_runs(py: Python<'_>, scenarios: Vec<String>, each: u64) -> PyResult<()> {
    let check = || {
        let read = scenarios.into_iter().map(|text| ackclock_lab::from_json(&text));
        ackclock_lab::check_runs(&read.collect::<Result<Vec<_>, _>>()?, each)
    };
    py.detach(|| guarded(check))
}

/// Return the file-name form of a variant's name.
#[pyfunction]
pub fn variant_slug(variant: &str) -> String {
    ackclock_lab::variant_slug(variant)
}

/// Return the registry of variant parts as JSON: [{word, argument, slot, help}].
#[pyfunction]
pub fn registry() -> String {
    ackclock_lab::registry()
}

/// Return the tables of a run as JSON: [{name, row, columns: [{name, unit, null, meaning}]}].
#[pyfunction]
pub fn tables() -> String {
    ackclock_lab::tables()
}

/// Load the law of a shared library under a name, for as long as this process runs. Raises ``BadInput``.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what PyO3 extracts")]
pub fn load_law(name: &str, path: std::path::PathBuf) -> PyResult<()> {
    guarded(|| ackclock_lab::load_law(name, &path))
}

/// Have the exit code of a law that ends this process by ``exit`` be written to a descriptor, as a byte.
#[pyfunction]
pub fn tell_exits(descriptor: i32) {
    ackclock_lab::tell_exits(descriptor);
}

/// Register the law whose table of callbacks is at an address of this process. Raises ``BadInput``.
#[pyfunction]
#[expect(unsafe_code, reason = "the caller vouches for the address, as with ctypes")]
pub fn load_law_at(name: &str, address: usize) -> PyResult<()> {
    // SAFETY: the documented function says what has to be there.
    guarded(|| unsafe { ackclock_lab::load_law_at(name, address) })
}
