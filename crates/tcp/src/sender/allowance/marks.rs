//! The sender's memory of the peer's echoes of congestion marks: RFC 3168 §6.1.2, RFC 8257 §3.3.

mod echoes;

use ackclock_laws::event::Signal;
use ackclock_packet::Seq;

use crate::config::EcnConfig;

/// The state of echoes.
#[derive(Clone, Copy, Debug)]
// What every ACK asks comes last.
#[repr(C)]
pub struct Marks {
    /// The signal that an echo is to the growth law.
    signal: Signal,
    /// Once this is acknowledged, an echo is one of a later window.
    reduced_until: Seq,
    /// Once this is acknowledged, a loss is one of a later window than the last echo's.
    paid_until: Seq,
    /// The growth law is told of the marks on every ACK.
    measured: bool,
    /// The peer is to be told that the window was reduced.
    tell: bool,
    /// An echo has reduced the window, or came since the last reduction: no repair that was for nothing takes that
    /// back (RFC 4015 §3.2, Linux's `tcp_enter_cwr`).
    bars_undo: bool,
    /// The ACK being taken echoes a mark.
    echoed: bool,
}

impl Marks {
    pub(super) const fn new(config: EcnConfig) -> Self {
        Self {
            signal: Signal::Ecn { abe: config.abe },
            measured: false,
            reduced_until: Seq::FIRST_BYTE,
            paid_until: Seq::FIRST_BYTE,
            tell: false,
            bars_undo: false,
            echoed: false,
        }
    }

    pub(super) const fn set_measured(&mut self, measured: bool) {
        self.measured = measured;
    }

    /// The window was reduced while all before `max` had been sent.
    pub(super) fn on_reduced(&mut self, signal: Signal, max: Seq) {
        self.reduced_until = max;
        if signal == self.signal {
            self.paid_until = max;
        }
        if !matches!(signal, Signal::Timeout { consecutive: 2.. }) {
            self.bars_undo = signal == self.signal;
        }
        self.tell = true;
    }

    /// The reduction that there was, or that comes, is not to be taken back.
    pub(super) const fn bar_undo(&mut self) {
        self.bars_undo = true;
    }

    pub(super) const fn bars_undo(&self) -> bool {
        self.bars_undo
    }

    #[inline]
    pub(super) const fn measures(&self) -> bool {
        self.measured
    }

    pub(super) const fn signal(&self) -> Signal {
        self.signal
    }

    pub(super) const fn has_echoed(&self) -> bool {
        self.echoed
    }

    #[inline]
    pub(super) const fn take_echoed(&mut self) -> bool {
        std::mem::replace(&mut self.echoed, false)
    }

    /// True if a loss found while SND.UNA is `una` costs no more: an echo has reduced the window of the
    /// same data (RFC 3168 §6.1.2, RFC 8257 §3.5).
    pub(super) fn has_paid_for(&self, signal: Signal, una: Seq) -> bool {
        signal == Signal::Loss && una < self.paid_until
    }
}
