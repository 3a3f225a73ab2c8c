//! Appropriate byte counting: RFC 3465 (February 2003) §2.2 and §2.3, and Linux's slow start, which
//! has no limit (`tcp_slow_start` of `net/ipv4/tcp_cong.c`, Linux 6.18).

use ackclock_units::Bytes;

use super::contract::SlowStart;
use crate::event::{Ack, SlowStartStep};

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

/// cwnd grows by all that an ACK delivers, up to ssthresh; the rest counts in avoidance.
#[derive(Clone, Copy, Debug)]
pub struct AbcUnlimited;

impl SlowStart for AbcUnlimited {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, cwnd: Bytes, ssthresh: Option<Bytes>) -> SlowStartStep {
        let delivered = ack.newly_delivered;
        let increase =
            ssthresh.map_or(delivered, |ssthresh| delivered.min(ssthresh.saturating_sub(cwnd)));
        SlowStartStep { increase, exit: false, left_over: delivered.saturating_sub(increase) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Path;
    use super::*;

    const SEGMENT: u64 = 1000;

    /// The windows, in segments, after ACKs of so many.
    fn windows<L: SlowStart>(path: &mut Path<L>, acks: &[u64]) -> Vec<u64> {
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
}
