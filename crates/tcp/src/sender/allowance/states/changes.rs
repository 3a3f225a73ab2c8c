//! The changes of state, and their consequences.

use ackclock_laws::event::{
    CaState, Proposal, RecoveryEnd, Signal, SlowStartStep, StateChange, Why,
};
use ackclock_laws::start::Start;
use ackclock_units::Bytes;

use crate::recovery::{Outcome, Recovery};
use crate::sender::allowance::states::Begun;
use crate::sender::allowance::{Allowance, Taken, View};
use crate::sender::flight::Flight;
use crate::sender::stats::SenderStats;

impl Allowance {
    fn enter(&mut self, view: View<'_>, to: CaState) {
        let from = std::mem::replace(&mut self.states.state, to);
        if self.states.told && from != to {
            self.tell_state(view, from, to);
        }
    }

    fn tell_state(&mut self, view: View<'_>, from: CaState, to: CaState) {
        let (una, nxt) = (view.flight.una(), view.flight.max());
        self.growth.on_state(&StateChange { now: view.now, from, to, una, nxt });
    }

    /// Nothing is being repaired any more: `tcp_try_keep_open`.
    fn reopen(&mut self, view: View<'_>) {
        // Whether something is SACKed matters to few laws, and takes a while to find out.
        let disorder = self.states.told && view.flight.tally(view.mss()).sacked > 0;
        self.enter(view, if disorder { CaState::Disorder } else { CaState::Open });
    }

    /// The consequences of an ACK. Answers whether the retransmission timer starts anew.
    pub(in crate::sender) fn respond(
        &mut self,
        view: View<'_>,
        taken: &Taken,
        stats: &mut SenderStats,
    ) -> bool {
        let echoed = self.marks.take_echoed();
        if self.marks.measures() {
            let counted = view.flight.recovery().newly_delivered().unwrap_or(taken.newly_acked);
            self.report_marks(view.flight, counted, echoed);
        }
        if taken.rtt.is_some() && self.start.follows_samples() {
            self.judge_slow_start(view, taken);
        }
        if echoed {
            self.marks.bar_undo();
        }
        if self.states.state > CaState::Disorder || self.states.told {
            self.leave_states(view, taken.outcome);
        }
        let mut grows = true;
        let mut restarts = true;
        match taken.outcome {
            Outcome::None => {
                grows = !view.flight.recovery().in_recovery() || self.grows_in_repair();
            }
            Outcome::Repaired { at_most } => self.on_repaired(view, at_most, stats),
            Outcome::PartlyRepaired { restart_timer } => {
                (grows, restarts) = (self.grows_in_repair(), restart_timer);
            }
            Outcome::LossFound => {
                grows = false;
                self.on_loss_found(view, echoed, stats);
            }
            Outcome::Spurious => {
                // A partial ACK that undoes does nothing else with its echo (tcp_try_undo_partial).
                let partial = self.states.state == CaState::Recovery
                    && view.flight.una() < self.states.high_seq;
                self.on_spurious(view, stats);
                // tcp_end_cwnd_reduction comes after tcp_try_undo_recovery.
                let ends = self.states.told && self.ends_recovery(view);
                if self.states.state != CaState::Cwr {
                    self.reopen(view);
                }
                if ends {
                    self.growth.on_complete();
                }
                if partial && echoed {
                    return restarts;
                }
            }
        }
        if echoed && grows && self.states.state <= CaState::Disorder {
            self.enter_cwr(view, true, stats);
        }
        // tcp_may_raise_cwnd.
        let on_sack = || view.flight.recovery().grows_on_sack() && !self.grows_in_repair();
        let forward = taken.newly_acked > Bytes::ZERO || on_sack();
        if grows && forward && self.states.state != CaState::Cwr {
            self.grow(view, taken);
            if self.hears_acks() {
                self.reduce_if_asked(view, stats);
            }
        }
        restarts
    }

