//! Appropriate byte counting without a limit: Linux's slow start (`tcp_slow_start` of `net/ipv4/tcp_cong.c`, Linux 6.18).

use ackclock_units::Bytes;

use super::contract::{Law, SlowStart};
use crate::event::{Ack, SlowStartStep};
use crate::words::{Described, Word};

/// cwnd grows by all that an ACK delivers, up to ssthresh; the rest counts in avoidance.
#[derive(Clone, Copy, Debug)]
pub struct AbcUnlimited;

impl Described for AbcUnlimited {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::with(
        "abc",
        "unlimited",
        (),
        "all that an ACK delivers, up to the threshold (Linux)",
    )];
}

impl Law for AbcUnlimited {
    fn make((): ()) -> Self {
        Self
    }
}

impl SlowStart for AbcUnlimited {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, cwnd: Bytes, ssthresh: Option<Bytes>) -> SlowStartStep {
        let delivered = ack.newly_delivered;
        // A law whose windows are real numbers may be below its threshold by less than a byte: without one more byte it
        // would stay there.
        let room =
            |ssthresh: Bytes| delivered.min(ssthresh.saturating_sub(cwnd).max(Bytes::new(1)));
        let increase = ssthresh.map_or(delivered, room);
        SlowStartStep { increase, exit: false, left_over: delivered.saturating_sub(increase) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::abc::tests::{SEGMENT, windows};
    use super::super::tests::Path;
    use super::*;

    #[test]
    fn without_a_limit_the_window_grows_by_all_that_arrived_up_to_the_threshold() {
        // Measured with Linux 6.18, for an initial window of ten and for the threshold of 28 that a
        // loss of 40 segments left.
        let mut path = Path::new(AbcUnlimited, 10);
        assert_eq!(windows(&mut path, &[2, 3, 5, 10]), [12, 15, 20, 30]);
        (path.cwnd, path.ssthresh) = (Bytes::new(SEGMENT), Some(Bytes::new(28 * SEGMENT)));
        assert_eq!(windows(&mut path, &[1, 2, 4, 8, 16]), [2, 4, 8, 16, 28]);
        assert_eq!(path.left_over, Bytes::new(4 * SEGMENT));
    }

    #[test]
    fn a_threshold_within_a_byte_is_passed() {
        let mut path = Path::new(AbcUnlimited, 10);
        path.ssthresh = Some(path.cwnd);
        let before = path.cwnd;
        windows(&mut path, &[1]);
        assert_eq!(path.cwnd, before + Bytes::new(1));
    }
}
