//! Probes and observers: what they see of packets and links.

use ackclock_net::path::{Decided, Tapped};
use ackclock_packet::Flags;
use ackclock_units::{Bytes, Instant};

use super::packet::SimPacket;
use super::{Engine, OfPath, index};
use crate::observe::{Observer, Sent, SentSegment, Taps};
use crate::records::QuickStartRow;

impl<'o> Engine<'o> {
    /// Tells `observer` what `links` send.
    pub(super) fn tap(&mut self, links: &[usize], observer: &'o mut dyn Observer) {
        let taps = Taps::new(links, self.path.links().len() / 2, self.hosts.len());
        for wire in taps.wires() {
            self.path.tap(wire);
        }
        self.taps = Some(taps);
        self.observer = Some(observer);
    }

    /// After each event: packets have come to watched links, routers have decided, packets were lost.
    pub(super) fn take_news(&mut self, now: Instant) {
        for tapped in self.path.take_tapped() {
            self.note_tapped(&tapped);
        }
        while let Some(wire) = self.path.take_touched() {
            let mut links = OfPath(&mut self.path);
            self.probes.on_wire_change(wire, now, &mut links, &mut self.run);
            self.give_rows();
            self.tell(now, wire);
        }
        while let Some(decided) = self.path.take_decided() {
            self.note_decision(&decided);
        }
        while let Some(lost) = self.path.take_lost() {
            if let Some(slot) = lost.flow.checked_sub(self.first_dynamic) {
                if lost.segment.flags.contains(Flags::SYN) {
                    self.traffic.on_lost_syn(slot, lost.segment.flags.contains(Flags::ACK));
                }
                self.settle(now, slot);
            }
        }
    }

    /// A router has decided.
    fn note_decision(&mut self, decided: &Decided) {
        let Decided { at, link, flow, decision } = decided;
        let owner = match flow.checked_sub(self.first_dynamic) {
            Some(slot) => self.traffic.owner(slot),
            None => (*flow, 0),
        };
        self.run.quick_start.push(QuickStartRow::of_router(*at, owner, index(*link), decision));
    }

    /// A tapped link sends a packet.
    fn note_tapped(&mut self, tapped: &Tapped<SimPacket>) {
        let Tapped { link, starts, departed, packet, payload } = tapped;
        let Some(taps) = &mut self.taps else { return };
        let sent = match payload {
            // Classes are flows first, each of two hosts, then sources.
            None => Sent::Cross {
                source: packet.class as usize - taps.flows(),
                size: Bytes::new(u64::from(packet.size)),
            },
            Some(SimPacket { segment, ip, options, flow, from, .. }) => {
                Sent::Segment(SentSegment {
                    flow: *flow as usize,
                    from_client: from % 2 == 0,
                    segment: *segment,
                    ip: *ip,
                    options: *options,
                    window_shift: taps.window_shift(*from),
                })
            }
        };
        match departed {
            Some(departed) => taps.on_departed(*departed, index(*link), *starts, sent),
            None => taps.on_placed(index(*link), *starts, sent),
        }
    }

    /// Tells the observer what a link has sent by `now`.
    fn tell(&mut self, now: Instant, wire: usize) {
        if let (Some(taps), Some(observer), false) =
            (&mut self.taps, &mut self.observer, self.stopped)
        {
            let links = self.path.links_mut();
            let told = taps.tell(now, wire / 2, |wire| links[wire].counters(now), *observer);
            self.stopped = told.is_break();
        }
    }

    /// Tells the observer all that was sent and not told.
    pub(super) fn tell_rest(&mut self) {
        if let (Some(taps), Some(observer)) = (&mut self.taps, &mut self.observer) {
            let (links, end) = (self.path.links_mut(), self.end);
            self.stopped = taps.finish(|wire| links[wire].counters(end), *observer).is_break();
        }
    }
}
