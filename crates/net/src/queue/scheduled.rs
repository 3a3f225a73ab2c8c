//! A queue whose departures are events: when the link is free, its discipline says which packet is sent next.

use ackclock_units::random::Stream;
use ackclock_units::{Instant, Rate};

use super::contract::{Admission, Log, Queueing, Reason, Room};
use super::fifo::Waiting;
use super::visitor::{OwnQueue, Visitor};
use super::{Discipline, Kind, each_kind};
use crate::ack::Ack;
use crate::header::Header;
use crate::packet::{Packet, PacketId, PacketKind};

/// The packet that is being sent.
#[derive(Clone, Copy, Debug)]
pub struct Serving {
    /// The packet.
    pub packet: Packet,
    /// The beginning of its transmission.
    pub started: Instant,
    /// The end of its transmission.
    pub departs: Instant,
}

/// A queue whose departures are events.
#[derive(Clone, Debug)]
pub struct Scheduled {
    kind: Kind,
    /// The packet being sent, which departs at `NEVER` if there is none.
    serving: Serving,
    /// The actions of the discipline.
    pub log: Log,
}

impl Scheduled {
    /// An empty queue of `discipline` in front of a link of `rate`, which draws from `random`; `None`
    /// of one that knows every departure beforehand.
    pub fn new(discipline: &Discipline, rate: Rate, random: Stream) -> Option<Self> {
        if discipline.knows_departures() {
            return None;
        }
        Some(Self::of(Kind::new(discipline, rate, random)))
    }

    /// An empty queue of a visitor's.
    pub fn visiting(queue: Box<dyn OwnQueue>) -> Self {
        Self::of(Kind::Visitor(Visitor::new(queue)))
    }

    fn of(kind: Kind) -> Self {
        let nothing =
            Packet { id: PacketId::new(0), size: 0, class: 0, kind: PacketKind::flow(false) };
        let serving = Serving { packet: nothing, started: Instant::START, departs: Instant::NEVER };
        Self { kind, serving, log: Log::default() }
    }

    /// The packet being sent, if there is one.
    #[inline]
    pub fn serving(&self) -> Option<&Serving> {
        (self.serving.departs < Instant::NEVER).then_some(&self.serving)
    }

    /// Moves the departure of the packet being sent to `departs`.
    pub const fn reschedule(&mut self, departs: Instant) {
        self.serving.departs = departs;
    }

    /// Begins to send a packet, which will have left at `departs`.
    #[inline]
    pub const fn serve(&mut self, packet: Packet, started: Instant, departs: Instant) {
        self.serving = Serving { packet, started, departs };
    }

    /// Ends sending.
    #[inline]
    pub const fn rest(&mut self) {
        self.serving.departs = Instant::NEVER;
    }

    /// Takes a packet that comes and finds this room, or refuses it.
    #[inline]
    pub fn offer(&mut self, now: Instant, packet: Packet, room: &Room) -> Admission {
        each_kind!(self, queue, log => queue.offer(now, packet, room, log))
    }

    /// Dequeues the packet that is sent next, as the link is free; `None` if none waits.
    #[inline]
    pub fn next(&mut self, now: Instant) -> Option<Waiting> {
        each_kind!(self, queue, log => queue.next(now, log))
    }

    /// Drops the packet that must leave if the room shrinks; false if none waits.
    pub fn drop_last(&mut self) -> bool {
        let last = each_kind!(self, queue, log => {
            let last = queue.pop_last();
            last.inspect(|last| log.drop(*last, Reason::Full))
        });
        last.is_some()
    }

    /// Tells the queue of the header that the packets of `class` have here.
    pub fn describe(&mut self, class: u32, header: Header) {
        each_kind!(self, queue, _log => queue.describe(class, header));
    }

    /// Tells the queue of the fields of the packet that is offered next.
    pub fn note_ack(&mut self, ack: Option<Ack>) {
        each_kind!(self, queue, _log => queue.note_ack(ack));
    }

    /// The time until which the wire is held for the packet that was dequeued last.
    #[inline]
    pub fn holds_until(&mut self) -> Instant {
        each_kind!(self, queue, _log => queue.holds_until())
    }

    /// Tells the queue that the link has another rate from now on.
    pub fn set_rate(&mut self, rate: Rate) {
        each_kind!(self, queue, _log => queue.set_rate(rate));
    }
}
