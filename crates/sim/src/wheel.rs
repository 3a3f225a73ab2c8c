//! The event clock: an exact timing wheel.
//!
//! Events come out in the order of (time, class, sequence). The wheel's slots are unordered lists
//! in one arena; a slot is sorted when its turn comes. What lies beyond the wheel's horizon waits
//! in a heap, which only far timers reach. Why a wheel: a simulated packet costs memory traffic,
//! and a binary heap of thousands of events touches a dozen cache lines where the wheel touches two.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ackclock_units::{Duration, Instant};

/// What an event is, in the order in which events of one instant are handled. The order is part of
/// the results, because it decides drops: a departure makes room before an arrival needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// A packet leaves a link whose departures are events.
    Departure,
    /// The path changes.
    Change,
    /// A packet arrives at the end of a link.
    Arrival,
    /// A timer of an end point or its application is due.
    Timer,
    /// A connection of a traffic class opens.
    Opening,
    /// A cross-traffic source sends.
    Cross,
    /// A measured window begins or ends.
    Measure,
    /// A probe records.
    Probe,
}

const CLASSES: [Class; 8] = [
    Class::Departure,
    Class::Change,
    Class::Arrival,
    Class::Timer,
    Class::Opening,
    Class::Cross,
    Class::Measure,
    Class::Probe,
];

/// Sequence numbers take the low bits of an event's order, its class the high ones: 2^56 events
/// are more than a run will see.
const CLASS_SHIFT: u32 = 56;

/// Something that happens at a moment to the thing numbered `subject`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    at: u64,
    /// Class, then sequence.
    order: u64,
    subject: u32,
}

impl Event {
    /// When it happens.
    pub const fn at(&self) -> Instant {
        Instant::from_nanos(self.at)
    }

    /// What it is.
    pub const fn class(&self) -> Class {
        CLASSES[(self.order >> CLASS_SHIFT) as usize]
    }

    /// To what it happens.
    pub const fn subject(&self) -> u32 {
        self.subject
    }

    const fn key(&self) -> (u64, u64) {
        (self.at, self.order)
    }
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    event: Event,
    next: u32,
}

/// The event clock.
#[derive(Debug)]
pub struct Wheel {
    /// A slot is 2^shift nanoseconds wide.
    shift: u32,
    /// Slots minus one; their number is a power of two.
    mask: u64,
    /// The first node of each slot's list.
    heads: Vec<u32>,
    /// A bit for each slot that holds something.
    occupied: Vec<u64>,
    nodes: Vec<Node>,
    free: u32,
    /// The slot whose turn it is, latest event first.
    current: Vec<Event>,
    /// The number of that slot, counted from the start of the run.
    cursor: u64,
    far: BinaryHeap<Reverse<Event>>,
    sequence: u64,
    now: u64,
}

impl Wheel {
    /// A clock whose slots are about `spacing` wide and which reaches `horizon` without its heap.
    pub fn new(spacing: Duration, horizon: Duration) -> Self {
        // From a quarter of a microsecond to a millisecond; from a thousand slots to a million.
        let shift = spacing.as_nanos().max(1).ilog2().clamp(8, 20);
        let slots = (horizon.as_nanos() >> shift).next_power_of_two().clamp(1 << 10, 1 << 20);
        // At most 2^20 slots.
        let count = usize::try_from(slots).unwrap_or(1 << 20);
        Self {
            shift,
            mask: slots - 1,
            heads: vec![NONE; count],
            occupied: vec![0; count / 64],
            nodes: Vec::new(),
            free: NONE,
            current: Vec::new(),
            cursor: 0,
            far: BinaryHeap::new(),
            sequence: 0,
            now: 0,
        }
    }

    /// Adds an event.
    ///
    /// # Panics
    /// If `at` has passed: an event in the past is a bug.
    #[inline]
    pub fn push(&mut self, at: Instant, class: Class, subject: u32) {
        let at = at.as_nanos();
        assert!(at >= self.now, "an event in the past: {at} ns at {} ns", self.now);
        let order = ((class as u64) << CLASS_SHIFT) | self.sequence;
        self.sequence += 1;
        let event = Event { at, order, subject };
        let slot = at >> self.shift;
        if slot <= self.cursor {
            let place = self.current.partition_point(|other| other.key() > event.key());
            self.current.insert(place, event);
        } else if slot - self.cursor <= self.mask {
            self.put(slot, event);
        } else {
            self.far.push(Reverse(event));
        }
    }

    #[inline]
    fn put(&mut self, slot: u64, event: Event) {
        let index = self.index(slot);
        let node = Node { event, next: self.heads[index] };
        let at = self.free;
        if at == NONE {
            // An arena of 2^32 pending events would be 128 GB.
            self.heads[index] = u32::try_from(self.nodes.len()).expect("fewer than 2^32 events");
            self.nodes.push(node);
        } else {
            self.free = self.nodes[at as usize].next;
            self.nodes[at as usize] = node;
            self.heads[index] = at;
        }
        self.occupied[index / 64] |= 1 << (index % 64);
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "masked to at most 20 bits")]
    const fn index(&self, slot: u64) -> usize {
        (slot & self.mask) as usize
    }

    /// Takes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.current.pop() {
                self.now = event.at;
                return Some(event);
            }
            if !self.turn() {
                return None;
            }
        }
    }

    /// Moves to the next slot that holds something; false if nothing is left.
    fn turn(&mut self) -> bool {
        let near = self.next_occupied();
        let far = self.far.peek().map(|Reverse(event)| event.at >> self.shift);
        let Some(slot) = near.into_iter().chain(far).min() else { return false };
        self.cursor = slot;
        if near == Some(slot) {
            self.collect(slot);
        }
        while let Some(Reverse(event)) = self.far.peek()
            && event.at >> self.shift == slot
        {
            self.current.push(*event);
            self.far.pop();
        }
        if self.current.len() > 1 {
            self.current.sort_unstable_by_key(|event| Reverse(event.key()));
        }
        true
    }

    /// Moves a slot's list into `current`.
    fn collect(&mut self, slot: u64) {
        let index = self.index(slot);
        let mut at = std::mem::replace(&mut self.heads[index], NONE);
        self.occupied[index / 64] &= !(1 << (index % 64));
        while at != NONE {
            let node = &mut self.nodes[at as usize];
            self.current.push(node.event);
            let next = node.next;
            node.next = self.free;
            self.free = at;
            at = next;
        }
    }

    /// The number of the first slot after the cursor that holds something.
    fn next_occupied(&self) -> Option<u64> {
        let start = self.index(self.cursor + 1);
        let words = self.occupied.len();
        let mut word = start / 64;
        let mut bits = self.occupied[word] & (u64::MAX << (start % 64));
        // One word more than there are, to come back to the low bits of the first.
        for _ in 0..=words {
            if bits != 0 {
                let index = (word * 64) as u64 + u64::from(bits.trailing_zeros());
                let ahead = index.wrapping_sub(start as u64) & self.mask;
                return Some(self.cursor + 1 + ahead);
            }
            word = (word + 1) % words;
            bits = self.occupied[word];
        }
        None
    }
}

#[cfg(test)]
mod tests;
