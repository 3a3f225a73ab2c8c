//! BBR as draft-ietf-ccwg-bbr-06 (July 2026) §5 has it, often called `BBRv3`.
//!
//! The rate follows the largest bandwidth seen, the data in flight what the path was found to hold
//! without losing more than 2 %. Names are the draft's, without their prefix; volumes are bytes, and
//! infinite while no bound is known.
//!
//! DEVIATION(draft §5.6.3): segments leave one by one; the quantum is computed all the same, as room
//! in the window for what the hosts gather (§5.5.8).

mod probe;
mod signals;

use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant, Mss, Rate};

use super::bbr::filter::WindowedMax;
use super::bbr::{
    MIN_PIPE_SEGMENTS, MIN_RTT_WINDOW, NOMINAL_RTT, PACING_MARGIN, PROBE_RTT_DURATION, Rounds,
    bytes, pacing_rate, volume,
};
use super::contract::{About, Growth, Law, Wants};
use super::variables::variables;
use crate::event::{
    Ack, Congestion, Delivery, Established, LostSegment, Proposal, RateSample, RecoveryEnd, Repair,
    SendStart, Signal, SlowStartStep, Why,
};
use crate::growth::real::{larger, smaller};
use crate::words::{ANY, Described, Word};
use probe::Probing;
use signals::{Latest, Undo};

/// `StartupPacingGain`, 4 ln 2 as the draft rounds it.
const STARTUP_PACING_GAIN: f64 = 2.77;
/// `DrainPacingGain`.
const DRAIN_PACING_GAIN: f64 = 0.5;
/// `DefaultCwndGain`.
const DEFAULT_CWND_GAIN: f64 = 2.0;
/// `ProbeRTTCwndGain`.
const PROBE_RTT_CWND_GAIN: f64 = 0.5;
/// Gains of `ProbeBW_UP` and `ProbeBW_DOWN` (§5.6.1).
const UP_PACING_GAIN: f64 = 1.25;
const UP_CWND_GAIN: f64 = 2.25;
const DOWN_PACING_GAIN: f64 = 0.90;
/// The pipe is full after so many rounds without so much more bandwidth (§5.3.1.2).
const FULL_BW_ROUNDS: u32 = 3;
const FULL_BW_GROWTH: f64 = 1.25;
/// `ProbeRTTInterval`.
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
/// Rounds in Drain after which the bandwidth was overestimated (§5.3.2).
const DRAIN_ROUNDS: u64 = 3;
/// `ExtraAckedFilterLen`, in rounds; in Startup one.
const EXTRA_ACKED_ROUNDS: u64 = 10;
/// Bounds of the send quantum, and what it lasts (§5.6.3).
const QUANTUM_SPAN: Duration = Duration::from_millis(1);
const LARGEST_QUANTUM: f64 = 65_536.0;
const LEAST_QUANTUM_SEGMENTS: u64 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    /// `IsInAProbeBWState`.
    const fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// `IsProbingBW`.
    const fn is_accelerating(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }

    /// The word in results.
    const fn word(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Drain => "drain",
            Self::Down => "probe_bw_down",
            Self::Cruise => "probe_bw_cruise",
            Self::Refill => "probe_bw_refill",
            Self::Up => "probe_bw_up",
            Self::ProbeRtt => "probe_rtt",
        }
    }

    const fn pacing_gain(self) -> f64 {
        match self {
            Self::Startup => STARTUP_PACING_GAIN,
            Self::Drain => DRAIN_PACING_GAIN,
            Self::Down => DOWN_PACING_GAIN,
            Self::Up => UP_PACING_GAIN,
            Self::Cruise | Self::Refill | Self::ProbeRtt => 1.0,
        }
    }

    const fn cwnd_gain(self) -> f64 {
        match self {
            Self::Up => UP_CWND_GAIN,
            Self::ProbeRtt => PROBE_RTT_CWND_GAIN,
            Self::Startup | Self::Drain | Self::Down | Self::Cruise | Self::Refill => {
                DEFAULT_CWND_GAIN
            }
        }
    }
}

/// The plateau of the bandwidth (§5.3.1.2).
#[derive(Clone, Copy, Debug, Default)]
struct FullPipe {
    /// `full_bw`, `full_bw_count`.
    bw: f64,
    rounds: u32,
    /// `full_bw_now`: since the search began; `full_bw_reached`: ever.
    now: bool,
    reached: bool,
}

impl FullPipe {
    /// `ResetFullBW`, with `bw` to grow beyond.
    const fn restart(&mut self, bw: f64) {
        *self = Self { bw, rounds: 0, now: false, reached: self.reached };
    }

