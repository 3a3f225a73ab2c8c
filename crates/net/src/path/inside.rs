//! Packets from hop to hop.

use ackclock_units::Instant;

use super::{Delivery, Hop, InFlight, Kind, Path, Payload, Step, Tapped, index};
use crate::fate::Fate;
use crate::link::{Departure, Verdict};
use crate::packet::{Packet, PacketId, PacketKind};
use crate::parts::impairments::Arrival;
use crate::queue::Effect;

impl<P: Payload> Path<P> {
    /// A packet has its place in the arena, and is counted.
    pub(super) fn keep(&mut self, packet: InFlight<P>) -> u32 {
        self.in_network[packet.payload.flow() as usize] += 1;
        if let Some(id) = self.free.pop() {
            self.packets[id as usize] = Some(packet);
            return id;
        }
        self.packets.push(Some(packet));
        index(self.packets.len() - 1)
    }

    /// A packet leaves the network.
    fn take(&mut self, id: u32) -> InFlight<P> {
        let packet = self.packets[id as usize].take().expect("a packet that is in the network");
        self.free.push(id);
        self.in_network[packet.payload.flow() as usize] -= 1;
        packet
    }

    fn lose(&mut self, id: u32) {
        let packet = self.take(id);
        self.lost.push(packet.payload);
    }

    fn packet(&mut self, id: u32) -> &mut InFlight<P> {
        self.packets[id as usize].as_mut().expect("a packet that is in the network")
    }

    /// The next step of a packet's route; `None` at its end.
    fn next_step(&mut self, id: u32) -> Option<Step> {
        let InFlight { route, step, .. } = *self.packet(id);
        self.routes[route].steps.get(step).copied()
    }

    /// A packet comes to the next step of its route.
    pub(super) fn forward(&mut self, now: Instant, id: u32) {
        match self.next_step(id).expect("a step of a route") {
            Step::Link(link) => self.offer(now, link, id),
            Step::Line(line) => self.pass_line(now, line, id),
        }
    }

    /// A packet comes to a private line, which knows at once when it arrives at the line's end.
    fn pass_line(&mut self, now: Instant, line: usize, id: u32) {
        let packet = self.packets[id as usize].as_mut().expect("a packet that is in the network");
        let (opens, closes) = (packet.payload.opens(), packet.payload.closes());
        let passage = self.lines[line].pass(now, packet.payload.size(), opens, closes);
        packet.step += 1;
        packet.first_sent = packet.first_sent.min(passage.starts);
        match passage.arrives {
            Some(at) => self.events.add(at, Kind::Arrival, id),
            None => self.lose(id),
        }
    }

    /// A packet comes to a link.
    fn offer(&mut self, now: Instant, link: usize, id: u32) {
        let InFlight { route, step, .. } = *self.packet(id);
        let links_before =
            self.routes[route].steps[..step].iter().filter(|step| matches!(step, Step::Link(_)));
        let first = links_before.count() == 0;
        if !self.pass_router(now, link, id, first) {
            self.lose(id);
            return;
        }
        let payload = &self.packet(id).payload;
        let packet = Packet {
            id: PacketId::new(id),
            size: payload.size(),
            class: payload.flow(),
            kind: PacketKind::flow(payload.has_data()).with_ecn(payload.asks_for_ecn()),
        };
        self.note_touched(link);
        if self.links[link].filters_acks() {
            let ack = self.packet(id).payload.ack();
            self.links[link].note_ack(ack);
        }
        let marking = self.links[link].is_marking(now);
        let verdict = self.links[link].offer(now, packet);
        self.packet(id).step += 1;
        if marking && verdict != Verdict::Dropped && self.packet(id).payload.mark() {
            self.links[link].count_marked(packet.size);
        }
        self.count_crossing(link, packet, 0);
        match verdict {
            Verdict::Dropped => {
                self.count_crossing(link, packet, 1);
                self.lose(id);
            }
            Verdict::Waits { wake } => self.wait(link, wake),
            Verdict::Placed { starts, departs, fate } => {
                self.note_tapped(link, packet, starts, None);
                self.go_on(link, id, (starts, departs), fate);
            }
        }
    }

    /// Cross-traffic comes to a link.
    pub fn offer_cross(&mut self, now: Instant, link: usize, packet: Packet) {
        self.note_touched(link);
        self.links[link].note_ack(None);
        match self.links[link].offer(now, packet) {
            Verdict::Dropped => {}
            Verdict::Waits { wake } => self.wait(link, wake),
            Verdict::Placed { starts, .. } => self.note_tapped(link, packet, starts, None),
        }
    }

