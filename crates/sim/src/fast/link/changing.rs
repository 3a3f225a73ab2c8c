//! A link that becomes another on the way: its rate, delay, limit, losses.

use ackclock_net::{Hazards, LinkChange, Loss, QueueLimit};
use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate};

use super::{Link, Queue};

/// A link at a rate of zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct Halted {
    /// The rest of the packet whose transmission was interrupted, in bits times 10^9.
    left: u128,
}

/// The departure of a packet whose transmission is interrupted: later than any moment of a run, and yet one, as
/// `NEVER` means that nothing is sent.
const INTERRUPTED: Instant = Instant::from_nanos(Instant::NEVER.as_nanos() - 1);

impl Link {
    /// The link changes at `now`; returns the moment at which it is to be woken besides those that are known.
    pub fn change(&mut self, now: Instant, change: &LinkChange) -> Option<Instant> {
        self.advance(now);
        let wake = change.rate.and_then(|rate| self.set_rate(now, rate));
        if let Some(delay) = change.delay {
            self.set_delay(delay);
        }
        if let Some((loss, random)) = &change.loss {
            self.set_loss(*loss, random.clone());
        }
        if let Some(limit) = change.limit {
            self.set_limit(limit);
        }
        wake
    }

    /// A scheduled queue has another limit from now on; what is too much is dropped from its tail.
    pub fn set_limit(&mut self, limit: QueueLimit) {
        self.materialise();
        self.cold.limit = limit;
        let counts = self.cold.counts_in_service;
        while limit.is_exceeded(self.held(), self.in_service(), counts) {
            let Queue::Scheduled(queue) = &mut self.queue else { return };
            if !queue.drop_last() {
                return;
            }
            self.settle();
        }
    }

    /// A scheduled queue's link has another rate from `now` on; `None` is a rate of zero, at which nothing is sent.
    ///
    /// What is left of the packet being sent is sent at the new rate, as on a physical link whose rate adapts: a packet
    /// begun at a low rate does not hold up a link that is fast again. Returns the moment at which the link is to be woken,
    /// [`depart`](Self::depart) called, if that is another than before. A link over a channel keeps the channel's rate.
    pub fn set_rate(&mut self, now: Instant, rate: Option<Rate>) -> Option<Instant> {
        self.materialise();
        if self.serializer.is_over_channel() {
            return None;
        }
        let before = self.serializer.rate();
        let Queue::Scheduled(queue) = &mut self.queue else {
            debug_assert!(false, "a FIFO without departure events has promised when packets leave");
            return None;
        };
        let serving = queue.serving().copied();
        let left = match self.cold.halted.take() {
            Some(halted) => halted.left,
            None => serving.map_or(0, |serving| {
                let time = serving.departs.since(now);
                self.busy = self.busy.saturating_sub(time);
                u128::from(time.as_nanos()) * u128::from(before.as_bps())
            }),
        };
        let Some(rate) = rate else {
            self.cold.halted = Some(Halted { left });
            if serving.is_some() {
                queue.reschedule(INTERRUPTED);
            }
            return None;
        };
        self.serializer.set_rate(rate);
        queue.set_rate(rate);
        if serving.is_none() {
            return self.serve_next(now, false);
        }
        let nanos = left.div_ceil(u128::from(rate.as_bps()));
        let time = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        self.busy += time;
        let departs = (now + time).min(INTERRUPTED);
        queue.reschedule(departs);
        Some(departs)
    }

    /// Packets that leave from now on have this delay; those on their way arrive when they were to, so that a shorter
    /// way lets packets overtake those on the longer one.
    pub fn set_delay(&mut self, delay: Duration) {
        self.materialise();
        self.fast.delay = delay;
    }

    /// Packets that are sent from now on are lost by `loss`, drawn from `random` if nothing befell packets here before.
    pub fn set_loss(&mut self, loss: Loss, random: Stream) {
        self.materialise();
        if let Queue::Fifo(fifo) = &mut self.queue {
            fifo.track_each_packet();
        }
        let hazards = self
            .hazards
            .get_or_insert_with(|| Box::new(Hazards::new(Loss::NONE, random.clone(), None)));
        hazards.set_loss(loss, random);
    }
}
