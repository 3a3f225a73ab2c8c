//! Stochastic fairness queueing: P. McKenney, "Stochastic Fairness Queueing", INFOCOM 1990, as Linux has it.

use std::collections::VecDeque;

use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{check_limit, check_size, size};
use super::contract::{Admission, Described, Limits, Log, Queueing, Reason, Room};
use super::drop_tail::DropEnd;
use super::fifo::{FifoQueue, Waiting};
use super::fq_codel::bucket;
use crate::check::{Refusal, check_time, refuse};
use crate::counters::Volume;
use crate::limit::Limit;
use crate::packet::Packet;

/// Stochastic fairness queueing (McKenney 1990). A hash leads each flow to a slot; slots are served in turn by bytes.
/// Where the buffer is full, the longest slot loses a packet.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct SfqConfig {
    /// The most that waits, in all slots together.
    pub limit: Limit,
    /// The bytes that a slot sends in its turn.
    pub quantum: Bytes,
    /// The most slots in use; a packet that needs another is dropped.
    pub flows: u32,
    /// The most packets in a slot.
    pub depth: u32,
    /// The number of values of the hash.
    pub divisor: u32,
    /// The packet that a slot loses: its last ("tail") or its first ("head").
    pub drop: DropEnd,
    /// The time after which the hash is salted anew; default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perturb: Option<Duration>,
}

impl Default for SfqConfig {
    fn default() -> Self {
        Self {
            limit: Limit::packets(127),
            quantum: Bytes::new(1514),
            flows: 127,
            depth: 127,
            divisor: 1024,
            drop: DropEnd::Tail,
            perturb: None,
        }
    }
}

impl Described for Sfq {
    type Settings = SfqConfig;

    const KIND: &'static str = "sfq";

    const ALSO: &'static [&'static str] = &["stochastic", "stochastic_fairness"];
    const SOURCE: &'static str = "McKenney 1990";

    fn limits(config: &SfqConfig) -> Limits {
        config.limit.into()
    }

    fn queues(config: &SfqConfig) -> u32 {
        config.flows
    }

    fn check(config: &SfqConfig) -> Result<(), Refusal> {
        check_size("quantum", config.quantum)?;
        for (key, value) in
            [("flows", config.flows), ("depth", config.depth), ("divisor", config.divisor)]
        {
            if !(1..=65_536).contains(&value) {
                return refuse(key, "expected from 1 to 65536");
            }
        }
        if let Some(perturb) = config.perturb {
            check_time("perturb", perturb)?;
        }
        check_limit(config.limit)
    }

    fn make(config: &SfqConfig, _: Rate, mut random: Stream) -> Self {
        Self {
            config: *config,
            quantum: i64::from(size(config.quantum)),
            salt: random.next_u64(),
            random,
            perturbed: Instant::START,
            slots: Vec::new(),
            turns: VecDeque::new(),
            changes: 0,
            held: Volume::default(),
        }
    }
}

/// A slot.
#[derive(Clone, Debug, Default)]
struct Slot {
    waiting: FifoQueue,
    /// The bytes that it may send in its turn.
    allot: i64,
    /// When its length last changed, in changes of all slots.
    changed: u64,
}

/// Slots in turns.
#[derive(Clone, Debug)]
pub struct Sfq {
    config: SfqConfig,
    quantum: i64,
    salt: u64,
    random: Stream,
    /// When the hash was last salted.
    perturbed: Instant,
    /// By value of the hash.
    slots: Vec<Slot>,
    /// Slots with packets, in the order of their turns.
    turns: VecDeque<u32>,
    changes: u64,
    held: Volume,
}

