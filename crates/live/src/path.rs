//! The emulated path: [`ackclock_net::Path`] with real packets in it, between the devices of hosts.
//!
//! The path is told the time, as everything in `net` is, and never asks for it: its driver by the real
//! clock is [`crate::driver::path_driver`]. An event inside the path happens at the moment that the model gives
//! it, however late its turn comes, so that a late wake-up delays one packet's release and shifts no rate.

mod frame;
mod rates;

use ackclock_net::path::{Change, Decided, Delivery, Progress, Step};
use ackclock_net::{Agenda, Counters, DelayHistogram, SourceCounters};
use ackclock_sim::Acks;
use ackclock_sim::Class;
use ackclock_sim::records::LinkSamples;
use ackclock_sim::run::plan::{CrossSource, Plan};
use ackclock_sim::scenario::{Every, Scenario};
use ackclock_units::{Duration, Instant, Rate};

use crate::base::addresses::flow_of;
use crate::base::beside::Beside;
use crate::base::header::{self, HeaderView, LEAD};
use frame::Frame;
use rates::RateMeter;

/// A packet that has come to the end of its way.
#[derive(Debug)]
pub struct Release<'a> {
    /// Its flow.
    pub flow: usize,
    /// 0 to the receiver, 1 to the sender.
    pub way: usize,
    /// The time at which it is due.
    pub at: Instant,
    /// [`LEAD`] bytes of room, then the packet.
    pub bytes: &'a mut [u8],
    /// True if its checksum is right: a packet in which a bit was flipped is for the host to refuse.
    pub intact: bool,
}

/// The packets that came to a flow's hosts.
#[derive(Clone, Debug, Default)]
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
    /// ACKs that reached the sender, where they are counted.
    pub acks: Option<Box<Acks>>,
}

/// All that the path counted by a moment.
#[derive(Clone, Debug)]
pub struct PathSnapshot {
    /// One entry a wire: its counters and its delays.
    pub wires: Vec<(Counters, DelayHistogram)>,
    /// One entry a cross-traffic source.
    pub sources: Vec<SourceCounters>,
    /// One entry a flow.
    pub arrived: Vec<Arrived>,
    /// One entry a wire, and in it one a flow that is no connection of a class: packets offered and dropped.
    pub crossings: Vec<Vec<[u64; 2]>>,
}

/// A probe of a wire.
#[derive(Clone, Copy, Debug)]
struct WireProbe {
    wire: usize,
    interval: Option<Duration>,
    from: Instant,
    until: Instant,
}

/// The path, and what enters it and is seen of it.
#[derive(Debug)]
pub struct Path {
    network: ackclock_net::Path<Frame>,
    /// Cross-traffic and probes, which come after the path's events of the same instant.
    agenda: Agenda<Class>,
    /// The rate of each wire that keeps one; `None` of the others.
    rates: Vec<Option<Rate>>,
    meters: Vec<RateMeter>,
    /// Each with its number at its wire.
    sources: Vec<(CrossSource, usize)>,
    buffers: Vec<Box<[u8]>>,
    arrived: Vec<Arrived>,
    /// The first sending time of the last data packet that came to each receiver and is not acknowledged.
    echoes: Vec<Instant>,
    /// Routers' decisions over requests of connections.
    pub decisions: Vec<Decided>,
    /// SYNs and SYN-ACKs that were lost on the way, one entry a connection.
    pub lost_syns: Vec<[u16; 2]>,
    /// Cross-traffic through links whose routers the kernel has.
    pub beside: Option<Beside>,
    probes: Vec<WireProbe>,
    samples: LinkSamples,
    room: usize,
    end: Instant,
    /// Events that were handled.
    pub handled: u64,
    /// Packets of no flow of the scenario's, which go nowhere.
    pub unknown_packets: u64,
}

