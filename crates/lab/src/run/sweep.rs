//! Runs over the machine's cores.

mod cells;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use ackclock_laws::growth::LawFailed;
use ackclock_results::check_conservation;
use ackclock_sim::checks::budget::bytes_in_words;
use ackclock_sim::{Budget, Engine, Estimate, Meter, Run, Scenario, ScenarioError};
use ackclock_writer::WriteError;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::BadInput;
use crate::run::load::Ready;

pub use cells::{CellLimits, Fate, canonical, simulate_cells};

/// The most threads that may be asked for.
pub const MAX_THREADS: usize = 1024;

/// Why there are no results.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SweepError {
    /// A scenario that cannot be run, or a number of threads that cannot be had.
    #[error(transparent)]
    Input(#[from] BadInput),
    /// The simulator is at fault.
    #[error("internal error: {0}; please report it with the scenario that led to it")]
    Internal(String),
    /// A result that could not be kept.
    #[error(transparent)]
    Store(#[from] WriteError),
    /// A visitor's law that failed.
    #[error("{what}")]
    Law {
        /// The law, the event, its time, and the fault.
        what: String,
        /// The number that the law gave.
        number: u64,
    },
    /// A need of live runs that this machine or this user lacks.
    #[error("{0}")]
    Machine(String),
    /// It was asked to stop.
    #[error("interrupted")]
    Cancelled,
}

impl From<ScenarioError> for SweepError {
    fn from(error: ScenarioError) -> Self {
        BadInput::new(error).into()
    }
}

/// Runs one scenario, checks that it kept account of every packet, and turns a panic into an error.
///
/// # Errors
/// A scenario that cannot be run, or a fault of the simulator's.
pub fn simulate_one(ready: &Ready) -> Result<Run, SweepError> {
    simulate_watched(ready, &Meter::default())
}

/// Simulates while `meter` says how far the run is and may stop it.
///
/// # Errors
/// The same, and a cancellation.
pub fn simulate_watched(ready: &Ready, meter: &Meter) -> Result<Run, SweepError> {
    simulate_plain(ready.engine(), ready.scenario(), meter)
}

/// Simulates a scenario that need not be ready, as the search for its rate runs it.
pub(crate) fn simulate_plain(
    engine: Engine,
    scenario: &Scenario,
    meter: &Meter,
) -> Result<Run, SweepError> {
    let run = guarded(|| engine.simulate(scenario, meter))?.ok_or(SweepError::Cancelled)?;
    check_conservation(&run).map_err(SweepError::Internal)?;
    Ok(run)
}

/// The result of `call` to the simulator, with a panic as an error like others.
pub(crate) fn guarded<T>(call: impl FnOnce() -> Result<T, ScenarioError>) -> Result<T, SweepError> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| thrown(&*panic))?.map_err(SweepError::from)
}

/// Runs every scenario, on as many threads as the machine has cores or as are asked for.
///
/// The results are in the order of the scenarios, whatever the number of threads. `progress` is
/// called from any of them with the number of finished runs. Once `cancelled` answers true no run
/// begins; those under way are finished and thrown away.
///
/// # Errors
/// The first scenario that cannot be run, before any is; a fault of the simulator's; a cancellation.
pub fn simulate_many(
    scenarios: &[Ready],
    threads: Option<usize>,
    progress: impl Fn(usize) + Sync,
    cancelled: impl Fn() -> bool + Sync,
) -> Result<Vec<Run>, SweepError> {
    let mut estimates = Vec::with_capacity(scenarios.len());
    for (cell, scenario) in scenarios.iter().enumerate() {
        estimates.push(scenario.scenario().estimate().map_err(|error| {
            BadInput::new(format_args!("cell {cell}: {}: {}", error.key, error.message))
        })?);
    }
    let pool = pool(threads)?;
    let most = runs_at_once(&estimates, Budget::allowed())?;
    let pool = if most < pool.current_num_threads() { self::pool(Some(most))? } else { pool };
    let finished = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let results: Vec<Result<Run, SweepError>> = pool.install(|| {
        scenarios
            .par_iter()
            .with_max_len(1)
            .map(|scenario| {
                if failed.load(Ordering::Relaxed) || cancelled() {
                    return Err(SweepError::Cancelled);
                }
                let result = simulate_one(scenario);
                match &result {
                    Ok(_) => progress(1 + finished.fetch_add(1, Ordering::Relaxed)),
                    Err(_) => failed.store(true, Ordering::Relaxed),
                }
                result
            })
            .collect()
    });
    // A fault stops the runs after it, which then look cancelled: the fault is the reason.
    let fault = results
        .iter()
        .enumerate()
        .find_map(|(cell, result)| Some((cell, result.as_ref().err()?)))
        .filter(|(_, error)| **error != SweepError::Cancelled);
    match fault {
        Some((cell, SweepError::Internal(message))) => {
            Err(SweepError::Internal(format!("cell {cell}: {message}")))
        }
        Some((cell, SweepError::Law { what, number })) => {
            Err(SweepError::Law { what: format!("cell {cell}: {what}"), number: *number })
        }
        Some((_, error)) => Err(error.clone()),
        None => results.into_iter().collect(),
    }
}

