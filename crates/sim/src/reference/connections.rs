//! Connections that come and go: opening, accepting, browsing, and giving a slot away.

use ackclock_app::{Act, AnyApp, Client, Server};
use ackclock_net::path::Step;
use ackclock_net::{Line, LineConfig};
use ackclock_packet::Flags;
use ackclock_tcp::{Config, Endpoint};
use ackclock_units::Instant;
use ackclock_units::random::Stream;

use super::packet::SimPacket;
use super::{Engine, USER, index};
use crate::class::Class;
use crate::host::Host;
use crate::records::{QuickStartRow, Run};
use crate::traffic::Slot;

impl Engine<'_> {
    /// The slot of a host.
    pub(super) fn slot_of(&self, h: usize) -> u32 {
        index((h - self.static_hosts) / 2)
    }

    /// The client of a slot among the hosts; the server comes next.
    const fn client_of(&self, slot: u32) -> usize {
        self.static_hosts + 2 * slot as usize
    }

    pub(super) fn schedule_opening(&mut self, n: usize, last: Instant) {
        if let Some(at) = self.traffic.next_arrival(n, last) {
            self.agenda.add(at, Class::Opening, index(n));
        }
    }

    /// A connection of class `n` opens, a user of it comes, or a user is woken.
    pub(super) fn open(&mut self, now: Instant, n: u32) {
        if n & USER != 0 {
            let user = n & !USER;
            if self.users.wakes(now, user) {
                self.browse(now, user);
            }
        } else if self.users.browse(n) {
            self.schedule_opening(n as usize, now);
            let user = self.users.come(now, n);
            self.browse(now, user);
        } else {
            let slot = self.open_connection(now, n);
            self.schedule_opening(n as usize, now);
            self.serve(now, self.client_of(slot));
        }
    }

    /// A connection of class `n` begins to open; returns its slot.
    fn open_connection(&mut self, now: Instant, n: u32) -> u32 {
        let opening = self.traffic.open(now, n as usize);
        let slot = opening.slot.unwrap_or_else(|| self.add_slot(n, opening.lines.is_some()));
        if let Some(first) = self.traffic.slots[slot as usize].lines {
            let lines = &mut self.path.lines_mut()[first as usize..];
            let lines = lines.first_chunk_mut().expect("lines come in fours");
            self.traffic.classes[n as usize].renew_lines(&opening, lines);
        }
        self.traffic.move_in(slot, &opening);
        let class = &self.traffic.classes[n as usize];
        let (client_app, server_app) = self.apps(n);
        let (config, seed) = class.client(&opening);
        let h = self.client_of(slot);
        let client = &mut self.hosts[h];
        begin(client, config, seed);
        client.app = client_app;
        client.endpoint.connect(now);
        self.hosts[h + 1].app = server_app;
        slot
    }

    /// The applications of the connection of class `n` that opens.
    fn apps(&self, n: u32) -> (AnyApp, AnyApp) {
        if self.users.browse(n) {
            let mut server = Box::<ackclock_app::WebServer>::default();
            server.restart(self.users.http(n));
            return (AnyApp::WebClient(Box::default()), AnyApp::WebServer(server));
        }
        let session = self.traffic.classes[n as usize].session();
        let (client, server) = (Client::new(session), Server::new(session));
        (AnyApp::Client(Box::new(client)), AnyApp::Server(Box::new(server)))
    }

    /// Makes a slot for class `n`, with private lines or without.
    fn add_slot(&mut self, n: u32, has_lines: bool) -> u32 {
        let slot = index(self.traffic.slots.len());
        // Of the client up and into the client, of the server up and into the server.
        let lines = has_lines.then(|| {
            let unused = || Line::new(&LineConfig::default(), Stream::new(0, "line"));
            let [first, ..] = [(); 4].map(|()| self.path.add_line(unused()));
            first
        });
        let class = &self.traffic.classes[n as usize];
        let steps = |wires: &[usize], up: usize, down: usize| {
            let line = |of: usize| lines.map(|first| Step::Line(first + of));
            let links = wires.iter().map(|wire| Step::Link(*wire));
            line(up).into_iter().chain(links).chain(line(down)).collect::<Vec<_>>()
        };
        let [there, back] = &class.paths;
        let ways = [steps(there, 0, 3), steps(back, 2, 1)];
        let config = class.any_config();
        let (client, server) = self.apps(n);
        let h = index(self.client_of(slot));
        let flow = self.first_dynamic + slot;
        for ((app, way), to) in [client, server].into_iter().zip(ways).zip([h + 1, h]) {
            let end = self.path.add_end(way, to);
            self.hosts.push(Host::unused(app, flow, end, config));
        }
        self.traffic.slots.push(Slot { class: n, lines: lines.map(index), connection: None });
        slot
    }

    /// The first SYN of a connection comes to its server.
    pub(super) fn accept(&mut self, now: Instant, h: usize, packet: &SimPacket) {
        if !packet.segment.flags.contains(Flags::SYN) {
            return;
        }
        let slot = self.slot_of(h);
        if let Some((config, seed)) = self.traffic.accept(now, slot) {
            begin(&mut self.hosts[h], config, seed);
            self.hosts[h].endpoint.listen();
        }
    }

    /// Gives a slot away if nothing can happen to its connection any more.
    pub(super) fn settle(&mut self, now: Instant, slot: u32) {
        let h = self.client_of(slot);
        let in_network = self.path.packets_in_network(self.first_dynamic + slot);
        if in_network == 0 && self.hosts[h..h + 2].iter().all(Host::is_quiet) {
            self.record(slot, Some(now));
        }
    }

    /// Leaves the row of the connection in a slot, if there is one, and empties the slot.
    pub(super) fn record(&mut self, slot: u32, closed: Option<Instant>) {
        let h = self.client_of(slot);
        let (class, connection) = self.traffic.owner(slot);
        if connection != u32::MAX {
            for host in [h, h + 1] {
                self.note_requests(class, connection, host);
            }
        }
        let Run { connections, objects, pages, .. } = &mut self.run;
        let user = match closed {
            None => {
                self.users.closed(slot, objects);
                None
            }
            Some(now) => self.users.gone(now, slot, (objects, pages)).map(|user| (now, user)),
        };
        let ends = [&self.hosts[h].endpoint, &self.hosts[h + 1].endpoint];
        self.traffic.record(slot, closed, ends, connections, objects);
        self.hosts[h].vacant = true;
        self.hosts[h + 1].vacant = true;
        if let Some((now, user)) = user {
            self.arm_user(now, user);
        }
        self.give_rows();
    }

    /// The rows of an end's own Quick-Start requests.
    pub(super) fn note_requests(&mut self, flow: u32, connection: u32, host: usize) {
        let log = self.hosts[host].endpoint.quick_start_log().iter();
        self.run
            .quick_start
            .extend(log.map(|event| QuickStartRow::of_end((flow, connection), event)));
    }

    /// The clock wakes a user when there is something to be done.
    pub(super) fn arm_user(&mut self, now: Instant, user: u32) {
        if let Some(at) = self.users.arm(now, user) {
            self.agenda.add(at, Class::Opening, USER | user);
        }
    }

    /// A user does all that is to be done now.
    fn browse(&mut self, now: Instant, user: u32) {
        // What is asked for on one connection at one moment is written at once.
        let mut asked: Option<u32> = None;
        loop {
            let act = self.users.act(now, user);
            if let Some(slot) = asked
                && !matches!(act, Some(Act::Ask(next, _)) if next == slot)
            {
                asked = None;
                self.serve(now, self.client_of(slot));
            }
            match act {
                None => break,
                Some(Act::Open) => {
                    let slot = self.open_connection(now, self.users.class_of(user));
                    self.users.opened(user, slot, self.traffic.owner(slot));
                }
                Some(Act::Ask(slot, exchange)) => {
                    self.users.asked(now, slot, exchange.response);
                    let h = self.client_of(slot);
                    if let AnyApp::WebClient(client) = &mut self.hosts[h].app {
                        client.ask(exchange);
                    }
                    if let AnyApp::WebServer(server) = &mut self.hosts[h + 1].app {
                        server.expect(exchange);
                    }
                    asked = Some(slot);
                }
                Some(Act::Close(slot)) => {
                    self.users.closed(slot, &mut self.run.objects);
                    let h = self.client_of(slot);
                    if let AnyApp::WebClient(client) = &mut self.hosts[h].app {
                        client.close();
                    }
                    self.serve(now, h);
                }
            }
        }
        self.arm_user(now, user);
    }
}

/// A connection begins at a host. The wake-up that the agenda holds for the one before stays: it finds nothing to do, or
/// comes in time for what there is.
fn begin(host: &mut Host, config: &Config, seed: u64) {
    host.endpoint = Endpoint::new(Config { seed, ..*config });
    host.app_at = None;
    host.echo = Instant::NEVER;
    host.vacant = false;
}
