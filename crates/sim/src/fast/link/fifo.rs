use ackclock_net::Fate;
use ackclock_units::Instant;

/// A packet that was given its place on the wire: what the counters need once it has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// When it came.
    pub comes: Instant,
    /// When its last bit leaves.
    pub departs: Instant,
    /// Bytes on the wire.
    pub size: u32,
    /// Its fate, and above that one more than its cross-traffic source: zero for most packets, so
    /// that one comparison tells.
    note: u32,
}

impl Placed {
    /// A packet of a cross-traffic `source`, by its number at this link, or of a flow.
    #[inline]
    pub fn new(
        comes: Instant,
        departs: Instant,
        size: u32,
        source: Option<u16>,
        fate: Fate,
    ) -> Self {
        let source = source.map_or(0, |source| u32::from(source) + 1);
        Self { comes, departs, size, note: source << 8 | u32::from(fate.bits()) }
    }

    /// True if it is a flow's, and nothing befalls it.
    #[inline]
    pub const fn is_plain(&self) -> bool {
        self.note == 0
    }

    /// The cross-traffic source, by its number at this link.
    pub fn source(&self) -> Option<u16> {
        (self.note >> 8).checked_sub(1).and_then(|source| u16::try_from(source).ok())
    }

    /// Loss and impairments after it left.
    pub const fn fate(&self) -> Fate {
        Fate::from_bits((self.note & 0xff) as u8)
    }
}

/// Slots of a ring at least: most links have few packets that leave a trace.
const FEWEST: usize = 4;

/// First in, first out, without departure events: a packet's departure is known when it comes, so
/// that the ring only remembers what has not left yet. Packets go by their number, from 0.
#[derive(Clone, Debug, Default)]
pub struct Fifo {
    /// A power of two of slots; a number's low bits are its place.
    ring: Box<[Placed]>,
    /// The first packet that is still in the ring.
    kept: u64,
    /// When the last packet placed will have left.
    busy_until: Instant,
    /// Some packet was not plain, or may be.
    tracks_each: bool,
    /// When the last of the forgotten packets left.
    #[cfg(debug_assertions)]
    forgotten_until: Instant,
}

impl Fifo {
    /// An empty one; `tracks_each` if its packets may not be plain, flows' though they are.
    pub fn new(tracks_each: bool) -> Self {
        Self { tracks_each, ..Self::default() }
    }

    /// When the wire is free.
    #[inline]
    pub const fn busy_until(&self) -> Instant {
        self.busy_until
    }

    /// True if all packets that were ever placed are known to be [plain](Placed::is_plain).
    #[inline]
    pub const fn is_plain(&self) -> bool {
        !self.tracks_each
    }

    /// Allows for packets that are not [plain](Placed::is_plain) from now on, flows' though they are.
    pub const fn track_each_packet(&mut self) {
        self.tracks_each = true;
    }

    /// The first packet that is still remembered.
    pub const fn kept(&self) -> u64 {
        self.kept
    }

