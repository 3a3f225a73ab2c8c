//! Packets on their way: the arena they live in, the links they cross, the clock that moves them.

use std::ops::ControlFlow;

use ackclock_net::{Arrival, Departure, Effect, Fate, Link, Packet, PacketId, Verdict};
use ackclock_packet::{Ecn, Options, Segment};
use ackclock_tcp::Transmit;
use ackclock_units::{Bytes, Duration, Instant};

use crate::observe::{Observer, Sent, SentSegment, Taps};
use crate::wheel::{Class, Wheel};

const NO_OPTIONS: u32 = u32::MAX;

/// A segment on its way: one cache line.
#[derive(Clone, Copy, Debug)]
pub struct InFlight {
    pub segment: Segment,
    /// Of data: when its transmission on the first link began. Of an ACK: that moment of the data
    /// packet that triggered it. `NEVER` while unknown.
    pub first_sent: Instant,
    /// The next step of its path, an index into [`Network::hops`].
    hop: u32,
    /// The flow, which is also its class at fair queues.
    pub flow: u32,
    /// Options beside it, an index into the slab, or `NO_OPTIONS`.
    options: u32,
    pub ip: ackclock_packet::IpMeta,
    /// A bit was flipped on the way: the host that it is for will see a wrong checksum.
    pub corrupted: bool,
}

/// The last step of a path: not a link but the host that the packet is for.
const DELIVER: u32 = 1 << 31;

/// What a packet meets next.
pub enum Step {
    /// It is on its way to a link's end, or gone.
    UnderWay,
    /// It has reached this host.
    Arrived(u32),
}

/// What an arrival at a link means beyond the link.
#[derive(Clone, Copy, Debug, Default)]
struct Attention {
    /// A probe or an observer wants to see it.
    watched: bool,
    /// The packet may have to be marked.
    marks: bool,
    /// A measure counts the packets of each flow.
    counts: bool,
}

/// A packet comes to a link that wants attention.
#[derive(Clone, Copy, Debug, Default)]
struct Offering {
    /// What packets have waited at the link.
    waited: Duration,
    /// It finds the queue so long that it is to be marked.
    marking: bool,
}

/// Packets, links and clock.
#[derive(Debug)]
pub struct Network {
    pub wheel: Wheel,
    pub links: Vec<Link>,
    packets: Vec<InFlight>,
    free: Vec<u32>,
    options: Vec<Options>,
    free_options: Vec<u32>,
    /// Every path, one after another: links, then the host with the `DELIVER` bit.
    hops: Vec<u32>,
    /// What an arrival at each link means beyond the link; empty where it means nothing anywhere.
    attention: Vec<Attention>,
    touched: Vec<u32>,
    /// For each wire that counts, packets offered and dropped by flow.
    crossings: Vec<Vec<[u64; 2]>>,
    /// What an observer sees.
    taps: Option<Box<Taps>>,
}

impl Network {
    pub fn new(wheel: Wheel, links: Vec<Link>) -> Self {
        let marking = || links.iter().map(Link::marks);
        let attention = if marking().any(|marks| marks) {
            marking().map(|marks| Attention { marks, ..Attention::default() }).collect()
        } else {
            Vec::new()
        };
        Self {
            attention,
            wheel,
            links,
            packets: Vec::new(),
            free: Vec::new(),
            options: Vec::new(),
            free_options: Vec::new(),
            hops: Vec::new(),
            touched: Vec::new(),
            crossings: Vec::new(),
            taps: None,
        }
    }

    /// Notes what `taps` sees; [`tell`](Self::tell) tells an observer of it.
    pub fn tap(&mut self, taps: Taps) {
        self.watch(taps.wires());
        self.taps = Some(Box::new(taps));
    }

    /// Tells of what the link of `wire` has sent by `now`.
    pub fn tell(
        &mut self,
        now: Instant,
        wire: usize,
        observer: &mut dyn Observer,
    ) -> ControlFlow<()> {
        match &mut self.taps {
            Some(taps) => taps.tell(now, wire / 2, &mut self.links, observer),
            None => ControlFlow::Continue(()),
        }
    }

    /// Tells of all that was sent and not told.
    pub fn tell_rest(&mut self, end: Instant, observer: &mut dyn Observer) -> ControlFlow<()> {
        match &mut self.taps {
            Some(taps) => taps.finish(end, &mut self.links, observer),
            None => ControlFlow::Continue(()),
        }
    }

    /// Notes every arrival at these links; [`take_touched`](Self::take_touched) tells of them.
    pub fn watch(&mut self, wires: impl Iterator<Item = usize>) {
        for wire in wires {
            self.attention.resize(self.links.len(), Attention::default());
            self.attention[wire].watched = true;
        }
    }

