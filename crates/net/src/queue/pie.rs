//! The proportional integral controller enhanced: RFC 8033 (February 2017).

use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{check_limit, check_size, size};
use super::contract::{Admission, Described, Limits, Log, Queueing, Reason, Room};
use super::fifo::{FifoQueue, Waiting};
use crate::check::{Refusal, check_share, check_time, refuse};
use crate::limit::Limit;
use crate::packet::Packet;

/// PIE's estimate of the delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Estimate")]
pub enum DelayEstimate {
    /// The wait of the packet that left last.
    #[default]
    Sojourn,
    /// The length of the queue over the rate at which packets have left.
    // RFC 8033 §5.2.
    DepartureRate,
}

/// The proportional integral controller enhanced (RFC 8033). An arrival is dropped or marked with
/// a probability that is moved so that the delay comes to a target.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct PieConfig {
    /// The most that waits.
    pub limit: Limit,
    /// The delay that is aimed at (`QDELAY_REF`).
    pub target: Duration,
    /// The interval at which the probability is computed (`T_UPDATE`).
    pub update: Duration,
    /// The weight in the probability of a second of delay beyond the target, before the steps
    /// are made smaller for small probabilities.
    pub alpha: f64,
    /// The weight of a second by which the delay has grown.
    pub beta: f64,
    /// The time for which nothing is dropped as congestion begins (`MAX_BURST`).
    pub burst: Duration,
    /// The estimate of the delay.
    pub estimate: DelayEstimate,
    /// The mean size of a packet: where no more than two of these wait, nothing is dropped.
    pub packet_size: Bytes,
    /// True if smaller packets are dropped with a smaller probability.
    pub byte_mode: bool,
    /// True if packets that ask for ECN are marked instead of dropped, while the probability is
    /// below `mark_below`.
    pub ecn: bool,
    /// The probability from which packets that ask for ECN are dropped, too.
    // §5.1.
    #[serde(deserialize_with = "ackclock_units::share::read")]
    #[schemars(with = "ackclock_units::share::Share")]
    pub mark_below: f64,
    /// True if drops keep a distance from one another.
    // §5.4.
    pub derandomise: bool,
}

impl Default for PieConfig {
    fn default() -> Self {
        Self {
            limit: Limit::UNLIMITED,
            target: Duration::from_millis(15),
            update: Duration::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            burst: Duration::from_millis(150),
            estimate: DelayEstimate::Sojourn,
            packet_size: Bytes::new(1500),
            byte_mode: false,
            ecn: false,
            mark_below: 0.1,
            derandomise: false,
        }
    }
}

impl Described for Pie {
    type Settings = PieConfig;

    const KIND: &'static str = "pie";

    const ALSO: &'static [&'static str] = &["docsis_pie"];
    const SOURCE: &'static str = "RFC 8033";

    fn limits(config: &PieConfig) -> Limits {
        config.limit.into()
    }

    fn marks(config: &PieConfig) -> bool {
        config.ecn
    }

    fn check(config: &PieConfig) -> Result<(), Refusal> {
        check_time("target", config.target)?;
        // Each update takes a step, however long the queue is left alone.
        if config.update < Duration::from_micros(10) {
            return refuse("update", "expected at least 10 us");
        }
        for (name, gain) in [("alpha", config.alpha), ("beta", config.beta)] {
            if !(gain.is_finite() && gain >= 0.0) {
                return refuse(name, "expected 0 or more");
            }
        }
        check_size("packet_size", config.packet_size)?;
        check_share("mark_below", config.mark_below)?;
        check_limit(config.limit)
    }

    fn make(config: &PieConfig, _: Rate, random: Stream) -> Self {
        Self::new(*config, random)
    }
}

/// Bytes that leave in one measurement of the rate (`DQ_THRESHOLD`).
const MEASURED_BYTES: u64 = 1 << 14;

/// The weight of a new measurement: `DQ_THRESHOLD` / 2^16.
const MEASURED_WEIGHT: f64 = 0.25;

/// A measurement of the rate at which packets leave.
#[derive(Clone, Copy, Debug, Default)]
struct Meter {
    /// The mean time that a byte takes, in seconds, once something was measured.
    byte_time: Option<f64>,
    /// The beginning of the measurement under way, and the bytes that have left since.
    since: Option<(Instant, u64)>,
}

impl Meter {
    /// Notes that a packet of `size` bytes leaves a queue of `waiting` bytes.
    fn on_departure(&mut self, now: Instant, size: u32, waiting: u64) {
        if let Some((began, bytes)) = &mut self.since {
            *bytes += u64::from(size);
            if *bytes >= MEASURED_BYTES {
                let measured = now.since(*began).as_secs_f64() / *bytes as f64;
                self.byte_time = Some(
                    self.byte_time
                        .map_or(measured, |mean| mean + MEASURED_WEIGHT * (measured - mean)),
                );
                self.since = None;
            }
        }
        if self.since.is_none() && waiting >= MEASURED_BYTES {
            self.since = Some((now, 0));
        }
    }
}

