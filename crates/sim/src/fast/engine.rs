//! The run loop: takes events off the clock and hands them to hosts, links, sources and probes.

mod browsing;
mod partitions;
mod passing;
mod routing;
mod setup;

use ackclock_app::{App, Note};
use ackclock_net::LinkChange;
use ackclock_packet::Flags;
use ackclock_tcp::simulator::Simulated;
use ackclock_units::Instant;

use super::link::Link;
use super::lookahead::Turns;
use super::network::{Network, SLOT, Step};
use super::prefetch::prefetch_lines;
use super::wheel::Event;
use crate::browsing::Users;
use crate::changes::{Changes, PathChange, path_changes};
use crate::class::Class;
use crate::cross::{CrossSource, source_name};
use crate::host::Host;
use crate::measure::Measures;
use crate::objects::ObjectLog;
use crate::observe::{Observer, Taps};
use crate::probe::Probes;
use crate::records::Run;
use crate::scenario::Scenario;
use crate::setup::{FlowHosts, link_parts, named, routers};
use crate::topology::{Layout, flow_names};
use crate::traffic::Classes;
use crate::{Collector, MOST_AT_ONE_MOMENT, Meter, ScenarioError, Watcher, flow_entries};
use partitions::Schedule;
use setup::{clock, shared, which_are_fused};

