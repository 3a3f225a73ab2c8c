//! An observer's view of the packets of a network.

use std::ops::ControlFlow;

use ackclock_net::Packet;
use ackclock_packet::{IpMeta, Segment};
use ackclock_units::{Bytes, Instant};

use super::Network;
use super::hops::DELIVER;
use crate::fast::link::Departure;
use crate::layout::links::Network as _;
use crate::measures::observe::{Observer, Sent, SentSegment, Taps};

impl Network {
    /// Notes what `taps` sees; [`tell`](Self::tell) tells an observer of it.
    pub fn tap(&mut self, taps: Taps) {
        // An observer is told of packets in the order of time.
        self.elide(Vec::new());
        self.watch(&taps.wires().collect::<Vec<_>>());
        self.taps = Some(Box::new(taps));
    }

    /// Tells of what the link of `wire` has sent by `now`.
    pub fn tell(
        &mut self,
        now: Instant,
        wire: usize,
        observer: &mut dyn Observer,
    ) -> ControlFlow<()> {
        match &mut self.taps {
            Some(taps) => taps.tell(now, wire / 2, |wire| self.links[wire].counters(now), observer),
            None => ControlFlow::Continue(()),
        }
    }

    /// Tells of all that was sent and not told.
    pub fn tell_rest(&mut self, end: Instant, observer: &mut dyn Observer) -> ControlFlow<()> {
        match &mut self.taps {
            Some(taps) => taps.finish(|wire| self.links[wire].counters(end), observer),
            None => ControlFlow::Continue(()),
        }
    }

    /// The segment that was written into the [vacancy](Self::vacancy).
    pub fn written(&self) -> &Segment {
        let id = self.free.last().expect("the vacancy was asked for");
        &self.packets[*id as usize].segment
    }

    #[cold]
    pub(super) fn note_departure(&mut self, now: Instant, wire: u32, departure: &Departure) {
        let sent = self.sent(departure.packet, 0);
        if let Some(taps) = &mut self.taps {
            taps.on_departed(now, wire, departure.started, sent);
        }
    }

    /// Returns an observer's view of a packet, on the link so many hops before the one where it is.
    pub(super) fn sent(&self, packet: Packet, before: u32) -> Sent {
        if !packet.is_flows() {
            // Classes are flows first, each of two hosts, then sources.
            let flows = self.taps.as_ref().map_or(0, |taps| taps.flows());
            let source = packet.class as usize - flows;
            return Sent::Cross { source, size: Bytes::new(u64::from(packet.size)) };
        }
        let in_flight = &self.packets[packet.id.get() as usize];
        let options = self.options.read(in_flight.options, in_flight.segment.ack);
        let to = self.destination(in_flight.hop);
        Sent::Segment(SentSegment {
            flow: in_flight.flow as usize,
            from_client: to % 2 == 1,
            segment: in_flight.segment,
            ip: IpMeta {
                ttl: self.ttl_here(options.as_ref(), in_flight.ip.ttl, in_flight.hop + before),
                ..in_flight.ip
            },
            options,
            window_shift: self.taps.as_ref().map_or(0, |taps| taps.window_shift(to ^ 1)),
        })
    }

    #[cold]
    pub(super) fn note_options(&mut self, id: u32, options: u32, first_hop: u32) {
        let from = self.destination(first_hop) ^ 1;
        let segment = &self.packets[id as usize].segment;
        if let (Some(taps), Some(options)) =
            (&mut self.taps, self.options.get(options, segment.ack))
        {
            taps.on_options(from, segment, options);
        }
    }

    /// The host at the end of the path on which `hop` is.
    fn destination(&self, hop: u32) -> u32 {
        // Of a packet that is being offered, `hop` is the link itself; of one that has left, the next.
        let rest = &self.hops[hop as usize..];
        let end = rest.iter().find(|hop| **hop & DELIVER != 0);
        end.expect("a path ends at a host") & !DELIVER
    }
}
