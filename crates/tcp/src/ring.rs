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

/// The same of what stands for `range`, the last of the stream so far. A ring that was long once, as in slow start, and is
/// not a quarter full any more gives most of its memory back: going round in it would fetch far more than is in use. It
/// is looked at once every 64 KiB.
#[inline]
pub fn push_range<T>(ring: &mut VecDeque<T>, value: T, range: Range) {
    push(ring, value);
    if (range.start.get() ^ range.end.get()) >> LOOK_BITS != 0 {
        shrink(ring);
    }
}

const LOOK_BITS: u32 = 16;

#[inline(never)]
fn shrink<T>(ring: &mut VecDeque<T>) {
    if 4 * ring.len() < ring.capacity() {
        ring.shrink_to(ring.len() * 3 / 2 + 4);
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

    #[test]
    fn a_ring_that_was_long_once_becomes_short() {
        let mut ring = VecDeque::new();
        let segment = |n: u64| Range { start: Seq::new(1000 * n), end: Seq::new(1000 * n + 1000) };
        let mut many = 0;
        let mut capacities = Vec::new();
        for n in 0..3000 {
            push_range(&mut ring, n, segment(n));
            // A thousand at a time, then 100, and so few that they are never a quarter of it.
            while ring.len() > [1000, 300, 20][many] {
                ring.pop_front();
            }
            many = usize::try_from(n / 1000).unwrap();
            if n % 1000 == 999 {
                capacities.push(ring.capacity());
            }
            assert!(ring.iter().is_sorted() && *ring.back().unwrap() == n);
        }
        let [long, third, short] = capacities.try_into().unwrap();
        assert!(long >= 1000 && third == long, "{long} {third}");
        // 20 and half as many again, and four.
        assert!((21..=36).contains(&short), "{short}");
    }
}
