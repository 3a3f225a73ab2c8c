use std::collections::VecDeque;

use ackclock_units::Instant;
use ackclock_units::random::Stream;

use super::QueueUnit;
use super::codel::{CoDelConfig, Control};
use super::line::{Line, Waiting};
use super::scheduled::{Admission, Log, Queueing, Reason, Room};
use crate::counters::Volume;
use crate::packet::Packet;

/// By what packets are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classes {
    /// A hash of the class, into so many lines (RFC 8290 §4.1): two classes may share one.
    Hashed(u32),
    /// Each class has a line of its own.
    Own,
}

/// FQ-CoDel's settings (RFC 8290 §5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCoDelConfig {
    /// What each line does.
    pub codel: CoDelConfig,
    /// Bytes that a line sends in its turn.
    pub quantum: u32,
    /// The lines.
    pub classes: Classes,
    /// The most packets that are dropped at once where there is no room.
    pub drop_batch: u32,
}

impl Default for FqCoDelConfig {
    fn default() -> Self {
        Self {
            codel: CoDelConfig { ecn: true, ..CoDelConfig::default() },
            quantum: 1514,
            classes: Classes::Hashed(1024),
            drop_batch: 64,
        }
    }
}

/// A line that takes its turns.
#[derive(Clone, Debug, Default)]
struct Turn {
    line: Line,
    control: Control,
    /// Bytes that it may send before its turn is over.
    deficit: i64,
    /// Whether it is in one of the two lists.
    listed: bool,
}

/// Flow queues under `CoDel`, served by deficit round robin; a flow that has just begun to send, or
/// sends little, goes first (RFC 8290).
#[derive(Clone, Debug)]
pub struct FqCoDel {
    config: FqCoDelConfig,
    /// The lines that were ever used, and by hash or class where they are.
    turns: Vec<Turn>,
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
            config,
            turns: Vec::new(),
            places: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            salt: random.next_u64(),
            held: Volume::default(),
        }
    }

    /// The line of a class.
    #[inline]
    fn turn_of(&mut self, class: u32) -> u32 {
        let bucket = match self.config.classes {
            Classes::Own => class as usize,
            Classes::Hashed(lines) => bucket(class, self.salt, lines) as usize,
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
        let place = u32::try_from(self.turns.len()).expect("fewer than 2^32 lines");
        self.places[bucket] = place;
        self.turns.push(Turn::default());
        place
    }

    /// The line that holds most bytes, the one used first among equals.
    fn fattest(&self) -> Option<usize> {
        let bytes = |place: &usize| self.turns[*place].line.bytes();
        (0..self.turns.len()).rev().max_by_key(bytes).filter(|place| bytes(place) > 0)
    }

    /// Drops half of the fattest line, by bytes, from its head, but no more packets than a batch
    /// (RFC 8290 §4.1).
    #[cold]
    fn drop_batch(&mut self, log: &mut Log) {
        let Some(place) = self.fattest() else { return };
        let line = &mut self.turns[place].line;
        let half = line.bytes() / 2;
        let (mut packets, mut bytes) = (0, 0);
        while let Some(Waiting { packet, .. }) = line.pop() {
            log.drop(packet, Reason::Full);
            packets += 1;
            bytes += u64::from(packet.size);
            self.held.uncount(packet.size);
            if packets >= self.config.drop_batch || bytes >= half {
                break;
            }
        }
    }
}

impl Queueing for FqCoDel {
    #[inline]
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, log: &mut Log) -> Admission {
        let place = self.turn_of(packet.class);
        let turn = &mut self.turns[place as usize];
        turn.control.note_size(packet.size);
        turn.line.push(now, packet);
        self.held.count(packet.size);
        if !turn.listed {
            turn.listed = true;
            turn.deficit = i64::from(self.config.quantum);
            self.new.push_back(place);
        }
        if !room.fits {
            let excess = |held: &Volume| match room.limit.unit {
                QueueUnit::Packets => held.packets > room.limit.amount,
                QueueUnit::Bytes => held.bytes > room.limit.amount,
            };
            while excess(&self.held) {
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
            let turn = &mut self.turns[place as usize];
            if turn.deficit <= 0 {
                turn.deficit += i64::from(self.config.quantum);
                list.pop_front();
                self.old.push_back(place);
                continue;
            }
            let before = turn.line.bytes();
            let packets = turn.line.packets();
            let next = turn.control.pop(now, &mut turn.line, &self.config.codel, log);
            self.held.bytes -= before - turn.line.bytes();
            self.held.packets -= (packets - turn.line.packets()) as u64;
            if let Some(next) = next {
                turn.deficit -= i64::from(next.packet.size);
                return Some(next);
            }
            list.pop_front();
            if is_new {
                // Through the old list once, or a flow that sends little could starve those there.
                self.old.push_back(place);
            } else {
                turn.listed = false;
            }
        }
    }

    fn pop_last(&mut self) -> Option<Packet> {
        let place = self.fattest()?;
        let last = self.turns[place].line.pop_last()?;
        self.held.uncount(last.size);
        Some(last)
    }
}

/// The bucket of `class` among `buckets`: the finaliser of `SplitMix64`, then Lemire's reduction.
fn bucket(class: u32, salt: u64, buckets: u32) -> u32 {
    let mut z = u64::from(class) ^ salt;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    let high = z >> 32;
    u32::try_from((high * u64::from(buckets)) >> 32).expect("below `buckets`")
}

#[cfg(test)]
mod tests;
