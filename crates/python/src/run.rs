//! The tables of a run as Python sees them.

use std::path::PathBuf;

use ackclock_lab::{Report, Scenario, Tables, to_json};
use pyo3::prelude::*;

use crate::store_error;
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
    /// One row a (measure, flow).
    #[getter]
    fn flows(&self) -> Table {
        Table::of(&self.tables.flows)
    }

    /// One row a (measure, link, direction).
    #[getter]
    fn links(&self) -> Table {
        Table::of(&self.tables.links)
    }

    /// One row a (measure, cross-traffic source).
    #[getter]
    fn sources(&self) -> Table {
        Table::of(&self.tables.sources)
    }

    /// One row a (measure, flow, link, direction).
    #[getter]
    fn crossings(&self) -> Table {
        Table::of(&self.tables.crossings)
    }

    /// One row an object that an application gave as a whole.
    #[getter]
    fn objects(&self) -> Table {
        Table::of(&self.tables.objects)
    }

    /// One row a connection of a traffic class.
    #[getter]
    fn connections(&self) -> Table {
        Table::of(&self.tables.connections)
    }

    /// One row a page that a user looked at.
    #[getter]
    fn pages(&self) -> Table {
        Table::of(&self.tables.pages)
    }

    /// One row a flow that is a video.
    #[getter]
    fn videos(&self) -> Table {
        Table::of(&self.tables.videos)
    }

    /// One row a step of a Quick-Start request, at a router or at the end that asked.
    #[getter]
    fn quick_start(&self) -> Table {
        Table::of(&self.tables.quick_start)
    }

    /// One row an event of a flow's sender.
    #[getter]
    fn flow_events(&self) -> Table {
        Table::of(&self.tables.flow_events)
    }

    /// One row a sample of a flow.
    #[getter]
    fn flow_samples(&self) -> Table {
        Table::of(&self.tables.flow_samples)
    }

    /// One row a value of a variable of a flow's law.
    #[getter]
    fn law_samples(&self) -> Table {
        Table::of(&self.tables.law_samples)
    }

    /// One row a sample of a link.
    #[getter]
    fn link_samples(&self) -> Table {
        Table::of(&self.tables.link_samples)
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
            Some(Report::Live(text)) => Some(text),
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
