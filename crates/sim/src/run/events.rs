//! The events that both engines handle in one way: connections open and close, users browse, applications tell
//! something, sources send, measures and probes look.

use ackclock_app::{Act, AnyApp, Note};
use ackclock_packet::Flags;
use ackclock_tcp::Config;
use ackclock_units::Instant;

use crate::hosts::host::Host;
use crate::layout::headers::tell_headers;
use crate::layout::links::Network;
use crate::layout::topology::Layout;
use crate::records::Run;
use crate::run::class::Class;
use crate::run::state::{RunState, index};
use crate::scenario::Scenario;
use crate::traffic::Slot;
use crate::traffic::cross::{CrossSource, source_name};

/// A bit of the subject of [`Class::Opening`]: not a class of connections opens, but a user is woken.
const USER: u32 = 1 << 30;

/// An engine, as far as the events that both handle in one way need it.
pub trait Events<'o> {
    /// Its links and paths.
    type Network: Network;

    /// The state of the run and the network.
    fn parts(&mut self) -> (&mut RunState<'o>, &mut Self::Network);

    /// An event of `class` is to come at `at`.
    fn add_event(&mut self, at: Instant, class: Class, subject: u32);

    /// A host's application and end point do what they can, and its timer is set.
    fn serve(&mut self, now: Instant, h: usize);

    /// A flow's probe has added rows.
    fn note_flow_rows(&mut self, now: Instant);

    /// A connection begins at a host, with these settings and this seed.
    fn begin(host: &mut Host, settings: (&Config, u64));

    /// The client and the server of a slot get the applications of the connection of class `n` that opens.
    fn reset_apps(state: &mut RunState<'o>, client: usize, n: u32);

    /// Adds all events that are known before the run, after the links and hosts.
    fn start(&mut self, scenario: &Scenario, layout: &Layout, openers: Vec<(Instant, u32)>) {
        for (opens, host) in openers {
            self.add_event(opens, Class::Timer, host);
        }
        let (_, network) = self.parts();
        tell_headers(scenario, layout, |wire, class, header| network.describe(wire, class, header));
        for (n, spec) in scenario.cross_traffic.iter().enumerate() {
            let wire = layout.wire(&spec.link, spec.direction).expect("the check found the link");
            let (state, network) = self.parts();
            let number = network.add_source(wire);
            state.measures.add_source(&source_name(spec, n), &spec.link, wire, number);
            let class = state.static_hosts / 2 + n;
            let mut source = CrossSource::new(scenario, spec, n, wire, number, class);
            let first = source.next(Instant::START + spec.start);
            state.sources.push(source);
            self.add_event(first, Class::Cross, index(n));
        }
        for (n, spec) in scenario.traffic.iter().enumerate() {
            self.schedule_opening(n, Instant::START + spec.start);
        }
        let (state, network) = self.parts();
        network.count_crossings(&state.measures.crossed(), state.static_hosts / 2);
        network.watch(&state.probes.wires_seen_on_change().collect::<Vec<_>>());
        for flow in state.probes.flows_seen() {
            state.hosts[2 * flow].watched = true;
        }
        let (changes, measures) = (state.changes.moments(), state.measures.moments());
        let probes = state.probes.first_moments();
        let known = [(Class::Change, changes), (Class::Measure, measures), (Class::Probe, probes)];
        for (class, moments) in known {
            for (n, at) in moments {
                self.add_event(at, class, n);
            }
        }
    }

    /// The next connection of class `n`, or its next user, is put on the agenda.
    fn schedule_opening(&mut self, n: usize, last: Instant) {
        if let Some(at) = self.parts().0.traffic.next_arrival(n, last) {
            self.add_event(at, Class::Opening, index(n));
        }
    }

    /// A connection of class `n` opens, a user of it comes, or a user is woken.
    fn open(&mut self, now: Instant, n: u32) {
        if n & USER != 0 {
            let user = n & !USER;
            if self.parts().0.users.wakes(now, user) {
                self.browse(now, user);
            }
        } else if self.parts().0.users.browse(n) {
            self.schedule_opening(n as usize, now);
            let user = self.parts().0.users.come(now, n);
            self.browse(now, user);
        } else {
            let slot = self.open_connection(now, n);
            self.schedule_opening(n as usize, now);
            let client = self.parts().0.client_of(slot);
            self.serve(now, client);
        }
    }

    /// A connection of class `n` begins to open; returns its slot.
    fn open_connection(&mut self, now: Instant, n: u32) -> u32 {
        let opening = self.parts().0.traffic.open(now, n as usize);
        let slot = opening.slot.unwrap_or_else(|| self.add_slot(n, opening.lines.is_some()));
        let (state, network) = self.parts();
        let h = state.client_of(slot);
        Self::reset_apps(state, h, n);
        let class = &state.traffic.classes[n as usize];
        if let Some(first) = state.traffic.slots[slot as usize].lines {
            class.reset_lines(&opening, network.lines_from(first));
        }
        let client = &mut state.hosts[h];
        Self::begin(client, class.client(&opening));
        client.endpoint.connect(now);
        state.traffic.begin(slot, &opening);
        slot
    }

    /// Makes a slot for class `n`, with private lines or without.
    fn add_slot(&mut self, n: u32, has_lines: bool) -> u32 {
        let (state, network) = self.parts();
        let slot = index(state.traffic.slots.len());
        let lines = has_lines.then(|| network.add_lines());
        let class = &state.traffic.classes[n as usize];
        let first_hops = network.add_paths(&class.paths, lines, index(state.client_of(slot)));
        // The server accepts with settings of its own, and the client opens with some.
        let config = class.any_config();
        for (app, first_hop) in state.new_apps(n).into_iter().zip(first_hops) {
            state.hosts.push(Host::unused(app, state.flow_of(slot), first_hop, config));
        }
        for (wire, header) in &state.class_headers[n as usize] {
            network.describe(*wire, state.flow_of(slot), *header);
        }
        state.traffic.slots.push(Slot { class: n, lines, connection: None });
        slot
    }

    /// The first SYN of a connection comes to its server.
    #[inline(never)]
    fn accept(&mut self, now: Instant, h: usize) {
        let (state, _) = self.parts();
        let slot = state.slot_of(h);
        if let Some(settings) = state.traffic.accept(now, slot) {
            Self::begin(&mut state.hosts[h], settings);
            state.hosts[h].endpoint.listen();
        }
    }

    /// A packet of a dynamic connection, which has this flow number, is lost.
    fn note_lost(&mut self, now: Instant, flow: u32, flags: Flags) {
        let (state, _) = self.parts();
        let slot = flow - state.first_dynamic;
        if flags.contains(Flags::SYN) {
            state.traffic.on_lost_syn(slot, flags.contains(Flags::ACK));
        }
        self.settle(now, slot);
    }

    /// Gives a slot away if nothing can happen to its connection any more.
    fn settle(&mut self, now: Instant, slot: u32) {
        let (state, network) = self.parts();
        if network.carries(state.flow_of(slot)) {
            return;
        }
        let h = state.client_of(slot);
        if state.hosts[h..h + 2].iter().all(Host::is_quiet) {
            self.record(slot, Some(now));
        }
    }

    /// Leaves the row of the connection in a slot, if there is one, and empties the slot.
    fn record(&mut self, slot: u32, closed: Option<Instant>) {
        let (state, _) = self.parts();
        let h = state.client_of(slot);
        let (class, connection) = state.traffic.owner(slot);
        if connection != u32::MAX {
            for host in [h, h + 1] {
                state.note_requests(class, connection, host);
            }
        }
        let Run { connections, objects, pages, .. } = &mut state.run;
        if closed.is_none() {
            state.users.closed(slot, objects);
        }
        let user = closed.and_then(|now| state.users.gone(now, slot, (objects, pages)));
        let [client, server] = &mut state.hosts[h..h + 2] else { unreachable!("two ends") };
        let ends = [&client.endpoint, &server.endpoint];
        state.traffic.record(slot, closed, ends, connections, objects);
        client.unused = true;
        server.unused = true;
        if let Some((now, user)) = closed.zip(user) {
            self.arm_user(now, user);
        }
        self.parts().0.give_rows();
    }

    /// The clock wakes a user when there is something to be done.
    fn arm_user(&mut self, now: Instant, user: u32) {
        if let Some(at) = self.parts().0.users.arm(now, user) {
            self.add_event(at, Class::Opening, USER | user);
        }
    }

    /// A user does all that is to be done now, and not while an end point is served.
    fn browse(&mut self, now: Instant, user: u32) {
        // Requests on one connection at one moment are written at once.
        let mut asked: Option<u32> = None;
        loop {
            let (state, _) = self.parts();
            let act = state.users.act(now, user);
            if let Some(slot) = asked
                && !matches!(act, Some(Act::Ask(next, _)) if next == slot)
            {
                asked = None;
                let client = state.client_of(slot);
                self.serve(now, client);
            }
            let (state, _) = self.parts();
            match act {
                None => break,
                Some(Act::Open) => {
                    let class = state.users.class_of(user);
                    let slot = self.open_connection(now, class);
                    let (state, _) = self.parts();
                    state.users.opened(user, slot, state.traffic.owner(slot));
                }
                Some(Act::Ask(slot, exchange)) => {
                    state.users.asked(now, slot, exchange.response);
                    let h = state.client_of(slot);
                    if let [client, server] = &mut state.hosts[h..h + 2]
                        && let (AnyApp::WebClient(client), AnyApp::WebServer(server)) =
                            (&mut client.app, &mut server.app)
                    {
                        client.ask(exchange);
                        server.expect(exchange);
                    }
                    asked = Some(slot);
                }
                Some(Act::Close(slot)) => {
                    state.users.closed(slot, &mut state.run.objects);
                    let h = state.client_of(slot);
                    if let AnyApp::WebClient(client) = &mut state.hosts[h].app {
                        client.close();
                    }
                    self.serve(now, h);
                }
            }
        }
        self.arm_user(now, user);
    }

    /// An application told something.
    #[cold]
    fn take_notes(&mut self, now: Instant, h: usize) {
        let (state, _) = self.parts();
        let notes = std::mem::take(&mut state.notes);
        if h >= state.static_hosts {
            let slot = state.slot_of(h);
            let mut woken = None;
            for note in &notes {
                state.traffic.on_note(now, slot, *note, &mut state.run.objects);
                let rows = (&mut state.run.objects, &mut state.run.pages);
                woken = state.users.on_note(now, slot, *note, rows).or(woken);
            }
            if let Some(user) = woken {
                self.arm_user(now, user);
            }
        } else {
            for note in &notes {
                self.take_flow_note(now, h, *note);
            }
        }
        // Its memory is used again.
        let (state, _) = self.parts();
        state.notes = notes;
        state.notes.clear();
    }

    /// The application of a flow told something.
    fn take_flow_note(&mut self, now: Instant, h: usize, note: Note) {
        let (state, network) = self.parts();
        match note {
            Note::Object(bytes) => {
                let objects = &mut state.run.objects;
                state.hosts[h | 1].awaited = state.objects.on_given(now, h / 2, bytes, objects);
            }
            Note::Moment(moment) => {
                let flows = &state.hosts[..state.static_hosts];
                let begun = state.measures.on_flow_event(h / 2, moment, now, network, flows);
                let changes = state.changes.on_flow_event(h / 2, moment);
                for (subject, at) in begun {
                    self.add_event(at, Class::Measure, subject);
                }
                for n in changes {
                    self.add_event(now, Class::Change, n);
                }
            }
            // Only sessions of traffic classes give these.
            Note::Requested { .. } | Note::Begun | Note::Completed => {}
        }
    }

    /// A host that a probe watches, or whose connection comes and goes, has done what it can.
    #[inline(never)]
    fn sample(&mut self, now: Instant, h: usize) {
        let (state, _) = self.parts();
        if h < state.static_hosts {
            state.probes.on_flow_change(h / 2, now, &state.hosts, &mut state.run);
            self.note_flow_rows(now);
            return;
        }
        let slot = state.slot_of(h);
        if h % 2 == 1 {
            state.traffic.watch_handshake(now, slot, &state.hosts[h].endpoint);
        }
        self.settle(now, slot);
    }

    /// A cross-traffic source sends a packet.
    fn send_cross(&mut self, now: Instant, n: u32) {
        let (state, network) = self.parts();
        let source = &mut state.sources[n as usize];
        if now >= source.stop {
            return;
        }
        network.offer_cross(now, source.wire, source.packet);
        source.sent += 1;
        let next = source.next(now);
        self.add_event(next, Class::Cross, n);
    }

    /// A measured window begins or ends.
    fn measure(&mut self, now: Instant, subject: u32) {
        let (state, network) = self.parts();
        let flows = &state.hosts[..state.static_hosts];
        if let Some((subject, at)) = state.measures.on_moment(subject, now, network, flows) {
            self.add_event(at, Class::Measure, subject);
        }
    }

    /// The interval of a probe is over.
    fn probe(&mut self, now: Instant, subject: u32) {
        let (state, network) = self.parts();
        let next = state.probes.on_moment(subject, now, network, &state.hosts, &mut state.run);
        state.give_rows();
        if let Some(at) = next.filter(|at| *at <= state.end) {
            self.add_event(at, Class::Probe, subject);
        }
    }

    /// The run is over: adds the rows that come last.
    fn add_last_rows(&mut self) {
        let (state, network) = self.parts();
        let flows = &state.hosts[..state.static_hosts];
        state.measures.finish(state.end, network, flows, &mut state.run);
        for slot in 0..index(state.traffic.slots.len()) {
            self.record(slot, None);
        }
        let (state, _) = self.parts();
        state.users.finish(&mut state.run.pages);
        for host in 0..state.static_hosts {
            state.note_requests(index(host / 2), 0, host);
        }
        state.run.quick_start.sort_by_key(|row| row.time_ns);
        state.run.flow_events.sort_by_key(|row| (row.time_ns, row.flow));
        state.run.law_samples.sort_by_key(|row| (row.time_ns, row.flow));
        state.add_videos();
    }
}