impl Sfq {
    fn slot_of(&mut self, class: u32) -> usize {
        let slot = bucket(class, self.salt, self.config.divisor) as usize;
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, Slot::default);
        }
        slot
    }

    /// Salts the hash anew if that is due, and sorts what waits anew.
    fn perturb(&mut self, now: Instant, log: &mut Log) {
        let Some(every) = self.config.perturb else { return };
        if now.since(self.perturbed) < every {
            return;
        }
        self.perturbed = now;
        self.salt = self.random.next_u64();
        self.turns.clear();
        self.held = Volume::default();
        let mut slots = std::mem::take(&mut self.slots);
        for slot in &mut slots {
            while let Some(Waiting { packet, came }) = slot.waiting.pop() {
                if !self.enter(came, packet, log) {
                    log.drop(packet, Reason::Full);
                }
            }
        }
    }

    /// Puts a packet into its slot; false if there is none for it.
    fn enter(&mut self, came: Instant, packet: Packet, log: &mut Log) -> bool {
        let slot = self.slot_of(packet.class);
        let (flows, depth) = (self.config.flows as usize, self.config.depth as usize);
        let packets = self.slots[slot].waiting.packets();
        if packets == 0 && self.turns.len() >= flows {
            return false;
        }
        if packets >= depth {
            if self.config.drop == DropEnd::Tail {
                return false;
            }
            let first = self.slots[slot].waiting.pop();
            if let Some(Waiting { packet, .. }) = first {
                self.held.uncount(packet.size);
                log.drop(packet, Reason::Full);
            }
        }
        if packets == 0 {
            self.slots[slot].allot = self.quantum;
            self.turns.push_back(u32::try_from(slot).expect("at most 65536 slots"));
        }
        self.slots[slot].waiting.push(came, packet);
        self.held.count(packet.size);
        self.note_change(slot);
        true
    }

    fn note_change(&mut self, slot: usize) {
        self.changes += 1;
        self.slots[slot].changed = self.changes;
    }

    /// Takes a packet from the longest slot; among equals, from the one whose length changed last. If all slots have one
    /// packet, the slot whose turn is next gives its own.
    #[cold]
    fn shorten(&mut self) -> Option<Packet> {
        let length = |slot: &u32| self.slots[*slot as usize].waiting.packets();
        let key = |slot: &u32| (length(slot), self.slots[*slot as usize].changed);
        let mut longest = self.turns.iter().copied().max_by_key(key)?;
        if length(&longest) == 1 {
            longest = *self.turns.front()?;
        }
        let slot = &mut self.slots[longest as usize];
        let taken = match self.config.drop {
            DropEnd::Tail => slot.waiting.pop_last(),
            DropEnd::Head => slot.waiting.pop().map(|first| first.packet),
        }?;
        self.held.uncount(taken.size);
        if slot.waiting.packets() == 0 {
            self.turns.retain(|turn| *turn != longest);
        }
        self.note_change(longest as usize);
        Some(taken)
    }
}

