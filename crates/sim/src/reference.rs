//! The reference engine: `docs/concepts/engine.md`.
//!
//! Every hop of every packet is an event, and every event is handled alone, in the documented order. There is nothing
//! here for speed. It is the oracle of the fast engine: both leave the same results to the last bit.

mod hosts;
mod observing;
mod packet;

use ackclock_app::AnyApp;
use ackclock_net::path::{Change, Progress, Step};
use ackclock_net::{
    AccessLine, Agenda, Counters, DelayHistogram, Header, Packet, Path, SourceCounters,
};
use ackclock_tcp::{Config, Endpoint};
use ackclock_units::Instant;

use crate::error::ScenarioError;
use crate::hosts::host::Host;
use crate::hosts::visitors::Visitors;
use crate::layout::changes::path_changes;
use crate::layout::links::{Links, Network};
use crate::layout::topology::{Layout, flow_entries, flow_names};
use crate::measures::meter::Meter;
use crate::measures::observe::Taps;
use crate::records::Run;
use crate::run::class::Class;
use crate::run::events::Events;
use crate::run::setup::{FlowHosts, links, routers};
use crate::run::state::{MOST_AT_ONE_MOMENT, RunState, Watcher, index};
use crate::scenario::Scenario;
use packet::SimPacket;

/// A run in progress.
pub struct Engine<'o> {
    /// Links and packets. Its events are departures, changes of the path and arrivals, which come first of those of one
    /// instant. Each host is the end point of the path that has its number.
    path: Path<SimPacket>,
    /// All other events.
    agenda: Agenda<Class>,
    state: RunState<'o>,
    now: Instant,
    /// Events that were handled at `now`.
    events_now: u64,
    taps: Option<Taps>,
}

impl<'o> Engine<'o> {
    /// Sets up a run of a checked scenario.
    pub fn new(
        scenario: &Scenario,
        mut visitors: Visitors<'_>,
        watcher: Watcher<'o>,
        meter: &'o Meter,
    ) -> Result<Self, ScenarioError> {
        let entries = flow_entries(scenario);
        let names = flow_names(scenario, &entries);
        let layout = Layout::new(scenario, &entries)?;
        let mut path = Path::new(links(scenario, &layout, &mut visitors)?);
        for (wire, router) in routers(scenario, &layout) {
            path.add_router(wire, router);
        }
        let mut flows = FlowHosts::new(scenario, &entries, &names, |n| {
            path.add_paths(&layout.paths[n], None, index(2 * n))
        })?;
        flows.visit(scenario, (&entries, &names), &mut visitors.transports)?;
        for change in path_changes(scenario, &entries, &names, &layout) {
            let mut routes = Vec::new();
            for (flow, [there, back]) in change.routes {
                let sender = index(2 * flow);
                routes.push((sender, path.add_route(Step::over(&there, None), sender + 1)));
                routes.push((sender + 1, path.add_route(Step::over(&back, None), sender)));
            }
            path.add_change(Change { links: change.wires, routes });
        }
        let openers = flows.openers().collect();
        let state = RunState::new(scenario, &entries, names, &layout, flows, meter)?;
        let (agenda, now) = (Agenda::new(), Instant::START);
        let mut engine = Self { path, agenda, state, now, events_now: 0, taps: None };
        engine.start(scenario, &layout, openers);
        match watcher {
            Watcher::Nobody => {}
            Watcher::Observer(links, observer) => engine.tap(links, observer),
            Watcher::Collector(collector) => engine.state.collector = Some(collector),
        }
        Ok(engine)
    }

    /// Runs to the end; `None` if somebody stopped it.
    pub fn run(mut self) -> Option<Run> {
        while !self.state.stopped {
            let next = [self.path.next_at(), self.agenda.next_at()].into_iter().flatten().min();
            let Some(next) = next.filter(|next| *next <= self.state.end) else { break };
            self.count_event(next);
            if self.state.stopped {
                break;
            }
            if let Some(Progress { at, delivered, .. }) = self.path.advance(next) {
                if let Some(delivery) = delivered {
                    self.arrive(at, delivery);
                }
            } else if let Some((at, class, subject)) = self.agenda.take_due(next) {
                self.handle(at, class, subject);
            }
            self.drain_notifications(next);
        }
        if !self.state.stopped {
            self.tell_rest();
        }
        if self.state.stopped {
            return None;
        }
        self.add_last_rows();
        Some(self.state.run)
    }

