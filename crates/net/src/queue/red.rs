//! Random early detection: Floyd and Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993.

use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{check_limit, check_size, size};
use super::contract::{Admission, Described, Limits, Log, Queueing, Reason, Room};
use super::fifo::{FifoQueue, Waiting};
use crate::check::{Refusal, check_positive_share, refuse};
use crate::limit::{Limit, QueueUnit};
use crate::packet::Packet;

/// Random early detection (Floyd and Jacobson 1993). An arrival is dropped or marked with a
/// probability that rises with the average length of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct RedConfig {
    /// The most that waits; an arrival beyond it is dropped whatever the average is.
    pub limit: Limit,
    /// The average below which nothing is dropped. In bytes ("7500 B"), so is the average, and
    /// smaller packets are dropped with a smaller probability.
    pub min_th: Limit,
    /// The average at which the probability comes to `max_p`, in the unit of `min_th`.
    pub max_th: Limit,
    /// The weight of a new sample in the average, above 0 and up to 1.
    pub weight: f64,
    /// The probability as the average comes to `max_th`, above 0 and up to 1.
    #[serde(deserialize_with = "ackclock_units::share::read")]
    #[schemars(with = "ackclock_units::share::Share")]
    pub max_p: f64,
    /// True if the probability rises from `max_p` to 1 between `max_th` and twice that; otherwise
    /// all arrivals are dropped from `max_th` on.
    pub gentle: bool,
    /// True if `max_p` moves, every 0.5 s, so that the average comes to the middle of the
    /// thresholds.
    // Floyd, Gummadi and Shenker 2001.
    pub adaptive: bool,
    /// True if packets that ask for ECN are marked where others are dropped with a probability.
    pub ecn: bool,
    /// A full packet: while the link is idle the average falls as if it sent these, and with
    /// thresholds in bytes these are dropped with the whole probability.
    pub packet_size: Bytes,
}

impl Default for RedConfig {
    fn default() -> Self {
        Self {
            limit: Limit::UNLIMITED,
            min_th: Limit::packets(5),
            max_th: Limit::packets(15),
            weight: 0.002,
            max_p: 0.1,
            gentle: true,
            adaptive: false,
            ecn: false,
            packet_size: Bytes::new(1500),
        }
    }
}

impl Described for Red {
    type Settings = RedConfig;

    const KIND: &'static str = "red";

    const ALSO: &'static [&'static str] = &["ared", "gred"];
    const SOURCE: &'static str = "Floyd and Jacobson 1993";

    fn limits(config: &RedConfig) -> Limits {
        config.limit.into()
    }

    fn marks(config: &RedConfig) -> bool {
        config.ecn
    }

    fn check(config: &RedConfig) -> Result<(), Refusal> {
        let RedConfig { min_th, max_th, .. } = *config;
        if min_th.unit() != max_th.unit() {
            return refuse("max_th", "expected the unit of `min_th`");
        }
        if max_th == Limit::UNLIMITED || min_th.is_at_least(max_th) == Some(true) {
            return refuse("max_th", "expected a limit above `min_th`");
        }
        check_positive_share("weight", config.weight)?;
        check_positive_share("max_p", config.max_p)?;
        check_size("packet_size", config.packet_size)?;
        check_limit(config.limit)
    }

    fn resolve(config: RedConfig, rate: Rate, rtt: Duration) -> Result<RedConfig, String> {
        let (min, max) = (config.min_th.resolve(rate, rtt), config.max_th.resolve(rate, rtt));
        if min.amount >= max.amount {
            return Err(format!(
                "the `max_th` of the queue comes to {}, expected more than its `min_th`, {}",
                max.amount, min.amount
            ));
        }
        Ok(RedConfig { min_th: Limit::Fixed(min), max_th: Limit::Fixed(max), ..config })
    }

    fn make(config: &RedConfig, rate: Rate, random: Stream) -> Self {
        Self::new(*config, rate, random)
    }
}

/// The answer to a packet's arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Pass,
    /// Mark, or drop.
    Signal,
    Drop,
}

/// The interval at which `max_p` moves (Floyd, Gummadi and Shenker 2001, fig. 1).
const ADAPTS_EVERY: Duration = Duration::from_millis(500);

/// Random early detection.
#[derive(Clone, Debug)]
pub struct Red {
    config: RedConfig,
    /// The unit of the thresholds and of the average.
    unit: QueueUnit,
    min_th: f64,
    max_th: f64,
    queue: FifoQueue,
    average: f64,
    /// Packets that could have been sent while the link was idle, as far as they are not in the average yet.
    missed: f64,
    max_p: f64,
    /// Packets since the last that was marked or dropped, while the average is above `min_th`; −1
    /// before the first.
    count: f64,
    /// The beginning of the link's silence, if it is idle.
    idle_since: Option<Instant>,
    adapted: Instant,
    /// The time that a full packet takes.
    packet_time: Duration,
    random: Stream,
}

