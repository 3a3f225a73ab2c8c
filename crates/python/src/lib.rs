//! The compiled core of the Python package: `ackclock._core`.
//!
//! Conversion only. Text comes in and Arrow goes out; the work is done by `lab` on threads that know
//! nothing of Python, while the caller waits without the GIL and listens for interrupts.

mod answers;
mod cells;
mod kernel;
mod law;
mod place;
mod run;
mod table;
mod words;
mod worlds;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ackclock_lab::closed_forms::calculator;
use ackclock_lab::{
    Background, BenchResult, Captures, DrillPlan, Drilled, DuelPlan, Engine, Feed, LivePlan, On,
    Ready, Report, Scenario, SweepError, Tables, Ticket, WriteError, to_json,
};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use place::Place;
use run::Run;

/// The interval at which a caller wakes to report progress and to look for an interrupt.
const WAKE_EVERY: Duration = Duration::from_millis(20);

/// The time that an interrupt gives a job to remove the files that it has begun.
const TIDY_UP_WITHIN: Duration = Duration::from_secs(2);

pyo3::create_exception!(
    ackclock._core,
    BadInput,
    PyValueError,
    "Input that cannot be used; its text is one line: where, what was expected, the nearest valid word."
);

/// The outcomes of packetdrill scripts.
#[pyclass(frozen, module = "ackclock._core")]
struct Drill {
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

/// The version of the package.
#[pyfunction]
const fn version() -> &'static str {
    ackclock_lab::version()
}

/// The version of the engine's rules: a hash of the sources that decide numbers, the same in every build of them.
#[pyfunction]
const fn rules() -> &'static str {
    ackclock_lab::rules()
}

/// The kind of build, as the Makefile names it: a Cargo profile, or ``wheel``; ``unknown`` of other builds.
#[pyfunction]
const fn build() -> &'static str {
    match option_env!("ACKCLOCK_BUILD") {
        Some(kind) => kind,
        None => "unknown",
    }
}

/// Read a TOML (or .json) scenario file and return it as JSON text. Raises ``BadInput``.
#[pyfunction]
fn load_scenario(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    in_background(py, Work::default(), move |_: &Ticket| Ok(to_json(&ackclock_lab::load(&path)?)))
}

/// Return a table (JSON text) with the list of the file of numbers that it names. Raises ``BadInput``.
#[pyfunction]
fn read_columns(py: Python<'_>, table: String) -> PyResult<String> {
    in_background(py, Work::default(), move |_: &Ticket| Ok(ackclock_lab::read_columns(&table)?))
}

