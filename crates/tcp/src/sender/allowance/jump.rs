//! Jumps past slow start: a larger window, paced for its first round trip.

use ackclock_laws::event::{Proposal, Why};
use ackclock_units::{Bytes, Instant, Rate};

use super::Allowance;
use crate::sender::backlog::Backlog;
use crate::sender::flight::Flight;

impl Allowance {
    /// Data goes out at `rate` from now on, where each segment counts `overhead` besides its payload.
    pub(in crate::sender) fn begin_jump(&mut self, rate: Rate, overhead: Bytes) {
        self.pacer.begin_jump(rate, overhead);
        self.paces = true;
    }

    /// A jump's pacing is over.
    pub(in crate::sender) fn end_jump(&mut self, flight: &mut Flight) {
        self.pacer.end_jump();
        flight.set_paced_at(Instant::NEVER);
        self.begin_pacing();
    }

    /// Slow start is limited from now on (RFC 3742).
    pub(in crate::sender) fn limit_slow_start(&mut self) {
        self.start.limit();
    }

    /// A jump asks for a window and a threshold.
    pub(in crate::sender) fn propose_jump(
        &mut self,
        cwnd: Option<Bytes>,
        ssthresh: Option<Bytes>,
        (backlog, flight): (&Backlog, &Flight),
    ) {
        let was_in_slow_start = self.growth.in_slow_start();
        self.growth.rebase(&Proposal { cwnd, ssthresh, mss: backlog.mss(), why: Why::Jump });
        match (was_in_slow_start, self.growth.in_slow_start()) {
            (true, false) => self.avoidance_from = Some(flight.max()),
            (false, true) => self.avoidance_from = None,
            _ => {}
        }
    }
}
