//! Answers to the page for browsers, by the native core.

use std::path::PathBuf;

use ackclock_lab::{Folder, Ticket};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::background::{Progress, Work, in_background};
use crate::errors::guarded;
use crate::run::Run;

/// Return the answer to a request of the page for browsers, JSON text: a header, and buffers behind it. Releases the GIL.
///
/// Files that a scenario names are looked for in ``folder`` and nowhere else. ``progress`` is called with the simulated time,
/// in seconds, as it grows; what it raises ends the run.
#[pyfunction]
#[pyo3(signature = (request, folder, progress = None))]
pub fn answer<'py>(
    py: Python<'py>,
    request: String,
    folder: PathBuf,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let job = move |ticket: &Ticket| {
        let folder = Folder { path: &folder, closed: true };
        Ok(ackclock_lab::answer_metered(&request, folder, ticket.meter()))
    };
    let work = Work { told: Progress::Seconds(progress.cloned()), ..Work::default() };
    Ok(PyBytes::new(py, &in_background(py, work, job)?))
}

/// Return a run in the form of an answer; of one under way, which has no scenario, the tables that have rows. Raises
/// ``BadInput``.
#[pyfunction]
pub fn answer_of<'py>(py: Python<'py>, run: &Run) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = py.detach(|| match run.scenarios.first() {
        Some(scenario) => guarded(|| ackclock_lab::answer_of(scenario, &run.tables)),
        None => Ok(ackclock_lab::answer_with_rows(&run.tables)),
    })?;
    Ok(PyBytes::new(py, &bytes))
}
