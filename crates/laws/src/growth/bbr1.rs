//! BBR's first version: N. Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue
//! 14(5), 2016, and draft-cardwell-iccrg-bbr-congestion-control-00, with what Linux's mainline
//! kernel (`tcp_bbr.c`) has beyond them: conservation of packets in recovery, allowance for ACKs
//! that come together, detection of policers.
//!
//! DEVIATION(linux): windows are bytes and rates real numbers, not packets and fixed point; times
//! are not rounded to jiffies. DEVIATION(linux, `bbr_packets_in_net_at_edt`): nothing waits in a
//! queue below the transport with its time of departure, so that what is in flight is in the
//! network.

mod aggregation;
mod policer;

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
    Ack, Congestion, Delivery, Established, Proposal, RecoveryEnd, Repair, SendStart, Signal,
    SlowStartStep, Why,
};
use crate::words::{ANY, Described, Word};
use aggregation::{Acked, Aggregation};
use policer::{Policer, PolicerSample, Reading};

/// Rounds over which the largest delivery rate is the bandwidth.
const BW_WINDOW_ROUNDS: u64 = 10;
/// 2/ln 2, the least gain that doubles the rate every round.
const HIGH_GAIN: f64 = 2.0 / std::f64::consts::LN_2;
/// The window, in bandwidth-delay products.
const CWND_GAIN: f64 = 2.0;
/// A cycle of pacing gains, each for about the least round-trip time: more, then less to let the
/// queue go, then the bandwidth.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// The pipe is full after so many rounds without so much more bandwidth.
const FULL_BW_ROUNDS: u32 = 3;
const FULL_BW_GROWTH: f64 = 1.25;
/// The window while no round-trip time is known, and the data whose delivery is too little to judge
/// by: Linux's first window.
const FIRST_WINDOW_SEGMENTS: u64 = 10;
/// Below this rate, 1.2 Mbit/s, Linux hands segments to the queue one by one, above by two at least.
const SLOW_RATE: f64 = 1_200_000.0 / 8.0;
/// Linux hands down what the rate sends in 1/1024 s (`sk_pacing_shift`), at most 64 kB.
const QUANTUM_SPAN: Duration = Duration::from_nanos(1_000_000_000 / 1024);
const LARGEST_QUANTUM: f64 = 65_000.0;
const LARGEST_QUANTUM_SEGMENTS: u64 = 127;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// The rate doubles every round until the bandwidth stops growing.
    Startup,
    /// The queue that this made is let go.
    Drain,
    /// The rate cycles around the bandwidth; the phase of [`CYCLE`].
    ProbeBw { phase: usize },
    /// Four segments in flight, so that the path is seen without a queue; until when, once there are
    /// so few.
    ProbeRtt { until: Option<Instant> },
}

impl Mode {
    const fn word(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Drain => "drain",
            Self::ProbeBw { .. } => "probe_bw",
            Self::ProbeRtt { .. } => "probe_rtt",
        }
    }
}

/// BBR's first version.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "what the kernel's module keeps, each a fact")]
pub struct Bbr1 {
    mss: Mss,
    cwnd: Bytes,
    ssthresh: Option<Bytes>,
    mode: Mode,
    /// Bytes per second.
    pacing_rate: f64,
    /// True if the pacing rate rests on a round-trip time that was measured.
    has_seen_rtt: bool,
    bw_filter: WindowedMax,
    rounds: Rounds,
    min_rtt: Option<Duration>,
    /// When it was measured, or last found too old; `None` before the first ACK.
    min_rtt_at: Option<Instant>,
    /// The bandwidth beyond which growth is looked for, the rounds that found none, and whether they
    /// were enough, ever.
    full_bw: f64,
    full_bw_rounds: u32,
    full_bw_reached: bool,
    /// When the phase of the cycle began.
    phase_at: Instant,
    /// In `ProbeRtt`: whether a round with few segments in flight has passed.
    probe_rtt_round_done: bool,
    /// The window before a repair, or before `ProbeRtt`, cut it.
    prior_cwnd: Bytes,
    /// The repair under way at the last ACK.
    repair: Repair,
    /// The first round of recovery: as much goes out as is delivered.
    conserves_packets: bool,
    /// Nothing was in flight, for want of data, when the last segment went out.
    idle_restart: bool,
    policer: Policer,
    aggregation: Aggregation,
    last: Reading,
    random: Stream,
}

