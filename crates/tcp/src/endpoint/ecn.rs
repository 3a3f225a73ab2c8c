//! Explicit congestion notification: RFC 3168 §6.1, and a receiver's part of RFC 8257.

use ackclock_packet::{Ecn, Flags, IpMeta, Segment};
use ackclock_units::Bytes;

use super::Endpoint;
use crate::config::{EcnConfig, EcnEcho, EcnMode};
use crate::sender::Stretch;

/// What an end point knows of marks.
#[derive(Clone, Copy, Debug)]
// What every segment touches comes first.
#[repr(C)]
pub(super) struct Marking {
    /// Both ends want it.
    used: bool,
    /// ACKs echo a mark.
    echo: bool,
    config: EcnConfig,
    /// The SYN that was sent last asked for it.
    asked: bool,
    /// The peer's SYN asked for it.
    peer_asked: bool,
    /// An ACK that is to go out before all else, as what comes after it says something else.
    early: Option<Segment>,
}

const ASK: Flags = Flags::ECE;

impl Marking {
    pub(super) const fn new(config: EcnConfig) -> Self {
        Self { config, asked: false, peer_asked: false, used: false, echo: false, early: None }
    }

    /// The flags of a SYN: it asks once, as some paths drop such SYNs (RFC 3168 §6.1.1.1).
    pub(super) fn on_syn(&mut self, first: bool) -> Flags {
        self.asked = self.config.mode == EcnMode::On && first;
        if self.asked { ASK | Flags::CWR } else { Flags::NONE }
    }

    /// The flags of a SYN-ACK.
    pub(super) fn on_syn_ack(&self) -> Flags {
        if self.peer_asked && self.config.mode != EcnMode::Off { ASK } else { Flags::NONE }
    }

    /// The peer's SYN or SYN-ACK came (§6.1.1).
    pub(super) fn take_syn(&mut self, flags: Flags) {
        let (ece, cwr) = (flags.contains(Flags::ECE), flags.contains(Flags::CWR));
        if flags.contains(Flags::ACK) {
            self.used = self.asked && ece && !cwr;
        } else {
            self.peer_asked = ece && cwr;
            self.used = self.peer_asked && self.config.mode != EcnMode::Off;
        }
    }

    #[inline]
    pub(super) const fn used(&self) -> bool {
        self.used
    }

    /// Whether the next segment matters even if it is not marked.
    #[inline]
    pub(super) fn watches(&self) -> bool {
        self.echo && self.config.echo == EcnEcho::Exact
    }
}

impl Endpoint {
    /// A segment of data came, marked or not, before anything else is done with it.
    pub(super) fn take_mark(&mut self, segment: &Segment, ip: IpMeta) {
        if !self.marking.used || segment.len == 0 {
            return;
        }
        let marked = ip.ecn == Ecn::Ce;
        match self.marking.config.echo {
            EcnEcho::UntilReduced => {
                if segment.flags.contains(Flags::CWR) {
                    self.marking.echo = false;
                }
                if marked && !self.marking.echo {
                    self.marking.echo = true;
                    self.receiver.on_mark();
                }
            }
            EcnEcho::Exact => {
                if marked != self.marking.echo {
                    // RFC 8257 §3.2: what was not acknowledged yet was marked otherwise.
                    if self.receiver.ack_waits() {
                        let mut early = self.bare_segment();
                        early.flags = early.flags | self.echo_flag();
                        self.marking.early = Some(early);
                    }
                    self.marking.echo = marked;
                    self.receiver.demand_ack();
                }
            }
        }
    }

    const fn echo_flag(&self) -> Flags {
        if self.marking.echo { Flags::ECE } else { Flags::NONE }
    }

    pub(super) const fn take_early_ack(&mut self) -> Option<Segment> {
        self.marking.early.take()
    }

    /// Marks a segment that goes out, with `stretch` of data if there is any: new data asks the
    /// network for marks, and no other segment does (RFC 3168 §6.1.4 to §6.1.6).
    pub(super) fn mark(&mut self, segment: &mut Segment, stretch: Option<&Stretch>) -> Ecn {
        segment.flags = segment.flags | self.echo_flag();
        if stretch.is_some_and(|stretch| stretch.new && stretch.len > Bytes::ZERO) {
            if self.sender.takes_reduced() {
                segment.flags = segment.flags | Flags::CWR;
            }
            return Ecn::Ect0;
        }
        Ecn::NotEct
    }
}
