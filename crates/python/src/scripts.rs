//! Packetdrill scripts, and the comparison of two TCPs by them.

use std::path::PathBuf;

use ackclock_lab::{DrillPlan, Drilled, DuelPlan, Elsewhere, On, Ticket};
use pyo3::exceptions::PyValueError;
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

    /// Return all of it as JSON that ``joined`` reads.
    fn part(&self) -> String {
        self.drilled.part()
    }

    /// Return as JSON where another stack's packets differ first, of the same scripts; both have one stack.
    fn beside(&self, other: &Self) -> String {
        self.drilled.beside(&other.drilled)
    }

    /// Return what several calls left, of the scripts in their order, as the outcomes of one.
    #[staticmethod]
    fn joined(parts: Vec<String>) -> PyResult<Self> {
        let drilled = Drilled::joined(parts);
        drilled
            .map(|drilled| Self { drilled })
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// The way of running scripts: the arguments that several functions share.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct How {
    profile: String,
    settings: Vec<(String, String)>,
    compare_push: bool,
    strict_end: bool,
    on: String,
}

impl How {
    fn plan(self) -> PyResult<DrillPlan> {
        let on = On::several(&self.on).map_err(|error| sweep_error(&error.into()))?;
        let Self { profile, settings: overrides, compare_push, strict_end, .. } = self;
        Ok(DrillPlan { profile, overrides, compare_push, strict_end, on, ..DrillPlan::default() })
    }
}

/// Run packetdrill scripts, each a name and a text, against our own end point (``on="sim"``), this machine's kernel
/// (``"live"``), the kernel of the guest that this is (``"linux"``), or the first and one of the others.
///
/// ``how`` has ``profile``, ``settings``, ``compare_push``, ``strict_end`` and ``on``. The first ``elsewhere`` scripts
/// are run by another call.
/// Raises ``BadInput``, and ``OSError`` where scripts cannot be given to the kernel.
/// Results are in the order of the scripts, whatever the number of threads; an interrupt raises ``KeyboardInterrupt``.
#[pyfunction]
#[pyo3(signature = (scripts, how, threads = None, pcap = None, elsewhere = 0))]
pub fn drill(
    py: Python<'_>,
    scripts: Vec<(String, String)>,
    how: How,
    threads: Option<usize>,
    pcap: Option<PathBuf>,
    elsewhere: usize,
) -> PyResult<Drill> {
    let pcap = opened(py, pcap)?;
    let work = Work::into(pcap.as_ref());
    let plan = DrillPlan { texts: scripts, threads, pcap, elsewhere, ..how.plan()? };
    let job = move |ticket: &Ticket| ackclock_lab::drill(&plan, || ticket.is_cancelled());
    in_background(py, work, job).map(|drilled| Drill { drilled })
}

/// Return the scripts at ``paths`` by name and text, once ``how`` is known to be right: of a folder every ``*.pkt``.
///
/// Raises ``BadInput``. The order is that of the paths and of the names in a folder.
#[pyfunction]
pub fn scripts(py: Python<'_>, paths: Vec<PathBuf>, how: How) -> PyResult<Vec<(String, String)>> {
    let plan = DrillPlan { paths, ..how.plan()? };
    let job = move |ticket: &Ticket| ackclock_lab::scripts_of(&plan, &|| ticket.is_cancelled());
    in_background(py, Work::default(), job)
}

/// Return the outcome where no stack could be asked: each of ``scripts`` fails, and ``message`` says why.
#[pyfunction]
pub fn undrilled(scripts: Vec<(String, String)>, how: How, message: &str) -> PyResult<Drill> {
    Ok(Drill { drilled: Drilled::failed(how.plan()?.on, scripts, message) })
}

/// Give cases to our end point and to this machine's kernel; JSON of where they differ.
///
/// ``kernels`` are functions with a name each that take cases as JSON and return their answers as ``answers`` does: one
/// stands for this machine's kernel, of two the first for our end point, too. Raises ``OSError``.
#[pyfunction]
#[pyo3(signature = (grid, random, seed, windows = false, at_once = None, kernels = Vec::new()))]
pub fn judge(
    py: Python<'_>,
    grid: bool,
    random: u64,
    seed: u64,
    windows: bool,
    at_once: Option<usize>,
    kernels: Vec<(String, Py<PyAny>)>,
) -> PyResult<String> {
    let elsewhere = kernels.into_iter().map(|(name, function)| {
        let ask = move |cases: String| {
            Python::attach(|py| {
                let answer = function.call1(py, (cases,));
                answer.and_then(|answer| answer.extract(py)).map_err(|error| {
                    let value = error.value(py);
                    value.str().map_or_else(|_| value.to_string(), |text| text.to_string())
                })
            })
        };
        Elsewhere { name, ask: Box::new(ask) }
    });
    let elsewhere = elsewhere.collect();
    let plan = DuelPlan { grid, random, seed, windows, at_once, elsewhere };
    let job = move |ticket: &Ticket| ackclock_lab::duel(&plan, &|| ticket.is_cancelled());
    in_background(py, Work::default(), job).map(|dueled| dueled.to_json())
}

/// Return the answers of the kernel below to cases, as JSON of JSON, so many at once. Raises ``OSError``.
#[pyfunction]
#[pyo3(signature = (cases, at_once = None))]
pub fn answers(py: Python<'_>, cases: String, at_once: Option<usize>) -> PyResult<String> {
    let job =
        move |ticket: &Ticket| ackclock_lab::answers(&cases, at_once, &|| ticket.is_cancelled());
    in_background(py, Work::default(), job)
}
