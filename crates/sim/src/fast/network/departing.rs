//! Links of which the discipline decides at departure who goes next, where hosts and links are advanced in windows.
//!
//! The moment at which a packet leaves such a link concerns nobody but the link and the host to which the packet goes.
//! So departures are not on the clock: packets leave when another one comes to the link, and at the end of a window.

use ackclock_net::{Packet, PacketId, PacketKind};
use ackclock_packet::Ecn;
use ackclock_units::Instant;

use super::ingress::Entering;
use super::mailboxes::{Departing, LinkOutput, MIXED};
use super::{HopHooks, Network};
use crate::fast::link::{Departure, Verdict};

impl Network {
    /// Notes which links decide at departure who goes next.
    pub(super) fn find_departing(&mut self) {
        let Self { links, hooks, mailboxes, .. } = self;
        let partitions = mailboxes.partitions.len();
        for (wire, link) in (0_u32..).zip(&*links).filter(|(_, link)| link.is_scheduled()) {
            let output = mailboxes.output_of[wire as usize];
            // On no flow's way there is cross-traffic at most.
            let (to, end) =
                mailboxes.outputs.get(output as usize).map_or((0, MIXED), LinkOutput::ends);
            let HopHooks { watched, counts, quick_start, .. } = hooks[wire as usize];
            let at_once = end != MIXED && !(watched || counts || quick_start) && link.is_simple();
            mailboxes.looks |= !at_once || link.marks();
            // What hosts of one of two sides send is for those of the other.
            let partition = if partitions > 1 { 1 - to } else { 0 };
            mailboxes.departing.push(Departing { wire, partition, at_once });
        }
    }

    /// Something comes to a link at `at`, or nothing more comes to it by then: what leaves it before, or at that
    /// moment, leaves. Nothing is done at links of which departures are on the clock.
    pub(super) fn depart_by(&mut self, wire: u32, at: Instant) {
        let Some(&output) = self.mailboxes.output_of.get(wire as usize) else { return };
        while let Some(departure) = self.links[wire as usize].depart_by(at) {
            self.mailboxes.departed += 1;
            if self.links[wire as usize].has_effects() {
                self.take_effects(wire);
            }
            let Departure { packet, arrives, .. } = departure;
            let end =
                self.mailboxes.outputs.get(output as usize).map_or(MIXED, |output| output.ends().1);
            if end == MIXED || !packet.is_flows() || arrives.is_none() {
                self.prefetch_serving(wire);
                self.go_on_from(wire, &departure);
            } else if let Some(comes) = arrives {
                self.mailboxes.put_out(output, comes, packet.id.get(), 2 * packet.class + end);
            }
        }
    }

    /// Lets whatever leaves links of this side before `until` leave; returns the number of packets that have left since
    /// the last call.
    pub fn depart_before(&mut self, until: Instant) -> u64 {
        let Some(last) = until.as_nanos().checked_sub(1).map(Instant::from_nanos) else { return 0 };
        for n in 0..self.mailboxes.departing.len() {
            let Departing { wire, partition, .. } = self.mailboxes.departing[n];
            if partition == self.mailboxes.partition {
                self.depart_by(wire, last);
            }
        }
        std::mem::take(&mut self.mailboxes.departed)
    }

    /// The moment after which packets leave one of `bottlenecks` if they come to it at `at` or later.
    pub fn leaves_after(&self, at: Instant, bottlenecks: &[u32]) -> Instant {
        let busy = bottlenecks
            .iter()
            .map(|bottleneck| self.links[*bottleneck as usize].busy_until())
            .min();
        at.max(busy.unwrap_or(at))
    }

    /// Returns when the next packet leaves such a link; `None` if none is there.
    pub(super) fn next_departure(&self) -> Option<Instant> {
        let departing = self.mailboxes.departing.iter();
        departing.filter_map(|Departing { wire, .. }| self.links[*wire as usize].departs_at()).min()
    }

    /// A packet comes to such a link, the first that hosts share, behind which is its host, and need not be looked at.
    #[inline(never)]
    pub(super) fn cross_to_wait(&mut self, entering: &Entering, wire: u32) {
        let &Entering { at, id, host, size, .. } = entering;
        self.depart_by(wire, at);
        if self.links[wire as usize].filters_acks() {
            let (id, kind) = (PacketId::new(id), PacketKind::flow(true));
            self.note_ack(wire, Packet { id, size, class: host / 2, kind });
        }
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
