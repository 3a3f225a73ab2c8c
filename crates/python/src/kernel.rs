//! Laws of ours in the kernel.

use ackclock_lab::{KernelRequest, Ticket};
use pyo3::prelude::*;

use crate::background::{TIDY_UP_WITHIN, Work, in_background};
use crate::errors::guarded;

/// Do what is asked of laws in the kernel, ``list``, ``load``, ``unload``, ``status``, ``needs``, ``test`` or ``sources``, of
/// those that are named; return JSON text. A test sends for so many seconds. Raises ``BadInput`` where something is lacking, and then
/// nothing was changed.
#[pyfunction]
#[pyo3(signature = (request, names = Vec::new(), seconds = 3.0))]
pub fn kernel(py: Python<'_>, request: &str, names: Vec<String>, seconds: f64) -> PyResult<String> {
    let request = guarded(|| KernelRequest::read(request, names, seconds))?;
    let job = move |ticket: &Ticket| ackclock_lab::kernel(&request, || ticket.is_cancelled());
    // A law that is being tried is to be gone when the caller goes on.
    in_background(py, Work { tidy: TIDY_UP_WITHIN, ..Work::default() }, job)
}
