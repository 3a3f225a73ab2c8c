//! The emulated path: the links of `net` with real packets in them.
//!
//! It is told the time, as everything in `net` is, and never asks for it: what drives it by the real
//! clock is [`crate::clockwork`]. An event inside the path happens at the moment that the model gives
//! it, however late its turn comes, so that a late wake-up delays one packet's release and shifts no rate.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ackclock_net::{
    Arrival, Counters, Decision, DelayHistogram, Effect, Link, Packet, PacketId, PacketKind,
    QuickStartRouter, SourceCounters, Verdict,
};
use ackclock_sim::Class;
use ackclock_sim::plan::{CrossSource, Plan, PlannedChange};
use ackclock_sim::records::LinkSamples;
use ackclock_sim::scenario::{Every, Scenario};
use ackclock_units::{Duration, Instant, Rate};
use ackclock_wire::OptionFate;

use crate::header::{self, LEAD};
use crate::report::{MOST_LATENESS, MOST_RATE_ERROR};

/// A packet on its way.
#[derive(Debug)]
struct Slot {
    /// [`LEAD`] bytes, then the packet.
    bytes: Box<[u8]>,
    len: usize,
    flow: usize,
    /// 0 to the receiver, 1 back.
    way: usize,
    /// Its wires, an index into [`Path::routes`], and how many of them are behind it.
    route: usize,
    hop: usize,
    /// When its transmission on the last link began, and when it ended.
    sent: (Instant, Instant),
    /// When that of the data packet began that it is, or that it acknowledges; `NEVER` if none.
    first_sent: Instant,
    corrupted: bool,
    sight: header::Sight,
}

/// A packet that has come to the end of its way.
#[derive(Debug)]
pub struct Release<'a> {
    /// Its flow.
    pub flow: usize,
    /// 0 to the receiver, 1 to the sender.
    pub way: usize,
    /// When it is due.
    pub at: Instant,
    /// [`LEAD`] bytes of room, then the packet.
    pub bytes: &'a mut [u8],
    /// Whether its checksum is right: a packet in which a bit was flipped is for the host to refuse.
    pub intact: bool,
}

/// What came to a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// Packets with data that reached the receiver.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets with a flipped bit that reached either end.
    pub corrupted: u64,
    /// The sum and number of round trips, from the first link's start of transmission of a data packet
    /// to the arrival of the ACK that answers it.
    pub path_rtt_sum_ns: u64,
    /// Their number.
    pub path_rtts: u64,
}

/// A Quick-Start router's decision over a request of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Decided {
    /// When.
    pub at: Instant,
    /// The wire behind it.
    pub wire: usize,
    /// The connection's number.
    pub number: usize,
    /// What it decided.
    pub decision: Decision,
}

/// All that the path counted by a moment.
#[derive(Clone, Debug)]
pub struct PathSnapshot {
    /// Of each wire.
    pub wires: Vec<(Counters, DelayHistogram)>,
    /// Of each cross-traffic source.
    pub sources: Vec<SourceCounters>,
    /// Of each flow.
    pub arrived: Vec<Arrived>,
    /// Of each wire and flow, packets offered and dropped.
    pub crossings: Vec<Vec<[u64; 2]>>,
}

/// The rate at which a wire's packets came out of it, by the clock on the wall, while packets queued in front of it.
///
/// Only packets sent back to back tell a rate. What the clock is late at the two ends of a busy period is judged by itself
/// ([`MOST_LATENESS`]), and a short period would tell nothing else: one counts from the length on at which so much is less
/// than the most by which a rate may be missed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct RateMeter {
    /// The busy period that lasts.
    period: Option<BusyPeriod>,
    bytes: u64,
    span: Duration,
}

/// Packets that a wire sent back to back.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BusyPeriod {
    /// The ends of the transmissions of its first and last packets in the model, and the real times of their arrivals.
    first: (Instant, Instant),
    last: (Instant, Instant),
    /// Without the first packet.
    bytes: u64,
}

