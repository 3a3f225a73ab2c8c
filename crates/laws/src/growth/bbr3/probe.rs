//! Probing for bandwidth: the cycle of `ProbeBW` (§5.3.3) and the long-term bound of what is in
//! flight (§5.5.10.2).

use ackclock_units::{Bytes, Duration, Instant};

use super::{Bbr, State};
use crate::event::{Delivery, LostSegment, RateSample};
use crate::growth::bbr::bytes;
use crate::growth::real::larger;

/// `LossThresh`: the loss rate that probing may cost.
pub const LOSS_THRESH: f64 = 0.02;
/// `Beta`.
pub const BETA: f64 = 0.7;
/// `Headroom`: the part of `inflight_longterm` that is left to others.
pub const HEADROOM: f64 = 0.15;
/// Rounds after which to probe at the latest, so that Reno may live beside (§5.3.3.9).
const RENO_ROUNDS: u64 = 63;
/// Seconds after which to probe at the latest: between 2 and 3.
const LEAST_WAIT_S: f64 = 2.0;
/// The largest exponent of the growth of `inflight_longterm`.
const MAX_UP_ROUNDS: u32 = 30;

/// The meaning of ACKs for the probe (`ack_phase`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AckPhase {
    #[default]
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// The state of the probe.
#[derive(Clone, Copy, Debug)]
pub struct Probing {
    ack_phase: AckPhase,
    /// `is_bw_probe_sample`.
    is_probe_sample: bool,
    /// `bw_probe_up_acked`, `probe_up_acked_per_inc`, `bw_probe_up_rounds`.
    up_acked: f64,
    up_acked_per_inc: f64,
    pub up_rounds: u32,
    pub rounds_since_up: u64,
    /// `bw_probe_wait`, from `cycle_stamp` on.
    pub wait: Duration,
    cycle_stamp: Instant,
    /// `prev_probe_too_high`, `prev_probe_precautionary`.
    too_high: bool,
    precautionary: bool,
}

impl Default for Probing {
    fn default() -> Self {
        Self {
            ack_phase: AckPhase::Init,
            is_probe_sample: false,
            up_acked: 0.0,
            up_acked_per_inc: f64::INFINITY,
            up_rounds: 0,
            rounds_since_up: 0,
            wait: Duration::ZERO,
            cycle_stamp: Instant::START,
            too_high: false,
            precautionary: false,
        }
    }
}

impl Probing {
    /// The end of a probe's feedback comes next.
    pub const fn stop(&mut self) {
        self.ack_phase = AckPhase::ProbeStopping;
    }
}

/// `IsInflightTooHigh`.
pub fn is_too_high(lost: Bytes, tx_in_flight: Bytes, selective: bool) -> bool {
    lost.as_f64() > LOSS_THRESH * tx_in_flight.as_f64() || (lost > Bytes::ZERO && !selective)
}

/// `InflightAtLoss`: what was in flight when the losses came to be too many, somewhere within the
/// segment.
fn inflight_at_loss(lost: &LostSegment) -> f64 {
    let size = lost.end.since(lost.start).as_f64();
    let inflight_before = (lost.tx_in_flight.as_f64() - size).max(0.0);
    let lost_before = (lost.lost.as_f64() - size).max(0.0);
    let prefix = (LOSS_THRESH * inflight_before - lost_before) / (1.0 - LOSS_THRESH);
    // Without the bound a burst lost before this segment would make what follows count as less.
    inflight_before + prefix.max(0.0)
}

impl Bbr {
    /// `StartProbeBW_DOWN`.
    pub(super) fn start_down(&mut self, now: Instant) {
        self.latest.reset();
        self.probing.up_acked_per_inc = f64::INFINITY;
        self.probing.rounds_since_up = self.random.next_u64() & 1;
        self.probing.wait = Duration::from_secs_f64(LEAST_WAIT_S + self.random.uniform());
        self.probing.cycle_stamp = now;
        self.probing.stop();
        self.rounds.restart(self.delivered);
        self.state = State::Down;
    }

    /// `StartProbeBW_REFILL`.
    pub(super) fn start_refill(&mut self) {
        self.reset_short_term();
        self.probing.up_rounds = 0;
        self.probing.up_acked = 0.0;
        self.probing.precautionary = false;
        self.probing.ack_phase = AckPhase::Refilling;
        self.rounds.restart(self.delivered);
        self.state = State::Refill;
    }

    /// `StartProbeBW_UP`.
    fn start_up(&mut self, rate: f64) {
        self.probing.ack_phase = AckPhase::ProbeStarting;
        self.rounds.restart(self.delivered);
        self.full_pipe.restart(rate);
        self.state = State::Up;
        self.raise_slope();
    }

