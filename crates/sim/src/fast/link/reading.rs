//! The counts of a link by a moment, whatever it was offered ahead of it.

use ackclock_net::{Counters, DelayHistogram, SourceCounters, Volume};
use ackclock_units::{Duration, Instant};

use super::{Link, Queue};

/// A packet offered before its time.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    comes: Instant,
    starts: Instant,
    departs: Instant,
    size: u32,
}

impl Link {
    /// The counts by `now`, whatever was [offered ahead](Self::offer_ahead) of it.
    pub fn counters(&mut self, now: Instant) -> Counters {
        if let Queue::Plain(link) = &mut self.queue {
            return link.counters(now);
        }
        self.advance(now);
        let (mut taken, mut left, mut busy) = (self.taken, self.left, self.busy);
        let more = self.cold.more.as_deref();
        let counted = more.map_or_else(Counters::default, |more| more.counters);
        let (mut queue_delay_ns, mut dropped, mut lost) =
            (self.cold.queue_delay_ns, counted.dropped, counted.lost);
        for ahead in self.ahead(now) {
            taken.uncount(ahead.size);
            busy = busy.saturating_sub(ahead.departs.since(ahead.starts));
            queue_delay_ns -= u128::from(ahead.starts.since(ahead.comes).as_nanos());
        }
        if let Queue::Fifo(fifo) = &self.queue {
            #[cfg(debug_assertions)]
            fifo.assert_remembers(now);
            if let Some(last) = taken.packets.checked_sub(1).filter(|n| *n >= fifo.kept()) {
                busy = busy.saturating_sub(fifo.get(last).departs.since(now));
            }
            while left.packets > fifo.kept() {
                let last = fifo.get(left.packets - 1);
                if last.departs <= now {
                    break;
                }
                left.uncount(last.size);
                if last.fate().is_lost() {
                    lost.uncount(last.size);
                }
            }
        }
        let refused = more.into_iter().flat_map(|more| &more.refused_ahead);
        for (_, size) in refused.filter(|(at, _)| *at > now) {
            dropped.uncount(*size);
        }
        let offered =
            Volume { packets: taken.packets + dropped.packets, bytes: taken.bytes + dropped.bytes };
        Counters {
            offered,
            delivered: left,
            dropped,
            queued: taken.since(left),
            lost,
            busy,
            capacity: self.serializer.capacity(now),
            queue_delay_ns,
            ..counted
        }
    }

    /// The packets offered ahead of `now`, the last first.
    fn ahead(&self, now: Instant) -> impl Iterator<Item = Ahead> {
        let fifo = match &self.queue {
            Queue::Fifo(fifo) => Some(fifo),
            Queue::Plain(_) => None,
        };
        fifo.into_iter().flat_map(move |fifo| {
            let kept = fifo.kept()..self.taken.packets;
            kept.rev().map_while(move |n| {
                let placed = *fifo.get(n);
                // What the ring forgot has left by `now`.
                let free = if n > fifo.kept() { fifo.get(n - 1).departs } else { Instant::START };
                (placed.comes > now).then(|| Ahead {
                    comes: placed.comes,
                    starts: placed.comes.max(free),
                    departs: placed.departs,
                    size: placed.size,
                })
            })
        })
    }

    /// The counts of each cross-traffic source, as of the last call of [`advance`](Self::advance).
    pub fn sources(&self) -> &[SourceCounters] {
        match &self.queue {
            Queue::Plain(link) => link.sources(),
            Queue::Fifo(_) => self.cold.more.as_deref().map_or(&[], |more| &more.sources),
        }
    }

    /// The delays in the queue by `now`, whatever was [offered ahead](Self::offer_ahead) of it.
    pub fn delays(&mut self, now: Instant) -> DelayHistogram {
        if let Queue::Plain(link) = &self.queue {
            return link.delays().clone();
        }
        self.materialise();
        let mut delays = self.cold.delays.clone();
        let (mut taken, mut waited) = (self.taken.packets, self.cold.waited);
        for ahead in self.ahead(now) {
            taken -= 1;
            let delay = ahead.starts.since(ahead.comes);
            if delay > Duration::ZERO {
                waited -= 1;
                delays.forget_positive(delay.as_nanos());
            }
        }
        delays.with_zeros(taken - waited)
    }
}