    /// Counts the packets of each of `flows` flows at these links.
    pub fn count(&mut self, wires: &[usize], flows: usize) {
        if wires.is_empty() {
            return;
        }
        self.attention.resize(self.links.len(), Attention::default());
        self.crossings.resize(self.links.len(), Vec::new());
        for wire in wires {
            self.attention[*wire].counts = true;
            self.crossings[*wire] = vec![[0; 2]; flows];
        }
    }

    /// Packets offered and dropped, by wire and flow; nothing of wires that do not count.
    pub fn crossings(&self) -> &[Vec<[u64; 2]>] {
        &self.crossings
    }

    #[cold]
    fn count_crossing(&mut self, wire: u32, packet: Packet, what: usize) {
        if packet.source.is_some() {
            return;
        }
        let counts = self.crossings.get_mut(wire as usize);
        if let Some(count) = counts.and_then(|counts| counts.get_mut(packet.class as usize)) {
            count[what] += 1;
        }
    }

    /// A link changes.
    pub fn change(&mut self, now: Instant, wire: usize, change: impl FnOnce(&mut Link)) {
        let link = &mut self.links[wire];
        link.advance(now);
        change(link);
        self.take_effects(u32::try_from(wire).expect("fewer than 2^32 links"));
        if self.attention.get(wire).is_some_and(|attention| attention.watched) {
            self.touched.push(u32::try_from(wire).expect("fewer than 2^32 links"));
        }
    }

    /// A watched link at which a packet has arrived.
    #[inline]
    pub fn take_touched(&mut self) -> Option<usize> {
        self.touched.pop().map(|wire| wire as usize)
    }

    #[inline]
    fn offer(&mut self, now: Instant, wire: u32, mut packet: Packet) -> Verdict {
        let attention = self.attention.get(wire as usize).copied().unwrap_or_default();
        let wanted = attention.watched | attention.marks | attention.counts;
        let before = if wanted {
            self.before_offer(now, wire, &mut packet, attention)
        } else {
            Offering::default()
        };
        let verdict = self.links[wire as usize].offer(now, packet);
        if wanted {
            self.after_offer(now, wire, packet, verdict, before);
            if attention.counts {
                self.count_crossing(wire, packet, 0);
                if verdict == Verdict::Dropped {
                    self.count_crossing(wire, packet, 1);
                }
            }
        }
        verdict
    }

    #[cold]
    fn before_offer(
        &mut self,
        now: Instant,
        wire: u32,
        packet: &mut Packet,
        attention: Attention,
    ) -> Offering {
        if attention.watched {
            self.touched.push(wire);
        }
        // Cross-traffic is not in the arena, and is none of ECN's.
        if attention.marks && packet.source.is_none() {
            packet.ecn = self.packets[packet.id.get() as usize].ip.ecn != Ecn::NotEct;
        }
        let link = &mut self.links[wire as usize];
        Offering { waited: link.counters(now).queue_delay, marking: link.is_marking(now) }
    }

    #[cold]
    fn after_offer(
        &mut self,
        now: Instant,
        wire: u32,
        packet: Packet,
        verdict: Verdict,
        before: Offering,
    ) {
        // Before anybody looks at the packet.
        if before.marking && verdict != Verdict::Dropped {
            self.mark(wire, packet);
        }
        let seen = self.taps.as_ref().is_some_and(|taps| taps.sees(wire));
        if seen && !matches!(verdict, Verdict::Dropped | Verdict::Waits { .. }) {
            // A packet that will be lost is sent too, and only the counters say when.
            let waited = self.links[wire as usize].counters(now).queue_delay - before.waited;
            let sent = self.sent(packet);
            if let Some(taps) = &mut self.taps {
                taps.on_placed(wire, now + waited, sent);
            }
        }
    }

    /// Does to packets what the discipline of a scheduled link has done to them.
    #[inline]
    fn take_effects(&mut self, wire: u32) {
        while let Some(effect) = self.links[wire as usize].take_effect() {
            match effect {
                Effect::Marked(packet) => {
                    self.packets[packet.id.get() as usize].ip.ecn = Ecn::Ce;
                }
                Effect::Dropped(packet, _) if packet.source.is_none() => {
                    self.count_crossing(wire, packet, 1);
                    self.release(packet.id.get());
                }
                Effect::Dropped(..) => {}
            }
        }
    }