    fn grows_in_repair(&self) -> bool {
        self.growth.wants().grows_in_repair
    }

    /// The end of CWR and of Loss, of a Recovery on which another one follows, and the change between Open and Disorder.
    fn leave_states(&mut self, view: View<'_>, outcome: Outcome) {
        let (una, high_seq) = (view.flight.una(), self.states.high_seq);
        match self.states.state {
            // CWR is held beyond what was sent at its beginning, as its echoes may be late.
            CaState::Cwr if una > high_seq => {
                self.end_reduction(view, None);
                self.reopen(view);
            }
            // The next reduction begins where this one has ended.
            CaState::Recovery if una >= high_seq && outcome == Outcome::LossFound => {
                self.enter(view, CaState::Open);
                self.end_reduction(view, None);
            }
            CaState::Loss if una >= high_seq && outcome != Outcome::Spurious => self.reopen(view),
            CaState::Open | CaState::Disorder if self.states.told => self.reopen(view),
            _ => {}
        }
    }

    /// True if the ACK ends Recovery, rather than a part of it or another state.
    pub(in crate::sender::allowance) fn ends_recovery(&self, view: View<'_>) -> bool {
        self.states.state == CaState::Recovery && view.flight.una() >= self.states.high_seq
    }

    fn end_reduction(&mut self, view: View<'_>, at_most: Option<Bytes>) {
        let in_flight = view.in_flight();
        // The growth by the ACK that ends the repair comes afterwards.
        let newly_delivered = Bytes::ZERO;
        let end =
            RecoveryEnd { now: view.now, in_flight, newly_delivered, at_most, mss: view.mss() };
        self.growth.on_recovery_end(&end);
        self.growth.on_complete();
    }

    fn on_repaired(&mut self, view: View<'_>, at_most: Option<Bytes>, stats: &SenderStats) {
        self.reopen(view);
        let at_most = self.at_most_after_repair(view, at_most, stats);
        self.end_reduction(view, at_most);
        self.settle_first_repair(view.mss());
    }

    /// `tcp_enter_recovery`.
    pub(in crate::sender) fn on_loss_found(
        &mut self,
        view: View<'_>,
        echoed: bool,
        stats: &mut SenderStats,
    ) {
        let repairs = view.flight.recovery().in_recovery();
        let paid = self.states.state == CaState::Cwr && repairs;
        if paid {
            // The mark has paid.
            self.marks.bar_undo();
        } else {
            self.on_congestion(view, Signal::Loss, stats);
            if echoed {
                self.marks.bar_undo();
            }
        }
        if !paid || view.flight.board().is_none() {
            self.states.high_seq = view.flight.max();
        }
        if repairs {
            self.enter(view, CaState::Recovery);
        } else {
            // A probe has repaired it (tcp_process_tlp_ack).
            self.reopen(view);
        }
    }

    /// `tcp_enter_cwr`; the ACK that leads to it counts as a delivery if `counts`.
    fn enter_cwr(&mut self, view: View<'_>, counts: bool, stats: &mut SenderStats) {
        self.states.begun = Some(Begun { prior: self.growth.cwnd(), counts });
        let signal = self.marks.signal();
        self.on_congestion(view, signal, stats);
        self.states.high_seq = view.flight.max();
        self.enter(view, CaState::Cwr);
    }

    /// Recovery takes the window down while CWR lasts, and the last ACK has moved SND.UNA if it `advanced`.
    #[inline]
    pub(in crate::sender) fn steer(&mut self, flight: &mut Flight, advanced: bool) {
        if let Some(begun) = self.states.begun.take() {
            self.states.comes_down = true;
            flight.begin_reduction(begun.prior, begun.counts.then_some(advanced));
        } else if self.states.comes_down && self.states.state != CaState::Cwr {
            self.states.comes_down = false;
            flight.end_reduction();
        }
    }

