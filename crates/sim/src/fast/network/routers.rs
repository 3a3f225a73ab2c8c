//! Routers that take part in Quick-Start, or rule every packet's sender, each in front of a link.
//!
//! A packet without the option costs one look at its link's flags. The TTL of one that has it is
//! counted down as it is sent, for all routers on its way: nobody but the host that it is for reads
//! it, and a router's answer depends on its own QS TTL alone.

use ackclock_net::path::{Decided, Router};
use ackclock_net::{FeedbackRouter, Load, Packet, QuickStartRouter};
use ackclock_packet::{Options, QuickStart};
use ackclock_units::Instant;

use super::Network;
use super::arena::index;
use super::hops::{DELIVER, LINE};
use super::options::NO_OPTIONS;
use crate::run::class::Class;

/// The routers of a network.
#[derive(Debug, Default)]
pub struct Routers {
    /// By wire: the router in front of it.
    of: Vec<Option<Box<QuickStartRouter>>>,
    /// By wire: what it does for RCP and XCP.
    feedback: Vec<Option<Box<FeedbackRouter>>>,
    /// By wire: true if the router's decisions are told.
    told: Vec<bool>,
    decided: Vec<Decided>,
}

/// Marks a subject of [`Class::Change`]: the end of a slot of the router in front of this wire. The clock
/// has the highest bit for itself.
pub const SLOT: u32 = 1 << 30;

impl Network {
    /// Routers in front of these wires; the decisions of those that tell are to be [taken](Self::take_decided).
    pub fn set_routers(&mut self, routers: Vec<(usize, Router)>) {
        if routers.is_empty() {
            return;
        }
        let mut all = Routers { told: vec![false; self.links.len()], ..Routers::default() };
        all.of.resize_with(self.links.len(), || None);
        all.feedback.resize_with(self.links.len(), || None);
        for (wire, Router { quick_start, tells, feedback }) in routers {
            self.hooks[wire].quick_start = true;
            if let Some(router) = quick_start.as_ref().filter(|_| tells) {
                self.wheel.push(router.slot_ends(), Class::Change, index(wire) | SLOT);
            }
            all.told[wire] = tells;
            all.of[wire] = quick_start.map(Box::new);
            all.feedback[wire] = feedback.map(Box::new);
        }
        self.routers = Some(Box::new(all));
        self.note_hops();
    }

    /// Ends a slot of the router in front of `wire`.
    #[cold]
    pub fn end_slot(&mut self, now: Instant, wire: u32) {
        let carried = self.links[wire as usize].counters(now).delivered.bytes;
        let Some(routers) = &mut self.routers else { return };
        let Some(router) = &mut routers.of[wire as usize] else { return };
        router.advance(now, carried);
        self.wheel.push(router.slot_ends(), Class::Change, wire | SLOT);
    }

    /// Passes a packet, which is about to be offered to a link, through the router in front.
    pub(super) fn pass_router(&mut self, now: Instant, wire: u32, packet: Packet) {
        if !packet.is_flows() {
            return;
        }
        let in_flight = &self.packets[packet.id.get() as usize];
        let number = in_flight.options;
        if number == NO_OPTIONS {
            return;
        }
        let first = self.is_first(in_flight.hop);
        let Some(routers) = &mut self.routers else { return };
        let Some(options) = self.options.whole_mut(number) else { return };
        if let (Some(header), Some(router)) =
            (&mut options.congestion, &mut routers.feedback[wire as usize])
        {
            // A host's own queue in front of its own link may be the longest of all.
            let link = &mut self.links[wire as usize];
            let load = Load {
                arrived: link.counters(now).offered.bytes,
                queued: link.waiting(now).get(),
                capacity: link.rate(),
            };
            router.process(now, header, packet.size, &load);
        }
        if first {
            return;
        }
        let (Some(option), Some(router)) =
            (&mut options.quick_start, &mut routers.of[wire as usize])
        else {
            return;
        };
        let Some(decision) = router.process(option) else { return };
        if decision.delete {
            // No-operations take its place: the header stays as long as it is.
            options.quick_start = None;
        }
        if routers.told[wire as usize] {
            routers.decided.push(Decided {
                at: now,
                link: wire as usize,
                flow: in_flight.flow,
                decision,
            });
            self.notified = true;
        }
    }

    /// Takes the next decision of a router; `None` if there is none.
    pub fn take_decided(&mut self) -> Option<Decided> {
        self.routers.as_mut()?.decided.pop()
    }

    /// True if the hop at `at` is its path's first link: it is the host's own, with no router in front. A private line
    /// is no router.
    fn is_first(&self, at: u32) -> bool {
        let before = self.hops[..at as usize].iter().rev();
        before.take_while(|hop| **hop & DELIVER == 0).all(|hop| hop & LINE != 0)
    }

    /// Routers on the rest of a path whose next hop is at `at`.
    fn routers_behind(&self, at: u32) -> u8 {
        let rest = self.hops[at as usize..].iter().take_while(|hop| **hop & DELIVER == 0);
        let links = rest.filter(|hop| **hop & LINE == 0).count();
        u8::try_from(links).unwrap_or(u8::MAX)
    }

    /// The TTL with which a packet of `options` reaches the end of the path that begins at `first`,
    /// sent with `ttl`.
    #[cold]
    pub(super) fn ttl_at_end(&self, options: &Options, ttl: u8, first: u32) -> u8 {
        match options.quick_start {
            Some(QuickStart::Request { .. }) => {
                ttl.saturating_sub(self.routers_behind(first).saturating_sub(1))
            }
            _ => ttl,
        }
    }

    /// The TTL of a packet on the link before the hop at `next`, of one that says what it will be at
    /// the end.
    pub(super) fn ttl_here(&self, options: Option<&Options>, ttl: u8, next: u32) -> u8 {
        match options.and_then(|options| options.quick_start) {
            Some(QuickStart::Request { .. }) => ttl.saturating_add(self.routers_behind(next)),
            _ => ttl,
        }
    }
}
