//! Marks that the peer counts, at the sender: which are new, and what they change.

use ackclock_packet::{AccurateEcn, Seq};
use ackclock_units::Bytes;

use super::accurate::{AccurateFeedback, Counted, Seen};
use super::{Allowance, View};
use crate::data::counts::{AceReport, EcnCounts};
use crate::recovery::Recovery;
use crate::sender::stats::SenderStats;

impl Allowance {
    /// Both ends use accurate ECN.
    pub(in crate::sender) fn hear_accurately(&mut self) {
        self.feedback = Some(Box::new(AccurateFeedback::new(self.states.are_linux())));
    }

    /// The peer counts in the handshake so far: `marked` if the SYN-ACK was, and `deaf` if its bits came zeroed.
    pub(in crate::sender) fn after_handshake(
        &mut self,
        marked: bool,
        deaf: bool,
        option: Option<&AccurateEcn>,
    ) {
        let Some(feedback) = &mut self.feedback else { return };
        if marked && feedback.believed.ce_packets == 0 {
            feedback.believed.ce_packets = 1;
        }
        feedback.deaf |= deaf;
        if let Some(option) = option {
            feedback.see(option);
        }
    }

    /// True if the peer has sent the option, so that it passes the path.
    pub(in crate::sender) fn sees_counters(&self) -> bool {
        self.feedback.as_ref().is_some_and(|feedback| feedback.seen != Seen::Never)
    }

    /// True if the header's counter is changed on the way.
    pub(in crate::sender) fn is_mangled(&self) -> bool {
        self.feedback.as_ref().is_some_and(|feedback| feedback.mangled)
    }

    /// The counts that the peer is believed to have.
    pub(in crate::sender) fn believed(&self) -> Option<EcnCounts> {
        self.feedback.as_ref().map(|feedback| feedback.believed)
    }

    /// The ACK that comes next has this report.
    pub(in crate::sender) fn expect_report(&mut self, report: AceReport) {
        if let Some(feedback) = &mut self.feedback {
            feedback.report = Some(report);
            self.marks.set_counting(true);
        }
    }

    /// Counts the marks that an ACK reports, once it is known what it delivers; true if there are new ones. They reduce
    /// the window once a window of data, as an echo does.
    #[cold]
    pub(in crate::sender) fn count_marks(
        &mut self,
        view: View<'_>,
        newly_acked: Bytes,
        stats: &mut SenderStats,
    ) -> bool {
        self.marks.set_counting(false);
        let (flight, mss) = (view.flight, view.mss());
        let tally = flight.tally(mss);
        let sent = stats.segments_sent + tally.sacked;
        let una = flight.una();
        let counted = flight.recovery().newly_delivered().unwrap_or(newly_acked);
        let ack = Counted {
            delivered: sent.saturating_sub(stats.segments_retransmitted + tally.unacked),
            bytes: counted.get(),
            acked: una.since(Seq::FIRST_BYTE).get(),
            progress: newly_acked > Bytes::ZERO,
            calm: flight.board().is_some() || !flight.recovery().in_recovery(),
            mss: mss.bytes().get(),
        };
        let Some(feedback) = &mut self.feedback else { return false };
        let marked = feedback.count(&ack) > 0;
        self.marks.set_echoed(marked);
        if self.states.are_linux() {
            // What follows is found when the ACK has been taken in.
            return marked;
        }
        if marked {
            self.marks.bar_undo();
        }
        if self.marks.measures() && counted > Bytes::ZERO {
            self.report_marks(flight, counted, marked);
        }
        let before = Seq::new(una.get() - newly_acked.get());
        if marked && self.marks.may_reduce(before) {
            self.on_congestion(view, self.marks.signal(), stats);
        }
        self.marks.set_echoed(false);
        marked
    }

    /// The marked part of what the last ACK delivered: exactly, where the peer counts, else all or nothing.
    pub(in crate::sender::allowance) fn marked_part(&self, counted: Bytes, marked: bool) -> Bytes {
        match &self.feedback {
            Some(feedback) => feedback.marked_part(counted),
            None if marked => counted,
            None => Bytes::ZERO,
        }
    }
}
