//! A packet meets a link at which more happens than that it passes.

use ackclock_net::{Ack, Arrival, Effect, Fate, Packet, PacketId, PacketKind};
use ackclock_packet::Ecn;
use ackclock_units::{Duration, Instant};

use super::arena::index;
use super::hops::{HOOKED, LINE, WIRE};
use super::outcome::{OfferOutcome, Offering};
use super::{InFlight, Network};
use crate::fast::link::Verdict;
use crate::run::class::Class;

impl Network {
    /// Offers a packet, which comes at `comes`, to whatever link is before `hop`; returns when it will be at the end of
    /// that link, or `None` if there is more to it than that.
    #[inline(never)]
    pub(super) fn offer(
        &mut self,
        now: Instant,
        comes: Instant,
        id: u32,
        hop: usize,
    ) -> Option<Instant> {
        let step = self.hops[hop - 1];
        let wire = step & WIRE;
        let packet = &mut self.packets[id as usize];
        if step & LINE != 0 {
            packet.hop = index(hop);
            self.pass_line(comes, id, wire);
            return None;
        }
        self.depart_by(wire, comes);
        let packet = &self.packets[id as usize];
        let data = packet.segment.len > 0;
        let mut offered = Packet {
            id: PacketId::new(id),
            size: u32::try_from(packet.segment.wire_size().get()).unwrap_or(u32::MAX),
            class: packet.flow,
            kind: PacketKind::flow(data),
        };
        let mut before = Offering::default();
        if step & HOOKED != 0 {
            before = self.before_offer(now, wire, offered);
            offered.kind = offered.kind.with_ecn(before.ecn);
        }
        let verdict = self.links[wire as usize].offer_ahead(comes, offered, now);
        if step & HOOKED != 0 {
            self.after_offer(now, wire, offered, OfferOutcome::of(&verdict), before);
        }
        let packet = &mut self.packets[id as usize];
        packet.hop = index(hop);
        if let Verdict::Arrives { starts, .. } | Verdict::Impaired { starts, .. } = verdict
            && data
            && packet.first_sent == Instant::NEVER
        {
            packet.first_sent = starts;
        }
        match verdict {
            Verdict::Arrives { at, .. } => return Some(at),
            Verdict::Lost | Verdict::Dropped => self.discard(id),
            Verdict::Waits { wake } => self.wait(wire, wake),
            Verdict::Impaired { starts, at, fate } => {
                self.impair(wire, id, starts, at, fate);
            }
        }
        None
    }

    /// Tells a link that filters ACKs what the packet that comes next acknowledges.
    #[cold]
    pub(super) fn note_ack(&mut self, wire: u32, packet: Packet) {
        let ack = packet.is_flows().then(|| {
            let InFlight { segment, options, .. } = &self.packets[packet.id.get() as usize];
            Ack::of(segment, self.options.read(*options, segment.ack).as_ref())
        });
        self.links[wire as usize].note_ack(ack.flatten());
    }

    #[cold]
    pub(super) fn before_offer(&mut self, now: Instant, wire: u32, packet: Packet) -> Offering {
        let hooks = self.hooks[wire as usize];
        if hooks.quick_start {
            self.pass_router(now, wire, packet);
            if !(hooks.watched || hooks.marks) {
                return Offering::default();
            }
        }
        if hooks.watched {
            self.touched.push(wire);
            self.notified = true;
        }
        // Cross-traffic is not in the arena, and is none of ECN's.
        let ecn = hooks.marks
            && packet.is_flows()
            && self.packets[packet.id.get() as usize].ip.ecn != Ecn::NotEct;
        if self.links[wire as usize].filters_acks() {
            self.note_ack(wire, packet);
        }
        let link = &mut self.links[wire as usize];
        let tapped = self.taps.is_some();
        let waited = if tapped { link.counters(now).queue_delay_ns } else { 0 };
        Offering { waited_ns: waited, marking: link.is_marking(now), ecn }
    }

    #[cold]
    pub(super) fn after_offer(
        &mut self,
        now: Instant,
        wire: u32,
        packet: Packet,
        outcome: OfferOutcome,
        before: Offering,
    ) {
        // Before anybody looks at the packet.
        if before.marking && outcome != OfferOutcome::Dropped {
            self.mark(wire, packet);
        }
        if self.hooks[wire as usize].counts {
            self.count_crossing(wire, packet, 0);
            if outcome == OfferOutcome::Dropped {
                self.count_crossing(wire, packet, 1);
            }
        }
        let seen = self.taps.as_ref().is_some_and(|taps| taps.sees(wire));
        if seen && outcome == OfferOutcome::Sent {
            // A packet that will be lost is sent too, and only the counters say when.
            let waited = self.links[wire as usize].counters(now).queue_delay_ns - before.waited_ns;
            let waited = Duration::from_nanos(u64::try_from(waited).unwrap_or(u64::MAX));
            let sent = self.sent(packet, 1);
            if let Some(taps) = &mut self.taps {
                taps.on_placed(wire, now + waited, sent);
            }
        }
    }

    /// Does to packets what the discipline of a scheduled link has done to them.
    pub(super) fn take_effects(&mut self, wire: u32) {
        while let Some(effect) = self.links[wire as usize].take_effect() {
            match effect {
                Effect::Marked(packet) => {
                    self.packets[packet.id.get() as usize].ip.ecn = Ecn::Ce;
                }
                Effect::Dropped(packet, _) if packet.is_flows() => {
                    self.count_crossing(wire, packet, 1);
                    self.drop_soon(packet.id.get());
                }
                Effect::Dropped(..) => {}
            }
        }
    }

    /// Notes that a packet waits at a scheduled link, which is to be woken at `wake` if it was idle.
    #[inline]
    pub(super) fn wait(&mut self, wire: u32, wake: Option<Instant>) {
        if self.links[wire as usize].has_effects() {
            self.take_effects(wire);
        }
        if let Some(at) = wake
            && !self.mailboxes.in_use()
        {
            self.wheel.push(at, Class::Departure, wire);
        }
    }

    /// Marks a packet that was taken, if its sender understands marks (RFC 3168 §5).
    fn mark(&mut self, wire: u32, packet: Packet) {
        // Cross-traffic is not in the arena, and is none of ECN's.
        if !packet.is_flows() {
            return;
        }
        let ecn = &mut self.packets[packet.id.get() as usize].ip.ecn;
        if matches!(ecn, Ecn::Ect0 | Ecn::Ect1) {
            *ecn = Ecn::Ce;
            self.links[wire as usize].count_marked(packet.size);
        }
    }

    /// Applies to a packet what its link decided: it was sent at `started`, and would be delivered at `at`.
    #[cold]
    pub(super) fn impair(&mut self, wire: u32, id: u32, started: Instant, at: Instant, fate: Fate) {
        let (arrival, copy) = self.links[wire as usize].arrivals(at, fate);
        if let Some(copied) = copy {
            let mut packet = self.packets[id as usize];
            if packet.segment.len > 0 && packet.first_sent == Instant::NEVER {
                packet.first_sent = started;
            }
            packet.options = self.options.copy(packet.options, packet.segment.ack);
            let copy = self.keep(packet);
            self.arrive_at_end(copy, copied);
        }
        self.arrive_at_end(id, arrival);
    }

    fn arrive_at_end(&mut self, id: u32, arrival: Arrival) {
        self.packets[id as usize].corrupted |= arrival.corrupted;
        self.wheel.push(arrival.at, Class::Arrival, id);
    }
}