/// The meter is told after so many events.
const MARK_EVERY: u64 = 1 << 15;
/// So many places ahead in a lane each is fetched: far enough for memory, near enough for the cache.
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
    hosts: Vec<Host>,
    sources: Vec<CrossSource>,
    measures: Measures,
    probes: Probes,
    objects: ObjectLog,
    traffic: Classes,
    users: Users,
    /// Hosts of flows.
    lasting: usize,
    changes: Changes,
    path_changes: Vec<ReadyChange>,
    /// What the application that was polled last told.
    notes: Vec<Note>,
    end: Instant,
    run: Run,
    events: u64,
    /// How hosts and the links that they share may take turns, and how they do.
    turns: Option<Turns>,
    schedule: Option<Box<Schedule>>,
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
        let links = link_parts(scenario, &layout).into_iter().map(Link::new).collect();
        let probes = Probes::new(scenario, &entries, &names, &layout);
        let (fused, turns) = which_are_fused(scenario, &layout, &probes);
        let mut network = Network::new(clock(scenario, &layout), links, fused);
        network.give_lanes(shared(&layout));
        if scenario.traffic.is_empty() {
            // A connection that comes and goes may be over by what its last packet meets.
            network.end_at(Instant::START + scenario.duration.0);
        }
        network.set_routers(routers(scenario, &layout));
        let end = Instant::START + scenario.duration.0;
        let flows = FlowHosts::new(scenario, &entries, &names, |n| {
            let flow = u32::try_from(n).expect("the check bounds the number of flows");
            let [there, back] = &layout.paths[n];
            [network.add_path(there, 2 * flow + 1), network.add_path(back, 2 * flow)]
        })?;
        for (opens, host) in flows.openers() {
            network.wheel.push(opens, Class::Timer, host);
        }
        let FlowHosts { hosts, variants } = flows;
        let mut run = named(names, &layout);
        let names = &run.flow_names;
        let shared: Vec<_> = (0..scenario.traffic.len())
            .map(|n| (layout.class_paths[n].clone(), layout.class_rtt(n)))
            .collect();
        let traffic = Classes::new(scenario, &shared, &mut run.connections, names.len())?;
        let path_changes = path_changes(scenario, &entries, names, &layout);
        let mut engine = Self {
            sources: Vec::new(),
            changes: Changes::new(scenario, names.len()),
            path_changes: Vec::new(),
            measures: Measures::new(scenario, &entries, &run, &variants, &layout),
            probes,
            objects: ObjectLog::new(names.len()),
            traffic,
            users: Users::new(scenario),
            lasting: hosts.len(),
            notes: Vec::new(),
            end,
            run,
            events: 0,
            turns,
            schedule: None,
            observer: None,
            collector: None,
            meter,
            stopped: false,
            network,
            hosts,
        };
        engine.add_changes(path_changes);
        engine.add_sources(scenario, &layout);
        engine.add_traffic(scenario);
        engine.schedule_observers();
        match watcher {
            Watcher::Nobody => {}
            Watcher::Observer(links, observer) => engine.observe(links, observer),
            Watcher::Collector(collector) => engine.collector = Some(collector),
        }
        Ok(engine)
    }

    /// Lays the ways that flows take when the path changes.
    fn add_changes(&mut self, changes: Vec<PathChange>) {
        for PathChange { wires, routes } in changes {
            let routes = routes.into_iter().map(|(flow, [there, back])| {
                let host = index(2 * flow);
                (
                    flow,
                    [self.network.add_path(&there, host + 1), self.network.add_path(&back, host)],
                )
            });
            let routes = routes.collect();
            self.path_changes.push(ReadyChange { wires, routes });
        }
    }

    fn add_sources(&mut self, scenario: &Scenario, layout: &Layout) {
        for (n, spec) in scenario.cross_traffic.iter().enumerate() {
            let name = source_name(spec, n);
            let wire = layout.wire(&spec.link, spec.direction).expect("the check found the link");
            let number = self.network.links[wire].add_source();
            self.measures.add_source(&name, &spec.link, wire, number);
            let class = self.hosts.len() / 2 + n;
            let mut source = CrossSource::new(scenario, spec, n, wire, number, class);
            let first = source.next(Instant::START + spec.start.0);
            let subject = u32::try_from(n).expect("fewer than 2^32 sources");
            self.network.wheel.push(first, Class::Cross, subject);
            self.sources.push(source);
        }
    }

    fn add_traffic(&mut self, scenario: &Scenario) {
        // Packets of cross-traffic sources come between, in a fair queue's classes.
        let first = self.lasting / 2 + self.sources.len();
        self.network.count_from(u32::try_from(first).expect("fewer than 2^32 flows"));
        for (n, spec) in scenario.traffic.iter().enumerate() {
            self.schedule_opening(n, Instant::START + spec.start.0);
        }
    }

    fn schedule_opening(&mut self, n: usize, last: Instant) {
        if let Some(at) = self.traffic.next_arrival(n, last) {
            let subject = u32::try_from(n).expect("fewer than 2^32 classes");
            self.network.wheel.push(at, Class::Opening, subject);
        }
    }

    fn schedule_observers(&mut self) {
        for (n, at) in self.changes.moments() {
            self.network.wheel.push(at, Class::Change, n);
        }
        self.network.count(&self.measures.crossed(), self.hosts.len() / 2);
        for (n, at) in self.measures.moments() {
            self.network.wheel.push(at, Class::Measure, n);
        }
        for (n, at) in self.probes.first_moments() {
            self.network.wheel.push(at, Class::Probe, n);
        }
        for flow in self.probes.flows_seen_on_change() {
            self.hosts[2 * flow].watched = true;
        }
        self.network.watch(self.probes.wires_seen_on_change());
        self.let_links_forget(Instant::START);
    }

    /// Links need not remember for whom nobody will ask: what came between two moments at which counters
    /// are read.
    fn let_links_forget(&mut self, now: Instant) {
        let Some(reads) = self.measures.reads_after(now) else { return };
        let mut asked = reads;
        for (wire, link) in self.network.links.iter_mut().enumerate() {
            if self.probes.looks_at(wire) {
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

    /// The same run with all events in the order of time.
    #[cfg(test)]
    pub fn by_the_clock(mut self) -> Self {
        self.turns = None;
        self
    }

    /// The same run in turns wherever that is possible.
    #[cfg(test)]
    pub fn in_turns(mut self) -> Self {
        if let Some(turns) = &mut self.turns {
            turns.worth_it = true;
        }
        self
    }

    /// Tells `observer` what `links` send.
    fn observe(&mut self, links: &[usize], observer: &'o mut dyn Observer) {
        self.turns = None;
        let taps = Taps::new(links, self.network.links.len() / 2, self.hosts.len());
        self.network.tap(taps);
        self.observer = Some(observer);
    }

    /// Rows were added: has the collector take them if there are many.
    fn relieve(&mut self) {
        let Some(collector) = &mut self.collector else { return };
        self.run.give_rows(self.objects.has_pending(), *collector);
    }

    /// Runs to the end; `None` if the observer did not let it.
    pub fn run(mut self) -> Option<Run> {
        match self.turns.take_if(|turns| turns.worth_it) {
            Some(turns) => {
                self.run_in_turns(&turns);
            }
            None => self.run_by_the_clock(),
        }
        self.finish()
    }

    fn run_by_the_clock(&mut self) {
        let mut at_last_mark = Instant::NEVER;
        let mut at_one_moment = 0;
        while let Some(event) = self.network.wheel.pop() {
            if event.at() > self.end {
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

    /// Says how far the run is, and that so many events came at one moment; `false` if it is to end.
    #[cold]
    pub(crate) fn mark(&mut self, now: Instant, at_one_moment: u64) -> bool {
        // Each host may have an event or some at one moment, such as all opening at the start.
        let stuck = at_one_moment > MOST_AT_ONE_MOMENT + 8 * self.hosts.len() as u64;
        if stuck {
            self.meter.is_stuck_at(now);
        }
        let goes_on = self.meter.reach(now) && !stuck;
        self.stopped |= !goes_on;
        goes_on
    }

    fn finish(mut self) -> Option<Run> {
        if let Some(observer) = &mut self.observer
            && !self.stopped
        {
            self.stopped = self.network.tell_rest(self.end, *observer).is_break();
        }
        if self.stopped {
            return None;
        }
        self.network.forget_packets();
        self.measures.finish(
            self.end,
            &mut self.network,
            &self.hosts[..self.lasting],
            &mut self.run,
        );
        for slot in (0..).take(self.traffic.slots.len()) {
            self.record(slot, None);
        }
        self.users.finish(&mut self.run.pages);
        self.finish_requests();
        self.run.events = self.events;
        self.run.add_videos(&self.hosts, self.end);
        Some(self.run)
    }

    /// Has fetched what the next packets of a lane will need, first the packet, then its host, then the
    /// link on which the host answers: each tells where the next one is.
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
            network.prefetch_link(self.hosts[host as usize].first_hop);
        }
    }

    /// Has the lines of a host fetched that `data` for it touches, or else an ACK.
    #[inline]
    fn fetch_host(&self, host: u32, data: bool) {
        let host = &self.hosts[host as usize];
        prefetch_lines(host, 0..3);
        prefetch_lines(host, 5..10);
        if !data {
            prefetch_lines(host, 10..17);
            prefetch_lines(host, 21..26);
        }
    }

    /// The same as [`handle`](Self::handle), in a place of its own.
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
            Class::Cross => self.cross(now, subject),
            class @ (Class::Measure | Class::Probe) => self.look(now, class, subject),
        }
        if self.network.has_news() {
            self.take_news(now);
        }
    }

    /// A measure or a probe looks at everything.
    #[inline(never)]
    fn look(&mut self, now: Instant, class: Class, subject: u32) {
        let flows = &self.hosts[..self.lasting];
        if class == Class::Measure {
            let next = self.measures.on_moment(subject, now, &mut self.network, flows);
            if let Some((subject, at)) = next {
                self.look_again(at, Class::Measure, subject);
            }
            self.let_links_forget(now);
            return;
        }
        let next =
            self.probes.on_moment(subject, now, &mut self.network, &self.hosts, &mut self.run);
        self.relieve();
        if let Some(at) = next.filter(|at| *at <= self.end) {
            self.look_again(at, Class::Probe, subject);
        }
    }

    fn look_again(&mut self, at: Instant, class: Class, subject: u32) {
        match &mut self.schedule {
            Some(schedule) => schedule.add(at, class, subject),
            None => self.network.wheel.push(at, class, subject),
        }
    }

    /// Packets have come to watched links, or packets of passing connections were lost.
    #[inline(never)]
    fn take_news(&mut self, now: Instant) {
        while let Some(wire) = self.network.take_touched() {
            self.probes.on_wire_change(wire, now, &mut self.network, &mut self.run);
            self.relieve();
            if let Some(observer) = &mut self.observer
                && !self.stopped
                && self.network.tell(now, wire, *observer).is_break()
            {
                self.stopped = true;
                // No event comes so early.
                self.end = Instant::START;
            }
        }
        while let Some(decided) = self.network.take_decided() {
            self.note_decision(&decided);
        }
        while let Some(gone) = self.network.take_gone() {
            let slot = gone.flow - self.first_passing();
            if gone.flags.contains(Flags::SYN) {
                self.traffic.on_lost_syn(slot, gone.flags.contains(Flags::ACK));
            }
            self.settle(now, slot);
        }
    }

    /// A packet arrives at the host it is for.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "two callers, of which a run has one")]
    fn arrive<const TURNS: bool>(&mut self, now: Instant, host: u32, id: u32) {
        let h = host as usize;
        let mut this = &mut self.hosts[h];
        let (mut packet, mut options) = self.network.packet(id);
        if packet.corrupted | packet.segment.flags.contains(Flags::SYN) {
            if packet.corrupted {
                this.checksum_errors += 1;
                self.network.release(id);
                return;
            }
            if h >= self.lasting && this.vacant {
                self.accept(now, h);
            }
            this = &mut self.hosts[h];
            (packet, options) = self.network.packet(id);
        }
        this.endpoint.handle(now, &packet.segment, packet.ip, options);
        if packet.segment.len > 0 {
            this.echo = packet.first_sent;
            this.arrived_packets += 1;
            this.arrived_bytes += packet.segment.wire_size().get();
        } else if packet.first_sent != Instant::NEVER {
            this.path_rtt_sum_ns += u128::from(now.since(packet.first_sent).as_nanos());
            this.path_rtts += 1;
        }
        self.network.release(id);
        if this.sized && this.completed.is_none() && this.endpoint.sender().fin_acked() {
            this.completed = Some(now);
        }
        if h < self.lasting {
            self.pump::<TURNS>(now, h);
        } else {
            self.pump_apart::<TURNS>(now, h);
        }
    }

    /// A host's wake-up is due.
    fn wake<const TURNS: bool>(&mut self, now: Instant, host: u32) {
        let h = host as usize;
        let this = &mut self.hosts[h];
        if this.armed != now {
            return;
        }
        this.armed = Instant::NEVER;
        if this.vacant {
            return;
        }
        if this.unopened && this.opens == now {
            this.unopened = false;
            this.endpoint.connect(now);
        }
        self.pump_apart::<TURNS>(now, h);
    }

    /// The same as [`pump`](Self::pump), in one place for all that is not the arrival of a lasting flow's
    /// packet: where many ways are gone by turns, each copy of its code drives another from the cache.
    #[inline(never)]
    fn pump_apart<const TURNS: bool>(&mut self, now: Instant, h: usize) {
        self.pump::<TURNS>(now, h);
    }

    /// Lets a host's application and end point do what they can, and arms its wake-up.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller has nearly all packets of lasting flows")]
    fn pump<const TURNS: bool>(&mut self, now: Instant, h: usize) {
        let mut host = &mut self.hosts[h];
        host.app_at = host.app.poll(now, &mut host.endpoint, &mut self.notes);
        if !self.notes.is_empty() {
            self.take_notes(now, h);
            host = &mut self.hosts[h];
        }
        if host.endpoint.received() >= host.awaited {
            host.awaited = self.objects.on_received(
                now,
                h / 2,
                host.endpoint.received(),
                &mut self.run.objects,
            );
        }
        loop {
            let mut vacancy = self.network.vacancy();
            let Some(beside) = host.endpoint.poll_transmit_into(now, &mut vacancy) else { break };
            // Only a pure ACK answers one data packet and nothing else.
            let echo = if beside.has_data {
                Instant::NEVER
            } else {
                std::mem::replace(&mut host.echo, Instant::NEVER)
            };
            self.network.send::<TURNS>(now, beside, host.flow, host.first_hop, echo);
            if beside.is_last {
                break;
            }
        }
        let next = host.endpoint.wakes_at().min(host.app_at.unwrap_or(Instant::NEVER));
        // A timer that moved back is left alone: it fires early and is armed anew.
        if next < host.armed {
            host.armed = next;
            // Where hosts take turns with links it is looked up.
            if TURNS {
                self.network.set_timer(now, h);
            } else {
                let subject = u32::try_from(h).expect("fewer than 2^32 hosts");
                self.network.wheel.push(next.max(now), Class::Timer, subject);
            }
        }
        if host.watched && !self.goes_on(h) {
            self.look_at(now, h);
        }
    }

    /// An application told something.
    #[cold]
    fn take_notes(&mut self, now: Instant, h: usize) {
        if h >= self.lasting {
            let slot = self.slot_of(h);
            let mut woken = None;
            for note in self.notes.drain(..) {
                self.traffic.on_note(now, slot, note, &mut self.run.objects);
                let rows = (&mut self.run.objects, &mut self.run.pages);
                woken = self.users.on_note(now, slot, note, rows).or(woken);
            }
            if let Some(user) = woken {
                self.arm_user(now, user);
            }
            return;
        }
        for note in std::mem::take(&mut self.notes) {
            match note {
                Note::Object(bytes) => {
                    let objects = &mut self.run.objects;
                    self.hosts[h | 1].awaited = self.objects.on_given(now, h / 2, bytes, objects);
                }
                Note::Moment(moment) => {
                    let begun = self.measures.on_flow_event(
                        h / 2,
                        moment,
                        now,
                        &mut self.network,
                        &self.hosts[..self.lasting],
                    );
                    for (subject, at) in begun {
                        self.network.wheel.push(at, Class::Measure, subject);
                    }
                    for n in self.changes.on_flow_event(h / 2, moment) {
                        self.network.wheel.push(now, Class::Change, n);
                    }
                }
                // Of the sessions of traffic classes alone.
                Note::Requested { .. } | Note::Begun | Note::Completed => {}
            }
        }
    }

    /// The path changes.
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
            for (host, hop) in self.hosts[2 * flow..].iter_mut().zip(hops) {
                host.first_hop = *hop;
            }
        }
    }

    /// A host that a probe watches, or that comes and goes, has done what it can.
    #[inline(never)]
    fn look_at(&mut self, now: Instant, h: usize) {
        if h < self.lasting {
            self.probes.on_flow_change(h / 2, now, &self.hosts, &mut self.run);
            match &mut self.schedule {
                Some(schedule) => {
                    let rows = self.run.flow_samples.time_ns.len();
                    schedule.note(now, self.network.current_rank(), rows);
                }
                None => self.relieve(),
            }
            return;
        }
        let slot = self.slot_of(h);
        if h % 2 == 1 {
            self.traffic.watch_handshake(now, slot, &self.hosts[h].endpoint);
        }
        self.settle(now, slot);
    }

    /// A cross-traffic source sends a packet.
    fn cross(&mut self, now: Instant, n: u32) {
        let source = &mut self.sources[n as usize];
        if now >= source.stop {
            return;
        }
        self.network.offer_cross(now, source.wire, source.packet);
        source.sent += 1;
        let next = source.next(now);
        self.network.wheel.push(next, Class::Cross, n);
    }
}

/// A place in an arena, of fewer than 2^32.
fn index(n: usize) -> u32 {
    u32::try_from(n).expect("an arena of fewer than 2^32 entries")
}
