//! The reference engine: `docs/concepts/engine.md`.
//!
//! Every hop of every packet is an event, and every event is handled alone, in the documented order. There is nothing
//! here for speed. It is the oracle of the fast engine: both leave the same results to the last bit.

mod connections;
mod hosts;
mod observing;
mod packet;

use ackclock_app::Note;
use ackclock_net::path::{Change, Progress, Step};
use ackclock_net::{Agenda, Counters, DelayHistogram, Link, Path, SourceCounters};
use ackclock_units::Instant;

use crate::browsing::Users;
use crate::changes::{Changes, path_changes};
use crate::class::Class;
use crate::cross::{CrossSource, source_name};
use crate::host::Host;
use crate::links::Links;
use crate::measure::Measures;
use crate::meter::Meter;
use crate::objects::ObjectLog;
use crate::observe::{Observer, Taps};
use crate::probe::Probes;
use crate::records::Run;
use crate::scenario::Scenario;
use crate::setup::{FlowHosts, link_parts, named, routers};
use crate::topology::{Layout, flow_names};
use crate::traffic::Classes;
use crate::{Collector, MOST_AT_ONE_MOMENT, ScenarioError, Watcher, flow_entries};
use packet::SimPacket;

/// A bit of the subject of [`Class::Opening`]: not a class of connections opens, but a user is woken.
const USER: u32 = 1 << 30;

/// A run in progress.
pub struct Engine<'o> {
    /// Links and packets. Its events are departures, changes of the path and arrivals, which come first of those of one
    /// instant.
    path: Path<SimPacket>,
    /// All other events.
    agenda: Agenda<Class>,
    /// Two a flow, its sender and its receiver; then two for each slot of connections that come and go, the client and
    /// the server. Each is the end point of the path that has its number.
    hosts: Vec<Host>,
    /// Hosts of flows.
    static_hosts: usize,
    /// The flow number of the first slot.
    first_dynamic: u32,
    sources: Vec<CrossSource>,
    measures: Measures,
    probes: Probes,
    objects: ObjectLog,
    traffic: Classes,
    users: Users,
    changes: Changes,
    /// Notes of the application that was asked last.
    notes: Vec<Note>,
    end: Instant,
    now: Instant,
    /// Events that were handled at `now`.
    events_now: u64,
    run: Run,
    taps: Option<Taps>,
    observer: Option<&'o mut dyn Observer>,
    collector: Option<&'o mut dyn Collector>,
    meter: &'o Meter,
    /// The observer has seen enough, or nobody waits for the result.
    stopped: bool,
}

