//! What the window's use is told to the growth law and to the idle rule.

use ackclock_units::{Bytes, Duration, Instant};

use super::Sender;
use crate::event::{Ack, Feedback, Proposal, Why};
use crate::idle::{Idle, Usage};
use crate::recovery::Recovery;

impl Sender {
    /// An ACK as the four choices see it.
    #[inline]
    pub(super) fn ack_event(
        &self,
        now: Instant,
        newly_acked: Bytes,
        rtt: Option<Duration>,
        in_flight_before: Bytes,
    ) -> Ack {
        Ack {
            now,
            newly_acked,
            newly_delivered: self.flight.recovery.newly_delivered().unwrap_or(newly_acked),
            una: self.flight.space.una,
            nxt: self.flight.space.nxt,
            rtt,
            srtt: self.flight.rtt.srtt(),
            in_flight_before,
            in_flight: self.in_flight(),
            limited_by: self.allowance.limited_by,
            in_recovery: self.flight.recovery.in_recovery(),
            may_grow: true,
            mss: self.backlog.mss,
        }
    }

    /// Routers have said something.
    pub(crate) fn on_feedback(&mut self, feedback: &Feedback) {
        self.allowance.growth.on_feedback(feedback);
    }

    #[inline]
    pub(super) fn propose_after_idle(&mut self, now: Instant) {
        if self.flight.space.una == self.flight.space.max {
            self.ask_after_idle(now);
        }
    }

    fn ask_after_idle(&mut self, now: Instant) {
        let unused =
            self.flight.last_send == Instant::NEVER && self.flight.all_acked_at == Instant::NEVER;
        if self.allowance.idle.says_nothing(unused) {
            return;
        }
        let proposal = self.allowance.idle.before_send(&self.usage(now));
        self.take_proposal(proposal);
    }

    /// Something went out, and nothing more does for now.
    #[inline]
    pub(super) fn propose_after_burst(&mut self, now: Instant) {
        if self.allowance.looks_after_bursts {
            let proposal = self.allowance.idle.after_burst(&self.usage(now));
            self.take_proposal(proposal);
        }
    }

    /// The volume that the reduction for a loss or a mark starts from, where the idle rule has its
    /// own idea of it; the window comes down to it first, so that no law reduces what was not used.
    pub(super) fn reduce_from_used(&mut self, now: Instant) -> Option<Bytes> {
        let used = self.allowance.idle.on_loss(&self.usage(now))?;
        let proposal =
            Proposal { cwnd: Some(used), ssthresh: None, mss: self.backlog.mss, why: Why::Idle };
        self.take_proposal(Some(proposal));
        Some(used)
    }

    /// The most that the window is to be after a repair, by recovery and by the idle rule.
    pub(super) fn at_most_after_repair(&mut self, at_most: Option<Bytes>) -> Option<Bytes> {
        let again = Bytes::new(self.stats.retransmitted_bytes - self.allowance.again_at_loss);
        let by_use = self.allowance.idle.after_repair(self.allowance.reduced_to, again);
        let by_use = by_use.map(|window| window.max(self.backlog.mss.bytes()));
        match (at_most, by_use) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    fn usage(&self, now: Instant) -> Usage {
        Usage {
            now,
            last_send: self.flight.last_send.if_ever(),
            all_acked_at: self.flight.all_acked_at.if_ever(),
            rto: self.flight.rtt.rto(),
            unclamped_rto: self.flight.rtt.unclamped_rto(),
            srtt: self.flight.rtt.srtt(),
            cwnd: self.allowance.growth.cwnd(),
            ssthresh: self.allowance.growth.ssthresh(),
            in_slow_start: self.allowance.growth.in_slow_start(),
            in_flight: self.in_flight(),
            outstanding: self.flight.space.max.since(self.flight.space.una),
            una: self.flight.space.una,
            nxt: self.flight.space.max,
            limited_by: self.allowance.limited_by,
            peer_window: self.backlog.rwnd,
            undisturbed: !self.flight.recovery.in_recovery()
                && self.flight.consecutive_timeouts == 0,
            initial_window: self.allowance.initial_window,
            mss: self.backlog.mss,
        }
    }

    fn take_proposal(&mut self, proposal: Option<Proposal>) {
        if let Some(proposal) = proposal {
            self.allowance.growth.rebase(&proposal);
            if self.allowance.growth.in_slow_start() {
                self.allowance.avoidance_from = None;
            }
        }
    }
}
