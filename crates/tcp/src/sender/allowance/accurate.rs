//! The sender's belief about marks under accurate ECN: RFC 9768 §3.2.2.5 and appendix A, and Linux 7.2's
//! `tcp_accecn_process`.
//!
//! The peer's counter of marked packets comes in three bits, and wraps; its counters of bytes come in an option that may
//! be missing. An ACK that acknowledges more than seven packets may stand for eight marks more than it shows.

mod decoding;

use ackclock_packet::AccurateEcn;
use ackclock_units::Bytes;

use crate::data::counts::{AceReport, EcnCounts, FIRST_COUNT};
use decoding::{Delta, linux, rfc};

/// The peer's option as it has been seen so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Seen {
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
    pub(super) believed: EcnCounts,
    /// Segments delivered when the last ACK was taken.
    delivered: u64,
    pub(super) report: Option<AceReport>,
    pub(super) seen: Seen,
    /// The one counter that changed last: without an option, what is delivered is taken for the same (Linux).
    last_changed: Option<usize>,
    /// Packets an ACK stands for, averaged, in 64ths (Linux 7's `pkts_acked_ewma`).
    packets_per_ack: u64,
    /// The handshake's bits came zeroed: marks are not believed.
    pub(super) deaf: bool,
    /// The option's counter of marked bytes grew although the header's did not.
    pub(super) mangled: bool,
    /// The packets that the last ACK delivered, those of them that were marked, and marked bytes where they are known.
    last: (u64, u64, Option<u64>),
}

/// The first 2^23 bytes tell whether counters of 24 bits have wrapped.
const LATE: u64 = (1 << 23) - 1;

impl AccurateFeedback {
    pub(super) fn new(linux: bool) -> Self {
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
    pub(super) fn see(&mut self, option: &AccurateEcn) {
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
    pub(super) fn count(&mut self, ack: &Counted) -> u64 {
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
    pub(super) fn marked_part(&self, counted: Bytes) -> Bytes {
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
pub(super) struct Counted {
    /// Segments delivered so far.
    pub(super) delivered: u64,
    /// Bytes that the ACK delivers.
    pub(super) bytes: u64,
    /// Bytes acknowledged so far.
    pub(super) acked: u64,
    /// The ACK moves SND.UNA.
    pub(super) progress: bool,
    /// Nothing is being repaired, or the peer sends SACKs.
    pub(super) calm: bool,
    pub(super) mss: u64,
}

#[cfg(test)]
mod tests;
