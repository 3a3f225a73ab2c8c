//! The sender's belief about marks under accurate ECN: RFC 9768 §3.2.2.5 and appendix A, and Linux 7.2's
//! `tcp_accecn_process`.
//!
//! The peer's counter of marked packets comes in three bits, and wraps; its counters of bytes come in an option that may
//! be missing. An ACK that acknowledges more than seven packets may stand for eight marks more than it shows.

mod decoding;

use ackclock_packet::{AccurateEcn, Seq};
use ackclock_units::Bytes;

use super::{Allowance, View};
use crate::data::counts::{AceReport, EcnCounts, FIRST_COUNT};
use crate::recovery::Recovery;
use crate::sender::stats::SenderStats;
use decoding::{Delta, linux, rfc};

/// The peer's option as it has been seen so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    Never,
    /// Without counters.
    Empty,
    Counters,
    /// A middlebox zeroes it, or it came too late for its counters to be told from wrapped ones.
    Unusable,
}

/// The state of the decoding.
#[derive(Debug)]
pub(super) struct AccurateFeedback {
    linux: bool,
    believed: EcnCounts,
    /// Segments delivered when the last ACK was taken.
    delivered: u64,
    report: Option<AceReport>,
    seen: Seen,
    /// The one counter that changed last: without an option, what is delivered is taken for the same (Linux).
    last_changed: Option<usize>,
    /// Packets an ACK stands for, averaged, in 64ths (Linux 7's `pkts_acked_ewma`).
    packets_per_ack: u64,
    /// The handshake's bits came zeroed: marks are not believed.
    deaf: bool,
    /// The option's counter of marked bytes grew although the header's did not.
    mangled: bool,
    /// The packets that the last ACK delivered, those of them that were marked, and marked bytes where they are known.
    last: (u64, u64, Option<u64>),
}

/// The first 2^23 bytes tell whether counters of 24 bits have wrapped.
const LATE: u64 = (1 << 23) - 1;

impl AccurateFeedback {
    fn new(linux: bool) -> Self {
        Self {
            linux,
            believed: EcnCounts::default(),
            delivered: 0,
            report: None,
            seen: Seen::Never,
            last_changed: None,
            packets_per_ack: 0,
            deaf: false,
            mangled: false,
            last: (0, 0, None),
        }
    }

    /// The first option that comes says whether a middlebox zeroes it (§3.2.3.2.4).
    fn see(&mut self, option: &AccurateEcn) {
        if self.seen >= Seen::Counters {
            return;
        }
        let places = EcnCounts::places(option.ect1_first);
        let zeroed = option.counters().iter().zip(places).any(|(n, place)| *n == 0 && place != 1);
        self.seen = if option.counters().is_empty() {
            Seen::Empty
        } else if zeroed {
            Seen::Unusable
        } else {
            Seen::Counters
        };
    }

    /// Takes the counters of an ACK that delivers `bytes`; marked bytes among them, if they are known.
    fn take_bytes(&mut self, report: &AceReport, bytes: u64, acked: u64) -> Option<u64> {
        if let Some(option) = &report.option {
            self.see(option);
        }
        if self.seen == Seen::Unusable {
            return None;
        }
        let Some(option) = &report.option else {
            if self.seen == Seen::Never {
                if acked >= LATE {
                    self.seen = Seen::Unusable;
                }
                return None;
            }
            let place = self.last_changed.filter(|_| self.linux)?;
            self.believed.bytes[place] += bytes;
            return Some(if place == 1 { bytes } else { 0 });
        };
        let mut known = !self.linux || self.last_changed.is_some();
        let (mut changed, mut several, mut marked) = (None, false, 0);
        for (n, place) in option.counters().iter().zip(EcnCounts::places(option.ect1_first)) {
            let ahead = n.wrapping_sub(self.believed.shown(place)) & 0xff_ffff;
            if ahead >> 23 > 0 {
                // Behind what is believed already.
                (known, several) = (false, true);
                continue;
            }
            if ahead > 0 {
                self.believed.bytes[place] += u64::from(ahead);
                if place == 1 {
                    marked = u64::from(ahead);
                }
                several |= changed.is_some();
                changed = Some(place);
            }
        }
        if several {
            self.last_changed = None;
        } else if changed.is_some() {
            self.last_changed = changed;
        }
        // An option of one counter may lack that of marked bytes.
        known &= option.counters().len() > 1;
        known.then_some(marked)
    }

    /// The newly marked packets of an ACK.
    fn count(&mut self, ack: &Counted) -> u64 {
        let packets = ack.delivered.saturating_sub(self.delivered);
        self.delivered = self.delivered.max(ack.delivered);
        self.last = (packets, 0, None);
        let Some(report) = self.report.take() else { return 0 };
        if !(ack.progress || packets > 0 || report.newer) {
            return 0;
        }
        let marked_bytes = self.take_bytes(&report, ack.bytes, ack.acked);
        if packets > 0 {
            let sample = packets << 6;
            self.packets_per_ack = match self.packets_per_ack {
                0 => sample,
                before => ((before << 6) - before + sample) >> 6,
            };
        }
        let ace = u64::from(report.ace);
        // 16, so that nothing is below zero.
        let shown = (ace + 16 - FIRST_COUNT - self.believed.ce_packets % 8) % 8;
        let delta = Delta { shown, packets, bytes: ack.bytes, marked_bytes, mss: ack.mss };
        let marked = if self.linux {
            linux(&delta, ack.calm, self.packets_per_ack)
        } else {
            self.mangled |= packets < 8 && shown == 0 && marked_bytes.is_some_and(|n| n > 0);
            rfc(&delta)
        };
        if self.deaf {
            return 0;
        }
        self.believed.ce_packets += marked;
        self.last = (packets, marked, marked_bytes);
        marked
    }

    /// The marked part of `counted`, which the last ACK delivered.
    fn marked_part(&self, counted: Bytes) -> Bytes {
        let (packets, marked, bytes) = self.last;
        let part = match bytes.filter(|_| !self.linux) {
            Some(bytes) if marked > 0 => bytes.min(counted.get()),
            _ if packets == 0 => 0,
            _ => counted.get() * marked.min(packets) / packets,
        };
        Bytes::new(part)
    }
}

/// An ACK as the decoding needs it.
#[derive(Clone, Copy, Debug)]
struct Counted {
    /// Segments delivered so far.
    delivered: u64,
    /// Bytes that the ACK delivers.
    bytes: u64,
    /// Bytes acknowledged so far.
    acked: u64,
    /// The ACK moves SND.UNA.
    progress: bool,
    /// Nothing is being repaired, or the peer sends SACKs.
    calm: bool,
    mss: u64,
}

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

#[cfg(test)]
mod tests;
