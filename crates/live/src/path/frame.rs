//! Frames of bytes, as the path carries them.

use ackclock_net::path::{Forwarded, Payload};
use ackclock_net::{Ack, QuickStartRouter};
use ackclock_packet::{CongestionHeader, Flags};
use ackclock_units::Instant;
use ackclock_wire::{OptionFate, Parsed, TcpOptions};

use crate::base::header::{self, HeaderView, LEAD};

/// A packet that a host has sent.
#[derive(Clone, Debug)]
pub struct Frame {
    /// [`LEAD`] bytes, then the packet, then room.
    pub bytes: Box<[u8]>,
    /// Bytes of the packet.
    pub len: usize,
    /// Its flow.
    pub flow: usize,
    /// 0 to the receiver, 1 back.
    pub way: usize,
    /// The headers, as far as the path looks at them.
    pub headers: HeaderView,
    /// The moment at which the data packet that a pure ACK answers began its way; `NEVER` of others.
    pub echo: Instant,
}

impl Frame {
    /// The packet.
    pub fn packet(&mut self) -> &mut [u8] {
        &mut self.bytes[LEAD..LEAD + self.len]
    }
}

impl Payload for Frame {
    fn size(&self) -> u32 {
        u32::try_from(self.len).expect("packets are short")
    }

    fn flow(&self) -> u32 {
        u32::try_from(self.flow).expect("fewer than 2^32 flows")
    }

    fn has_data(&self) -> bool {
        self.headers.data
    }

    fn ack(&self) -> Option<Ack> {
        let packet = &self.bytes[LEAD..LEAD + self.len];
        let Parsed { headers, payload, .. } = ackclock_wire::parse_unverified(packet).ok()?;
        let flags = headers.flags;
        if !flags.contains(Flags::ACK) || flags.contains(Flags::SYN) {
            return None;
        }
        let marks = Flags::ECE | Flags::CWR;
        let TcpOptions { sack, timestamps, .. } = headers.options;
        let known = TcpOptions { sack, timestamps, ..TcpOptions::default() };
        let mut ack = Ack {
            is_pure: payload.is_empty()
                && flags.without(marks) == Flags::ACK
                && headers.options == known
                && headers.quick_start.is_none(),
            number: headers.ack,
            ecn: flags.bits() & marks.bits(),
            timestamps: timestamps.map(|times| [times.value, times.echo]),
            ..Ack::default()
        };
        for (left, right) in sack.as_slice() {
            ack.sack[usize::from(ack.blocks)] = [*left, *right];
            ack.blocks += 1;
        }
        Some(ack)
    }

    fn opens(&self) -> bool {
        self.headers.syn_ack.is_some()
    }

    fn closes(&self) -> bool {
        self.headers.fin
    }

    fn asks_for_ecn(&self) -> bool {
        self.headers.ecn
    }

    fn mark(&mut self) -> bool {
        if self.headers.ecn {
            header::mark(self.packet());
        }
        self.headers.ecn
    }

    fn forward(&mut self, quick_start: Option<&mut QuickStartRouter>) -> Forwarded {
        if !self.headers.options {
            return Forwarded { goes_on: true, decision: None };
        }
        let Some(router) = quick_start else {
            let goes_on = ackclock_wire::forward(self.packet()).is_ok();
            return Forwarded { goes_on, decision: None };
        };
        let mut decision = None;
        let passed = ackclock_wire::forward_quick_start(self.packet(), |option| {
            decision = router.process(option);
            match decision {
                Some(decision) if decision.delete => OptionFate::Deleted,
                _ => OptionFate::Written,
            }
        });
        Forwarded { goes_on: passed.is_ok(), decision }
    }

    fn congestion_header(&mut self) -> Option<&mut CongestionHeader> {
        // Neither RCP nor XCP is spoken on a real path.
        None
    }
}
