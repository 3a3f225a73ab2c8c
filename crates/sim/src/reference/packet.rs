//! The packets of the simulator: a segment and what it asks of the network.

use ackclock_net::path::{Forwarded, Payload};
use ackclock_net::{Ack, QuickStartRouter};
use ackclock_packet::{CongestionHeader, Ecn, Flags, IpMeta, Options, QuickStart, Segment};
use ackclock_tcp::Transmit;
use ackclock_units::Instant;

use crate::hosts::visitors::{DATAGRAM_HEADERS, Datagram};

/// A segment on its way.
#[derive(Clone, Debug)]
pub struct SimPacket {
    pub segment: Segment,
    pub ip: IpMeta,
    pub options: Option<Options>,
    pub flow: u32,
    /// The host that sent it.
    pub from: u32,
    /// The moment, of a pure ACK, when the data packet that triggered it began its way; otherwise `NEVER`.
    pub echo: Instant,
    /// Routers count its time to live down. Of other packets nobody but the end point reads it.
    counts_ttl: bool,
    /// A visitor's datagram in place of the segment.
    pub datagram: Option<Datagram>,
}

impl SimPacket {
    pub fn new(transmit: Transmit, flow: u32, from: u32, echo: Instant) -> Self {
        let Transmit { segment, ip, options } = transmit;
        let request = options.and_then(|options| options.quick_start);
        let counts_ttl = matches!(request, Some(QuickStart::Request { .. }));
        Self { segment, ip, options, flow, from, echo, counts_ttl, datagram: None }
    }
}

impl SimPacket {
    pub fn of_visitor(datagram: Datagram, flow: u32, from: u32, echo: Instant) -> Self {
        Self {
            segment: Segment::default(),
            ip: IpMeta { ecn: datagram.ecn, ..IpMeta::default() },
            options: None,
            flow,
            from,
            echo,
            counts_ttl: false,
            datagram: Some(datagram),
        }
    }
}

impl Payload for SimPacket {
    fn size(&self) -> u32 {
        if let Some(datagram) = &self.datagram {
            let payload = u32::try_from(datagram.payload.len()).unwrap_or(u32::MAX);
            return payload.saturating_add(DATAGRAM_HEADERS);
        }
        // Headers, options and an MSS of 16 bits.
        u32::try_from(self.segment.wire_size().get()).unwrap_or(u32::MAX)
    }

    fn flow(&self) -> u32 {
        self.flow
    }

    fn has_data(&self) -> bool {
        if self.datagram.is_some() { self.from.is_multiple_of(2) } else { self.segment.len > 0 }
    }

    fn ack(&self) -> Option<Ack> {
        Ack::of(&self.segment, self.options.as_ref())
    }

    fn opens(&self) -> bool {
        self.datagram.is_none() && self.segment.flags.contains(Flags::SYN)
    }

    fn closes(&self) -> bool {
        self.datagram.is_none() && self.segment.flags.contains(Flags::FIN)
    }

    fn asks_for_ecn(&self) -> bool {
        self.ip.ecn != Ecn::NotEct
    }

    fn mark(&mut self) -> bool {
        let marks = matches!(self.ip.ecn, Ecn::Ect0 | Ecn::Ect1);
        if marks {
            self.ip.ecn = Ecn::Ce;
        }
        marks
    }

    fn forward(&mut self, quick_start: Option<&mut QuickStartRouter>) -> Forwarded {
        if self.counts_ttl {
            self.ip.ttl = self.ip.ttl.saturating_sub(1);
        }
        let option = self.options.as_mut().and_then(|options| options.quick_start.as_mut());
        let decision = quick_start.zip(option).and_then(|(router, option)| router.process(option));
        if decision.is_some_and(|decision| decision.delete)
            && let Some(options) = &mut self.options
        {
            // No-operations take its place: the header stays as long as it is.
            options.quick_start = None;
        }
        Forwarded { goes_on: true, decision }
    }

    fn congestion_header(&mut self) -> Option<&mut CongestionHeader> {
        self.options.as_mut()?.congestion.as_mut()
    }
}