impl BusyPeriod {
    /// Its bytes and how long they really took, if it is long enough to tell.
    fn counted(&self) -> Option<(u64, Duration)> {
        let least = Duration::from_secs_f64(MOST_LATENESS.as_secs_f64() / MOST_RATE_ERROR);
        (self.last.0.since(self.first.0) >= least)
            .then(|| (self.bytes, self.last.1.since(self.first.1.min(self.last.1))))
    }
}

impl RateMeter {
    /// A packet whose transmission took from `starts` to `departs` has really arrived at `real`.
    fn note(&mut self, (starts, departs): (Instant, Instant), size: u64, real: Instant) {
        match &mut self.period {
            Some(period) if starts == period.last.0 => {
                period.last = (departs, real);
                period.bytes += size;
            }
            _ => {
                self.end_period();
                let first = (departs, real);
                self.period = Some(BusyPeriod { first, last: first, bytes: 0 });
            }
        }
    }

    fn end_period(&mut self) {
        if let Some((bytes, span)) = self.period.take().and_then(|period| period.counted()) {
            self.bytes += bytes;
            self.span += span;
        }
    }

    /// The rate in bits per second; `None` if too little was sent back to back to tell.
    fn reached(mut self) -> Option<f64> {
        self.end_period();
        let seconds = self.span.as_secs_f64();
        (seconds > 0.5).then(|| self.bytes as f64 * 8.0 / seconds)
    }
}

/// A probe of a wire.
#[derive(Clone, Copy, Debug)]
struct WireProbe {
    wire: usize,
    interval: Option<Duration>,
    from: Instant,
    until: Instant,
}

/// Marks a subject of [`Class::Change`]: the end of a slot of the router in front of this wire.
const SLOT: usize = 1 << 31;

/// Links, and the packets in them.
#[derive(Debug)]
pub struct Path {
    wires: Vec<Link>,
    rates: Vec<Option<Rate>>,
    meters: Vec<RateMeter>,
    /// Lists of wires, of which each flow uses two.
    routes: Vec<Vec<usize>>,
    of_flow: Vec<[usize; 2]>,
    changes: Vec<PlannedChange>,
    sources: Vec<(CrossSource, usize)>,
    slots: Vec<Slot>,
    free: Vec<usize>,
    buffers: Vec<Box<[u8]>>,
    events: BinaryHeap<Reverse<(Instant, Class, u64, usize)>>,
    sequence: u64,
    arrived: Vec<Arrived>,
    /// When the data packet began its way that came to each receiver last and was not acknowledged.
    echoes: Vec<Instant>,
    crossings: Vec<Vec<[u64; 2]>>,
    /// By wire, the router in front, and whether its decisions are told.
    routers: Vec<Option<(QuickStartRouter, bool)>>,
    /// What they decided.
    pub decisions: Vec<Decided>,
    /// Of each connection, SYNs and SYN-ACKs that were lost on the way.
    pub lost_openings: Vec<[u16; 2]>,
    probes: Vec<WireProbe>,
    samples: LinkSamples,
    room: usize,
    end: Instant,
    /// Events that were handled.
    pub handled: u64,
    /// Packets of no flow of the scenario's, which go nowhere.
    pub strangers: u64,
}

