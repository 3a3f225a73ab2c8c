//! Packets on their way: the arena they live in, the links they cross, the clock that moves them.

mod arena;
mod crossing;
mod departing;
mod hops;
mod ingress;
mod mailboxes;
mod observing;
mod offering;
mod options;
mod outcome;
mod routers;

use ackclock_net::{
    AccessLine, AccessLineConfig, Counters, DelayHistogram, Fate, Header, LinkChange, Packet,
    SourceCounters,
};
use ackclock_packet::{Flags, IpMeta, Options, Segment};
use ackclock_tcp::simulator::{ExtraOptions, TransmitInfo};
use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant};

use super::link::{Departure, Link, Verdict};
use super::prefetch::{prefetch, prefetch_lines};
use super::wheel::Wheel;
use crate::layout::links::Links;
use crate::measures::observe::Taps;
use crate::run::class::Class;
use arena::{index, make_room};
use hops::{DELIVER, ELIDED, HOOKED, LANED, LINE, WIRE};
use mailboxes::Mailboxes;
use options::{Kept, NO_OPTIONS, Vacancy};
use outcome::{OfferOutcome, Offering};
use routers::Routers;

pub use mailboxes::HostBatch;
pub use routers::SLOT;

/// A segment on its way: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct InFlight {
    pub segment: Segment,
    /// The start of transmission on the first link: of data its own, of an ACK that of the data packet that triggered
    /// it. `NEVER` while unknown.
    pub first_sent: Instant,
    /// The next step of its path, an index into [`Network::hops`].
    hop: u32,
    /// The flow, which is also its class at fair queues.
    pub flow: u32,
    /// The number of its options, or `NO_OPTIONS`.
    options: u32,
    pub ip: IpMeta,
    /// A bit was flipped on the way: the host that it is for will see a wrong checksum.
    pub corrupted: bool,
}

/// The number of hops up to which all links stay in the cache, as flows are few.
const FEW_HOPS: usize = 64;
/// The place of a packet is fetched when so many others are still to be taken: of the last packet that came it is in the
/// cache, but who sends more than come takes places that packets left long ago.
const PLACES_AHEAD: usize = 2;
/// The lines of a link that a packet touches.
const LINK_LINES: usize = 3;

/// A packet of a connection that comes and goes is lost.
#[derive(Clone, Copy, Debug)]
pub struct LostPacket {
    /// Its flow.
    pub flow: u32,
    /// Its control bits.
    pub flags: Flags,
}

/// The next thing that happens to a packet.
pub enum Step {
    /// It is on its way to a link's end, or lost.
    UnderWay,
    /// It has reached this host.
    Arrived(u32),
}

/// A packet is to come to the end of a link.
struct Passed {
    comes: Instant,
    wire: u32,
    /// The step behind that link.
    next: u32,
    /// Bytes on the wire.
    size: u32,
    /// It is yet to be noted when its transmission on the first link began.
    untimed: bool,
}

/// Interests in the arrivals at a link, beyond the link itself.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "reasons that do not depend on one another")]
struct HopHooks {
    /// A probe or an observer wants to see it.
    watched: bool,
    /// The packet may have to be marked.
    marks: bool,
    /// A measure counts the packets of each flow.
    counts: bool,
    /// A router in front of it takes part in Quick-Start, RCP or XCP.
    quick_start: bool,
}

