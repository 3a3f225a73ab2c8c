//! Runs on real packets.

use std::path::PathBuf;
use std::sync::Arc;

use ackclock_lab::{Feed, LivePlan, Report, Tables, Ticket};
use pyo3::prelude::*;

use crate::background::{Progress, TIDY_UP_WITHIN, Work, in_background};
use crate::errors::{guarded, sweep_error};
use crate::place::opened;
use crate::run::Run;
use crate::simulate::{read_seed, seeded};

/// Run one scenario (JSON text) on real packets between kernel end points, with another seed if given.
/// Releases the GIL. Raises ``BadInput``, and ``OSError`` if this machine or this user lacks something.
///
/// The keys are those of ``ackclock.run_live``, in words. Programs that are ends of flows print and write into the folder
/// ``programs``; without it, into one that is gone with the run. ``ackclock`` are the words that start this command.
/// ``linux`` says which kernel in virtual time this machine is, as JSON text, which goes into the report.
#[pyfunction]
#[pyo3(signature = (
    scenario, seed = None, ports = None, pcap = None, sender = None, receiver = None, busy = false,
    programs = None, ackclock = Vec::new(), allow_programs = false, as_root = false, routers = None,
    records = false, rows = None, linux = None,
))]
#[expect(clippy::too_many_arguments, clippy::fn_params_excessive_bools, reason = "keys")]
pub fn live(
    py: Python<'_>,
    scenario: String,
    seed: Option<&Bound<'_, PyAny>>,
    ports: Option<String>,
    pcap: Option<PathBuf>,
    sender: Option<String>,
    receiver: Option<String>,
    busy: bool,
    programs: Option<PathBuf>,
    ackclock: Vec<String>,
    allow_programs: bool,
    as_root: bool,
    routers: Option<String>,
    records: bool,
    rows: Option<&Bound<'_, PyAny>>,
    linux: Option<String>,
) -> PyResult<Run> {
    let seed = seed.map(read_seed).transpose()?;
    let pcap = opened(py, pcap)?;
    let feed = rows.map(|_| Arc::new(Feed::default()));
    let told = match (rows, &feed) {
        (Some(rows), Some(feed)) => {
            let (rows, feed) = (rows.clone(), Arc::clone(feed));
            Progress::Rows(Box::new(move || {
                let tables = py.detach(|| Tables::of_run(&feed.take()));
                rows.call1((Run::of(tables, Vec::new()),)).map(drop)
            }))
        }
        _ => Progress::Nothing,
    };
    // Namespaces are to be gone when the caller goes on.
    let work = Work { tidy: TIDY_UP_WITHIN, told, ..Work::into(pcap.as_ref()) };
    let plan = LivePlan {
        ports,
        sender,
        receiver,
        routers,
        records,
        pcap,
        busy,
        programs,
        ackclock,
        allow_programs,
        as_root,
        feed,
    };
    let job = move |ticket: &Ticket| {
        let scenario = seeded(&scenario, seed)?;
        let lived = ackclock_lab::live(&scenario, &plan, || ticket.is_cancelled())?;
        let report = Some(match linux {
            None => Report::Live(lived.report),
            Some(kernel) => Report::Linux(beside(&kernel, &lived.report)),
        });
        let run = Run::of(Tables::of_run(&lived.run), vec![scenario]);
        Ok(Run { captures: lived.captures, report, ..run })
    };
    in_background(py, work, job)
}

/// Return the report of a live run, a JSON object that begins with its substrate, with the kernel in virtual time on
/// which it was made.
fn beside(kernel: &str, report: &str) -> String {
    let linux = format!("\"substrate\":\"linux\",\"linux\":{kernel}");
    report.replacen("\"substrate\":\"live\"", &linux, 1)
}

/// Return what a live run of a scenario (JSON text) would run and write for it that has to be allowed, a line each.
/// Raises ``BadInput``.
#[pyfunction]
pub fn programs_asked(py: Python<'_>, scenario: &str) -> PyResult<Vec<String>> {
    let asked = || ackclock_lab::from_json(scenario).map(|it| ackclock_lab::programs_asked(&it));
    py.detach(|| guarded(asked))
}

/// Return those of these files and folders that the programs of a live run could not read, as they are an ordinary
/// user's. Raises ``OSError``.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what PyO3 extracts")]
pub fn closed_to_programs(paths: Vec<PathBuf>) -> PyResult<Vec<PathBuf>> {
    ackclock_lab::closed_to_programs(&paths).map_err(|error| sweep_error(&error))
}

/// Play the file at a URL with the player of ``video``, the table of a scenario's application as JSON text, for
/// ``limit_s`` seconds at most; return what became of it as JSON text. Releases the GIL. Raises ``BadInput``, and
/// ``OSError`` if the server does not answer as it should.
#[pyfunction]
#[pyo3(signature = (url, video, limit_s = None))]
pub fn play(py: Python<'_>, url: String, video: String, limit_s: Option<f64>) -> PyResult<String> {
    let job =
        move |ticket: &Ticket| ackclock_lab::play(&url, &video, limit_s, || ticket.is_cancelled());
    in_background(py, Work::default(), job)
}
