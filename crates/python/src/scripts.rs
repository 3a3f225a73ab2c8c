//! Packetdrill scripts, and the comparison of two TCPs by them.

use std::path::PathBuf;

use ackclock_lab::{DrillPlan, Drilled, DuelPlan, On, Ticket};
use pyo3::prelude::*;

use crate::background::{Work, in_background};
use crate::errors::sweep_error;
use crate::place::opened;

/// The outcomes of packetdrill scripts.
#[pyclass(frozen, module = "ackclock._core")]
pub struct Drill {
    drilled: Drilled,
}

#[pymethods]
impl Drill {
    /// Return the outcomes in the Test Anything Protocol, with notes and packets as comments or without.
    #[pyo3(signature = (notes = false, packets = false))]
    fn tap(&self, notes: bool, packets: bool) -> String {
        self.drilled.tap(ackclock_lab::Comments { notes, packets })
    }

    /// The packet captures that were written, in the order of the outcomes.
    #[getter]
    fn captures(&self) -> Vec<PathBuf> {
        self.drilled.captures.clone()
    }

    /// Return the outcomes as JSON: {passed, failed, notes, scripts}.
    fn to_json(&self) -> String {
        self.drilled.to_json()
    }
}

/// Run packetdrill scripts against our own end point (``on="sim"``), this machine's kernel (``"live"``), or both.
///
/// Raises ``BadInput``, and ``OSError`` where scripts cannot be given to the kernel.
/// A folder among ``paths`` has every ``*.pkt`` of it run. Results are in the order of the paths and
/// of the names in a folder, whatever the number of threads; an interrupt raises ``KeyboardInterrupt``.
#[pyfunction]
#[pyo3(signature = (
    paths, profile = "rfc", settings = Vec::new(), compare_push = false, strict_end = false,
    threads = None, on = "sim", pcap = None,
))]
#[expect(clippy::too_many_arguments, reason = "one a keyword of Python's")]
pub fn drill(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    profile: &str,
    settings: Vec<(String, String)>,
    compare_push: bool,
    strict_end: bool,
    threads: Option<usize>,
    on: &str,
    pcap: Option<PathBuf>,
) -> PyResult<Drill> {
    let profile = profile.to_owned();
    let on = On::several(on).map_err(|error| sweep_error(&error.into()))?;
    let overrides = settings;
    let pcap = opened(py, pcap)?;
    let work = Work::into(pcap.as_ref());
    let plan = DrillPlan { paths, profile, overrides, compare_push, strict_end, threads, on, pcap };
    let job = move |ticket: &Ticket| ackclock_lab::drill(&plan, || ticket.is_cancelled());
    in_background(py, work, job).map(|drilled| Drill { drilled })
}

/// Give cases to our end point and to this machine's kernel; JSON of where they differ. Raises ``OSError``.
#[pyfunction]
#[pyo3(signature = (grid, random, seed, windows = false, out = None, at_once = None))]
pub fn judge(
    py: Python<'_>,
    grid: bool,
    random: u64,
    seed: u64,
    windows: bool,
    out: Option<PathBuf>,
    at_once: Option<usize>,
) -> PyResult<String> {
    let out = opened(py, out)?;
    let work = Work::into(out.as_ref());
    let plan = DuelPlan { grid, random, seed, windows, out, at_once };
    let job = move |ticket: &Ticket| ackclock_lab::duel(&plan, &|| ticket.is_cancelled());
    in_background(py, work, job).map(|dueled| dueled.to_json())
}
