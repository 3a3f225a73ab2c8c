//! What a sender makes of the peer's echoes of congestion marks: RFC 3168 §6.1.2, RFC 8257 §3.3.

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Instant};

use super::Sender;
use crate::config::EcnConfig;
use crate::event::{MarkReport, Signal};

/// What is known of echoes.
#[derive(Clone, Copy, Debug)]
// What every ACK asks comes last.
#[repr(C)]
pub struct Marks {
    /// What an echo is to the growth law.
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

    #[inline]
    pub(super) const fn take_echoed(&mut self) -> bool {
        std::mem::replace(&mut self.echoed, false)
    }

    /// Whether a loss found while SND.UNA is `una` costs no more: an echo has reduced the window of the
    /// same data (RFC 3168 §6.1.2, RFC 8257 §3.5).
    pub(super) fn has_paid_for(&self, signal: Signal, una: Seq) -> bool {
        signal == Signal::Loss && una < self.paid_until
    }
}

impl Sender {
    /// The ACK that comes next echoes a mark of congestion: the window is reduced once a window of
    /// data, whether for marks or for losses (RFC 3168 §6.1.2).
    pub(crate) fn on_ecn_echo(&mut self, now: Instant, ack: Seq) {
        if self.states.are_linux() {
            // What follows is found when the ACK has been taken in.
            self.marks.echoed =
                (self.space.una..=self.space.max).contains(&ack) && self.space.una < self.space.max;
            return;
        }
        self.marks.echoed = ack > self.space.una && ack <= self.space.max;
        if self.marks.echoed {
            self.marks.bar_undo();
        }
        if self.marks.measured && self.marks.echoed {
            // Before the reduction, which goes by it (RFC 8257 §3.3 steps 6 and 9).
            self.report_acked(ack, true);
        }
        if self.space.una < self.marks.reduced_until || self.space.una == self.space.max {
            return;
        }
        self.on_congestion(now, self.marks.signal, self.rwnd);
    }

    /// Whether the ACK of new data that is being taken echoes a mark.
    #[inline]
    pub(super) fn take_echo(&mut self, ack: Seq) -> bool {
        let echoed = std::mem::take(&mut self.marks.echoed);
        if self.marks.measured && !echoed {
            self.report_acked(ack, false);
        }
        echoed
    }

    /// Before the ACK is taken in: what it acknowledges counts.
    #[inline(never)]
    fn report_acked(&mut self, ack: Seq, marked: bool) {
        let counted = ack.since(self.space.una);
        self.growth.on_marks(&MarkReport {
            counted,
            marked: if marked { counted } else { Bytes::ZERO },
            una: ack,
            // After a go-back, an ACK may cover what was not yet sent again.
            nxt: self.space.nxt.max(ack),
        });
    }

    /// After it: `counted` is what it delivered.
    #[inline(never)]
    pub(super) fn report_marks(&mut self, counted: Bytes, marked: bool) {
        self.growth.on_marks(&MarkReport {
            counted,
            marked: if marked { counted } else { Bytes::ZERO },
            una: self.space.una,
            nxt: self.space.nxt,
        });
    }

    /// Whether the segment of new data that goes out now is to say that the window was reduced.
    pub(crate) fn takes_reduced(&mut self) -> bool {
        std::mem::take(&mut self.marks.tell)
    }
}
