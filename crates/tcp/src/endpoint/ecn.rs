//! Explicit congestion notification: RFC 3168 §6.1, and a receiver's part of RFC 8257.

mod segments;

use ackclock_packet::{Flags, Segment};

use crate::config::{EcnConfig, EcnEcho, EcnMode};

/// An end point's knowledge of marks.
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

    /// True if the next segment matters even if it is not marked.
    #[inline]
    pub(super) fn watches(&self) -> bool {
        self.echo && self.config.echo == EcnEcho::Exact
    }
}
