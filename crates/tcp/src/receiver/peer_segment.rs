//! The length of the peer's full segments, which nothing announces: its MSS option is only what it
//! can take.

use ackclock_packet::Flags;
use ackclock_units::{Bytes, Mss};

/// Linux's estimate (`rcv_mss`).
#[derive(Clone, Copy, Debug)]
pub(super) struct PeerSegment {
    full: Bytes,
    /// The length of the last segment that was shorter.
    shorter: Bytes,
}

/// The length taken for a full segment until one has come (RFC 9293 §3.7.1), and the least to believe.
const FIRST: Bytes = Bytes::new(536);
const LEAST: Bytes = Bytes::new(88);

impl Default for PeerSegment {
    fn default() -> Self {
        Self { full: FIRST, shorter: Bytes::ZERO }
    }
}

impl PeerSegment {
    /// The handshake agreed on segments of at most `mss`.
    pub(super) fn expecting(mss: Mss) -> Self {
        Self { full: mss.bytes().min(FIRST).max(LEAST), ..Self::default() }
    }

    pub(super) const fn get(&self) -> Bytes {
        self.full
    }

    /// A segment of `len` came; returns whether it is a full one of a new length.
    pub(super) fn measure(&mut self, len: Bytes, flags: Flags) -> bool {
        if len >= self.full {
            let moved = len != self.full;
            *self = Self { full: len, shorter: Bytes::ZERO };
            return moved;
        }
        // Shorter ones end a write, unless two of the same length follow one another.
        let believable = len >= FIRST || (len >= LEAST && flags == Flags::ACK);
        if believable && len == self.shorter {
            self.full = len;
        }
        self.shorter = if believable { len } else { Bytes::ZERO };
        false
    }

    /// The number of full segments in half of `window`.
    pub(super) const fn quick_window(&self, window: Bytes) -> u64 {
        window.get() / (2 * self.full.get())
    }
}
