//! Restart after idle: RFC 5681 §4.1.

use super::{Idle, Usage};
use crate::event::{Proposal, Why};

/// If no segment was sent for more than an RTO, cwnd = min(IW, cwnd); ssthresh is untouched.
#[derive(Clone, Copy, Debug)]
pub struct Rfc5681;

impl Idle for Rfc5681 {
    #[inline]
    fn before_send(&mut self, send: &Usage) -> Option<Proposal> {
        let idle = send.now.since(send.last_send?);
        (idle > send.rto && send.cwnd > send.initial_window).then_some(Proposal {
            cwnd: Some(send.initial_window),
            ssthresh: None,
            mss: send.mss,
            why: Why::Idle,
        })
    }
}