impl Path {
    /// The path of `plan` for packets of at most `mtu` bytes.
    pub fn new(scenario: &Scenario, plan: &Plan, mtu: usize) -> Self {
        let mut routes = Vec::new();
        let mut add = |ways: &[Vec<usize>; 2]| {
            routes.extend(ways.iter().cloned());
            [routes.len() - 2, routes.len() - 1]
        };
        let flows = plan.flows.iter().map(|flow| &flow.ways);
        let ways = flows.chain(plan.connections.iter().map(|connection| &connection.ways));
        let of_flow: Vec<_> = ways.map(&mut add).collect();
        let connections = of_flow.len();
        let probes = wire_probes(scenario, plan);
        let mut path = Self {
            wires: plan.wires.iter().map(|wire| wire.model.clone()).collect(),
            rates: plan.wires.iter().map(|wire| wire.rate).collect(),
            meters: vec![RateMeter::default(); plan.wires.len()],
            routes,
            of_flow,
            changes: plan.changes.clone(),
            sources: plan.sources.iter().map(|s| (s.source.clone(), s.number)).collect(),
            slots: Vec::new(),
            free: Vec::new(),
            buffers: Vec::new(),
            events: BinaryHeap::new(),
            sequence: 0,
            arrived: vec![Arrived::default(); connections],
            echoes: vec![Instant::NEVER; connections],
            crossings: vec![vec![[0; 2]; connections]; plan.wires.len()],
            routers: plan.wires.iter().map(|wire| wire.router.clone()).collect(),
            decisions: Vec::new(),
            lost_openings: vec![[0; 2]; connections],
            probes,
            samples: LinkSamples::default(),
            room: LEAD + mtu,
            end: plan.end,
            handled: 0,
            strangers: 0,
        };
        for n in 0..path.changes.len() {
            path.push(path.changes[n].at, Class::Change, n);
        }
        for (n, source) in plan.sources.iter().enumerate() {
            path.push(source.first, Class::Cross, n);
        }
        for n in 0..path.routers.len() {
            if let Some((router, true)) = &path.routers[n] {
                path.push(router.slot_ends(), Class::Change, n | SLOT);
            }
        }
        for n in 0..path.probes.len() {
            if path.probes[n].interval.is_some() {
                path.push(path.probes[n].from, Class::Probe, n);
            }
        }
        path
    }

    fn push(&mut self, at: Instant, class: Class, subject: usize) {
        self.sequence += 1;
        self.events.push(Reverse((at, class, self.sequence, subject)));
    }

    /// When something is to happen next.
    pub fn next_at(&self) -> Option<Instant> {
        self.events.peek().map(|Reverse((at, ..))| *at)
    }

    /// A buffer for a packet that is read from a host: [`LEAD`] bytes, then the packet. To be given back to
    /// [`offer`](Self::offer), or kept for the next.
    pub fn buffer(&mut self) -> Box<[u8]> {
        self.buffers.pop().unwrap_or_else(|| vec![0; self.room].into_boxed_slice())
    }

    /// A packet is gone.
    fn discard(&mut self, id: usize) {
        self.buffers.push(std::mem::take(&mut self.slots[id].bytes));
        self.free.push(id);
    }

    /// A host has sent the packet of `len` bytes in `bytes`. Returns the buffer if the packet is none of the
    /// path's.
    pub fn offer(&mut self, now: Instant, bytes: Box<[u8]>, len: usize) -> Option<Box<[u8]>> {
        let place = header::look(&bytes[LEAD..LEAD + len])
            .and_then(|sight| Some((sight, header::flow_of(sight.source)?)))
            .filter(|(_, (flow, _))| *flow < self.of_flow.len());
        let Some((sight, (flow, way))) = place else {
            self.strangers += 1;
            return Some(bytes);
        };
        // Only a pure ACK answers one data packet and nothing else.
        let answers = way == 1 && !sight.data;
        let first_sent = if answers {
            std::mem::replace(&mut self.echoes[flow], Instant::NEVER)
        } else {
            Instant::NEVER
        };
        let slot = Slot {
            bytes,
            len,
            flow,
            way,
            route: self.of_flow[flow][way],
            hop: 0,
            sent: (now, now),
            first_sent,
            corrupted: false,
            sight,
        };
        let id = self.keep(slot);
        self.forward(now, id);
        None
    }

    fn keep(&mut self, slot: Slot) -> usize {
        if let Some(id) = self.free.pop() {
            self.slots[id] = slot;
            return id;
        }
        self.slots.push(slot);
        self.slots.len() - 1
    }