impl Path {
    /// The path of `plan` for packets of at most `mtu` bytes.
    pub fn new(scenario: &Scenario, plan: &Plan, mtu: usize) -> Self {
        let links = plan.wires.iter().map(|wire| wire.model.clone()).collect();
        let mut path = ackclock_net::Path::new(links);
        let flows = plan.flows.iter().map(|flow| (&flow.ways, None));
        let dynamic = plan.connections.iter().map(|planned| (&planned.ways, planned.lines.clone()));
        let mut connections = 0;
        for ([there, back], lines) in flows.chain(dynamic) {
            let lines = lines.map(|lines| lines.map(|line| path.add_line(line)));
            let [out, home] =
                [[0, 3], [2, 1]].map(|ends| lines.map(|lines| ends.map(|line: usize| lines[line])));
            path.add_end(Step::over(there, out), end_of(connections, 1));
            path.add_end(Step::over(back, home), end_of(connections, 0));
            connections += 1;
        }
        let mut rates: Vec<_> = plan.wires.iter().map(|wire| wire.rate).collect();
        for planned in &plan.changes {
            let mut change = Change { links: planned.change.wires.clone(), routes: Vec::new() };
            for (flow, ways) in &planned.change.routes {
                for (from, way) in ways.iter().enumerate() {
                    let route = path.add_route(Step::over(way, None), end_of(*flow, 1 - from));
                    change.routes.push((end_of(*flow, from), route));
                }
            }
            for (wire, _) in change.links.iter().filter(|(_, change)| change.rate.is_some()) {
                // The rate that is reached is to be held against one rate.
                rates[*wire] = None;
            }
            let n = path.add_change(change);
            path.change_at(planned.at, n);
        }
        for (n, wire) in plan.wires.iter().enumerate() {
            path.count_crossings(n, plan.flows.len());
            if let Some(router) = &wire.router {
                path.add_router(n, router.clone());
            }
        }
        let mut agenda = Agenda::new();
        for (n, source) in (0..).zip(&plan.sources) {
            agenda.add(source.first, Class::Cross, n);
        }
        let probes = wire_probes(scenario, plan);
        for (n, probe) in (0..).zip(&probes) {
            match probe.interval {
                Some(_) => agenda.add(probe.from, Class::Probe, n),
                None => path.watch(probe.wire),
            }
        }
        Self {
            network: path,
            agenda,
            rates,
            meters: vec![RateMeter::default(); plan.wires.len()],
            sources: plan.sources.iter().map(|s| (s.source.clone(), s.number)).collect(),
            buffers: Vec::new(),
            arrived: vec![
                Arrived {
                    acks: plan.counts_acks.then(Box::default),
                    ..Arrived::default()
                };
                connections
            ],
            echoes: vec![Instant::NEVER; connections],
            decisions: Vec::new(),
            lost_syns: vec![[0; 2]; connections],
            beside: None,
            probes,
            samples: LinkSamples::default(),
            room: LEAD + mtu,
            end: plan.end,
            handled: 0,
            unknown_packets: 0,
        }
    }

    /// The time of the next event.
    pub fn next_at(&self) -> Option<Instant> {
        [self.network.next_at(), self.agenda.next_at()].into_iter().flatten().min()
    }

    /// A buffer for a packet that is read from a host: [`LEAD`] bytes, then the packet. To be given back to
    /// [`offer`](Self::offer), or kept for the next.
    pub fn buffer(&mut self) -> Box<[u8]> {
        self.buffers.pop().unwrap_or_else(|| vec![0; self.room].into_boxed_slice())
    }

    /// A host has sent the packet of `len` bytes in `bytes`. Returns the buffer if the packet is none of the
    /// path's.
    pub fn offer(&mut self, now: Instant, bytes: Box<[u8]>, len: usize) -> Option<Box<[u8]>> {
        let place = HeaderView::read(&bytes[LEAD..LEAD + len])
            .and_then(|headers| Some((headers, flow_of(headers.source)?)))
            .filter(|(_, (flow, _))| *flow < self.arrived.len());
        let Some((headers, (flow, way))) = place else {
            self.unknown_packets += 1;
            return Some(bytes);
        };
        // Only a pure ACK answers one data packet and nothing else.
        let mut echo = Instant::NEVER;
        if way == 1 && !headers.data {
            std::mem::swap(&mut echo, &mut self.echoes[flow]);
        }
        self.network.send(now, end_of(flow, way), Frame { bytes, len, flow, way, headers, echo });
        self.drain_notifications(now);
        None
    }

