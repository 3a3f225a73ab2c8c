//! Closed forms: JSON in, JSON out.

use ackclock_lab::Ticket;
use ackclock_lab::closed_forms::calculator;
use pyo3::prelude::*;

use crate::background::{Work, in_background};
use crate::errors::guarded;

/// Altman et al.'s fluid model: JSON in, JSON out. Raises ``BadInput``.
#[pyfunction]
pub fn altman_predict(py: Python<'_>, parameters: &str) -> PyResult<String> {
    py.detach(|| guarded(|| calculator::altman_predict(parameters)))
}

/// Infer one parameter of the path from measured throughput and rtt: JSON in, JSON out.
#[pyfunction]
pub fn altman_infer(py: Python<'_>, parameters: &str) -> PyResult<String> {
    py.detach(|| guarded(|| calculator::altman_infer(parameters)))
}

/// Mathis, PFTK and CUBIC response functions: JSON in, JSON out. Raises ``BadInput``.
#[pyfunction]
pub fn response(py: Python<'_>, parameters: &str) -> PyResult<String> {
    py.detach(|| guarded(|| calculator::response(parameters)))
}

/// Return when packets that come to one link at given moments leave: JSON in, JSON out. Raises ``BadInput``.
#[pyfunction]
pub fn departures(py: Python<'_>, question: &str) -> PyResult<String> {
    py.detach(|| guarded(|| ackclock_lab::departures(question)))
}

/// Draws of PackMime-HTTP beside its reference: JSON in, JSON out. Raises ``BadInput``.
#[pyfunction]
pub fn packmime(py: Python<'_>, parameters: String) -> PyResult<String> {
    let job = move |ticket: &Ticket| ackclock_lab::packmime(&parameters, || ticket.is_cancelled());
    in_background(py, Work::default(), job)
}
