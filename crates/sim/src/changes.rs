//! Changes of the path, made ready before the run.

use ackclock_app::Moment;
use ackclock_net::{Link, Loss, QueueLimit};
use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant};

use crate::network::Network;
use crate::scenario::{After, Direction, EventTime, PathEvent, RateOrZero, Scenario};
use crate::topology::Layout;

/// What one direction of a link is from then on.
#[derive(Clone, Debug)]
pub struct WireChange {
    /// Which.
    pub wire: usize,
    rate: Option<RateOrZero>,
    delay: Option<Duration>,
    limit: Option<QueueLimit>,
    loss: Option<(Loss, Stream)>,
}

impl WireChange {
    /// The change of `link`, which is the wire's, at `now`; returns the moment at which the link is to be woken besides
    /// those that are known.
    pub fn apply(&self, now: Instant, link: &mut Link) -> Option<Instant> {
        let wake = self.rate.and_then(|rate| link.set_rate(now, rate.0));
        if let Some(delay) = self.delay {
            link.set_delay(delay);
        }
        if let Some((loss, random)) = &self.loss {
            link.set_loss(*loss, random.clone());
        }
        if let Some(limit) = self.limit {
            link.set_limit(limit);
        }
        wake
    }

    /// Whether the rate is another from then on.
    pub const fn changes_rate(&self) -> bool {
        self.rate.is_some()
    }
}

/// The way of a flow from then on: the first hops of its two ends.
#[derive(Clone, Copy, Debug)]
struct NewRoute {
    flow: usize,
    hops: [u32; 2],
}

#[derive(Clone, Debug)]
struct Change {
    at: Option<Instant>,
    after: Option<After>,
    /// How often each flow has had the event.
    seen: Vec<u64>,
    due: bool,
    wires: Vec<WireChange>,
    routes: Vec<NewRoute>,
}

/// The changes of a scenario.
#[derive(Debug)]
pub struct Changes {
    changes: Vec<Change>,
}

impl Changes {
    /// The changes of a checked scenario, whose flows have these names.
    pub fn new(
        scenario: &Scenario,
        entries: &[usize],
        names: &[String],
        layout: &Layout,
        network: &mut Network,
    ) -> Self {
        let mut changes = Vec::new();
        for (n, event) in scenario.events.iter().enumerate() {
            let (at, after) = match &event.at {
                EventTime::At(at) => (Some(Instant::START + at.0), None),
                EventTime::After(after) => (None, Some(after.clone())),
            };
            let stream =
                |wire: usize| Stream::new(scenario.seed, &format!("event {n} wire {wire}"));
            let mut routes = Vec::new();
            for (flow, name) in names.iter().enumerate() {
                let entry = &scenario.flows[entries[flow]];
                let meant = event.flow.as_ref().is_some_and(|f| f == name || *f == entry.name);
                if let Some([there, back]) = layout.via(entry, &event.via).filter(|_| meant) {
                    let host = u32::try_from(2 * flow).expect("the check bounds the flows");
                    let hops = [network.add_path(&there, host + 1), network.add_path(&back, host)];
                    routes.push(NewRoute { flow, hops });
                }
            }
            changes.push(Change {
                at,
                after,
                seen: vec![0; names.len()],
                due: true,
                wires: wire_changes(event, layout, stream),
                routes,
            });
        }
        Self { changes }
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

    /// Change `n` happens; returns the flows that take another way, with their two first hops.
    pub fn apply(&self, n: u32, now: Instant, network: &mut Network) -> Vec<(usize, [u32; 2])> {
        let change = &self.changes[n as usize];
        for wire in &change.wires {
            network.change(now, wire.wire, |link| wire.apply(now, link));
        }
        change.routes.iter().map(|route| (route.flow, route.hops)).collect()
    }
}

/// What `event` makes of wires.
pub fn wire_changes(
    event: &PathEvent,
    layout: &Layout,
    stream: impl Fn(usize) -> Stream,
) -> Vec<WireChange> {
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
            delays[*wire] = delay.0;
        }
    }
    let change = |wire: &usize| {
        let rate = set.rate.map(|rate| rate.0);
        // The check refuses a limit in BDP at a rate of zero.
        let now = rate.and_then(|rate| rate.0).unwrap_or(layout.wires[*wire].config.rate);
        WireChange {
            wire: *wire,
            rate,
            delay: set.delay.map(|delay| delay.0),
            limit: set
                .queue
                .as_ref()
                .map(|queue| queue.limit.0.resolve(now, layout.longest_rtt(*wire, &delays))),
            loss: set.loss.map(|loss| (loss.model(), stream(*wire))),
        }
    };
    wires.iter().map(change).collect()
}
