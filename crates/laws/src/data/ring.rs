//! Rings that are kept for each connection, of which there may be many.

use std::array;
use std::fmt;
use std::iter::Flatten;
use std::ops::{Index, IndexMut};

use ackclock_packet::Range;

/// A queue of small entries that goes round in no more of its memory than it needs.
///
/// A queue that was long once, as in slow start or when a lost retransmission held it up, goes round in all that it has
/// when it is short again, and so fetches, of a thousand connections, far more than a cache holds. This one goes round in
/// some of its slots, the span, which becomes longer when it is full and is fitted to what is in the queue when it is more
/// than twice as long. That asks for no memory and gives none back, which going back and forth would do too often.
#[derive(Clone)]
pub struct Ring<T> {
    /// The slots: as many as the span has ever been, and room for more.
    slots: Vec<T>,
    /// The slots in use; the entries begin at `head`, and go on from slot 0 where the span ends.
    span: u32,
    head: u32,
    len: u32,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), span: 0, head: 0, len: 0 }
    }
}

/// The entries, wherever they are.
impl<T: Copy + Default + fmt::Debug> fmt::Debug for Ring<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The entries of a ring in order.
pub type Both<I> = Flatten<array::IntoIter<I, 2>>;

impl<T: Copy + Default> Ring<T> {
    /// The number of entries.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// True if there are none.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The slot where the `n`th is or would be.
    #[inline]
    fn slot(&self, n: u32) -> usize {
        let slot = self.head + n;
        (if slot >= self.span { slot - self.span } else { slot }) as usize
    }

    /// The `n`th, counted from the first.
    #[inline]
    pub fn get(&self, n: usize) -> Option<&T> {
        if n < self.len() { self.slots.get(self.slot(narrow(n))) } else { None }
    }

    /// The `n`th entry, to be changed.
    #[inline]
    pub fn get_mut(&mut self, n: usize) -> Option<&mut T> {
        let slot = self.slot(narrow(n.min(self.len())));
        if n < self.len() { self.slots.get_mut(slot) } else { None }
    }

