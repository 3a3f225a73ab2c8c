//! The coupled dual queue with PI2: RFC 9332 (January 2023), with the integers of Linux's `sch_dualpi2`.

mod control;
mod settings;

use ackclock_packet::Ecn;
use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate};

use super::check::size;
use super::classes::{ClassCounts, Classes};
use super::contract::{Admission, Described, Limits, Log, Queueing, Reason, Room};
use super::fifo::{FifoQueue, Waiting};
use crate::check::Refusal;
use crate::limit::{Limit, QueueLimit};
use crate::packet::Packet;
use control::{CERTAIN, Controller, Probability, share};
pub use settings::{DualPi2Config, NamedRamp, Ramp, RampSpec};

impl Described for DualPi2 {
    type Settings = DualPi2Config;

    const KIND: &'static str = "dualpi2";

    const ALSO: &'static [&'static str] = &["dualq", "dual_pi2", "l4s"];
    const SOURCE: &'static str = "RFC 9332";

    fn limits(config: &DualPi2Config) -> Limits {
        config.limit.into()
    }

    fn marks(_: &DualPi2Config) -> bool {
        true
    }

    fn queues(_: &DualPi2Config) -> u32 {
        1
    }

    fn check(config: &DualPi2Config) -> Result<(), Refusal> {
        config.check()
    }

    fn make(config: &DualPi2Config, _: Rate, random: Stream) -> Self {
        let values = config.values();
        // Without drops the probability of L4S packets ends at 1.
        let most = if config.drop_on_overload {
            CERTAIN
        } else {
            CERTAIN / Probability::from(config.coupling)
        };
        let classic = percent(config.classic_protection);
        Self {
            controller: Controller::new(values.target, values.alpha, values.beta, most),
            update: values.update,
            next_update: Instant::START + values.update,
            shallow: match (config.ramp, config.step) {
                (Some(ramp), _) => Shallow::Ramp(ramp.ramp()),
                (None, Limit::Time(step)) => Shallow::Step(step),
                (None, Limit::Fixed(QueueLimit::UNLIMITED) | Limit::Bdp(_)) => Shallow::None,
                (None, Limit::Fixed(step)) => Shallow::Packets(step.amount),
            },
            config: *config,
            full: u64::from(size(config.packet_size)),
            weights: [classic, 100 - classic],
            credit: initial_credit(config, classic),
            l4s: FifoQueue::default(),
            stepped: std::collections::VecDeque::new(),
            classic: FifoQueue::default(),
            random,
            counts: Box::default(),
        }
    }
}

/// A share in percent.
#[expect(clippy::cast_possible_truncation, reason = "from 0 to 100")]
fn percent(share: f64) -> i64 {
    (share * 100.0).round() as i64
}

/// The credit of a queue that was empty: L4S packets go first.
fn initial_credit(config: &DualPi2Config, classic: i64) -> i64 {
    i64::from(size(config.packet_size)) * (2 * classic - 100)
}

/// The marks of L4S packets by their own queue.
#[derive(Clone, Copy, Debug)]
enum Shallow {
    /// None.
    None,
    /// Above this delay.
    Step(Duration),
    /// In front of more packets than this.
    Packets(u64),
    /// The more often the longer the delay.
    Ramp(Ramp),
}

/// The class of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    L4s,
    Classic,
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Passes,
    Marked,
    Dropped,
}

/// Two queues, one of them for L4S packets, coupled by one controller.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    config: DualPi2Config,
    controller: Controller,
    update: Duration,
    next_update: Instant,
    shallow: Shallow,
    /// The bytes of a full packet.
    full: u64,
    /// The credit that a byte of an L4S packet gives the other class, and a byte of a Classic packet takes.
    weights: [i64; 2],
    /// Above zero it is a Classic packet's turn.
    credit: i64,
    l4s: FifoQueue,
    /// True of each L4S packet that the step applies to.
    stepped: std::collections::VecDeque<bool>,
    classic: FifoQueue,
    random: Stream,
    counts: Box<Classes>,
}

