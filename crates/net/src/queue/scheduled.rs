use ackclock_units::random::Stream;
use ackclock_units::{Instant, Rate};

use super::codel::CoDel;
use super::fair::Fair;
use super::fq_codel::FqCoDel;
use super::line::{Line, Waiting};
use super::pie::Pie;
use super::red::Red;
use super::{Discipline, QueueLimit};
use crate::packet::{Packet, PacketId, PacketKind};

/// Why a packet is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// There is no room for it.
    Full,
    /// The discipline says so.
    Early,
}

/// What a discipline does to packets that it has taken.
#[derive(Clone, Copy, Debug)]
pub enum Effect {
    /// It is dropped.
    Dropped(Packet, Reason),
    /// It is marked with congestion; it asks for ECN.
    Marked(Packet),
}

/// Whether a packet may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It may.
    Taken,
    /// It is dropped.
    Refused(Reason),
}

/// The room that a packet finds.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Whether there is enough for it.
    pub fits: bool,
    /// The most that waits.
    pub limit: QueueLimit,
}

/// What a discipline has done since it was last asked.
#[derive(Clone, Debug, Default)]
pub struct Log {
    effects: Vec<Effect>,
    /// How many of them are in the link's counters.
    counted: usize,
}

impl Log {
    /// A packet that was taken is dropped.
    pub fn drop(&mut self, packet: Packet, reason: Reason) {
        self.effects.push(Effect::Dropped(packet, reason));
    }

    /// A packet that was taken is marked.
    pub fn mark(&mut self, packet: Packet) {
        self.effects.push(Effect::Marked(packet));
    }

    /// Whether every effect was taken.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }

    /// What is not in the counters yet.
    #[inline]
    pub fn uncounted(&mut self) -> &[Effect] {
        let from = std::mem::replace(&mut self.counted, self.effects.len());
        &self.effects[from..]
    }

    /// One effect, which is forgotten.
    #[inline]
    pub fn take(&mut self) -> Option<Effect> {
        let effect = self.effects.pop()?;
        self.counted = self.effects.len();
        Some(effect)
    }
}

/// A queue of which only the discipline knows, when the link is free, who goes next.
///
/// [`offer`](Self::offer) and [`next`](Self::next) come in the order of time. A packet that finds the
/// link idle is offered and is next at the same instant.
pub trait Queueing {
    /// A packet comes and finds this room.
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, log: &mut Log) -> Admission;

    /// The link is free: the packet that is sent next, if one waits.
    fn next(&mut self, now: Instant, log: &mut Log) -> Option<Waiting>;

    /// Takes out the packet that must leave if the room shrinks: the last of the line, or of the
    /// longest line.
    fn pop_last(&mut self) -> Option<Packet>;
}

#[derive(Clone, Debug)]
enum Kind {
    Line(Line),
    Fair(Fair),
    Red(Red),
    CoDel(CoDel),
    FqCoDel(FqCoDel),
    Pie(Pie),
}

/// The packet that is being sent.
#[derive(Clone, Copy, Debug)]
pub struct Serving {
    /// The packet.
    pub packet: Packet,
    /// When its transmission began.
    pub started: Instant,
    /// When it will have left.
    pub departs: Instant,
}

/// A queue whose departures are events.
#[derive(Clone, Debug)]
pub struct Scheduled {
    kind: Kind,
    /// The packet being sent, which departs at `NEVER` if there is none.
    serving: Serving,
    /// What the discipline has done.
    pub log: Log,
}

macro_rules! each_kind {
    ($self:ident, $queue:ident, $log:ident => $call:expr) => {{
        let $log = &mut $self.log;
        match &mut $self.kind {
            Kind::Line($queue) => $call,
            Kind::Fair($queue) => $call,
            Kind::Red($queue) => $call,
            Kind::CoDel($queue) => $call,
            Kind::FqCoDel($queue) => $call,
            Kind::Pie($queue) => $call,
        }
    }};
}

impl Scheduled {
    /// An empty queue of `discipline` in front of a link of `rate`, which draws from `random`; `None`
    /// of one that knows every departure beforehand.
    pub fn new(discipline: &Discipline, rate: Rate, random: Stream) -> Option<Self> {
        let kind = match *discipline {
            Discipline::Fifo => return None,
            Discipline::Line => Kind::Line(Line::default()),
            Discipline::Fair => Kind::Fair(Fair::default()),
            Discipline::Red(config) => Kind::Red(Red::new(config, rate, random)),
            Discipline::CoDel(config) => Kind::CoDel(CoDel::new(config)),
            Discipline::FqCoDel(config) => Kind::FqCoDel(FqCoDel::new(config, random)),
            Discipline::Pie(config) => Kind::Pie(Pie::new(config, random)),
        };
        let nothing =
            Packet { id: PacketId::new(0), size: 0, class: 0, kind: PacketKind::flow(false) };
        let serving = Serving { packet: nothing, started: Instant::START, departs: Instant::NEVER };
        Some(Self { kind, serving, log: Log::default() })
    }

    /// The packet being sent, if there is one.
    #[inline]
    pub fn serving(&self) -> Option<&Serving> {
        (self.serving.departs < Instant::NEVER).then_some(&self.serving)
    }

    /// The packet being sent will have left at `departs` instead.
    pub const fn reschedule(&mut self, departs: Instant) {
        self.serving.departs = departs;
    }

    /// A packet is sent, and will have left at `departs`.
    #[inline]
    pub const fn serve(&mut self, packet: Packet, started: Instant, departs: Instant) {
        self.serving = Serving { packet, started, departs };
    }

    /// Nothing is sent.
    #[inline]
    pub const fn rest(&mut self) {
        self.serving.departs = Instant::NEVER;
    }

    /// A packet comes and finds this room.
    #[inline]
    pub fn offer(&mut self, now: Instant, packet: Packet, room: &Room) -> Admission {
        each_kind!(self, queue, log => queue.offer(now, packet, room, log))
    }

    /// The link is free: the packet that is sent next, if one waits.
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

    /// The link has another rate from now on.
    pub fn set_rate(&mut self, rate: Rate) {
        if let Kind::Red(red) = &mut self.kind {
            red.set_rate(rate);
        }
    }
}
