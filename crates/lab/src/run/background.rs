//! Work on a thread of its own, while the caller does something else.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use ackclock_sim::Meter;

use crate::run::sweep::{SweepError, thrown};

/// The messages between a job and its caller.
#[derive(Debug, Default)]
pub struct Ticket {
    finished: AtomicUsize,
    cancelled: AtomicBool,
    meter: Meter,
}

impl Ticket {
    /// Says how many runs are finished.
    pub fn report(&self, finished: usize) {
        self.finished.fetch_max(finished, Ordering::Relaxed);
    }

    /// The number of finished runs.
    pub fn finished(&self) -> usize {
        self.finished.load(Ordering::Relaxed)
    }

    /// The progress of the run under way, of a job of one run at a time.
    pub const fn meter(&self) -> &Meter {
        &self.meter
    }

    /// True if nobody waits for the result any more.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// A job under way.
///
/// One that is dropped is told so, and ends by itself at the next place where it looks at its
/// [`Ticket`]; nobody waits for that.
#[derive(Debug)]
pub struct Background<T> {
    ticket: Arc<Ticket>,
    result: Receiver<Result<T, SweepError>>,
}

impl<T: Send + 'static> Background<T> {
    /// Starts `job`. A panic in it is an error like others.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn start(
        job: impl FnOnce(&Ticket) -> Result<T, SweepError> + Send + 'static,
    ) -> Result<Self, SweepError> {
        let ticket = Arc::new(Ticket::default());
        let (sender, result) = channel();
        let of_job = Arc::clone(&ticket);
        thread::Builder::new()
            .name("ackclock".into())
            .spawn(move || {
                let result = catch_unwind(AssertUnwindSafe(|| job(&of_job)))
                    .unwrap_or_else(|panic| Err(thrown(&*panic)));
                // It may be that nobody waits any more.
                let _ = sender.send(result);
            })
            .map_err(|error| SweepError::Internal(format!("no thread: {}", error.kind())))?;
        Ok(Self { ticket, result })
    }

    /// The result, if it comes within `at_most`.
    pub fn wait(&mut self, at_most: Duration) -> Option<Result<T, SweepError>> {
        match self.result.recv_timeout(at_most) {
            Ok(result) => Some(result),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                Some(Err(SweepError::Internal("the result was taken twice".into())))
            }
        }
    }

    /// The number of finished runs.
    pub fn finished(&self) -> usize {
        self.ticket.finished()
    }

    /// The simulated time of the run under way, in seconds.
    pub fn reached_s(&self) -> f64 {
        self.ticket.meter.now().as_secs_f64()
    }
}

impl<T> Background<T> {
    /// Says that nobody waits for the result any more.
    pub fn cancel(&self) {
        self.ticket.cancelled.store(true, Ordering::Relaxed);
        self.ticket.meter.stop();
    }
}

impl<T> Drop for Background<T> {
    fn drop(&mut self) {
        self.cancel();
    }
}

#[cfg(test)]
mod tests;