impl DualPi2 {
    fn class(&self, packet: &Packet) -> Class {
        let l4s = match packet.ecn() {
            Ecn::Ect1 | Ecn::Ce => true,
            Ecn::Ect0 => self.config.any_ect,
            Ecn::NotEct => false,
        };
        if l4s { Class::L4s } else { Class::Classic }
    }

    fn counts(&mut self, class: Class) -> &mut ClassCounts {
        match class {
            Class::L4s => &mut self.counts.l4s,
            Class::Classic => &mut self.counts.classic,
        }
    }

    fn bytes(&self) -> u64 {
        self.l4s.bytes() + self.classic.bytes()
    }

    /// The longer of the waits of both heads, in nanoseconds.
    fn delay(&self, now: Instant) -> u64 {
        let heads = [self.l4s.first(), self.classic.first()].into_iter().flatten();
        heads.map(|head| now.since(head.came).as_nanos()).max().unwrap_or(0)
    }

    /// The probability of L4S packets by coupling: above [`CERTAIN`] it is overload.
    fn coupled(&self) -> u64 {
        u64::from(self.controller.probability) * u64::from(self.config.coupling)
    }

    /// Makes the updates that are due. Between two events of the queue no input of an update but the time changes, so that
    /// none needs an event of its own.
    #[inline]
    fn catch_up(&mut self, now: Instant) {
        while self.next_update <= now {
            let delay = self.delay(self.next_update);
            self.controller.update(delay);
            let base = share(self.controller.probability.into());
            let coupled = share(self.coupled());
            let counts = &mut self.counts;
            counts.updates += 1;
            counts.base += base;
            counts.squared += base * base;
            counts.coupled += coupled;
            self.next_update += self.update;
            if self.controller.is_at_rest() && self.bytes() == 0 && self.next_update <= now {
                let missed = now.since(self.next_update).as_nanos() / self.update.as_nanos();
                self.counts.updates += missed;
                self.next_update += self.update * missed;
            }
        }
    }

    fn rolls(&mut self, probability: Probability) -> bool {
        self.random.next_u64() >> 32 <= u64::from(probability)
    }

    fn rolls_twice(&mut self) -> bool {
        let probability = self.controller.probability;
        self.rolls(probability) && self.rolls(probability)
    }

    /// The decision on a packet that is not among those that wait, by the controller and, of an L4S packet, with the
    /// probability that its `own` queue has for it: the larger of the two counts (RFC 9332 §2.4).
    fn judge(&mut self, packet: &Packet, class: Class, own: Probability) -> Fate {
        let few = self.bytes() < 2 * self.full;
        if few && own == 0 {
            return Fate::Passes;
        }
        let coupled = if few { 0 } else { self.coupled() };
        let overload = coupled > u64::from(CERTAIN);
        let struck = match class {
            Class::Classic => self.rolls_twice(),
            Class::L4s if overload => true,
            Class::L4s => {
                let coupled = Probability::try_from(coupled).unwrap_or(CERTAIN);
                self.rolls(coupled.max(own))
            }
        };
        let drops = match class {
            Class::Classic => overload,
            Class::L4s => overload && self.config.drop_on_overload && self.rolls_twice(),
        };
        match (struck, drops || !packet.asks_for_ecn()) {
            (false, _) => Fate::Passes,
            (true, false) => Fate::Marked,
            (true, true) => Fate::Dropped,
        }
    }

    /// True if an L4S packet that has waited so long is above the step.
    fn is_above_step(&self, waited: Duration) -> bool {
        match self.shallow {
            Shallow::None | Shallow::Ramp(_) => false,
            Shallow::Step(step) => waited > step,
            Shallow::Packets(step) => self.l4s.packets() as u64 > step,
        }
    }

    /// The probability that the ramp has for an L4S packet that has waited so long.
    fn ramped(&self, waited: Duration) -> Probability {
        let Shallow::Ramp(Ramp { above, over }) = self.shallow else { return 0 };
        let beyond = waited.saturating_sub(above);
        if beyond == Duration::ZERO {
            return 0;
        }
        let most = u128::from(CERTAIN);
        let over = u128::from(over.as_nanos().max(1));
        Probability::try_from(u128::from(beyond.as_nanos()) * most / over).unwrap_or(CERTAIN)
    }

