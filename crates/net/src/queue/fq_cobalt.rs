//! Flow queues under COBALT.

use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{check_flow_queues, check_limit, check_size, size};
use super::cobalt::{CobaltLaw, Control};
use super::contract::{Admission, Described, Limits, Log, Queueing, Reason, Room};
use super::fifo::{FifoQueue, Waiting};
use super::fq_codel::{Classify, DEFAULT_QUEUES};
use super::turns::{Places, Turns};
use crate::check::Refusal;
use crate::counters::Volume;
use crate::limit::Limit;
use crate::packet::Packet;

/// Flow queues under COBALT, served by deficit round robin as in RFC 8290. Where the buffer is full, the longest flow
/// queue loses a packet from its head.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct FqCobaltConfig {
    /// The most that waits, in all flow queues together.
    pub limit: Limit,
    /// The law of each flow queue.
    #[serde(flatten)]
    pub law: CobaltLaw,
    /// True if packets that ask for ECN are marked by CoDel instead of dropped. BLUE drops them all the same.
    pub ecn: bool,
    /// The bytes that a flow queue sends in its turn.
    pub quantum: Bytes,
    /// The way to a packet's flow queue.
    pub classify: Classify,
    /// The number of flow queues that a hash leads to, with `classify = "hash"` alone; 1024 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<u32>,
}

impl Default for FqCobaltConfig {
    fn default() -> Self {
        Self {
            limit: Limit::packets(10_240),
            law: CobaltLaw::default(),
            ecn: true,
            quantum: Bytes::new(1514),
            classify: Classify::Hash,
            queues: None,
        }
    }
}

impl Described for FqCobalt {
    type Settings = FqCobaltConfig;

    const KIND: &'static str = "fq_cobalt";

    const ALSO: &'static [&'static str] = &["fqcobalt"];
    const SOURCE: &'static str = "RFC 8290; Høiland-Jørgensen, Täht and Morton 2018";

    fn limits(config: &FqCobaltConfig) -> Limits {
        config.limit.into()
    }

    fn marks(config: &FqCobaltConfig) -> bool {
        config.ecn || config.law.ce_threshold.is_some()
    }

    fn queues(config: &FqCobaltConfig) -> u32 {
        config.queues.unwrap_or(DEFAULT_QUEUES)
    }

    fn check(config: &FqCobaltConfig) -> Result<(), Refusal> {
        config.law.check()?;
        check_size("quantum", config.quantum)?;
        check_flow_queues(config.classify, config.queues)?;
        check_limit(config.limit)
    }

    fn make(config: &FqCobaltConfig, _: Rate, mut random: Stream) -> Self {
        let salt = random.next_u64();
        Self {
            config: *config,
            places: Places::new(config.classify, Self::queues(config), salt),
            turns: Turns::new(size(config.quantum)),
            queues: Vec::new(),
            held: Volume::default(),
            random,
        }
    }
}

/// A flow queue and the state of its law.
#[derive(Clone, Debug, Default)]
struct FlowQueue {
    waiting: FifoQueue,
    control: Control,
}

/// Flow queues under COBALT, served by deficit round robin.
#[derive(Clone, Debug)]
pub struct FqCobalt {
    config: FqCobaltConfig,
    places: Places,
    turns: Turns,
    queues: Vec<FlowQueue>,
    held: Volume,
    random: Stream,
}

impl FqCobalt {
    /// The queue that holds most bytes, the one used first among equals.
    fn longest(&mut self) -> Option<&mut FlowQueue> {
        let bytes = |queue: &FlowQueue| queue.waiting.bytes();
        let longest = self.queues.iter_mut().rev().max_by_key(|queue| bytes(queue))?;
        (bytes(longest) > 0).then_some(longest)
    }

    /// Drops from the head of the longest queue.
    #[cold]
    fn drop_head(&mut self, now: Instant, log: &mut Log) {
        let law = self.config.law;
        let Some(longest) = self.longest() else { return };
        let Some(Waiting { packet, .. }) = longest.waiting.pop() else { return };
        longest.control.on_full(now, &law);
        self.held.uncount(packet.size);
        log.drop(packet, Reason::Full);
    }
}

impl Queueing for FqCobalt {
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, log: &mut Log) -> Admission {
        let place = self.places.of(packet.class);
        if self.queues.len() <= place {
            self.queues.resize_with(place + 1, FlowQueue::default);
        }
        self.queues[place].waiting.push(now, packet);
        self.held.count(packet.size);
        self.turns.join(place);
        while !room.fits && room.is_exceeded(&self.held) {
            self.drop_head(now, log);
        }
        Admission::Taken
    }

    fn next(&mut self, now: Instant, log: &mut Log) -> Option<Waiting> {
        loop {
            let place = self.turns.next()?;
            let flow = &mut self.queues[place];
            let before = (flow.waiting.packets(), flow.waiting.bytes());
            let law = (&self.config.law, self.config.ecn, Duration::ZERO);
            let next = flow.control.pop(now, &mut flow.waiting, law, &mut self.random, log);
            self.held.packets -= (before.0 - flow.waiting.packets()) as u64;
            self.held.bytes -= before.1 - flow.waiting.bytes();
            if let Some(next) = next {
                self.turns.sends(place, next.packet.size);
                return Some(next);
            }
            self.turns.rests();
        }
    }

    fn pop_last(&mut self) -> Option<Packet> {
        let last = self.longest()?.waiting.pop_last()?;
        self.held.uncount(last.size);
        Some(last)
    }
}

#[cfg(test)]
mod tests;
