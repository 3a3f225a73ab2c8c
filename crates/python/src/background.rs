//! Work on a thread of its own, while the caller listens for interrupts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use ackclock_lab::{SweepError, panic_message};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often the caller wakes to report progress and to look for an interrupt.
const WAKE_EVERY: Duration = Duration::from_millis(50);

/// What the two sides tell each other.
#[derive(Default)]
pub struct Ticket {
    finished: AtomicUsize,
    cancelled: AtomicBool,
}

impl Ticket {
    /// Says how many runs are finished.
    pub fn report(&self, finished: usize) {
        self.finished.fetch_max(finished, Ordering::Relaxed);
    }

    /// Whether the result is no longer wanted.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// Does `job` on another thread, without the GIL, and calls `progress` from this one.
///
/// An interrupt, or an exception of `progress`, is raised at once: the job is told to stop, and ends
/// by itself after the runs under way. It holds nothing of Python's.
pub fn in_background<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    job: impl FnOnce(&Ticket) -> Result<T, SweepError> + Send + 'static,
) -> PyResult<Result<T, SweepError>> {
    let ticket = Arc::new(Ticket::default());
    let _cancel = CancelOnDrop(Arc::clone(&ticket));
    let (sender, mut receiver) = channel();
    let worker = Arc::clone(&ticket);
    thread::Builder::new().name("ackclock".into()).spawn(move || {
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| job(&worker)))
            .unwrap_or_else(|panic| Err(SweepError::Internal(panic_message(&*panic))));
        // Nobody listens after an interrupt.
        let _ = sender.send(result);
    })?;
    let mut reported = 0;
    loop {
        let received;
        (receiver, received) = py.detach(move || {
            let received = receiver.recv_timeout(WAKE_EVERY);
            (receiver, received)
        });
        let finished = ticket.finished.load(Ordering::Relaxed);
        if let Some(progress) = progress
            && finished > reported
        {
            reported = finished;
            progress.call1((finished,))?;
        }
        match received {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("internal error: the worker ended early"));
            }
        }
    }
}

/// Tells the worker to stop, however the waiting ended.
struct CancelOnDrop(Arc<Ticket>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }
}