    /// Marks a packet, unless it came marked.
    fn mark(&mut self, packet: Packet, class: Class, log: &mut Log) {
        if packet.ecn() != Ecn::Ce {
            self.counts(class).marked += 1;
            log.mark(packet);
        }
    }

    /// Takes out the packet whose turn it is, with what that changes in the credit; and whether the step applies.
    fn pop(&mut self) -> Option<(Class, Waiting, i64, bool)> {
        let both = self.l4s.packets() > 0 && self.classic.packets() > 0;
        let l4s = self.l4s.packets() > 0 && (self.classic.packets() == 0 || self.credit <= 0);
        let (class, next, weight) = if l4s {
            (Class::L4s, self.l4s.pop(), self.weights[0])
        } else {
            (Class::Classic, self.classic.pop(), -self.weights[1])
        };
        let Some(next) = next else {
            self.credit = initial_credit(&self.config, self.weights[0]);
            return None;
        };
        let stepped = l4s && self.stepped.pop_front().unwrap_or(false);
        let change = if both { weight * i64::from(next.packet.size) } else { 0 };
        Some((class, next, change, stepped))
    }
}

impl Queueing for DualPi2 {
    fn offer(&mut self, now: Instant, mut packet: Packet, room: &Room, log: &mut Log) -> Admission {
        self.catch_up(now);
        let class = self.class(&packet);
        if !room.fits {
            self.counts(class).dropped += 1;
            return Admission::Refused(Reason::Full);
        }
        if self.config.at_enqueue {
            match self.judge(&packet, class, 0) {
                Fate::Passes => {}
                Fate::Marked => {
                    self.mark(packet, class, log);
                    packet.kind = packet.kind.with_ecn(Ecn::Ce);
                }
                Fate::Dropped => {
                    self.counts(class).dropped += 1;
                    return Admission::Refused(Reason::Early);
                }
            }
        }
        match class {
            Class::L4s => {
                let found = self.l4s.packets();
                self.stepped.push_back(found >= self.config.step_from as usize);
                self.l4s.push(now, packet);
            }
            Class::Classic => self.classic.push(now, packet),
        }
        Admission::Taken
    }

    fn next(&mut self, now: Instant, log: &mut Log) -> Option<Waiting> {
        self.catch_up(now);
        loop {
            let (class, next, change, step_applies) = self.pop()?;
            let waited = now.since(next.came);
            let own = if step_applies { self.ramped(waited) } else { 0 };
            let mut fate = if self.config.at_enqueue && own == 0 {
                Fate::Passes
            } else {
                self.judge(&next.packet, class, own)
            };
            if fate != Fate::Dropped && step_applies && self.is_above_step(waited) {
                fate = if next.packet.asks_for_ecn() { Fate::Marked } else { Fate::Dropped };
                self.counts.step_marked += u64::from(fate == Fate::Marked);
            }
            match fate {
                Fate::Passes => {}
                Fate::Marked => self.mark(next.packet, class, log),
                // The turn is not over.
                Fate::Dropped => {
                    self.counts(class).dropped += 1;
                    log.drop(next.packet, Reason::Early);
                    continue;
                }
            }
            self.credit += change;
            self.counts(class).send(waited);
            return Some(next);
        }
    }

    fn pop_last(&mut self) -> Option<Packet> {
        let classic = self.classic.bytes() >= self.l4s.bytes();
        let class = if classic { Class::Classic } else { Class::L4s };
        let last = if classic {
            self.classic.pop_last()
        } else {
            self.stepped.pop_back();
            self.l4s.pop_last()
        };
        self.counts(class).dropped += u64::from(last.is_some());
        last
    }

    fn classes(&self) -> Option<&Classes> {
        Some(&self.counts)
    }
}

#[cfg(test)]
mod tests;
