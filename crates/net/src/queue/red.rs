use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant, Rate};

use super::QueueUnit;
use super::line::{Line, Waiting};
use super::scheduled::{Admission, Log, Queueing, Reason, Room};
use crate::packet::Packet;

/// RED's settings (Floyd and Jacobson 1993, §4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedConfig {
    /// In what the thresholds and the average count. In bytes, a packet is dropped with a probability
    /// that its size has a part in.
    pub unit: QueueUnit,
    /// The average below which nothing is dropped.
    pub min_th: f64,
    /// The average above which the probability is no longer proportional.
    pub max_th: f64,
    /// What a new sample weighs in the average (`w_q`).
    pub weight: f64,
    /// The probability as the average comes to `max_th`.
    pub max_p: f64,
    /// Whether the probability rises from `max_p` to 1 between `max_th` and twice that; otherwise all
    /// are dropped from `max_th` on.
    pub gentle: bool,
    /// Whether `max_p` follows the average (Floyd, Gummadi and Shenker 2001).
    pub adaptive: bool,
    /// Whether packets that ask for ECN are marked instead of dropped with a probability.
    pub ecn: bool,
    /// A full packet's size: an idle link could have sent so many of these, and in bytes these are the
    /// packets that are dropped with the whole probability.
    pub packet_size: u32,
}

impl Default for RedConfig {
    fn default() -> Self {
        Self {
            unit: QueueUnit::Packets,
            min_th: 5.0,
            max_th: 15.0,
            weight: 0.002,
            max_p: 0.1,
            gentle: true,
            adaptive: false,
            ecn: false,
            packet_size: 1500,
        }
    }
}

/// What a packet's arrival calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Pass,
    /// Mark, or drop.
    Signal,
    Drop,
}

/// How often `max_p` moves (Floyd, Gummadi and Shenker 2001, fig. 1).
const ADAPTS_EVERY: Duration = Duration::from_millis(500);

/// Random early detection.
#[derive(Clone, Debug)]
pub struct Red {
    config: RedConfig,
    line: Line,
    average: f64,
    /// Packets that could have been sent while the link was idle, as far as they are not in the average yet.
    missed: f64,
    max_p: f64,
    /// Packets since the last that was marked or dropped, while the average is above `min_th`; −1
    /// before the first.
    count: f64,
    /// Since when the link has been idle, if it is.
    idle_since: Option<Instant>,
    adapted: Instant,
    /// The time that a full packet takes.
    packet_time: Duration,
    random: Stream,
}

impl Red {
    /// An empty queue in front of a link of `rate`.
    pub fn new(config: RedConfig, rate: Rate, random: Stream) -> Self {
        let mut red = Self {
            config,
            line: Line::default(),
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

    /// The link has another rate from now on.
    pub fn set_rate(&mut self, rate: Rate) {
        self.packet_time = rate.transmission_time(Bytes::new(u64::from(self.config.packet_size)));
    }

    /// Counts an arrival in the average.
    #[inline]
    fn average_in(&mut self, now: Instant) {
        let weight = self.config.weight;
        if let Some(since) = self.idle_since {
            self.missed += now.since(since).as_nanos() as f64 / self.packet_time.as_nanos() as f64;
            self.idle_since = Some(now);
            // What is below the threshold can only fall, and by how much need not be known yet.
            if self.average >= self.config.min_th {
                self.count_missed();
            }
            return;
        }
        self.count_missed();
        let queue = match self.config.unit {
            QueueUnit::Packets => self.line.packets() as f64,
            QueueUnit::Bytes => self.line.bytes() as f64,
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
        let RedConfig { min_th, max_th, .. } = self.config;
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
        let RedConfig { min_th, max_th, gentle, .. } = self.config;
        if self.average < max_th {
            Some(self.max_p * (self.average - min_th) / (max_th - min_th))
        } else if gentle && self.average < 2.0 * max_th {
            Some(self.max_p + (1.0 - self.max_p) * (self.average - max_th) / max_th)
        } else {
            None
        }
    }

    #[inline]
    fn call(&mut self, size: u32) -> Call {
        if self.average < self.config.min_th {
            self.count = -1.0;
            return Call::Pass;
        }
        let Some(mut p) = self.probability() else {
            self.count = 0.0;
            return Call::Drop;
        };
        self.count += 1.0;
        if self.config.unit == QueueUnit::Bytes {
            p *= f64::from(size) / f64::from(self.config.packet_size);
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
        self.line.push(now, packet);
        Admission::Taken
    }

    #[inline]
    fn next(&mut self, now: Instant, _: &mut Log) -> Option<Waiting> {
        let next = self.line.pop();
        if next.is_none() {
            self.idle_since = Some(now);
        }
        next
    }

    fn pop_last(&mut self) -> Option<Packet> {
        self.line.pop_last()
    }
}

#[cfg(test)]
mod tests;