    /// Tells the meter how far the run is, and ends a run in which time stands still.
    fn count_event(&mut self, at: Instant) {
        let RunState { run, meter, stopped, hosts, .. } = &mut self.state;
        run.events += 1;
        self.events_now = if at > self.now { 0 } else { self.events_now + 1 };
        self.now = at;
        // Each host may have an event or some at one moment, such as all opening at the start.
        if self.events_now > MOST_AT_ONE_MOMENT + 8 * hosts.len() as u64 {
            meter.is_stuck_at(at);
            *stopped = true;
        }
        if run.events.is_multiple_of(1 << 15) && !meter.reach(at) {
            *stopped = true;
        }
    }

    fn handle(&mut self, now: Instant, class: Class, subject: u32) {
        match class {
            Class::Timer => {
                if self.state.hosts[subject as usize].wake(now) {
                    self.serve(now, subject as usize);
                }
            }
            Class::Opening => self.open(now, subject),
            Class::Cross => self.send_cross(now, subject),
            Class::Measure => self.measure(now, subject),
            Class::Probe => self.probe(now, subject),
            Class::Departure | Class::Change | Class::Arrival => {
                unreachable!("events of the path are not on the agenda")
            }
        }
    }
}

impl<'o> Events<'o> for Engine<'o> {
    type Network = Path<SimPacket>;

    fn parts(&mut self) -> (&mut RunState<'o>, &mut Path<SimPacket>) {
        (&mut self.state, &mut self.path)
    }

    fn add_event(&mut self, at: Instant, class: Class, subject: u32) {
        match class {
            Class::Change => self.path.change_at(at, subject),
            class => self.agenda.add(at, class, subject),
        }
    }

    fn serve(&mut self, now: Instant, h: usize) {
        self.service_host(now, h);
    }

    fn note_flow_rows(&mut self, _now: Instant) {
        self.state.give_rows();
    }

    fn begin(host: &mut Host, (config, seed): (&Config, u64)) {
        host.endpoint = Endpoint::new(Config { seed, ..*config });
        host.begin();
    }

    fn reset_apps(state: &mut RunState<'o>, client: usize, n: u32) {
        let apps: [AnyApp; 2] = state.new_apps(n);
        for (host, app) in state.hosts[client..].iter_mut().zip(apps) {
            host.app = app;
        }
    }
}

impl Links for Path<SimPacket> {
    fn count(&self) -> usize {
        self.links().len()
    }

    fn counters(&mut self, wire: usize, now: Instant) -> Counters {
        self.links_mut()[wire].counters(now)
    }

    fn delays(&mut self, wire: usize, _: Instant) -> DelayHistogram {
        self.links()[wire].delays().clone()
    }

    fn sources(&self, wire: usize) -> &[SourceCounters] {
        self.links()[wire].sources()
    }

    fn crossings(&self, wire: usize) -> &[[u64; 2]] {
        self.crossings(wire)
    }
}

impl Network for Path<SimPacket> {
    fn add_source(&mut self, wire: usize) -> u16 {
        self.links_mut()[wire].add_source()
    }

    fn describe(&mut self, wire: usize, class: u32, header: Header) {
        self.links_mut()[wire].describe(class, header);
    }

    fn offer_cross(&mut self, now: Instant, wire: u32, packet: Packet) {
        self.offer_cross(now, wire as usize, packet);
    }

    fn count_crossings(&mut self, wires: &[usize], flows: usize) {
        for wire in wires {
            self.count_crossings(*wire, flows);
        }
    }

    fn watch(&mut self, wires: &[usize]) {
        for wire in wires {
            self.watch(*wire);
        }
    }

    fn add_lines(&mut self) -> u32 {
        let [first, ..] = AccessLine::unused().map(|line| self.add_line(line));
        index(first)
    }

    fn lines_from(&mut self, first: u32) -> &mut [AccessLine; 4] {
        let lines = &mut self.lines_mut()[first as usize..];
        lines.first_chunk_mut().expect("lines come in fours")
    }

    fn add_paths(&mut self, wires: &[Vec<usize>; 2], lines: Option<u32>, client: u32) -> [u32; 2] {
        let [there, back] = wires;
        // Of the client up and into the client, of the server up and into the server.
        let line =
            |up, down| lines.map(|first| [first + up, first + down].map(|line| line as usize));
        let there = self.add_end(Step::over(there, line(0, 3)), client + 1);
        [there, self.add_end(Step::over(back, line(2, 1)), client)]
    }

    fn carries(&self, flow: u32) -> bool {
        self.packets_in_network(flow) > 0
    }
}
