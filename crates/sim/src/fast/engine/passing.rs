//! Connections that come and go: opening, accepting, and giving a slot away.

use ackclock_app::{AnyApp, Client, Server};
use ackclock_units::Instant;

use super::browsing::USER;
use super::{Engine, index};
use crate::host::Host;
use crate::records::Run;
use crate::traffic::Slot;

impl Engine<'_> {
    /// The flow of the first slot.
    pub(super) fn first_passing(&self) -> u32 {
        self.network.first_passing()
    }

    /// The slot of a host.
    pub(super) fn slot_of(&self, h: usize) -> u32 {
        u32::try_from((h - self.lasting) / 2).expect("fewer than 2^32 slots")
    }

    /// The place of the client of a slot among the hosts; that of the server comes next.
    pub(super) const fn client_of(&self, slot: u32) -> usize {
        self.lasting + 2 * slot as usize
    }

    /// A connection of class `n` opens, a user of it comes, or a user is woken.
    pub(super) fn open(&mut self, now: Instant, n: u32) {
        if n & USER != 0 {
            self.wake_user(now, n & !USER);
        } else if self.users.browse(n) {
            self.welcome(now, n);
        } else {
            let slot = self.open_connection(now, n);
            self.schedule_opening(n as usize, now);
            self.pump_apart::<false>(now, self.client_of(slot));
        }
    }

    /// A connection of class `n` begins to open; returns its slot.
    pub(super) fn open_connection(&mut self, now: Instant, n: u32) -> u32 {
        let opening = self.traffic.open(now, n as usize);
        let slot = opening.slot.unwrap_or_else(|| self.add_slot(n, opening.lines.is_some()));
        if let Some(first) = self.traffic.slots[slot as usize].lines {
            let lines = self.network.lines_from(first);
            self.traffic.classes[n as usize].renew_lines(&opening, lines);
        }
        self.traffic.move_in(slot, &opening);
        let h = self.client_of(slot);
        let class = &self.traffic.classes[n as usize];
        let session = class.session();
        let [client, server] = &mut self.hosts[h..h + 2] else { unreachable!("two ends") };
        match (&mut client.app, &mut server.app) {
            (AnyApp::Client(client), AnyApp::Server(server)) => {
                client.restart(session);
                server.restart(session);
            }
            (AnyApp::WebClient(client), AnyApp::WebServer(server)) => {
                client.restart();
                server.restart(self.users.http(n));
            }
            _ => {}
        }
        client.move_in(class.client(&opening));
        client.endpoint.connect(now);
        slot
    }

    /// Makes a slot for class `n`, with private lines or without.
    fn add_slot(&mut self, n: u32, lines: bool) -> u32 {
        let slot = index(self.traffic.slots.len());
        let class = &self.traffic.classes[n as usize];
        let lines = lines.then(|| self.network.add_lines());
        let [there, back] = &class.paths;
        let h = self.client_of(slot);
        let (client, server) = (index(h), index(h + 1));
        // Of the client up and the server down, and of the server up and the client down.
        let line = |up, down| lines.map(|first| [first + up, first + down]);
        let there = self.network.add_passing_path(there, line(0, 3), server);
        let back = self.network.add_passing_path(back, line(2, 1), client);
        self.network.add_passing_flow();
        let flow = self.first_passing() + slot;
        let (client, server) = if self.users.browse(n) {
            (AnyApp::WebClient(Box::default()), AnyApp::WebServer(Box::default()))
        } else {
            let (client, server) = (Client::new(class.session()), Server::new(class.session()));
            (AnyApp::Client(Box::new(client)), AnyApp::Server(Box::new(server)))
        };
        // Whoever moves in brings settings.
        let vacant = class.any_config();
        for (app, first_hop) in [(client, there), (server, back)] {
            self.hosts.push(Host::unused(app, flow, first_hop, vacant));
        }
        self.traffic.slots.push(Slot { class: n, lines, connection: None });
        slot
    }

    /// Whether nothing more is to be seen to of a host that has done what it can: it is of a connection
    /// of which packets are in the network, and nobody asks how it opens.
    #[inline]
    pub(super) fn goes_on(&self, h: usize) -> bool {
        h >= self.lasting && !self.traffic.judges && self.network.is_aloft(self.slot_of(h))
    }

    /// The first SYN of a connection comes to its server.
    #[inline(never)]
    pub(super) fn accept(&mut self, now: Instant, h: usize) {
        let slot = self.slot_of(h);
        if let Some(settings) = self.traffic.accept(now, slot) {
            self.hosts[h].move_in(settings);
            self.hosts[h].endpoint.listen();
        }
    }

    /// Gives a slot away if nothing can happen to its connection any more.
    pub(super) fn settle(&mut self, now: Instant, slot: u32) {
        if self.network.is_aloft(slot) {
            return;
        }
        let h = self.client_of(slot);
        if self.hosts[h..h + 2].iter().all(Host::is_quiet) {
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
        if closed.is_none() {
            self.users.closed(slot, objects);
        }
        let user = closed.and_then(|now| self.users.gone(now, slot, (objects, pages)));
        let [client, server] = &mut self.hosts[h..h + 2] else { unreachable!("two ends") };
        let ends = [&client.endpoint, &server.endpoint];
        self.traffic.record(slot, closed, ends, connections, objects);
        client.vacant = true;
        server.vacant = true;
        if let Some((now, user)) = closed.zip(user) {
            self.arm_user(now, user);
        }
        self.relieve();
    }
}
