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
}

impl Default for CoDelLaw {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            ce_threshold: None,
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
}

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
}

impl Control {
    /// Notes that a packet of `size` bytes comes to the queue.
    #[inline]
    pub fn note_size(&mut self, size: u32) {
        self.largest = self.largest.max(size);
    }

    /// Takes out the packet of `queue` that is sent next. Packets before it may have been dropped, and it may
    /// have been marked.
    #[inline]
    pub fn pop(
        &mut self,
        now: Instant,
        queue: &mut FifoQueue,
        law: &CoDelLaw,
        ecn: bool,
        log: &mut Log,
    ) -> Option<Waiting> {
        let mut head = queue.pop();
        let may_drop = self.may_drop(now, head, queue, law);
        let mut marked = false;
        if self.dropping {
            self.dropping = may_drop;
            while self.dropping && now >= self.drop_next {
                let first = head?;
                self.count += 1;
                marked = ecn && first.packet.asks_for_ecn();
                if !marked {
                    log.drop(first.packet, Reason::Early);
                    head = queue.pop();
                    self.dropping = self.may_drop(now, head, queue, law);
                }
                if self.dropping {
                    self.drop_next = control_law(self.drop_next, law.interval, self.count);
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
                self.may_drop(now, head, queue, law);
            }
            self.begin(now, law.interval);
        }
        if let Some(first) = head {
            let late = law.ce_threshold.is_some_and(|most| now.since(first.came) > most);
            if marked || (late && first.packet.asks_for_ecn()) {
                log.mark(first.packet);
            }
        }
        head
    }

    /// True if the delay has been above the target for an interval, now that `head` was taken from
    /// `queue`.
    #[inline]
    fn may_drop(
        &mut self,
        now: Instant,
        head: Option<Waiting>,
        queue: &FifoQueue,
        law: &CoDelLaw,
    ) -> bool {
        let stands = head.is_some_and(|head| now.since(head.came) >= law.target)
            && queue.bytes() > u64::from(self.largest);
        if !stands {
            self.first_above = None;
            return false;
        }
        if let Some(moment) = self.first_above {
            return now >= moment;
        }
        self.first_above = Some(now + law.interval);
        false
    }

    /// Begins the dropping state, at the rate of the last one if that ended lately.
    fn begin(&mut self, now: Instant, interval: Duration) {
        self.dropping = true;
        let drops = self.count - self.last_count;
        let lately = now < self.drop_next + interval * 16;
        self.count = if drops > 1 && lately { drops } else { 1 };
        self.last_count = self.count;
        self.drop_next = control_law(now, interval, self.count);
    }
}

/// The time of the next drop, after one at `at` that was number `count` (RFC 8289 §5.6).
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most the interval, positive"
)]
fn control_law(at: Instant, interval: Duration, count: u32) -> Instant {
    let gap = interval.as_nanos() as f64 / f64::from(count).sqrt();
    at + Duration::from_nanos(gap.round() as u64)
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
        self.control.pop(now, &mut self.queue, &self.config.law, self.config.ecn, log)
    }

    fn pop_last(&mut self) -> Option<Packet> {
        self.queue.pop_last()
    }
}

#[cfg(test)]
mod tests;
