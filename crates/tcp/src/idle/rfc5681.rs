//! Restart after idle: RFC 5681 §4.1.

use super::contract::{Idle, Usage};
use crate::event::{Proposal, Why};

/// From when silence counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleClock {
    /// The last segment sent, as RFC 5681 says.
    LastSend,
    /// The ACK of everything: the retransmission timer goes on running after it and restarts the
    /// window when it expires (ns-2 with `slow_start_restart_`).
    Timer,
}

/// If nothing was sent for more than an RTO, cwnd = min(RW, cwnd), where RW = IW; ssthresh is
/// untouched.
#[derive(Clone, Copy, Debug)]
pub struct Rfc5681 {
    clock: IdleClock,
    /// RW in segments; `None` is the first window of the connection.
    restart_window: Option<u32>,
}

impl Rfc5681 {
    /// The rule, with silence counted by `clock` and a restart window of so many segments, or of
    /// the connection's first window.
    pub const fn new(clock: IdleClock, restart_window: Option<u32>) -> Self {
        Self { clock, restart_window }
    }
}

impl Idle for Rfc5681 {
    #[inline]
    fn before_send(&mut self, usage: &Usage) -> Option<Proposal> {
        let restarts = match self.clock {
            IdleClock::LastSend => usage.now.since(usage.last_send?) > usage.rto,
            IdleClock::Timer => usage.now.since(usage.all_acked_at?) >= usage.rto,
        };
        let window = self
            .restart_window
            .map_or(usage.initial_window, |segments| usage.mss.times(u64::from(segments)));
        (restarts && usage.cwnd > window).then_some(Proposal {
            cwnd: Some(window),
            ssthresh: None,
            mss: usage.mss,
            why: Why::Idle,
        })
    }
}
