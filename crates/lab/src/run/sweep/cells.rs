//! Cells of a sweep: many small runs, of which each ends by itself, whatever becomes of the others.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use ackclock_input::{BadInput, from_json, to_json};
use ackclock_sim::{Budget, Meter, Run};
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::{SweepError, pool, simulate_watched};
use crate::run::load::{Ready, cache};

/// The interval at which cells with a limit of time are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The most that a cell may take.
#[derive(Clone, Copy, Debug)]
pub struct CellLimits {
    /// Memory and events, as they are estimated before the run.
    pub budget: Budget,
    /// The time of the run on a real clock.
    pub time: Option<Duration>,
}

/// The end of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// The run came to its end.
    Done(Box<Run>),
    /// The scenario is none that can be run.
    Refused(String),
    /// The run would have taken, or took, more than a limit allows.
    Limit(String),
    /// The simulator or a law failed.
    Failed(String),
}

/// Returns each scenario (JSON text) as the core writes it, with every default, or the reason why it is none.
///
/// # Errors
/// A number of threads that cannot be had.
pub fn canonical(
    texts: &[String],
    threads: Option<usize>,
) -> Result<Vec<Result<String, BadInput>>, SweepError> {
    let read = |text: &String| from_json(text).map(|scenario| to_json(&scenario));
    Ok(pool(threads)?.install(|| texts.par_iter().map(read).collect()))
}

/// Runs every scenario (JSON text); the fates are in their order, whatever the number of threads.
///
/// `progress` is called from any thread with the number of cells that have ended. Once `cancelled` answers true, those under
/// way end soon and no other begins.
///
/// # Errors
/// A number of threads that cannot be had; a cancellation.
pub fn simulate_cells(
    texts: &[String],
    threads: Option<usize>,
    limits: CellLimits,
    progress: impl Fn(usize) + Sync,
    cancelled: impl Fn() -> bool + Sync,
) -> Result<Vec<Fate>, SweepError> {
    let pool = pool(threads)?;
    let ended = AtomicUsize::new(0);
    let watch = Watch::new(limits.time);
    let run = |text: &String| {
        let fate = watch.with(|meter, late| of_cell(text, limits, meter, late, &cancelled));
        progress(1 + ended.fetch_add(1, Ordering::Relaxed));
        fate
    };
    let (done, finished) = channel::<()>();
    let fates: Vec<Fate> = thread::scope(|scope| {
        let (watch, cancelled) = (&watch, &cancelled);
        scope.spawn(move || {
            while finished.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                watch.look(cancelled());
            }
        });
        let fates = pool.install(|| texts.par_iter().with_max_len(1).map(run).collect());
        drop(done);
        fates
    });
    if cancelled() { Err(SweepError::Cancelled) } else { Ok(fates) }
}

fn of_cell(
    text: &str,
    limits: CellLimits,
    meter: &Meter,
    late: &AtomicBool,
    cancelled: &(impl Fn() -> bool + Sync),
) -> Fate {
    if cancelled() {
        return Fate::Failed("cancelled".to_owned());
    }
    let result = (|| {
        let scenario = from_json(text)?;
        let asked = scenario.estimate().and_then(|estimate| estimate.check(limits.budget));
        if let Err(error) = asked {
            let message = error.message.split("; expected less").next().unwrap_or_default();
            return Ok(Err(format!("{}: {message}", error.key)));
        }
        let ready = Ready::new(&scenario, cache().as_deref(), meter, cancelled)?;
        simulate_watched(&ready, meter).map(Ok)
    })();
    match result {
        Ok(Ok(run)) => Fate::Done(Box::new(run)),
        Ok(Err(beyond)) => Fate::Limit(beyond),
        Err(SweepError::Cancelled) if late.load(Ordering::Relaxed) => {
            let most = limits.time.map_or(0.0, |time| time.as_secs_f64());
            Fate::Limit(format!("the run took longer than {most} s"))
        }
        Err(SweepError::Input(error)) => Fate::Refused(error.to_string()),
        Err(error) => Fate::Failed(error.to_string()),
    }
}

/// The cells under way: which have run for so many looks, and those that are to end.
#[derive(Debug)]
struct Watch {
    most_looks: Option<u64>,
    under_way: Mutex<Vec<Watched>>,
}

/// A cell under way: its meter, and the looks that it has left.
#[derive(Debug)]
struct Watched {
    meter: Arc<Meter>,
    late: Arc<AtomicBool>,
    looks: u64,
}

impl Watch {
    fn new(time: Option<Duration>) -> Self {
        let looks = |time: Duration| {
            u64::try_from(time.as_nanos().div_ceil(LOOK_EVERY.as_nanos())).unwrap_or(u64::MAX)
        };
        Self { most_looks: time.map(looks), under_way: Mutex::new(Vec::new()) }
    }

    /// Does `call` with a meter that is stopped in time, and a flag that says that it was.
    fn with<T>(&self, call: impl FnOnce(&Meter, &AtomicBool) -> T) -> T {
        let meter = Arc::new(Meter::default());
        let late = Arc::new(AtomicBool::new(false));
        let watched = Watched { meter: meter.clone(), late: late.clone(), looks: 0 };
        self.lock().push(watched);
        let result = call(&meter, &late);
        self.lock().retain(|other| !Arc::ptr_eq(&other.meter, &meter));
        result
    }

    /// Counts a look at each cell, and stops those that have had theirs; all if they are cancelled.
    fn look(&self, cancelled: bool) {
        for cell in self.lock().iter_mut() {
            cell.looks += 1;
            if self.most_looks.is_some_and(|most| cell.looks > most) {
                cell.late.store(true, Ordering::Relaxed);
                cell.meter.stop();
            }
            if cancelled {
                cell.meter.stop();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Watched>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
