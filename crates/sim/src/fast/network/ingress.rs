//! The ingress of the links that hosts share: packets are sorted once a window.

use std::cmp::Reverse;

use ackclock_units::Instant;

use super::arena::make_room;
use crate::fast::wheel::TieBreak;

/// A packet that comes to the links that hosts share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entering {
    pub(super) at: Instant,
    pub(super) id: u32,
    /// The host that sent it.
    pub(super) host: u32,
    /// Bytes on the wire.
    pub(super) size: u32,
    /// Its place in the order of hosts.
    n: u32,
}

/// The cause of a packet, which decides where two packets come at one instant.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(super) struct SendCause {
    /// The time since its host sent it, in nanoseconds: the packet that was sent first goes first.
    pub(super) ago: u32,
    /// The event by which its host sent it.
    pub(super) tie_break: TieBreak,
}

impl SendCause {
    const fn order(&self) -> (Reverse<u32>, TieBreak) {
        (Reverse(self.ago), self.tie_break)
    }
}

/// Packets as hosts send them, and in the order in which they come.
#[derive(Debug, Default)]
pub(super) struct IngressSort {
    waiting: Vec<Entering>,
    /// For each of them, apart as it is seldom asked for.
    causes: Vec<SendCause>,
    /// Packets that come before `from`, in order, as many as `end`; those behind are old.
    order: Vec<Entering>,
    end: usize,
    next: usize,
    /// The end of the window before, and what comes later.
    from: Instant,
    later: Vec<(Entering, SendCause)>,
    /// `from` and `later` of the other partition, if there is one, while no packet of it waits.
    other: (Instant, Vec<(Entering, SendCause)>),
    /// Packets by the stretch of time in which they come, and then where those of each stretch begin.
    counts: Vec<u32>,
}

impl IngressSort {
    /// Adds a packet that comes at `at`.
    #[inline]
    pub(super) fn push(&mut self, at: Instant, id: u32, host: u32, size: u32, cause: SendCause) {
        #[expect(clippy::cast_possible_truncation, reason = "each is a packet in an arena of 2^32")]
        let n = self.waiting.len() as u32;
        make_room(&mut self.waiting);
        self.waiting.push(Entering { at, id, host, size, n });
        make_room(&mut self.causes);
        self.causes.push(cause);
    }

    /// Puts what comes before `until` in order. Nothing may be added for a moment before that any more.
    pub(super) fn close(&mut self, until: Instant) {
        let mut later = std::mem::take(&mut self.later);
        for (Entering { at, id, host, size, .. }, cause) in later.drain(..) {
            self.push(at, id, host, size, cause);
        }
        self.later = later;
        let Self { waiting, causes, order, end, next, from, later, counts, .. } = self;
        // About one packet a stretch, of a power of two nanoseconds.
        let span = until.since(*from).as_nanos();
        let shift = (span / (waiting.len() as u64).max(1)).max(1).ilog2();
        let begins = from.as_nanos();
        #[expect(clippy::cast_possible_truncation, reason = "at most two for each packet")]
        let stretch = |at: Instant| (at.as_nanos().wrapping_sub(begins) >> shift) as usize;
        counts.clear();
        counts.resize(stretch(until) + 2, 0);
        for entering in waiting.iter().filter(|entering| entering.at < until) {
            counts[stretch(entering.at) + 1] += 1;
        }
        let mut sum = 0;
        for count in &mut *counts {
            sum += *count;
            *count = sum;
        }
        *end = sum as usize;
        if order.len() < *end {
            order.reserve_exact(*end - order.len());
            order.resize(*end, Entering::default());
        }
        let order = &mut order[..*end];
        for entering in &*waiting {
            if entering.at < until {
                let place = &mut counts[stretch(entering.at)];
                order[*place as usize] = *entering;
                *place += 1;
            } else {
                later.push((*entering, causes[entering.n as usize]));
            }
        }
        let before = |a: &Entering, b: &Entering| {
            let order = |entering: &Entering| causes[entering.n as usize].order();
            a.at < b.at || (a.at == b.at && order(a) < order(b))
        };
        let mut n = 1;
        while let Some([a, b]) = order.get(n - 1..=n) {
            n += 1;
            if before(b, a) {
                // Of one stretch: `counts` has where each ends by now.
                let of = stretch(b.at);
                let begins = of.checked_sub(1).map_or(0, |last| counts[last] as usize);
                let ends = counts[of] as usize;
                match &mut order[begins..ends] {
                    [a, b] => std::mem::swap(a, b),
                    many => many.sort_unstable_by_key(|entering| {
                        (entering.at, causes[entering.n as usize].order())
                    }),
                }
                n = ends + 1;
            }
        }
        (*next, *from) = (0, until);
    }