/// The proportional integral controller enhanced: packets are dropped as they come with a probability
/// that a controller moves, so that the delay comes to a target (RFC 8033).
#[derive(Clone, Debug)]
pub struct Pie {
    config: PieConfig,
    queue: FifoQueue,
    random: Stream,
    probability: f64,
    /// The delay at the last update, in seconds (`qdelay_old_`).
    delay: f64,
    /// The wait of the packet that left last, in seconds; zero once nothing waits.
    sojourn: f64,
    meter: Meter,
    burst_left: Duration,
    /// The sum of the probabilities since the last drop.
    accumulated: f64,
    next_update: Instant,
}

impl Pie {
    /// An empty queue.
    pub fn new(config: PieConfig, random: Stream) -> Self {
        Self {
            config,
            queue: FifoQueue::default(),
            random,
            probability: 0.0,
            delay: 0.0,
            sojourn: 0.0,
            meter: Meter::default(),
            burst_left: config.burst,
            accumulated: 0.0,
            next_update: Instant::START + config.update,
        }
    }

    /// Bytes that wait.
    pub const fn bytes(&self) -> u64 {
        self.queue.bytes()
    }

    /// Makes the updates that are due. Between two events of the queue no input of an update changes, so that none needs an event of its own; one that is due at `now` comes first.
    #[inline]
    fn catch_up(&mut self, now: Instant) {
        while self.next_update <= now {
            self.update();
            self.next_update += self.config.update;
            if self.is_at_rest() {
                let missed = now.since(self.next_update).as_nanos() / self.config.update.as_nanos();
                self.next_update += self.config.update * missed;
            }
        }
    }

    /// True if an update would change nothing.
    fn is_at_rest(&self) -> bool {
        self.probability <= 0.0
            && self.delay <= 0.0
            && self.current_delay() <= 0.0
            && self.burst_left == self.config.burst
    }

    /// The delay in seconds.
    fn current_delay(&self) -> f64 {
        match self.config.estimate {
            DelayEstimate::Sojourn => self.sojourn,
            DelayEstimate::DepartureRate => {
                self.meter.byte_time.map_or(0.0, |time| time * self.queue.bytes() as f64)
            }
        }
    }

    /// Computes the probability (RFC 8033 §4.2, §5.5).
    fn update(&mut self) {
        let PieConfig { target, alpha, beta, update, burst, .. } = self.config;
        let target = target.as_secs_f64();
        let (delay, before) = (self.current_delay(), self.delay);
        let mut step = alpha * (delay - target) + beta * (delay - before);
        step /= damping(self.probability);
        if self.probability >= 0.1 {
            step = step.min(0.02);
        }
        self.probability += step;
        if delay <= 0.0 && before <= 0.0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.delay = delay;
        self.burst_left = self.burst_left.saturating_sub(update);
        if self.probability <= 0.0 && delay < target / 2.0 && before < target / 2.0 {
            self.burst_left = burst;
        }
    }

    /// True if a packet of `bytes` that comes is to be dropped or marked (§4.1, §5.4).
    #[inline]
    fn strikes(&mut self, bytes: u32) -> bool {
        let config = &self.config;
        let few = self.queue.bytes() <= 2 * config.packet_size.get();
        let calm = self.delay < config.target.as_secs_f64() / 2.0 && self.probability < 0.2;
        if self.burst_left > Duration::ZERO || few || calm {
            return false;
        }
        let mut p = self.probability;
        if config.byte_mode {
            p *= f64::from(bytes) / f64::from(size(config.packet_size));
        }
        if config.derandomise {
            if p <= 0.0 {
                self.accumulated = 0.0;
            }
            self.accumulated += p;
            if self.accumulated < 0.85 {
                return false;
            }
            if self.accumulated >= 8.5 {
                return true;
            }
        }
        self.random.bernoulli(p)
    }
}

/// The divisor of a step of the probability, by which a small one moves in small steps.
fn damping(probability: f64) -> f64 {
    match probability {
        p if p < 0.000_001 => 2048.0,
        p if p < 0.000_01 => 512.0,
        p if p < 0.000_1 => 128.0,
        p if p < 0.001 => 32.0,
        p if p < 0.01 => 8.0,
        p if p < 0.1 => 2.0,
        _ => 1.0,
    }
}

impl Queueing for Pie {
    #[inline]
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, log: &mut Log) -> Admission {
        self.catch_up(now);
        if !room.fits {
            self.accumulated = 0.0;
            return Admission::Refused(Reason::Full);
        }
        if self.strikes(packet.size) {
            self.accumulated = 0.0;
            let marks = self.config.ecn
                && packet.asks_for_ecn()
                && self.probability < self.config.mark_below;
            if !marks {
                return Admission::Refused(Reason::Early);
            }
            log.mark(packet);
        }
        self.queue.push(now, packet);
        Admission::Taken
    }

    #[inline]
    fn next(&mut self, now: Instant, _: &mut Log) -> Option<Waiting> {
        self.catch_up(now);
        let next = self.queue.pop()?;
        match self.config.estimate {
            DelayEstimate::Sojourn => {
                // As Linux has it: a packet that leaves an empty queue behind tells of no delay to come.
                let stands = self.queue.packets() > 0;
                self.sojourn = if stands { now.since(next.came).as_secs_f64() } else { 0.0 };
            }
            DelayEstimate::DepartureRate => {
                self.meter.on_departure(now, next.packet.size, self.queue.bytes());
            }
        }
        Some(next)
    }

    fn pop_last(&mut self) -> Option<Packet> {
        self.queue.pop_last()
    }
}

#[cfg(test)]
mod tests;
