//! Copa: V. Arun and H. Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet", NSDI 2018.
//!
//! The rate goes towards 1/(δ d), where d is the queueing delay, so that each flow has about 1/δ packets waiting; beside
//! flows that fill the buffer δ follows the losses, as an AIMD sender's window does.

use std::collections::VecDeque;

use ackclock_units::{Bytes, Duration, Instant, Mss, Rate};

use super::bbr::{self, NOMINAL_RTT, pacing_rate};
use super::contract::{About, Growth, Law, Wants, whole_bytes};
use super::variables::variables;
use crate::event::{
    Ack, Congestion, Delivery, Established, Proposal, RecoveryEnd, Signal, SlowStartStep, Why,
};
use crate::words::{ANY, Described, Slot, Word};

/// 1/δ in the default mode.
const PATIENCE: f64 = 2.0;
/// The time whose least round-trip time is the path's, `RTTmin`.
const MIN_WINDOW: Duration = Duration::from_secs(10);
/// The round trips whose largest one is `RTTmax`, and those without a nearly empty queue after which others fill it.
const MAX_ROUNDS: u64 = 4;
const FULL_ROUNDS: u64 = 5;
/// The part of the range of delays below which the queue is nearly empty.
const NEARLY_EMPTY: f64 = 0.1;
/// Round trips in one direction after which the velocity doubles.
const STEADY_ROUNDS: u32 = 3;
/// The least window, in segments.
const LEAST: f64 = 2.0;

/// The modes of the law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopaModes {
    /// The default mode, and the competitive one where others fill the buffer.
    Both,
    /// The default mode alone.
    Default,
}

/// The least, or the largest, of the samples of a time.
#[derive(Clone, Debug, Default)]
struct Extreme {
    /// Samples that may become it, each behind a better one.
    kept: VecDeque<(Instant, Duration)>,
    largest: bool,
}

impl Extreme {
    fn sample(&mut self, now: Instant, rtt: Duration, within: Duration) {
        let worse = |kept: Duration| if self.largest { kept <= rtt } else { kept >= rtt };
        while self.kept.back().is_some_and(|(_, kept)| worse(*kept)) {
            self.kept.pop_back();
        }
        self.kept.push_back((now, rtt));
        while self.kept.front().is_some_and(|(at, _)| now.since(*at) > within) {
            self.kept.pop_front();
        }
    }

    fn get(&self) -> Option<Duration> {
        self.kept.front().map(|(_, rtt)| *rtt)
    }
}

/// The window's way at the end of a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

/// Copa.
#[derive(Clone, Debug)]
pub struct Copa {
    modes: CopaModes,
    mss: Mss,
    /// In segments.
    cwnd: f64,
    /// The window before a timeout.
    undo: Option<f64>,
    slow_start: bool,
    /// 1/δ.
    patience: f64,
    /// v.
    velocity: f64,
    way: Option<Way>,
    steady_rounds: u32,
    /// When the round trip began, and the window then.
    round: Option<(Instant, f64)>,
    /// True if something was lost in it.
    lost: bool,
    /// When the queue was last seen nearly empty.
    empty_at: Instant,
    least: Extreme,
    standing: Extreme,
    largest: Extreme,
    srtt: Duration,
}

impl Default for Copa {
    fn default() -> Self {
        Self {
            modes: CopaModes::Both,
            mss: Mss::default(),
            cwnd: 1.0,
            undo: None,
            slow_start: true,
            patience: PATIENCE,
            velocity: 1.0,
            way: None,
            steady_rounds: 0,
            round: None,
            lost: false,
            empty_at: Instant::START,
            least: Extreme::default(),
            standing: Extreme::default(),
            largest: Extreme { largest: true, ..Extreme::default() },
            srtt: NOMINAL_RTT,
        }
    }
}

/// 1/(δ d), in packets per second; infinite without a queue.
fn target_rate(patience: f64, queueing: f64) -> f64 {
    patience / queueing
}

impl Copa {
    fn measure(&mut self, now: Instant, rtt: Duration) {
        self.least.sample(now, rtt, MIN_WINDOW);
        self.standing.sample(now, rtt, self.srtt / 2);
        self.largest.sample(now, rtt, self.srtt * MAX_ROUNDS);
    }

    fn standing_rtt(&self) -> Duration {
        self.standing.get().unwrap_or(self.srtt)
    }

    /// d: `RTTstanding` less `RTTmin`, in seconds.
    fn queueing(&self) -> f64 {
        let least = self.least.get().unwrap_or_default();
        self.standing_rtt().saturating_sub(least).as_secs_f64()
    }

    /// True if the window is to grow.
    fn is_below_target(&self) -> bool {
        let rate = self.cwnd / self.standing_rtt().as_secs_f64().max(1e-9);
        rate <= target_rate(self.patience, self.queueing())
    }