    /// Allows more to be added, after all that was in order has been taken; returns their number.
    pub(super) fn open(&mut self) -> u64 {
        debug_assert_eq!(self.next, self.end, "a window takes all that comes in it");
        let taken = self.next as u64;
        (self.next, self.end) = (0, 0);
        self.waiting.clear();
        self.causes.clear();
        taken
    }

    /// Has packets that are added from now on come to the links of the other partition.
    pub(super) const fn change_sides(&mut self) {
        debug_assert!(self.waiting.is_empty(), "what hosts sent has been put in order");
        let (from, later) = &mut self.other;
        std::mem::swap(from, &mut self.from);
        std::mem::swap(later, &mut self.later);
    }

    /// Returns the next in order; `None` if all were taken.
    #[inline]
    pub(super) fn first(&self) -> Option<&Entering> {
        self.order[..self.end].get(self.next)
    }

    /// Returns the one that comes so many places later; `None` if there is none.
    #[inline]
    pub(super) fn ahead(&self, places: usize) -> Option<&Entering> {
        self.order[..self.end].get(self.next + places)
    }

    /// Returns the cause of its coming.
    #[inline]
    pub(super) fn cause(&self, entering: &Entering) -> &SendCause {
        &self.causes[entering.n as usize]
    }

    /// Takes the next in order.
    #[inline]
    pub(super) const fn next(&mut self) {
        self.next += 1;
    }

    /// Returns a moment before which nothing comes; `None` if nothing comes at all.
    pub(super) fn next_at(&self) -> Option<Instant> {
        let later = self.later.iter().chain(&self.other.1).map(|(entering, _)| entering);
        self.waiting.iter().chain(later).map(|entering| entering.at).min()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Every packet comes in the window in which it is to come, in the order of time, of age and of rank.
        #[test]
        fn packets_come_in_their_order(
            packets in prop::collection::vec((0_u64..400, 0_u32..3, 0_u64..4), 0..80),
            // Some windows are far longer than packets are apart, and some are empty.
            lookahead in prop::collection::vec(prop::sample::select(vec![1_u64, 7, 100, 5_000]), 1..9),
        ) {
            let mut ingress = IngressSort::default();
            for (id, (at, ago, what)) in (0..).zip(packets.iter().copied()) {
                let tie_break = TieBreak { what, by: 0, n: id };
                let at = Instant::from_nanos(at);
                ingress.push(at, id, 0, 0, SendCause { ago, tie_break });
            }
            let mut until = 0;
            let mut taken = Vec::new();
            for window in lookahead {
                until += window;
                ingress.close(Instant::from_nanos(until));
                while let Some(entering) = ingress.first() {
                    let SendCause { ago, tie_break } = *ingress.cause(entering);
                    taken.push((entering.at.as_nanos(), Reverse(ago), tie_break));
                    ingress.next();
                }
                ingress.open();
                let mut expected: Vec<_> = (0..)
                    .zip(&packets)
                    .filter(|(_, (at, ..))| *at < until)
                    .map(|(n, (at, ago, what))| (*at, Reverse(*ago), TieBreak { what: *what, by: 0, n }))
                    .collect();
                expected.sort_unstable();
                prop_assert_eq!(&taken, &expected);
                let next = packets.iter().map(|(at, ..)| *at).filter(|at| *at >= until).min();
                prop_assert_eq!(ingress.next_at(), next.map(Instant::from_nanos));
            }
        }
    }
}
