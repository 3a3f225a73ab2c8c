//! What comes to the links that hosts share, put in order once a turn.

use std::cmp::Reverse;

use ackclock_units::{Duration, Instant};

use super::make_room;
use crate::wheel::Rank;

/// A packet that comes to the links that hosts share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entering {
    pub(super) at: Instant,
    pub(super) id: u32,
    /// The host that sent it.
    pub(super) host: u32,
    /// Bytes on the wire, or [`LOOK`].
    pub(super) size: u32,
    /// So many came before it in the order of hosts.
    n: u32,
}

/// The size of a packet that must be looked at.
pub(super) const LOOK: u32 = (1 << SIZE_BITS) - 1;

/// The same as it waits: a turn goes through all of them, and what does not fit in here is rare.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// How many nanoseconds after the end of the turn before.
    after: u32,
    id: u32,
    /// From the lowest bit: the size, or `LOOK` if it is no less; how many came before; the host.
    rest: u64,
}

const SIZE_BITS: u32 = u16::BITS;
const COUNT_BITS: u32 = 24;
const HOST_BIT: u32 = SIZE_BITS + COUNT_BITS;
/// No more packets wait. In tests there are often more to come, so that every test is one of those that find no room, too.
const MOST: u32 = if cfg!(test) { 40 } else { 1 << COUNT_BITS };
/// Hosts of higher numbers find no room.
const HOSTS: u32 = 1 << (u64::BITS - HOST_BIT);

#[expect(clippy::cast_possible_truncation, reason = "each field's own bits are left")]
impl Row {
    #[inline]
    const fn new(after: u32, id: u32, size: u32, n: u32, host: u64) -> Self {
        let size = if size < LOOK { size } else { LOOK };
        Self { after, id, rest: host | (n as u64) << SIZE_BITS | size as u64 }
    }

    #[inline]
    const fn n(self) -> u32 {
        (self.rest >> SIZE_BITS) as u32 & ((1 << COUNT_BITS) - 1)
    }

    #[inline]
    const fn host(self) -> u32 {
        (self.rest >> HOST_BIT) as u32
    }

    #[inline]
    fn seen_from(self, from: Instant) -> Entering {
        Entering {
            at: from + Duration::from_nanos(u64::from(self.after)),
            id: self.id,
            host: self.host(),
            size: self.rest as u32 & LOOK,
            n: self.n(),
        }
    }
}

/// What is looked at where two packets come at one instant.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
struct Cause {
    /// How long before it comes its host sent it, in nanoseconds: what was sent first goes first.
    ago: u32,
    /// What made its host send it, as in [`Rank`]. Of several packets that are sent because of one thing the first
    /// goes first.
    by: u32,
    what: u64,
}

impl Cause {
    const fn order(&self) -> (Reverse<u32>, u64, u32) {
        (Reverse(self.ago), self.what, self.by)
    }
}

/// Packets as hosts send them, and in the order in which they come.
#[derive(Debug, Default)]
pub(super) struct Entrance {
    waiting: Vec<Row>,
    /// For each of them, apart as it is seldom asked for.
    causes: Vec<Cause>,
    /// What comes before `until`, in order, as many as `end`: what is behind that is old.
    order: Vec<Row>,
    end: usize,
    next: usize,
    /// The end of the turn before, from which rows count, and of this one once it is closed.
    from: Instant,
    until: Instant,
    /// What comes later.
    later: Vec<(Entering, Cause)>,
    /// The end of the turn before, and what comes later, of the other side, if there is one, while nothing of it is waiting.
    other: (Instant, Vec<(Entering, Cause)>),
    /// Packets by the stretch of time in which they come, and then where those of each stretch begin.
    counts: Vec<u32>,
    /// The host that is served, as rows have it, and fewer than so many packets may wait when it sends another.
    host: u64,
    room: u32,
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "rows are fewer than `MOST`, and stretches about as many"
)]
impl Entrance {
    /// This host sends what is pushed from now on.
    #[inline]
    pub(super) fn serve(&mut self, host: u32) {
        self.host = u64::from(host) << HOST_BIT;
        // What comes later will wait as well.
        self.room = if host < HOSTS { MOST.saturating_sub(self.later.len() as u32) } else { 0 };
    }

