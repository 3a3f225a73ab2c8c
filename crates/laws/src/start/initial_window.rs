//! The first window after the handshake.

use ackclock_units::{Bytes, Mss};

use crate::words::{Choice, Row, Slot, whole_number};

/// A first window, as a name spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowChoice {
    /// RFC 3390 §1: min(4 MSS, max(2 MSS, 4380 bytes)).
    Rfc3390,
    /// A number of segments.
    Segments(u32),
}

/// The largest `iw<N>`: RFC 6928 asks for ten; a thousand is already a burst of 1.5 MB.
pub(super) const LARGEST_INITIAL_WINDOW: u32 = 1000;

impl Choice for WindowChoice {
    const SLOT: Slot = Slot::Window;

    const FORMS: &'static [(&'static str, &'static str)] = &[("iw<N>", "N segments, 1 to 1000")];

    fn rows() -> &'static [Row<Self>] {
        &[Row {
            word: "rfc3390",
            argument: None,
            choice: Self::Rfc3390,
            help: "min(4 MSS, max(2 MSS, 4380 B)) (RFC 3390)",
        }]
    }

    fn read(word: &str, argument: Option<&str>) -> Option<Self> {
        let digits = word.strip_prefix("iw").filter(|_| argument.is_none())?;
        whole_number(digits, 1, LARGEST_INITIAL_WINDOW).map(Self::Segments)
    }

    fn spell(self) -> Option<String> {
        let Self::Segments(n) = self else { return None };
        Some(format!("iw{n}"))
    }
}

impl From<u32> for WindowChoice {
    fn from(segments: u32) -> Self {
        Self::Segments(segments)
    }
}

impl WindowChoice {
    /// The window for segments of `mss`.
    pub fn window(self, mss: Mss) -> Bytes {
        match self {
            Self::Rfc3390 => mss.times(4).min(mss.times(2).max(Bytes::new(4380))),
            Self::Segments(n) => mss.times(u64::from(n)),
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
}
