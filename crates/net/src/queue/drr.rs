//! Deficit round robin: M. Shreedhar and G. Varghese, "Efficient Fair Queuing Using Deficit Round Robin", IEEE/ACM
//! Transactions on Networking 4(3), 1996.

use std::collections::VecDeque;

use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{check_limit, check_size, size};
use super::contract::{Admission, Described, Limits, Log, Queueing, Reason, Room};
use super::fifo::{FifoQueue, Waiting};
use crate::check::Refusal;
use crate::counters::Volume;
use crate::limit::Limit;
use crate::packet::Packet;

/// Deficit round robin (Shreedhar and Varghese 1996). One queue a flow and one a cross-traffic source, served in turn by
/// bytes. Where the buffer is full, the longest queue loses its last packet.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct DrrConfig {
    /// The most that waits, in all queues together.
    pub limit: Limit,
    /// The bytes that a queue may send more in each round.
    pub quantum: Bytes,
}

impl Default for DrrConfig {
    fn default() -> Self {
        Self { limit: Limit::UNLIMITED, quantum: Bytes::new(1500) }
    }
}

impl Described for Drr {
    type Settings = DrrConfig;

    const KIND: &'static str = "drr";

    const ALSO: &'static [&'static str] = &["deficit_round_robin", "wdrr"];
    const SOURCE: &'static str = "Shreedhar and Varghese 1996";

    fn limits(config: &DrrConfig) -> Limits {
        config.limit.into()
    }

    fn check(config: &DrrConfig) -> Result<(), Refusal> {
        check_size("quantum", config.quantum)?;
        check_limit(config.limit)
    }

    fn make(config: &DrrConfig, _: Rate, _: Stream) -> Self {
        Self {
            quantum: u64::from(size(config.quantum)),
            queues: Vec::new(),
            active: VecDeque::new(),
            held: Volume::default(),
        }
    }
}

/// A flow's queue and the bytes that it may send in this round.
#[derive(Clone, Debug, Default)]
struct FlowQueue {
    waiting: FifoQueue,
    deficit: u64,
}

/// Deficit round robin over a queue a class.
#[derive(Clone, Debug)]
pub struct Drr {
    quantum: u64,
    queues: Vec<FlowQueue>,
    /// Classes of which a packet waits, in the order of their turns.
    active: VecDeque<u32>,
    held: Volume,
}

impl Queueing for Drr {
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, log: &mut Log) -> Admission {
        if !room.fits && !room.is_for(packet.size) {
            return Admission::Refused(Reason::Full);
        }
        let class = packet.class as usize;
        if self.queues.len() <= class {
            self.queues.resize_with(class + 1, FlowQueue::default);
        }
        let queue = &mut self.queues[class];
        if queue.waiting.packets() == 0 {
            queue.deficit = self.quantum;
            self.active.push_back(packet.class);
        }
        queue.waiting.push(now, packet);
        self.held.count(packet.size);
        while !room.fits && room.is_exceeded(&self.held) {
            let Some(last) = self.pop_last() else { break };
            log.drop(last, Reason::Full);
        }
        Admission::Taken
    }

    fn next(&mut self, _: Instant, _: &mut Log) -> Option<Waiting> {
        loop {
            let class = *self.active.front()?;
            let queue = &mut self.queues[class as usize];
            let first = u64::from(queue.waiting.first()?.packet.size);
            if first > queue.deficit {
                queue.deficit += self.quantum;
                self.active.rotate_left(1);
                continue;
            }
            queue.deficit -= first;
            let next = queue.waiting.pop()?;
            self.held.uncount(next.packet.size);
            if queue.waiting.packets() == 0 {
                self.active.pop_front();
            }
            return Some(next);
        }
    }

    fn pop_last(&mut self) -> Option<Packet> {
        let bytes = |class: &u32| self.queues[*class as usize].waiting.bytes();
        let class = self.active.iter().copied().rev().max_by_key(bytes)?;
        let queue = &mut self.queues[class as usize].waiting;
        let last = queue.pop_last()?;
        self.held.uncount(last.size);
        if queue.packets() == 0 {
            self.active.retain(|active| *active != class);
        }
        Some(last)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{ROOM, full, millis, next, packet, told};
    use super::*;

    fn drr(quantum: u64) -> Drr {
        let config = DrrConfig { quantum: Bytes::new(quantum), ..DrrConfig::default() };
        Drr::make(&config, Rate::from_bps(1_000_000), Stream::new(1, "queue"))
    }

    fn push(queue: &mut Drr, packets: &[(u32, u32, u32)]) {
        for (id, size, class) in packets {
            queue.offer(millis(0), packet(*id, *size, *class), &ROOM, &mut Log::default());
        }
    }

    /// A quantum of 500. Flow 0 has 200, 750, 20; flow 1 500, 500; flow 2 200, 600. Round 1: flow 0 sends 200, 300 are left
    /// and 750 do not fit; flow 1 sends 500 and needs more; flow 2 sends 200, 300 are left. Round 2: flow 0 has 800 and
    /// sends 750 and 20; flow 1 has 500 and sends 500; flow 2 has 800 and sends 600.
    #[test]
    fn what_is_left_of_a_turn_is_kept_for_the_next() {
        let mut queue = drr(500);
        push(&mut queue, &[(1, 200, 0), (2, 750, 0), (3, 20, 0)]);
        push(&mut queue, &[(4, 500, 1), (5, 500, 1), (6, 200, 2), (7, 600, 2)]);
        let sent: Vec<u32> = std::iter::from_fn(|| next(&mut queue, millis(1)).0).collect();
        assert_eq!(sent, [1, 4, 6, 2, 3, 5, 7]);
        assert_eq!(queue.held, Volume::default());
    }

    #[test]
    fn a_packet_of_many_quanta_waits_for_as_many_rounds() {
        let mut queue = drr(100);
        push(&mut queue, &[(1, 1000, 0), (2, 100, 1), (3, 100, 1), (4, 100, 1)]);
        // Flow 0 needs nine rounds more; flow 1 sends one packet in each.
        let sent: Vec<u32> = std::iter::from_fn(|| next(&mut queue, millis(1)).0).collect();
        assert_eq!(sent, [2, 3, 4, 1]);
    }

    #[test]
    fn the_longest_queue_makes_room() {
        let mut queue = drr(1500);
        push(&mut queue, &[(1, 1000, 0), (2, 1000, 0), (3, 1000, 0), (4, 100, 1)]);
        let mut log = Log::default();
        queue.offer(millis(0), packet(5, 100, 1), &full(4), &mut log);
        assert_eq!(told(&mut log).0, [3]);
        assert_eq!((queue.held.packets, queue.held.bytes), (4, 2200));
    }
}