    /// A packet comes to the next link of its way.
    fn forward(&mut self, now: Instant, id: usize) {
        let slot = &self.slots[id];
        let wire = self.routes[slot.route][slot.hop];
        // A path's first link is the host's own, with no router in front.
        if slot.sight.options && slot.hop > 0 && !self.pass_router(now, wire, id) {
            self.lose(id);
            return;
        }
        let slot = &self.slots[id];
        let packet = Packet {
            id: PacketId::new(u32::try_from(id).expect("fewer than 2^32 packets")),
            size: u32::try_from(slot.len).expect("packets are short"),
            class: u32::try_from(slot.flow).expect("fewer than 2^32 flows"),
            kind: PacketKind::new(None, slot.sight.data, slot.sight.ecn),
        };
        let (flow, ecn) = (slot.flow, slot.sight.ecn);
        let link = &mut self.wires[wire];
        let marking = link.marks() && link.is_marking(now);
        let verdict = link.offer(now, packet);
        self.crossings[wire][flow][0] += 1;
        if marking && ecn && verdict != Verdict::Dropped {
            self.wires[wire].count_marked(packet.size);
            self.mark(id);
        }
        let delay = self.wires[wire].delay();
        match verdict {
            Verdict::Arrives { starts, at } => {
                self.note_sent(id, starts, before(at, delay));
                self.push(at, Class::Arrival, id);
            }
            Verdict::Impaired { starts, at, fate } => {
                self.note_sent(id, starts, before(at, delay));
                let arrivals = self.wires[wire].arrivals(at, fate);
                self.impair(id, arrivals);
            }
            Verdict::Lost => self.lose(id),
            Verdict::Dropped => {
                self.crossings[wire][flow][1] += 1;
                self.lose(id);
            }
            Verdict::Waits { wake } => {
                self.take_effects(wire);
                if let Some(at) = wake {
                    self.push(at, Class::Departure, wire);
                }
            }
        }
        self.look_at(now, wire);
    }

    fn note_sent(&mut self, id: usize, starts: Instant, departs: Instant) {
        let slot = &mut self.slots[id];
        slot.sent = (starts, departs);
        if slot.sight.data && slot.first_sent == Instant::NEVER {
            slot.first_sent = starts;
        }
    }

    /// A packet is lost on its way.
    fn lose(&mut self, id: usize) {
        let slot = &self.slots[id];
        if let Some(answer) = slot.sight.opening {
            let count = &mut self.lost_openings[slot.flow][usize::from(answer)];
            *count = count.saturating_add(1);
        }
        self.discard(id);
    }

    /// A packet with IP options passes the router in front of `wire`; says whether it goes on.
    fn pass_router(&mut self, now: Instant, wire: usize, id: usize) -> bool {
        let slot = &mut self.slots[id];
        let bytes = &mut slot.bytes[LEAD..LEAD + slot.len];
        let Some((router, told)) = &mut self.routers[wire] else {
            return ackclock_wire::forward(bytes).is_ok();
        };
        let mut decided = None;
        let passed = ackclock_wire::forward_quick_start(bytes, |option| {
            decided = router.process(option);
            match decided {
                Some(decision) if decision.delete => OptionFate::Deleted,
                _ => OptionFate::Written,
            }
        });
        if let Some(decision) = decided.filter(|_| *told) {
            self.decisions.push(Decided { at: now, wire, number: slot.flow, decision });
        }
        passed.is_ok()
    }

    /// A slot of the router in front of `wire` ends.
    fn end_slot(&mut self, now: Instant, wire: usize) {
        let carried = self.wires[wire].counters(now).delivered.bytes;
        let Some((router, _)) = &mut self.routers[wire] else { return };
        router.advance(now, carried);
        let next = router.slot_ends();
        self.push(next, Class::Change, wire | SLOT);
    }

    fn mark(&mut self, id: usize) {
        let slot = &mut self.slots[id];
        header::mark(&mut slot.bytes[LEAD..LEAD + slot.len]);
    }

    /// A packet arrives, and its copy if there is one.
    fn impair(&mut self, id: usize, (own, copy): (Arrival, Option<Arrival>)) {
        if let Some(copy) = copy {
            let mut bytes = self.buffer();
            bytes.copy_from_slice(&self.slots[id].bytes);
            let Slot { len, flow, way, route, hop, sent, first_sent, sight, .. } = self.slots[id];
            let corrupted = self.slots[id].corrupted | copy.corrupted;
            let slot =
                Slot { bytes, len, flow, way, route, hop, sent, first_sent, corrupted, sight };
            let id = self.keep(slot);
            self.push(copy.at, Class::Arrival, id);
        }
        self.slots[id].corrupted |= own.corrupted;
        self.push(own.at, Class::Arrival, id);
    }