    /// Does what is due by `until` while the time on the wall is `real`, and gives packets at the end of
    /// their way to `deliver`.
    pub fn run(&mut self, until: Instant, real: Instant, mut deliver: impl FnMut(Release<'_>)) {
        while let Some(next) = self.next_at().filter(|next| *next <= until) {
            self.handled += 1;
            if let Some(Progress { at, hop, delivered }) = self.network.advance(next) {
                if let Some(hop) = hop {
                    let sent = (hop.starts, hop.departs);
                    self.meters[hop.link].note(sent, u64::from(hop.size), real);
                }
                if let Some(delivery) = delivered {
                    self.arrive(at, delivery, &mut deliver);
                }
            } else if let Some((at, class, n)) = self.agenda.take_due(next) {
                match class {
                    Class::Cross => self.cross(at, n),
                    _ => self.probe(at, n),
                }
            }
            self.drain_notifications(next);
        }
    }

    /// Packets have come to links that probes watch, routers have decided, packets were lost.
    fn drain_notifications(&mut self, now: Instant) {
        while let Some(wire) = self.network.take_touched() {
            let wanted = self.probes.iter().any(|probe| {
                let sees = probe.interval.is_none() && probe.wire == wire;
                sees && probe.from <= now && now <= probe.until
            });
            if wanted {
                self.record(now, wire);
            }
        }
        while let Some(decided) = self.network.take_decided() {
            self.decisions.push(decided);
        }
        while let Some(frame) = self.network.take_lost() {
            if let Some(answer) = frame.headers.syn_ack {
                let count = &mut self.lost_syns[frame.flow][usize::from(answer)];
                *count = count.saturating_add(1);
            }
            self.buffers.push(frame.bytes);
        }
    }

    /// A packet comes to the host that it is for.
    fn arrive(
        &mut self,
        at: Instant,
        delivery: Delivery<Frame>,
        deliver: &mut impl FnMut(Release<'_>),
    ) {
        let Delivery { payload: mut frame, corrupted, first_sent, .. } = delivery;
        let Frame { len, flow, way, headers, echo, .. } = frame;
        let arrived = &mut self.arrived[flow];
        if corrupted {
            arrived.corrupted += 1;
            header::corrupt(frame.packet());
        } else if way == 0 && headers.data {
            arrived.packets += 1;
            arrived.bytes += len as u64;
            self.echoes[flow] = first_sent;
        } else if way == 1 && !headers.data {
            if echo != Instant::NEVER {
                arrived.path_rtt_sum_ns += at.since(echo).as_nanos();
                arrived.path_rtts += 1;
            }
            if let Some(acks) = arrived.acks.as_mut().filter(|_| headers.syn_ack.is_none()) {
                acks.count(at);
            }
        }
        let bytes = &mut frame.bytes[..LEAD + len];
        deliver(Release { flow, way, at, bytes, intact: !corrupted });
        self.buffers.push(frame.bytes);
    }

    /// A cross-traffic source sends a packet.
    fn cross(&mut self, now: Instant, n: u32) {
        let source = &mut self.sources[n as usize].0;
        if now >= source.stop {
            return;
        }
        source.sent += 1;
        let next = source.next(now);
        if let Some(beside) = &mut self.beside {
            beside.add(source.wire as usize, u64::from(source.packet.size));
        }
        self.network.offer_cross(now, source.wire as usize, source.packet);
        if next <= self.end {
            self.agenda.add(next, Class::Cross, n);
        }
    }

    /// A probe's interval is over.
    fn probe(&mut self, now: Instant, n: u32) {
        let probe = self.probes[n as usize];
        self.record(now, probe.wire);
        let next = probe.interval.map(|interval| now + interval);
        if let Some(next) = next.filter(|next| *next <= probe.until) {
            self.agenda.add(next, Class::Probe, n);
        }
    }

    fn record(&mut self, now: Instant, wire: usize) {
        let counters = self.network.links_mut()[wire].counters(now);
        self.samples.record(now, wire, &counters);
    }

    /// The counters of the path at `now`.
    pub fn snapshot(&mut self, now: Instant) -> PathSnapshot {
        let links = self.network.links_mut().iter_mut();
        let wires: Vec<_> = links.map(|link| (link.counters(now), link.delays().clone())).collect();
        let links = self.network.links();
        let sources = self.sources.iter();
        PathSnapshot {
            sources: sources.map(|(s, number)| links[s.wire as usize].sources()[*number]).collect(),
            arrived: self.arrived.clone(),
            crossings: (0..wires.len()).map(|wire| self.network.crossings(wire).to_vec()).collect(),
            wires,
        }
    }

    /// The samples of the probes of links so far.
    pub const fn samples(&self) -> &LinkSamples {
        &self.samples
    }

    /// Takes the samples of the probes of links.
    pub fn take_samples(&mut self) -> LinkSamples {
        std::mem::take(&mut self.samples)
    }

    /// Rates of wires that sent enough to measure and kept one rate: wire, configured rate, reached rate in bits
    /// per second.
    pub fn rates(&self) -> Vec<(usize, f64, f64)> {
        let rates = self.rates.iter().zip(&self.meters).enumerate();
        rates
            .filter_map(|(n, (rate, meter))| Some((n, (*rate)?.as_bps() as f64, meter.reached()?)))
            .collect()
    }
}

/// The number of a flow's end on the path: 0 of its sender, 1 of its receiver.
fn end_of(flow: usize, side: usize) -> u32 {
    u32::try_from(2 * flow + side).expect("fewer than 2^31 flows")
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
            interval: match probe.every {
                Every::Change => None,
                Every::Interval(interval) => Some(interval),
            },
            from: Instant::START + probe.from,
            until: probe.until.map_or(plan.end, |until| Instant::START + until),
        })
    });
    probes.collect()
}

#[cfg(test)]
mod tests;
