//! Hosts: packets arrive, applications and end points do what they can.

use ackclock_app::App;
use ackclock_net::path::Delivery;
use ackclock_packet::Flags;
use ackclock_units::Instant;

use super::Engine;
use super::packet::SimPacket;
use crate::class::Class;
use crate::events::Events;
use crate::state::index;

impl Engine<'_> {
    /// A packet arrives at the host that it is for.
    pub(super) fn arrive(&mut self, now: Instant, delivery: Delivery<SimPacket>) {
        let Delivery { to, payload: packet, corrupted, first_sent } = delivery;
        let SimPacket { segment, ip, options, echo, .. } = packet;
        let h = to as usize;
        if corrupted {
            self.state.hosts[h].checksum_errors += 1;
            return;
        }
        let opens = h >= self.state.static_hosts && segment.flags.contains(Flags::SYN);
        if opens && self.state.hosts[h].unused {
            self.accept(now, h);
        }
        let host = &mut self.state.hosts[h];
        host.endpoint.handle(now, &segment, ip, options.as_ref());
        host.count_arrival(now, &segment, if segment.len > 0 { first_sent } else { echo });
        self.service_host(now, h);
    }

    /// A host's application and end point do what they can, and its timer is set.
    pub(super) fn service_host(&mut self, now: Instant, h: usize) {
        let host = &mut self.state.hosts[h];
        host.app_at = host.app.poll(now, &mut host.endpoint, &mut self.state.notes);
        self.take_notes(now, h);
        let host = &mut self.state.hosts[h];
        let received = host.endpoint.received();
        if received >= host.awaited {
            let rows = &mut self.state.run.objects;
            host.awaited = self.state.objects.on_received(now, h / 2, received, rows);
        }
        self.transmit(now, h);
        let host = &mut self.state.hosts[h];
        let app_at = host.app_at.unwrap_or(Instant::NEVER);
        let next = host.endpoint.poll_at().unwrap_or(Instant::NEVER).min(app_at);
        // A timer that moved back is left alone: it fires early and is set anew.
        if next < host.armed {
            host.armed = next;
            self.agenda.add(next.max(now), Class::Timer, index(h));
        }
        if host.watched {
            self.sample(now, h);
        }
    }

    /// A host sends all that its end point may.
    fn transmit(&mut self, now: Instant, h: usize) {
        loop {
            let host = &mut self.state.hosts[h];
            let Some(transmit) = host.endpoint.poll_transmit(now) else { return };
            // Only a pure ACK answers one data packet and nothing else.
            let mut echo = Instant::NEVER;
            if transmit.segment.len == 0 {
                std::mem::swap(&mut echo, &mut host.echo);
            }
            let (flow, end) = (host.flow, host.first_hop);
            if let (Some(taps), Some(options)) = (&mut self.taps, &transmit.options) {
                taps.on_options(index(h), &transmit.segment, options);
            }
            self.path.send(now, end, SimPacket::new(transmit, flow, index(h), echo));
        }
    }
}
