//! The sender when the peer echoes a mark.

use crate::event::MarkReport;
use crate::sender::Sender;
use ackclock_packet::Seq;
use ackclock_units::{Bytes, Instant};

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
    pub(in crate::sender) fn take_echo(&mut self, ack: Seq) -> bool {
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
    pub(in crate::sender) fn report_marks(&mut self, counted: Bytes, marked: bool) {
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
