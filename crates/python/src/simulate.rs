//! Scenarios: read, checked, and run in memory or into a folder.

use std::path::PathBuf;

use ackclock_lab::{
    Captures, Engine, Ready, Report, Scenario, SweepError, Tables, Ticket, to_json,
};
use pyo3::prelude::*;

use crate::background::{Progress, Work, in_background};
use crate::errors::{BadInput, shown, store_error};
use crate::law;
use crate::place::opened;
use crate::run::Run;

/// Read a TOML (or .json) scenario file and return it as JSON text. Raises ``BadInput``.
#[pyfunction]
pub fn load_scenario(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    in_background(py, Work::default(), move |_: &Ticket| Ok(to_json(&ackclock_lab::load(&path)?)))
}

/// Return a table (JSON text) with the list of the file of numbers that it names. Raises ``BadInput``.
#[pyfunction]
pub fn read_columns(py: Python<'_>, table: String) -> PyResult<String> {
    in_background(py, Work::default(), move |_: &Ticket| Ok(ackclock_lab::read_columns(&table)?))
}

/// Validate a scenario given as JSON text and return it with defaults. Raises ``BadInput``.
#[pyfunction]
pub fn check_scenario(py: Python<'_>, scenario: String) -> PyResult<String> {
    let job = move |_: &Ticket| Ok(to_json(&ackclock_lab::from_json(&scenario)?));
    in_background(py, Work::default(), job)
}

/// Run one scenario (JSON text), with another seed if given. Releases the GIL. Raises ``BadInput``.
///
/// With a folder ``pcap``, what the links ``pcap_links`` sent is written there, one file a link; without names, a dumbbell's
/// bottleneck or every link of a graph. Raises ``OSError`` if it cannot be. ``progress`` is called with the simulated time,
/// in seconds, as it grows. ``engine`` is ``fast`` or ``reference``; both leave the same results.
#[pyfunction]
#[pyo3(signature = (scenario, seed = None, pcap = None, pcap_links = Vec::new(), progress = None, engine = None))]
pub fn simulate(
    py: Python<'_>,
    scenario: String,
    seed: Option<&Bound<'_, PyAny>>,
    pcap: Option<PathBuf>,
    pcap_links: Vec<String>,
    progress: Option<&Bound<'_, PyAny>>,
    engine: Option<&str>,
) -> PyResult<Run> {
    let seed = seed.map(read_seed).transpose()?;
    let engine = read_engine(engine)?;
    let place = opened(py, pcap)?;
    let work = Work::into(place.as_ref());
    let captures = place.map(|place| Captures { place, links: pcap_links });
    let job = move |ticket: &Ticket| {
        let before = ackclock_lab::draws();
        let ready = ready(&scenario, seed, ticket)?.by(engine);
        let (run, captures) = match captures {
            Some(captures) => {
                ackclock_lab::simulate_captured(&ready, &captures, ticket.meter(), || {
                    ticket.is_cancelled()
                })?
            }
            None => (ackclock_lab::simulate_watched(&ready, ticket.meter())?, Vec::new()),
        };
        let scenarios = vec![ready.into_scenario()];
        let random = Some(ackclock_lab::draws() != before);
        let tables = Tables::of_run(&run);
        Ok(Run { captures, random, ..Run::of(tables, scenarios) })
    };
    in_background(py, Work { told: Progress::Seconds(progress.cloned()), ..work }, job)
}

/// Answer for a scenario (JSON text) by the closed form that it matches. Raises ``BadInput`` where none does.
#[pyfunction]
pub fn theory(py: Python<'_>, scenario: String) -> PyResult<Run> {
    let job = move |_: &Ticket| {
        let scenario = ackclock_lab::from_json(&scenario).map_err(SweepError::from)?;
        let found = ackclock_lab::closed_form(&scenario).map_err(SweepError::from)?;
        let report = Some(Report::Theory(found.report()));
        let tables = found.tables();
        Ok(Run { report, ..Run::of(tables, vec![scenario]) })
    };
    in_background(py, Work::default(), job)
}

