//! Restart after idle: RFC 5681 §4.1.

use super::{BeforeSend, Idle};
use crate::event::{Proposal, Why};

/// If no segment was sent for more than an RTO, cwnd = min(IW, cwnd); ssthresh is untouched.
#[derive(Clone, Copy, Debug)]
pub struct Rfc5681;

impl Idle for Rfc5681 {
    #[inline]
    fn before_send(&mut self, send: &BeforeSend) -> Option<Proposal> {
        let idle = send.now.since(send.last_send?);
        (idle > send.rto && send.cwnd > send.initial_window).then_some(Proposal {
            cwnd: Some(send.initial_window),
            ssthresh: None,
            mss: send.mss,
            why: Why::Idle,
        })
    }
}

#[cfg(test)]
mod tests {
    use ackclock_units::{Bytes, Duration, Instant, Mss};

    use super::*;

    fn before(idle: Duration) -> Option<Bytes> {
        let last = Instant::from_nanos(5_000_000_000);
        let send = BeforeSend {
            now: last + idle,
            last_send: Some(last),
            rto: Duration::from_secs(1),
            cwnd: Bytes::new(100_000),
            initial_window: Bytes::new(4_380),
            mss: Mss::default(),
        };
        Rfc5681.before_send(&send).and_then(|proposal| proposal.cwnd)
    }

    #[test]
    fn the_window_restarts_after_more_than_an_rto() {
        assert_eq!(before(Duration::from_secs(1)), None);
        assert_eq!(before(Duration::from_millis(1_001)), Some(Bytes::new(4_380)));
    }
}
