//! The end point that exchanges headers with routers.

use crate::endpoint::timestamps::Timestamps;
use crate::endpoint::{Endpoint, Transmit};
use ackclock_laws::event::Feedback;
use ackclock_laws::growth::Routers;
use ackclock_packet::CongestionHeader;
use ackclock_units::{Bytes, Instant};

impl Endpoint {
    /// The bytes on the wire of a segment of data besides its payload.
    pub(in crate::endpoint) fn overhead(&self) -> Bytes {
        let timestamps = if self.timestamps.used { Timestamps::LEN } else { 0 };
        let exchange = self.jump.as_ref().and_then(|jump| jump.exchange);
        let header = match exchange {
            Some(exchange) if exchange.is_used() => CongestionHeader::LEN,
            _ => 0,
        };
        ackclock_packet::HEADERS + Bytes::new(u64::from(timestamps + header))
    }

    /// A segment with `header` was taken in.
    pub(in crate::endpoint) fn take_feedback(&mut self, header: CongestionHeader) {
        let Some(jump) = &mut self.jump else { return };
        let Some(exchange) = &mut jump.exchange else { return };
        let (scheme, told) = (exchange.scheme, exchange.take(header));
        let Some(bytes_per_s) = told.filter(|_| self.established_at.is_some()) else { return };
        let overhead = self.overhead();
        let mss = self.sender.mss().bytes().get() as f64;
        let payload = bytes_per_s * mss / (mss + overhead.get() as f64);
        let srtt = self.sender.srtt().unwrap_or_default();
        self.sender.on_feedback(&match scheme {
            Routers::Rate => Feedback::Rate { bytes_per_s: payload },
            Routers::Throughput => Feedback::Throughput { delta: payload, srtt },
        });
    }

    /// The next segment of an open connection that is not ordinary, timers having expired.
    pub(in crate::endpoint) fn poll_dressed(&mut self, now: Instant) -> Option<Transmit> {
        let mut transmit = self.poll_jump(now)?;
        let overhead = self.overhead();
        let Some(jump) = &mut self.jump else { return Some(transmit) };
        if let Some(exchange) = &mut jump.exchange
            && exchange.is_used()
        {
            let asks = transmit.segment.len > 0;
            let mut options = transmit.options.unwrap_or_default();
            options.congestion = Some(exchange.header(&self.sender, asks, overhead));
            transmit.segment.options_len = if self.timestamps.used {
                options.wire_len_with_timestamps()
            } else {
                options.wire_len()
            };
            transmit.options = Some(options);
        }
        Some(transmit)
    }

    /// The header of a SYN, or of the answer to one that had it.
    pub(in crate::endpoint) fn syn_feedback(
        &mut self,
        answering: bool,
    ) -> Option<CongestionHeader> {
        let exchange = self.jump.as_mut()?.exchange.as_mut()?;
        (exchange.is_used() || !answering).then(|| exchange.header(&self.sender, true, Bytes::ZERO))
    }
}
