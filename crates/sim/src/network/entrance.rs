//! What comes to the links that hosts share, put in order once a turn.

use std::cmp::Reverse;

use ackclock_units::Instant;

use super::make_room;
use crate::prefetch::prefetch;
use crate::wheel::Rank;

/// So many packets ahead each is fetched.
const AHEAD: usize = 6;

/// A packet that comes to the links that hosts share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entering {
    pub(super) at: Instant,
    pub(super) id: u32,
    /// The step of its path at which it is.
    pub(super) hop: u32,
    /// Bytes on the wire.
    pub(super) size: u32,
    /// How long before it comes its host sent it, in nanoseconds: what was sent first goes first.
    pub(super) ago: u32,
    /// What made its host send it, which is looked at where two come at one instant.
    pub(super) rank: Rank,
}

/// Packets as hosts send them, and in the order in which they come.
#[derive(Debug, Default)]
pub(super) struct Entrance {
    waiting: Vec<Entering>,
    /// The places there of what comes before `from`, in order: places are moved and not packets, as memory is what
    /// this costs.
    order: Vec<u32>,
    next: usize,
    from: Instant,
    /// What comes later.
    later: Vec<Entering>,
    /// Packets by the stretch of time in which they come, and then where those of each stretch begin.
    counts: Vec<u32>,
}

impl Entrance {
    #[inline]
    pub(super) fn push(&mut self, entering: Entering) {
        make_room(&mut self.waiting);
        self.waiting.push(entering);
    }

    /// Puts what comes before `until` in order. Nothing may be added for a moment before that any more.
    pub(super) fn close(&mut self, until: Instant) {
        let Self { waiting, order, next, from, later, counts } = self;
        // About one packet a stretch, of a power of two nanoseconds.
        let span = until.since(*from).as_nanos();
        let shift = (span / (waiting.len() as u64).max(1)).max(1).ilog2();
        #[expect(clippy::cast_possible_truncation, reason = "at most two for each packet")]
        let stretch = |at: Instant| (at.since(*from).as_nanos() >> shift) as usize;
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
        order.clear();
        order.resize(sum as usize, 0);
        for (n, entering) in (0..).zip(waiting.iter()) {
            if entering.at < until {
                let place = &mut counts[stretch(entering.at)];
                order[*place as usize] = n;
                *place += 1;
            } else {
                later.push(*entering);
            }
        }
        let mut begins = 0;
        let place = |n: u32| {
            let Entering { at, ago, rank, .. } = waiting[n as usize];
            (at, Reverse(ago), rank)
        };
        for ends in counts {
            let ends = *ends as usize;
            match &mut order[begins..ends] {
                [] | [_] => {}
                [a, b] => {
                    if place(*b) < place(*a) {
                        std::mem::swap(a, b);
                    }
                }
                many => many.sort_unstable_by_key(|n| place(*n)),
            }
            begins = ends;
        }
        (*next, *from) = (0, until);
    }

    /// All that was in order has been taken: more may be added.
    pub(super) fn open(&mut self) {
        debug_assert_eq!(self.next, self.order.len(), "a turn takes all that comes in it");
        self.order.clear();
        self.next = 0;
        self.waiting.clear();
        self.waiting.append(&mut self.later);
    }

    /// The next in order.
    #[inline]
    pub(super) fn first(&self) -> Option<&Entering> {
        let first = *self.order.get(self.next)? as usize;
        Some(&self.waiting[first])
    }

    /// It has been taken.
    #[inline]
    pub(super) fn next(&mut self) {
        self.next += 1;
        if let Some(soon) = self.order.get(self.next + AHEAD) {
            prefetch(&self.waiting[*soon as usize]);
        }
    }

    /// Nothing comes before this.
    pub(super) fn next_at(&self) -> Option<Instant> {
        self.waiting.iter().map(|entering| entering.at).min()
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
            for (id, (at, ago, what)) in (0..).zip(packets.iter().copied()) {
                let rank = Rank { what, by: 0, n: id };
                let at = Instant::from_nanos(at);
                entrance.push(Entering { at, id, ago, rank, ..Entering::default() });
            }
            let mut until = 0;
            let mut taken = Vec::new();
            for turn in turns {
                until += turn;
                entrance.close(Instant::from_nanos(until));
                while let Some(entering) = entrance.first() {
                    taken.push((entering.at.as_nanos(), Reverse(entering.ago), entering.rank));
                    entrance.next();
                }
                entrance.open();
                let mut expected: Vec<_> = (0..)
                    .zip(&packets)
                    .filter(|(_, (at, ..))| *at < until)
                    .map(|(n, (at, ago, what))| (*at, Reverse(*ago), Rank { what: *what, by: 0, n }))
                    .collect();
                expected.sort_unstable();
                prop_assert_eq!(&taken, &expected);
                let next = packets.iter().map(|(at, ..)| *at).filter(|at| *at >= until).min();
                prop_assert_eq!(entrance.next_at(), next.map(Instant::from_nanos));
            }
        }
    }
}
