//! Links of which the discipline decides at departure who goes next, where hosts and links take turns.
//!
//! When a packet leaves such a link concerns nobody but the link and the host to which the packet goes. So departures
//! are not on the clock: what has left by then leaves when another packet comes to the link, and at the end of a turn
//! (`docs/decisions/0025-hosts-and-links-take-turns.md`).

use ackclock_net::{Packet, PacketId, PacketKind};
use ackclock_packet::Ecn;
use ackclock_units::Instant;

use super::ingress::Entering;
use super::mailboxes::{Departing, MIXED, Outbox};
use super::{Attention, Network};
use crate::fast::link::{Departure, Verdict};

impl Network {
    /// Notes which links decide at departure who goes next.
    pub(super) fn find_departing(&mut self) {
        let Self { links, attention, inboxes, .. } = self;
        let sides = inboxes.sides.len();
        for (wire, link) in (0_u32..).zip(&*links).filter(|(_, link)| link.is_scheduled()) {
            let outbox = inboxes.outbox_of[wire as usize];
            // On no flow's way there is cross-traffic at most.
            let (to, end) = inboxes.outboxes.get(outbox as usize).map_or((0, MIXED), Outbox::ends);
            let Attention { watched, counts, quick_start, .. } = attention[wire as usize];
            let at_once = end != MIXED && !(watched || counts || quick_start) && link.is_simple();
            inboxes.looks |= !at_once || link.marks();
            // What hosts of one of two sides send is for those of the other.
            let side = if sides > 1 { 1 - to } else { 0 };
            inboxes.departing.push(Departing { wire, side, at_once });
        }
    }

    /// Something comes to a link at `at`, or nothing more comes to it by then: what leaves it before, or at that
    /// moment, leaves. Nothing is done at links of which departures are on the clock.
    pub(super) fn depart_by(&mut self, wire: u32, at: Instant) {
        let Some(&outbox) = self.inboxes.outbox_of.get(wire as usize) else { return };
        while let Some(departure) = self.links[wire as usize].depart_by(at) {
            self.inboxes.departed += 1;
            if self.links[wire as usize].has_effects() {
                self.take_effects(wire);
            }
            let Departure { packet, arrives, .. } = departure;
            let end =
                self.inboxes.outboxes.get(outbox as usize).map_or(MIXED, |outbox| outbox.ends().1);
            if end == MIXED || !packet.is_flows() || arrives.is_none() {
                self.prefetch_serving(wire);
                self.go_on_from(wire, &departure);
            } else if let Some(comes) = arrives {
                self.inboxes.put_out(outbox, comes, packet.id.get(), 2 * packet.class + end);
            }
        }
    }

    /// Whatever leaves links of this side before `until` leaves; how many packets have left since this was asked last.
    pub fn depart_before(&mut self, until: Instant) -> u64 {
        let Some(last) = until.as_nanos().checked_sub(1).map(Instant::from_nanos) else { return 0 };
        for n in 0..self.inboxes.departing.len() {
            let Departing { wire, side, .. } = self.inboxes.departing[n];
            if side == self.inboxes.side {
                self.depart_by(wire, last);
            }
        }
        std::mem::take(&mut self.inboxes.departed)
    }

    /// What comes to one of `gates` at `at` or later leaves it later than this.
    pub fn leaves_after(&self, at: Instant, gates: &[u32]) -> Instant {
        let busy = gates.iter().map(|gate| self.links[*gate as usize].busy_until()).min();
        at.max(busy.unwrap_or(at))
    }

    /// When the next packet leaves such a link.
    pub(super) fn next_departure(&self) -> Option<Instant> {
        let departing = self.inboxes.departing.iter();
        departing.filter_map(|Departing { wire, .. }| self.links[*wire as usize].departs_at()).min()
    }

    /// A packet comes to such a link, the first that hosts share, behind which is its host, and need not be looked at.
    #[inline(never)]
    pub(super) fn cross_to_wait(&mut self, entering: &Entering, wire: u32) {
        let &Entering { at, id, host, size, .. } = entering;
        self.depart_by(wire, at);
        let link = &mut self.links[wire as usize];
        let ecn = link.marks() && self.packets[id as usize].ip.ecn != Ecn::NotEct;
        // Whether it carries data only losses ask.
        let id = PacketId::new(id);
        let packet =
            Packet { id, size, class: host / 2, kind: PacketKind::flow(true).with_ecn(ecn) };
        match link.offer(at, packet) {
            Verdict::Dropped => self.drop_soon(id.get()),
            _ if link.has_effects() => self.take_effects(wire),
            _ => {}
        }
    }
}