    /// A round of data that the application did not limit brought `bw`.
    fn on_round(&mut self, bw: f64) {
        if self.now {
            return;
        }
        if bw >= FULL_BW_GROWTH * self.bw {
            self.restart(bw);
            return;
        }
        self.rounds += 1;
        self.now = self.rounds >= FULL_BW_ROUNDS;
        self.reached |= self.now;
    }
}

/// The round-trip time without a queue, and the state that looks for it (§5.3.4).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct LeastRtt {
    /// `min_rtt` and `probe_rtt_min_delay`, and when they were measured.
    min_rtt: Option<Duration>,
    /// `min_rtt` in seconds: it is asked for far more often than it changes.
    min_rtt_s: f64,
    min_rtt_at: Instant,
    recent: Option<Duration>,
    recent_at: Instant,
    /// `probe_rtt_expired`.
    expired: bool,
    /// In `ProbeRtt`: when it may end, once little is in flight, and whether a round of that has
    /// passed.
    done_at: Option<Instant>,
    round_done: bool,
}

impl LeastRtt {
    fn set(&mut self, min_rtt: Duration) {
        self.min_rtt = Some(min_rtt);
        self.min_rtt_s = min_rtt.as_secs_f64();
    }

    /// `UpdateMinRTT`.
    fn update(&mut self, now: Instant, rtt: Option<Duration>) {
        self.expired = now > self.recent_at + PROBE_RTT_INTERVAL;
        if let Some(rtt) = rtt
            && (self.expired || self.recent.is_none_or(|recent| rtt < recent))
        {
            self.recent = Some(rtt);
            self.recent_at = now;
        }
        let too_old = now > self.min_rtt_at + MIN_RTT_WINDOW;
        if let Some(recent) = self.recent
            && (too_old || self.min_rtt.is_none_or(|min_rtt| recent < min_rtt))
        {
            self.set(recent);
            self.min_rtt_at = self.recent_at;
        }
    }
}

/// ACKs that come together (§5.5.9).
#[derive(Clone, Debug, Default)]
#[repr(C)]
struct ExtraAcked {
    since: Instant,
    delivered: f64,
    filter: WindowedMax,
}

/// BBR as the current draft has it.
#[derive(Clone, Debug)]
// What every ACK touches comes first, in lines of its own: of a thousand connections every line counts.
#[repr(C, align(64))]
pub struct Bbr {
    cwnd: Bytes,
    pacing_rate: f64,
    /// Data delivered since the connection began.
    delivered: Bytes,
    mss: Mss,
    state: State,
    /// True if an ACK was seen: the clocks run from the first.
    is_running: bool,
    has_seen_rtt: bool,
    idle_restart: bool,
    repair: Repair,
    /// `min(max_bw, bw_shortterm)`.
    bw: f64,
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
    /// `max_bw_filter`: the largest rates of the cycle before and of this one.
    max_bw_filter: [f64; 2],
    rounds: Rounds,
    full_pipe: FullPipe,
    latest: Latest,
    probing: Probing,
    least_rtt: LeastRtt,
    extra_acked: ExtraAcked,
    initial_cwnd: Bytes,
    prior_cwnd: Bytes,
    drain_start_round: u64,
    undo: Undo,
    random: Stream,
}

impl Default for Bbr {
    fn default() -> Self {
        let mss = Mss::default();
        Self {
            mss,
            cwnd: mss.bytes(),
            initial_cwnd: mss.bytes(),
            state: State::Startup,
            is_running: false,
            pacing_rate: STARTUP_PACING_GAIN * mss.bytes().as_f64() / NOMINAL_RTT.as_secs_f64(),
            has_seen_rtt: false,
            delivered: Bytes::ZERO,
            rounds: Rounds::default(),
            drain_start_round: 0,
            max_bw_filter: [0.0; 2],
            bw: 0.0,
            bw_shortterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            latest: Latest::default(),
            undo: Undo::default(),
            full_pipe: FullPipe::default(),
            probing: Probing::default(),
            least_rtt: LeastRtt {
                min_rtt: None,
                min_rtt_s: 0.0,
                min_rtt_at: Instant::START,
                recent: None,
                recent_at: Instant::START,
                expired: false,
                done_at: None,
                round_done: false,
            },
            extra_acked: ExtraAcked::default(),
            prior_cwnd: Bytes::ZERO,
            repair: Repair::None,
            idle_restart: false,
            random: Stream::new(0, "bbr"),
        }
    }
}

impl Bbr {
    fn max_bw(&self) -> f64 {
        let [before, now] = self.max_bw_filter;
        larger(before, now)
    }

