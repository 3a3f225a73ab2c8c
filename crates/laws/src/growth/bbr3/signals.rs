//! The path's deliveries and losses just now: the short-term bounds (§5.5.10.3), the losses that end
//! Startup (§5.3.1.3), and taking back a response that was for nothing (§5.5.11).

use ackclock_packet::Seq;
use ackclock_units::Bytes;

use super::probe::{BETA, is_too_high};
use super::{Bbr, State};
use crate::event::{Delivery, LostSegment, RateSample, Repair};
use crate::growth::real::larger;

/// `StartupFullLossCnt`: stretches lost in a round that end Startup.
const STARTUP_LOSSES: u32 = 6;

/// The signals of the current round (`bw_latest`, `inflight_latest`, `is_loss_in_round` ...).
#[derive(Clone, Copy, Debug, Default)]
pub struct Latest {
    bw: f64,
    inflight: f64,
    is_loss_in_round: bool,
    round_ends_at: Bytes,
    round_start: bool,
    /// Stretches of data, apart from one another, that were lost in the round.
    stretches: u32,
    last_lost: Option<Seq>,
    /// True if the receiver says which segments arrived.
    pub selective: bool,
}

impl Latest {
    /// `ResetCongestionSignals`.
    pub const fn reset(&mut self) {
        self.is_loss_in_round = false;
        self.bw = 0.0;
        self.inflight = 0.0;
    }
}

/// The model before a loss.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undo {
    /// The state that a loss ended.
    pub state: Option<State>,
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
}

impl Bbr {
    /// `UpdateLatestDeliverySignals`.
    pub(super) fn update_latest_signals(
        &mut self,
        delivery: &Delivery,
        sample: Option<&RateSample>,
    ) {
        let latest = &mut self.latest;
        latest.selective = delivery.selective;
        latest.round_start = false;
        let Some(sample) = sample else { return };
        latest.bw = larger(latest.bw, sample.rate());
        latest.inflight = larger(latest.inflight, sample.delivered.as_f64());
        if sample.prior_delivered >= latest.round_ends_at {
            latest.round_ends_at = delivery.delivered;
            latest.round_start = true;
        }
    }

    /// `AdvanceLatestDeliverySignals`.
    pub(super) fn advance_latest_signals(&mut self, sample: Option<&RateSample>) {
        if let Some(sample) = sample
            && self.latest.round_start
        {
            self.latest.bw = sample.rate();
            self.latest.inflight = sample.delivered.as_f64();
        }
    }

    /// `UpdateCongestionSignals`, with `UpdateMaxBw`.
    pub(super) fn update_congestion_signals(
        &mut self,
        delivery: &Delivery,
        sample: Option<&RateSample>,
    ) {
        self.rounds.start = false;
        if let Some(sample) = sample {
            self.rounds.on_delivered(sample.prior_delivered, delivery.delivered);
            self.probing.rounds_since_up += u64::from(self.rounds.start);
            let rate = sample.rate();
            if !sample.is_app_limited || rate >= self.max_bw() {
                self.max_bw_filter[1] = larger(self.max_bw_filter[1], rate);
            }
        }
        if self.latest.round_start {
            if self.latest.is_loss_in_round && !self.state.is_accelerating() {
                self.lower_bounds();
            }
            self.latest.is_loss_in_round = false;
        }
    }

    /// `InitLowerBounds` and `LossLowerBounds`.
    fn lower_bounds(&mut self) {
        if self.bw_shortterm.is_infinite() {
            self.bw_shortterm = self.max_bw();
        }
        if self.inflight_shortterm.is_infinite() {
            self.inflight_shortterm = self.cwnd.as_f64();
        }
        self.bw_shortterm = self.latest.bw.max(BETA * self.bw_shortterm);
        self.inflight_shortterm = self.latest.inflight.max(BETA * self.inflight_shortterm);
    }

    /// `ResetShortTermModel`.
    pub(super) const fn reset_short_term(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = f64::INFINITY;
    }

    /// `CheckStartupHighLoss`: at the end of a round of recovery with more than 2 % lost, in six
    /// places.
    pub(super) fn check_startup_loss(&mut self, delivery: &Delivery, sample: Option<&RateSample>) {
        let repairing = delivery.repair == Repair::Recovery;
        if self.full_pipe.reached || self.state != State::Startup {
            return;
        }
        let lossy = sample.is_some_and(|sample| {
            let enough = self.latest.stretches >= STARTUP_LOSSES && self.latest.round_start;
            (enough || !delivery.selective)
                && is_too_high(sample.lost, sample.tx_in_flight, delivery.selective)
        });
        if repairing && lossy {
            self.undo.state = Some(State::Startup);
            self.full_pipe.now = true;
            self.full_pipe.reached = true;
            self.inflight_longterm = self.bdp(self.bw, 1.0).max(self.latest.inflight);
        }
        if self.latest.round_start {
            self.latest.stretches = 0;
        }
    }

    /// `NoteLoss`.
    pub(super) fn note_loss(&mut self, lost: &LostSegment) {
        self.delivered = lost.delivered;
        if !self.latest.is_loss_in_round {
            self.latest.round_ends_at = lost.delivered;
            self.save_cwnd();
            self.save_state();
        }
        self.latest.is_loss_in_round = true;
        if self.latest.last_lost != Some(lost.start) {
            self.latest.stretches += 1;
        }
        self.latest.last_lost = Some(lost.end);
    }

    /// `SaveStateUponLoss`.
    pub(super) const fn save_state(&mut self) {
        self.undo = Undo {
            state: None,
            bw_shortterm: self.bw_shortterm,
            inflight_shortterm: self.inflight_shortterm,
            inflight_longterm: self.inflight_longterm,
        };
    }

    /// `HandleSpuriousLossDetection`.
    pub(super) fn undo_loss_response(&mut self) {
        let undo = std::mem::take(&mut self.undo);
        self.restore_cwnd();
        self.latest.is_loss_in_round = false;
        self.full_pipe.restart(0.0);
        self.bw_shortterm = self.bw_shortterm.max(undo.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(undo.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(undo.inflight_longterm);
        match undo.state {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_pipe.reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if self.state != State::Up && self.state != State::ProbeRtt => {
                self.start_refill();
            }
            _ => {}
        }
    }
}