impl<'o> Engine<'o> {
    /// Sets up a run of a checked scenario.
    pub fn new(
        scenario: &Scenario,
        watcher: Watcher<'o>,
        meter: &'o Meter,
    ) -> Result<Self, ScenarioError> {
        let entries = flow_entries(scenario);
        let names = flow_names(scenario, &entries);
        let layout = Layout::new(scenario, &entries)?;
        let mut path =
            Path::new(link_parts(scenario, &layout).into_iter().map(Link::new).collect());
        for (wire, router) in routers(scenario, &layout) {
            path.add_router(wire, router);
        }
        let flows = FlowHosts::new(scenario, &entries, &names, |n| {
            let [there, back] = &layout.paths[n];
            let sender = index(2 * n);
            [path.add_end(steps(there), sender + 1), path.add_end(steps(back), sender)]
        })?;
        let mut agenda = Agenda::new();
        for (opens, host) in flows.openers() {
            agenda.add(opens, Class::Timer, host);
        }
        for change in path_changes(scenario, &entries, &names, &layout) {
            let mut routes = Vec::new();
            for (flow, [there, back]) in change.routes {
                let sender = index(2 * flow);
                routes.push((sender, path.add_route(steps(&there), sender + 1)));
                routes.push((sender + 1, path.add_route(steps(&back), sender)));
            }
            path.add_change(Change { links: change.wires, routes });
        }
        let FlowHosts { hosts, variants } = flows;
        let mut run = named(names, &layout);
        let flows = run.flow_names.len();
        let class_paths = layout.class_paths.iter().cloned().enumerate();
        let class_paths: Vec<_> =
            class_paths.map(|(n, paths)| (paths, layout.class_rtt(n))).collect();
        let traffic = Classes::new(scenario, &class_paths, &mut run.connections, flows)?;
        let mut engine = Self {
            path,
            agenda,
            static_hosts: hosts.len(),
            first_dynamic: index(flows + scenario.cross_traffic.len()),
            sources: Vec::new(),
            measures: Measures::new(scenario, &entries, &run, &variants, &layout),
            probes: Probes::new(scenario, &entries, &run.flow_names, &layout),
            objects: ObjectLog::new(flows),
            traffic,
            users: Users::new(scenario),
            changes: Changes::new(scenario, flows),
            notes: Vec::new(),
            end: Instant::START + scenario.duration.0,
            now: Instant::START,
            events_now: 0,
            run,
            taps: None,
            observer: None,
            collector: None,
            meter,
            stopped: false,
            hosts,
        };
        engine.add_sources(scenario, &layout);
        engine.schedule(scenario);
        match watcher {
            Watcher::Nobody => {}
            Watcher::Observer(links, observer) => engine.tap(links, observer),
            Watcher::Collector(collector) => engine.collector = Some(collector),
        }
        Ok(engine)
    }

    fn add_sources(&mut self, scenario: &Scenario, layout: &Layout) {
        for (n, spec) in scenario.cross_traffic.iter().enumerate() {
            let wire = layout.wire(&spec.link, spec.direction).expect("the check found the link");
            let number = self.path.links_mut()[wire].add_source();
            self.measures.add_source(&source_name(spec, n), &spec.link, wire, number);
            let class = self.static_hosts / 2 + n;
            let mut source = CrossSource::new(scenario, spec, n, wire, number, class);
            self.agenda.add(source.next(Instant::START + spec.start.0), Class::Cross, index(n));
            self.sources.push(source);
        }
    }

    /// Puts on the agenda what is known before the run.
    fn schedule(&mut self, scenario: &Scenario) {
        for (n, spec) in scenario.traffic.iter().enumerate() {
            self.schedule_opening(n, Instant::START + spec.start.0);
        }
        for (n, at) in self.changes.moments() {
            self.path.change_at(at, n);
        }
        for wire in self.measures.crossed() {
            self.path.count_crossings(wire, self.static_hosts / 2);
        }
        for (n, at) in self.measures.moments() {
            self.agenda.add(at, Class::Measure, n);
        }
        for (n, at) in self.probes.first_moments() {
            self.agenda.add(at, Class::Probe, n);
        }
        for flow in self.probes.flows_seen_on_change() {
            self.hosts[2 * flow].watched = true;
        }
        for wire in self.probes.wires_seen_on_change() {
            self.path.watch(wire);
        }
    }

    /// Runs to the end; `None` if somebody stopped it.
    pub fn run(mut self) -> Option<Run> {
        while !self.stopped {
            let next = [self.path.next_at(), self.agenda.next_at()].into_iter().flatten().min();
            let Some(next) = next.filter(|next| *next <= self.end) else { break };
            self.count_event(next);
            if self.stopped {
                break;
            }
            if let Some(Progress { at, delivered, .. }) = self.path.advance(next) {
                if let Some(delivery) = delivered {
                    self.arrive(at, delivery);
                }
            } else if let Some((at, class, subject)) = self.agenda.take_due(next) {
                self.handle(at, class, subject);
            }
            self.take_news(next);
        }
        self.finish()
    }

