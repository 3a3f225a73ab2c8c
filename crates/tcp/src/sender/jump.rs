//! Jumps past slow start, and what they need to know of a sender.

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Instant, Mss, Rate};

use super::Sender;

/// The phases of a jump past slow start, in the order of its life (RFC 9959 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JumpPhase {
    /// Before the jump: the start is as without it.
    Reconnaissance,
    /// Data of the jump goes out, paced over a round trip.
    Unvalidated,
    /// All of that data was sent, and not all of it is acknowledged.
    Validating,
    /// Some of it was lost.
    SafeRetreat,
    /// There is no jump, or all of it is over.
    Normal,
}

impl Sender {
    /// The window becomes `cwnd`, and what goes out from now on is paced at `rate`, where each
    /// segment counts `overhead` besides its payload.
    pub(crate) fn jump(
        &mut self,
        cwnd: Bytes,
        ssthresh: Option<Bytes>,
        rate: Rate,
        overhead: Bytes,
    ) {
        self.propose_jump(Some(cwnd), ssthresh);
        self.allowance.begin_jump(rate, overhead);
    }

    /// The paced round trip is over: the window is at most `cwnd` from now on, slow start limited
    /// (RFC 4782 §4.4 asks for RFC 3742).
    pub(crate) fn land(&mut self, cwnd: Bytes) {
        self.land_freely(cwnd);
        self.allowance.limit_slow_start();
    }

    /// The paced round trip is over: the window is at most `cwnd`, slow start as without a jump.
    pub(crate) fn land_freely(&mut self, cwnd: Bytes) {
        self.shrink_to(cwnd);
        self.end_jump_pace();
    }

    /// The jump is taken back: the window is at most `cwnd`, the threshold at most `ssthresh`.
    pub(crate) fn fall_back(&mut self, cwnd: Bytes, ssthresh: Bytes) {
        let least = self.allowance.ssthresh().map_or(ssthresh, |old| old.min(ssthresh));
        self.propose_jump(Some(self.allowance.cwnd().min(cwnd)), Some(least));
    }

    /// The threshold becomes `ssthresh`.
    pub(crate) fn set_ssthresh(&mut self, ssthresh: Bytes) {
        self.propose_jump(None, Some(ssthresh));
    }

    /// The window is at most `cwnd`.
    pub(super) fn shrink_to(&mut self, cwnd: Bytes) {
        if self.allowance.cwnd() > cwnd {
            self.propose_jump(Some(cwnd), None);
        }
    }

    /// A jump's pacing is over.
    pub(super) fn end_jump_pace(&mut self) {
        self.allowance.end_jump(&mut self.flight);
    }

    fn propose_jump(&mut self, cwnd: Option<Bytes>, ssthresh: Option<Bytes>) {
        self.allowance.propose_jump(cwnd, ssthresh, (&self.backlog, &self.flight));
    }

    /// Full segments are shorter by `bytes`, which an option takes; undone by
    /// [`set_mss`](Self::set_mss).
    pub(crate) fn shorten_segments(&mut self, bytes: u16) -> Mss {
        let whole = self.backlog.mss();
        self.backlog.set_mss(Mss::new(whole.get().saturating_sub(bytes).max(1)).unwrap_or(whole));
        whole
    }

    /// Full segments have `mss` of payload.
    pub(crate) const fn set_mss(&mut self, mss: Mss) {
        self.backlog.set_mss(mss);
    }

    /// SND.UNA.
    pub(crate) const fn una(&self) -> Seq {
        self.flight.una()
    }

    /// Bytes from `from` on that arrived, as far as is known.
    pub(crate) fn arrived_from(&self, from: Seq) -> Bytes {
        self.flight.una().since(from) + self.mss().times(self.tally().sacked)
    }

    /// True if nothing is under way and nothing was sent for a retransmission timeout.
    pub(crate) fn is_idle(&self, now: Instant) -> bool {
        self.flight.is_idle(now)
    }

    /// The first window of the connection.
    pub(crate) const fn initial_window(&self) -> Bytes {
        self.allowance.initial_window()
    }
}