/// The number of a resolved limit.
fn amount(limit: Limit) -> f64 {
    match limit {
        Limit::Fixed(limit) => limit.amount as f64,
        other => unreachable!("{other} is resolved before the queue is made"),
    }
}

impl Red {
    /// An empty queue in front of a link of `rate`.
    pub fn new(config: RedConfig, rate: Rate, random: Stream) -> Self {
        let mut red = Self {
            config,
            unit: config.min_th.unit(),
            min_th: amount(config.min_th),
            max_th: amount(config.max_th),
            queue: FifoQueue::default(),
            average: 0.0,
            missed: 0.0,
            max_p: config.max_p,
            count: -1.0,
            idle_since: Some(Instant::START),
            adapted: Instant::START,
            packet_time: Duration::ZERO,
            random,
        };
        red.set_rate(rate);
        red
    }

    /// Counts an arrival in the average.
    #[inline]
    fn average_in(&mut self, now: Instant) {
        let weight = self.config.weight;
        if let Some(since) = self.idle_since {
            self.missed += now.since(since).as_nanos() as f64 / self.packet_time.as_nanos() as f64;
            self.idle_since = Some(now);
            // An average below the threshold can only fall, and by how much need not be known yet.
            if self.average >= self.min_th {
                self.count_missed();
            }
            return;
        }
        self.count_missed();
        let queue = match self.unit {
            QueueUnit::Packets => self.queue.packets() as f64,
            QueueUnit::Bytes => self.queue.bytes() as f64,
        };
        self.average += weight * (queue - self.average);
    }

    /// Counts in the average that the link was idle.
    #[inline]
    fn count_missed(&mut self) {
        if self.missed > 0.0 {
            let missed = std::mem::take(&mut self.missed);
            self.average *= libm::pow(1.0 - self.config.weight, missed);
        }
    }

    /// Moves `max_p` so that the average comes to the middle of the thresholds.
    fn adapt(&mut self, now: Instant) {
        if now.since(self.adapted) < ADAPTS_EVERY {
            return;
        }
        self.adapted = now;
        let (min_th, max_th) = (self.min_th, self.max_th);
        let part = |share: f64| min_th + share * (max_th - min_th);
        if self.average > part(0.6) && self.max_p <= 0.5 {
            self.max_p += (self.max_p / 4.0).min(0.01);
        } else if self.average < part(0.4) && self.max_p >= 0.01 {
            self.max_p *= 0.9;
        }
    }

    /// The probability by the average alone; `None` where there is no chance left.
    #[inline]
    fn probability(&self) -> Option<f64> {
        let (min_th, max_th, gentle) = (self.min_th, self.max_th, self.config.gentle);
        if self.average < max_th {
            Some(self.max_p * (self.average - min_th) / (max_th - min_th))
        } else if gentle && self.average < 2.0 * max_th {
            Some(self.max_p + (1.0 - self.max_p) * (self.average - max_th) / max_th)
        } else {
            None
        }
    }

    #[inline]
    fn call(&mut self, bytes: u32) -> Call {
        if self.average < self.min_th {
            self.count = -1.0;
            return Call::Pass;
        }
        let Some(mut p) = self.probability() else {
            self.count = 0.0;
            return Call::Drop;
        };
        self.count += 1.0;
        if self.unit == QueueUnit::Bytes {
            p *= f64::from(bytes) / f64::from(size(self.config.packet_size));
        }
        // From one signal to the next: uniform over the first 1/p packets.
        let left = 1.0 - self.count * p;
        if left > 0.0 && !self.random.bernoulli(p / left) {
            return Call::Pass;
        }
        self.count = 0.0;
        Call::Signal
    }
}

impl Queueing for Red {
    #[inline]
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, log: &mut Log) -> Admission {
        self.average_in(now);
        if self.config.adaptive {
            self.adapt(now);
        }
        let call = self.call(packet.size);
        let marks = call == Call::Signal && self.config.ecn && packet.asks_for_ecn();
        if call != Call::Pass && !marks {
            return Admission::Refused(Reason::Early);
        }
        if !room.fits {
            return Admission::Refused(Reason::Full);
        }
        if marks {
            log.mark(packet);
        }
        self.idle_since = None;
        self.queue.push(now, packet);
        Admission::Taken
    }

    #[inline]
    fn next(&mut self, now: Instant, _: &mut Log) -> Option<Waiting> {
        let next = self.queue.pop();
        if next.is_none() {
            self.idle_since = Some(now);
        }
        next
    }

    fn pop_last(&mut self) -> Option<Packet> {
        self.queue.pop_last()
    }

    fn set_rate(&mut self, rate: Rate) {
        self.packet_time = rate.transmission_time(self.config.packet_size);
    }
}

#[cfg(test)]
mod tests;
