//! Queues of what comes to hosts, in one piece of memory: each is long for a moment, all together never.

use ackclock_units::Instant;

use super::make_room;
use crate::prefetch::prefetch_lines;

/// A packet on its way to a host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coming {
    pub(super) at: Instant,
    pub(super) id: u32,
    /// How many came from shared links before it.
    pub(super) order: u32,
}

pub(super) const NOTHING: Coming = Coming { at: Instant::NEVER, id: u32::MAX, order: 0 };

/// As many as lie in two lines of the cache.
const PLACES: usize = 7;
const HALF: usize = PLACES / 2;
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Block {
    places: [Coming; PLACES],
    next: u32,
}

/// First in, first out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    head: u32,
    tail: u32,
    /// The place of the first in its block, and that behind the last in its own.
    first: u32,
    end: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Self { head: NONE, tail: NONE, first: 0, end: 0 }
    }
}

/// The memory of queues.
#[derive(Debug)]
pub(super) struct Queues {
    blocks: Vec<Block>,
    free: u32,
}

impl Default for Queues {
    fn default() -> Self {
        Self { blocks: Vec::new(), free: NONE }
    }
}

impl Queues {
    /// Adds to the end of `queue`.
    #[inline]
    pub(super) fn push(&mut self, queue: &mut Queue, coming: Coming) {
        if queue.tail == NONE || queue.end as usize == PLACES {
            self.extend(queue);
        }
        self.blocks[queue.tail as usize].places[queue.end as usize] = coming;
        queue.end += 1;
    }

    #[inline(never)]
    fn extend(&mut self, queue: &mut Queue) {
        let at = if self.free == NONE {
            make_room(&mut self.blocks);
            self.blocks.push(Block { places: [NOTHING; PLACES], next: NONE });
            u32::try_from(self.blocks.len() - 1).expect("fewer than 2^32 blocks")
        } else {
            let at = self.free;
            self.free = std::mem::replace(&mut self.blocks[at as usize].next, NONE);
            at
        };
        if let Some(last) = self.blocks.get_mut(queue.tail as usize) {
            last.next = at;
        } else {
            (queue.head, queue.first) = (at, 0);
        }
        (queue.tail, queue.end) = (at, 0);
    }

    /// The first of `queue`.
    #[inline]
    pub(super) fn first(&self, queue: &Queue) -> Option<Coming> {
        let block = self.blocks.get(queue.head as usize)?;
        Some(block.places[queue.first as usize])
    }

    /// Takes the first of `queue`, which is not empty.
    #[inline]
    pub(super) fn pop(&mut self, queue: &mut Queue) {
        queue.first += 1;
        let last = queue.head == queue.tail;
        if queue.first as usize == PLACES || (last && queue.first == queue.end) {
            let block = &mut self.blocks[queue.head as usize];
            let next = std::mem::replace(&mut block.next, self.free);
            self.free = queue.head;
            *queue = if last { Queue::default() } else { Queue { head: next, first: 0, ..*queue } };
        }
    }

    /// What lies in the first block of `queue`, and perhaps what lay there before.
    #[inline]
    pub(super) fn first_ids(&self, queue: &Queue) -> impl Iterator<Item = u32> {
        let block = self.blocks.get(queue.head as usize);
        block.into_iter().flat_map(|block| block.places.iter().map(|coming| coming.id))
    }

    /// The same of the second block, which is fetched as soon as the first is begun and looked at once half of
    /// that is taken.
    #[inline]
    pub(super) fn next_ids(&self, queue: &Queue) -> impl Iterator<Item = u32> {
        let next = || {
            let first = self.blocks.get(queue.head as usize)?;
            self.blocks.get(first.next as usize)
        };
        let mut second = None;
        match queue.first as usize {
            1 => next().into_iter().for_each(|block| prefetch_lines(block, 0..2)),
            HALF => second = next(),
            _ => {}
        }
        second.into_iter().flat_map(|block| block.places.iter().map(|coming| coming.id))
    }

    /// The memory of the first of `queue`.
    #[inline]
    pub(super) fn place(&self, queue: &Queue) -> Option<&impl Sized> {
        self.blocks.get(queue.head as usize)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Any number of them are as many rings.
        #[test]
        fn queues_are_queues(steps in prop::collection::vec((0..3_usize, any::<bool>()), 0..300)) {
            let mut queues = Queues::default();
            let mut these = [Queue::default(); 3];
            let mut those: [VecDeque<u32>; 3] = Default::default();
            let mut most = 0;
            for (id, (which, push)) in (0..).zip(steps) {
                let (queue, ring) = (&mut these[which], &mut those[which]);
                if push {
                    queues.push(queue, Coming { at: Instant::START, id, order: 0 });
                    ring.push_back(id);
                } else if ring.pop_front().is_some() {
                    queues.pop(queue);
                }
                prop_assert_eq!(queues.first(queue).map(|coming| coming.id), ring.front().copied());
                most = most.max(those.iter().map(VecDeque::len).sum::<usize>());
            }
            // Of each two blocks at most are not full.
            prop_assert!(queues.blocks.len() <= most.div_ceil(PLACES) + 2 * 3);
        }
    }
}
