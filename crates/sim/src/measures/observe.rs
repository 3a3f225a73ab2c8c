//! Seeing packets as links send them: for a capture, and for whatever else wants to look.
//!
//! Nobody who looks can change a run: an observer is told what happened and has no way to act on it,
//! except to end the run.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use ackclock_net::Counters;
use ackclock_packet::{Ecn, Flags, IpMeta, Options, Segment};
use ackclock_tcp::{Endpoint, Reasons};
pub use ackclock_tcp::{Reason, Sending};
use ackclock_units::{Bytes, Instant};

use crate::error::ScenarioError;
use crate::layout::topology::{Layout, flow_entries, flow_names};
use crate::scenario::{Direction, Scenario};
use crate::traffic::cross;

/// The names for which the numbers in a [`Transmission`] stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The flows, `count` spelled out, in the order of the scenario.
    pub flows: Vec<String>,
    /// The links.
    pub links: Vec<String>,
    /// The cross-traffic sources.
    pub sources: Vec<String>,
}

impl Names {
    /// The names of the flows alone, each with the index of its entry in `scenario`.
    pub fn of_flows(scenario: &Scenario) -> Vec<(usize, String)> {
        let entries = flow_entries(scenario);
        let names = flow_names(scenario, &entries);
        entries.into_iter().zip(names).collect()
    }

    /// The names in `scenario`.
    ///
    /// # Errors
    /// A topology in which a flow has no path.
    pub fn of(scenario: &Scenario) -> Result<Self, ScenarioError> {
        let entries = flow_entries(scenario);
        let wires = Layout::new(scenario, &entries)?.wires;
        let sources = scenario.cross_traffic.iter().enumerate();
        Ok(Self {
            flows: flow_names(scenario, &entries),
            links: wires.into_iter().step_by(2).map(|wire| wire.name).collect(),
            sources: sources.map(|(n, spec)| cross::source_name(spec, n)).collect(),
        })
    }
}

/// Sees packets as links send them.
pub trait Observer {
    /// A link has sent a packet: its last bit has left by the time of the call, whether or not it is
    /// lost after that. What a queue refused is never seen, and neither is what is still being sent
    /// when the run ends, so that there are as many calls as the link has delivered packets.
    ///
    /// The calls about one link, both directions together, are in the order of
    /// [`Transmission::at`]. [`ControlFlow::Break`] ends the run.
    fn on_transmit(&mut self, transmission: &Transmission) -> ControlFlow<()>;

    /// True if it is to be told of what hosts [give](Self::on_given) to their first links. Never changes.
    fn wants_given(&self) -> bool {
        false
    }

    /// A host of a static flow has given a segment to its first link, where it may have to wait, or be dropped. At once,
    /// and in the order of time. Of a visitor's transport nothing is told.
    fn on_given(&mut self, _: &Given) {}
}

/// A segment that a host has given to its first link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Given {
    /// When.
    pub at: Instant,
    /// The flow, an index into [`Names::flows`].
    pub flow: usize,
    /// True if the end that opened the connection sent it.
    pub from_client: bool,
    /// The segment.
    pub segment: Segment,
    /// The reason for which it went out, if it carries data and opens no connection.
    pub sending: Option<Sending>,
}

/// A packet on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transmission {
    /// The link, an index into [`Names::links`].
    pub link: usize,
    /// The direction.
    pub direction: Direction,
    /// When its first bit left.
    pub at: Instant,
    /// The packet.
    pub packet: Sent,
}

/// A packet, by whose it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sent {
    /// A flow's.
    Segment(SentSegment),
    /// A datagram of a flow with a visitor's transport: only in runs that have one.
    Datagram(SentDatagram),
    /// A cross-traffic source's.
    Cross {
        /// The source, an index into [`Names::sources`].
        source: usize,
        /// Its length, all headers included.
        size: Bytes,
    },
}

