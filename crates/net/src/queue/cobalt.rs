//! COBALT: `CoDel` beside BLUE, as the queues of CAKE have it (Høiland-Jørgensen, Täht and Morton 2018).

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::check_limit;
use super::contract::{Admission, Described, Limits, Log, Queueing, Reason, Room};
use super::fifo::{FifoQueue, Waiting};
use crate::check::{Refusal, check_share, check_time};
use crate::limit::Limit;
use crate::packet::Packet;

/// COBALT (Høiland-Jørgensen, Täht and Morton 2018). Controlled delay drops or marks at the head while the delay stands
/// above a target, and BLUE drops at random once the queue has been full.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct CobaltConfig {
    /// The most that waits. A full queue also raises the probability of BLUE.
    pub limit: Limit,
    /// The law.
    #[serde(flatten)]
    pub law: CobaltLaw,
    /// True if packets that ask for ECN are marked by CoDel instead of dropped. BLUE drops them all the same.
    pub ecn: bool,
}

impl Default for CobaltConfig {
    fn default() -> Self {
        Self { limit: Limit::packets(1000), law: CobaltLaw::default(), ecn: true }
    }
}

/// The law of COBALT.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct CobaltLaw {
    /// The standing delay that is accepted.
    pub target: Duration,
    /// The time for which the delay may stay above the target: about the longest round trip of the flows.
    pub interval: Duration,
    /// The probability by which BLUE drops more when the queue is full, at most once in `target`.
    #[serde(deserialize_with = "ackclock_units::share::read")]
    #[schemars(with = "ackclock_units::share::Share")]
    pub increase: f64,
    /// The probability by which BLUE drops less when the queue is empty, at most once in `target`.
    #[serde(deserialize_with = "ackclock_units::share::read")]
    #[schemars(with = "ackclock_units::share::Share")]
    pub decrease: f64,
    /// The delay from which BLUE drops more as if the queue were full; default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blue_threshold: Option<Duration>,
    /// The delay above which every packet that asks for ECN is marked, for laws such as `dctcp`; default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<Duration>,
}

impl Default for CobaltLaw {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            increase: 1.0 / 256.0,
            decrease: 1.0 / 4096.0,
            blue_threshold: None,
            ce_threshold: None,
        }
    }
}

impl CobaltLaw {
    /// Checks the law.
    ///
    /// # Errors
    /// The first key that is wrong, and why.
    pub fn check(&self) -> Result<(), Refusal> {
        check_time("target", self.target)?;
        check_time("interval", self.interval)?;
        check_share("increase", self.increase)?;
        check_share("decrease", self.decrease)
    }
}

/// The state of the law at a queue of packets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Control {
    /// Drops and marks, less those that calm has taken back: the square root of it divides the interval.
    count: u32,
    dropping: bool,
    drop_next: Instant,
    /// The probability of BLUE, and when it last moved.
    probability: f64,
    moved: Instant,
}

/// A packet that was taken out at the head.
#[derive(Clone, Copy, Debug)]
pub(super) enum Taken {
    Sent(Waiting),
    Dropped(Waiting),
}

/// The judgement on a packet at the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judgement {
    Send,
    Mark,
    Drop,
}

impl Control {
    /// Takes out the packet of `queue` that is sent next. Packets before it may have been dropped, and it may have
    /// been marked. Nothing is dropped whose delay is at most `floor`, besides by BLUE.
    pub fn pop(
        &mut self,
        now: Instant,
        queue: &mut FifoQueue,
        (law, ecn, floor): (&CobaltLaw, bool, Duration),
        random: &mut Stream,
        log: &mut Log,
    ) -> Option<Waiting> {
        loop {
            match self.take(now, queue, (law, ecn, floor), random, log)? {
                Taken::Sent(head) => return Some(head),
                Taken::Dropped(_) => {}
            }
        }
    }

    /// Takes out the packet at the head of `queue`, which is sent or dropped.
    pub fn take(
        &mut self,
        now: Instant,
        queue: &mut FifoQueue,
        (law, ecn, floor): (&CobaltLaw, bool, Duration),
        random: &mut Stream,
        log: &mut Log,
    ) -> Option<Taken> {
        let Some(head) = queue.pop() else {
            self.on_empty(now, law);
            return None;
        };
        let delay = now.since(head.came);
        let may_mark = ecn && head.packet.asks_for_ecn();
        let judgement = self.judge(now, delay, may_mark, law, floor, random);
        // The last packet of a queue is never dropped.
        if judgement == Judgement::Drop && queue.packets() > 0 {
            log.drop(head.packet, Reason::Early);
            return Some(Taken::Dropped(head));
        }
        let late = law.ce_threshold.is_some_and(|most| delay > most);
        if judgement == Judgement::Mark || late && head.packet.asks_for_ecn() {
            log.mark(head.packet);
        }
        Some(Taken::Sent(head))
    }

