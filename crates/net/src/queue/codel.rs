//! Controlled delay: RFC 8289 (January 2018).

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::check_limit;
use super::contract::{Admission, Described, Limits, Log, Queueing, Reason, Room};
use super::fifo::{FifoQueue, Waiting};
use crate::check::{Refusal, check_time};
use crate::limit::Limit;
use crate::packet::Packet;

/// Controlled delay (RFC 8289). Packets are dropped or marked at the head, the faster the longer
/// the delay stands above a target.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct CoDelConfig {
    /// The most that waits.
    pub limit: Limit,
    /// The delay that stands, and the law by which packets are dropped.
    #[serde(flatten)]
    pub law: CoDelLaw,
    /// True if packets that ask for ECN are marked instead of dropped.
    pub ecn: bool,
}

impl Default for CoDelConfig {
    fn default() -> Self {
        Self { limit: Limit::UNLIMITED, law: CoDelLaw::default(), ecn: false }
    }
}

/// The law of controlled delay, which each queue of `FqCoDel` follows, too.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct CoDelLaw {
    /// The standing delay that is accepted.
    // §4.3.
    pub target: Duration,
    /// The time for which the delay may stay above the target: about the longest round trip of
    /// the flows.
    // Also the time to the second drop: §4.2.
    pub interval: Duration,
    /// The delay above which every packet that asks for ECN is marked, for laws such as `dctcp`;
    /// default: none.
    // RFC 8290 §5.2.7.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<Duration>,
    /// The arithmetic of the law; default: that of the RFC.
    #[serde(skip_serializing_if = "CoDelRules::is_default")]
    pub rules: CoDelRules,
}

/// The arithmetic of controlled delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "LawRules")]
pub enum CoDelRules {
    /// That of RFC 8289: the square root is exact.
    #[default]
    Rfc,
    /// That of Linux: 16 bits of the root, by one step of Newton's a drop, and times in units of 1024 ns. In flow queues all
    /// that waits counts as standing, and drops of a full buffer count.
    Linux,
}

impl CoDelRules {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for CoDelLaw {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            ce_threshold: None,
            rules: CoDelRules::default(),
        }
    }
}

impl CoDelLaw {
    /// Checks the law.
    ///
    /// # Errors
    /// The first key that is wrong, and why.
    pub fn check(&self) -> Result<(), Refusal> {
        check_time("target", self.target)?;
        check_time("interval", self.interval)
    }

    /// A moment or a time in nanoseconds, as far as the law can tell it.
    #[inline]
    const fn told(&self, nanos: u64) -> u64 {
        match self.rules {
            CoDelRules::Rfc => nanos,
            CoDelRules::Linux => nanos >> UNIT << UNIT,
        }
    }

    /// True if the delay of a packet that came at `came` is as much as the target.
    #[inline]
    const fn is_late(&self, now: Instant, came: Instant) -> bool {
        self.told(now.as_nanos()) - self.told(came.as_nanos()) >= self.told(self.target.as_nanos())
    }
}

/// Linux's unit of time is two to this of nanoseconds.
const UNIT: u32 = 10;

/// The state of the law at a queue of packets (RFC 8289 §5.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Control {
    /// The time from which packets may be dropped if the delay stays above the target until then.
    first_above: Option<Instant>,
    dropping: bool,
    drop_next: Instant,
    /// Drops since the dropping state began, and how many of them it began with.
    count: u32,
    last_count: u32,
    /// The largest packet seen: a queue of no more bytes has no standing delay.
    largest: u32,
    /// One over the square root of `count`, in units of 2^-16: with Linux's rules alone.
    root: u16,
}

impl Control {
    /// Notes that a packet of `size` bytes comes to the queue.
    #[inline]
    pub fn note_size(&mut self, size: u32) {
        self.largest = self.largest.max(size);
    }

    /// Takes out the packet of `queue` that is sent next. Packets before it may have been dropped, and it may
    /// have been marked. `others` bytes that wait elsewhere stand with it.
    #[inline]
    pub fn pop(
        &mut self,
        now: Instant,
        queue: &mut FifoQueue,
        others: u64,
        (law, ecn): (&CoDelLaw, bool),
        log: &mut Log,
    ) -> Option<Waiting> {
        let now = Instant::from_nanos(law.told(now.as_nanos()));
        let mut head = queue.pop();
        let may_drop = self.may_drop(now, head, queue.bytes() + others, law);
        let mut marked = false;
        if self.dropping {
            self.dropping = may_drop;
            while self.dropping && now >= self.drop_next {
                let first = head?;
                self.count += 1;
                self.step(law);
                marked = ecn && first.packet.asks_for_ecn();
                if !marked {
                    log.drop(first.packet, Reason::Early);
                    head = queue.pop();
                    self.dropping = self.may_drop(now, head, queue.bytes() + others, law);
                }
                if self.dropping {
                    self.drop_next += self.gap(law);
                }
                // The marked packet is sent; other drops that are due fall on those that follow.
                if marked {
                    break;
                }
            }
        } else if may_drop {
            let first = head?;
            marked = ecn && first.packet.asks_for_ecn();
            if !marked {
                log.drop(first.packet, Reason::Early);
                head = queue.pop();
                self.may_drop(now, head, queue.bytes() + others, law);
            }
            self.begin(now, law);
        }
        if let Some(first) = head {
            let late = law.ce_threshold.is_some_and(|most| now.since(first.came) > most);
            if marked || (late && first.packet.asks_for_ecn()) {
                log.mark(first.packet);
            }
        }
        head
    }

