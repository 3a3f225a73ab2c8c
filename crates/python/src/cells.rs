//! Cells of a sweep.

use std::time::Duration;

use ackclock_lab::{Background, Budget, CellLimits, Fate, Tables, Ticket};
use pyo3::prelude::*;

use crate::background::{TIDY_UP_WITHIN, WAKE_EVERY};
use crate::errors::{BadInput, sweep_error};
use crate::law;
use crate::run::Run;

/// The fates of cells: those that came to their end as the tables of a ``Run``, whose ``cell`` counts them, and a pair of a
/// word and a reason for each.
type Cells = (Run, Vec<(&'static str, String)>);

/// Return each scenario (JSON text) as the core writes it, with every default: a pair of it and nothing, or of nothing and
/// the reason why it is none.
#[pyfunction]
#[pyo3(signature = (scenarios, threads = None))]
pub fn canonical(
    py: Python<'_>,
    scenarios: Vec<String>,
    threads: Option<usize>,
) -> PyResult<Vec<(Option<String>, Option<String>)>> {
    let job = move |_: &Ticket| {
        let found = ackclock_lab::canonical(&scenarios, threads)?;
        let pair = |found: Result<String, ackclock_lab::BadInput>| match found {
            Ok(text) => (Some(text), None),
            Err(error) => (None, Some(error.to_string())),
        };
        Ok(found.into_iter().map(pair).collect())
    };
    waited(py, None, job)
}

/// Run scenarios (JSON texts), each by itself; return a ``Run`` of those that came to their end, and a fate of each: a pair
/// of ``ok``, ``refused``, ``limit`` or ``failed``, and the reason.
///
/// ``alive`` is called some fifty times a second; what it raises ends the runs. Its argument is the number that have ended.
#[pyfunction]
#[pyo3(signature = (scenarios, threads = None, memory_bytes = None, events = None, time_s = None, alive = None))]
pub fn simulate_cells(
    py: Python<'_>,
    scenarios: Vec<String>,
    threads: Option<usize>,
    memory_bytes: Option<f64>,
    events: Option<f64>,
    time_s: Option<f64>,
    alive: Option<&Bound<'_, PyAny>>,
) -> PyResult<Cells> {
    // Threads would take turns at the interpreter, and wait longer than they work.
    let in_python = scenarios.iter().any(|scenario| law::is_in(scenario));
    let threads = if in_python { Some(1) } else { threads };
    let allowed = Budget::allowed();
    let budget = Budget {
        memory_bytes: memory_bytes.unwrap_or(allowed.memory_bytes),
        events: events.unwrap_or(allowed.events),
    };
    let time = time_s.map(Duration::try_from_secs_f64).transpose();
    let time = time.map_err(|error| BadInput::new_err(format!("time_s: {error}")))?;
    let job = move |ticket: &Ticket| {
        let fates = ackclock_lab::simulate_cells(
            &scenarios,
            threads,
            CellLimits { budget, time },
            |ended| ticket.report(ended),
            || ticket.is_cancelled(),
        )?;
        let mut runs = Vec::new();
        let mut words = Vec::with_capacity(fates.len());
        for fate in fates {
            words.push(match fate {
                Fate::Done(run) => {
                    runs.push(*run);
                    ("ok", String::new())
                }
                Fate::Refused(why) => ("refused", why),
                Fate::Limit(why) => ("limit", why),
                Fate::Failed(why) => ("failed", why),
            });
        }
        Ok((Run::of(Tables::of_cells(&runs), Vec::new()), words))
    };
    waited(py, alive, job)
}

/// Does `job` on another thread and asks `alive` meanwhile if it is to go on.
fn waited<T: Send + 'static>(
    py: Python<'_>,
    alive: Option<&Bound<'_, PyAny>>,
    job: impl FnOnce(&Ticket) -> Result<T, ackclock_lab::SweepError> + Send + 'static,
) -> PyResult<T> {
    let mut job = Background::start(job).map_err(|error| sweep_error(&error))?;
    let stopped = loop {
        if let Some(result) = py.detach(|| job.wait(WAKE_EVERY)) {
            return result.map_err(|error| sweep_error(&error));
        }
        if let Some(alive) = alive
            && let Err(error) = alive.call1((job.finished(),))
        {
            break error;
        }
        if let Err(interrupt) = py.check_signals() {
            break interrupt;
        }
    };
    job.cancel();
    py.detach(|| job.wait(TIDY_UP_WITHIN));
    Err(stopped)
}