impl Default for Bbr1 {
    fn default() -> Self {
        let mss = Mss::default();
        Self {
            mss,
            cwnd: mss.bytes(),
            ssthresh: None,
            mode: Mode::Startup,
            pacing_rate: HIGH_GAIN * mss.bytes().as_f64() / NOMINAL_RTT.as_secs_f64(),
            has_seen_rtt: false,
            bw_filter: WindowedMax::default(),
            rounds: Rounds::default(),
            min_rtt: None,
            min_rtt_at: None,
            full_bw: 0.0,
            full_bw_rounds: 0,
            full_bw_reached: false,
            phase_at: Instant::START,
            probe_rtt_round_done: false,
            prior_cwnd: Bytes::ZERO,
            repair: Repair::None,
            conserves_packets: false,
            idle_restart: false,
            policer: Policer::default(),
            aggregation: Aggregation::default(),
            last: Reading::default(),
            random: Stream::new(0, "bbr1"),
        }
    }
}

impl Bbr1 {
    /// The bandwidth that the flow believes in, in bytes per second.
    fn bw(&self) -> f64 {
        self.policer.rate().unwrap_or_else(|| self.bw_filter.get())
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => 1.0 / HIGH_GAIN,
            Mode::ProbeBw { phase } if self.policer.rate().is_none() => CYCLE[phase],
            Mode::ProbeBw { .. } | Mode::ProbeRtt { .. } => 1.0,
        }
    }

    const fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBw { .. } => CWND_GAIN,
            Mode::ProbeRtt { .. } => 1.0,
        }
    }

    const fn least_cwnd(&self) -> Bytes {
        self.mss.times(MIN_PIPE_SEGMENTS)
    }

    /// `gain` bandwidth-delay products, in segments, rounded up.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive; the cast saturates"
    )]
    fn bdp_segments(&self, bw: f64, gain: f64) -> u64 {
        let Some(min_rtt) = self.min_rtt else { return FIRST_WINDOW_SEGMENTS };
        (gain * volume(bw, min_rtt) / f64::from(self.mss.get())).ceil() as u64
    }

    /// Segments that Linux hands to the queue at once.
    fn quantum_segments(&self) -> u64 {
        let least = if self.pacing_rate < SLOW_RATE { 1 } else { 2 };
        let quantum = volume(self.pacing_rate, QUANTUM_SPAN).min(LARGEST_QUANTUM);
        bytes(quantum).whole_segments(self.mss).clamp(least, LARGEST_QUANTUM_SEGMENTS)
    }

    /// A window of `segments`, with room for what the hosts gather: three quanta, an even number for
    /// the sake of delayed ACKs, and two more so that even a small window may be exceeded.
    fn with_quanta(&self, segments: u64) -> Bytes {
        let mut segments = segments.saturating_add(3 * self.quantum_segments());
        segments = segments.saturating_add(segments % 2);
        if self.mode == (Mode::ProbeBw { phase: 0 }) {
            segments = segments.saturating_add(2);
        }
        self.mss.times(segments.min(Bytes::UNLIMITED.whole_segments(self.mss)))
    }

    fn inflight(&self, bw: f64, gain: f64) -> Bytes {
        self.with_quanta(self.bdp_segments(bw, gain))
    }

    fn enter_probe_bw(&mut self) {
        // Any phase but the one that drains: flows that start together do not probe together.
        let phase = match self.random.next_u64() % 7 {
            0 => 0,
            n => 8 - usize::try_from(n).unwrap_or(1),
        };
        self.mode = Mode::ProbeBw { phase };
        self.phase_at = self.last.at;
    }

    fn leave_probe_rtt(&mut self) {
        if self.full_bw_reached {
            self.enter_probe_bw();
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn seen(&self, has_loss: bool, is_app_limited: bool) -> PolicerSample {
        PolicerSample {
            reading: self.last,
            has_loss,
            round_start: self.rounds.start,
            is_app_limited,
            probes_bandwidth: matches!(self.mode, Mode::ProbeBw { .. }),
        }
    }

    fn update_bandwidth(&mut self, delivery: &Delivery) {
        self.rounds.start = false;
        let Some(sample) = delivery.sample.as_ref().filter(|sample| sample.interval.is_some())
        else {
            return;
        };
        self.rounds.on_delivered(sample.prior_delivered, delivery.delivered);
        if self.rounds.start {
            self.conserves_packets = false;
        }
        let seen = self.seen(delivery.newly_lost > Bytes::ZERO, sample.is_app_limited);
        if self.policer.update(&seen) {
            self.enter_probe_bw();
        }
        let rate = sample.rate();
        if !sample.is_app_limited || rate >= self.bw_filter.get() {
            self.bw_filter.update(rate, self.rounds.count, BW_WINDOW_ROUNDS);
        }
        if delivery.newly_delivered > Bytes::ZERO {
            self.aggregation.update(&Acked {
                now: delivery.now,
                data: delivery.newly_delivered,
                round_start: self.rounds.start,
                bw: self.bw(),
                cwnd: self.cwnd,
                segment: self.mss.bytes(),
            });
        }
    }

    /// True if the phase of the cycle has lasted long enough, or reached what it is for.
    fn is_phase_over(&self, delivery: &Delivery) -> bool {
        let lasted = self.min_rtt.is_none_or(|min_rtt| self.last.at.since(self.phase_at) > min_rtt);
        let gain = self.pacing_gain();
        let bw = self.bw_filter.get();
        if gain > 1.0 {
            let reached = delivery.in_flight_before + self.mss.times(self.quantum_segments());
            // A small buffer may not hold so much: a loss is enough.
            lasted && (delivery.newly_lost > Bytes::ZERO || reached >= self.inflight(bw, gain))
        } else if gain < 1.0 {
            lasted || delivery.in_flight_before <= self.inflight(bw, 1.0)
        } else {
            lasted
        }
    }

    fn update_cycle(&mut self, delivery: &Delivery) {
        if let Mode::ProbeBw { phase } = self.mode
            && self.is_phase_over(delivery)
        {
            self.mode = Mode::ProbeBw { phase: (phase + 1) % CYCLE.len() };
            self.phase_at = self.last.at;
        }
    }

    fn check_full_pipe(&mut self, delivery: &Delivery) {
        let is_app_limited = delivery.sample.is_some_and(|sample| sample.is_app_limited);
        if !self.full_bw_reached && self.rounds.start && !is_app_limited {
            let bw = self.bw_filter.get();
            if bw >= FULL_BW_GROWTH * self.full_bw {
                self.full_bw = bw;
                self.full_bw_rounds = 0;
            } else {
                self.full_bw_rounds += 1;
                self.full_bw_reached = self.full_bw_rounds >= FULL_BW_ROUNDS;
            }
        }
        if self.mode == Mode::Startup && self.full_bw_reached {
            self.mode = Mode::Drain;
            self.ssthresh = Some(self.inflight(self.bw_filter.get(), 1.0));
        }
        if self.mode == Mode::Drain
            && delivery.in_flight <= self.inflight(self.bw_filter.get(), 1.0)
        {
            self.enter_probe_bw();
        }
    }

    fn update_min_rtt(&mut self, delivery: &Delivery) {
        let now = delivery.now;
        let measured_at = *self.min_rtt_at.get_or_insert(now);
        let expired = now > measured_at + MIN_RTT_WINDOW;
        if let Some(rtt) = delivery.rtt
            && (self.min_rtt.is_none_or(|min_rtt| rtt <= min_rtt)
                || (expired && !delivery.maybe_delayed))
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_at = Some(now);
        }
        if expired && !self.idle_restart && !self.limits_flight() {
            self.mode = Mode::ProbeRtt { until: None };
            self.save_cwnd();
        }
        match self.mode {
            Mode::ProbeRtt { until: None } if delivery.in_flight <= self.least_cwnd() => {
                self.mode = Mode::ProbeRtt { until: Some(now + PROBE_RTT_DURATION) };
                self.probe_rtt_round_done = false;
                self.rounds.restart(delivery.delivered);
            }
            Mode::ProbeRtt { until: Some(_) } => {
                self.probe_rtt_round_done |= self.rounds.start;
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done(now);
                }
            }
            _ => {}
        }
        if delivery.newly_delivered > Bytes::ZERO {
            self.idle_restart = false;
        }
    }

    fn check_probe_rtt_done(&mut self, now: Instant) {
        if let Mode::ProbeRtt { until: Some(until) } = self.mode
            && now > until
        {
            self.min_rtt_at = Some(now);
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            self.leave_probe_rtt();
        }
    }

    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw() * PACING_MARGIN;
        if self.full_bw_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    fn begin_pacing(&mut self, srtt: Option<Duration>) {
        self.has_seen_rtt = srtt.is_some();
        let rtt = srtt.unwrap_or(NOMINAL_RTT).max(Duration::from_micros(1));
        let bw = self.cwnd.as_f64() / rtt.as_secs_f64();
        self.pacing_rate = HIGH_GAIN * bw * PACING_MARGIN;
    }

    /// Remembers the window that is to come back after it was cut.
    fn save_cwnd(&mut self) {
        self.prior_cwnd = if self.repair == Repair::None && !self.limits_flight() {
            self.cwnd
        } else {
            self.prior_cwnd.max(self.cwnd)
        };
    }

    /// The window by what is being repaired; true if packets are conserved and no more is to be done.
    fn follow_repair(&mut self, delivery: &Delivery) -> bool {
        // An ACK releases at most twice what it delivers.
        if delivery.newly_lost > Bytes::ZERO {
            self.cwnd = self.cwnd.saturating_sub(delivery.newly_lost).max(self.mss.bytes());
        }
        let before = std::mem::replace(&mut self.repair, delivery.repair);
        let conserved = delivery.in_flight + delivery.newly_delivered;
        if delivery.repair == Repair::Recovery && before != Repair::Recovery {
            self.conserves_packets = true;
            self.rounds.restart(delivery.delivered);
            // Linux counts packets: less than a segment is one.
            self.cwnd = conserved.max(self.mss.bytes());
        } else if before != Repair::None && delivery.repair == Repair::None {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            self.conserves_packets = false;
        }
        if self.conserves_packets {
            self.cwnd = self.cwnd.max(conserved);
        }
        self.conserves_packets
    }

    fn set_cwnd(&mut self, delivery: &Delivery) {
        let acked = delivery.newly_delivered;
        if acked > Bytes::ZERO && !self.follow_repair(delivery) {
            let bw = self.bw();
            let mut segments = self.bdp_segments(bw, self.cwnd_gain());
            if self.full_bw_reached {
                // Whole segments, as Linux counts them.
                segments += bytes(self.aggregation.extra(bw)).whole_segments(self.mss);
            }
            let target = self.with_quanta(segments);
            if self.full_bw_reached {
                self.cwnd = (self.cwnd + acked).min(target);
            } else if self.cwnd < target
                || delivery.delivered < self.mss.times(FIRST_WINDOW_SEGMENTS)
            {
                self.cwnd += acked;
            }
            self.cwnd = self.cwnd.max(self.least_cwnd());
        }
        if self.limits_flight() {
            self.cwnd = self.cwnd.min(self.least_cwnd());
        }
    }
}

