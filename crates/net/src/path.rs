//! A path: links, routes over them, routers in front of them, and what counts, over any payload.
//!
//! A [`Path`] carries what end points send, a simulated segment or a frame of bytes. Every hop is an event. The path is
//! told the time and never asks for it: whoever drives it has a clock, simulated or real, and calls
//! [`advance`](Path::advance) when [`next_at`](Path::next_at) is due. Events of one instant come in the order
//! departure, change of the path, arrival, and those of one kind as they were added.

mod inside;
mod routers;

use crate::ack::Ack;
use crate::agenda::Agenda;
use crate::line::AccessLine;
use crate::link::{Link, LinkChange};
use crate::packet::Packet;
use ackclock_packet::CongestionHeader;
use ackclock_units::Instant;

pub use routers::{Decided, Forwarded, Router};

/// The contents of a packet, as far as links and routers ask.
pub trait Payload: Clone {
    /// Bytes on the wire.
    fn size(&self) -> u32;
    /// The flow, which is also the class at fair queues.
    fn flow(&self) -> u32;
    /// True if it carries a flow's data.
    fn has_data(&self) -> bool;
    /// The fields that a filter of ACKs reads.
    fn ack(&self) -> Option<Ack> {
        None
    }
    /// True if it opens a connection or answers such a packet: a SYN.
    fn opens(&self) -> bool;
    /// True if it closes one way of a connection: a FIN.
    fn closes(&self) -> bool;
    /// True if its sender understands marks (RFC 3168 §5).
    fn asks_for_ecn(&self) -> bool;
    /// Marks it with congestion; whether it was not marked before.
    fn mark(&mut self) -> bool;
    /// A router forwards it to the next link of its route, not the first, past the Quick-Start function of that link if
    /// it has one.
    fn forward(&mut self, quick_start: Option<&mut crate::QuickStartRouter>) -> Forwarded;
    /// The header that RCP's and XCP's routers read and write.
    fn congestion_header(&mut self) -> Option<&mut CongestionHeader>;
}

/// A step of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A link, by its number.
    Link(usize),
    /// A private line of a connection, by its number.
    Line(usize),
}

impl Step {
    /// The steps over `links`, between two private lines if there are any.
    pub fn over(links: &[usize], lines: Option<[usize; 2]>) -> Vec<Self> {
        let [up, down] = match lines {
            Some(lines) => lines.map(|line| Some(Self::Line(line))),
            None => [None, None],
        };
        let links = links.iter().map(|link| Self::Link(*link));
        up.into_iter().chain(links).chain(down).collect()
    }
}

/// The steps from one end to the other.
#[derive(Clone, Debug)]
struct Route {
    steps: Vec<Step>,
    /// The end point that is reached.
    to: u32,
}

/// A change of a path: links become others, ends send by other routes.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Changes of links, by number.
    pub links: Vec<(usize, LinkChange)>,
    /// Ends, each with the number of the [route](Path::add_route) by which it sends from then on.
    pub routes: Vec<(u32, usize)>,
}

/// The passage of a packet over a link to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The link.
    pub link: usize,
    /// The start of the transmission.
    pub starts: Instant,
    /// Its end.
    pub departs: Instant,
    /// Bytes on the wire.
    pub size: u32,
}

/// A packet at the end of its route.
#[derive(Clone, Debug)]
pub struct Delivery<P> {
    /// The end point that it is for.
    pub to: u32,
    /// The packet.
    pub payload: P,
    /// True if a bit of it was flipped on the way.
    pub corrupted: bool,
    /// When its transmission on the first link began.
    pub first_sent: Instant,
}

/// An event of a path that was handled.
#[derive(Clone, Debug)]
pub struct Progress<P> {
    /// When it happened.
    pub at: Instant,
    /// The hop at the end of which a packet arrived.
    pub hop: Option<Hop>,
    /// The packet, if that was the last hop of its route.
    pub delivered: Option<Delivery<P>>,
}