    fn note_empty_queue(&mut self, now: Instant) {
        let least = self.least.get().unwrap_or_default();
        let range = self.largest.get().unwrap_or_default().saturating_sub(least).as_secs_f64();
        if self.queueing() <= NEARLY_EMPTY * range {
            self.empty_at = now;
        }
    }

    /// The end of a round trip: the velocity, and the mode.
    fn end_round(&mut self, now: Instant) {
        let Some((began, before)) = self.round else {
            self.round = Some((now, self.cwnd));
            self.empty_at = now;
            return;
        };
        if now.since(began) < self.srtt {
            return;
        }
        self.round = Some((now, self.cwnd));
        let way = if self.cwnd > before { Way::Up } else { Way::Down };
        if self.way == Some(way) {
            self.steady_rounds += 1;
            if self.steady_rounds >= STEADY_ROUNDS && !self.slow_start {
                // No more than the window itself in a round trip.
                self.velocity = (2.0 * self.velocity).min(self.cwnd / self.patience).max(1.0);
            }
        } else {
            self.way = Some(way);
            self.steady_rounds = 0;
            self.velocity = 1.0;
        }
        let lost = std::mem::take(&mut self.lost);
        let full = now.since(self.empty_at) > self.srtt * FULL_ROUNDS;
        if !full || self.modes == CopaModes::Default {
            self.patience = PATIENCE;
        } else if !lost {
            self.patience += 1.0;
        }
    }

    /// v/(δ W) for each segment, towards the target.
    fn step(&mut self, acked: f64, may_grow: bool) {
        let up = self.is_below_target();
        if self.slow_start {
            if up {
                self.cwnd += if may_grow { acked } else { 0.0 };
                return;
            }
            self.slow_start = false;
        }
        if self.way.is_some_and(|way| (way == Way::Up) != up) {
            self.velocity = 1.0;
        }
        let step = (self.velocity * self.patience * acked / self.cwnd).min(acked);
        if up {
            self.cwnd += if may_grow { step } else { 0.0 };
        } else {
            self.cwnd = (self.cwnd - step).max(LEAST.min(self.cwnd));
        }
    }
}

impl Described for Copa {
    type Settings = CopaModes;

    const WORDS: &'static [Word<CopaModes>] = &[
        Word::alone(
            "copa",
            CopaModes::Both,
            "two packets waiting for each flow, more beside flows that fill the buffer (Copa, NSDI 2018)",
        ),
        Word::with("copa", "default", CopaModes::Default, "Copa in its default mode alone"),
    ];
}

impl Law for Copa {
    const ABOUT: About = About {
        source: "Arun and Balakrishnan 2018, \"Copa: Practical Delay-Based Congestion Control for the Internet\"",
        defaults: &[(ANY, "noidle")],
        owns: &[
            (Slot::SlowStart, "Copa has a slow start of its own, which ends at its target rate"),
            (Slot::Jump, "Copa's window follows from the delay that it measures"),
            (Slot::Idle, "Copa does not grow while its window is not used"),
        ],
        recoveries: bbr::RECOVERIES_OF_MODELS,
        ..About::PLAIN
    };

    fn make(modes: CopaModes) -> Self {
        Self { modes, ..Self::default() }
    }
}

impl Growth for Copa {
    variables! { law =>
        "delta", "the trade of throughput for delay (δ)": 1.0 / law.patience;
        "velocity", "the speed of the window (v)": law.velocity;
        "competes", "1 in the competitive mode": law.patience > PATIENCE;
        "min_rtt_s", "the least round-trip time of ten seconds (RTTmin)": law.least.get();
        "standing_rtt_s", "the least round-trip time of half a round (RTTstanding)": law.standing.get();
    }