impl Queueing for Sfq {
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, log: &mut Log) -> Admission {
        self.perturb(now, log);
        if !room.fits && !room.is_for(packet.size) || !self.enter(now, packet, log) {
            return Admission::Refused(Reason::Full);
        }
        while !room.fits && room.is_exceeded(&self.held) {
            let Some(taken) = self.shorten() else { break };
            log.drop(taken, Reason::Full);
        }
        Admission::Taken
    }

    fn next(&mut self, _: Instant, _: &mut Log) -> Option<Waiting> {
        loop {
            let place = *self.turns.front()? as usize;
            let slot = &mut self.slots[place];
            if slot.allot <= 0 {
                slot.allot += self.quantum;
                self.turns.rotate_left(1);
                continue;
            }
            let next = slot.waiting.pop()?;
            slot.allot -= i64::from(next.packet.size);
            if slot.waiting.packets() == 0 {
                self.turns.pop_front();
            }
            self.held.uncount(next.packet.size);
            self.note_change(place);
            return Some(next);
        }
    }

    fn pop_last(&mut self) -> Option<Packet> {
        self.shorten()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{ROOM, full, millis, next, packet, told};
    use super::*;

    /// A queue whose hash has so many values that no two of a few classes meet: with this salt.
    fn sfq(config: SfqConfig) -> Sfq {
        Sfq::check(&config).unwrap();
        let queue = Sfq::make(&config, Rate::from_bps(1_000_000), Stream::new(1, "queue"));
        let mut slots: Vec<u32> = (0..5).map(|class| bucket(class, queue.salt, 1024)).collect();
        slots.sort_unstable();
        slots.dedup();
        assert_eq!(slots.len(), 5);
        queue
    }

    fn push(queue: &mut Sfq, ids: std::ops::Range<u32>, size: u32, class: u32) {
        for id in ids {
            let taken = queue.offer(millis(0), packet(id, size, class), &ROOM, &mut Log::default());
            assert_eq!(taken, Admission::Taken);
        }
    }

    /// A quantum of 1514 B and packets of 1000 B: a slot sends two, which leaves -486; its next turn has 1028, two more,
    /// which leaves -972; then 542, one, -458; then 1056, two.
    #[test]
    fn slots_take_turns_by_bytes() {
        let mut queue = sfq(SfqConfig::default());
        push(&mut queue, 0..10, 1000, 0);
        push(&mut queue, 10..20, 1000, 1);
        let sent: Vec<u32> = (0..14).filter_map(|_| next(&mut queue, millis(1)).0).collect();
        assert_eq!(sent, [0, 1, 10, 11, 2, 3, 12, 13, 4, 14, 5, 6, 15, 16]);
    }

    #[test]
    fn the_longest_slot_loses_its_tail_or_its_head() {
        for (drop, lost) in [(DropEnd::Tail, 2), (DropEnd::Head, 0)] {
            let mut queue = sfq(SfqConfig { drop, ..SfqConfig::default() });
            push(&mut queue, 0..3, 1000, 0);
            push(&mut queue, 10..11, 1000, 1);
            let mut log = Log::default();
            queue.offer(millis(0), packet(11, 1000, 1), &full(4), &mut log);
            assert_eq!(told(&mut log).0, [lost]);
            // Two slots of two packets: the one that has just got a packet.
            queue.offer(millis(0), packet(12, 1000, 1), &full(4), &mut log);
            let lost = if drop == DropEnd::Tail { 12 } else { 10 };
            assert_eq!(told(&mut log).0.last(), Some(&lost));
        }
    }

    #[test]
    fn where_all_slots_have_one_packet_the_next_turn_is_lost() {
        let mut queue = sfq(SfqConfig::default());
        for class in 0..3 {
            push(&mut queue, class..class + 1, 1000, class);
        }
        let mut log = Log::default();
        queue.offer(millis(0), packet(3, 1000, 3), &full(3), &mut log);
        assert_eq!(told(&mut log).0, [0]);
    }

    #[test]
    fn slots_and_depth_are_limited() {
        let mut queue = sfq(SfqConfig { flows: 2, depth: 2, ..SfqConfig::default() });
        push(&mut queue, 0..2, 1000, 0);
        push(&mut queue, 2..3, 1000, 1);
        let mut offer =
            |class| queue.offer(millis(0), packet(9, 100, class), &ROOM, &mut Log::default());
        let full = Admission::Refused(Reason::Full);
        assert_eq!([0, 2, 1].map(&mut offer), [full, full, Admission::Taken]);
    }

    #[test]
    fn a_new_salt_keeps_what_waits() {
        let config = SfqConfig { perturb: Some(Duration::from_secs(1)), ..SfqConfig::default() };
        let mut queue = sfq(config);
        push(&mut queue, 0..3, 1000, 0);
        push(&mut queue, 10..13, 1000, 1);
        let before = queue.salt;
        let mut log = Log::default();
        queue.offer(millis(999), packet(3, 1000, 0), &ROOM, &mut log);
        assert_eq!(queue.salt, before);
        queue.offer(millis(1000), packet(4, 1000, 0), &ROOM, &mut log);
        assert!(queue.salt != before && log.is_empty());
        assert_eq!((queue.held.packets, queue.held.bytes), (8, 8000));
        let sent: Vec<u32> = std::iter::from_fn(|| next(&mut queue, millis(1001)).0).collect();
        let of = |ids: std::ops::Range<u32>| -> Vec<u32> {
            sent.iter().copied().filter(|id| ids.contains(id)).collect()
        };
        assert_eq!((of(0..5), of(10..13)), ((0..5).collect(), (10..13).collect()));
    }
}
