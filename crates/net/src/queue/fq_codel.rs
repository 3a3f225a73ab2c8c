//! Flow queues under controlled delay: RFC 8290 (January 2018).

use std::collections::VecDeque;

use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{check_flow_queues, check_limit, check_size, size};
use super::codel::{CoDelLaw, CoDelRules, Control};
use super::contract::{Admission, Described, Limits, Log, Queueing, Reason, Room};
use super::fifo::{FifoQueue, Waiting};
use crate::check::{Refusal, refuse};
use crate::counters::Volume;
use crate::limit::Limit;
use crate::packet::Packet;

/// The way to a packet's flow queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Classify {
    /// By a salted hash of its flow: flows may meet in one queue.
    #[default]
    Hash,
    /// Each flow and each cross-traffic source has a queue of its own.
    Flow,
}

/// Flow queues that a hash leads to if nothing is said (RFC 8290 §5.2.5).
pub(super) const DEFAULT_QUEUES: u32 = 1024;

/// Flow queues under controlled delay, served by deficit round robin (RFC 8290). Flows that send
/// little go first. Where the buffer is full, the longest flow queue loses packets from its head.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct FqCoDelConfig {
    /// The most that waits, in all flow queues together.
    // RFC 8290 §5.2.3.
    pub limit: Limit,
    /// The law of each flow queue.
    #[serde(flatten)]
    pub law: CoDelLaw,
    /// True if packets that ask for ECN are marked instead of dropped.
    pub ecn: bool,
    /// The bytes that a flow queue sends in its turn.
    pub quantum: Bytes,
    /// The way to a packet's flow queue.
    pub classify: Classify,
    /// The number of flow queues that a hash leads to, with `classify = "hash"` alone; 1024 if
    /// left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<u32>,
    /// The most packets that the longest flow queue loses at once when the buffer is full.
    pub drop_batch: u32,
}

impl Default for FqCoDelConfig {
    fn default() -> Self {
        Self {
            limit: Limit::packets(10_240),
            law: CoDelLaw::default(),
            ecn: true,
            quantum: Bytes::new(1514),
            classify: Classify::Hash,
            queues: None,
            drop_batch: 64,
        }
    }
}

impl Described for FqCoDel {
    type Settings = FqCoDelConfig;

    const KIND: &'static str = "fq_codel";

    const ALSO: &'static [&'static str] = &["fqcodel", "sfqcodel"];
    const SOURCE: &'static str = "RFC 8290";

    fn limits(config: &FqCoDelConfig) -> Limits {
        config.limit.into()
    }

    fn marks(config: &FqCoDelConfig) -> bool {
        config.ecn || config.law.ce_threshold.is_some()
    }

    fn queues(config: &FqCoDelConfig) -> u32 {
        config.queues.unwrap_or(DEFAULT_QUEUES)
    }

    fn check(config: &FqCoDelConfig) -> Result<(), Refusal> {
        config.law.check()?;
        check_size("quantum", config.quantum)?;
        check_flow_queues(config.classify, config.queues)?;
        if config.drop_batch == 0 {
            return refuse("drop_batch", "expected at least 1 packet");
        }
        check_limit(config.limit)
    }

    fn make(config: &FqCoDelConfig, _: Rate, random: Stream) -> Self {
        Self::new(*config, random)
    }
}

/// A flow queue, its law and its turn.
#[derive(Clone, Debug, Default)]
struct FlowQueue {
    waiting: FifoQueue,
    control: Control,
    /// The bytes that it may send before its turn is over.
    deficit: i64,
    /// True if it is in one of the two lists.
    listed: bool,
}

/// Flow queues under `CoDel`, served by deficit round robin; a flow that has just begun to send, or
/// sends little, goes first (RFC 8290).
#[derive(Clone, Debug)]
pub struct FqCoDel {
    config: FqCoDelConfig,
    /// The bytes of a turn.
    quantum: i64,
    /// The number of queues that the hash leads to.
    hashed: u32,
    /// The queues that were ever used, and their places by hash or class.
    queues: Vec<FlowQueue>,
    places: Vec<u32>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    /// Salts the hash (RFC 8290 §4.1).
    salt: u64,
    held: Volume,
}

const NOWHERE: u32 = u32::MAX;

