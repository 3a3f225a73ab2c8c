//! The first window after the handshake.

use ackclock_units::{Bytes, Mss};

use crate::event::Handshake;

/// A first window, as a name spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowChoice {
    /// RFC 3390 §1: min(4 MSS, max(2 MSS, 4380 bytes)).
    Rfc3390,
    /// So many segments.
    Segments(u32),
}

impl WindowChoice {
    /// The window for segments of `mss`.
    pub fn window(self, mss: Mss) -> Bytes {
        match self {
            Self::Rfc3390 => mss.times(4).min(mss.times(2).max(Bytes::new(4380))),
            Self::Segments(n) => mss.times(u64::from(n)),
        }
    }

    /// The window once the handshake is done: one segment if the SYN or SYN-ACK had to be sent
    /// again (RFC 5681 §3.1).
    pub fn after(self, handshake: &Handshake) -> Bytes {
        if handshake.retransmissions > 0 {
            handshake.mss.bytes()
        } else {
            self.window(handshake.mss)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_3390_gives_two_to_four_segments() {
        // min(4*1460, max(2*1460, 4380)) = min(5840, 4380) = 4380; min(4*536, 4380) = 2144;
        // min(4*2190, max(4380, 4380)) = 4380; min(4*9000, max(18000, 4380)) = 18000.
        for (mss, bytes) in [(1460, 4380), (536, 2144), (2190, 4380), (9000, 18000)] {
            let mss = Mss::new(mss).unwrap();
            assert_eq!(WindowChoice::Rfc3390.window(mss), Bytes::new(bytes));
        }
    }

    #[test]
    fn a_lost_syn_leaves_one_segment() {
        let mss = Mss::default();
        let after =
            |retransmissions| WindowChoice::Segments(10).after(&Handshake { retransmissions, mss });
        assert_eq!(after(0), Bytes::new(14_600));
        assert_eq!(after(1), Bytes::new(1_460));
    }
}
