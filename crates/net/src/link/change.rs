//! Changes of a link during a run: its rate, delay, limit, losses, jitter.

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate};

use super::{Link, Queue};
use crate::parts::jitter::JitterConfig;
use crate::parts::loss::Loss;
use crate::queue::QueueLimit;

/// A change of one direction of a link.
#[derive(Clone, Debug, Default)]
pub struct LinkChange {
    /// Another rate; `Some(None)` is a rate of zero, at which nothing is sent.
    pub rate: Option<Option<Rate>>,
    /// Another propagation delay.
    pub delay: Option<Duration>,
    /// Another limit of the queue.
    pub limit: Option<QueueLimit>,
    /// Other losses, and their draws where there were none before.
    pub loss: Option<(Loss, Stream)>,
    /// Another jitter, and its draws; of a link that has one.
    pub jitter: Option<(JitterConfig, Stream)>,
}

/// The departure of a packet whose transmission is interrupted: later than any moment of a run, and yet one, as
/// `NEVER` means that nothing is sent.
const INTERRUPTED: Instant = Instant::from_nanos(Instant::NEVER.as_nanos() - 1);

impl Link {
    /// The link changes at `now`. Returns the moment at which it is to be woken, [`depart`](Self::depart) called, if
    /// that is another than before.
    ///
    /// A packet on its way arrives when it was to, so that a shorter delay lets packets overtake those sent before.
    /// Only a link whose departures are events may have another rate or limit: a first-in-first-out one has promised
    /// when its packets leave.
    pub fn change(&mut self, now: Instant, change: &LinkChange) -> Option<Instant> {
        self.advance(now);
        let wake = change.rate.and_then(|rate| self.set_rate(now, rate));
        if let Some(delay) = change.delay {
            self.delay = delay;
        }
        if let Some((loss, random)) = &change.loss {
            self.hazards.set_loss(*loss, random.clone());
        }
        if let Some((jitter, random)) = &change.jitter {
            self.hazards.set_jitter(jitter, random.clone());
        }
        if let Some(limit) = change.limit {
            self.set_limit(limit);
        }
        wake
    }

    /// Packets beyond the new limit are dropped from the tail.
    pub(super) fn set_limit(&mut self, limit: QueueLimit) {
        self.limit = limit;
        while limit.is_exceeded(self.held(), self.in_service(), self.counts_in_service) {
            let Queue::Scheduled(queue) = &mut self.queue else { return };
            if !queue.drop_last() {
                return;
            }
            self.count_effects();
        }
    }

    /// The rest of the packet being sent is sent at the new rate, as on a physical link whose rate adapts: a packet
    /// begun at a low rate does not hold up a link that is fast again. A channel keeps its own rate.
    pub(super) fn set_rate(&mut self, now: Instant, rate: Option<Rate>) -> Option<Instant> {
        if self.wire.channel.is_some() {
            return None;
        }
        if let Some(passable) = &mut self.passable {
            passable.set_rate(now, rate);
        }
        let before = self.wire.rate;
        let Queue::Scheduled(queue) = &mut self.queue else {
            debug_assert!(false, "a FIFO without departure events has promised when packets leave");
            return None;
        };
        let serving = queue.serving().copied();
        let left = match (self.halted.take(), serving) {
            (Some(left), _) => left,
            (None, None) => 0,
            (None, Some(serving)) => {
                let time = serving.departs.since(now);
                self.counted.busy = self.counted.busy.saturating_sub(time);
                u128::from(time.as_nanos()) * u128::from(before.as_bps())
            }
        };
        let Some(rate) = rate else {
            self.halted = Some(left);
            if serving.is_some() {
                queue.reschedule(INTERRUPTED);
            }
            return None;
        };
        (self.wire.rate, self.wire.carry) = (rate, 0);
        queue.set_rate(rate);
        if serving.is_none() {
            return self.serve_next(now, true);
        }
        let nanos = left.div_ceil(u128::from(rate.as_bps()));
        let time = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        let departs = (now + time).max(queue.holds_until()).min(INTERRUPTED);
        queue.reschedule(departs);
        self.counted.busy += departs.since(now);
        Some(departs)
    }
}