    /// `UpdateProbeBWCyclePhase`.
    pub(super) fn update_cycle(&mut self, delivery: &Delivery, sample: Option<&RateSample>) {
        let Some(sample) = sample.filter(|_| self.full_pipe.reached) else { return };
        if self.adapt_long_term(delivery, sample) {
            return;
        }
        match self.state {
            State::Down => {
                if !self.probe_if_time(delivery) && self.is_time_to_cruise(delivery) {
                    self.state = State::Cruise;
                }
            }
            State::Cruise => {
                self.probe_if_time(delivery);
            }
            State::Refill if self.rounds.start => {
                self.probing.is_probe_sample = true;
                self.start_up(sample.rate());
            }
            State::Up => {
                if self.is_time_to_go_down(delivery, sample) {
                    self.probing.too_high = false;
                    self.start_down(delivery.now);
                }
            }
            State::Refill | State::Startup | State::Drain | State::ProbeRtt => {}
        }
    }

    /// `IsTimeToProbeBW`.
    fn probe_if_time(&mut self, delivery: &Delivery) -> bool {
        let probing = &self.probing;
        let reno_rounds = bytes(self.target_inflight()).whole_segments(self.mss).min(RENO_ROUNDS);
        let is_time = delivery.now > probing.cycle_stamp + probing.wait
            || probing.rounds_since_up >= reno_rounds;
        if is_time {
            self.start_refill();
        }
        is_time
    }

    /// `IsTimeToCruise`.
    fn is_time_to_cruise(&self, delivery: &Delivery) -> bool {
        let in_flight = delivery.in_flight.as_f64();
        in_flight <= self.inflight_with_headroom() && in_flight <= self.inflight(self.max_bw(), 1.0)
    }

    /// True if the window is in full use at the long-term bound.
    fn is_at_bound(&self, delivery: &Delivery) -> bool {
        delivery.is_cwnd_limited && self.cwnd >= bytes(self.inflight_longterm)
    }

    /// `IsTimeToGoDown`.
    fn is_time_to_go_down(&mut self, delivery: &Delivery, sample: &RateSample) -> bool {
        let in_flight = delivery.in_flight.as_f64();
        if self.probing.too_high && in_flight >= self.inflight_longterm {
            self.probing.precautionary = true;
            return true;
        }
        if self.is_at_bound(delivery) {
            self.full_pipe.restart(sample.rate());
            return false;
        }
        self.full_pipe.now
    }

    /// `RaiseInflightLongtermSlope`.
    fn raise_slope(&mut self) {
        let growth = f64::from(1_u32 << self.probing.up_rounds);
        self.probing.up_rounds = (self.probing.up_rounds + 1).min(MAX_UP_ROUNDS);
        self.probing.up_acked_per_inc = (self.cwnd.as_f64() / growth).max(self.smss());
    }

    /// `ProbeInflightLongtermUpward`.
    fn raise_long_term(&mut self, delivery: &Delivery) {
        if !self.is_at_bound(delivery) {
            return;
        }
        let smss = self.smss();
        let probing = &mut self.probing;
        probing.up_acked += delivery.newly_delivered.as_f64();
        if probing.up_acked >= probing.up_acked_per_inc {
            let steps = (probing.up_acked / probing.up_acked_per_inc).floor();
            probing.up_acked -= steps * probing.up_acked_per_inc;
            self.inflight_longterm += steps * smss;
        }
        if self.rounds.start {
            self.raise_slope();
        }
    }

    /// `AdaptLongTermModel`; true if it decided on the next state.
    fn adapt_long_term(&mut self, delivery: &Delivery, sample: &RateSample) -> bool {
        if self.rounds.start && self.probing.ack_phase == AckPhase::ProbeStarting {
            self.probing.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.rounds.start && self.probing.ack_phase == AckPhase::ProbeStopping {
            self.probing.is_probe_sample = false;
            self.probing.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() {
                if !sample.is_app_limited {
                    self.advance_max_bw();
                }
                if self.probing.precautionary && !self.probing.too_high {
                    self.start_refill();
                    return true;
                }
            }
        }
        let too_high = is_too_high(sample.lost, sample.tx_in_flight, delivery.selective);
        if !too_high && self.inflight_longterm.is_finite() {
            self.inflight_longterm = larger(self.inflight_longterm, sample.tx_in_flight.as_f64());
            if self.state == State::Up {
                self.raise_long_term(delivery);
            }
        }
        false
    }

    /// `AdvanceMaxBwFilter`. A cycle without a sample leaves the maximum of the one before.
    fn advance_max_bw(&mut self) {
        let [_, now] = self.max_bw_filter;
        if now > 0.0 {
            self.max_bw_filter = [now, 0.0];
        }
    }

    /// Judges whether a loss shows that a probe went too high (`HandleLostPacket`), and what follows
    /// (`HandleInflightTooHigh`).
    pub(super) fn judge_loss(&mut self, lost: &LostSegment) {
        let selective = self.latest.selective;
        if !self.probing.is_probe_sample || !is_too_high(lost.lost, lost.tx_in_flight, selective) {
            return;
        }
        self.probing.too_high = true;
        self.probing.is_probe_sample = false;
        if !lost.is_app_limited {
            self.inflight_longterm = inflight_at_loss(lost).max(BETA * self.target_inflight());
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down(lost.now);
        }
    }
}