    /// Tells the meter how far the run is, and ends a run in which time stands still.
    fn count_event(&mut self, at: Instant) {
        self.run.events += 1;
        self.events_now = if at > self.now { 0 } else { self.events_now + 1 };
        self.now = at;
        // Each host may have an event or some at one moment, such as all opening at the start.
        if self.events_now > MOST_AT_ONE_MOMENT + 8 * self.hosts.len() as u64 {
            self.meter.is_stuck_at(at);
            self.stopped = true;
        }
        if self.run.events.is_multiple_of(1 << 15) && !self.meter.reach(at) {
            self.stopped = true;
        }
    }

    fn handle(&mut self, now: Instant, class: Class, subject: u32) {
        match class {
            Class::Timer => self.wake(now, subject as usize),
            Class::Opening => self.open(now, subject),
            Class::Cross => self.cross(now, subject as usize),
            Class::Measure => {
                let flows = &self.hosts[..self.static_hosts];
                let mut links = OfPath(&mut self.path);
                let next = self.measures.on_moment(subject, now, &mut links, flows);
                if let Some((subject, at)) = next {
                    self.agenda.add(at, Class::Measure, subject);
                }
            }
            Class::Probe => {
                let mut links = OfPath(&mut self.path);
                let next =
                    self.probes.on_moment(subject, now, &mut links, &self.hosts, &mut self.run);
                self.give_rows();
                if let Some(at) = next.filter(|at| *at <= self.end) {
                    self.agenda.add(at, Class::Probe, subject);
                }
            }
            Class::Departure | Class::Change | Class::Arrival => {
                unreachable!("events of the path are not on the agenda")
            }
        }
    }

    /// A cross-traffic source sends a packet.
    fn cross(&mut self, now: Instant, n: usize) {
        let source = &mut self.sources[n];
        if now >= source.stop {
            return;
        }
        self.path.offer_cross(now, source.wire as usize, source.packet);
        source.sent += 1;
        self.agenda.add(source.next(now), Class::Cross, index(n));
    }

    fn finish(mut self) -> Option<Run> {
        if !self.stopped {
            self.tell_rest();
        }
        if self.stopped {
            return None;
        }
        let flows = &self.hosts[..self.static_hosts];
        self.measures.finish(self.end, &mut OfPath(&mut self.path), flows, &mut self.run);
        for slot in 0..index(self.traffic.slots.len()) {
            self.record(slot, None);
        }
        self.users.finish(&mut self.run.pages);
        for host in 0..self.static_hosts {
            self.note_requests(index(host / 2), 0, host);
        }
        self.run.quick_start.sort_by_key(|row| row.time_ns);
        self.run.add_videos(&self.hosts, self.end);
        Some(self.run)
    }

    /// Rows were added: the collector takes them if there are many.
    fn give_rows(&mut self) {
        if let Some(collector) = &mut self.collector {
            self.run.give_rows(self.objects.has_pending(), *collector);
        }
    }
}

/// The links of a path, for measures and probes.
struct OfPath<'p>(&'p mut Path<SimPacket>);

impl Links for OfPath<'_> {
    fn count(&self) -> usize {
        self.0.links().len()
    }

    fn counters(&mut self, wire: usize, now: Instant) -> Counters {
        self.0.links_mut()[wire].counters(now)
    }

    fn delays(&mut self, wire: usize, _: Instant) -> DelayHistogram {
        self.0.links()[wire].delays().clone()
    }

    fn sources(&self, wire: usize) -> &[SourceCounters] {
        self.0.links()[wire].sources()
    }

    fn crossings(&self, wire: usize) -> &[[u64; 2]] {
        self.0.crossings(wire)
    }
}

fn steps(wires: &[usize]) -> Vec<Step> {
    wires.iter().map(|wire| Step::Link(*wire)).collect()
}

/// A number of hosts, flows, sources or slots, of which the check bounds each.
fn index(n: usize) -> u32 {
    u32::try_from(n).expect("fewer than 2^32 of them")
}