    const fn min_pipe_cwnd(&self) -> Bytes {
        self.mss.times(MIN_PIPE_SEGMENTS)
    }

    fn smss(&self) -> f64 {
        f64::from(self.mss.get())
    }

    /// `BDPMultiple`.
    fn bdp(&self, bw: f64, gain: f64) -> f64 {
        match self.least_rtt.min_rtt {
            None => self.initial_cwnd.as_f64(),
            Some(_) => gain * (bw * self.least_rtt.min_rtt_s),
        }
    }

    /// `QuantizationBudget`, with the offload budget of TCP (§5.5.8).
    fn with_quanta(&self, inflight: f64) -> f64 {
        let least = self.mss.times(LEAST_QUANTUM_SEGMENTS).as_f64();
        let quantum = smaller(volume(self.pacing_rate, QUANTUM_SPAN), LARGEST_QUANTUM);
        let inflight = larger(inflight, 3.0 * larger(quantum, least));
        let inflight = larger(inflight, self.min_pipe_cwnd().as_f64());
        if self.state == State::Up { inflight + 2.0 * self.smss() } else { inflight }
    }

    /// `Inflight`.
    fn inflight(&self, bw: f64, gain: f64) -> f64 {
        self.with_quanta(self.bdp(bw, gain))
    }

    /// `TargetInflight`.
    fn target_inflight(&self) -> f64 {
        smaller(self.bdp(self.bw, 1.0), self.cwnd.as_f64())
    }

    /// `InflightWithHeadroom`.
    fn inflight_with_headroom(&self) -> f64 {
        if self.inflight_longterm.is_infinite() {
            return f64::INFINITY;
        }
        let headroom = larger(probe::HEADROOM * self.inflight_longterm, self.smss());
        larger(self.inflight_longterm - headroom, self.min_pipe_cwnd().as_f64())
    }

    fn probe_rtt_cwnd(&self) -> Bytes {
        bytes(self.bdp(self.bw, PROBE_RTT_CWND_GAIN)).max(self.min_pipe_cwnd())
    }

    /// `UpdateACKAggregation`.
    fn update_extra_acked(&mut self, delivery: &Delivery) {
        let extra = &mut self.extra_acked;
        let mut expected = volume(self.bw, delivery.now.since(extra.since));
        if extra.delivered <= expected {
            extra.delivered = 0.0;
            extra.since = delivery.now;
            expected = 0.0;
        }
        extra.delivered += delivery.newly_delivered.as_f64();
        let excess = smaller(extra.delivered - expected, self.cwnd.as_f64());
        let window = if self.full_pipe.reached { EXTRA_ACKED_ROUNDS } else { 1 };
        extra.filter.update(excess, self.rounds.count, window);
    }

    fn check_full_pipe(&mut self, sample: Option<&RateSample>) {
        if let Some(sample) = sample
            && self.rounds.start
            && !sample.is_app_limited
        {
            self.full_pipe.on_round(sample.rate());
        }
    }

    /// `CheckStartupDone` and `CheckDrainDone`.
    fn check_startup_and_drain(&mut self, delivery: &Delivery, sample: Option<&RateSample>) {
        self.check_startup_loss(delivery, sample);
        if self.state == State::Startup && self.full_pipe.reached {
            self.state = State::Drain;
            self.drain_start_round = self.rounds.count;
        }
        if self.state == State::Drain {
            let drained = delivery.in_flight.as_f64() <= self.inflight(self.bw, 1.0);
            if drained || self.rounds.count > self.drain_start_round + DRAIN_ROUNDS {
                self.start_down(delivery.now);
            }
        }
    }

    /// `CheckProbeRTT`.
    fn check_probe_rtt(&mut self, delivery: &Delivery) {
        let now = delivery.now;
        if self.state != State::ProbeRtt && self.least_rtt.expired && !self.idle_restart {
            self.state = State::ProbeRtt;
            self.save_cwnd();
            self.least_rtt.done_at = None;
            self.probing.stop();
            self.rounds.restart(self.delivered);
        }
        if self.state == State::ProbeRtt {
            match self.least_rtt.done_at {
                None if delivery.in_flight <= self.probe_rtt_cwnd() => {
                    self.least_rtt.done_at = Some(now + PROBE_RTT_DURATION);
                    self.least_rtt.round_done = false;
                    self.rounds.restart(self.delivered);
                }
                None => {}
                Some(_) => {
                    self.least_rtt.round_done |= self.rounds.start;
                    if self.least_rtt.round_done {
                        self.check_probe_rtt_done(now);
                    }
                }
            }
        }
        if delivery.newly_delivered > Bytes::ZERO {
            self.idle_restart = false;
        }
    }