    /// True if the delay has been above the target for an interval, now that `head` was taken and so many bytes wait.
    #[inline]
    fn may_drop(
        &mut self,
        now: Instant,
        head: Option<Waiting>,
        waiting: u64,
        law: &CoDelLaw,
    ) -> bool {
        let stands = head.is_some_and(|head| law.is_late(now, head.came))
            && waiting > u64::from(self.largest);
        if !stands {
            self.first_above = None;
            return false;
        }
        if let Some(moment) = self.first_above {
            return match law.rules {
                CoDelRules::Rfc => now >= moment,
                CoDelRules::Linux => now > moment,
            };
        }
        self.first_above = Some(now + Duration::from_nanos(law.told(law.interval.as_nanos())));
        false
    }

    /// Begins the dropping state, at the rate of the last one if that ended lately.
    fn begin(&mut self, now: Instant, law: &CoDelLaw) {
        self.dropping = true;
        let drops = self.count - self.last_count;
        let lately = now < self.drop_next + law.interval * 16;
        if drops > 1 && lately {
            self.count = drops;
            self.step(law);
        } else {
            self.count = 1;
            self.root = u16::MAX;
        }
        self.last_count = self.count;
        self.drop_next = now + self.gap(law);
    }

    /// Notes drops that are not the law's.
    pub fn count_others(&mut self, drops: u32, law: &CoDelLaw) {
        if law.rules == CoDelRules::Linux {
            self.count = self.count.wrapping_add(drops);
        }
    }

    /// Brings the root nearer to that of a count that has changed.
    fn step(&mut self, law: &CoDelLaw) {
        if law.rules == CoDelRules::Linux {
            let root = u64::from(self.root) << 16;
            let rest = (3_u64 << 32).wrapping_sub(u64::from(self.count) * ((root * root) >> 32));
            self.root = ((rest >> 2).wrapping_mul(root) >> 47) as u16;
        }
    }

    /// The time from one drop to the next, at the count that has come (RFC 8289 §5.6).
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most the interval, positive"
    )]
    fn gap(&self, law: &CoDelLaw) -> Duration {
        let interval = law.interval.as_nanos();
        Duration::from_nanos(match law.rules {
            CoDelRules::Rfc => (interval as f64 / f64::from(self.count).sqrt()).round() as u64,
            CoDelRules::Linux => (((interval >> UNIT) * u64::from(self.root)) >> 16) << UNIT,
        })
    }
}

/// Controlled delay: packets are dropped from the head of one queue, the faster the longer the delay
/// stands above a target (RFC 8289).
#[derive(Clone, Debug)]
pub struct CoDel {
    config: CoDelConfig,
    queue: FifoQueue,
    control: Control,
}

impl CoDel {
    /// An empty queue.
    pub fn new(config: CoDelConfig) -> Self {
        Self { config, queue: FifoQueue::default(), control: Control::default() }
    }
}

impl Described for CoDel {
    type Settings = CoDelConfig;

    const KIND: &'static str = "codel";
    const SOURCE: &'static str = "RFC 8289";

    fn limits(config: &CoDelConfig) -> Limits {
        config.limit.into()
    }

    fn marks(config: &CoDelConfig) -> bool {
        config.ecn || config.law.ce_threshold.is_some()
    }

    fn check(config: &CoDelConfig) -> Result<(), Refusal> {
        config.law.check()?;
        check_limit(config.limit)
    }

    fn make(config: &CoDelConfig, _: Rate, _: Stream) -> Self {
        Self::new(*config)
    }
}

impl Queueing for CoDel {
    #[inline]
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, _: &mut Log) -> Admission {
        if !room.fits {
            return Admission::Refused(Reason::Full);
        }
        self.control.note_size(packet.size);
        self.queue.push(now, packet);
        Admission::Taken
    }

    #[inline]
    fn next(&mut self, now: Instant, log: &mut Log) -> Option<Waiting> {
        let law = (&self.config.law, self.config.ecn);
        self.control.pop(now, &mut self.queue, 0, law, log)
    }

    fn pop_last(&mut self) -> Option<Packet> {
        self.queue.pop_last()
    }
}

#[cfg(test)]
mod tests;
