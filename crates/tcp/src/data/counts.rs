//! Marks as accurate ECN counts them (RFC 9768 §3.2.1).

use ackclock_packet::{AccurateEcn, Ecn};

/// The first value of the counter of marked packets (RFC 9768 §3.2.1).
pub const FIRST_COUNT: u64 = 5;

/// An ACK's report of marks, as it came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AceReport {
    /// The three bits of the header.
    pub(crate) ace: u8,
    /// The counters of bytes.
    pub(crate) option: Option<AccurateEcn>,
    /// True if the segment's timestamp is newer than any before.
    pub(crate) newer: bool,
}

/// Packets and bytes by their ECN field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounts {
    /// Packets with congestion experienced, those without data among them.
    pub ce_packets: u64,
    /// Bytes of payload with ECT(1), with congestion experienced, and with ECT(0).
    pub bytes: [u64; 3],
}

impl EcnCounts {
    /// The place of a field's bytes; `None` of a packet that is not ECN-capable.
    pub const fn place(ecn: Ecn) -> Option<usize> {
        match ecn {
            Ecn::NotEct => None,
            Ecn::Ect1 => Some(0),
            Ecn::Ce => Some(1),
            Ecn::Ect0 => Some(2),
        }
    }

    /// The places of the option's counters in their order.
    pub(crate) const fn places(ect1_first: bool) -> [usize; 3] {
        if ect1_first { [0, 1, 2] } else { [2, 1, 0] }
    }

    /// The counter of a place as the option has it: those of ECT begin at 1, so that a zero shows a middlebox (§3.2.1).
    pub(crate) const fn shown(self, place: usize) -> u32 {
        let first = (place != 1) as u64;
        ((self.bytes[place] + first) & 0xff_ffff) as u32
    }

    /// The counter of marked packets as the header has it.
    pub(crate) const fn ace(self) -> u8 {
        ((self.ce_packets + FIRST_COUNT) % 8) as u8
    }
}
