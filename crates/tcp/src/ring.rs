//! Rings that are kept for each connection, of which there may be many.

use std::collections::VecDeque;

use ackclock_packet::Range;

/// Adds `value` at the end, where a full ring grows by a half: one that doubles is half empty at its peak, and one that
/// grows by less asks for memory more often.
#[inline]
pub fn push<T>(ring: &mut VecDeque<T>, value: T) {
    if ring.len() == ring.capacity() {
        grow(ring);
    }
    ring.push_back(value);
}

/// The same of what stands for `range`, the last of a stream so far. A ring that was long once, as in slow start, and is
/// not a quarter full any more gives half of its memory back or more: going round in it would fetch far more than is in
/// use. It is looked at each time that the stream has become twice as long, so that it seldom asks for memory again:
/// after each loss, or each time that a sender looks for the round-trip time without a queue, would be far too often.
#[inline]
pub fn push_range<T>(ring: &mut VecDeque<T>, value: T, range: Range) {
    push(ring, value);
    let (start, end) = (range.start.get(), range.end.get());
    // The highest bit is a new one.
    if start ^ end > start && (SHORT..LONG).contains(&end) {
        shrink(ring);
    }
}

/// In bytes: a stream that is shorter may still be in slow start, and one that is longer keeps what it has, as what it
/// asked for lately losses asked for.
const SHORT: u64 = 1 << 16;
const LONG: u64 = 1 << 23;

#[cold]
#[inline(never)]
fn shrink<T>(ring: &mut VecDeque<T>) {
    if 4 * ring.len() < ring.capacity() {
        ring.shrink_to(2 * ring.len() + 4);
    }
}

#[cold]
fn grow<T>(ring: &mut VecDeque<T>) {
    ring.reserve_exact(ring.len() / 2 + 4);
}

#[cfg(test)]
mod tests {
    use ackclock_packet::Seq;

    use super::*;

    #[test]
    fn a_ring_that_was_long_once_becomes_short_when_the_stream_is_twice_as_long() {
        let mut ring = VecDeque::new();
        let segment = |n: u64| Range { start: Seq::new(1000 * n), end: Seq::new(1000 * n + 1000) };
        let mut capacities = Vec::new();
        for n in 0..2200 {
            push_range(&mut ring, n, segment(n));
            // 200 at a time, and then 20.
            while ring.len() > if n < 300 { 200 } else { 20 } {
                ring.pop_front();
            }
            // 2^18, 2^19, 2^20 and 2^21 bytes are in the segments 262, 524, 1048 and 2097.
            if [261, 262, 523, 524, 1048, 2097].contains(&n) {
                capacities.push(ring.capacity());
            }
            assert!(ring.iter().is_sorted() && *ring.back().unwrap() == n);
        }
        // 2^23 bytes are in the segment 8388, before which 200 were there at once.
        for n in 8000..8400 {
            push_range(&mut ring, n, segment(n));
            while ring.len() > if n < 8300 { 200 } else { 20 } {
                ring.pop_front();
            }
        }
        assert!(ring.capacity() >= 200, "{}", ring.capacity());
        let [long, used, unasked, short, again, last] = capacities.try_into().unwrap();
        assert!(long >= 200 && used == long && unasked == long, "{long} {used} {unasked}");
        // The 21 that were there and as many again, and four.
        assert!((21..=46).contains(&short), "{short}");
        assert!(again == short && last == short, "{again} {last}");
    }

    #[test]
    fn a_ring_keeps_its_order_and_is_a_third_empty_at_most() {
        let mut ring = VecDeque::new();
        for n in 0..1000 {
            push(&mut ring, n);
            // So that what is there wraps around its end.
            if n % 3 == 0 {
                ring.pop_front();
            }
            assert!(ring.capacity() <= (n + 1) * 3 / 2 + 4, "{n}");
        }
        assert!(ring.iter().is_sorted());
        assert!(ring.capacity() <= ring.len() * 3 / 2 + 4);
    }
}
