//! Explicit congestion notification: RFC 3168 §6.1, a receiver's part of RFC 8257, and accurate ECN (RFC 9768).

mod accurate;
mod counting;
mod segments;

use ackclock_packet::{Ecn, Flags, Segment};

use crate::config::EcnConfig;
pub(super) use accurate::Accurate;
use accurate::code_of;

/// An end point's knowledge of marks.
#[derive(Debug)]
// What every segment touches comes first.
#[repr(C)]
pub(super) struct Marking {
    /// Both ends want it.
    used: bool,
    /// The next segment matters even if it is not marked.
    watches: bool,
    /// ACKs echo a mark.
    echo: bool,
    config: EcnConfig,
    /// The SYN that was sent last asked for it.
    asked: bool,
    /// A SYN asked for accurate ECN.
    asked_accurately: bool,
    /// A SYN that was sent later did not.
    gave_up_asking: bool,
    /// The peer's SYN asked for it.
    peer_asked: bool,
    /// An ACK that is to go out before all else, as what comes after it says something else.
    early: Option<Segment>,
    /// Accurate ECN, once both ends are known to want it.
    accurate: Option<Box<Accurate>>,
}

const ASK: Flags = Flags::ECE;

/// SYNs that ask for accurate ECN: some paths drop them, but more often a lost one was just lost (RFC 9768 §3.1.4.1).
const ACCURATE_SYNS: u32 = 2;

impl Marking {
    pub(super) const fn new(config: EcnConfig) -> Self {
        Self {
            config,
            asked: false,
            asked_accurately: false,
            gave_up_asking: false,
            peer_asked: false,
            used: false,
            watches: false,
            echo: false,
            early: None,
            accurate: None,
        }
    }

    /// The flags of the `nth` SYN: it asks for classic ECN once, as some paths drop such SYNs (RFC 3168 §6.1.1.1), and for
    /// accurate ECN twice.
    pub(super) fn on_syn(&mut self, nth: u32) -> Flags {
        self.asked = self.config.mode.asks() && nth == 1;
        if self.config.mode.asks_accurately() {
            if nth <= ACCURATE_SYNS || !self.config.fallback {
                self.asked_accurately = true;
                return ASK | Flags::CWR | Flags::AE;
            }
            self.gave_up_asking = true;
        }
        if self.asked { ASK | Flags::CWR } else { Flags::NONE }
    }

    /// The flags of the `nth` SYN-ACK.
    pub(super) fn on_syn_ack(&mut self, nth: u32) -> Flags {
        if let Some(accurate) = &mut self.accurate {
            return accurate.on_syn_ack(nth);
        }
        if self.peer_asked && self.config.mode.answers() { ASK } else { Flags::NONE }
    }

    /// The peer's SYN or SYN-ACK came with `ecn` in its IP header (RFC 3168 §6.1.1, RFC 9768 §3.1). True if both ends use
    /// accurate ECN from now on.
    pub(super) fn take_syn(&mut self, flags: Flags, ecn: Ecn, linux: bool) -> bool {
        let code = code_of(flags);
        let (ece, cwr) = (flags.contains(Flags::ECE), flags.contains(Flags::CWR));
        if flags.contains(Flags::ACK) {
            // RFC 9768 table 2; 111 is a server that sends back what it gets.
            if self.asked_accurately && !matches!(code, 0 | 1 | 7) {
                self.begin(ecn, linux);
                if let Some(accurate) = &mut self.accurate {
                    accurate.take_syn_ack(code, ecn, self.config);
                    // §3.1.5: none is sent after a SYN that did not ask. Linux 7.2 does.
                    accurate.mute |= self.gave_up_asking && !linux;
                }
                return true;
            }
            self.used = (self.asked || self.asked_accurately) && ece && !cwr;
        } else if self.config.mode.answers_accurately() && !matches!(code, 0 | 3) {
            self.begin(ecn, linux);
            return true;
        } else {
            self.peer_asked = ece && cwr;
            self.used = self.peer_asked && self.config.mode.answers();
        }
        false
    }

    fn begin(&mut self, ecn: Ecn, linux: bool) {
        (self.used, self.watches) = (true, true);
        self.accurate = Some(Box::new(Accurate::new(ecn, linux)));
    }

    /// The peer's SYN came again: the last one is what is told of, and one without ECN says that the path drops it
    /// (RFC 9768 §3.1.5).
    pub(super) fn take_repeated_syn(&mut self, flags: Flags, ecn: Ecn) {
        if let Some(accurate) = &mut self.accurate {
            accurate.reflected = ecn;
            accurate.mute |= code_of(flags) == 0;
        }
    }

    /// The peer's SYN-ACK came again, and its answer tells of this one (RFC 9768 §3.1.5).
    pub(super) fn take_repeated_syn_ack(&mut self, flags: Flags, ecn: Ecn) {
        if let Some(accurate) = &mut self.accurate {
            accurate.reflected = ecn;
            accurate.reflects = true;
            accurate.mute |= code_of(flags) == 0 && !accurate.linux;
        }
    }

    #[inline]
    pub(super) const fn used(&self) -> bool {
        self.used
    }

    /// True if the next segment matters even if it is not marked.
    #[inline]
    pub(super) const fn watches(&self) -> bool {
        self.watches
    }

    /// Accurate ECN, if both ends use it.
    pub(super) fn accurate(&self) -> Option<&Accurate> {
        self.accurate.as_deref()
    }

    /// When the option is sent, from now on.
    pub(super) const fn set_option(&mut self, option: crate::config::EcnOption) {
        self.config.option = option;
    }
}