    /// A packet that comes at `at` and was sent `ago`, because of what `cause` is the rank of; false if it finds no room
    /// here.
    #[inline]
    pub(super) fn push(
        &mut self,
        at: Instant,
        id: u32,
        size: u32,
        ago: Duration,
        cause: &Rank,
    ) -> bool {
        let n = self.waiting.len() as u32;
        let (after, ago) = (at.since(self.from).as_nanos(), ago.as_nanos());
        if (after | ago) >> u32::BITS != 0 || n >= self.room {
            return false;
        }
        let Rank { what, by, .. } = *cause;
        let cause = Cause { ago: ago as u32, by, what };
        self.put(Row::new(after as u32, id, size, n, self.host), cause);
        true
    }

    #[inline]
    fn put(&mut self, row: Row, cause: Cause) {
        make_room(&mut self.waiting);
        self.waiting.push(row);
        make_room(&mut self.causes);
        self.causes.push(cause);
    }

    /// Puts what comes before `until` in order. Nothing may be added for a moment before that any more.
    pub(super) fn close(&mut self, until: Instant) {
        let mut later = std::mem::take(&mut self.later);
        for (Entering { at, id, host, size, .. }, cause) in later.drain(..) {
            let n = self.waiting.len() as u32;
            // It was nearer than 2^32 nanoseconds to the end of an earlier turn.
            let after = at.since(self.from).as_nanos() as u32;
            self.put(Row::new(after, id, size, n, u64::from(host) << HOST_BIT), cause);
        }
        self.later = later;
        let Self { waiting, causes, order, end, next, from, later, counts, .. } = self;
        // About one packet a stretch, of a power of two nanoseconds.
        let span = until.since(*from).as_nanos();
        let shift = (span / (waiting.len() as u64).max(1)).max(1).ilog2();
        let stretch = |row: &Row| (u64::from(row.after) >> shift) as usize;
        let comes = |row: &Row| u64::from(row.after) < span;
        counts.clear();
        counts.resize((span >> shift) as usize + 2, 0);
        for row in waiting.iter().filter(|row| comes(row)) {
            counts[stretch(row) + 1] += 1;
        }
        let mut sum = 0;
        for count in &mut *counts {
            sum += *count;
            *count = sum;
        }
        *end = sum as usize;
        if order.len() < *end {
            order.reserve_exact(*end - order.len());
            order.resize(*end, Row::default());
        }
        let order = &mut order[..*end];
        for row in &*waiting {
            if comes(row) {
                let place = &mut counts[stretch(row)];
                order[*place as usize] = *row;
                *place += 1;
            } else {
                later.push((row.seen_from(*from), causes[row.n() as usize]));
            }
        }
        let order_of = |row: &Row| (causes[row.n() as usize].order(), row.n());
        let before = |a: &Row, b: &Row| {
            a.after < b.after || (a.after == b.after && order_of(a) < order_of(b))
        };
        let mut n = 1;
        while let Some([a, b]) = order.get(n - 1..=n) {
            n += 1;
            if before(b, a) {
                // Of one stretch: `counts` has where each ends by now.
                let of = stretch(b);
                let begins = of.checked_sub(1).map_or(0, |last| counts[last] as usize);
                let ends = counts[of] as usize;
                match &mut order[begins..ends] {
                    [a, b] => std::mem::swap(a, b),
                    many => many.sort_unstable_by_key(|row| (row.after, order_of(row))),
                }
                n = ends + 1;
            }
        }
        *next = 0;
        self.until = until;
    }

    /// All that was in order has been taken, so many, and more may be added.
    pub(super) fn open(&mut self) -> u64 {
        debug_assert_eq!(self.next, self.end, "a turn takes all that comes in it");
        let taken = self.next as u64;
        (self.next, self.end) = (0, 0);
        self.from = self.until;
        self.waiting.clear();
        self.causes.clear();
        taken
    }

