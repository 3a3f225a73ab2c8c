//! The sender when the peer echoes a mark.

use crate::event::MarkReport;
use crate::sender::Sender;
use ackclock_packet::Seq;
use ackclock_units::{Bytes, Instant};

impl Sender {
    /// The ACK that comes next echoes a mark of congestion: the window is reduced once a window of
    /// data, whether for marks or for losses (RFC 3168 §6.1.2).
    pub(crate) fn on_ecn_echo(&mut self, now: Instant, ack: Seq) {
        if self.allowance.states.are_linux() {
            // What follows is found when the ACK has been taken in.
            self.allowance.marks.echoed = (self.flight.space.una..=self.flight.space.max)
                .contains(&ack)
                && self.flight.space.una < self.flight.space.max;
            return;
        }
        self.allowance.marks.echoed = ack > self.flight.space.una && ack <= self.flight.space.max;
        if self.allowance.marks.echoed {
            self.allowance.marks.bar_undo();
        }
        if self.allowance.marks.measured && self.allowance.marks.echoed {
            // Before the reduction, which goes by it (RFC 8257 §3.3 steps 6 and 9).
            self.report_acked(ack, true);
        }
        if self.flight.space.una < self.allowance.marks.reduced_until
            || self.flight.space.una == self.flight.space.max
        {
            return;
        }
        self.on_congestion(now, self.allowance.marks.signal, self.backlog.rwnd);
    }

    /// Whether the ACK of new data that is being taken echoes a mark.
    #[inline]
    pub(in crate::sender) fn take_echo(&mut self, ack: Seq) -> bool {
        let echoed = std::mem::take(&mut self.allowance.marks.echoed);
        if self.allowance.marks.measured && !echoed {
            self.report_acked(ack, false);
        }
        echoed
    }

    /// Before the ACK is taken in: what it acknowledges counts.
    #[inline(never)]
    fn report_acked(&mut self, ack: Seq, marked: bool) {
        let counted = ack.since(self.flight.space.una);
        self.allowance.growth.on_marks(&MarkReport {
            counted,
            marked: if marked { counted } else { Bytes::ZERO },
            una: ack,
            // After a go-back, an ACK may cover what was not yet sent again.
            nxt: self.flight.space.nxt.max(ack),
        });
    }

    /// After it: `counted` is what it delivered.
    #[inline(never)]
    pub(in crate::sender) fn report_marks(&mut self, counted: Bytes, marked: bool) {
        self.allowance.growth.on_marks(&MarkReport {
            counted,
            marked: if marked { counted } else { Bytes::ZERO },
            una: self.flight.space.una,
            nxt: self.flight.space.nxt,
        });
    }

    /// Whether the segment of new data that goes out now is to say that the window was reduced.
    pub(crate) fn takes_reduced(&mut self) -> bool {
        std::mem::take(&mut self.allowance.marks.tell)
    }
}