/// A datagram of a flow with a visitor's transport.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SentDatagram {
    /// The flow, an index into [`Names::flows`].
    pub flow: usize,
    /// True if the end that opened the connection sent it.
    pub from_client: bool,
    /// Its length, all headers included.
    pub size: Bytes,
    /// Its field for congestion marks.
    pub ecn: Ecn,
}

/// A flow's packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SentSegment {
    /// The flow, an index into [`Names::flows`].
    pub flow: usize,
    /// True if the end that opened the connection sent it.
    pub from_client: bool,
    /// The segment.
    pub segment: Segment,
    /// Its requests to the network.
    pub ip: IpMeta,
    /// Its options, if it has any but timestamps.
    pub options: Option<Options>,
    /// By how much the wire shifts the windows that this end announces (RFC 7323 §2.2): what it
    /// offered on its SYN, once both ends have offered.
    pub window_shift: u8,
}

/// The hosts of static flows, where an observer wants to be told of what they give to their first links.
#[derive(Debug, Default)]
pub struct Givers(Vec<Reasons>);

impl Givers {
    /// Makes the reasons of so many hosts.
    pub fn new(hosts: usize) -> Self {
        Self(vec![Reasons::default(); hosts])
    }

    /// True if this host is one of them.
    #[inline]
    pub fn has(&self, h: usize) -> bool {
        h < self.0.len()
    }

    /// Host `h` is about to be asked for a segment. False if it has none, as a timer has ended its connection.
    pub fn before(&mut self, now: Instant, h: usize, endpoint: &mut Endpoint) -> bool {
        endpoint.look(now, &mut self.0[h])
    }

    /// Host `h` has given `segment`.
    pub fn given(
        &mut self,
        at: Instant,
        h: usize,
        segment: &Segment,
        endpoint: &mut Endpoint,
    ) -> Given {
        let has_data = segment.len > 0 && !segment.flags.contains(Flags::SYN);
        let sending = has_data.then(|| endpoint.look_after(segment, &mut self.0[h])).flatten();
        Given { at, flow: h / 2, from_client: h.is_multiple_of(2), segment: *segment, sending }
    }

    /// Host `h` gives no more for now.
    pub fn rests(&mut self, h: usize, endpoint: &Endpoint) {
        self.0[h].rests(endpoint.sender());
    }
}

/// The observed links of a run, and their packets of which the observer is still to be told.
#[derive(Debug)]
pub struct Taps {
    /// By link.
    taps: Vec<Option<Tap>>,
    /// By host: the window scale on its last SYN.
    offered: Vec<Option<u8>>,
}

/// A link that is observed.
#[derive(Debug, Default)]
struct Tap {
    lanes: [Lane; 2],
}

/// One direction of it.
#[derive(Debug, Default)]
struct Lane {
    /// Packets that were not told yet, in the order of transmission. On a FIFO link these are placed before they are
    /// sent, which is as far ahead as its queue is long; on others they have left.
    waiting: VecDeque<Transmission>,
    /// The number of packets that were told.
    told: u64,
    /// When the last packet left a link whose departures are events.
    departed: Instant,
}

impl Taps {
    /// Observes `links` of a run with so many links and hosts.
    pub fn new(links: &[usize], link_count: usize, hosts: usize) -> Self {
        let mut taps: Vec<Option<Tap>> = Vec::new();
        taps.resize_with(link_count, || None);
        for &link in links {
            taps[link] = Some(Tap::default());
        }
        Self { taps, offered: vec![None; hosts] }
    }

    /// The directions of links that are observed.
    pub fn wires(&self) -> impl Iterator<Item = usize> {
        let observed = self.taps.iter().enumerate().filter(|(_, tap)| tap.is_some());
        observed.flat_map(|(link, _)| [2 * link, 2 * link + 1])
    }

    /// The number of flows.
    pub fn flows(&self) -> usize {
        self.offered.len() / 2
    }

    /// True if this direction is observed.
    pub fn sees(&self, wire: u32) -> bool {
        self.taps[wire as usize / 2].is_some()
    }

