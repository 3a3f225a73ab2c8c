//! Drop-tail: first in, first out, and an arrival that finds the queue full is dropped.

use ackclock_units::random::Stream;
use ackclock_units::{Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::check_mark;
use super::contract::{Admission, Described, Limits, Log, Queueing, Reason, Room};
use super::fifo::{FifoQueue, Waiting};
use super::limit::Limit;
use crate::check::Refusal;
use crate::packet::Packet;

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
    /// True if departures are events, for a link that changes: a packet that was taken keeps its place, but not the
    /// time at which it will leave.
    #[serde(skip)]
    pub reschedules: bool,
}

/// The queue of a link whose departures are events.
#[derive(Clone, Debug, Default)]
pub struct DropTail {
    queue: FifoQueue,
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
        Some(!config.reschedules)
    }

    fn limits(config: &DropTailConfig) -> Limits {
        let DropTailConfig { limit, counts_in_service, mark, .. } = *config;
        Limits { limit, counts_in_service, mark }
    }

    fn check(config: &DropTailConfig) -> Result<(), Refusal> {
        config.mark.map_or(Ok(()), |mark| check_mark("mark", mark, config.limit))
    }

    fn make(_: &DropTailConfig, _: Rate, _: Stream) -> Self {
        Self::default()
    }
}

impl Queueing for DropTail {
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, _: &mut Log) -> Admission {
        if !room.fits {
            return Admission::Refused(Reason::Full);
        }
        self.queue.push(now, packet);
        Admission::Taken
    }

    fn next(&mut self, _: Instant, _: &mut Log) -> Option<Waiting> {
        self.queue.pop()
    }

    fn pop_last(&mut self) -> Option<Packet> {
        self.queue.pop_last()
    }
}