/// Validate a scenario given as JSON text and return it with defaults. Raises ``BadInput``.
#[pyfunction]
fn check_scenario(py: Python<'_>, scenario: String) -> PyResult<String> {
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
fn simulate(
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
    in_background(py, Work { told: Told::Seconds(progress.cloned()), ..work }, job)
}

/// Answer for a scenario (JSON text) by the closed form that it matches. Raises ``BadInput`` where none does.
#[pyfunction]
fn theory(py: Python<'_>, scenario: String) -> PyResult<Run> {
    let job = move |_: &Ticket| {
        let scenario = ackclock_lab::from_json(&scenario).map_err(SweepError::from)?;
        let found = ackclock_lab::closed_form(&scenario).map_err(SweepError::from)?;
        let report = Some(Report::Theory(found.report()));
        let tables = found.tables();
        Ok(Run { report, ..Run::of(tables, vec![scenario]) })
    };
    in_background(py, Work::default(), job)
}

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
fn live(
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
        (Some(rows), Some(feed)) => Told::Rows(rows.clone(), Arc::clone(feed)),
        _ => Told::Nothing,
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
fn programs_asked(py: Python<'_>, scenario: &str) -> PyResult<Vec<String>> {
    let asked = || ackclock_lab::from_json(scenario).map(|it| ackclock_lab::programs_asked(&it));
    py.detach(|| guarded(asked))
}

/// Return those of these files and folders that the programs of a live run could not read, as they are an ordinary
/// user's. Raises ``OSError``.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what PyO3 extracts")]
fn closed_to_programs(paths: Vec<PathBuf>) -> PyResult<Vec<PathBuf>> {
    ackclock_lab::closed_to_programs(&paths).map_err(|error| sweep_error(&error))
}

/// Play the file at a URL with the player of ``video``, the table of a scenario's application as JSON text, for
/// ``limit_s`` seconds at most; return what became of it as JSON text. Releases the GIL. Raises ``BadInput``, and
/// ``OSError`` if the server does not answer as it should.
#[pyfunction]
#[pyo3(signature = (url, video, limit_s = None))]
fn play(py: Python<'_>, url: String, video: String, limit_s: Option<f64>) -> PyResult<String> {
    let job =
        move |ticket: &Ticket| ackclock_lab::play(&url, &video, limit_s, || ticket.is_cancelled());
    in_background(py, Work::default(), job)
}

/// Run one scenario (JSON text), with another seed if given, and write its tables into a folder, the
/// large ones while it lasts: the tables that come back lack the rows that were written on the way.
/// Releases the GIL. Raises ``BadInput``, and ``OSError`` if a file cannot be written.
/// ``progress`` is called with the simulated time, in seconds, as it grows.
#[pyfunction]
#[pyo3(signature = (scenario, seed, out, progress = None, engine = None))]
#[expect(clippy::needless_pass_by_value, reason = "what PyO3 extracts")]
fn simulate_to(
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
    in_background(py, Work { told: Told::Seconds(progress.cloned()), ..work }, job)
}

/// An engine that a caller gave.
fn read_engine(word: Option<&str>) -> PyResult<Engine> {
    word.map_or(Ok(Engine::default()), |word| {
        Engine::of(word).ok_or_else(|| {
            BadInput::new_err(format!("engine: found `{word}`, expected `fast` or `reference`"))
        })
    })
}

/// A seed that a caller gave.
fn read_seed(seed: &Bound<'_, PyAny>) -> PyResult<u64> {
    seed.extract().map_err(|_| {
        let expected = format!("expected a whole number from 0 to {}", u64::MAX);
        BadInput::new_err(format!("seed: found {}, {expected}", shown(seed)))
    })
}

/// A scenario, with another seed if given.
fn seeded(scenario: &str, seed: Option<u64>) -> Result<Scenario, SweepError> {
    let mut scenario = ackclock_lab::from_json(scenario)?;
    scenario.seed = seed.unwrap_or(scenario.seed);
    Ok(scenario)
}

/// The scenario with its seed, ready to be run.
fn ready(scenario: &str, seed: Option<u64>, ticket: &Ticket) -> Result<Ready, SweepError> {
    let cache = ackclock_lab::cache();
    Ready::new(&seeded(scenario, seed)?, cache.as_deref(), ticket.meter(), || ticket.is_cancelled())
}

/// The folder that a run is to write into, if any.
fn opened(py: Python<'_>, path: Option<PathBuf>) -> PyResult<Option<ackclock_lab::Place>> {
    let place = path.map(|path| py.detach(|| ackclock_lab::Place::open(&path))).transpose();
    place.map_err(|error| store_error(&error))
}

/// Run scenarios (JSON texts) over all cores; tables get a first column ``cell``, the index.
///
/// Rows are in the order of the input whatever the number of threads. ``progress`` is called
/// with the number of finished runs; an interrupt raises ``KeyboardInterrupt``.
#[pyfunction]
#[pyo3(signature = (scenarios, threads = None, progress = None))]
fn simulate_many(
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
    in_background(py, Work { told: Told::Runs(progress), ..Work::default() }, job)
}

/// Run packetdrill scripts against our own end point (``on="sim"``), this machine's kernel (``"live"``), or both.
///
/// Raises ``BadInput``, and ``OSError`` where scripts cannot be given to the kernel.
/// Of the folders among ``paths`` every ``*.pkt`` is run. Results are in the order of the paths and
/// of the names in a folder, whatever the number of threads; an interrupt raises ``KeyboardInterrupt``.
#[pyfunction]
#[pyo3(signature = (
    paths, profile = "rfc", settings = Vec::new(), compare_push = false, strict_end = false,
    threads = None, on = "sim", pcap = None,
))]
#[expect(clippy::too_many_arguments, reason = "one a keyword of Python's")]
fn drill(
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
fn judge(
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

/// Altman et al.'s fluid model: JSON in, JSON out. Raises ``BadInput``.
#[pyfunction]
fn altman_predict(py: Python<'_>, parameters: &str) -> PyResult<String> {
    py.detach(|| guarded(|| calculator::altman_predict(parameters)))
}

/// Infer one parameter of the path from measured throughput and rtt: JSON in, JSON out.
#[pyfunction]
fn altman_infer(py: Python<'_>, parameters: &str) -> PyResult<String> {
    py.detach(|| guarded(|| calculator::altman_infer(parameters)))
}

/// Mathis, PFTK and CUBIC response functions: JSON in, JSON out. Raises ``BadInput``.
#[pyfunction]
fn response(py: Python<'_>, parameters: &str) -> PyResult<String> {
    py.detach(|| guarded(|| calculator::response(parameters)))
}

/// Draws of PackMime-HTTP beside its reference: JSON in, JSON out. Raises ``BadInput``.
#[pyfunction]
fn packmime(py: Python<'_>, parameters: String) -> PyResult<String> {
    let job = move |ticket: &Ticket| ackclock_lab::packmime(&parameters, || ticket.is_cancelled());
    in_background(py, Work::default(), job)
}

/// Run W(flows, rate) behind a ``queue`` once; return ``delivered_packets``, ``events``, ``utilisation``,
/// ``dropped_packets`` and ``connections``.
#[pyfunction]
#[pyo3(signature = (flows, rate_bps, duration_s, variant, queue = "droptail"))]
fn bench_dumbbell<'py>(
    py: Python<'py>,
    flows: u32,
    rate_bps: u64,
    duration_s: f64,
    variant: &str,
    queue: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let (variant, queue) = (variant.to_owned(), queue.to_owned());
    let job = move |_: &Ticket| {
        ackclock_lab::bench_dumbbell(flows, rate_bps, duration_s, &variant, &queue)
    };
    bench_dict(py, &in_background(py, Work::default(), job)?)
}

/// Run the workload of short connections once, ``count`` of them; return what ``bench_dumbbell`` does.
#[pyfunction]
#[pyo3(signature = (count, variant, queue = "droptail"))]
fn bench_short<'py>(
    py: Python<'py>,
    count: u64,
    variant: &str,
    queue: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let (variant, queue) = (variant.to_owned(), queue.to_owned());
    let job = move |_: &Ticket| ackclock_lab::bench_short(count, &variant, &queue);
    bench_dict(py, &in_background(py, Work::default(), job)?)
}