    /// The first.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.is_empty() { None } else { self.slots.get(self.head as usize) }
    }

    /// The first entry, to be changed.
    #[inline]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        if self.is_empty() { None } else { self.slots.get_mut(self.head as usize) }
    }

    /// The last.
    #[inline]
    pub fn back(&self) -> Option<&T> {
        self.slots.get(self.slot(self.len.checked_sub(1)?))
    }

    /// Adds `value` at the end. A ring without a free slot grows by a half: one that doubles is half empty at its peak, and one
    /// that grows by less asks for memory more often.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.len == self.span {
            self.widen();
        }
        let slot = self.slot(self.len);
        self.slots[slot] = value;
        self.len += 1;
    }

    /// Adds the entry that stands for `range`, the last of a stream so far. A ring that is not a quarter full any
    /// more gives half
    /// of its memory back or more. It is looked at each time that the stream has become twice as long, so that it seldom
    /// asks for memory again: after each loss, or each time that a sender looks for the round-trip time without a queue,
    /// would be far too often.
    #[inline]
    pub fn push_range(&mut self, value: T, range: Range) {
        self.push(value);
        let (start, end) = (range.start.get(), range.end.get());
        // The highest bit is a new one.
        if start ^ end > start && (SHORT..LONG).contains(&end) {
            self.give_back();
        }
    }

    /// Puts `value` before entry `n`, at the cost of all entries behind it.
    #[cold]
    pub fn insert(&mut self, n: usize, value: T) {
        self.push(value);
        for place in (n + 1..self.len()).rev() {
            self[place] = self[place - 1];
        }
        self[n] = value;
    }

    /// Takes the first away.
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let first = *self.front()?;
        self.head += 1;
        self.len -= 1;
        if self.head == self.span {
            // The others are in order from slot 0 on.
            self.head = 0;
            if self.span > 2 * self.len + 8 {
                self.span = narrow(wider(self.len()));
            }
        }
        Some(first)
    }

    /// Takes all away; what is added next is in one part.
    pub const fn clear(&mut self) {
        (self.head, self.len) = (0, 0);
    }

    /// All slots of the span are full: it becomes wider.
    #[cold]
    #[inline(never)]
    fn widen(&mut self) {
        let (head, span) = (self.head as usize, self.span as usize);
        if span == self.slots.capacity() {
            self.slots.reserve_exact(span / 2 + 4);
        }
        let wider = wider(span).min(self.slots.capacity());
        if wider > self.slots.len() {
            self.slots.resize(wider, T::default());
        }
        // Those at its end stay there.
        if head > 0 {
            let by = wider - span;
            self.slots.copy_within(head..span, head + by);
            self.head += narrow(by);
        }
        self.span = narrow(wider);
    }

    #[cold]
    #[inline(never)]
    fn give_back(&mut self) {
        let len = self.len();
        if 4 * len < self.slots.capacity() {
            let mut fewer = Vec::with_capacity(2 * len + 4);
            fewer.extend(self.iter());
            fewer.resize(wider(len), T::default());
            (self.slots, self.span, self.head) = (fewer, narrow(wider(len)), 0);
        }
    }

    /// The slots of entries: from the first on, and from slot 0 on.
    #[inline]
    fn split(&self) -> [std::ops::Range<usize>; 2] {
        let (head, end) = (self.head as usize, (self.head + self.len) as usize);
        let span = self.span as usize;
        [head..end.min(span), 0..end.saturating_sub(span)]
    }

    /// The entries in two parts, the first of which comes first.
    #[inline]
    pub fn parts(&self) -> [&[T]; 2] {
        self.split().map(|part| &self.slots[part])
    }

    /// Both parts, to be changed. Of a ring that was empty and from which nothing was taken since all are in the first.
    pub fn parts_mut(&mut self) -> [&mut [T]; 2] {
        let [front, back] = self.split();
        let (low, high) = self.slots.split_at_mut(front.start);
        [&mut high[..front.len()], &mut low[back]]
    }

    /// The slots of the next entries, if they are no more than `many`; as far as they are in one part.
    pub fn next_slots(&self, many: usize) -> &[T] {
        let next = self.slot(self.len);
        let end = (next + many).min(self.span as usize);
        self.slots.get(next..end).unwrap_or_default()
    }

    /// The entries in order.
    pub fn iter(&self) -> Both<&[T]> {
        self.parts().into_iter().flatten()
    }

    /// The entries from the `n`th on.
    pub fn iter_from(&self, n: usize) -> Both<&[T]> {
        let [front, back] = self.parts();
        let skip = n.min(front.len());
        [&front[skip..], &back[(n - skip).min(back.len())..]].into_iter().flatten()
    }

    /// The entries from the `n`th on, to be changed.
    pub fn iter_mut_from(&mut self, n: usize) -> Both<&mut [T]> {
        let [front, back] = self.parts_mut();
        let skip = n.min(front.len());
        let beyond = (n - skip).min(back.len());
        [&mut front[skip..], &mut back[beyond..]].into_iter().flatten()
    }

    /// The number of entries before the first of which `before` is not true, if it is true of all before that and of
    /// none behind.
    pub fn partition_point(&self, before: impl Fn(&T) -> bool) -> usize {
        let [front, back] = self.parts();
        if back.first().is_some_and(&before) {
            front.len() + back.partition_point(before)
        } else {
            front.partition_point(before)
        }
    }

    /// The number of elements that fit without more memory.
    pub const fn capacity(&self) -> usize {
        self.slots.capacity()
    }
}

impl<'a, T: Copy + Default> IntoIterator for &'a Ring<T> {
    type Item = &'a T;
    type IntoIter = Both<&'a [T]>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: Copy + Default> Index<usize> for Ring<T> {
    type Output = T;
    #[inline]
    fn index(&self, n: usize) -> &T {
        self.get(n).expect("no entry is asked for beyond the last")
    }
}

impl<T: Copy + Default> IndexMut<usize> for Ring<T> {
    #[inline]
    fn index_mut(&mut self, n: usize) -> &mut T {
        self.get_mut(n).expect("no entry is asked for beyond the last")
    }
}

/// A span of so many slots and more, but no more than twice as many and four.
#[inline]
const fn wider(slots: usize) -> usize {
    slots + slots / 4 + 4
}

/// Rings are of fewer entries than 2^32: of 16 bytes these would be 64 GB.
#[inline]
fn narrow(n: usize) -> u32 {
    u32::try_from(n).expect("a ring of fewer than 2^32 entries")
}

/// In bytes: a stream that is shorter may still be in slow start, and one that is longer keeps what it has, as what it
/// asked for lately losses asked for.
const SHORT: u64 = 1 << 16;
const LONG: u64 = 1 << 23;

#[cfg(test)]
mod tests;
