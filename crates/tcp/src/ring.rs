//! Rings that are kept for each connection, of which there may be many.

use std::collections::VecDeque;

/// Adds `value` at the end, where a full ring grows by a half: one that doubles is half empty at its peak, and one that
/// grows by less asks for memory more often.
#[inline]
pub fn push<T>(ring: &mut VecDeque<T>, value: T) {
    if ring.len() == ring.capacity() {
        grow(ring);
    }
    ring.push_back(value);
}

#[cold]
fn grow<T>(ring: &mut VecDeque<T>) {
    ring.reserve_exact(ring.len() / 2 + 4);
}

#[cfg(test)]
mod tests {
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
}
