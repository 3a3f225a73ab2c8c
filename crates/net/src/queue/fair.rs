//! Fair queueing: RFC 970 (December 1985) §5.

use std::collections::VecDeque;

use ackclock_units::random::Stream;
use ackclock_units::{Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::check_mark;
use super::contract::{Admission, Described, Limits, Log, Queueing, Reason, Room};
use super::fifo::{FifoQueue, Waiting};
use crate::check::Refusal;
use crate::limit::Limit;
use crate::packet::Packet;

/// One queue a flow and one a cross-traffic source, served in turn a packet at a time (with
/// equal sizes, processor sharing by flow); an arrival that finds the shared buffer full is
/// dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct FairConfig {
    /// The most that waits, in all queues together.
    pub limit: Limit,
    /// True if the packet being sent counts against the limit, too.
    pub counts_in_service: bool,
    /// The length of all queues together from which an arrival is marked with congestion (ECN).
    /// Default: no packet is marked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<Limit>,
}

/// One queue a class, served in turn a packet at a time: with packets of one size, Nagle's fair
/// queueing (RFC 970 §5), the packet form of processor sharing by flow.
#[derive(Clone, Debug, Default)]
pub struct Fair {
    queues: Vec<FifoQueue>,
    /// Classes of which a packet waits, in the order of their turns.
    turns: VecDeque<u32>,
}

impl Described for Fair {
    type Settings = FairConfig;

    const KIND: &'static str = "fair";

    const ALSO: &'static [&'static str] = &["fq", "wfq", "round_robin", "per_flow"];
    const SOURCE: &'static str = "RFC 970";

    fn limits(config: &FairConfig) -> Limits {
        let FairConfig { limit, counts_in_service, mark } = *config;
        Limits { limit, counts_in_service, mark }
    }

    fn check(config: &FairConfig) -> Result<(), Refusal> {
        config.mark.map_or(Ok(()), |mark| check_mark("mark", mark, config.limit))
    }

    fn make(_: &FairConfig, _: Rate, _: Stream) -> Self {
        Self::default()
    }
}

impl Queueing for Fair {
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, _: &mut Log) -> Admission {
        if !room.fits {
            return Admission::Refused(Reason::Full);
        }
        let class = packet.class as usize;
        if self.queues.len() <= class {
            self.queues.resize_with(class + 1, FifoQueue::default);
        }
        if self.queues[class].packets() == 0 {
            self.turns.push_back(packet.class);
        }
        self.queues[class].push(now, packet);
        Admission::Taken
    }

    fn next(&mut self, _: Instant, _: &mut Log) -> Option<Waiting> {
        let class = self.turns.pop_front()?;
        let queue = &mut self.queues[class as usize];
        let next = queue.pop();
        if queue.packets() > 0 {
            self.turns.push_back(class);
        }
        next
    }

    fn pop_last(&mut self) -> Option<Packet> {
        let longest = self.turns.iter().max_by_key(|class| self.queues[**class as usize].bytes());
        let class = *longest?;
        let queue = &mut self.queues[class as usize];
        let last = queue.pop_last();
        if queue.packets() == 0 {
            self.turns.retain(|turn| *turn != class);
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::QueueLimit;
    use crate::{PacketId, PacketKind};

    const ROOM: Room = Room { fits: true, limit: QueueLimit::UNLIMITED };

    fn filled(packets: &[(u32, u32)]) -> Fair {
        let mut fair = Fair::default();
        for &(id, class) in packets {
            let id = PacketId::new(id);
            let packet = Packet { id, size: 100, class, kind: PacketKind::flow(true) };
            fair.offer(Instant::START, packet, &ROOM, &mut Log::default());
        }
        fair
    }

    fn order(fair: &mut Fair) -> Vec<u32> {
        let next = || fair.next(Instant::START, &mut Log::default());
        std::iter::from_fn(next).map(|next| next.packet.id.get()).collect()
    }

    const SIX: [(u32, u32); 6] = [(0, 0), (1, 0), (2, 0), (3, 1), (4, 2), (5, 1)];

    #[test]
    fn classes_take_turns_whatever_their_backlog() {
        // Turns: 0, 1, 2, then 0, 1, then 0.
        assert_eq!(order(&mut filled(&SIX)), [0, 3, 4, 1, 5, 2]);
    }

    #[test]
    fn the_longest_queue_gives_up_its_last() {
        let mut fair = filled(&SIX);
        // Class 0 holds three, then two as class 1 does; a class without packets has no turn.
        assert_eq!(fair.pop_last().unwrap().id.get(), 2);
        fair.pop_last();
        fair.pop_last();
        assert_eq!(order(&mut fair), [0, 3, 4]);
        let mut single = filled(&[(0, 0)]);
        assert_eq!(single.pop_last().unwrap().id.get(), 0);
        assert!(single.pop_last().is_none() && order(&mut single).is_empty());
    }
}
