//! Drop-tail: first in, first out, and an arrival that finds the queue full is dropped; or, on request, head drop.

use ackclock_units::random::Stream;
use ackclock_units::{Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::check_mark;
use super::contract::{Admission, Described, Limits, Log, Queueing, Reason, Room};
use super::fifo::{FifoQueue, Waiting};
use crate::check::{Refusal, refuse};
use crate::limit::Limit;
use crate::packet::Packet;

/// The packet that is dropped where a queue is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DropEnd")]
pub enum DropEnd {
    /// The one that comes.
    #[default]
    Tail,
    /// Those that have waited longest.
    Head,
}

/// First in, first out; an arrival that finds the queue full is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct DropTailConfig {
    /// The most that waits: packets ("50 packet"), bytes ("64 kB"), a multiple of the
    /// bandwidth-delay product ("1 BDP", floor(rate x largest base RTT across the link / 1500 B)
    /// packets), the time to send it at the link's `rate` ("50 ms"), or "unlimited".
    pub limit: Limit,
    /// True if the packet being sent counts against the limit, too.
    pub counts_in_service: bool,
    /// The length of the queue from which an arrival is marked with congestion (ECN), in the
    /// units of `limit` and counted like it. Packets that do not ask for ECN are not marked.
    /// Default: no packet is marked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<Limit>,
    /// The packet that is dropped where the queue is full: the one that comes ("tail"), or those that have waited longest
    /// ("head"), so that their senders hear of it a queueing delay earlier.
    #[serde(skip_serializing_if = "DropEnd::is_tail")]
    pub drop: DropEnd,
    /// True if departures are events, for a link that changes: a packet that was taken keeps its place, but not the
    /// time at which it will leave.
    #[serde(skip)]
    pub reschedules: bool,
}

/// The queue of a link whose departures are events.
#[derive(Clone, Debug, Default)]
pub struct DropTail {
    queue: FifoQueue,
    drop: DropEnd,
}

impl DropEnd {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    const fn is_tail(&self) -> bool {
        matches!(self, Self::Tail)
    }
}

impl Described for DropTail {
    type Settings = DropTailConfig;

    const KIND: &'static str = "droptail";

    const ALSO: &'static [&'static str] = &[
        "fifo",
        "pfifo",
        "bfifo",
        "tail",
        "taildrop",
        "tail_drop",
        "drop",
        "buffer",
        "pfifo_fast",
        "simple",
    ];

    fn is_fifo(config: &DropTailConfig) -> Option<bool> {
        (config.drop == DropEnd::Tail).then_some(!config.reschedules)
    }

    fn limits(config: &DropTailConfig) -> Limits {
        let DropTailConfig { limit, counts_in_service, mark, .. } = *config;
        Limits { limit, counts_in_service, mark }
    }

    fn check(config: &DropTailConfig) -> Result<(), Refusal> {
        if config.drop == DropEnd::Head && config.counts_in_service {
            return refuse("counts_in_service", "expected `drop = \"tail\"` beside it");
        }
        config.mark.map_or(Ok(()), |mark| check_mark("mark", mark, config.limit))
    }

    fn make(config: &DropTailConfig, _: Rate, _: Stream) -> Self {
        Self { queue: FifoQueue::default(), drop: config.drop }
    }
}

impl Queueing for DropTail {
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, log: &mut Log) -> Admission {
        if !room.fits && (self.drop == DropEnd::Tail || !room.is_for(packet.size)) {
            return Admission::Refused(Reason::Full);
        }
        self.queue.push(now, packet);
        while !room.fits && room.is_exceeded(&self.queue.volume()) {
            if let Some(first) = self.queue.pop() {
                log.drop(first.packet, Reason::Full);
            }
        }
        Admission::Taken
    }

    fn next(&mut self, _: Instant, _: &mut Log) -> Option<Waiting> {
        self.queue.pop()
    }

    fn pop_last(&mut self) -> Option<Packet> {
        match self.drop {
            DropEnd::Tail => self.queue.pop_last(),
            DropEnd::Head => self.queue.pop().map(|first| first.packet),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{full, millis, packet, told};
    use super::super::{QueueLimit, QueueUnit};
    use super::*;

    fn head_drop() -> DropTail {
        let config = DropTailConfig { drop: DropEnd::Head, ..DropTailConfig::default() };
        DropTail::make(&config, Rate::from_bps(1_000_000), Stream::new(1, "queue"))
    }

    #[test]
    fn a_full_queue_loses_the_packet_that_has_waited_longest() {
        let mut queue = head_drop();
        let mut log = Log::default();
        let room = Room { fits: true, ..full(2) };
        for id in 0..2 {
            queue.offer(millis(0), packet(id, 1000, 0), &room, &mut log);
        }
        // Two wait, which is the limit: 2 and 3 take the places of 0 and 1.
        for id in 2..4 {
            let taken = queue.offer(millis(1), packet(id, 1000, 0), &full(2), &mut log);
            assert_eq!(taken, Admission::Taken);
        }
        assert_eq!(told(&mut log).0, [0, 1]);
        let sent = || queue.next(millis(2), &mut log).map(|next| next.packet.id.get());
        assert_eq!(std::iter::from_fn(sent).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn a_large_packet_takes_the_room_of_some_small_ones() {
        let mut queue = head_drop();
        let mut log = Log::default();
        let limit = QueueLimit { amount: 1500, unit: QueueUnit::Bytes };
        for id in 0..3 {
            queue.offer(millis(0), packet(id, 500, 0), &Room { fits: true, limit }, &mut log);
        }
        // 1500 B wait, 900 come: 2400 - 500 = 1900 are too many, 1400 are not.
        let room = Room { fits: false, limit };
        queue.offer(millis(0), packet(3, 900, 0), &room, &mut log);
        assert_eq!(told(&mut log).0, [0, 1]);
        // A packet larger than the limit has no room, whatever is dropped.
        let refused = queue.offer(millis(0), packet(4, 1501, 0), &room, &mut log);
        assert_eq!(refused, Admission::Refused(Reason::Full));
        assert_eq!(queue.queue.bytes(), 1400);
    }
}