/// Packets, links and clock.
#[derive(Debug)]
pub struct Network {
    pub wheel: Wheel,
    pub links: Vec<Link>,
    packets: Vec<InFlight>,
    /// Places of `packets` that are free. The last one freed is taken first: it is still in the cache.
    free: Vec<u32>,
    options: Kept,
    /// Every path, one after another: links, `ELIDED` or `HOOKED` or neither, then the host with the
    /// `DELIVER` bit.
    hops: Vec<u32>,
    /// Interests in the arrivals at each link.
    hooks: Vec<HopHooks>,
    /// Which links are elided with the one before; empty if none is.
    elided: Vec<bool>,
    /// Which links' packets take a lane of the clock; empty if none do.
    laned: Vec<bool>,
    /// Packets between hosts and shared links, where these advance in windows.
    mailboxes: Mailboxes,
    /// Nobody asks before this what any link has counted.
    pub asked: Instant,
    /// The end of the run: a packet that would come to an elided link later is not offered to it.
    end: Instant,
    touched: Vec<u32>,
    /// Private lines of connections that come and go.
    lines: Vec<AccessLine>,
    /// The first flow that is such a connection's, and how many packets each has in the network;
    /// empty where there are none.
    first_dynamic: u32,
    packets_by_flow: Vec<u32>,
    lost: Vec<LostPacket>,
    /// Something was added to `touched` or to `lost`.
    notified: bool,
    /// For each wire that counts, packets offered and dropped by flow.
    crossings: Vec<Vec<[u64; 2]>>,
    /// The links that an observer watches.
    taps: Option<Box<Taps>>,
    /// Routers that take part in Quick-Start, RCP or XCP.
    routers: Option<Box<Routers>>,
}

impl Network {
    /// Returns the links and a clock with nothing on it.
    pub fn new(wheel: Wheel, links: Vec<Link>) -> Self {
        let hooks = links
            .iter()
            .map(|link| HopHooks {
                marks: link.marks() || link.filters_acks(),
                ..HopHooks::default()
            })
            .collect();
        Self {
            hooks,
            elided: Vec::new(),
            laned: Vec::new(),
            mailboxes: Mailboxes::default(),
            asked: Instant::START,
            end: Instant::NEVER,
            wheel,
            links,
            packets: Vec::new(),
            free: Vec::new(),
            options: Kept::default(),
            hops: Vec::new(),
            touched: Vec::new(),
            lines: Vec::new(),
            first_dynamic: 0,
            packets_by_flow: Vec::new(),
            lost: Vec::new(),
            notified: false,
            crossings: Vec::new(),
            taps: None,
            routers: None,
        }
    }

    /// Sets the moment after which nothing is asked of the network.
    pub const fn end_at(&mut self, end: Instant) {
        self.end = end;
    }

    /// Gives back the memory of packets and of the clock, before the rows of the run take theirs. Nothing moves any
    /// more.
    pub fn forget_packets(&mut self) {
        self.packets = Vec::new();
        self.free = Vec::new();
        self.options = Kept::default();
        self.wheel = Wheel::new(Duration::ZERO, Duration::ZERO);
    }

    /// Offers a packet to a link that is `elided` when the only link that leads there has sent it, with the time at which
    /// it will come: see [`super::elision`].
    pub fn elide(&mut self, elided: Vec<bool>) {
        self.elided = elided;
        self.note_hops();
    }

    /// Gives the packets of links `laned` a lane of the clock each.
    pub fn give_lanes(&mut self, laned: Vec<bool>) {
        self.wheel.add_lanes(laned.len());
        self.laned = laned;
        self.note_hops();
    }

    fn note_hops(&mut self) {
        for at in 0..self.hops.len() {
            if self.hops[at] & (DELIVER | LINE) == 0 {
                self.hops[at] = self.hop((self.hops[at] & WIRE) as usize);
            }
        }
    }

    /// A link's step of a path.
    fn hop(&self, wire: usize) -> u32 {
        let number = index(wire);
        assert!(number <= WIRE, "fewer than 2^26 links");
        let HopHooks { watched, marks, counts, quick_start } = self.hooks[wire];
        let hooked = if watched || marks || counts || quick_start { HOOKED } else { 0 };
        let elided = if self.elided.get(wire).is_some_and(|elided| *elided) { ELIDED } else { 0 };
        let laned = if self.laned.get(wire).is_some_and(|laned| *laned) { LANED } else { 0 };
        number | hooked | elided | laned
    }

    /// True if [`take_touched`](Self::take_touched) or [`take_lost`](Self::take_lost) have something.
    #[inline]
    pub const fn has_notifications(&mut self) -> bool {
        std::mem::replace(&mut self.notified, false)
    }

    /// Takes a packet of a connection that comes and goes and that was lost; `None` if there is none.
    pub fn take_lost(&mut self) -> Option<LostPacket> {
        self.lost.pop()
    }

