//! The kernel's TCP as the stack that a script is run against: one connection of a namespace of ours, whose peer is the
//! script behind a TUN device.
//!
//! A [`Judge`] is a namespace with its device. It may have many connections at once, distinguished by their
//! ports; each is a [`KernelStack`], which waits in real time. A thread reads what the kernel sends and
//! stamps it. Nothing outlives the process (decision 0015).

mod calls;
mod messages;
mod namespace;
mod settings;
mod stack;
mod tcp_info;
mod waiting;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use ackclock_script::duel::{Case, play};
use ackclock_script::{Failure, Report, Script, Settings, TimedPacket, Trace, run_watched};
use ackclock_units::Duration;

use crate::base::error::LiveError;
use crate::sys;

pub use namespace::Judge;
pub use stack::KernelStack;

/// The outcome of a script that was run against the kernel.
#[derive(Debug)]
pub struct Judged {
    /// Why it failed, or what it did.
    pub result: Result<Report, Failure>,
    /// The packets of both directions.
    pub trace: Trace,
    /// True if it was run a second time, because the machine disturbed the first.
    pub again: bool,
}

/// A script that fails after its own events came so late is run once more: half of packetdrill's
/// tolerance, so that the kernel's tick has the rest.
const DISTURBED: Duration = Duration::from_millis(2);
/// The real-time priority of the threads of scripts, below that of the readers.
const SCRIPT_PRIORITY: u8 = 5;

/// In virtual time a script begins at a whole tenth of a second of the clock, whatever ran before it.
const BEGINS_AT_WHOLE: u64 = 100_000_000;

/// Waits for a moment at which a script or a case may begin. Timers of the kernel's expire at ticks: where it begins among
/// them decides by how much they are rounded.
fn begin() {
    if sys::in_virtual_time() {
        let now_ns = sys::monotonic_ns();
        let wait_ns = now_ns.next_multiple_of(BEGINS_AT_WHOLE) - now_ns;
        std::thread::sleep(std::time::Duration::from_nanos(wait_ns));
    }
}

/// Runs a script against this machine's kernel, in a namespace of its own.
///
/// # Errors
/// There is no namespace or device to be had.
pub fn judge(
    script: &Script,
    settings: &Settings,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<Judged, LiveError> {
    let once = || {
        std::thread::scope(|scope| {
            let run = || {
                let judge = Judge::new()?;
                sys::request_realtime(SCRIPT_PRIORITY);
                begin();
                let mut stack = judge.stack().until_cancelled(cancelled);
                let (result, trace) = run_watched(script, &mut stack, settings);
                Ok::<_, LiveError>((result, trace, stack.latest_wake()))
            };
            scope.spawn(run).join()
        })
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    };
    let (result, trace, late) = once()?;
    if result.is_ok() || late < DISTURBED || cancelled() || sys::in_virtual_time() {
        return Ok(Judged { result, trace, again: false });
    }
    let (result, trace, _) = once()?;
    Ok(Judged { result, trace, again: true })
}

/// The kernel's answers to a case, and the largest lateness of the case's own events.
pub type Answered = Result<(Vec<TimedPacket>, Duration), String>;

/// Gives `cases` to the kernel, so many of them at once, each to a connection of its own; in their order.
pub fn answers(
    judge: &Judge,
    cases: &[Case],
    at_once: usize,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Vec<Answered> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Answered)>> = Mutex::default();
    let work = || {
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(n).filter(|_| !cancelled()) else { return };
            begin();
            let mut stack = judge.stack().until_cancelled(cancelled);
            let answered = play(case, &mut stack).map(|all| (all, stack.latest_wake()));
            done.lock().unwrap_or_else(PoisonError::into_inner).push((n, answered));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..at_once.min(cases.len()) {
            scope.spawn(work);
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(n, _)| *n);
    done.into_iter().map(|(_, answered)| answered).collect()
}

#[cfg(test)]
mod tests;