    fn judge(
        &mut self,
        now: Instant,
        delay: Duration,
        may_mark: bool,
        law: &CobaltLaw,
        floor: Duration,
        random: &mut Stream,
    ) -> Judgement {
        let mut late = now > self.drop_next;
        let due = self.count > 0 && now >= self.drop_next;
        if delay > law.target && delay > floor {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = now + law.gap(self.count);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let mut judgement = Judgement::Send;
        if due && self.dropping {
            judgement = if may_mark { Judgement::Mark } else { Judgement::Drop };
            self.count = self.count.saturating_add(1);
            self.drop_next += law.gap(self.count);
            late = now > self.drop_next;
        } else if due {
            // The count decays at the rate at which it grew.
            while self.count > 0 && now >= self.drop_next {
                self.count -= 1;
                self.drop_next += law.gap(self.count);
            }
            late = now > self.drop_next;
        }
        if law.blue_threshold.is_some_and(|from| delay > from) {
            self.raise(now, law);
        }
        // BLUE drops what asks for ECN, too: it stands against flows that do not answer.
        if self.probability > 0.0
            && judgement != Judgement::Drop
            && random.bernoulli(self.probability)
        {
            judgement = Judgement::Drop;
        }
        if self.count == 0 {
            self.drop_next = now + law.interval;
        } else if late && judgement != Judgement::Drop {
            self.drop_next = now;
        }
        judgement
    }

    /// Raises the probability of BLUE, at most once in a target.
    fn raise(&mut self, now: Instant, law: &CobaltLaw) {
        if now.since(self.moved) > law.target {
            self.probability = (self.probability + law.increase).min(1.0);
            self.moved = now;
        }
    }

    /// Notes that a packet is dropped as the queue is full.
    pub fn on_full(&mut self, now: Instant, law: &CobaltLaw) {
        self.raise(now, law);
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// Notes that the queue is found empty.
    pub fn on_empty(&mut self, now: Instant, law: &CobaltLaw) {
        if self.probability > 0.0 && now.since(self.moved) > law.target {
            self.probability = (self.probability - law.decrease).max(0.0);
            self.moved = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.count -= 1;
            self.drop_next += law.gap(self.count);
        }
    }

    /// True if nothing of past congestion is left at `now`.
    pub fn is_at_rest(&self, now: Instant) -> bool {
        self.count == 0 && self.probability <= 0.0 && now >= self.drop_next
    }
}

impl CobaltLaw {
    /// The time to the next drop after number `count`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most the interval, positive"
    )]
    fn gap(&self, count: u32) -> Duration {
        let gap = self.interval.as_nanos() as f64 / f64::from(count.max(1)).sqrt();
        Duration::from_nanos(gap.round() as u64)
    }
}

/// COBALT: controlled delay at the head of one queue, beside BLUE.
#[derive(Clone, Debug)]
pub struct Cobalt {
    config: CobaltConfig,
    queue: FifoQueue,
    control: Control,
    random: Stream,
}

impl Described for Cobalt {
    type Settings = CobaltConfig;

    const KIND: &'static str = "cobalt";

    const ALSO: &'static [&'static str] = &["blue", "codel_blue"];
    const SOURCE: &'static str = "Høiland-Jørgensen, Täht and Morton 2018";

    fn limits(config: &CobaltConfig) -> Limits {
        config.limit.into()
    }

    fn marks(config: &CobaltConfig) -> bool {
        config.ecn || config.law.ce_threshold.is_some()
    }

    fn check(config: &CobaltConfig) -> Result<(), Refusal> {
        config.law.check()?;
        check_limit(config.limit)
    }

    fn make(config: &CobaltConfig, _: Rate, random: Stream) -> Self {
        Self { config: *config, queue: FifoQueue::default(), control: Control::default(), random }
    }
}

impl Queueing for Cobalt {
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, _: &mut Log) -> Admission {
        if !room.fits {
            self.control.on_full(now, &self.config.law);
            return Admission::Refused(Reason::Full);
        }
        self.queue.push(now, packet);
        Admission::Taken
    }

    fn next(&mut self, now: Instant, log: &mut Log) -> Option<Waiting> {
        let law = (&self.config.law, self.config.ecn, Duration::ZERO);
        self.control.pop(now, &mut self.queue, law, &mut self.random, log)
    }

    fn pop_last(&mut self) -> Option<Packet> {
        self.queue.pop_last()
    }
}

#[cfg(test)]
mod tests;