/// A run that is kept, without rows that its scenario asks for: its tables, and its scenario twice, in memory and as text.
const KEPT_RUN_BYTES: f64 = 20e3;

/// Refuses `each` runs of every scenario whose results together are larger than the memory that is allowed, before a list
/// of them is made.
///
/// # Errors
/// The number of runs, and the memory that they would take.
pub fn check_runs(scenarios: &[Scenario], each: u64) -> Result<(), BadInput> {
    let mut of_one_each = 0.0;
    for scenario in scenarios {
        let estimate = scenario
            .estimate()
            .map_err(|error| BadInput::new(format_args!("{}: {}", error.key, error.message)))?;
        of_one_each += estimate.kept_bytes() + KEPT_RUN_BYTES;
    }
    let (needed, allowed) = (of_one_each * each as f64, Budget::allowed().memory_bytes);
    if needed <= allowed {
        return Ok(());
    }
    let runs = scenarios.len() as u128 * u128::from(each);
    Err(too_large(runs, needed, allowed))
}

fn too_large(runs: u128, needed: f64, allowed: f64) -> BadInput {
    BadInput::new(format_args!(
        "the {runs} runs together would take about {} of memory, more than {}; expected fewer runs or rows, or \
         `ackclock --memory SIZE` before the command",
        bytes_in_words(needed),
        bytes_in_words(allowed),
    ))
}

/// The number of runs that fit into the memory at once, beside the rows of all.
fn runs_at_once(estimates: &[Estimate], budget: Budget) -> Result<usize, BadInput> {
    let rows: f64 = estimates.iter().map(Estimate::kept_bytes).sum();
    let of_run = |estimate: &Estimate| estimate.memory_bytes() - estimate.kept_bytes();
    let largest = estimates.iter().map(of_run).fold(0.0, f64::max);
    if rows + largest <= budget.memory_bytes {
        let fit =
            (1..MAX_THREADS).take_while(|n| rows + (n + 1) as f64 * largest <= budget.memory_bytes);
        return Ok(1 + fit.count());
    }
    let runs = estimates.len() as u128;
    Err(too_large(runs, rows + largest, budget.memory_bytes))
}

/// As many threads as are asked for, or as there are cores.
pub(crate) fn pool(threads: Option<usize>) -> Result<ThreadPool, SweepError> {
    if threads.is_some_and(|threads| !(1..=MAX_THREADS).contains(&threads)) {
        let expected = format_args!("threads: expected a whole number from 1 to {MAX_THREADS}");
        return Err(BadInput::new(expected).into());
    }
    ThreadPoolBuilder::new()
        // Zero: as many as there are cores.
        .num_threads(threads.unwrap_or(0))
        .build()
        .map_err(|error| SweepError::Internal(error.to_string()))
}

/// The error of a run that unwound with this payload: a visitor's law has failed, or the simulator is at fault.
pub fn thrown(payload: &(dyn Any + Send)) -> SweepError {
    match payload.downcast_ref::<LawFailed>() {
        Some(failed) => SweepError::Law {
            what: ackclock_input::printable(&failed.what, 600),
            number: failed.number,
        },
        None => SweepError::Internal(panic_message(payload)),
    }
}

/// The message of a panic, without its place: a path of the machine that built this says nothing.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    ackclock_input::printable(text, 300)
}

#[cfg(test)]
mod tests;
