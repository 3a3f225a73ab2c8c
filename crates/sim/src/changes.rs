//! Changes of the path, made ready before the run.

use ackclock_app::Moment;
use ackclock_net::LinkChange;
use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant};

use crate::scenario::{After, Direction, EventTime, PathEvent, Scenario};
use crate::topology::Layout;

/// A change of the path: links become others, and flows take other ways.
#[derive(Clone, Debug)]
pub struct PathChange {
    /// By wire.
    pub wires: Vec<(usize, LinkChange)>,
    /// Flows, each with its wires from then on: from its sender to its receiver, and back.
    pub routes: Vec<(usize, [Vec<usize>; 2])>,
}

#[derive(Clone, Debug)]
struct Change {
    at: Option<Instant>,
    after: Option<After>,
    /// The number of times that each flow has had the event.
    seen: Vec<u64>,
    due: bool,
}

/// The changes of a scenario.
#[derive(Debug)]
pub struct Changes {
    changes: Vec<Change>,
}

impl Changes {
    /// The changes of a checked scenario with so many flows.
    pub fn new(scenario: &Scenario, flows: usize) -> Self {
        let changes = scenario.events.iter().map(|event| {
            let (at, after) = match &event.at {
                EventTime::At(at) => (Some(Instant::START + *at), None),
                EventTime::After(after) => (None, Some(after.clone())),
            };
            Change { at, after, seen: vec![0; flows], due: true }
        });
        Self { changes: changes.collect() }
    }

    /// The changes that come at a moment of the run: (subject, when).
    pub fn moments(&self) -> Vec<(u32, Instant)> {
        (0..).zip(&self.changes).filter_map(|(n, change)| Some((n, change.at?))).collect()
    }

    /// Something happens to a flow's application: the changes that come with it, now.
    pub fn on_flow_event(&mut self, flow: usize, moment: Moment) -> Vec<u32> {
        let mut due = Vec::new();
        for (n, change) in (0..).zip(&mut self.changes) {
            let Some(after) = change.after.as_ref().filter(|after| after.after.is(moment)) else {
                continue;
            };
            change.seen[flow] += 1;
            if change.seen[flow] == after.number && std::mem::take(&mut change.due) {
                due.push(n);
            }
        }
        due
    }
}

/// The change of the path by each event of a checked scenario.
pub fn path_changes(
    scenario: &Scenario,
    entries: &[usize],
    names: &[String],
    layout: &Layout,
) -> Vec<PathChange> {
    let changes = scenario.events.iter().enumerate().map(|(n, event)| {
        let stream = |wire: usize| Stream::new(scenario.seed, &format!("event {n} wire {wire}"));
        let routes = names.iter().enumerate().filter_map(|(flow, name)| {
            let entry = &scenario.flows[entries[flow]];
            let meant = event.flow.as_ref().is_some_and(|f| f == name || *f == entry.name);
            Some((flow, layout.via(entry, &event.via).filter(|_| meant)?))
        });
        PathChange { wires: wire_changes(event, layout, stream), routes: routes.collect() }
    });
    changes.collect()
}

/// The changes of wires by `event`.
fn wire_changes(
    event: &PathEvent,
    layout: &Layout,
    stream: impl Fn(usize) -> Stream,
) -> Vec<(usize, LinkChange)> {
    let (Some(link), Some(set)) = (&event.link, &event.set) else { return Vec::new() };
    let Some(first) = layout.link(link) else { return Vec::new() };
    let wires: Vec<usize> = match event.direction {
        None => vec![first, first + 1],
        Some(Direction::Forward) => vec![first],
        Some(Direction::Reverse) => vec![first + 1],
    };
    let mut delays: Vec<Duration> = layout.wires.iter().map(|wire| wire.config.delay).collect();
    if let Some(delay) = set.delay {
        for wire in &wires {
            delays[*wire] = delay;
        }
    }
    let change = |wire: &usize| {
        let rate = set.rate.map(|rate| rate.0);
        // The check refuses a limit in BDP at a rate of zero.
        let now = rate.flatten().unwrap_or(layout.wires[*wire].config.rate);
        let becomes = LinkChange {
            rate,
            delay: set.delay,
            limit: set
                .queue
                .as_ref()
                .map(|queue| queue.limit.resolve(now, layout.longest_rtt(*wire, &delays))),
            loss: set.loss.map(|loss| (loss, stream(*wire))),
        };
        (*wire, becomes)
    };
    wires.iter().map(change).collect()
}