/// A router in memory: ``kind`` is ``ignorant``, ``lowering`` or ``admitting``, ``share`` that of packets
/// with a Quick-Start request.
#[pyclass]
struct RouterBench(ackclock_lab::RouterBench);

#[pymethods]
impl RouterBench {
    #[new]
    fn new(kind: &str, share: f64, slot_ns: u64, spacing_ns: u64, seed: u64) -> PyResult<Self> {
        let known = ackclock_lab::BenchRouter::ALL;
        let (_, kind) = known
            .into_iter()
            .find(|(name, _)| *name == kind)
            .ok_or_else(|| PyValueError::new_err(format!("unknown router `{kind}`")))?;
        Ok(Self(ackclock_lab::RouterBench::new(kind, share, slot_ns, spacing_ns, seed)))
    }

    /// Forward so many packets; return how many went on.
    fn run(&mut self, py: Python<'_>, count: u64) -> u64 {
        py.detach(|| self.0.run(count))
    }
}

fn bench_dict<'py>(py: Python<'py>, result: &BenchResult) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("delivered_packets", result.delivered_packets)?;
    dict.set_item("connections", result.connections)?;
    dict.set_item("events", result.events)?;
    dict.set_item("utilisation", result.utilisation)?;
    dict.set_item("dropped_packets", result.dropped_packets)?;
    Ok(dict)
}

/// The kind of progress that the caller is told, and the function that is called.
#[derive(Default)]
enum Told<'py> {
    #[default]
    Nothing,
    /// The number of finished runs.
    Runs(Option<Bound<'py, PyAny>>),
    /// The simulated time of the run under way.
    Seconds(Option<Bound<'py, PyAny>>),
    /// The rows of a live run that were recorded since the last time.
    Rows(Bound<'py, PyAny>, Arc<Feed>),
}

/// The interval at which rows are told: ten times a second, so that what is drawn of them moves.
const ROWS_EVERY: u32 = 5;

/// The circumstances of a job.
#[derive(Default)]
struct Work<'py> {
    told: Told<'py>,
    /// The time that an interrupt gives the job to put something away.
    tidy: Duration,
    /// The place where it writes: an interrupt leaves nothing there that is not finished.
    place: Option<ackclock_lab::Place>,
}

impl Work<'_> {
    fn into(place: Option<&ackclock_lab::Place>) -> Self {
        Self { place: place.cloned(), ..Self::default() }
    }
}

/// Let every run of this process take so much memory (text such as ``"16 GB"``) and so many events; what is left out
/// stays. Returns both, the memory in bytes. Raises ``BadInput``.
#[pyfunction]
#[pyo3(signature = (memory = None, events = None))]
fn allow(memory: Option<&str>, events: Option<f64>) -> PyResult<(f64, f64)> {
    guarded(|| ackclock_lab::allow(memory, events))
        .map(|budget| (budget.memory_bytes, budget.events))
}