    #[cold]
    fn count_crossing(&mut self, wire: u32, packet: Packet, what: usize) {
        if !packet.is_flows() {
            return;
        }
        let counts = self.crossings.get_mut(wire as usize);
        if let Some(count) = counts.and_then(|counts| counts.get_mut(packet.class as usize)) {
            count[what] += 1;
        }
    }

    /// Changes a link.
    pub fn change(&mut self, now: Instant, wire: usize, becomes: &LinkChange) {
        let wake = self.links[wire].change(now, becomes);
        self.wait(index(wire), wake);
        if self.hooks[wire].watched {
            self.touched.push(index(wire));
            self.notified = true;
        }
    }

    /// Takes the number of a watched link at which a packet has arrived; `None` if there is none.
    #[inline]
    pub fn take_touched(&mut self) -> Option<usize> {
        self.touched.pop().map(|wire| wire as usize)
    }

    /// Adds a path over `wires` to `host`; returns the index of its first hop.
    pub fn add_path(&mut self, wires: &[usize], host: u32) -> u32 {
        let first = index(self.hops.len());
        for wire in wires {
            self.hops.push(self.hop(*wire));
        }
        self.hops.push(host | DELIVER);
        first
    }

    /// The places of what a host [sends](Self::send) next.
    #[inline]
    pub fn vacancy(&mut self) -> Vacancy<'_> {
        let id = self.free.last().copied().unwrap_or_else(|| self.make_place());
        Vacancy { segment: &mut self.packets[id as usize].segment, kept: &mut self.options }
    }

    /// Sends the segment of `flow` that a host wrote into the [vacancy](Self::vacancy), and what it wrote beside it, on
    /// the path that begins at `first_hop`.
    #[inline]
    pub fn send<const LOOKAHEAD: bool>(
        &mut self,
        now: Instant,
        info: TransmitInfo,
        flow: u32,
        first_hop: u32,
        echo: Instant,
    ) {
        let id = self.free.pop().expect("the vacancy was asked for");
        if let Some(soon) = self.free.get(self.free.len().wrapping_sub(PLACES_AHEAD + 1)) {
            prefetch(&self.packets[*soon as usize]);
        }
        let mut ip = info.ip;
        let mut kept = NO_OPTIONS;
        if info.written != ExtraOptions::Nothing {
            kept = if info.written == ExtraOptions::Blocks {
                self.options.keep_blocks()
            } else {
                ip.ttl = self.ttl_at_end(&self.options.written, ip.ttl, first_hop);
                self.options.keep_written(self.packets[id as usize].segment.ack)
            };
            if self.taps.is_some() {
                self.note_options(id, kept, first_hop);
            }
        }
        if let Some(in_network) = self.packets_of_mut(flow) {
            *in_network += 1;
        }
        // A private line knows no more than its own packets.
        let first = self.hops[first_hop as usize];
        let lined = first & (LINE | DELIVER) == LINE;
        let packet = &mut self.packets[id as usize];
        packet.first_sent = echo;
        packet.hop = first_hop + u32::from(lined);
        packet.flow = flow;
        packet.options = kept;
        packet.ip = ip;
        packet.corrupted = false;
        if LOOKAHEAD {
            self.leave(now, id, first);
        } else if lined {
            self.pass_line(now, id, first & WIRE);
        } else {
            self.forward(now, id);
        }
    }

    /// Has the packets of the flows from `first` on counted, as they come and go.
    pub const fn count_from(&mut self, first: u32) {
        self.first_dynamic = first;
    }

    #[inline]
    fn packets_of_mut(&mut self, flow: u32) -> Option<&mut u32> {
        self.packets_by_flow.get_mut(flow.wrapping_sub(self.first_dynamic) as usize)
    }

    /// A place for one more packet.
    #[cold]
    fn make_place(&mut self) -> u32 {
        let id = index(self.packets.len());
        make_room(&mut self.packets);
        self.packets.push(InFlight {
            segment: Segment::default(),
            first_sent: Instant::NEVER,
            hop: 0,
            flow: 0,
            options: NO_OPTIONS,
            ip: IpMeta::default(),
            corrupted: false,
        });
        self.free.push(id);
        id
    }

    fn keep(&mut self, packet: InFlight) -> u32 {
        if let Some(in_network) = self.packets_of_mut(packet.flow) {
            *in_network += 1;
        }
        self.vacancy();
        let id = self.free.pop().expect("there is a vacancy");
        self.packets[id as usize] = packet;
        id
    }

    /// Offers a packet to the link that comes next on its path, and to those that are elided with it.
    fn forward(&mut self, now: Instant, id: u32) {
        let hop = self.packets[id as usize].hop;
        // Packets that a link which many share hands on come in its order, or nearly so.
        let first = self.hops[hop as usize];
        let Some(Passed { comes, wire, next, .. }) = self.travel(now, id) else { return };
        let laned = first & (LANED | LINE) == LANED;
        if !laned && self.hops.len() > FEW_HOPS && next & DELIVER == 0 {
            // Where it comes next many meet; what comes after that is its flow's own.
            self.prefetch_link(self.packets[id as usize].hop + 1);
        }
        self.under_way(comes, wire, id, next, laned.then_some(first & WIRE));
    }

    /// Offers a packet to the link that comes next on its path, and to those that are elided with it. `None` if it comes
    /// to the end of none, or if that is taken care of.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "nearly all packets go here")]
    fn travel(&mut self, now: Instant, id: u32) -> Option<Passed> {
        let mut packet = &mut self.packets[id as usize];
        // Headers, options and an MSS of 16 bits.
        let size = u32::try_from(packet.segment.wire_size().get()).unwrap_or(u32::MAX);
        let mut untimed = packet.segment.len > 0 && packet.first_sent == Instant::NEVER;
        let mut hop = packet.hop as usize;
        let mut step = self.hops[hop];
        let mut comes = now;
        let asked = now.max(self.asked);
        loop {
            hop += 1;
            let next = self.hops[hop];
            let wire = step & WIRE;
            let idle = if step & (HOOKED | LINE) == 0 {
                let link = &mut self.links[wire as usize];
                if comes <= asked {
                    link.pass(comes, size, now)
                } else {
                    link.admit(comes, size, now)
                }
            } else {
                None
            };
            if let Some((starts, at)) = idle {
                if untimed {
                    packet.first_sent = starts;
                    untimed = false;
                }
                comes = at;
            } else {
                comes = self.offer(now, comes, id, hop)?;
                packet = &mut self.packets[id as usize];
                untimed = false;
            }
            if next & (ELIDED | DELIVER) == ELIDED && comes <= self.end {
                step = next;
                continue;
            }
            packet.hop = index(hop);
            return Some(Passed { comes, wire, next, size, untimed });
        }
    }

    /// Has an intact packet come at `at` to the end of the link `wire`, behind which `next` is next, in the order of a
    /// `lane` or in none.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller moves nearly all packets")]
    fn under_way(&mut self, at: Instant, wire: u32, id: u32, next: u32, lane: Option<u32>) {
        if next & (LINE | DELIVER) == LINE {
            self.go_on(at, wire, id);
        } else if let Some(lane) = lane {
            self.wheel.push_in_lane(lane, at, id);
        } else {
            self.wheel.push(at, Class::Arrival, id);
        }
    }

    /// Has an intact packet come at `at` to the end of the link `wire`, behind which a private line is next: it passes
    /// that at once, without an event between the two.
    fn go_on(&mut self, at: Instant, wire: u32, id: u32) {
        if self.links[wire as usize].reorders() {
            // A line is to be told of packets in the order in which they come to it.
            self.wheel.push(at, Class::Arrival, id);
            return;
        }
        let packet = &mut self.packets[id as usize];
        let line = self.hops[packet.hop as usize] & WIRE;
        packet.hop += 1;
        self.pass_line(at, id, line);
    }

    /// Passes a packet, which comes at `at`, through a private line.
    #[inline(never)]
    fn pass_line(&mut self, at: Instant, id: u32, line: u32) {
        let packet = &mut self.packets[id as usize];
        let size = u32::try_from(packet.segment.wire_size().get()).unwrap_or(u32::MAX);
        let syn = packet.segment.flags.contains(Flags::SYN);
        let fin = packet.segment.flags.contains(Flags::FIN);
        let passage = self.lines[line as usize].pass(at, size, syn, fin);
        if packet.segment.len > 0 && packet.first_sent == Instant::NEVER {
            packet.first_sent = passage.starts;
        }
        match passage.arrives {
            Some(arrives) => self.wheel.push(arrives, Class::Arrival, id),
            None => self.discard(id),
        }
    }

    /// Lets the packet that a scheduled link is sending leave it.
    pub fn depart(&mut self, now: Instant, wire: u32) {
        if let Some(departure) = self.links[wire as usize].depart(now) {
            self.wait(wire, departure.wake);
            self.prefetch_serving(wire);
            if self.taps.is_some() {
                self.note_departure(now, wire, &departure);
            }
            self.go_on_from(wire, &departure);
        }
        if self.links[wire as usize].has_alarms() {
            let wake = self.links[wire as usize].wake(now);
            self.wait(wire, wake);
        }
    }

    /// Prefetches the next packet to leave a scheduled link, which has left the cache while it waited.
    #[inline]
    fn prefetch_serving(&self, wire: u32) {
        if let Some(next) = self.links[wire as usize].serving()
            && let Some(packet) = self.packets.get(next.id.get() as usize)
        {
            prefetch(packet);
        }
    }

    /// Forwards a packet that has left a scheduled link.
    fn go_on_from(&mut self, wire: u32, departure: &Departure) {
        if !departure.packet.is_flows() {
            return;
        }
        let id = departure.packet.id.get();
        let packet = &mut self.packets[id as usize];
        if packet.segment.len > 0 && packet.first_sent == Instant::NEVER {
            packet.first_sent = departure.started;
        }
        match departure.arrives {
            Some(at) if departure.fate == Fate::INTACT => {
                let next = self.hops[packet.hop as usize];
                if next & (LINE | DELIVER) == LINE {
                    self.go_on(at, wire, id);
                } else if self.mailboxes.in_use() {
                    let hop = packet.hop;
                    self.hand_over(at, id, hop);
                } else {
                    self.wheel.push(at, Class::Arrival, id);
                }
            }
            Some(at) => self.impair(wire, id, departure.started, at, departure.fate),
            None => self.discard(id),
        }
    }

    /// Forwards a packet that has reached the end of a link, or returns the host at which it has arrived.
    #[inline]
    pub fn step(&mut self, now: Instant, id: u32) -> Step {
        let next = self.hops[self.packets[id as usize].hop as usize];
        if next & DELIVER != 0 {
            return Step::Arrived(next & !DELIVER);
        }
        self.forward(now, id);
        Step::UnderWay
    }

    /// Returns the host at which the packet is about to arrive, and whether it carries data; `None` if a link is before
    /// the host.
    #[inline]
    pub fn host_of(&self, id: u32) -> Option<(u32, bool)> {
        let packet = &self.packets[id as usize];
        let next = self.hops[packet.hop as usize];
        (next & DELIVER != 0).then_some((next & !DELIVER, packet.segment.len > 0))
    }

    /// Prefetches the link at `hop` of a path.
    #[inline]
    pub fn prefetch_link(&self, hop: u32) {
        let step = self.hops[hop as usize];
        if step & (LINE | DELIVER) == 0 {
            prefetch_lines(&self.links[(step & WIRE) as usize], 0..LINK_LINES);
        }
    }

    /// Prefetches the packet.
    #[inline]
    pub fn prefetch(&self, id: u32) {
        prefetch(&self.packets[id as usize]);
    }

    /// The packet that has arrived, and its options.
    #[inline]
    pub fn packet(&mut self, id: u32) -> (&InFlight, Option<&Options>) {
        let packet = &self.packets[id as usize];
        (packet, self.options.get(packet.options, packet.segment.ack))
    }

    /// Frees the place of a packet that is lost, and notes the loss for a connection that comes and goes.
    fn discard(&mut self, id: u32) {
        let InFlight { flow, segment, options, .. } = self.packets[id as usize];
        if let Some(in_network) = self.packets_of_mut(flow) {
            *in_network -= 1;
            self.lost.push(LostPacket { flow, flags: segment.flags });
            self.notified = true;
        }
        self.options.free(options);
        self.free.push(id);
    }

    /// Frees the place of the packet, which has come to the host that is served.
    #[inline]
    pub fn release(&mut self, id: u32) {
        let InFlight { flow, options, .. } = self.packets[id as usize];
        if let Some(in_network) = self.packets_of_mut(flow) {
            *in_network -= 1;
        }
        if options != NO_OPTIONS {
            self.options.free(options);
        }
        self.free.push(id);
    }
}