    /// Does to packets what the discipline of a scheduled link has done to them.
    fn take_effects(&mut self, wire: usize) {
        while let Some(effect) = self.wires[wire].take_effect() {
            match effect {
                Effect::Marked(packet) => self.mark(packet.id.get() as usize),
                Effect::Dropped(packet, _) if packet.is_flows() => {
                    let id = packet.id.get() as usize;
                    self.crossings[wire][self.slots[id].flow][1] += 1;
                    self.lose(id);
                }
                Effect::Dropped(..) => {}
            }
        }
    }

    /// The packet being sent by a scheduled link leaves.
    fn depart(&mut self, now: Instant, wire: usize) {
        let Some(departure) = self.wires[wire].depart(now) else { return };
        self.take_effects(wire);
        if let Some(at) = departure.wake {
            self.push(at, Class::Departure, wire);
        }
        if !departure.packet.is_flows() {
            return;
        }
        let id = departure.packet.id.get() as usize;
        match departure.arrives {
            Some(at) => {
                self.note_sent(id, departure.started, now);
                let arrivals = self.wires[wire].arrivals(at, departure.fate);
                self.impair(id, arrivals);
            }
            None => self.lose(id),
        }
    }

    /// Does what is due by `until` while the time on the wall is `real`, and gives packets at the end of
    /// their way to `deliver`.
    pub fn run(&mut self, until: Instant, real: Instant, mut deliver: impl FnMut(Release<'_>)) {
        while let Some(Reverse((at, class, _, subject))) = self.events.peek().copied() {
            if at > until {
                return;
            }
            self.events.pop();
            self.handled += 1;
            match class {
                Class::Departure => self.depart(at, subject),
                Class::Change if subject & SLOT != 0 => self.end_slot(at, subject & !SLOT),
                Class::Change => self.change(at, subject),
                Class::Cross => self.cross(at, subject),
                Class::Probe => {
                    let probe = self.probes[subject];
                    self.record(at, probe.wire);
                    let next = probe.interval.map(|interval| at + interval);
                    if let Some(next) = next.filter(|next| *next <= probe.until) {
                        self.push(next, Class::Probe, subject);
                    }
                }
                _ => self.arrive(at, subject, real, &mut deliver),
            }
        }
    }

    /// A packet comes to the end of a link.
    fn arrive(
        &mut self,
        at: Instant,
        id: usize,
        real: Instant,
        deliver: &mut impl FnMut(Release<'_>),
    ) {
        let slot = &mut self.slots[id];
        let wire = self.routes[slot.route][slot.hop];
        slot.hop += 1;
        self.meters[wire].note(slot.sent, slot.len as u64, real);
        if slot.hop < self.routes[slot.route].len() {
            self.forward(at, id);
            return;
        }
        let arrived = &mut self.arrived[slot.flow];
        let bytes = &mut slot.bytes[..LEAD + slot.len];
        if slot.corrupted {
            arrived.corrupted += 1;
            header::corrupt(&mut bytes[LEAD..]);
        } else if slot.way == 0 && slot.sight.data {
            arrived.packets += 1;
            arrived.bytes += slot.len as u64;
            self.echoes[slot.flow] = slot.first_sent;
        } else if slot.way == 1 && !slot.sight.data && slot.first_sent != Instant::NEVER {
            arrived.path_rtt_sum_ns += at.since(slot.first_sent).as_nanos();
            arrived.path_rtts += 1;
        }
        let intact = !slot.corrupted;
        deliver(Release { flow: slot.flow, way: slot.way, at, bytes, intact });
        self.discard(id);
    }

    fn change(&mut self, now: Instant, n: usize) {
        let change = self.changes[n].clone();
        for wire in &change.wires {
            let link = &mut self.wires[wire.wire];
            link.advance(now);
            let wake = wire.apply(now, link);
            if wire.changes_rate() {
                // What is reached is to be held against one rate.
                self.rates[wire.wire] = None;
            }
            self.take_effects(wire.wire);
            if let Some(at) = wake {
                self.push(at, Class::Departure, wire.wire);
            }
            self.look_at(now, wire.wire);
        }
        for (flow, ways) in change.routes {
            self.routes.extend(ways);
            self.of_flow[flow] = [self.routes.len() - 2, self.routes.len() - 1];
        }
    }

    fn cross(&mut self, now: Instant, n: usize) {
        let source = &mut self.sources[n].0;
        if now >= source.stop {
            return;
        }
        let (wire, packet) = (source.wire as usize, source.packet);
        source.sent += 1;
        let next = source.next(now);
        if let Verdict::Waits { wake } = self.wires[wire].offer(now, packet) {
            self.take_effects(wire);
            if let Some(at) = wake {
                self.push(at, Class::Departure, wire);
            }
        }
        self.look_at(now, wire);
        if next <= self.end {
            self.push(next, Class::Cross, n);
        }
    }

    /// Something happened at a wire.
    fn look_at(&mut self, now: Instant, wire: usize) {
        let wanted = self.probes.iter().any(|probe| {
            probe.interval.is_none()
                && probe.wire == wire
                && probe.from <= now
                && now <= probe.until
        });
        if wanted {
            self.record(now, wire);
        }
    }

    fn record(&mut self, now: Instant, wire: usize) {
        let counters = self.wires[wire].counters(now);
        let samples = &mut self.samples;
        samples.time_ns.push(now.as_nanos());
        samples.link.push(u32::try_from(wire).expect("fewer than 2^32 links"));
        samples.queue_packets.push(counters.queued.packets);
        samples.queue_bytes.push(counters.queued.bytes);
        samples.delivered_cross_packets.push(counters.delivered_cross.packets);
        let of_flows = counters.delivered.packets - counters.delivered_cross.packets;
        samples.delivered_flow_packets.push(of_flows);
        samples.dropped_packets.push(counters.dropped.packets);
    }

    /// What was counted by `now`.
    pub fn snapshot(&mut self, now: Instant) -> PathSnapshot {
        PathSnapshot {
            wires: self.wires.iter_mut().map(|w| (w.counters(now), w.delays(now))).collect(),
            sources: self
                .sources
                .iter()
                .map(|(source, number)| self.wires[source.wire as usize].sources()[*number])
                .collect(),
            arrived: self.arrived.clone(),
            crossings: self.crossings.clone(),
        }
    }

    /// What probes of links recorded.
    pub fn take_samples(&mut self) -> LinkSamples {
        std::mem::take(&mut self.samples)
    }

    /// Of each wire that sent enough to tell and kept one rate, that rate and the one reached, in bits
    /// per second.
    pub fn rates(&self) -> Vec<(usize, f64, f64)> {
        let rates = self.rates.iter().zip(&self.meters).enumerate();
        rates
            .filter_map(|(n, (rate, meter))| Some((n, (*rate)?.as_bps() as f64, meter.reached()?)))
            .collect()
    }
}

/// The moment so long before `at`.
const fn before(at: Instant, delay: Duration) -> Instant {
    Instant::from_nanos(at.as_nanos().saturating_sub(delay.as_nanos()))
}

fn wire_probes(scenario: &Scenario, plan: &Plan) -> Vec<WireProbe> {
    let probes = scenario.probes.iter().filter_map(|probe| {
        let link = probe.link.as_ref()?;
        let wire = plan
            .wires
            .iter()
            .position(|w| w.link == *link && w.direction == probe.direction.as_str())?;
        Some(WireProbe {
            wire,
            interval: match probe.every.0 {
                Every::Change => None,
                Every::Interval(interval) => Some(interval),
            },
            from: Instant::START + probe.from.0,
            until: probe.until.map_or(plan.end, |until| Instant::START + until.0),
        })
    });
    probes.collect()
}

#[cfg(test)]
mod tests;