    /// `host` sends a segment with options.
    pub fn on_options(&mut self, host: u32, segment: &Segment, options: &Options) {
        if segment.flags.contains(Flags::SYN) {
            // Of hosts of connections that come and go, which are made during the run, none is known.
            if let Some(offered) = self.offered.get_mut(host as usize) {
                *offered = options.window_scale;
            }
        }
    }

    /// By how much the wire shifts the windows that `host` announces.
    pub fn window_shift(&self, host: u32) -> u8 {
        let [ours, theirs] =
            [host, host ^ 1].map(|host| self.offered.get(host as usize).copied().flatten());
        ours.filter(|_| theirs.is_some()).unwrap_or(0)
    }

    /// A FIFO link has given a packet its place.
    pub fn on_placed(&mut self, wire: u32, at: Instant, packet: Sent) {
        let link = wire as usize / 2;
        let Some(tap) = &mut self.taps[link] else { return };
        let direction =
            if wire.is_multiple_of(2) { Direction::Forward } else { Direction::Reverse };
        tap.lanes[wire as usize % 2].waiting.push_back(Transmission {
            link,
            direction,
            at,
            packet,
        });
    }

    /// A packet has left a link whose departures are events.
    pub fn on_departed(&mut self, now: Instant, wire: u32, started: Instant, packet: Sent) {
        let Some(tap) = &mut self.taps[wire as usize / 2] else { return };
        let lane = &mut tap.lanes[wire as usize % 2];
        // The start is computed back from the departure, in whole nanoseconds.
        let at = started.max(lane.departed);
        lane.departed = now;
        self.on_placed(wire, at, packet);
    }

    /// Tells of the packets of `link` that have left by `now` and before which no other can come; `counters` are those
    /// of a direction of a link by then.
    pub fn tell(
        &mut self,
        now: Instant,
        link: usize,
        mut counters: impl FnMut(usize) -> Counters,
        observer: &mut dyn Observer,
    ) -> ControlFlow<()> {
        let Some(tap) = &mut self.taps[link] else { return ControlFlow::Continue(()) };
        let counters = [0, 1].map(|n| counters(2 * link + n));
        // Before this nothing more can come, where nothing waits. What a scheduled link is sending
        // now began when the packet before left, at the earliest.
        let horizon = |lane: &Lane, n: usize| {
            let sending = counters[n].queued.packets > 0;
            if sending { lane.departed } else { now }
        };
        loop {
            let [ours, theirs] = [0, 1].map(|n| {
                let lane = &tap.lanes[n];
                lane.waiting.front().map_or_else(|| horizon(lane, n), |first| first.at)
            });
            let n = usize::from(theirs < ours || tap.lanes[0].waiting.is_empty());
            let lane = &mut tap.lanes[n];
            let other = [theirs, ours][n];
            let sent = lane.told < counters[n].delivered.packets;
            match lane.waiting.front() {
                Some(first) if sent && first.at <= other => {
                    observer.on_transmit(first)?;
                    lane.waiting.pop_front();
                    lane.told += 1;
                }
                _ => return ControlFlow::Continue(()),
            }
        }
    }

    /// The run is over: tells the rest. `counters` are those of a direction of a link at the end.
    pub fn finish(
        &mut self,
        mut counters: impl FnMut(usize) -> Counters,
        observer: &mut dyn Observer,
    ) -> ControlFlow<()> {
        for (link, tap) in self.taps.iter_mut().enumerate() {
            let Some(tap) = tap else { continue };
            let mut rest = Vec::new();
            for (n, lane) in tap.lanes.iter_mut().enumerate() {
                let sent = counters(2 * link + n).delivered.packets - lane.told;
                rest.extend(lane.waiting.drain(..).take(usize::try_from(sent).unwrap_or(0)));
            }
            // Stable: each direction keeps its order.
            rest.sort_by_key(|transmission| transmission.at);
            rest.iter().try_for_each(|transmission| observer.on_transmit(transmission))?;
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests;
