//! The contract of a queueing discipline, and its description of itself.

use std::fmt::Debug;

use ackclock_units::random::Stream;
use ackclock_units::written::kinds::ListFile;
use ackclock_units::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::fifo::Waiting;
use crate::ack::Ack;
use crate::check::Refusal;
use crate::counters::Volume;
use crate::header::Header;
use crate::limit::{Limit, QueueLimit, QueueUnit};
use crate::packet::Packet;

/// The limits of a queue, as a scenario writes them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The most that waits.
    pub limit: Limit,
    /// True if the packet being sent counts against the limit, too.
    pub counts_in_service: bool,
    /// The backlog from which an arrival is marked with congestion, whatever the discipline.
    pub mark: Option<Limit>,
}

impl From<Limit> for Limits {
    fn from(limit: Limit) -> Self {
        Self { limit, counts_in_service: false, mark: None }
    }
}

/// A queueing discipline's description of itself, in its own file.
///
/// The settings are those of a scenario: their fields are its keys, their documentation is that of the scenario and of
/// the class in Python, and their `Default` has the defaults.
pub trait Described: Queueing + Clone + Debug + Sized {
    /// The settings.
    type Settings: Copy + Debug + Default + PartialEq + Serialize + DeserializeOwned + JsonSchema;

    /// The word that names it in a scenario: `kind`.
    const KIND: &'static str;

    /// The document that says how it works; empty if it needs none.
    const SOURCE: &'static str = "";

    /// Words for it in other tools, which are refused with a hint.
    const ALSO: &'static [&'static str] = &[];

    /// The list that a file may stand for, if there is one.
    const FILE: Option<ListFile> = None;

    /// True if packets leave in the order in which they came and nothing but a full queue drops one, so that departures
    /// are known as packets come; false if they are events all the same; `None` of every other discipline.
    fn is_fifo(_: &Self::Settings) -> Option<bool> {
        None
    }

    /// The limits.
    fn limits(settings: &Self::Settings) -> Limits;

    /// True if it marks packets by itself.
    fn marks(_: &Self::Settings) -> bool {
        false
    }

    /// The number of queues that it may come to have besides the first.
    fn queues(_: &Self::Settings) -> u32 {
        0
    }

    /// True if it wants to know what packets acknowledge.
    fn filters_acks(_: &Self::Settings) -> bool {
        false
    }

    /// True if it sends no faster than at a rate of its own.
    fn shapes(_: &Self::Settings) -> bool {
        false
    }

    /// The most that passes in the long run, at a discipline that drops what exceeds a rate.
    fn passes(_: &Self::Settings) -> Option<Rate> {
        None
    }

    /// True if packets have no DSCP any more behind it.
    fn washes(_: &Self::Settings) -> bool {
        false
    }

    /// Checks settings that do not depend on the link.
    ///
    /// # Errors
    /// The first key that is wrong, and why.
    fn check(settings: &Self::Settings) -> Result<(), Refusal>;

    /// The settings in front of a link of `rate` whose longest base round trip is `rtt`.
    ///
    /// # Errors
    /// The values that do not go together there.
    fn resolve(settings: Self::Settings, _: Rate, _: Duration) -> Result<Self::Settings, String> {
        Ok(settings)
    }

    /// An empty queue in front of a link of `rate`, which draws from `random`. The settings are checked and resolved.
    fn make(settings: &Self::Settings, rate: Rate, random: Stream) -> Self;
}

/// The reason of a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// There is no room for it.
    Full,
    /// The discipline says so.
    Early,
}

/// An action of a discipline on a packet that it has taken.
#[derive(Clone, Copy, Debug)]
pub enum Effect {
    /// It is dropped.
    Dropped(Packet, Reason),
    /// It is marked with congestion; it asks for ECN.
    Marked(Packet),
}

/// The answer to a packet that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It may wait.
    Taken,
    /// It is dropped.
    Refused(Reason),
}

/// The room that a packet finds.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// True if there is enough for it.
    pub fits: bool,
    /// The most that waits.
    pub limit: QueueLimit,
}

impl Room {
    /// True if a packet of `size` bytes may wait where nothing else does.
    pub const fn is_for(&self, size: u32) -> bool {
        !self.is_exceeded(&Volume { packets: 1, bytes: size as u64 })
    }

    /// True if so much may not wait.
    pub const fn is_exceeded(&self, held: &Volume) -> bool {
        match self.limit.unit {
            QueueUnit::Packets => held.packets > self.limit.amount,
            QueueUnit::Bytes => held.bytes > self.limit.amount,
        }
    }
}

/// The actions of a discipline since it was last asked.
#[derive(Clone, Debug, Default)]
pub struct Log {
    effects: Vec<Effect>,
    /// The number of them that are in the link's counters.
    counted: usize,
}

impl Log {
    /// Notes that a packet that was taken is dropped.
    pub fn drop(&mut self, packet: Packet, reason: Reason) {
        self.effects.push(Effect::Dropped(packet, reason));
    }

    /// Notes that a packet that was taken is marked.
    pub fn mark(&mut self, packet: Packet) {
        self.effects.push(Effect::Marked(packet));
    }

    /// True if every effect was taken.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }

    /// The number of effects that were not taken.
    pub const fn len(&self) -> usize {
        self.effects.len()
    }

    /// The effects behind the first `before`.
    pub fn since(&self, before: usize) -> &[Effect] {
        &self.effects[before..]
    }

    /// The effects that are not in the counters yet.
    #[inline]
    pub fn uncounted(&mut self) -> &[Effect] {
        let from = std::mem::replace(&mut self.counted, self.effects.len());
        &self.effects[from..]
    }

    /// Takes out one effect.
    #[inline]
    pub fn take(&mut self) -> Option<Effect> {
        let effect = self.effects.pop()?;
        self.counted = self.effects.len();
        Some(effect)
    }
}

/// A queueing discipline: which packet is dequeued next, and which is dropped or marked.
///
/// [`offer`](Self::offer) and [`next`](Self::next) come in the order of time. A packet that finds the
/// link idle is offered and is next at the same instant.
pub trait Queueing {
    /// Takes a packet that comes and finds this room, or refuses it.
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, log: &mut Log) -> Admission;

    /// Dequeues the packet that is sent next, as the link is free; `None` if none waits.
    fn next(&mut self, now: Instant, log: &mut Log) -> Option<Waiting>;

    /// Takes out the packet that must leave if the room shrinks: the last of the line, or of the
    /// longest line.
    fn pop_last(&mut self) -> Option<Packet>;

    /// Tells the queue that the link has another rate from now on.
    fn set_rate(&mut self, _: Rate) {}

    /// Tells the queue of the header that the packets of `class` have here, before any of them comes.
    fn describe(&mut self, _class: u32, _header: Header) {}

    /// Tells the queue of the fields of the packet that is offered next, at a discipline that
    /// [filters](Described::filters_acks) ACKs.
    fn note_ack(&mut self, _: Option<Ack>) {}

    /// The time until which the wire is held for the packet that was dequeued last, at a discipline that shapes: the
    /// next is not dequeued before.
    fn holds_until(&self) -> Instant {
        Instant::START
    }
}