/// Run one scenario (JSON text), with another seed if given, and write its tables into a folder, the
/// large ones while it lasts: the tables that come back lack the rows that were written on the way.
/// Releases the GIL. Raises ``BadInput``, and ``OSError`` if a file cannot be written.
/// ``progress`` is called with the simulated time, in seconds, as it grows.
#[pyfunction]
#[pyo3(signature = (scenario, seed, out, progress = None, engine = None))]
#[expect(clippy::needless_pass_by_value, reason = "what PyO3 extracts")]
pub fn simulate_to(
    py: Python<'_>,
    scenario: String,
    seed: Option<&Bound<'_, PyAny>>,
    out: PathBuf,
    progress: Option<&Bound<'_, PyAny>>,
    engine: Option<&str>,
) -> PyResult<Run> {
    let seed = seed.map(read_seed).transpose()?;
    let engine = read_engine(engine)?;
    let place = py.detach(|| {
        let place = ackclock_lab::Place::open(&out)?;
        ackclock_lab::expect_tables(&place).map(|()| place)
    });
    let place = place.map_err(|error| store_error(&error))?;
    let work = Work::into(Some(&place));
    let job = move |ticket: &Ticket| {
        let before = ackclock_lab::draws();
        let ready = ready(&scenario, seed, ticket)?.by(engine);
        let (tables, streamed) = ackclock_lab::simulate_to(&ready, &place, ticket.meter())?;
        let random = Some(ackclock_lab::draws() != before);
        Ok(Run { random, streamed, ..Run::of(tables, vec![ready.into_scenario()]) })
    };
    in_background(py, Work { told: Progress::Seconds(progress.cloned()), ..work }, job)
}

/// Run scenarios (JSON texts) over all cores; tables get a first column ``cell``, the index.
///
/// Rows are in the order of the input whatever the number of threads. ``progress`` is called
/// with the number of finished runs; an interrupt raises ``KeyboardInterrupt``.
#[pyfunction]
#[pyo3(signature = (scenarios, threads = None, progress = None))]
pub fn simulate_many(
    py: Python<'_>,
    scenarios: Vec<String>,
    threads: Option<usize>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Run> {
    // Threads would take turns at the interpreter, and wait longer than they work.
    let in_python = scenarios.iter().any(|scenario| law::is_in(scenario));
    let threads = if in_python { threads.or(Some(1)) } else { threads };
    let job = move |ticket: &Ticket| {
        let in_cell = |cell: usize, error: SweepError| match error {
            SweepError::Input(error) => SweepError::Input(error.in_cell(cell)),
            other => other,
        };
        let made = |(cell, text): (usize, &String)| {
            ready(text, None, ticket).map_err(|error| in_cell(cell, error))
        };
        let ready: Vec<Ready> = scenarios.iter().enumerate().map(made).collect::<Result<_, _>>()?;
        let runs = ackclock_lab::simulate_many(
            &ready,
            threads,
            |finished| ticket.report(finished),
            || ticket.is_cancelled(),
        )?;
        let scenarios = ready.into_iter().map(Ready::into_scenario).collect();
        Ok(Run::of(Tables::of_cells(&runs), scenarios))
    };
    in_background(py, Work { told: Progress::Runs(progress), ..Work::default() }, job)
}

/// An engine that a caller gave.
pub fn read_engine(word: Option<&str>) -> PyResult<Engine> {
    word.map_or(Ok(Engine::default()), |word| {
        Engine::of(word).ok_or_else(|| {
            BadInput::new_err(format!("engine: found `{word}`, expected `fast` or `reference`"))
        })
    })
}

/// A seed that a caller gave.
pub fn read_seed(seed: &Bound<'_, PyAny>) -> PyResult<u64> {
    seed.extract().map_err(|_| {
        let expected = format!("expected a whole number from 0 to {}", u64::MAX);
        BadInput::new_err(format!("seed: found {}, {expected}", shown(seed)))
    })
}

/// A scenario, with another seed if given.
pub fn seeded(scenario: &str, seed: Option<u64>) -> Result<Scenario, SweepError> {
    let mut scenario = ackclock_lab::from_json(scenario)?;
    scenario.seed = seed.unwrap_or(scenario.seed);
    Ok(scenario)
}

/// The scenario with its seed, ready to be run.
pub fn ready(scenario: &str, seed: Option<u64>, ticket: &Ticket) -> Result<Ready, SweepError> {
    let cache = ackclock_lab::cache();
    Ready::new(&seeded(scenario, seed)?, cache.as_deref(), ticket.meter(), || ticket.is_cancelled())
}
