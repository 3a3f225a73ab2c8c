//! The sender as it goes from state to state.

use super::Taken;
use crate::event::{CaState, RecoveryEnd, Signal, SlowStartStep, StateChange};
use crate::recovery::{Outcome, Recovery};
use crate::sender::Sender;
use crate::start::Start;
use ackclock_units::{Bytes, Instant};

impl Sender {
    fn enter(&mut self, now: Instant, to: CaState) {
        let from = std::mem::replace(&mut self.allowance.states.state, to);
        if self.allowance.states.told && from != to {
            let (una, nxt) = (self.flight.space.una, self.flight.space.max);
            self.allowance.growth.on_state(&StateChange { now, from, to, una, nxt });
        }
    }

    /// Nothing is being repaired any more: `tcp_try_keep_open`.
    fn reopen(&mut self, now: Instant) {
        // Whether something is SACKed matters to few laws, and takes a while to find out.
        let disorder = self.allowance.states.told && self.tally().sacked > 0;
        self.enter(now, if disorder { CaState::Disorder } else { CaState::Open });
    }

    /// The consequences of an ACK. Answers whether the retransmission timer starts anew.
    pub(in crate::sender) fn respond(&mut self, now: Instant, taken: &Taken) -> bool {
        let echoed = self.allowance.marks.take_echoed();
        if self.allowance.marks.measures() {
            let counted = self.flight.recovery.newly_delivered().unwrap_or(taken.newly_acked);
            self.report_marks(counted, echoed);
        }
        if taken.rtt.is_some()
            && self.allowance.growth.in_slow_start()
            && self.allowance.start.follows_samples()
        {
            self.judge_slow_start(now, taken);
        }
        if echoed {
            self.allowance.marks.bar_undo();
        }
        if self.allowance.states.state > CaState::Disorder || self.allowance.states.told {
            self.leave_states(now, taken.outcome);
        }
        let mut grows = true;
        let mut restarts = true;
        match taken.outcome {
            Outcome::None => grows = !self.flight.recovery.in_recovery(),
            Outcome::Repaired { at_most } => self.on_repaired(now, at_most),
            Outcome::PartlyRepaired { restart_timer } => (grows, restarts) = (false, restart_timer),
            Outcome::LossFound => {
                grows = false;
                self.on_loss_found(now, echoed);
            }
            Outcome::Spurious => {
                // A partial ACK that undoes does nothing else with its echo (tcp_try_undo_partial).
                let partial = self.allowance.states.state == CaState::Recovery
                    && self.flight.space.una < self.allowance.states.high_seq;
                self.on_spurious(now);
                if self.allowance.states.state != CaState::Cwr {
                    self.reopen(now);
                }
                if partial && echoed {
                    return restarts;
                }
            }
        }
        if echoed && grows && self.allowance.states.state <= CaState::Disorder {
            self.enter_cwr(now);
        }
        // tcp_may_raise_cwnd.
        let forward = taken.newly_acked > Bytes::ZERO || self.flight.recovery.grows_on_sack();
        if grows && forward && self.allowance.states.state != CaState::Cwr {
            self.grow(now, taken.newly_acked, taken.rtt, taken.in_flight_before);
        }
        restarts
    }

    /// The end of CWR and of Loss, and the change between Open and Disorder.
    fn leave_states(&mut self, now: Instant, outcome: Outcome) {
        let (una, high_seq) = (self.flight.space.una, self.allowance.states.high_seq);
        match self.allowance.states.state {
            // CWR is held beyond what was sent at its beginning, as its echoes may be late.
            CaState::Cwr if una > high_seq => {
                self.end_reduction(now, None);
                self.reopen(now);
            }
            CaState::Loss if una >= high_seq && outcome != Outcome::Spurious => self.reopen(now),
            CaState::Open | CaState::Disorder if self.allowance.states.told => self.reopen(now),
            _ => {}
        }
    }

    fn end_reduction(&mut self, now: Instant, at_most: Option<Bytes>) {
        let in_flight = self.in_flight();
        // The growth by the ACK that ends the repair comes afterwards.
        let newly_delivered = Bytes::ZERO;
        let end = RecoveryEnd { now, in_flight, newly_delivered, at_most, mss: self.backlog.mss };
        self.allowance.growth.on_recovery_end(&end);
    }

    fn on_repaired(&mut self, now: Instant, at_most: Option<Bytes>) {
        self.reopen(now);
        let at_most = self.at_most_after_repair(at_most);
        self.end_reduction(now, at_most);
    }

    /// `tcp_enter_recovery`.
    pub(in crate::sender) fn on_loss_found(&mut self, now: Instant, echoed: bool) {
        let repairs = self.flight.recovery.in_recovery();
        if self.allowance.states.state == CaState::Cwr && repairs {
            // The mark has paid.
            self.allowance.marks.bar_undo();
        } else {
            self.on_congestion(now, Signal::Loss, self.backlog.rwnd);
            if echoed {
                self.allowance.marks.bar_undo();
            }
        }
        self.allowance.states.high_seq = self.flight.space.max;
        if repairs {
            self.enter(now, CaState::Recovery);
        } else {
            // A probe has repaired it (tcp_process_tlp_ack).
            self.reopen(now);
        }
    }

    /// `tcp_enter_cwr`.
    fn enter_cwr(&mut self, now: Instant) {
        let signal = self.allowance.marks.signal();
        self.on_congestion(now, signal, self.backlog.rwnd);
        self.allowance.states.high_seq = self.flight.space.max;
        self.enter(now, CaState::Cwr);
    }

    /// An echo on an ACK that says nothing else.
    pub(in crate::sender) fn on_bare_echo(&mut self, now: Instant) {
        if !self.allowance.marks.take_echoed() {
            return;
        }
        self.allowance.marks.bar_undo();
        if self.allowance.states.state <= CaState::Disorder {
            self.enter_cwr(now);
        }
    }

    /// A timeout, as the law is told of it: `tcp_enter_loss` reduces no more in CWR and in Recovery, nor after a timeout without
    /// progress.
    pub(in crate::sender) fn timeout_signal(&self) -> Signal {
        let consecutive = self.flight.consecutive_timeouts;
        let reduced = self.allowance.states.linux
            && matches!(self.allowance.states.state, CaState::Cwr | CaState::Recovery)
            && self.flight.space.una < self.allowance.states.high_seq;
        Signal::Timeout { consecutive: if reduced { consecutive.max(2) } else { consecutive } }
    }

    /// The timeout has cost what it costs.
    pub(in crate::sender) fn enter_loss(&mut self, now: Instant) {
        self.allowance.states.high_seq = self.flight.space.max;
        self.enter(now, CaState::Loss);
        self.allowance.start.on_timeout(now, self.flight.space.max);
    }

    /// Slow start follows the delay on every sample, before anything else comes of the ACK: `cubictcp_acked`.
    fn judge_slow_start(&mut self, now: Instant, taken: &Taken) {
        let mut ack = self.ack_event(now, taken.newly_acked, taken.rtt, taken.in_flight_before);
        let delays = self.allowance.growth.delays(now);
        if !delays.trusted {
            ack.rtt = None;
        }
        let (cwnd, ssthresh) = (self.allowance.growth.cwnd(), self.allowance.growth.ssthresh());
        if self.allowance.start.on_sample(&ack, delays.least, cwnd, ssthresh) {
            let step = SlowStartStep { exit: true, ..SlowStartStep::grow(Bytes::ZERO) };
            self.allowance.growth.on_ack(&ack, Some(step));
            self.allowance.avoidance_from = Some(self.flight.space.nxt);
        }
    }
}