    /// All is done in [`on_delivery`](Growth::on_delivery).
    fn on_ack(&mut self, _: &Ack, _: Option<SlowStartStep>) {}

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.mss = congestion.mss;
        if !self.lost {
            self.patience = (self.patience / 2.0).max(PATIENCE);
        }
        self.lost = true;
        if let Signal::Timeout { consecutive } = congestion.signal {
            if consecutive <= 1 {
                self.undo = Some(self.cwnd);
            }
            self.cwnd = 1.0;
            self.slow_start = false;
            self.velocity = 1.0;
            self.round = None;
        }
    }

    fn on_recovery_end(&mut self, _: &RecoveryEnd) {}

    fn on_spurious(&mut self) {
        if let Some(before) = self.undo.take() {
            self.cwnd = self.cwnd.max(before);
        }
    }

    fn rebase(&mut self, proposal: &Proposal) {
        if proposal.why != Why::Established {
            return;
        }
        self.mss = proposal.mss;
        if let Some(cwnd) = proposal.cwnd {
            self.cwnd = cwnd.segments(self.mss).max(1.0);
        }
    }

    fn on_established(&mut self, established: &Established) {
        self.srtt = established.srtt.unwrap_or(NOMINAL_RTT).max(Duration::from_micros(1));
    }

    fn cwnd(&self) -> Bytes {
        whole_bytes(self.cwnd, self.mss).max(self.mss.bytes())
    }

    fn ssthresh(&self) -> Option<Bytes> {
        None
    }

    fn in_slow_start(&self) -> bool {
        self.slow_start
    }

    /// Twice the window in a standing round-trip time.
    fn pacing_rate(&self) -> Option<Rate> {
        let rtt = self.standing_rtt().max(Duration::from_micros(1)).as_secs_f64();
        Some(pacing_rate(2.0 * self.cwnd().as_f64() / rtt))
    }

    fn wants(&self) -> Wants {
        Wants { models_path: true, grows_by_acks: false, ..Wants::ACKS }
    }

    fn on_delivery(&mut self, delivery: &Delivery) {
        self.mss = delivery.mss;
        if let Some(srtt) = delivery.srtt {
            self.srtt = srtt.max(Duration::from_micros(1));
        }
        let Some(rtt) = delivery.rtt else { return };
        self.measure(delivery.now, rtt);
        self.end_round(delivery.now);
        self.note_empty_queue(delivery.now);
        let acked = delivery.newly_delivered.segments(delivery.mss);
        self.step(acked, delivery.is_cwnd_limited);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn at(millis: u64) -> Instant {
        Instant::START + MS(millis)
    }

    /// Copa with so many segments, behind slow start, which has seen `RTTmin` of 50 ms long ago and now sees `rtt`.
    fn seeing(cwnd: f64, rtt: u64) -> Copa {
        let mut law = Copa { cwnd, slow_start: false, srtt: MS(50), ..Copa::default() };
        law.measure(at(0), MS(50));
        law.measure(at(1000), MS(rtt));
        law
    }

    #[test]
    fn the_target_rate_is_one_over_delta_and_the_delay() {
        // delta = 0.5 and 60 - 50 ms: 1/(0.5 * 0.01) = 200 packets/s. Ten segments in 60 ms are 167: 1/(0.5 * 10) = 0.2 more
        // for each that is acknowledged; 13 are 217: 1/(0.5 * 13) less.
        assert!((target_rate(PATIENCE, 0.01) - 200.0).abs() < 1e-9);
        let mut law = seeing(10.0, 60);
        law.step(1.0, true);
        assert!((law.cwnd - 10.2).abs() < 1e-9, "{}", law.cwnd);
        let mut law = seeing(13.0, 60);
        law.step(1.0, true);
        assert!((law.cwnd - (13.0 - 2.0 / 13.0)).abs() < 1e-9, "{}", law.cwnd);
    }

    #[test]
    fn slow_start_ends_above_the_target() {
        let mut law = Copa { slow_start: true, ..seeing(4.0, 60) };
        law.step(1.0, true);
        assert!(law.slow_start && (law.cwnd - 5.0).abs() < 1e-9);
        law.cwnd = 13.0;
        law.step(1.0, true);
        assert!(!law.slow_start && law.cwnd < 13.0);
    }

    #[test]
    fn the_velocity_doubles_after_three_steady_round_trips_and_ends_with_them() {
        let mut law = seeing(100.0, 50);
        let mut seen = Vec::new();
        for n in 0..8 {
            law.cwnd += 1.0;
            law.end_round(at(1000 + 50 * n));
            seen.push(law.velocity);
        }
        // The first begins, the second sets the direction, and three more are the same.
        assert_eq!(seen, [1.0, 1.0, 1.0, 1.0, 2.0, 4.0, 8.0, 16.0]);
        law.cwnd -= 5.0;
        law.end_round(at(1400));
        assert!((law.velocity - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_queue_that_is_never_empty_makes_it_compete() {
        // Five round trips of 50 ms with 30 of 100 ms waiting at least; then 1/delta grows by 1 a round trip, and a loss halves
        // it.
        let mut law = seeing(20.0, 80);
        law.largest.sample(at(1000), MS(150), MS(10_000));
        law.end_round(at(1000));
        for n in 1..=9 {
            law.note_empty_queue(at(1000 + 50 * n));
            law.end_round(at(1000 + 50 * n));
        }
        // Rounds 6 to 9.
        assert!((law.patience - 6.0).abs() < 1e-9, "{}", law.patience);
        let mss = law.mss;
        law.on_congestion(&Congestion {
            now: at(1450),
            signal: Signal::Loss,
            reduce_from: mss.times(20),
            mss,
        });
        assert!((law.patience - 3.0).abs() < 1e-9);
        // An empty queue brings the default back.
        law.empty_at = at(1500);
        law.end_round(at(1500));
        assert!((law.patience - 2.0).abs() < 1e-9);
    }
}