    /// A packet waits at a scheduled link, which is to be woken at `wake` if it was idle.
    #[inline]
    fn wait(&mut self, wire: u32, wake: Option<Instant>) {
        self.take_effects(wire);
        if let Some(at) = wake {
            self.wheel.push(at, Class::Departure, wire);
        }
    }

    /// Marks a packet that was taken, if its sender understands marks (RFC 3168 §5).
    fn mark(&mut self, wire: u32, packet: Packet) {
        // Cross-traffic is not in the arena, and is none of ECN's.
        if packet.source.is_some() {
            return;
        }
        let ecn = &mut self.packets[packet.id.get() as usize].ip.ecn;
        if matches!(ecn, Ecn::Ect0 | Ecn::Ect1) {
            *ecn = Ecn::Ce;
            self.links[wire as usize].count_marked(packet.size);
        }
    }

    #[cold]
    fn note_departure(&mut self, now: Instant, wire: u32, departure: &Departure) {
        let sent = self.sent(departure.packet);
        if let Some(taps) = &mut self.taps {
            taps.on_departed(now, wire, departure.started, sent);
        }
    }

    /// What an observer sees of a packet.
    fn sent(&self, packet: Packet) -> Sent {
        if packet.source.is_some() {
            // Classes are flows first, each of two hosts, then sources.
            let flows = self.taps.as_ref().map_or(0, |taps| taps.flows());
            let source = packet.class as usize - flows;
            return Sent::Cross { source, size: Bytes::new(u64::from(packet.size)) };
        }
        let (in_flight, options) = self.packet(packet.id.get());
        let to = self.destination(in_flight.hop);
        Sent::Segment(SentSegment {
            flow: in_flight.flow as usize,
            from_client: to % 2 == 1,
            segment: in_flight.segment,
            ip: in_flight.ip,
            options: options.copied(),
            window_shift: self.taps.as_ref().map_or(0, |taps| taps.window_shift(to ^ 1)),
        })
    }

    /// The host at the end of the path on which `hop` is.
    fn destination(&self, hop: u32) -> u32 {
        let rest = &self.hops[hop as usize..];
        let end = rest.iter().find(|hop| **hop & DELIVER != 0);
        end.expect("a path ends at a host") & !DELIVER
    }

    /// Adds a path over `wires` to `host`; returns the index of its first hop.
    pub fn add_path(&mut self, wires: &[usize], host: u32) -> u32 {
        let first = index(self.hops.len());
        self.hops.extend(wires.iter().map(|wire| index(*wire)));
        self.hops.push(host | DELIVER);
        first
    }

    /// A host sends a segment of `flow` on the path that begins at `first_hop`.
    #[inline]
    pub fn send(
        &mut self,
        now: Instant,
        transmit: &Transmit,
        flow: u32,
        first_hop: u32,
        echo: Instant,
    ) {
        let options = match transmit.options {
            None => NO_OPTIONS,
            Some(options) => {
                if self.taps.is_some() {
                    self.note_options(transmit, first_hop);
                }
                self.keep_options(options)
            }
        };
        let packet = InFlight {
            segment: transmit.segment,
            first_sent: echo,
            hop: first_hop,
            flow,
            options,
            ip: transmit.ip,
            corrupted: false,
        };
        let id = self.keep(packet);
        let starts = self.forward(now, id);
        if transmit.segment.len > 0
            && let Some(starts) = starts
        {
            self.packets[id as usize].first_sent = starts;
        }
    }

    #[cold]
    fn note_options(&mut self, transmit: &Transmit, first_hop: u32) {
        let from = self.destination(first_hop) ^ 1;
        if let (Some(taps), Some(options)) = (&mut self.taps, &transmit.options) {
            taps.on_options(from, &transmit.segment, options);
        }
    }

    #[inline]
    fn keep(&mut self, packet: InFlight) -> u32 {
        if let Some(id) = self.free.pop() {
            self.packets[id as usize] = packet;
            return id;
        }
        self.packets.push(packet);
        index(self.packets.len() - 1)
    }

    fn keep_options(&mut self, options: Options) -> u32 {
        if let Some(at) = self.free_options.pop() {
            self.options[at as usize] = options;
            return at;
        }
        self.options.push(options);
        index(self.options.len() - 1)
    }