    fn check_probe_rtt_done(&mut self, now: Instant) {
        if self.least_rtt.done_at.is_none_or(|done_at| now <= done_at) {
            return;
        }
        self.least_rtt.recent_at = now;
        self.restore_cwnd();
        self.reset_short_term();
        if self.full_pipe.reached {
            self.start_down(now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw * PACING_MARGIN;
        if self.full_pipe.reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// `InitPacingRate`.
    fn begin_pacing(&mut self, srtt: Option<Duration>) {
        self.has_seen_rtt = srtt.is_some();
        let rtt = srtt.unwrap_or(NOMINAL_RTT).max(Duration::from_micros(1));
        let bw = self.initial_cwnd.as_f64() / rtt.as_secs_f64();
        self.pacing_rate = STARTUP_PACING_GAIN * bw;
    }

    fn save_cwnd(&mut self) {
        self.prior_cwnd = if self.repair == Repair::None && self.state != State::ProbeRtt {
            self.cwnd
        } else {
            self.prior_cwnd.max(self.cwnd)
        };
    }

    fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    /// `SetCwnd`.
    fn set_cwnd(&mut self, delivery: &Delivery) {
        let acked = delivery.newly_delivered;
        let inflight = self.bdp(self.bw, self.state.cwnd_gain()) + self.extra_acked.filter.get();
        let max_inflight = bytes(self.with_quanta(inflight));
        if self.full_pipe.reached {
            self.cwnd = (self.cwnd + acked).min(max_inflight);
        } else if self.cwnd < max_inflight || delivery.delivered < self.initial_cwnd {
            self.cwnd += acked;
        }
        self.cwnd = self.cwnd.max(self.min_pipe_cwnd());
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd();
    }

    /// `BoundCwndForModel`.
    fn bound_cwnd(&mut self) {
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        let cap = bytes(smaller(cap, self.inflight_shortterm));
        self.cwnd = self.cwnd.min(cap.max(self.min_pipe_cwnd()));
    }
}

impl Described for Bbr {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone(
        "bbr",
        (),
        "paced at the path's bandwidth, within what it holds without much loss (draft-ietf-ccwg-bbr-06)",
    )];
}

impl Law for Bbr {
    const ABOUT: About = About {
        source: "draft-ietf-ccwg-bbr-06",
        defaults: &[(ANY, "noidle")],
        owns: &super::bbr::OWNS,
        recoveries: super::bbr::RECOVERIES,
        ..About::PLAIN
    };

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl Growth for Bbr {
    variables! { law =>
        "state", "startup, drain, probe_bw_down, probe_bw_cruise, probe_bw_refill, probe_bw_up or probe_rtt": law.state.word();
        "pacing_gain", "the pacing gain (pacing_gain)": law.state.pacing_gain();
        "cwnd_gain", "the gain of the window (cwnd_gain)": law.state.cwnd_gain();
        "pacing_rate_bps", "the rate of payload at which segments leave (pacing_rate)": 8.0 * law.pacing_rate;
        "bw_bps", "the bandwidth that is used: the lesser of max_bw and bw_shortterm (bw)": 8.0 * law.bw;
        "max_bw_bps", "the largest bandwidth of two cycles (max_bw)": 8.0 * law.max_bw();
        "bw_shortterm_bps", "the short-term bound of the bandwidth; unknown while there is none (bw_shortterm)": 8.0 * law.bw_shortterm;
        "inflight_shortterm_bytes", "the short-term bound of the data in flight (inflight_shortterm)": law.inflight_shortterm;
        "inflight_longterm_bytes", "the long-term bound of the data in flight (inflight_longterm)": law.inflight_longterm;
        "inflight_headroom_bytes", "that less the headroom for others (InflightWithHeadroom)": law.inflight_with_headroom();
        "inflight_bytes", "the data in flight that fills the path without a queue (Inflight(max_bw, 1.0))": law.inflight(law.max_bw(), 1.0);
        "extra_acked_bytes", "the largest volume of ACKs that came together (extra_acked)": law.extra_acked.filter.get();
        "min_rtt_s", "the least round-trip time of ten seconds (min_rtt)": law.least_rtt.min_rtt;
        "probe_rtt_min_delay_s", "the least round-trip time since the last search for it (probe_rtt_min_delay)": law.least_rtt.recent;
        "round_count", "packet-timed round trips (round_count)": law.rounds.count;
        "rounds_since_bw_probe", "those since the last probe for bandwidth (rounds_since_bw_probe)": law.probing.rounds_since_up;
        "bw_probe_wait_s", "the longest time until the next probe (bw_probe_wait)": law.probing.wait;
        "bw_probe_up_rounds", "rounds of growth in the last probe (bw_probe_up_rounds)": law.probing.up_rounds;
        "full_bw_bps", "the bandwidth beyond which growth is looked for (full_bw)": 8.0 * law.full_pipe.bw;
        "full_bw_count", "rounds without that growth (full_bw_count)": law.full_pipe.rounds;
        "full_bw_now", "1 once growth has ended since the search for it began (full_bw_now)": law.full_pipe.now;
        "full_bw_reached", "1 once the pipe was ever found full (full_bw_reached)": law.full_pipe.reached;
        "idle_restart", "1 after silence, until data is delivered (idle_restart)": law.idle_restart;
    }

    /// All is done in [`on_delivery`](Growth::on_delivery) and [`on_lost`](Growth::on_lost).
    fn on_ack(&mut self, _: &Ack, _: Option<SlowStartStep>) {}

    fn on_congestion(&mut self, congestion: &Congestion) {
        // The draft has no answer to a mark.
        if let Signal::Ecn { .. } = congestion.signal {
            return;
        }
        self.save_cwnd();
        self.save_state();
        match congestion.signal {
            Signal::Loss | Signal::Ecn { .. } => self.repair = Repair::Recovery,
            Signal::Timeout { .. } => {
                self.repair = Repair::AfterTimeout;
                self.cwnd = congestion.mss.bytes();
            }
        }
    }

    /// The window comes back with the delivery that ends the repair.
    fn on_recovery_end(&mut self, _: &RecoveryEnd) {}

    fn on_spurious(&mut self) {
        self.undo_loss_response();
    }

    fn rebase(&mut self, proposal: &Proposal) {
        if proposal.why != Why::Established {
            return;
        }
        self.mss = proposal.mss;
        self.cwnd = proposal.cwnd.unwrap_or_else(|| self.mss.bytes());
        self.initial_cwnd = self.cwnd;
        self.begin_pacing(None);
    }

    fn on_established(&mut self, established: &Established) {
        self.random = Stream::new(established.seed, "bbr");
        if let Some(srtt) = established.srtt {
            self.least_rtt.set(srtt);
        }
        self.begin_pacing(established.srtt);
    }

    fn cwnd(&self) -> Bytes {
        self.cwnd
    }

    /// None: nothing in BBR divides two ways of growing at a window.
    fn ssthresh(&self) -> Option<Bytes> {
        None
    }

    fn in_slow_start(&self) -> bool {
        self.state == State::Startup
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(pacing_rate(self.pacing_rate))
    }

    fn wants(&self) -> Wants {
        Wants { models_path: true, grows_by_acks: false, ..Wants::ACKS }
    }

    fn on_delivery(&mut self, delivery: &Delivery) {
        self.mss = delivery.mss;
        self.delivered = delivery.delivered;
        if !self.is_running {
            self.is_running = true;
            self.least_rtt.min_rtt_at = delivery.now;
            self.least_rtt.recent_at = delivery.now;
            self.extra_acked.since = delivery.now;
        }
        // DEVIATION(draft §5.5.1): a sample that cannot be true ends no round either, as in Linux.
        let sample = delivery.sample.as_ref().filter(|sample| sample.interval.is_some());
        self.update_latest_signals(delivery, sample);
        self.update_congestion_signals(delivery, sample);
        self.update_extra_acked(delivery);
        self.check_full_pipe(sample);
        self.check_startup_and_drain(delivery, sample);
        self.update_cycle(delivery, sample);
        self.least_rtt.update(delivery.now, delivery.rtt);
        self.check_probe_rtt(delivery);
        self.advance_latest_signals(sample);
        self.bw = smaller(self.max_bw(), self.bw_shortterm);

        if !self.has_seen_rtt && delivery.srtt.is_some() {
            self.begin_pacing(delivery.srtt);
        }
        self.set_pacing_rate(self.state.pacing_gain());
        let was = std::mem::replace(&mut self.repair, delivery.repair);
        if was != Repair::None && delivery.repair == Repair::None {
            self.restore_cwnd();
        }
        self.set_cwnd(delivery);
    }

    fn on_lost(&mut self, lost: &LostSegment) {
        self.note_loss(lost);
        self.judge_loss(lost);
    }

    fn on_send_start(&mut self, &SendStart { now, app_limited, .. }: &SendStart) {
        if !app_limited {
            return;
        }
        self.idle_restart = true;
        self.extra_acked.since = now;
        if self.state.is_probe_bw() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(now);
        }
    }

    fn limits_flight(&self) -> bool {
        self.state == State::ProbeRtt
    }
}

#[cfg(test)]
mod tests;
