//! Hosts: packets arrive, timers are due, applications and end points do what they can.

use ackclock_app::{App, Note};
use ackclock_net::path::Delivery;
use ackclock_units::Instant;

use super::packet::SimPacket;
use super::{Engine, OfPath, index};
use crate::class::Class;

impl Engine<'_> {
    /// A packet arrives at the host that it is for.
    pub(super) fn arrive(&mut self, now: Instant, delivery: Delivery<SimPacket>) {
        let Delivery { to, payload: packet, corrupted, first_sent } = delivery;
        let h = to as usize;
        if corrupted {
            self.hosts[h].checksum_errors += 1;
            return;
        }
        if h >= self.static_hosts && self.hosts[h].vacant {
            self.accept(now, h, &packet);
        }
        let host = &mut self.hosts[h];
        host.endpoint.handle(now, &packet.segment, packet.ip, packet.options.as_ref());
        if packet.segment.len > 0 {
            host.echo = first_sent;
            host.arrived_packets += 1;
            host.arrived_bytes += packet.segment.wire_size().get();
        } else if packet.echo != Instant::NEVER {
            host.path_rtt_sum_ns += u128::from(now.since(packet.echo).as_nanos());
            host.path_rtts += 1;
        }
        if host.sized && host.completed.is_none() && host.endpoint.sender().fin_acked() {
            host.completed = Some(now);
        }
        self.serve(now, h);
    }

    /// A host's wake-up is due.
    pub(super) fn wake(&mut self, now: Instant, h: usize) {
        let host = &mut self.hosts[h];
        if host.armed != now {
            return;
        }
        host.armed = Instant::NEVER;
        if host.vacant {
            return;
        }
        if host.unopened && host.opens == now {
            host.unopened = false;
            host.endpoint.connect(now);
        }
        self.serve(now, h);
    }

    /// A host's application and end point do what they can, and its wake-up is set.
    pub(super) fn serve(&mut self, now: Instant, h: usize) {
        let host = &mut self.hosts[h];
        host.app_at = host.app.poll(now, &mut host.endpoint, &mut self.notes);
        self.take_notes(now, h);
        let host = &mut self.hosts[h];
        let received = host.endpoint.received();
        if received >= host.awaited {
            host.awaited = self.objects.on_received(now, h / 2, received, &mut self.run.objects);
        }
        self.transmit(now, h);
        let host = &mut self.hosts[h];
        let app_at = host.app_at.unwrap_or(Instant::NEVER);
        let next = host.endpoint.poll_at().unwrap_or(Instant::NEVER).min(app_at);
        // A timer that moved back is left alone: it fires early and is set anew.
        if next < host.armed {
            host.armed = next;
            self.agenda.add(next.max(now), Class::Timer, index(h));
        }
        if host.watched {
            self.look_at(now, h);
        }
    }

    /// A host sends all that its end point may.
    fn transmit(&mut self, now: Instant, h: usize) {
        loop {
            let host = &mut self.hosts[h];
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

    /// An application told something.
    fn take_notes(&mut self, now: Instant, h: usize) {
        if h >= self.static_hosts {
            let slot = self.slot_of(h);
            let mut woken = None;
            for note in std::mem::take(&mut self.notes) {
                self.traffic.on_note(now, slot, note, &mut self.run.objects);
                let rows = (&mut self.run.objects, &mut self.run.pages);
                woken = self.users.on_note(now, slot, note, rows).or(woken);
            }
            if let Some(user) = woken {
                self.arm_user(now, user);
            }
            return;
        }
        for note in std::mem::take(&mut self.notes) {
            match note {
                Note::Object(bytes) => {
                    let objects = &mut self.run.objects;
                    self.hosts[h | 1].awaited = self.objects.on_given(now, h / 2, bytes, objects);
                }
                Note::Moment(moment) => {
                    let flows = &self.hosts[..self.static_hosts];
                    let mut links = OfPath(&mut self.path);
                    let begun = self.measures.on_flow_event(h / 2, moment, now, &mut links, flows);
                    for (subject, at) in begun {
                        self.agenda.add(at, Class::Measure, subject);
                    }
                    for n in self.changes.on_flow_event(h / 2, moment) {
                        self.path.change_at(now, n);
                    }
                }
                // Of the sessions of traffic classes alone.
                Note::Requested { .. } | Note::Begun | Note::Completed => {}
            }
        }
    }

    /// A host that a probe watches, or whose connection comes and goes, has done what it can.
    fn look_at(&mut self, now: Instant, h: usize) {
        if h < self.static_hosts {
            self.probes.on_flow_change(h / 2, now, &self.hosts, &mut self.run);
            self.give_rows();
            return;
        }
        let slot = self.slot_of(h);
        if h % 2 == 1 {
            self.traffic.watch_handshake(now, slot, &self.hosts[h].endpoint);
        }
        self.settle(now, slot);
    }
}
