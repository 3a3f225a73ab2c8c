//! Appropriate byte counting: RFC 3465 (February 2003) §2.2 and §2.3.

use ackclock_units::Bytes;

use super::contract::{Law, SlowStart};
use crate::event::{Ack, SlowStartStep};
use crate::words::{Described, Word};

/// L (§2.3), in segments.
const L: u64 = 2;

/// cwnd += min(N, L) for an ACK of N new bytes; L is one segment in a slow start after a timeout, when
/// ACKs of data that had arrived before are common.
#[derive(Clone, Copy, Debug, Default)]
pub struct Abc {
    after_timeout: bool,
    /// The window at the last ACK. A smaller one at the next begins another slow start: after a
    /// timeout with one segment, after silence with more.
    last_cwnd: Bytes,
}

impl Described for Abc {
    type Settings = ();

    const WORDS: &'static [Word<()>] =
        &[Word::alone("abc", (), "the bytes of an ACK, at most two segments (RFC 3465)")];
}

impl Law for Abc {
    fn make((): ()) -> Self {
        Self::default()
    }
}

impl SlowStart for Abc {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, cwnd: Bytes, _: Option<Bytes>) -> SlowStartStep {
        if cwnd < self.last_cwnd {
            self.after_timeout = cwnd <= ack.mss.bytes();
        }
        self.last_cwnd = cwnd;
        let most = if self.after_timeout { 1 } else { L };
        SlowStartStep::grow(ack.newly_acked.min(ack.mss.times(most)))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::tests::Path;
    use super::*;

    pub const SEGMENT: u64 = 1000;

    /// The windows, in segments, after ACKs of so many.
    pub fn windows<L: SlowStart>(path: &mut Path<L>, acks: &[u64]) -> Vec<u64> {
        acks.iter()
            .map(|segments| {
                path.ack(*segments, None);
                path.cwnd.get() / SEGMENT
            })
            .collect()
    }

    #[test]
    fn an_ack_buys_two_segments_at_most_and_one_while_a_timeout_is_repaired() {
        let mut path = Path::new(Abc::default(), 10);
        assert_eq!(windows(&mut path, &[1, 2, 3, 5]), [11, 13, 15, 17]);
        (path.cwnd, path.ssthresh) = (Bytes::new(SEGMENT), Some(Bytes::new(8 * SEGMENT)));
        assert_eq!(windows(&mut path, &[1, 2, 2]), [2, 3, 4]);
        path.cwnd = Bytes::new(2 * SEGMENT);
        assert_eq!(windows(&mut path, &[1, 2]), [3, 5], "after silence");
    }

    #[test]
    fn a_first_window_of_one_segment_is_no_timeout() {
        let mut path = Path::new(Abc::default(), 1);
        assert_eq!(windows(&mut path, &[1, 2, 2]), [2, 4, 6]);
    }
}
