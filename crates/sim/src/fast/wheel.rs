//! The event clock: an exact timing wheel.
//!
//! Events come out in the order of (time, class, sequence). The wheel's slots are unordered lists in one arena; a slot
//! is sorted when it becomes the current one. Events beyond the wheel's horizon wait in a heap, which only far timers
//! reach. Why a wheel: a simulated packet costs memory traffic, and a binary heap of thousands of events touches a
//! dozen cache lines where the wheel touches two.
//!
//! Packets that a link delivers in order wait in a *lane*, a ring of which only the first is on the
//! wheel. Of a long path's thousands of packets a few dozen are, and memory is read and written in
//! the order in which it lies.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use ackclock_units::{Duration, Instant};

use crate::run::class::Class;

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

/// An event's key: the low bits are its sequence, those above its class, and the highest its time within its slot. 2^40
/// events take days.
const SEQUENCE_BITS: u32 = 40;
const CLASS_BITS: u32 = 4;
const TIME_SHIFT: u32 = SEQUENCE_BITS + CLASS_BITS;
/// A slot is at most 2^20 ns wide.
const WIDEST: u32 = 64 - TIME_SHIFT;

#[inline]
const fn class_of(key: u64) -> Class {
    CLASSES[(key >> SEQUENCE_BITS) as usize % CLASSES.len()]
}

/// Something that happens at a moment to the thing numbered `subject`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    at: Instant,
    class: Class,
    subject: u32,
    lane: u32,
}

impl Event {
    /// When it happens.
    pub const fn at(&self) -> Instant {
        self.at
    }

    /// Its class.
    pub const fn class(&self) -> Class {
        self.class
    }

    /// To what it happens.
    pub const fn subject(&self) -> u32 {
        self.subject
    }

    /// The lane that it was the first of.
    #[inline]
    pub fn lane(&self) -> Option<u32> {
        (self.lane != NONE).then_some(self.lane)
    }
}

/// An event of the current slot.
#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u64,
    subject: u32,
}

/// An event of a slot to come.
#[derive(Clone, Copy, Debug)]
struct Node {
    key: u64,
    subject: u32,
    next: u32,
}

/// An event beyond the horizon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Far {
    at: u64,
    /// Class, then sequence.
    order: u64,
    subject: u32,
}

const NONE: u32 = u32::MAX;
/// A bit of a subject: the event is the first of this lane.
const LANED: u32 = 1 << 31;

/// An arrival that waits behind others.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    at: u64,
    /// The low bits of its sequence: no lane is as long as 2^32 events.
    sequence: u32,
    subject: u32,
}

/// A place in the order of events, before which others are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Until {
    at: Instant,
    /// As in a key, without the time.
    order: u64,
    tie_break: TieBreak,
}

impl Until {
    /// All before `at`.
    #[inline]
    pub const fn moment(at: Instant) -> Self {
        Self { at, order: 0, tie_break: TieBreak::FIRST }
    }

    /// The bound before an arrival at `at` by an event so many nanoseconds `ago`, with this tie-break.
    #[inline]
    pub fn arrival(at: Instant, ago: u64, tie_break: TieBreak) -> Self {
        Self { at, order: arrival_after(ago), tie_break }
    }
}

/// The part of an arrival's key besides its time: the arrival whose cause is earlier comes first.
#[inline]
fn arrival_after(ago: u64) -> u64 {
    const LAST: u64 = (1 << SEQUENCE_BITS) - 1;
    ((Class::Arrival as u64) << SEQUENCE_BITS) | (LAST - ago.min(LAST))
}

/// The place of an arrival among those of one instant by what happened at one instant: the least comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TieBreak {
    pub what: u64,
    /// Among those of which that is the same.
    pub by: u32,
    /// Among those that one thing made.
    pub n: u32,
}

impl TieBreak {
    /// Before all others.
    pub const FIRST: Self = Self { what: 0, by: 0, n: 0 };
}

/// An arrival with a place among those of one instant.
pub trait HasTieBreak {
    /// Which.
    fn tie_break(&self) -> TieBreak;
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
    /// The number of events in all slots, so that empty slots are not searched.
    held: usize,
    /// The current slot, latest event first.
    current: Vec<Entry>,
    /// The place in it from which on events of equal keys are in the order of their tie-breaks already.
    ranked: usize,
    /// The number of that slot, counted from the start of the run.
    cursor: u64,
    far: BinaryHeap<Reverse<Far>>,
    /// Arrivals in order of time, the first of which is on the wheel.
    lanes: Vec<VecDeque<Waiting>>,
    sequence: u64,
    now: u64,
}