impl Links for Network {
    fn count(&self) -> usize {
        self.links.len()
    }

    fn counters(&mut self, wire: usize, now: Instant) -> Counters {
        self.links[wire].counters(now)
    }

    fn delays(&mut self, wire: usize, now: Instant) -> DelayHistogram {
        self.links[wire].delays(now)
    }

    fn sources(&self, wire: usize) -> &[SourceCounters] {
        self.links[wire].sources()
    }

    fn crossings(&self, wire: usize) -> &[[u64; 2]] {
        self.crossings.get(wire).map_or(&[], |counts| counts)
    }
}

impl crate::layout::links::Network for Network {
    fn add_source(&mut self, wire: usize) -> u16 {
        self.links[wire].add_source()
    }

    fn describe(&mut self, wire: usize, class: u32, header: Header) {
        self.links[wire].describe(class, header);
    }

    fn offer_cross(&mut self, now: Instant, wire: u32, packet: Packet) {
        self.depart_by(wire, now);
        let HopHooks { watched, marks, counts, .. } = self.hooks[wire as usize];
        let hooked = watched || marks || counts;
        let before =
            if hooked { self.before_offer(now, wire, packet) } else { Offering::default() };
        let verdict = self.links[wire as usize].offer(now, packet);
        if hooked {
            self.after_offer(now, wire, packet, OfferOutcome::of(&verdict), before);
        }
        if let Verdict::Waits { wake } = verdict {
            self.wait(wire, wake);
        }
    }

