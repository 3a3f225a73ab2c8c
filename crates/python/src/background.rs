//! Jobs on threads that know nothing of Python, while the caller waits without the GIL.

use std::time::Duration;

use ackclock_lab::{Background, Place, SweepError, Ticket};
use pyo3::prelude::*;

use crate::errors::sweep_error;
use crate::law;

/// The interval at which a caller wakes to report progress and to look for an interrupt.
pub const WAKE_EVERY: Duration = Duration::from_millis(20);

/// The time that an interrupt gives a job to remove the files that it has begun.
pub const TIDY_UP_WITHIN: Duration = Duration::from_secs(2);

/// The kind of progress that the caller is told, and the function that is called.
#[derive(Default)]
pub enum Progress<'py> {
    #[default]
    Nothing,
    /// The number of finished runs.
    Runs(Option<Bound<'py, PyAny>>),
    /// The simulated time of the run under way.
    Seconds(Option<Bound<'py, PyAny>>),
    /// The rows of a live run that were recorded since the last time; the function tells them.
    Rows(Box<dyn Fn() -> PyResult<()> + 'py>),
}

/// The interval at which rows are told: ten times a second, so that what is drawn of them moves.
pub const ROWS_EVERY: u32 = 5;

/// The circumstances of a job.
#[derive(Default)]
pub struct Work<'py> {
    pub told: Progress<'py>,
    /// The time that an interrupt gives the job to put something away.
    pub tidy: Duration,
    /// The place where it writes: an interrupt leaves nothing there that is not finished.
    pub place: Option<Place>,
}

impl Work<'_> {
    pub fn into(place: Option<&Place>) -> Self {
        Self { place: place.cloned(), ..Self::default() }
    }
}

/// Does `job` on another thread, without the GIL, and tells its progress from this one.
///
/// An interrupt, or an exception of the function that is told, is raised at once: the job ends by itself after the
/// runs under way, holds nothing of Python's, and writes nothing any more. It is raised up to `tidy` later if the job has
/// something to put away first.
pub fn in_background<T: Send + 'static>(
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
            Progress::Rows(tell) if woken.is_multiple_of(ROWS_EVERY) => tell(),
            Progress::Runs(Some(progress)) if job.finished() > finished => {
                finished = job.finished();
                progress.call1((finished,)).map(drop)
            }
            // It falls where one run of several ends and the next begins, as in the search for a rate.
            Progress::Seconds(Some(progress)) if job.reached_s().to_bits() != reached.to_bits() => {
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
        place.iter().for_each(Place::abandon);
    });
    Err(stopped)
}