    /// Asserts that nothing is forgotten that had not left by `now`.
    ///
    /// # Panics
    /// If something is.
    #[cfg(debug_assertions)]
    pub fn assert_remembers(&self, now: Instant) {
        assert!(self.forgotten_until <= now, "nobody was to ask what was at {now:?}");
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "only the low bits count")]
    const fn slot(&self, n: u64) -> usize {
        n as usize & self.ring.len().wrapping_sub(1)
    }

    /// Packet `n`, which is still in the ring.
    #[inline]
    pub fn get(&self, n: u64) -> &Placed {
        &self.ring[self.slot(n)]
    }

    /// Places packet `n` last. Of those before `left`, what has left by `known` is forgotten when the ring
    /// is full.
    #[inline]
    pub fn place(&mut self, n: u64, placed: Placed, left: u64, known: impl FnOnce() -> Instant) {
        self.busy_until = placed.departs;
        self.tracks_each |= !placed.is_plain();
        if n - self.kept == self.ring.len() as u64 {
            self.make_room(n, left, known());
        }
        let slot = self.slot(n);
        self.ring[slot] = placed;
    }

    /// Places a flow's packet that nothing befalls, when all others have left.
    #[inline]
    pub fn place_plain(
        &mut self,
        n: u64,
        comes: Instant,
        departs: Instant,
        size: u32,
        known: impl FnOnce() -> Instant,
    ) {
        self.busy_until = departs;
        if n - self.kept == self.ring.len() as u64 {
            self.make_room(n, n, known());
        }
        let slot = self.slot(n);
        self.ring[slot] = Placed { comes, departs, size, note: 0 };
    }

    /// Forgets all packets before `n`, which had left by `now`.
    pub fn forget_all(&mut self, n: u64, now: Instant) {
        self.kept = n;
        #[cfg(debug_assertions)]
        {
            self.forgotten_until = now;
        }
        #[cfg(not(debug_assertions))]
        let _ = now;
    }

    /// Forgets what has left by `known`, and takes half as much room again as the rest needs, or more, if
    /// it has too little, or so much that going round in it would fetch far more memory than is in use.
    #[cold]
    fn make_room(&mut self, n: u64, left: u64, known: Instant) {
        let (mut first, mut end) = (self.kept, left);
        // All of it, as a rule, where nobody asks.
        if first < end && self.get(end - 1).departs <= known {
            first = end;
        }
        while first < end {
            let middle = first + (end - first) / 2;
            if self.get(middle).departs <= known {
                first = middle + 1;
            } else {
                end = middle;
            }
        }
        #[cfg(debug_assertions)]
        if first > self.kept {
            self.forgotten_until = self.get(first - 1).departs;
        }
        self.kept = first;
        // A third of the room at least is free then, so that looking for it is rare.
        let hooked = (n - first) + (n - first).div_ceil(2);
        let hooked = usize::try_from(hooked).expect("a ring that fits into memory");
        let hooked = hooked.next_power_of_two().max(FEWEST);
        if hooked <= self.ring.len() && self.ring.len() < 8 * hooked {
            return;
        }
        let none = Placed::new(Instant::START, Instant::START, 0, None, Fate::INTACT);
        let before =
            Self { ring: std::mem::replace(&mut self.ring, vec![none; hooked].into()), ..*self };
        for m in first..n {
            let slot = self.slot(m);
            self.ring[slot] = *before.get(m);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_keeps_the_order_as_it_grows_and_turns() {
        let mut fifo = Fifo::default();
        let at = Instant::from_nanos;
        let placed = |n| Placed::new(at(n), at(n + 1), 1, None, Fate::INTACT);
        let (mut next, mut left) = (0, 0);
        // Held: 3, 6, 9 ... 30, across several growths and rounds.
        for _ in 0..10 {
            for _ in 0..5 {
                fifo.place(next, placed(next), left, || at(left));
                next += 1;
            }
            left += 2;
            assert!(fifo.kept() <= left);
            for n in left..next {
                assert_eq!(*fifo.get(n), placed(n));
            }
        }
        // Packet 38 found the ring of 32 full with packets 6 to 37, of which 14 to 37 had not left: 24, and
        // with half as many again 36, so 64 slots.
        assert_eq!((fifo.ring.len(), fifo.busy_until()), (64, at(50)));
    }

    #[test]
    fn what_left_after_the_clock_is_kept() {
        let mut fifo = Fifo::default();
        let at = Instant::from_nanos;
        let placed = |n| Placed::new(at(n), at(n + 1), 1, None, Fate::INTACT);
        // Each has left when the next comes, but the clock stands still.
        (0..40).for_each(|n| fifo.place(n, placed(n), n, || Instant::START));
        assert_eq!(fifo.kept(), 0);
        (0..40).for_each(|n| assert_eq!(*fifo.get(n), placed(n)));
        // 24 more fill the ring of 64. By 30 ns 30 have left; the other 34, and half as many again, fit.
        (40..65).for_each(|n| fifo.place(n, placed(n), n, || at(30)));
        assert_eq!((fifo.kept(), fifo.ring.len()), (30, 64));
        (30..65).for_each(|n| assert_eq!(*fifo.get(n), placed(n)));
        // Packet 94 finds it full with 30 to 93, all of which have left by 109 ns: four slots, that packets 98, 102, 106
        // and 110 find full. When that comes the one before it has not left.
        (65..111).for_each(|n| fifo.place(n, placed(n), n, || at(109)));
        assert_eq!((fifo.kept(), fifo.ring.len()), (109, 4));
        (109..111).for_each(|n| assert_eq!(*fifo.get(n), placed(n)));
    }

    #[test]
    fn a_note_is_read_as_it_was_written() {
        for source in [None, Some(0), Some(1), Some(u16::MAX)] {
            for fate in [Fate::INTACT, Fate::LOST] {
                let placed = Placed::new(Instant::START, Instant::START, 1, source, fate);
                assert_eq!((placed.source(), placed.fate()), (source, fate));
                assert_eq!(placed.is_plain(), source.is_none() && fate == Fate::INTACT);
            }
        }
    }
}
