use ackclock_units::Instant;

use crate::impairments::Fate;

/// A packet that was given its place on the wire: what the counters need once it has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// When its last bit leaves.
    pub departs: Instant,
    /// Bytes on the wire.
    pub size: u32,
    /// The cross-traffic source, by its number at this link.
    pub source: Option<u16>,
    /// What befalls it after that.
    pub fate: Fate,
}

/// First in, first out, without departure events: a packet's departure is known when it comes, so
/// that the ring only remembers what has not left yet.
#[derive(Clone, Debug, Default)]
pub struct Fifo {
    /// A power of two of slots.
    ring: Vec<Placed>,
    /// Slots taken and freed since the link was made; the low bits are places in the ring.
    placed: usize,
    departed: usize,
    /// When the last packet placed will have left.
    busy_until: Instant,
}

impl Fifo {
    /// When the wire is free.
    #[inline]
    pub const fn busy_until(&self) -> Instant {
        self.busy_until
    }

    /// Places a packet last.
    #[inline]
    pub fn place(&mut self, placed: Placed) {
        self.busy_until = placed.departs;
        if self.placed - self.departed == self.ring.len() {
            self.grow();
        }
        let at = self.placed & (self.ring.len() - 1);
        self.ring[at] = placed;
        self.placed += 1;
    }

    #[cold]
    fn grow(&mut self) {
        let idle = Placed { departs: Instant::START, size: 0, source: None, fate: Fate::INTACT };
        let mut larger = vec![idle; (2 * self.ring.len()).max(4)];
        for n in self.departed..self.placed {
            let at = n & (larger.len() - 1);
            larger[at] = self.ring[n & (self.ring.len() - 1)];
        }
        self.ring = larger;
    }

    #[inline]
    fn first(&self) -> Option<&Placed> {
        (self.departed < self.placed).then(|| &self.ring[self.departed & (self.ring.len() - 1)])
    }

    /// The next packet that has left by `now`.
    #[inline]
    pub fn pop_departed(&mut self, now: Instant) -> Option<Placed> {
        let first = *self.first().filter(|first| first.departs <= now)?;
        self.departed += 1;
        Some(first)
    }

    /// Size of the packet being sent; zero on an idle link.
    #[inline]
    pub fn in_service(&self) -> u32 {
        self.first().map_or(0, |first| first.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_keeps_the_order_as_it_grows_and_turns() {
        let mut fifo = Fifo::default();
        let at = Instant::from_nanos;
        let placed = |n: u64| Placed { departs: at(n), size: 1, source: None, fate: Fate::INTACT };
        let (mut next, mut left) = (0, 0);
        // Held: 3, 6, 9 ... 30, across several growths and turns.
        for _ in 0..10 {
            for _ in 0..5 {
                fifo.place(placed(next));
                next += 1;
            }
            for _ in 0..2 {
                assert_eq!(fifo.pop_departed(at(u64::MAX)), Some(placed(left)));
                left += 1;
            }
        }
        assert_eq!(fifo.pop_departed(at(left - 1)), None);
        while let Some(gone) = fifo.pop_departed(at(next)) {
            assert_eq!(gone, placed(left));
            left += 1;
        }
        assert_eq!((left, next), (50, 50));
    }
}