    fn count_crossings(&mut self, wires: &[usize], flows: usize) {
        if wires.is_empty() {
            return;
        }
        self.crossings.resize(self.links.len(), Vec::new());
        for wire in wires {
            self.hooks[*wire].counts = true;
            self.crossings[*wire] = vec![[0; 2]; flows];
        }
        self.note_hops();
    }

    /// [`take_touched`](Self::take_touched) tells of them.
    fn watch(&mut self, wires: &[usize]) {
        for wire in wires {
            self.hooks[*wire].watched = true;
        }
        self.note_hops();
    }

    fn add_lines(&mut self) -> u32 {
        let unused = || AccessLine::new(&AccessLineConfig::default(), Stream::new(0, "line"));
        self.lines.extend([(); 4].map(|()| unused()));
        index(self.lines.len() - 4)
    }

    fn lines_from(&mut self, first: u32) -> &mut [AccessLine; 4] {
        self.lines[first as usize..].first_chunk_mut().expect("lines come in fours")
    }

    fn add_paths(&mut self, wires: &[Vec<usize>; 2], lines: Option<u32>, client: u32) -> [u32; 2] {
        self.packets_by_flow.push(0);
        // Of the client up and the server down, and of the server up and the client down.
        let line = |of: u32| lines.map(|first| (first + of) | LINE);
        let [there, back] = wires;
        [(there, 0, 3, client + 1), (back, 2, 1, client)].map(|(wires, up, down, host)| {
            let first = index(self.hops.len());
            self.hops.extend(line(up));
            self.hops.extend(wires.iter().map(|wire| self.hop(*wire)).collect::<Vec<_>>());
            self.hops.extend(line(down));
            self.hops.push(host | DELIVER);
            first
        })
    }

    #[inline]
    fn carries(&self, flow: u32) -> bool {
        self.packets_by_flow[(flow - self.first_dynamic) as usize] > 0
    }
}

/// The event wheel for this spacing of events at the fastest link that flows share, and for events so far ahead.
pub fn clock_for(busiest_bps: u64, longest_delay: Duration) -> Wheel {
    // A packet of 1500 bytes makes about four events; about eight events a slot.
    let packets_per_second = (busiest_bps / 12_000).max(1);
    let spacing = Duration::from_nanos(1_000_000_000 * 8 / (4 * packets_per_second).max(1));
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