impl Wheel {
    /// A clock whose slots are about `spacing` wide and which reaches `horizon` without its heap.
    pub fn new(spacing: Duration, horizon: Duration) -> Self {
        // From a quarter of a microsecond to a millisecond; from a thousand slots to a million.
        let shift = spacing.as_nanos().max(1).ilog2().clamp(8, WIDEST);
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
            held: 0,
            current: Vec::new(),
            ranked: usize::MAX,
            cursor: 0,
            far: BinaryHeap::new(),
            lanes: Vec::new(),
            sequence: 0,
            now: 0,
        }
    }

    /// A clock of the same size with nothing on it, and without lanes.
    pub fn like(&self) -> Self {
        let width = Duration::from_nanos(1 << self.shift);
        Self::new(width, Duration::from_nanos((self.mask + 1) << self.shift))
    }

    /// Makes lanes for [`push_in_lane`](Self::push_in_lane), numbered from 0.
    pub fn add_lanes(&mut self, lanes: usize) {
        self.lanes.resize_with(lanes, VecDeque::new);
    }

    /// Adds an event.
    ///
    /// # Panics
    /// If `at` has passed: an event in the past is a bug.
    #[inline]
    pub fn push(&mut self, at: Instant, class: Class, subject: u32) {
        let order = self.order(class);
        self.place(at.as_nanos(), order, subject);
    }

    /// Adds an arrival to a lane: the same as [`push`](Self::push), and cheaper where most come in
    /// the order of their time.
    #[inline]
    pub fn push_in_lane(&mut self, lane: u32, at: Instant, subject: u32) {
        let at = at.as_nanos();
        let order = self.order(Class::Arrival);
        let ring = &mut self.lanes[lane as usize];
        #[expect(clippy::cast_possible_truncation, reason = "the low bits")]
        let waiting = Waiting { at, sequence: order as u32, subject };
        match ring.back() {
            Some(last) if last.at <= at => ring.push_back(waiting),
            Some(_) => self.place(at, order, subject),
            None => {
                ring.push_back(waiting);
                self.place(at, order, lane | LANED);
            }
        }
    }

    /// Adds an arrival by what happened at `since`, which need not be what happened last: the same as
    /// [`push`](Self::push) in the order of that time. Arrivals of one instant by what happened at one
    /// instant come in the order of their ranks, of which [`pop_before`](Self::pop_before) is told. Not to be
    /// mixed with arrivals that were added otherwise.
    #[inline]
    pub fn push_arrival(&mut self, at: Instant, since: Instant, subject: u32) {
        self.sequence += 1;
        self.place(at.as_nanos(), arrival_after(at.since(since).as_nanos()), subject);
    }

    /// The number of events that were ever added.
    pub const fn added(&self) -> u64 {
        self.sequence
    }

    /// The class of the next event and its sequence.
    #[inline]
    fn order(&mut self, class: Class) -> u64 {
        assert!(self.sequence < 1 << SEQUENCE_BITS, "a run of more than 2^40 events");
        let order = ((class as u64) << SEQUENCE_BITS) | self.sequence;
        self.sequence += 1;
        order
    }

    #[inline]
    fn place(&mut self, at: u64, order: u64, subject: u32) {
        if at < self.now {
            self.refuse(at);
        }
        let slot = at >> self.shift;
        // From the next slot to the horizon.
        if slot.wrapping_sub(self.cursor + 1) < self.mask && self.free != NONE {
            self.put(slot, self.key(at, order), subject);
        } else {
            self.place_elsewhere(at, order, subject);
        }
    }

    /// Adds an event to the current slot, beyond the horizon, or where all nodes are taken. Not inlined, so that the
    /// others need not make room for what it takes.
    #[inline(never)]
    fn place_elsewhere(&mut self, at: u64, order: u64, subject: u32) {
        let slot = at >> self.shift;
        let key = self.key(at, order);
        if slot <= self.cursor {
            let place = self.current.partition_point(|other| other.key > key);
            self.current.insert(place, Entry { key, subject });
            self.ranked = usize::MAX;
        } else if slot - self.cursor <= self.mask {
            // An arena of 2^32 pending events would be 64 GB.
            self.free = u32::try_from(self.nodes.len()).expect("fewer than 2^32 events");
            self.nodes.push(Node { key: 0, subject: 0, next: NONE });
            self.put(slot, key, subject);
        } else {
            self.far.push(Reverse(Far { at, order, subject }));
        }
    }

    #[cold]
    #[inline(never)]
    fn refuse(&self, at: u64) -> ! {
        panic!("an event in the past: {at} ns at {} ns", self.now);
    }

    /// An event's place in the order of its slot.
    #[inline]
    const fn key(&self, at: u64, order: u64) -> u64 {
        let within = at & ((1 << self.shift) - 1);
        (within << TIME_SHIFT) | order
    }

    /// Adds an event to a slot; a node is free.
    #[inline]
    fn put(&mut self, slot: u64, key: u64, subject: u32) {
        let index = self.index(slot);
        let at = self.free;
        self.held += 1;
        let next = std::mem::replace(&mut self.heads[index], at);
        // Field by field: a node that is put together elsewhere is read from there before it is whole.
        let node = &mut self.nodes[at as usize];
        self.free = node.next;
        node.key = key;
        node.subject = subject;
        node.next = next;
        self.occupied[index / 64] |= 1 << (index % 64);
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "masked to at most 20 bits")]
    const fn index(&self, slot: u64) -> usize {
        (slot & self.mask) as usize
    }

    /// Takes the next event.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller has nearly all events")]
    pub fn pop(&mut self) -> Option<Event> {
        loop {
            if let Some(Entry { key, mut subject }) = self.current.pop() {
                self.now = (self.cursor << self.shift) | (key >> TIME_SHIFT);
                let at = Instant::from_nanos(self.now);
                let mut lane = NONE;
                if subject & LANED != 0 {
                    lane = subject & !LANED;
                    subject = self.advance(lane);
                }
                return Some(Event { at, class: class_of(key), subject, lane });
            }
            if !self.enter_next_slot() {
                return None;
            }
        }
    }

    /// The time of the next event. Nothing may be added after this for a moment before that.
    pub fn peek_at(&mut self) -> Option<Instant> {
        loop {
            if let Some(Entry { key, .. }) = self.current.last() {
                let now = (self.cursor << self.shift) | (key >> TIME_SHIFT);
                return Some(Instant::from_nanos(now));
            }
            if !self.enter_next_slot() {
                return None;
            }
        }
    }

    /// Takes the next event before `until`, of equal arrivals that of the least tie-break. Nothing may be added after
    /// this for a moment before that.
    #[inline(never)]
    pub fn pop_before(
        &mut self,
        until: Until,
        tie_breaks: &[impl HasTieBreak],
        fetch: impl Fn(u32),
    ) -> Option<Event> {
        loop {
            if let Some(Entry { key, .. }) = self.current.last() {
                let now = (self.cursor << self.shift) | (key >> TIME_SHIFT);
                let order = key & ((1 << TIME_SHIFT) - 1);
                let before = (now, order).cmp(&(until.at.as_nanos(), until.order));
                if before.is_gt() {
                    return None;
                }
                if let [.., a, b] = self.current.as_slice()
                    && a.key == b.key
                {
                    self.order_equals(tie_breaks);
                }
                let Entry { key, subject } = *self.current.last()?;
                if before.is_eq()
                    && !(order > 0 && tie_breaks[subject as usize].tie_break() < until.tie_break)
                {
                    return None;
                }
                self.current.pop();
                self.now = now;
                let (at, class) = (Instant::from_nanos(now), class_of(key));
                return Some(Event { at, class, subject, lane: NONE });
            }
            // A slot that is begun takes nothing more for a moment before it.
            let last = until.at.as_nanos().saturating_sub(u64::from(until.order == 0));
            if self.next_slot().is_none_or(|slot| slot << self.shift > last) {
                return None;
            }
            self.enter_next_slot_apart();
            for entry in &self.current {
                fetch(entry.subject);
            }
        }
    }

    /// Takes all events, in their order; the clock is as it was at the beginning. There are none in lanes.
    pub fn take_all(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while !self.current.is_empty() || self.next_occupied().is_some() {
            events.extend(self.pop());
        }
        // To find nothing in all slots takes as long as a thousand events; one by one, it would be found for each.
        while let Some(Reverse(Far { at, order, subject })) = self.far.pop() {
            debug_assert_eq!(subject & LANED, 0, "no lane");
            events.push(Event {
                at: Instant::from_nanos(at),
                class: class_of(order),
                subject,
                lane: NONE,
            });
        }
        self.cursor = 0;
        self.now = 0;
        events
    }

    /// No event comes before this; `None` if none comes.
    pub fn next_at(&self) -> Option<Instant> {
        if let Some(Entry { key, .. }) = self.current.last() {
            return Some(Instant::from_nanos((self.cursor << self.shift) | (key >> TIME_SHIFT)));
        }
        self.next_slot().map(|slot| Instant::from_nanos(slot << self.shift))
    }

    /// Puts the next events, which have one key, in the order of their ranks.
    #[cold]
    #[inline(never)]
    fn order_equals(&mut self, tie_breaks: &[impl HasTieBreak]) {
        if self.current.len() > self.ranked {
            return;
        }
        let Some(key) = self.current.last().map(|entry| entry.key) else { return };
        let from = self.current.partition_point(|entry| entry.key > key);
        let tie_break = |entry: &Entry| tie_breaks[entry.subject as usize].tie_break();
        self.current[from..].sort_unstable_by_key(|entry| Reverse(tie_break(entry)));
        self.ranked = from;
    }

    /// The event `places` behind the next in a lane.
    #[inline]
    pub fn upcoming(&self, lane: u32, places: usize) -> Option<u32> {
        self.lanes[lane as usize].get(places).map(|waiting| waiting.subject)
    }

    /// Takes the first of a lane, and puts the next on the wheel.
    #[inline]
    fn advance(&mut self, lane: u32) -> u32 {
        let ring = &mut self.lanes[lane as usize];
        let first = ring.pop_front().expect("what is on the wheel is the first of its lane");
        if let Some(Waiting { at, sequence, .. }) = ring.front().copied() {
            // The latest sequence before the next one that has these low bits.
            #[expect(clippy::cast_possible_truncation, reason = "the low bits")]
            let age = (self.sequence as u32).wrapping_sub(sequence);
            let sequence = self.sequence - u64::from(age);
            let order = ((Class::Arrival as u64) << SEQUENCE_BITS) | sequence;
            self.place(at, order, lane | LANED);
        }
        first.subject
    }

    /// The next slot that holds something.
    fn next_slot(&self) -> Option<u64> {
        let far = self.far.peek().map(|Reverse(event)| event.at >> self.shift);
        match (self.next_occupied(), far) {
            (Some(near), Some(far)) => Some(near.min(far)),
            (near, far) => near.or(far),
        }
    }

    /// [`enter_next_slot`](Self::enter_next_slot), not inlined.
    #[inline(never)]
    fn enter_next_slot_apart(&mut self) -> bool {
        self.enter_next_slot()
    }

    /// Moves to the next slot that holds something; false if nothing is left.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller has nearly all events")]
    fn enter_next_slot(&mut self) -> bool {
        let near = self.next_occupied().unwrap_or(u64::MAX);
        let far = self.far.peek().map_or(u64::MAX, |Reverse(event)| event.at >> self.shift);
        let slot = near.min(far);
        if slot == u64::MAX {
            return false;
        }
        self.cursor = slot;
        self.ranked = usize::MAX;
        if near == slot {
            self.collect(slot);
        }
        if far == slot {
            self.collect_far(slot);
        }
        match self.current.as_mut_slice() {
            [_] => {}
            // Where events are few they mostly come alone or in pairs.
            [first, second] => {
                if first.key < second.key {
                    std::mem::swap(first, second);
                }
            }
            many => many.sort_unstable_by_key(|entry| Reverse(entry.key)),
        }
        true
    }

    /// Moves what is beyond the horizon no more into `current`.
    #[inline(never)]
    fn collect_far(&mut self, slot: u64) {
        while let Some(Reverse(event)) = self.far.peek()
            && event.at >> self.shift == slot
        {
            let key = self.key(event.at, event.order);
            self.current.push(Entry { key, subject: event.subject });
            self.far.pop();
        }
    }

    /// Moves a slot's list into `current`.
    fn collect(&mut self, slot: u64) {
        let index = self.index(slot);
        let mut at = std::mem::replace(&mut self.heads[index], NONE);
        self.occupied[index / 64] &= !(1 << (index % 64));
        while at != NONE {
            let node = &mut self.nodes[at as usize];
            self.current.push(Entry { key: node.key, subject: node.subject });
            self.held -= 1;
            let next = node.next;
            node.next = self.free;
            self.free = at;
            at = next;
        }
    }

    /// The number of the first slot after the cursor that holds something.
    fn next_occupied(&self) -> Option<u64> {
        if self.held == 0 {
            return None;
        }
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
