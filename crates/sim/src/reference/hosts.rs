//! Hosts: packets arrive, applications and end points do what they can.

use ackclock_app::App;
use ackclock_net::path::Delivery;
use ackclock_packet::Flags;
use ackclock_units::Instant;

use super::Engine;
use super::packet::SimPacket;
use crate::hosts::visitors::{DATAGRAM_HEADERS, Datagram};
use crate::run::class::Class;
use crate::run::events::Events;
use crate::run::state::index;

impl Engine<'_> {
    /// A packet arrives at the host that it is for.
    pub(super) fn arrive(&mut self, now: Instant, delivery: Delivery<SimPacket>) {
        let Delivery { to, payload: packet, corrupted, first_sent } = delivery;
        let SimPacket { segment, ip, options, echo, datagram, .. } = packet;
        let h = to as usize;
        if corrupted {
            self.state.hosts[h].checksum_errors += 1;
            return;
        }
        if let Some(datagram) = datagram {
            let datagram = Datagram { ecn: ip.ecn, ..datagram };
            self.receive_datagram(now, h, datagram, [first_sent, echo]);
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
        if self.state.hosts[h].visiting.is_some() {
            self.service_visitor(now, h);
            return;
        }
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

    /// A datagram arrives at a visitor's end. Of data, `sent` is when its transmission on the first link began; `echo`
    /// is that moment of the datagram with data that came before this one was sent.
    fn receive_datagram(
        &mut self,
        now: Instant,
        h: usize,
        datagram: Datagram,
        [sent, echo]: [Instant; 2],
    ) {
        let host = &mut self.state.hosts[h];
        let Some(own) = &mut host.visiting else { return };
        let size = datagram.payload.len() as u64 + u64::from(DATAGRAM_HEADERS);
        own.receive(now, datagram);
        if h % 2 == 1 {
            host.echo = sent;
            host.arrived_packets += 1;
            host.arrived_bytes += size;
        } else {
            own.sample_srtt();
            host.count_ack(now);
            if echo != Instant::NEVER {
                host.path_rtt_sum_ns += u128::from(now.since(echo).as_nanos());
                host.path_rtts += 1;
            }
        }
        self.service_host(now, h);
    }

    /// A visitor's end does what it can, and its timer is set.
    fn service_visitor(&mut self, now: Instant, h: usize) {
        let host = &mut self.state.hosts[h];
        let (flow, end) = (host.flow, host.first_hop);
        let Some(own) = &mut host.visiting else { return };
        if !own.begun {
            return;
        }
        own.wake(now);
        while let Some(datagram) = own.transmit(now) {
            let mut echo = Instant::NEVER;
            if h % 2 == 1 {
                std::mem::swap(&mut echo, &mut host.echo);
            }
            self.path.send(now, end, SimPacket::of_visitor(datagram, flow, index(h), echo));
        }
        own.note(now);
        if own.state.completed {
            host.completed.get_or_insert(now);
        }
        let next = own.transport.wake_at().unwrap_or(Instant::NEVER);
        if next < host.armed {
            host.armed = next.max(now);
            self.agenda.add(next.max(now), Class::Timer, index(h));
        }
        if host.watched {
            self.sample(now, h);
        }
    }

    /// A host sends all that its end point may.
    fn transmit(&mut self, now: Instant, h: usize) {
        let observed = self.state.givers.has(h);
        loop {
            let host = &mut self.state.hosts[h];
            if observed && !self.state.givers.before(now, h, &mut host.endpoint) {
                break;
            }
            let Some(transmit) = host.endpoint.poll_transmit(now) else { break };
            // Only a pure ACK answers one data packet and nothing else.
            let mut echo = Instant::NEVER;
            if transmit.segment.len == 0 {
                std::mem::swap(&mut echo, &mut host.echo);
            }
            let (flow, end) = (host.flow, host.first_hop);
            if let (Some(taps), Some(options)) = (&mut self.taps, &transmit.options) {
                taps.on_options(index(h), &transmit.segment, options);
            }
            let segment = transmit.segment;
            self.path.send(now, end, SimPacket::new(transmit, flow, index(h), echo));
            if observed {
                self.state.tell_given(now, h, &segment);
            }
        }
        if observed {
            self.state.givers.rests(h, &self.state.hosts[h].endpoint);
        }
    }
}