/// A packet that a tapped link sends.
#[derive(Clone, Debug)]
pub struct Tapped<P> {
    /// The link.
    pub link: usize,
    /// The start of its transmission.
    pub starts: Instant,
    /// The end of it, at a link whose departures are events.
    pub departed: Option<Instant>,
    /// The packet as the link sees it.
    pub packet: Packet,
    /// Its contents; `None` of cross-traffic.
    pub payload: Option<P>,
}

/// Kinds of events, in the order in which those of one instant are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Departure,
    Change,
    Arrival,
}

/// A packet in the network.
#[derive(Clone, Debug)]
struct InFlight<P> {
    payload: P,
    route: usize,
    /// The step at which it is.
    step: usize,
    corrupted: bool,
    /// When its transmission on the first link began, and on the last one; `NEVER` before it.
    first_sent: Instant,
    starts: Instant,
    departs: Instant,
}

/// Interests in a link beyond its packets.
#[derive(Clone, Debug, Default)]
struct Interests {
    /// Arrivals and changes are told by [`Path::take_touched`].
    watched: bool,
    /// Its packets are told by [`Path::take_tapped`].
    tapped: bool,
    /// Packets offered and dropped, by flow; empty where they are not counted.
    crossings: Vec<[u64; 2]>,
    router: Option<Router>,
}

/// Links, and the packets in them.
#[derive(Clone, Debug)]
pub struct Path<P> {
    links: Vec<Link>,
    interests: Vec<Interests>,
    lines: Vec<AccessLine>,
    routes: Vec<Route>,
    /// By end point, the route by which it sends.
    route_of: Vec<usize>,
    changes: Vec<Change>,
    packets: Vec<Option<InFlight<P>>>,
    free: Vec<u32>,
    events: Agenda<Kind>,
    /// Packets in the network by flow.
    in_network: Vec<u32>,
    touched: Vec<usize>,
    decided: Vec<Decided>,
    lost: Vec<P>,
    tapped: Vec<Tapped<P>>,
}

impl<P: Payload> Path<P> {
    /// The path over `links`, without any route.
    pub fn new(links: Vec<Link>) -> Self {
        Self {
            interests: vec![Interests::default(); links.len()],
            links,
            lines: Vec::new(),
            routes: Vec::new(),
            route_of: Vec::new(),
            changes: Vec::new(),
            packets: Vec::new(),
            free: Vec::new(),
            events: Agenda::new(),
            in_network: Vec::new(),
            touched: Vec::new(),
            decided: Vec::new(),
            lost: Vec::new(),
            tapped: Vec::new(),
        }
    }

    /// Adds an end point that sends over `steps` to the end point `to`; returns its number, from 0.
    pub fn add_end(&mut self, steps: Vec<Step>, to: u32) -> u32 {
        let route = self.add_route(steps, to);
        self.route_of.push(route);
        index(self.route_of.len() - 1)
    }

    /// Adds a route for [changes](Change::routes); returns its number.
    pub fn add_route(&mut self, steps: Vec<Step>, to: u32) -> usize {
        self.routes.push(Route { steps, to });
        self.routes.len() - 1
    }

    /// Puts a router in front of a link.
    pub fn add_router(&mut self, link: usize, router: Router) {
        if let Some(at) = router.slot_ends() {
            self.events.add(at, Kind::Change, slot_of(link));
        }
        self.interests[link].router = Some(router);
    }

    /// Counts the packets of each of `flows` flows that are offered to a link and dropped there.
    pub fn count_crossings(&mut self, link: usize, flows: usize) {
        self.interests[link].crossings = vec![[0; 2]; flows];
    }

    /// Tells by [`take_touched`](Self::take_touched) when a packet has come to a link, or the link has changed.
    pub fn watch(&mut self, link: usize) {
        self.interests[link].watched = true;
    }

