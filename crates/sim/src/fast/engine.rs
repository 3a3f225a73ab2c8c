//! The run loop: takes events off the clock and hands them to hosts, links, sources and probes.

mod partitions;
mod setup;

use ackclock_app::{AnyApp, App};
use ackclock_net::LinkChange;
use ackclock_packet::Flags;
use ackclock_tcp::Config;
use ackclock_tcp::simulator::Simulated;
use ackclock_units::Instant;

use super::link::Link;
use super::lookahead::Lookahead;
use super::network::{Network, SLOT, Step};
use super::prefetch::prefetch_lines;
use super::wheel::Event;
use crate::error::ScenarioError;
use crate::hosts::host::Host;
use crate::layout::changes::path_changes;
use crate::layout::links::Network as _;
use crate::layout::topology::{Layout, flow_entries, flow_names};
use crate::measures::meter::Meter;
use crate::measures::observe::{Observer, Taps};
use crate::records::Run;
use crate::run::class::Class;
use crate::run::events::Events;
use crate::run::setup::{FlowHosts, link_parts, routers};
use crate::run::state::{MOST_AT_ONE_MOMENT, RunState, Watcher, index};
use crate::scenario::Scenario;
use partitions::Schedule;
use setup::{clock, find_elided, shared};

/// The meter is told after so many events.
const MARK_EVERY: u64 = 1 << 15;
/// Distances in a lane at which each is fetched: far enough for memory, near enough for the cache.
const FETCH_PACKET: usize = 6;
const FETCH_HOST: usize = 3;
const FETCH_LINK: usize = 1;

/// A change of the path: links, by number, and flows, with the first hops of their two ends from then on.
#[derive(Clone, Debug)]
struct ReadyChange {
    wires: Vec<(usize, LinkChange)>,
    routes: Vec<(usize, [u32; 2])>,
}

