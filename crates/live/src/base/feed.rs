//! Rows of a run under way, for a reader who takes them while it lasts.

use std::sync::{Mutex, PoisonError, TryLockError};

use ackclock_sim::records::{FlowEventRow, FlowSamples, LinkSamples, Run};
use ackclock_sim::run::plan::Plan;
use ackclock_units::{Duration, Instant};

/// The least time between two times at which a thread gives its new rows.
const EVERY: Duration = Duration::from_millis(50);

/// The rows that were recorded and not yet taken. Those that come of counters at a run's end are not among them, nor what
/// our own ends record, which is known then.
#[derive(Debug, Default)]
pub struct Feed(Mutex<Run>);

impl Feed {
    /// Says the names that rows refer to.
    pub(crate) fn begin(&self, plan: &Plan) {
        let mut run = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        run.flow_names = plan.flows.iter().map(|flow| flow.name.clone()).collect();
        run.link_names =
            plan.wires.iter().map(|wire| (wire.link.clone(), wire.direction)).collect();
    }

    /// Takes the rows that there are: of `flow_samples`, `flow_events` and `link_samples`.
    pub fn take(&self) -> Run {
        let mut run = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let names = Run {
            flow_names: run.flow_names.clone(),
            link_names: run.link_names.clone(),
            ..Run::default()
        };
        std::mem::replace(&mut *run, names)
    }

    /// Does `give` with the rows, unless a reader is taking them: a thread that is to be punctual does not wait.
    fn give(&self, give: impl FnOnce(&mut Run)) -> bool {
        match self.0.try_lock() {
            Ok(mut run) => give(&mut run),
            Err(TryLockError::Poisoned(run)) => give(&mut run.into_inner()),
            Err(TryLockError::WouldBlock) => return false,
        }
        true
    }
}

/// The place up to which a thread has given its rows.
#[derive(Debug, Default)]
pub struct Given {
    next: Instant,
    samples: usize,
    events: usize,
}

impl Given {
    /// Gives the rows of flows that are new at `now`; `seen` says which events a probe looks at.
    pub fn flows(
        &mut self,
        feed: &Feed,
        now: Instant,
        samples: &FlowSamples,
        events: &[FlowEventRow],
        seen: impl Fn(&FlowEventRow) -> bool,
    ) {
        if now < self.next {
            return;
        }
        let given = feed.give(|run| {
            run.flow_samples.append_from(samples, self.samples);
            run.flow_events.extend(events[self.events..].iter().filter(|row| seen(row)).copied());
        });
        if given {
            (self.samples, self.events) = (samples.time_ns.len(), events.len());
            self.next = now + EVERY;
        }
    }

    /// Gives the rows of links that are new at `now`.
    pub fn links(&mut self, feed: &Feed, now: Instant, samples: &LinkSamples) {
        if now >= self.next && feed.give(|run| run.link_samples.append_from(samples, self.samples))
        {
            self.samples = samples.time_ns.len();
            self.next = now + EVERY;
        }
    }
}