    /// What is added from now on comes to the links of the other side.
    pub(super) const fn change_sides(&mut self) {
        debug_assert!(self.waiting.is_empty(), "what hosts sent has been put in order");
        let (from, later) = &mut self.other;
        std::mem::swap(from, &mut self.from);
        std::mem::swap(later, &mut self.later);
    }

    /// The next in order.
    #[inline]
    pub(super) fn first(&self) -> Option<Entering> {
        Some(self.order[..self.end].get(self.next)?.seen_from(self.from))
    }

    /// The packet that comes so many places later, if there is one, and its host.
    #[inline]
    pub(super) fn ahead(&self, places: usize) -> Option<(u32, u32)> {
        let row = self.order[..self.end].get(self.next + places)?;
        Some((row.id, row.host()))
    }

    /// How long before it comes its host sent it, in nanoseconds, and why.
    #[inline]
    pub(super) fn cause(&self, entering: &Entering) -> (u64, Rank) {
        let Cause { ago, by, what } = self.causes[entering.n as usize];
        (u64::from(ago), Rank { what, by, n: entering.n })
    }

    /// It has been taken.
    #[inline]
    pub(super) const fn next(&mut self) {
        self.next += 1;
    }

    /// Nothing comes before this.
    pub(super) fn next_at(&self) -> Option<Instant> {
        let later = self.later.iter().chain(&self.other.1).map(|(entering, _)| entering.at);
        self.waiting.iter().map(|row| row.seen_from(self.from).at).chain(later).min()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Every packet comes in the turn in which it is to come, in the order of time, of age and of rank.
        #[test]
        fn packets_come_in_their_order(
            packets in prop::collection::vec((0_u64..400, 0_u32..3, 0_u64..4), 0..80),
            // Some turns are far longer than packets are apart, and some are empty.
            turns in prop::collection::vec(prop::sample::select(vec![1_u64, 7, 100, 5_000]), 1..9),
        ) {
            let mut entrance = Entrance::default();
            // What finds no room is not the entrance's.
            let packets = &packets[..packets.len().min(MOST as usize)];
            for (id, (at, ago, what)) in (0..).zip(packets.iter().copied()) {
                let at = Instant::from_nanos(at);
                // Sizes up to 65,534 are told, larger ones are to be looked up.
                let size = if id % 2 == 0 { 65_534 } else { 65_535 };
                entrance.serve(HOSTS - 1 - id);
                let pushed = entrance.push(at, id, size, Duration::from_nanos(ago.into()), &Rank { what, by: 0, n: 0 });
                prop_assert!(pushed);
            }
            for (at, ago, host) in [(1 << 32, 0, 0), (0, 1 << 32, 0), (0, 0, HOSTS)] {
                entrance.serve(host);
                let (at, ago) = (Instant::from_nanos(at), Duration::from_nanos(ago));
                let pushed = entrance.push(at, 0, 0, ago, &Rank::FIRST);
                prop_assert!(!pushed, "too far, too old, or of too high a number");
            }
            let mut until = 0;
            let mut taken = Vec::new();
            for turn in turns {
                until += turn;
                entrance.close(Instant::from_nanos(until));
                while let Some(entering) = entrance.first() {
                    let (ago, Rank { what, .. }) = entrance.cause(&entering);
                    let Entering { at, id, host, size, .. } = entering;
                    prop_assert_eq!(host, HOSTS - 1 - id);
                    prop_assert_eq!(size, if id % 2 == 0 { 65_534 } else { LOOK });
                    taken.push((at.as_nanos(), Reverse(ago), what, id));
                    entrance.next();
                }
                entrance.open();
                // Of one instant, age and cause the first comes first.
                let mut expected: Vec<_> = (0_u32..)
                    .zip(packets)
                    .filter(|(_, (at, ..))| *at < until)
                    .map(|(id, (at, ago, what))| (*at, Reverse(u64::from(*ago)), *what, id))
                    .collect();
                expected.sort_unstable();
                prop_assert_eq!(&taken, &expected);
                let next = packets.iter().map(|(at, ..)| *at).filter(|at| *at >= until).min();
                prop_assert_eq!(entrance.next_at(), next.map(Instant::from_nanos));
            }
        }
    }
}
