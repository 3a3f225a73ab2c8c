//! The answers to the peer's echoes of marks.

use ackclock_laws::event::MarkReport;
use ackclock_packet::Seq;
use ackclock_units::Bytes;

use crate::sender::allowance::{Allowance, View};
use crate::sender::flight::Flight;
use crate::sender::stats::SenderStats;

impl Allowance {
    /// The ACK that comes next echoes a mark of congestion: the window is reduced once a window of
    /// data, whether for marks or for losses (RFC 3168 §6.1.2).
    pub(in crate::sender) fn on_ecn_echo(
        &mut self,
        view: View<'_>,
        ack: Seq,
        stats: &mut SenderStats,
    ) {
        let flight = view.flight;
        let (una, max) = (flight.una(), flight.max());
        if self.states.are_linux() {
            // What follows is found when the ACK has been taken in.
            self.marks.echoed = (una..=max).contains(&ack) && una < max;
            return;
        }
        self.marks.echoed = ack > una && ack <= max;
        if self.marks.echoed {
            self.marks.bar_undo();
        }
        if self.marks.measured && self.marks.echoed {
            // Before the reduction, which goes by it (RFC 8257 §3.3 steps 6 and 9).
            self.report_acked(flight, ack, true);
        }
        if una < self.marks.reduced_until || una == max {
            return;
        }
        self.on_congestion(view, self.marks.signal, stats);
    }

    /// True if the ACK of new data that is being taken echoes a mark.
    #[inline]
    pub(in crate::sender) fn take_echo(&mut self, flight: &Flight, ack: Seq) -> bool {
        let echoed = std::mem::take(&mut self.marks.echoed);
        if self.marks.measured && !echoed {
            self.report_acked(flight, ack, false);
        }
        echoed
    }

    /// Before the ACK is taken in: what it acknowledges counts.
    #[inline(never)]
    fn report_acked(&mut self, flight: &Flight, ack: Seq, marked: bool) {
        let counted = ack.since(flight.una());
        self.growth.on_marks(&MarkReport {
            counted,
            marked: if marked { counted } else { Bytes::ZERO },
            una: ack,
            // After a go-back, an ACK may cover what was not yet sent again.
            nxt: flight.nxt().max(ack),
        });
    }

    /// After it: `counted` is what it delivered.
    #[inline(never)]
    pub(in crate::sender::allowance) fn report_marks(
        &mut self,
        flight: &Flight,
        counted: Bytes,
        marked: bool,
    ) {
        self.growth.on_marks(&MarkReport {
            counted,
            marked: if marked { counted } else { Bytes::ZERO },
            una: flight.una(),
            nxt: flight.nxt(),
        });
    }

    /// True if the segment of new data that goes out now is to say that the window was reduced.
    pub(in crate::sender) const fn takes_reduced(&mut self) -> bool {
        std::mem::replace(&mut self.marks.tell, false)
    }
}
