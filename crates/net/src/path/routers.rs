//! Routers that take part in Quick-Start, RCP or XCP, each in front of a link.

use ackclock_units::Instant;

use super::{Kind, Path, Payload, slot_of};
use crate::parts::feedback::{FeedbackRouter, Load};
use crate::parts::quick_start::{Decision, QuickStartRouter};

/// The functions of the router in front of a link.
#[derive(Clone, Debug, Default)]
pub struct Router {
    /// Quick-Start.
    pub quick_start: Option<QuickStartRouter>,
    /// True if its decisions are told by [`Path::take_decided`]. The slots of others do not end.
    pub tells: bool,
    /// RCP and XCP.
    pub feedback: Option<FeedbackRouter>,
}

impl Router {
    pub(super) fn slot_ends(&self) -> Option<Instant> {
        self.quick_start.as_ref().filter(|_| self.tells).map(QuickStartRouter::slot_ends)
    }
}

/// A router's decision over a Quick-Start request.
#[derive(Clone, Copy, Debug)]
pub struct Decided {
    /// When.
    pub at: Instant,
    /// The link behind the router.
    pub link: usize,
    /// The packet's flow.
    pub flow: u32,
    /// The decision.
    pub decision: Decision,
}

/// The outcome of forwarding a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forwarded {
    /// True if the packet goes on; a router drops malformed ones.
    pub goes_on: bool,
    /// The decision over a Quick-Start request.
    pub decision: Option<Decision>,
}

impl<P: Payload> Path<P> {
    /// A packet is about to be offered to a link, which is its route's `first` or not; whether it goes on.
    pub(super) fn pass_router(&mut self, now: Instant, link: usize, id: u32, first: bool) -> bool {
        let Self { packets, interests, links, decided, .. } = self;
        let Some(packet) = &mut packets[id as usize] else { return false };
        let payload = &mut packet.payload;
        let size = payload.size();
        let mut router = interests[link].router.as_mut();
        if let Some(feedback) = router.as_mut().and_then(|router| router.feedback.as_mut())
            && let Some(header) = payload.congestion_header()
        {
            // A host's own queue in front of its own link may be the longest of all.
            let link = &mut links[link];
            let load = Load {
                arrived: link.counters(now).offered.bytes,
                queued: link.waiting(now).get(),
                capacity: link.rate(),
            };
            feedback.process(now, header, size, &load);
        }
        if first {
            // A route's first link is the host's own, with no router in front.
            return true;
        }
        let tells = router.as_ref().is_some_and(|router| router.tells);
        let quick_start = router.and_then(|router| router.quick_start.as_mut());
        let Forwarded { goes_on, decision } = payload.forward(quick_start);
        if let Some(decision) = decision.filter(|_| tells) {
            decided.push(Decided { at: now, link, flow: payload.flow(), decision });
        }
        goes_on
    }

    /// A slot of the router in front of a link ends.
    pub(super) fn end_slot(&mut self, now: Instant, link: usize) {
        let carried = self.links[link].counters(now).delivered.bytes;
        let router = self.interests[link].router.as_mut();
        if let Some(router) = router.and_then(|router| router.quick_start.as_mut()) {
            router.advance(now, carried);
            self.events.add(router.slot_ends(), Kind::Change, slot_of(link));
        }
    }
}