/// A run in progress.
pub struct Engine<'o> {
    network: Network,
    state: RunState<'o>,
    path_changes: Vec<ReadyChange>,
    events: u64,
    /// Lookahead, if the scenario allows it, and the agenda of a run that uses it.
    lookahead: Option<Lookahead>,
    schedule: Option<Box<Schedule>>,
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
        let links = link_parts(scenario, &layout).into_iter().map(Link::new).collect();
        let mut network = Network::new(clock(scenario, &layout), links);
        network.give_lanes(shared(&layout));
        if scenario.traffic.is_empty() {
            // A connection that comes and goes may be over by what its last packet meets.
            network.end_at(Instant::START + scenario.duration);
        }
        network.set_routers(routers(scenario, &layout));
        let flows = FlowHosts::new(scenario, &entries, &names, |n| {
            let [there, back] = &layout.paths[n];
            let sender = index(2 * n);
            [network.add_path(there, sender + 1), network.add_path(back, sender)]
        })?;
        let changes = path_changes(scenario, &entries, &names, &layout).into_iter();
        let path_changes = changes.map(|change| {
            let routes = change.routes.into_iter().map(|(flow, [there, back])| {
                let sender = index(2 * flow);
                (flow, [network.add_path(&there, sender + 1), network.add_path(&back, sender)])
            });
            ReadyChange { routes: routes.collect(), wires: change.wires }
        });
        let path_changes = path_changes.collect();
        let openers = flows.openers().collect();
        let state = RunState::new(scenario, &entries, names, &layout, flows, meter)?;
        let (elided, lookahead) = find_elided(scenario, &layout, &state.probes);
        network.elide(elided);
        network.count_from(state.first_dynamic);
        let mut engine =
            Self { network, state, path_changes, events: 0, lookahead, schedule: None };
        engine.start(scenario, &layout, openers);
        engine.let_links_forget(Instant::START);
        match watcher {
            Watcher::Nobody => {}
            Watcher::Observer(links, observer) => engine.observe(links, observer),
            Watcher::Collector(collector) => engine.state.collector = Some(collector),
        }
        Ok(engine)
    }

    /// Lets links forget what came between two moments at which counters are read, as nobody asks for it.
    fn let_links_forget(&mut self, now: Instant) {
        let Some(reads) = self.state.measures.reads_after(now) else { return };
        let mut asked = reads;
        for (wire, link) in self.network.links.iter_mut().enumerate() {
            if self.state.probes.looks_at(wire) {
                asked = now;
            } else {
                link.nobody_asks_before(reads);
            }
        }
        self.network.asked = asked;
    }

    /// A run that nobody looks at.
    #[cfg(test)]
    pub fn unwatched(scenario: &Scenario) -> Self {
        Self::new(scenario, Watcher::Nobody, Box::leak(Box::default())).unwrap()
    }

    /// Runs with all events in the order of time.
    #[cfg(test)]
    pub fn by_the_clock(mut self) -> Self {
        self.lookahead = None;
        self
    }

    /// Runs in windows wherever that is possible.
    #[cfg(test)]
    pub fn with_lookahead(mut self) -> Self {
        if let Some(lookahead) = &mut self.lookahead {
            lookahead.worth_it = true;
        }
        self
    }

    /// Tells `observer` what `links` send.
    fn observe(&mut self, links: &[usize], observer: &'o mut dyn Observer) {
        self.lookahead = None;
        let taps = Taps::new(links, self.network.links.len() / 2, self.state.hosts.len());
        self.network.tap(taps);
        self.state.observe(observer);
    }

    /// Runs to the end; `None` if the observer did not let it.
    pub fn run(mut self) -> Option<Run> {
        match self.lookahead.take_if(|lookahead| lookahead.worth_it) {
            Some(lookahead) => {
                self.run_with_lookahead(&lookahead);
            }
            None => self.run_by_the_clock(),
        }
        self.finish()
    }

    /// Handles the events before `at`, and after one of them no more if `enough` says so; false once the run has reached its
    /// end.
    pub fn run_until(&mut self, at: Instant, mut enough: impl FnMut(Instant) -> bool) -> bool {
        while let Some(next) = self.network.wheel.peek_at() {
            if next > self.state.end {
                return false;
            }
            if next >= at {
                return true;
            }
            let Some(event) = self.network.wheel.pop() else { return false };
            self.events += 1;
            self.handle(event);
            if enough(event.at()) {
                return true;
            }
        }
        false
    }

    /// The end of flow `n` that opens the connection.
    pub fn opener(&self, n: usize) -> &Host {
        &self.state.hosts[2 * n]
    }

    fn run_by_the_clock(&mut self) {
        let mut at_last_mark = Instant::NEVER;
        let mut at_one_moment = 0;
        while let Some(event) = self.network.wheel.pop() {
            if event.at() > self.state.end {
                break;
            }
            self.events += 1;
            if self.events.is_multiple_of(MARK_EVERY) {
                let moved = event.at() != std::mem::replace(&mut at_last_mark, event.at());
                at_one_moment = if moved { 0 } else { at_one_moment + MARK_EVERY };
                if !self.mark(event.at(), at_one_moment) {
                    break;
                }
            }
            if let Some(lane) = event.lane() {
                self.fetch_ahead(lane);
            }
            self.handle(event);
        }
    }

    /// Records how far the run is, and that so many events came at one moment; returns `false` if the run is to end.
    #[cold]
    pub(crate) fn mark(&mut self, now: Instant, at_one_moment: u64) -> bool {
        // Each host may have an event or some at one moment, such as all opening at the start.
        let stuck = at_one_moment > MOST_AT_ONE_MOMENT + 8 * self.state.hosts.len() as u64;
        if stuck {
            self.state.meter.is_stuck_at(now);
        }
        let goes_on = self.state.meter.reach(now) && !stuck;
        self.state.stopped |= !goes_on;
        goes_on
    }

    pub fn finish(mut self) -> Option<Run> {
        if let Some(observer) = &mut self.state.observer
            && !self.state.stopped
        {
            self.state.stopped = self.network.tell_rest(self.state.end, *observer).is_break();
        }
        if self.state.stopped {
            return None;
        }
        self.network.forget_packets();
        self.add_last_rows();
        self.state.run.events = self.events;
        Some(self.state.run)
    }

    /// Prefetches what the next packets of a lane will need: the packet, then its host, then the link on which the host
    /// answers, as each has the address of the next.
    #[inline]
    fn fetch_ahead(&mut self, lane: u32) {
        let network = &self.network;
        if let Some(id) = network.wheel.upcoming(lane, FETCH_PACKET) {
            network.prefetch(id);
        }
        if let Some(id) = network.wheel.upcoming(lane, FETCH_HOST)
            && let Some((host, data)) = network.host_of(id)
        {
            self.fetch_host(host, data);
        }
        if let Some(id) = network.wheel.upcoming(lane, FETCH_LINK)
            && let Some((host, _)) = network.host_of(id)
        {
            network.prefetch_link(self.state.hosts[host as usize].first_hop);
        }
    }

    /// Prefetches the cache lines of a host that `data` for it touches, or else an ACK.
    #[inline]
    fn fetch_host(&self, host: u32, data: bool) {
        let host = &self.state.hosts[host as usize];
        prefetch_lines(host, 0..3);
        prefetch_lines(host, 5..10);
        if !data {
            prefetch_lines(host, 10..17);
            prefetch_lines(host, 21..26);
        }
    }

    /// [`handle`](Self::handle), not inlined.
    #[inline(never)]
    fn handle_apart(&mut self, event: Event) {
        self.handle(event);
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller has nearly all events")]
    fn handle(&mut self, event: Event) {
        let now = event.at();
        let subject = event.subject();
        match event.class() {
            Class::Arrival => {
                if let Step::Arrived(host) = self.network.step(now, subject) {
                    self.arrive::<false>(now, host, subject);
                }
            }
            Class::Departure => self.network.depart(now, subject),
            Class::Change => self.change(now, subject),
            Class::Timer => self.wake::<false>(now, subject),
            Class::Opening => self.open(now, subject),
            Class::Cross => self.send_cross(now, subject),
            class @ (Class::Measure | Class::Probe) => self.look(now, class, subject),
        }
        if self.network.has_notifications() {
            self.drain_notifications(now);
        }
    }

    /// Takes a measure, or reads a probe.
    #[inline(never)]
    fn look(&mut self, now: Instant, class: Class, subject: u32) {
        if class == Class::Measure {
            self.measure(now, subject);
            self.let_links_forget(now);
        } else {
            self.probe(now, subject);
        }
    }

    /// Handles the packets that have come to watched links, and those of dynamic connections that were lost.
    #[inline(never)]
    fn drain_notifications(&mut self, now: Instant) {
        while let Some(wire) = self.network.take_touched() {
            self.state.probes.on_wire_change(wire, now, &mut self.network, &mut self.state.run);
            self.state.give_rows();
            if let Some(observer) = &mut self.state.observer
                && !self.state.stopped
                && self.network.tell(now, wire, *observer).is_break()
            {
                self.state.stopped = true;
                // No event comes so early.
                self.state.end = Instant::START;
            }
        }
        while let Some(decided) = self.network.take_decided() {
            self.state.note_decision(&decided);
        }
        while let Some(lost) = self.network.take_lost() {
            self.note_lost(now, lost.flow, lost.flags);
        }
    }

    /// Handles the arrival of a packet at the host that it is for.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "two callers, of which a run has one")]
    fn arrive<const LOOKAHEAD: bool>(&mut self, now: Instant, host: u32, id: u32) {
        let h = host as usize;
        let mut this = &mut self.state.hosts[h];
        let (mut packet, mut options) = self.network.packet(id);
        if packet.corrupted | packet.segment.flags.contains(Flags::SYN) {
            if packet.corrupted {
                this.checksum_errors += 1;
                self.network.release(id);
                return;
            }
            if h >= self.state.static_hosts && this.unused {
                self.accept(now, h);
            }
            this = &mut self.state.hosts[h];
            (packet, options) = self.network.packet(id);
        }
        this.endpoint.handle(now, &packet.segment, packet.ip, options);
        this.count_arrival(now, &packet.segment, packet.first_sent);
        self.network.release(id);
        if h < self.state.static_hosts {
            self.service_host::<LOOKAHEAD>(now, h);
        } else {
            self.service_host_apart::<LOOKAHEAD>(now, h);
        }
    }

    /// Handles a host's wake-up.
    fn wake<const LOOKAHEAD: bool>(&mut self, now: Instant, host: u32) {
        if self.state.hosts[host as usize].wake(now) {
            self.service_host_apart::<LOOKAHEAD>(now, host as usize);
        }
    }

    /// [`service_host`](Self::service_host), not inlined: one copy for all but arrivals of static flows. Where events
    /// of many kinds alternate, each inlined copy would drive another from the cache.
    #[inline(never)]
    fn service_host_apart<const LOOKAHEAD: bool>(&mut self, now: Instant, h: usize) {
        self.service_host::<LOOKAHEAD>(now, h);
    }

    /// Lets a host's application and end point do what they can, and arms its wake-up.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller has nearly all packets of static flows")]
    fn service_host<const LOOKAHEAD: bool>(&mut self, now: Instant, h: usize) {
        let mut host = &mut self.state.hosts[h];
        host.app_at = host.app.poll(now, &mut host.endpoint, &mut self.state.notes);
        if !self.state.notes.is_empty() {
            self.take_notes(now, h);
            host = &mut self.state.hosts[h];
        }
        if host.endpoint.received() >= host.awaited {
            host.awaited = self.state.objects.on_received(
                now,
                h / 2,
                host.endpoint.received(),
                &mut self.state.run.objects,
            );
        }
        if !LOOKAHEAD && self.state.givers.has(h) {
            self.give(now, h);
            host = &mut self.state.hosts[h];
        } else {
            loop {
                let mut vacancy = self.network.vacancy();
                let Some(beside) = host.endpoint.poll_transmit_into(now, &mut vacancy) else {
                    break;
                };
                // Only a pure ACK answers one data packet and nothing else.
                let echo = if beside.has_data {
                    Instant::NEVER
                } else {
                    std::mem::replace(&mut host.echo, Instant::NEVER)
                };
                self.network.send::<LOOKAHEAD>(now, beside, host.flow, host.first_hop, echo);
                if beside.is_last {
                    break;
                }
            }
        }
        let next = host.endpoint.wakes_at().min(host.app_at.unwrap_or(Instant::NEVER));
        // A timer that moved back is left alone: it fires early and is armed anew.
        if next < host.armed {
            host.armed = next;
            // Where hosts are advanced in windows with links it is looked up.
            if LOOKAHEAD {
                self.network.set_timer(now, h);
            } else {
                let subject = u32::try_from(h).expect("fewer than 2^32 hosts");
                self.network.wheel.push(next.max(now), Class::Timer, subject);
            }
        }
        if host.watched && !self.goes_on(h) {
            self.sample(now, h);
        }
    }

    /// Sends all that a host may send, and tells the observer of it.
    #[cold]
    fn give(&mut self, now: Instant, h: usize) {
        while self.state.givers.before(now, h, &mut self.state.hosts[h].endpoint) {
            let host = &mut self.state.hosts[h];
            let mut vacancy = self.network.vacancy();
            let Some(beside) = host.endpoint.poll_transmit_into(now, &mut vacancy) else { break };
            let echo = if beside.has_data {
                Instant::NEVER
            } else {
                std::mem::replace(&mut host.echo, Instant::NEVER)
            };
            let (flow, first_hop) = (host.flow, host.first_hop);
            let segment = *self.network.written();
            self.network.send::<false>(now, beside, flow, first_hop, echo);
            self.state.tell_given(now, h, &segment);
            if beside.is_last {
                break;
            }
        }
        self.state.givers.rests(h, &self.state.hosts[h].endpoint);
    }

    /// Changes the path.
    #[cold]
    fn change(&mut self, now: Instant, n: u32) {
        if n & SLOT != 0 {
            self.network.end_slot(now, n & !SLOT);
            return;
        }
        let change = &self.path_changes[n as usize];
        for (wire, becomes) in &change.wires {
            self.network.change(now, *wire, becomes);
        }
        for (flow, hops) in &change.routes {
            for (host, hop) in self.state.hosts[2 * flow..].iter_mut().zip(hops) {
                host.first_hop = *hop;
            }
        }
    }

    /// Returns true if a host that has done what it can needs nothing more: its connection has packets in the network,
    /// and nobody asks how it opens.
    #[inline]
    fn goes_on(&self, h: usize) -> bool {
        let state = &self.state;
        h >= state.static_hosts
            && !state.traffic.judges
            && self.network.carries(state.flow_of(state.slot_of(h)))
    }
}