/// Does `job` on another thread, without the GIL, and tells its progress from this one.
///
/// An interrupt, or an exception of the function that is told, is raised at once: the job ends by itself after the
/// runs under way, holds nothing of Python's, and writes nothing any more. It is raised up to `tidy` later if the job has
/// something to put away first.
fn in_background<T: Send + 'static>(
    py: Python<'_>,
    work: Work<'_>,
    job: impl FnOnce(&Ticket) -> Result<T, SweepError> + Send + 'static,
) -> PyResult<T> {
    let Work { told, tidy, place } = work;
    // A job that waits for the interpreter is to be gone before the interpreter is.
    let tidy = if law::is_any() { tidy.max(TIDY_UP_WITHIN) } else { tidy };
    let mut job = Background::start(job).map_err(|error| sweep_error(&error))?;
    let (mut finished, mut reached) = (0, 0.0_f64);
    let mut woken = 0_u32;
    let stopped = loop {
        let result = py.detach(|| job.wait(WAKE_EVERY));
        woken = woken.wrapping_add(1);
        let heard = match &told {
            Told::Rows(rows, feed) if woken.is_multiple_of(ROWS_EVERY) => {
                let tables = py.detach(|| Tables::of_run(&feed.take()));
                rows.call1((Run::of(tables, Vec::new()),)).map(drop)
            }
            Told::Runs(Some(progress)) if job.finished() > finished => {
                finished = job.finished();
                progress.call1((finished,)).map(drop)
            }
            // It falls where one run of several ends and the next begins, as in the search for a rate.
            Told::Seconds(Some(progress)) if job.reached_s().to_bits() != reached.to_bits() => {
                reached = job.reached_s();
                progress.call1((reached,)).map(drop)
            }
            _ => Ok(()),
        };
        if let Err(error) = heard {
            break error;
        }
        if let Some(result) = result {
            return result.map_err(|error| sweep_error(&error));
        }
        if let Err(interrupt) = py.check_signals() {
            break interrupt;
        }
    };
    job.cancel();
    py.detach(|| {
        job.wait(tidy);
        place.iter().for_each(ackclock_lab::Place::abandon);
    });
    Err(stopped)
}

/// The result of `call`, with a panic as a one-line error of its own kind.
fn guarded<T>(call: impl FnOnce() -> Result<T, ackclock_lab::BadInput>) -> PyResult<T> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result.map_err(|error| BadInput::new_err(error.to_string())),
        Err(panic) => Err(sweep_error(&ackclock_lab::thrown(&*panic))),
    }
}

fn store_error(error: &WriteError) -> PyErr {
    PyOSError::new_err(error.to_string())
}

fn sweep_error(error: &SweepError) -> PyErr {
    let text = error.to_string();
    match error {
        SweepError::Input(_) => BadInput::new_err(text),
        SweepError::Store(_) | SweepError::Machine(_) => PyOSError::new_err(text),
        SweepError::Internal(_) => PyRuntimeError::new_err(text),
        SweepError::Law { number, .. } => law::raised(*number, text),
        SweepError::Cancelled => PyKeyboardInterrupt::new_err(()),
    }
}

/// A Python value in a message.
fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "something".to_owned(), |repr| repr.to_string());
    ackclock_lab::printable(&text, 60)
}

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::answers::{answer, answer_of};
    #[pymodule_export]
    use super::cells::{canonical, simulate_cells};
    #[pymodule_export]
    use super::kernel::kernel;
    #[pymodule_export]
    use super::law::{
        Ack, Congestion, Delivery, LostData, Proposal, RecoveryEnd, RttSample, SendStart, Start,
        check_law, law_trace, register_law,
    };
    #[pymodule_export]
    use super::place::{copy_file, try_file, write_file};
    #[pymodule_export]
    use super::table::{Table, read_table, throughput};
    #[pymodule_export]
    use super::words::{
        bits_per_second, check_runs, law_variables, load_law, load_law_at, registry, schema,
        seconds, senders, share, tables, tell_exits, variant_name, variant_slug,
    };
    #[pymodule_export]
    use super::worlds::Worlds;
    #[pymodule_export]
    use super::{
        BadInput, Drill, Place, RouterBench, Run, allow, altman_infer, altman_predict,
        bench_dumbbell, bench_short, build, check_scenario, closed_to_programs, drill, judge, live,
        load_scenario, packmime, play, programs_asked, read_columns, response, rules, simulate,
        simulate_many, simulate_to, theory, version,
    };

    /// Keeps panics from writing the paths of the machine that built this to the user's screen:
    /// what they say arrives as an exception. With `RUST_BACKTRACE` set they write as usual.
    #[pymodule_init]
    #[expect(clippy::unnecessary_wraps, reason = "the signature that PyO3 asks for")]
    fn init(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        if std::env::var_os("RUST_BACKTRACE").is_none() {
            std::panic::set_hook(Box::new(|_| {}));
        }
        Ok(())
    }
}