    /// The packet being sent by a link whose departures are events leaves, or the link is woken.
    pub(super) fn depart(&mut self, now: Instant, link: usize) {
        if let Some(Departure { packet, started, fate, wake }) = self.links[link].depart(now) {
            self.wait(link, wake);
            self.note_tapped(link, packet, started, Some(now));
            if packet.is_flows() {
                self.go_on(link, packet.id.get(), (started, now), fate);
            }
        }
        if self.links[link].has_alarms() {
            let wake = self.links[link].wake(now);
            self.wait(link, wake);
        }
    }

    /// A packet is sent by a link, and goes on as its fate says.
    fn go_on(&mut self, link: usize, id: u32, (starts, departs): (Instant, Instant), fate: Fate) {
        let packet = self.packet(id);
        packet.first_sent = packet.first_sent.min(starts);
        (packet.starts, packet.departs) = (starts, departs);
        if fate.is_lost() {
            self.lose(id);
            return;
        }
        let (arrival, copy) = self.links[link].arrivals(departs, fate);
        if !self.links[link].reorders()
            && let Some(Step::Line(line)) = self.next_step(id)
        {
            // Packets come to a private line in order: each passes at once, without an event in between.
            self.pass_line(arrival.at, line, id);
            return;
        }
        if let Some(copied) = copy {
            let packet = self.packet(id).clone();
            let copy = self.keep(packet);
            self.arrive_at_end(copy, copied);
        }
        self.arrive_at_end(id, arrival);
    }

    fn arrive_at_end(&mut self, id: u32, arrival: Arrival) {
        self.packet(id).corrupted |= arrival.corrupted;
        self.events.add(arrival.at, Kind::Arrival, id);
    }

    /// A packet comes to the end of a link or line.
    pub(super) fn arrive(&mut self, now: Instant, id: u32) -> (Option<Hop>, Option<Delivery<P>>) {
        let InFlight { route, step, starts, departs, .. } = *self.packet(id);
        let size = self.packet(id).payload.size();
        let hop = match self.routes[route].steps[step - 1] {
            Step::Link(link) => Some(Hop { link, starts, departs, size }),
            Step::Line(_) => None,
        };
        if step < self.routes[route].steps.len() {
            self.forward(now, id);
            return (hop, None);
        }
        let to = self.routes[route].to;
        let InFlight { payload, corrupted, first_sent, .. } = self.take(id);
        (hop, Some(Delivery { to, payload, corrupted, first_sent }))
    }

    /// The path changes.
    pub(super) fn change(&mut self, now: Instant, n: usize) {
        let change = std::mem::take(&mut self.changes[n]);
        for (link, becomes) in &change.links {
            let wake = self.links[*link].change(now, becomes);
            self.wait(*link, wake);
            self.note_touched(*link);
        }
        for (end, route) in &change.routes {
            self.route_of[*end as usize] = *route;
        }
        self.changes[n] = change;
    }

    /// Packets wait at a link whose departures are events, which is to be woken at `wake` if it was idle. What its
    /// discipline has done to packets is done.
    fn wait(&mut self, link: usize, wake: Option<Instant>) {
        while let Some(effect) = self.links[link].take_effect() {
            match effect {
                Effect::Marked(packet) => {
                    self.packet(packet.id.get()).payload.mark();
                }
                Effect::Dropped(packet, _) if packet.is_flows() => {
                    self.count_crossing(link, packet, 1);
                    self.lose(packet.id.get());
                }
                Effect::Dropped(..) => {}
            }
        }
        if let Some(at) = wake {
            self.events.add(at, Kind::Departure, index(link));
        }
    }

    fn note_touched(&mut self, link: usize) {
        if self.interests[link].watched {
            self.touched.push(link);
        }
    }

    fn note_tapped(
        &mut self,
        link: usize,
        packet: Packet,
        starts: Instant,
        departed: Option<Instant>,
    ) {
        if self.interests[link].tapped {
            let payload = packet.is_flows().then(|| self.packet(packet.id.get()).payload.clone());
            self.tapped.push(Tapped { link, starts, departed, packet, payload });
        }
    }

    fn count_crossing(&mut self, link: usize, packet: Packet, what: usize) {
        let crossings = &mut self.interests[link].crossings;
        if let Some(count) = crossings.get_mut(packet.class as usize) {
            count[what] += 1;
        }
    }
}