impl Described for Bbr1 {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone(
        "bbr1",
        (),
        "paced at the path's bandwidth, window of two bandwidth-delay products (BBR v1, as Linux has it)",
    )];
}

impl Law for Bbr1 {
    const ABOUT: About = About {
        source: "tcp_bbr.c of Linux 6.18",
        linux: "bbr",
        defaults: &[(ANY, "noidle")],
        owns: &super::bbr::OWNS,
        recoveries: super::bbr::RECOVERIES,
        ..About::PLAIN
    };

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl Growth for Bbr1 {
    variables! { law =>
        "state", "startup, drain, probe_bw or probe_rtt": law.mode.word();
        "pacing_gain", "the pacing gain": law.pacing_gain();
        "pacing_rate_bps", "the rate of payload at which segments leave": 8.0 * law.pacing_rate;
        "bw_bps", "the estimated bandwidth of the path": 8.0 * law.bw();
        "min_rtt_s", "the least round-trip time of ten seconds": law.min_rtt;
        "round_count", "packet-timed round trips": law.rounds.count;
        "full_bw_bps", "the bandwidth beyond which startup looks for growth": 8.0 * law.full_bw;
        "full_bw_count", "rounds without that growth": law.full_bw_rounds;
        "full_bw_reached", "1 once the pipe was found full": law.full_bw_reached;
        "idle_restart", "1 after silence, until data is delivered": law.idle_restart;
    }

    /// All is done in [`on_delivery`](Growth::on_delivery).
    fn on_ack(&mut self, _: &Ack, _: Option<SlowStartStep>) {}

    fn on_congestion(&mut self, congestion: &Congestion) {
        // Linux's BBR takes no notice of a mark.
        if let Signal::Ecn { .. } = congestion.signal {
            return;
        }
        self.save_cwnd();
        if let Signal::Timeout { .. } = congestion.signal {
            self.repair = Repair::AfterTimeout;
            self.full_bw = 0.0;
            // A timeout counts as the end of a round.
            let seen = PolicerSample { round_start: true, ..self.seen(true, false) };
            if self.policer.update(&seen) {
                self.enter_probe_bw();
            }
            self.cwnd = congestion.mss.bytes();
        }
    }

    /// The window comes back with the delivery that ends the repair.
    fn on_recovery_end(&mut self, _: &RecoveryEnd) {}

    fn on_spurious(&mut self) {
        self.full_bw = 0.0;
        self.full_bw_rounds = 0;
        self.policer.reset(self.last);
    }

    fn rebase(&mut self, proposal: &Proposal) {
        if proposal.why != Why::Established {
            return;
        }
        self.mss = proposal.mss;
        self.cwnd = proposal.cwnd.unwrap_or_else(|| self.mss.bytes());
        self.ssthresh = proposal.ssthresh;
        self.begin_pacing(None);
    }

    fn on_established(&mut self, established: &Established) {
        self.random = Stream::new(established.seed, "bbr1");
        self.min_rtt = established.srtt;
        self.begin_pacing(established.srtt);
    }

    fn cwnd(&self) -> Bytes {
        self.cwnd
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.ssthresh
    }

    fn in_slow_start(&self) -> bool {
        self.mode == Mode::Startup
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(pacing_rate(self.pacing_rate))
    }

    fn wants(&self) -> Wants {
        Wants { models_path: true, grows_by_acks: false, ..Wants::ACKS }
    }

    fn on_delivery(&mut self, delivery: &Delivery) {
        self.mss = delivery.mss;
        if delivery.newly_delivered > Bytes::ZERO {
            self.last.at = delivery.now;
        }
        self.last.delivered = delivery.delivered;
        self.last.lost = delivery.lost;
        self.update_bandwidth(delivery);
        self.update_cycle(delivery);
        self.check_full_pipe(delivery);
        self.update_min_rtt(delivery);
        if !self.has_seen_rtt && delivery.srtt.is_some() {
            self.begin_pacing(delivery.srtt);
        }
        self.set_pacing_rate(self.pacing_gain());
        self.set_cwnd(delivery);
    }

    fn on_send_start(&mut self, &SendStart { now, app_limited, .. }: &SendStart) {
        if !app_limited {
            return;
        }
        self.idle_restart = true;
        self.aggregation.restart(now);
        if matches!(self.mode, Mode::ProbeBw { .. }) {
            self.set_pacing_rate(1.0);
        } else {
            self.check_probe_rtt_done(now);
        }
    }

    fn limits_flight(&self) -> bool {
        matches!(self.mode, Mode::ProbeRtt { .. })
    }
}

#[cfg(test)]
mod tests;
