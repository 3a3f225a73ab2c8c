//! Probes and observers: what they see of packets and links.

use ackclock_net::path::Tapped;
use ackclock_units::{Bytes, Instant};

use super::Engine;
use super::packet::SimPacket;
use crate::measures::observe::{Observer, Sent, SentDatagram, SentSegment, Taps};
use crate::run::events::Events;
use crate::run::state::index;

impl<'o> Engine<'o> {
    /// Tells `observer` what `links` send.
    pub(super) fn tap(&mut self, links: &[usize], observer: &'o mut dyn Observer) {
        let taps = Taps::new(links, self.path.links().len() / 2, self.state.hosts.len());
        for wire in taps.wires() {
            self.path.tap(wire);
        }
        self.taps = Some(taps);
        self.state.observe(observer);
    }

    /// After each event: packets have come to watched links, routers have decided, packets were lost.
    pub(super) fn drain_notifications(&mut self, now: Instant) {
        for tapped in self.path.take_tapped() {
            self.note_tapped(&tapped);
        }
        while let Some(wire) = self.path.take_touched() {
            self.state.probes.on_wire_change(wire, now, &mut self.path, &mut self.state.run);
            self.state.give_rows();
            self.tell(now, wire);
        }
        while let Some(decided) = self.path.take_decided() {
            self.state.note_decision(&decided);
        }
        while let Some(lost) = self.path.take_lost() {
            if lost.flow >= self.state.first_dynamic {
                self.note_lost(now, lost.flow, lost.segment.flags);
            }
        }
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
            Some(SimPacket { datagram: Some(_), ip, flow, from, .. }) => {
                Sent::Datagram(SentDatagram {
                    flow: *flow as usize,
                    from_client: from % 2 == 0,
                    size: Bytes::new(u64::from(packet.size)),
                    ecn: ip.ecn,
                })
            }
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
            (&mut self.taps, &mut self.state.observer, self.state.stopped)
        {
            let links = self.path.links_mut();
            let told = taps.tell(now, wire / 2, |wire| links[wire].counters(now), *observer);
            self.state.stopped = told.is_break();
        }
    }

    /// Tells the observer all that was sent and not told.
    pub(super) fn tell_rest(&mut self) {
        if let (Some(taps), Some(observer)) = (&mut self.taps, &mut self.state.observer) {
            let (links, end) = (self.path.links_mut(), self.state.end);
            self.state.stopped =
                taps.finish(|wire| links[wire].counters(end), *observer).is_break();
        }
    }
}