impl FqCoDel {
    /// Empty queues, whose hash is salted from `random`.
    pub fn new(config: FqCoDelConfig, mut random: Stream) -> Self {
        Self {
            quantum: i64::from(size(config.quantum)),
            hashed: Self::queues(&config),
            config,
            queues: Vec::new(),
            places: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            salt: random.next_u64(),
            held: Volume::default(),
        }
    }

    /// The place of a class's queue.
    #[inline]
    fn place_of(&mut self, class: u32) -> u32 {
        let bucket = match self.config.classify {
            Classify::Flow => class as usize,
            Classify::Hash => bucket(class, self.salt, self.hashed) as usize,
        };
        match self.places.get(bucket) {
            Some(place) if *place != NOWHERE => *place,
            _ => self.open(bucket),
        }
    }

    #[cold]
    fn open(&mut self, bucket: usize) -> u32 {
        if self.places.len() <= bucket {
            self.places.resize(bucket + 1, NOWHERE);
        }
        let place = u32::try_from(self.queues.len()).expect("fewer than 2^32 queues");
        self.places[bucket] = place;
        self.queues.push(FlowQueue::default());
        place
    }

    /// The place of the queue that holds most bytes, the one used first among equals.
    fn longest(&self) -> Option<usize> {
        let bytes = |place: &usize| self.queues[*place].waiting.bytes();
        (0..self.queues.len()).rev().max_by_key(bytes).filter(|place| bytes(place) > 0)
    }

    /// Drops half of the longest queue, by bytes, from its head, but no more packets than a batch
    /// (RFC 8290 §4.1).
    #[cold]
    fn drop_batch(&mut self, log: &mut Log) {
        let Some(place) = self.longest() else { return };
        let queue = &mut self.queues[place].waiting;
        let half = queue.bytes() / 2;
        let (mut packets, mut bytes) = (0, 0);
        while let Some(Waiting { packet, .. }) = queue.pop() {
            log.drop(packet, Reason::Full);
            packets += 1;
            bytes += u64::from(packet.size);
            self.held.uncount(packet.size);
            if packets >= self.config.drop_batch || bytes >= half {
                break;
            }
        }
        self.queues[place].control.count_others(packets, &self.config.law);
    }
}

impl Queueing for FqCoDel {
    #[inline]
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, log: &mut Log) -> Admission {
        let place = self.place_of(packet.class);
        let flow = &mut self.queues[place as usize];
        flow.control.note_size(packet.size);
        flow.waiting.push(now, packet);
        self.held.count(packet.size);
        if !flow.listed {
            flow.listed = true;
            flow.deficit = self.quantum;
            self.new.push_back(place);
        }
        if !room.fits {
            while room.is_exceeded(&self.held) {
                self.drop_batch(log);
            }
        }
        Admission::Taken
    }

    #[inline]
    fn next(&mut self, now: Instant, log: &mut Log) -> Option<Waiting> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let place = *list.front()?;
            let flow = &mut self.queues[place as usize];
            if flow.deficit <= 0 {
                flow.deficit += self.quantum;
                list.pop_front();
                self.old.push_back(place);
                continue;
            }
            let before = flow.waiting.bytes();
            let packets = flow.waiting.packets();
            let others = match self.config.law.rules {
                CoDelRules::Rfc => 0,
                CoDelRules::Linux => self.held.bytes - before,
            };
            let law = (&self.config.law, self.config.ecn);
            let next = flow.control.pop(now, &mut flow.waiting, others, law, log);
            self.held.bytes -= before - flow.waiting.bytes();
            self.held.packets -= (packets - flow.waiting.packets()) as u64;
            if let Some(next) = next {
                flow.deficit -= i64::from(next.packet.size);
                return Some(next);
            }
            list.pop_front();
            if is_new {
                // Through the old list once, or a flow that sends little could starve those there.
                self.old.push_back(place);
            } else {
                flow.listed = false;
            }
        }
    }

    fn pop_last(&mut self) -> Option<Packet> {
        let place = self.longest()?;
        let last = self.queues[place].waiting.pop_last()?;
        self.held.uncount(last.size);
        Some(last)
    }
}

/// The bucket of `class` among `buckets`: the finaliser of `SplitMix64`, then Lemire's reduction.
pub(super) fn bucket(class: u32, salt: u64, buckets: u32) -> u32 {
    let mut z = u64::from(class) ^ salt;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    let high = z >> 32;
    u32::try_from((high * u64::from(buckets)) >> 32).expect("below `buckets`")
}

#[cfg(test)]
mod tests;
