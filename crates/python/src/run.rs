//! The tables of a run as Python sees them.

use std::path::PathBuf;

use ackclock_lab::{Report, Scenario, Tables, to_json};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

use crate::errors::store_error;
use crate::table::Table;

/// The tables of one run, or of many runs under a column ``cell``.
#[pyclass(frozen, module = "ackclock._core")]
pub(crate) struct Run {
    pub(crate) tables: Tables,
    pub(crate) scenarios: Vec<Scenario>,
    pub(crate) captures: Vec<PathBuf>,
    /// The report of a live run or of theory.
    pub(crate) report: Option<Report>,
    /// True if random numbers were drawn, where that is known.
    pub(crate) random: Option<bool>,
    /// Tables of which rows are in their files alone.
    pub(crate) streamed: Vec<&'static str>,
}

impl Run {
    /// The tables of these scenarios, and nothing besides.
    pub(crate) const fn of(tables: Tables, scenarios: Vec<Scenario>) -> Self {
        Self {
            tables,
            scenarios,
            captures: Vec::new(),
            report: None,
            random: None,
            streamed: Vec::new(),
        }
    }
}

#[pymethods]
impl Run {
    /// Return the table of a name. Raises ``KeyError``.
    fn table(&self, name: &str) -> PyResult<Table> {
        let table = self.tables.named(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        Ok(Table::of(table))
    }

    /// Events that the clock handled.
    #[getter]
    const fn events(&self) -> u64 {
        self.tables.events
    }

    /// The packet captures that were written, in the order of the links.
    #[getter]
    fn captures(&self) -> Vec<PathBuf> {
        self.captures.clone()
    }

    /// The report of a live run, as JSON text: how it was made and how well its path kept time;
    /// None of a simulation.
    #[getter]
    fn live_report(&self) -> Option<&str> {
        match &self.report {
            Some(Report::Live(text) | Report::Linux(text)) => Some(text),
            _ => None,
        }
    }

    /// Which closed forms answered and whether they are to be believed, as JSON text; None of other runs.
    #[getter]
    fn theory_report(&self) -> Option<&str> {
        match &self.report {
            Some(Report::Theory(text)) => Some(text),
            _ => None,
        }
    }

    /// True if random numbers were drawn; None of live runs and of theory.
    #[getter]
    const fn random(&self) -> Option<bool> {
        self.random
    }

    /// Return the scenarios that were run, each as JSON text: with the seed, and the rate that a search found.
    fn scenarios(&self) -> Vec<String> {
        self.scenarios.iter().map(to_json).collect()
    }

    /// Return the names of tables of which rows were written on the way and are in their files alone.
    fn streamed(&self) -> Vec<&'static str> {
        self.streamed.clone()
    }

    /// Write every table as ``DIRECTORY/<table>.parquet``, each whole or not at all.
    #[expect(clippy::needless_pass_by_value, reason = "what PyO3 extracts")]
    fn write(&self, py: Python<'_>, directory: PathBuf) -> PyResult<()> {
        let write = || {
            let place = ackclock_lab::Place::open(&directory)?;
            ackclock_lab::expect_tables(&place)?;
            match (&self.report, self.scenarios.as_slice()) {
                (Some(report), [scenario]) => {
                    ackclock_lab::write_reported(&place, &self.tables, scenario, report)
                }
                _ => ackclock_lab::write(&place, &self.tables, &self.scenarios),
            }
        };
        py.detach(write).map_err(|error| store_error(&error))
    }
}