impl<'o> Events<'o> for Engine<'o> {
    type Network = Network;

    fn parts(&mut self) -> (&mut RunState<'o>, &mut Network) {
        (&mut self.state, &mut self.network)
    }

    fn add_event(&mut self, at: Instant, class: Class, subject: u32) {
        match &mut self.schedule {
            Some(schedule) if matches!(class, Class::Measure | Class::Probe) => {
                schedule.add(at, class, subject);
            }
            _ => self.network.wheel.push(at, class, subject),
        }
    }

    fn serve(&mut self, now: Instant, h: usize) {
        self.service_host_apart::<false>(now, h);
    }

    fn note_flow_rows(&mut self, now: Instant) {
        match &mut self.schedule {
            Some(schedule) => {
                let rows = self.state.run.flow_samples.time_ns.len();
                schedule.note(now, self.network.current_tie_break(), rows);
            }
            None => self.state.give_rows(),
        }
    }

    fn begin(host: &mut Host, (config, seed): (&Config, u64)) {
        host.endpoint.reset(config, seed);
        host.begin();
    }

    fn reset_apps(state: &mut RunState<'o>, client: usize, n: u32) {
        let RunState { hosts, traffic, users, .. } = state;
        let [client, server] = &mut hosts[client..client + 2] else { unreachable!("two ends") };
        match (&mut client.app, &mut server.app) {
            (AnyApp::Client(client), AnyApp::Server(server)) => {
                let session = traffic.classes[n as usize].session();
                client.restart(session);
                server.restart(session);
            }
            (AnyApp::WebClient(client), AnyApp::WebServer(server)) => {
                client.restart();
                server.restart(users.http(n));
            }
            _ => {}
        }
    }
}
