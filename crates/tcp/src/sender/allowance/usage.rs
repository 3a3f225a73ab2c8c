//! The use of the window, as the growth law and the idle rule are told it.

use ackclock_laws::event::{Ack, Proposal, Why};
use ackclock_laws::idle::{Idle, Usage};
use ackclock_laws::start::Start;
use ackclock_units::{Bytes, Mss};

use super::{Allowance, Taken, View};
use crate::recovery::Recovery;
use crate::sender::stats::SenderStats;

impl Allowance {
    /// An ACK as the four choices see it.
    #[inline]
    pub(super) fn ack_event(&self, view: View<'_>, taken: &Taken) -> Ack {
        let flight = view.flight;
        Ack {
            now: view.now,
            newly_acked: taken.newly_acked,
            newly_delivered: flight.recovery().newly_delivered().unwrap_or(taken.newly_acked),
            una: flight.una(),
            nxt: flight.nxt(),
            rtt: taken.rtt,
            srtt: flight.srtt(),
            in_flight_before: taken.in_flight_before,
            in_flight: view.in_flight(),
            limited_by: self.limited_by,
            in_recovery: flight.recovery().in_recovery(),
            may_grow: true,
            paced: self.paces,
            mss: view.mss(),
        }
    }

    /// New data may go out: the idle rule looks at the pause before it.
    #[inline]
    pub(in crate::sender) fn propose_after_idle(
        &mut self,
        view: View<'_>,
        stats: &mut SenderStats,
    ) {
        if view.flight.is_empty() {
            self.ask_after_idle(view, stats);
        }
    }

    fn ask_after_idle(&mut self, view: View<'_>, stats: &mut SenderStats) {
        if self.idle.says_nothing(view.flight.is_unused()) {
            return;
        }
        let proposal = self.idle.before_send(&self.usage(view));
        let before = self.growth.cwnd();
        self.take_proposal(proposal);
        if self.growth.cwnd() < before {
            stats.idle_restarts += 1;
        }
    }

    /// A segment with data goes out.
    #[inline]
    pub(in crate::sender) const fn note_sent(&mut self, len: Bytes) {
        // A window probe is no use of the window.
        self.sent_in_burst |= len.get() > 0;
    }

    /// Nothing more goes out for now.
    #[inline]
    pub(in crate::sender) fn end_burst(&mut self, view: View<'_>) {
        if std::mem::take(&mut self.sent_in_burst) && self.looks_after_bursts {
            let proposal = self.idle.after_burst(&self.usage(view));
            self.take_proposal(proposal);
        }
    }

    /// The volume that the reduction for a loss or a mark starts from, where the idle rule has its
    /// own idea of it; the window comes down to it first, so that no law reduces what was not used.
    pub(super) fn reduce_from_used(&mut self, view: View<'_>) -> Option<Bytes> {
        let used = self.idle.on_loss(&self.usage(view))?;
        let proposal =
            Proposal { cwnd: Some(used), ssthresh: None, mss: view.mss(), why: Why::Idle };
        self.take_proposal(Some(proposal));
        Some(used)
    }

    /// The most that the window is to be after a repair, by recovery and by the idle rule.
    pub(super) fn at_most_after_repair(
        &mut self,
        view: View<'_>,
        at_most: Option<Bytes>,
        stats: &SenderStats,
    ) -> Option<Bytes> {
        let again = Bytes::new(stats.retransmitted_bytes - self.again_at_loss);
        let by_use = self.idle.after_repair(self.reduced_to, again);
        let by_use = by_use.map(|window| window.max(view.mss().bytes()));
        match (at_most, by_use) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// A slow-start law may have a word on the window during the first repair.
    pub(in crate::sender) fn follow_repair(
        &mut self,
        view: View<'_>,
        taken: &Taken,
        stats: &SenderStats,
    ) {
        let (recovery, mss) = (view.flight.recovery(), view.mss());
        if !self.start.follows_repair() || !recovery.in_recovery() {
            return;
        }
        let tally = view.flight.tally(mss);
        let again = Bytes::new(stats.retransmitted_bytes - self.again_at_loss);
        let lost = again + mss.times(tally.lost.saturating_sub(tally.resent));
        let delivered = recovery.newly_delivered().unwrap_or(taken.newly_acked);
        if let Some(window) = self.start.in_repair(self.reduced_to, delivered, lost) {
            let cwnd = Some(window.max(mss.times(2)));
            self.growth.rebase(&Proposal { cwnd, ssthresh: None, mss, why: Why::Jump });
        }
    }

    /// It may have one on what the first repair leaves.
    pub(super) fn settle_first_repair(&mut self, mss: Mss) {
        if let Some(window) = self.start.after_repair() {
            let window = Some(window.max(mss.times(2)));
            let (cwnd, ssthresh) = (window, window);
            self.growth.rebase(&Proposal { cwnd, ssthresh, mss, why: Why::Jump });
        }
    }

    fn usage(&self, view: View<'_>) -> Usage {
        let flight = view.flight;
        Usage {
            now: view.now,
            last_send: flight.last_send(),
            all_acked_at: flight.all_acked_at(),
            rto: flight.rto(),
            unclamped_rto: flight.rtt().unclamped_rto(),
            srtt: flight.srtt(),
            cwnd: self.growth.cwnd(),
            ssthresh: self.growth.ssthresh(),
            in_slow_start: self.growth.in_slow_start(),
            in_flight: view.in_flight(),
            outstanding: flight.outstanding(),
            una: flight.una(),
            nxt: flight.max(),
            limited_by: self.limited_by,
            peer_window: view.backlog.rwnd(),
            undisturbed: !flight.recovery().in_recovery() && flight.consecutive_timeouts() == 0,
            initial_window: self.initial_window,
            mss: view.mss(),
        }
    }
}