    /// A law that asks to reduce enters CWR as an echo does, after `tcp_cong_avoid`: the window is what it was until the
    /// next ACK.
    pub(in crate::sender::allowance) fn reduce_if_asked(
        &mut self,
        view: View<'_>,
        stats: &mut SenderStats,
    ) {
        if !self.growth.asks_to_reduce() {
            return;
        }
        if self.states.state > CaState::Disorder {
            // tcp_enter_cwr forgets what an undo would need all the same.
            self.marks.bar_undo();
            return;
        }
        let marks = stats.ecn_reductions;
        if self.states.linux {
            self.enter_cwr(view, false, stats);
        } else {
            self.on_congestion(view, self.marks.signal(), stats);
        }
        // No mark has come.
        stats.ecn_reductions = marks;
    }

    /// An echo on an ACK that says nothing else.
    pub(in crate::sender) fn on_bare_echo(&mut self, view: View<'_>, stats: &mut SenderStats) {
        if !self.marks.take_echoed() {
            return;
        }
        self.marks.bar_undo();
        if self.states.state <= CaState::Disorder {
            self.enter_cwr(view, false, stats);
        }
    }

    /// A timeout, as the law is told of it: `tcp_enter_loss` reduces no more in CWR and in Recovery, nor after a timeout without
    /// progress.
    pub(in crate::sender) fn timeout_signal(&self, flight: &Flight) -> Signal {
        let consecutive = flight.consecutive_timeouts();
        let reduced = self.states.linux
            && matches!(self.states.state, CaState::Cwr | CaState::Recovery)
            && flight.una() < self.states.high_seq;
        Signal::Timeout { consecutive: if reduced { consecutive.max(2) } else { consecutive } }
    }

    /// The timeout has cost what it costs.
    pub(in crate::sender) fn enter_loss(&mut self, view: View<'_>) {
        self.states.high_seq = view.flight.max();
        if self.states.told && self.states.state == CaState::Loss {
            // tcp_set_ca_state tells a module of each.
            self.tell_state(view, CaState::Loss, CaState::Loss);
        }
        self.enter(view, CaState::Loss);
        self.start.on_timeout(view.now, view.flight.max());
    }

    /// Slow start follows the delay on every sample, before anything else comes of the ACK: `cubictcp_acked`. In a reduction
    /// the window is the one that comes down, and below the threshold slow start is judged by it, too.
    fn judge_slow_start(&mut self, view: View<'_>, taken: &Taken) {
        let reduces =
            self.states.linux && matches!(self.states.state, CaState::Cwr | CaState::Recovery);
        let (own, ssthresh) = (self.growth.cwnd(), self.growth.ssthresh());
        let cwnd = if reduces { view.flight.recovery().window(own).min(own) } else { own };
        let judges = if reduces {
            ssthresh.is_some_and(|ssthresh| cwnd < ssthresh)
        } else {
            self.growth.in_slow_start()
        };
        if !judges {
            return;
        }
        let mut ack = self.ack_event(view, taken);
        let delays = self.growth.delays(view.now);
        if !delays.trusted {
            ack.rtt = None;
        }
        if !self.start.on_sample(&ack, delays.least, cwnd, ssthresh) {
            return;
        }
        if reduces {
            let (cwnd, ssthresh) = (Some(cwnd), Some(cwnd));
            self.growth.rebase(&Proposal { cwnd, ssthresh, mss: view.mss(), why: Why::Jump });
            return;
        }
        let step = SlowStartStep { exit: true, ..SlowStartStep::grow(Bytes::ZERO) };
        self.growth.on_ack(&ack, Some(step));
        self.avoidance_from = Some(view.flight.nxt());
    }
}

impl Allowance {
    /// The state.
    pub(in crate::sender) const fn state(&self) -> CaState {
        self.states.state
    }

    /// No reduction is under way, as a trace has it.
    pub(in crate::sender) const fn forget_state(&mut self) {
        self.states.state = CaState::Open;
    }
}
