//! A link in front of whose queue ACKs are thinned.

use ackclock_units::Instant;

use super::{Link, Queue, Verdict};
use crate::packet::Packet;
use crate::parts::thinning::{Noted, Thinned};
use crate::queue::{Admission, Reason, Room};

impl Link {
    /// A packet comes to the thinning in front of the queue; `fits` says if there is room for it.
    #[cold]
    pub(super) fn offer_thinned(&mut self, now: Instant, packet: Packet, fits: bool) -> Verdict {
        let ack = self.noted.take();
        let Some(thinning) = &mut self.thinning else { return Verdict::Dropped };
        let Thinned { drops, releases, passes, is_held, wake } = thinning.comes(now, packet, ack);
        if let (Some(older), Queue::Scheduled(queue)) = (drops, &mut self.queue) {
            queue.log.drop(older, Reason::Early);
            self.count_effects();
        }
        if !passes && !is_held {
            self.count_dropped(packet, Reason::Early);
            return Verdict::Dropped;
        }
        if let Some(held) = releases {
            self.enter(now, held, fits);
        }
        self.taken.count(packet.size);
        if passes {
            // Thinned before it enters: the packet that is counted here does not wait yet.
            self.enter(now, (packet, ack), fits);
        }
        let idle = matches!(&self.queue, Queue::Scheduled(queue) if queue.serving().is_none());
        let serves = if idle && passes { self.serve_next(now, true) } else { None };
        Verdict::Waits { wake: wake.or(serves) }
    }

    /// A packet that is counted already comes from the thinning to the queue, which may drop it.
    fn enter(&mut self, now: Instant, (packet, ack): Noted, fits: bool) {
        let others = self.unframed().saturating_sub(1);
        let Queue::Scheduled(queue) = &mut self.queue else { return };
        queue.note_ack(ack);
        match queue.offer(now, packet, &Room { fits, limit: self.limit }) {
            Admission::Refused(reason) => queue.log.drop(packet, reason),
            Admission::Taken => {
                if let Some(frames) = &mut self.frames {
                    frames.comes(now, others);
                }
            }
        }
        self.count_effects();
    }

    /// ACKs that have been held for as long as they may go on to the queue.
    pub(super) fn release_thinned(&mut self, now: Instant) {
        while let Some(held) = self.thinning.as_mut().and_then(|thinning| thinning.release(now)) {
            // It was counted among those that wait.
            self.enter(now, held, true);
        }
    }
}
