//! What leaves a link that hosts share, in the order of time, until the turn of the hosts to which it goes.

use std::collections::VecDeque;

use ackclock_units::{Duration, Instant};

use super::departing::MIXED;
use super::inboxes::Arriving;

/// A packet on its way from the links that hosts share to a host. All of them are gone through twice, so that each says
/// no more than how it differs from the one before.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    /// So many nanoseconds after the one before it comes to the host, or to the links before it that are the host's own.
    after: u32,
    /// `NOBODY` if this is not a packet, but what the next one is further away than it can say.
    id: u32,
    /// Of a packet: where it goes; it has the number after that of the one before. Of none: how many numbers are left out.
    host: u32,
}

const NOBODY: u32 = u32::MAX;

/// When a packet comes, and how many left shared links before it.
#[derive(Clone, Copy, Debug, Default)]
struct Moment {
    at: Instant,
    order: u32,
}

/// What leaves a shared link, in the order of time.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    leaving: VecDeque<Leaving>,
    /// Of the last that was taken out and of the last that was put in.
    taken: Moment,
    put: Moment,
    /// So many rows have been seen and not taken.
    seen: usize,
    /// The side of its hosts.
    to: usize,
    /// Of every flow whose packets come to the link, to which of its two hosts they go, 0 or 1; `MIXED` if packets must
    /// be looked at.
    end: u32,
}

impl Outbox {
    /// One that is empty, of packets to one end of their flows on the side `to`.
    pub(super) fn new(to: usize, end: u32) -> Self {
        Self { to, end, ..Self::default() }
    }

    /// The side of the hosts to which packets go, and to which ends of their flows.
    #[inline]
    pub(super) const fn ends(&self) -> (usize, u32) {
        (self.to, self.end)
    }

    /// Packets go to both ends of flows.
    pub(super) const fn mix(&mut self) {
        self.end = MIXED;
    }

    /// A packet leaves, and comes to its host at `at`; its number is `order`.
    #[inline]
    pub(super) fn put(&mut self, at: Instant, id: u32, order: u32, host: u32) {
        debug_assert!(self.put.at <= at && id != NOBODY, "in order, and a packet");
        let after = at.since(self.put.at).as_nanos();
        let left_out = order.wrapping_sub(self.put.order).wrapping_sub(1);
        let after = match u32::try_from(after) {
            Ok(after) if left_out == 0 => after,
            _ => self.skip(after, left_out),
        };
        self.push(Leaving { after, id, host });
        self.put = Moment { at, order };
    }

    /// Leaves out so many numbers and as much time as the next packet cannot say. Returns the rest.
    #[cold]
    fn skip(&mut self, mut after: u64, mut left_out: u32) -> u32 {
        loop {
            match u32::try_from(after) {
                Ok(after) if left_out == 0 => return after,
                _ => {}
            }
            let far = u32::try_from(after).map_or(u32::MAX, |_| 0);
            self.push(Leaving { after: far, id: NOBODY, host: left_out });
            after -= u64::from(far);
            left_out = 0;
        }
    }

    #[inline]
    fn push(&mut self, leaving: Leaving) {
        if self.leaving.len() == self.leaving.capacity() {
            // As other arenas do: one that doubles is half empty at its peak.
            self.leaving.reserve_exact(self.leaving.len() / 4 + 16);
        }
        self.leaving.push_back(leaving);
    }

    /// When the next packet comes.
    pub(super) fn next_at(&self) -> Option<Instant> {
        let mut at = self.taken.at;
        for leaving in &self.leaving {
            at += Duration::from_nanos(u64::from(leaving.after));
            if leaving.id != NOBODY {
                return Some(at);
            }
        }
        None
    }

    /// Sees where each packet that comes before `until` goes.
    #[inline]
    pub(super) fn see_before(&mut self, until: Instant, mut see: impl FnMut(u32)) {
        let (mut many, mut at) = (0, self.taken.at);
        let (front, back) = self.leaving.as_slices();
        for part in [front, back] {
            for leaving in part {
                at += Duration::from_nanos(u64::from(leaving.after));
                if at >= until {
                    break;
                }
                many += 1;
                if leaving.id != NOBODY {
                    see(leaving.host);
                }
            }
        }
        self.seen = many;
    }

    /// Takes what was seen, each packet with its host.
    #[inline]
    pub(super) fn take_seen(&mut self, mut take: impl FnMut(u32, Arriving)) {
        let many = std::mem::take(&mut self.seen);
        let Moment { mut at, mut order } = self.taken;
        // In two parts: a loop over a slice takes fewer instructions than one over a ring.
        let (front, back) = self.leaving.as_slices();
        let split = many.min(front.len());
        for part in [&front[..split], &back[..many - split]] {
            for &Leaving { after, id, host } in part {
                at += Duration::from_nanos(u64::from(after));
                if id == NOBODY {
                    order = order.wrapping_add(host);
                } else {
                    order = order.wrapping_add(1);
                    take(host, Arriving { at, id, order });
                }
            }
        }
        self.taken = Moment { at, order };
        self.leaving.drain(..many);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// What is put in comes out in the turn in which it comes, whole, however far apart packets are and whatever numbers
        /// other links' have.
        #[test]
        fn packets_come_out_as_they_were_put_in(
            gaps in prop::collection::vec(
                (prop::sample::select(vec![0_u64, 1, 700, 1 << 31, 1 << 32, 20 << 32]), 1_u32..3), 0..40),
            turns in prop::collection::vec(prop::sample::select(vec![1_u64, 900, 1 << 33]), 1..9),
        ) {
            let mut outbox = Outbox::new(1, 0);
            // Numbers go round.
            let mut moment = (0, u32::MAX - 20);
            let mut expected = Vec::new();
            for (id, (gap, numbers)) in (0_u32..).zip(gaps) {
                moment = (moment.0 + gap, moment.1.wrapping_add(numbers));
                let (at, order) = moment;
                outbox.put(Instant::from_nanos(at), id, order, 7 * id);
                expected.push((7 * id, at, id, order));
            }
            let mut until = 0;
            for turn in turns {
                until += turn;
                let split = expected.partition_point(|(_, at, ..)| *at < until);
                let later = expected.split_off(split);
                let mut seen = Vec::new();
                outbox.see_before(Instant::from_nanos(until), |host| seen.push(host));
                let hosts: Vec<_> = expected.iter().map(|(host, ..)| *host).collect();
                prop_assert_eq!(seen, hosts);
                let mut taken = Vec::new();
                outbox.take_seen(|host, Arriving { at, id, order }| {
                    taken.push((host, at.as_nanos(), id, order));
                });
                prop_assert_eq!(taken, expected);
                expected = later;
                let next = expected.first().map(|(_, at, ..)| Instant::from_nanos(*at));
                prop_assert_eq!(outbox.next_at(), next);
            }
        }
    }
}
