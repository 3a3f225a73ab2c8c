//! Changes of the path, made ready before the run.

use ackclock_app::Moment;
use ackclock_net::LinkChange;
use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant};

use crate::layout::topology::Layout;
use crate::scenario::{After, Direction, EventTime, PathEvent, Scenario};

/// A change of the path: links become others, and flows take other ways.
#[derive(Clone, Debug)]
pub struct PathChange {
    /// By wire.
    pub wires: Vec<(usize, LinkChange)>,
    /// Flows, each with its wires from then on: from its sender to its receiver, and back.
    pub routes: Vec<(usize, [Vec<usize>; 2])>,
}

/// A change that comes with an event of a flow.
#[derive(Clone, Debug)]
struct Awaited {
    /// Its number among the scenario's events.
    subject: u32,
    after: After,
    /// The number of times that each flow has had the event.
    seen: Vec<u64>,
    due: bool,
}

/// The changes of a scenario.
#[derive(Debug)]
pub struct Changes {
    /// Those that come at a moment of the run: (subject, when).
    timed: Vec<(u32, Instant)>,
    /// The others. They are apart, as each event of an application asks for all of them, and outages make many of the former.
    awaited: Vec<Awaited>,
}

impl Changes {
    /// The changes of a checked scenario with so many flows.
    pub fn new(scenario: &Scenario, flows: usize) -> Self {
        let (mut timed, mut awaited) = (Vec::new(), Vec::new());
        for (subject, event) in (0..).zip(&scenario.events) {
            match &event.at {
                EventTime::At(at) => timed.push((subject, Instant::START + *at)),
                EventTime::After(after) => awaited.push(Awaited {
                    subject,
                    after: after.clone(),
                    seen: vec![0; flows],
                    due: true,
                }),
            }
        }
        Self { timed, awaited }
    }

    /// The changes that come at a moment of the run: (subject, when).
    pub fn moments(&self) -> Vec<(u32, Instant)> {
        self.timed.clone()
    }

    /// Something happens to a flow's application: the changes that come with it, now.
    pub fn on_flow_event(&mut self, flow: usize, moment: Moment) -> Vec<u32> {
        let mut due = Vec::new();
        for change in self.awaited.iter_mut().filter(|change| change.after.after.is(moment)) {
            change.seen[flow] += 1;
            if change.seen[flow] == change.after.number && std::mem::take(&mut change.due) {
                due.push(change.subject);
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
        let stream =
            |wire: usize, of: &str| Stream::new(scenario.seed, &format!("event {n} {of} {wire}"));
        let routes = names.iter().enumerate().filter_map(|(flow, name)| {
            let entry = &scenario.flows[entries[flow]];
            let meant = event.flow.as_ref().is_some_and(|f| f == name || *f == entry.name);
            meant.then(|| layout.via(entry, &event.via)).flatten().map(|via| (flow, via))
        });
        PathChange { wires: wire_changes(event, layout, stream), routes: routes.collect() }
    });
    changes.collect()
}

/// The changes of wires by `event`.
fn wire_changes(
    event: &PathEvent,
    layout: &Layout,
    stream: impl Fn(usize, &str) -> Stream,
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
            loss: set.loss.map(|loss| (loss, stream(*wire, "wire"))),
            jitter: set.jitter.clone().map(|jitter| (jitter, stream(*wire, "jitter of wire"))),
        };
        (*wire, becomes)
    };
    wires.iter().map(change).collect()
}

#[cfg(test)]
mod tests {
    use ackclock_units::Duration;

    use super::*;
    use crate::tests::scenario;

    #[test]
    fn an_application_asks_only_for_what_waits_for_it() {
        // An outage of a millisecond in two: in 30 s 29,999 changes in each direction, at moments of the run, none of which an
        // event of a flow brings.
        let outage = r#", "outage": {"on": "1 ms", "off": "1 ms", "periodic": true}"#;
        let scenario = scenario(&crate::tests::one_flow(r#", "variant": "reno""#, outage, ""));
        let scenario = scenario.with_outages();
        assert_eq!(scenario.duration, Duration::from_secs(30));
        let changes = Changes::new(&scenario, 1);
        assert!(changes.awaited.is_empty());
        assert_eq!(changes.timed.len(), 2 * 29_999);
    }
}