    /// Tells by [`take_tapped`](Self::take_tapped) what a link sends, and when packets come to it.
    pub fn tap(&mut self, link: usize) {
        self.interests[link].watched = true;
        self.interests[link].tapped = true;
    }

    /// Makes a change ready for [`change_at`](Self::change_at); returns its number.
    pub fn add_change(&mut self, change: Change) -> u32 {
        self.changes.push(change);
        index(self.changes.len() - 1)
    }

    /// Change number `n` comes at `at`.
    pub fn change_at(&mut self, at: Instant, n: u32) {
        self.events.add(at, Kind::Change, n);
    }

    /// Adds a private line; returns its number.
    pub fn add_line(&mut self, line: AccessLine) -> usize {
        self.lines.push(line);
        self.lines.len() - 1
    }

    /// Private lines, by number.
    pub fn lines_mut(&mut self) -> &mut [AccessLine] {
        &mut self.lines
    }

    /// The links, by number.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The links, to be asked for what they have counted.
    pub fn links_mut(&mut self) -> &mut [Link] {
        &mut self.links
    }

    /// Packets offered to a link and dropped there, by flow; empty of one where they are not counted.
    pub fn crossings(&self, link: usize) -> &[[u64; 2]] {
        &self.interests[link].crossings
    }

    /// Packets of a flow in the network.
    pub fn packets_in_network(&self, flow: u32) -> u32 {
        self.in_network.get(flow as usize).copied().unwrap_or(0)
    }

    /// A link to which a packet has come, or that has changed; those that are not taken yet, the last first.
    pub fn take_touched(&mut self) -> Option<usize> {
        self.touched.pop()
    }

    /// A router's decision; those that are not taken yet, the last first.
    pub fn take_decided(&mut self) -> Option<Decided> {
        self.decided.pop()
    }

    /// A packet that was lost or dropped; those that are not taken yet, the last first.
    pub fn take_lost(&mut self) -> Option<P> {
        self.lost.pop()
    }

    /// All that [tapped](Self::tap) links have sent since this was called last, in the order in which they did.
    pub fn take_tapped(&mut self) -> Vec<Tapped<P>> {
        std::mem::take(&mut self.tapped)
    }

    /// When something happens next.
    pub fn next_at(&self) -> Option<Instant> {
        self.events.next_at()
    }

    /// Handles the next event that is due by `now`, at the moment that it was due; `None` if none is.
    pub fn advance(&mut self, now: Instant) -> Option<Progress<P>> {
        let (at, kind, subject) = self.events.take_due(now)?;
        let mut progress = Progress { at, hop: None, delivered: None };
        match kind {
            Kind::Departure => self.depart(at, subject as usize),
            Kind::Change if subject & SLOT != 0 => self.end_slot(at, (subject & !SLOT) as usize),
            Kind::Change => self.change(at, subject as usize),
            Kind::Arrival => (progress.hop, progress.delivered) = self.arrive(at, subject),
        }
        Some(progress)
    }

    /// End point number `from` sends `payload`.
    pub fn send(&mut self, now: Instant, from: u32, payload: P) {
        let flow = payload.flow() as usize;
        if self.in_network.len() <= flow {
            self.in_network.resize(flow + 1, 0);
        }
        let id = self.keep(InFlight {
            payload,
            route: self.route_of[from as usize],
            step: 0,
            corrupted: false,
            first_sent: Instant::NEVER,
            starts: now,
            departs: now,
        });
        self.forward(now, id);
    }
}

/// Marks a subject of [`Kind::Change`]: the end of a slot of the router in front of this link.
const SLOT: u32 = 1 << 31;

fn slot_of(link: usize) -> u32 {
    index(link) | SLOT
}

/// An index into an arena that fits into memory.
fn index(n: usize) -> u32 {
    u32::try_from(n).expect("fewer than 2^32 entries")
}

#[cfg(test)]
mod tests;