    /// Offers a packet to the link that comes next on its path; returns when its transmission
    /// begins, if that is known.
    #[inline]
    fn forward(&mut self, now: Instant, id: u32) -> Option<Instant> {
        let packet = &mut self.packets[id as usize];
        let wire = self.hops[packet.hop as usize];
        packet.hop += 1;
        let offered = Packet {
            id: PacketId::new(id),
            // Headers, options and an MSS of 16 bits.
            size: u32::try_from(packet.segment.wire_size().get()).unwrap_or(u32::MAX),
            class: packet.flow,
            source: None,
            data: packet.segment.len > 0,
            ecn: false,
        };
        match self.offer(now, wire, offered) {
            Verdict::Arrives { starts, at } => {
                self.wheel.push(at, Class::Arrival, id);
                Some(starts)
            }
            Verdict::Lost | Verdict::Dropped => {
                self.release(id);
                None
            }
            Verdict::Waits { wake } => {
                self.wait(wire, wake);
                None
            }
            Verdict::Impaired { starts, at, fate } => {
                self.impair(wire, id, starts, at, fate);
                Some(starts)
            }
        }
    }

    /// Something befalls a packet on a link, which sent it at `started` and would deliver it at
    /// `at`.
    #[cold]
    fn impair(&mut self, wire: u32, id: u32, started: Instant, at: Instant, fate: Fate) {
        let (arrival, copy) = self.links[wire as usize].arrivals(at, fate);
        if let Some(copied) = copy {
            let mut packet = self.packets[id as usize];
            if packet.segment.len > 0 && packet.first_sent == Instant::NEVER {
                packet.first_sent = started;
            }
            if packet.options != NO_OPTIONS {
                packet.options = self.keep_options(self.options[packet.options as usize]);
            }
            let copy = self.keep(packet);
            self.arrive_at_end(copy, copied);
        }
        self.arrive_at_end(id, arrival);
    }

    fn arrive_at_end(&mut self, id: u32, arrival: Arrival) {
        self.packets[id as usize].corrupted |= arrival.corrupted;
        self.wheel.push(arrival.at, Class::Arrival, id);
    }

    /// Cross-traffic comes to a link.
    pub fn offer_cross(&mut self, now: Instant, wire: u32, packet: Packet) {
        if let Verdict::Waits { wake } = self.offer(now, wire, packet) {
            self.wait(wire, wake);
        }
    }

    /// The packet being sent by a scheduled link leaves it.
    pub fn depart(&mut self, now: Instant, wire: u32) {
        let Some(departure) = self.links[wire as usize].depart(now) else { return };
        self.wait(wire, departure.wake);
        if self.taps.is_some() {
            self.note_departure(now, wire, &departure);
        }
        if departure.packet.source.is_some() {
            return;
        }
        let id = departure.packet.id.get();
        let packet = &mut self.packets[id as usize];
        if packet.segment.len > 0 && packet.first_sent == Instant::NEVER {
            packet.first_sent = departure.started;
        }
        match departure.arrives {
            Some(at) if departure.fate == Fate::INTACT => {
                self.wheel.push(at, Class::Arrival, id);
            }
            Some(at) => self.impair(wire, id, departure.started, at, departure.fate),
            None => self.release(id),
        }
    }

    /// A packet has reached the end of a link.
    #[inline]
    pub fn step(&mut self, now: Instant, id: u32) -> Step {
        let next = self.hops[self.packets[id as usize].hop as usize];
        if next & DELIVER != 0 {
            return Step::Arrived(next & !DELIVER);
        }
        self.forward(now, id);
        Step::UnderWay
    }

    /// The packet that has arrived, and its options.
    #[inline]
    pub fn packet(&self, id: u32) -> (&InFlight, Option<&Options>) {
        let packet = &self.packets[id as usize];
        let options =
            (packet.options != NO_OPTIONS).then(|| &self.options[packet.options as usize]);
        (packet, options)
    }

    /// The packet is gone: its place is free.
    #[inline]
    pub fn release(&mut self, id: u32) {
        let options = self.packets[id as usize].options;
        if options != NO_OPTIONS {
            self.free_options.push(options);
        }
        self.free.push(id);
    }
}

/// An arena's index: 2^32 packets of 64 bytes would be 256 GB.
fn index(n: usize) -> u32 {
    u32::try_from(n).expect("an arena of fewer than 2^32 entries")
}

/// What the wheel should expect: the spacing of events at the fastest link that flows share, and
/// how far ahead they are scheduled.
pub fn clock_for(busiest_bps: u64, longest_delay: Duration) -> Wheel {
    // A packet of 1500 bytes makes about six events; about four events a slot.
    let packets_per_second = (busiest_bps / 12_000).max(1);
    let spacing = Duration::from_nanos(1_000_000_000 * 4 / (6 * packets_per_second).max(1));
    Wheel::new(spacing, longest_delay)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_one_cache_line() {
        assert!(size_of::<InFlight>() <= 64, "{}", size_of::<InFlight>());
    }
}
