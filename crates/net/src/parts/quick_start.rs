//! Quick-Start at a router's outgoing interface: RFC 4782 §3.3 and appendix D, and the router of Scharf, Hauger and
//! Kögel ("Quick-Start TCP: From Theory to Practice", 2008, §IV-D).
//!
//! Both meter and remember in slots of fixed length D. What the interface carried in a slot is its
//! utilisation; what was approved in the last H slots, the current one included, is reserved. A
//! request gets what the threshold leaves beyond both, rounded down to a rate that has a code. The
//! two differ in the numbers, and in the utilisation that counts: that of the last whole slot, or the
//! peak of several ([`QuickStartConfig::SCHARF2008`], [`QuickStartConfig::RFC4782`]).
//!
//! There is no state of flows, and nothing is done for a packet without the option: the interface's
//! own count of bytes, read once a slot, is the meter.

mod settings;

use ackclock_packet::{QuickStart, QuickStartNonce, QuickStartRate};
use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use settings::{QuickStartAdmission, QuickStartRule, QuickStartSpec, QuickStartWord};

/// The treatment of a Rate Request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// Approves what the admission leaves, or denies.
    Admit,
    /// Approves every request as it is: an interface far faster than anybody may ask for.
    Approve,
    /// Denies every request.
    Deny,
    /// Approves what the admission leaves and asks for more all the same: raises every rate that
    /// comes to `to`, and guesses the nonce.
    Cheat {
        /// The rate that it writes.
        to: QuickStartRate,
    },
}

/// The form of a denial.
// RFC 4782 §3.3 allows either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DenialSpec")]
pub enum Denial {
    /// Rate, QS TTL and nonce become zero.
    #[default]
    Zero,
    /// The option is taken out.
    Delete,
}

impl Denial {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    const fn is_zero(&self) -> bool {
        matches!(self, Self::Zero)
    }
}

/// An interface's admission of Quick-Start requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuickStartConfig {
    /// The treatment of a request.
    pub behaviour: Behaviour,
    /// The way in which it is denied.
    pub denial: Denial,
    /// The load of the interface beyond which nothing is approved, approvals included: `q`, or `qs_thresh · bandwidth`.
    pub threshold: Rate,
    /// The length of a slot, D.
    pub slot: Duration,
    /// Slots for which an approval is remembered, the current one included: H, at least one.
    pub history: u32,
    /// Whole slots of which the busiest is the utilisation, at least one.
    pub samples: u32,
    /// The most that one request gets.
    pub most: QuickStartRate,
}

impl QuickStartConfig {
    /// The defaults of Scharf et al. (§IV-D): D = 1 s, H = 2, the last slot's utilisation.
    pub const SCHARF2008: Self = Self {
        behaviour: Behaviour::Admit,
        denial: Denial::Zero,
        threshold: Rate::from_bps(0),
        slot: Duration::from_secs(1),
        history: 2,
        samples: 1,
        most: QuickStartRate::MAX,
    };

    /// The target algorithm of RFC 4782 appendix D: intervals of 150 ms, approvals of two of them,
    /// the peak of ten (the appendix leaves their number open; its authors simulate 3 to 20).
    pub const RFC4782: Self =
        Self { slot: Duration::from_millis(150), history: 2, samples: 10, ..Self::SCHARF2008 };
}

/// A router's decision on a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// The rate that came.
    pub asked: QuickStartRate,
    /// The rate that goes on; [`QuickStartRate::NONE`] if it was denied.
    pub approved: QuickStartRate,
    /// The utilisation that counted.
    pub measured: Rate,
    /// The rate that was reserved before.
    pub reserved: Rate,
    /// True if the option is to be taken out of the packet.
    pub delete: bool,
}

/// The Quick-Start function of one outgoing interface.
#[derive(Clone, Debug)]
pub struct QuickStartRouter {
    config: QuickStartConfig,
    random: Stream,
    /// When the current slot ends.
    slot_ends: Instant,
    /// The bytes that the interface had carried when it began.
    carried: u64,
    /// The rates of whole slots, a ring; the oldest is overwritten.
    rates: Ring,
    /// The approvals, in bit/s, by slot; the current one at `at`.
    approvals: Ring,
    /// The largest of `rates`.
    measured: u64,
    /// The sum of `approvals`.
    reserved: u64,
}

/// The last values of a series of slots.
#[derive(Clone, Debug)]
struct Ring {
    values: Box<[u64]>,
    at: usize,
}

impl Ring {
    fn new(len: u32) -> Self {
        Self { values: vec![0; len.max(1) as usize].into_boxed_slice(), at: 0 }
    }

    /// The next slot's place, which holds the oldest value, gets `value`.
    fn push(&mut self, value: u64) {
        self.at = if self.at + 1 == self.values.len() { 0 } else { self.at + 1 };
        self.values[self.at] = value;
    }
}

impl QuickStartRouter {
    /// An interface that has carried nothing yet, at the beginning of its first slot. Nonces are drawn
    /// from `random`.
    ///
    /// # Panics
    /// If a slot has no length.
    pub fn new(config: QuickStartConfig, random: Stream) -> Self {
        assert!(config.slot > Duration::ZERO, "a slot has a length");
        Self {
            config,
            random,
            slot_ends: Instant::START + config.slot,
            carried: 0,
            rates: Ring::new(config.samples),
            approvals: Ring::new(config.history),
            measured: 0,
            reserved: 0,
        }
    }

    /// The settings.
    pub const fn config(&self) -> &QuickStartConfig {
        &self.config
    }

    /// The random numbers that nonces are drawn from.
    pub const fn random(&self) -> &Stream {
        &self.random
    }

    /// When [`advance`](Self::advance) is to be called, for the slot that then ends.
    pub const fn slot_ends(&self) -> Instant {
        self.slot_ends
    }

    /// Ends the slots that are over, of which only the last can have carried anything if this is
    /// called as each ends; `carried` are the bytes that the interface has carried since it began.
    #[inline]
    pub fn advance(&mut self, now: Instant, carried: u64) {
        if now >= self.slot_ends {
            self.end_slots(now, carried);
        }
    }

    #[cold]
    fn end_slots(&mut self, now: Instant, carried: u64) {
        let slot = self.config.slot;
        let over = 1 + now.since(self.slot_ends).as_nanos() / slot.as_nanos();
        // Nobody looked for `over` slots: what was carried meanwhile counts evenly.
        let bytes = u128::from(carried - self.carried);
        let nanos = u128::from(slot.as_nanos()) * u128::from(over);
        let rate = u64::try_from(bytes * 8_000_000_000 / nanos).unwrap_or(u64::MAX);
        let longest = self.rates.values.len().max(self.approvals.values.len());
        for _ in 0..usize::try_from(over).unwrap_or(usize::MAX).min(longest) {
            self.rates.push(rate);
            self.approvals.push(0);
        }
        self.measured = self.rates.values.iter().copied().max().unwrap_or(0);
        self.reserved = self.approvals.values.iter().sum();
        self.carried = carried;
        self.slot_ends += slot * over;
    }

    /// The largest rate of the last slots.
    pub const fn measured(&self) -> Rate {
        Rate::from_bps(self.measured)
    }

    /// The rate reserved for approved requests.
    pub const fn reserved(&self) -> Rate {
        Rate::from_bps(self.reserved)
    }

    /// A packet with the option `option` goes out at `now`, after [`advance`](Self::advance). The
    /// option is changed in place; a Report is passed on (RFC 4782 §3.1), and `None` returned.
    #[inline]
    pub fn process(&mut self, option: &mut QuickStart) -> Option<Decision> {
        let QuickStart::Request { rate, ttl, nonce } = option else { return None };
        let asked = *rate;
        let reserved = self.reserved();
        let approved = self.approve(asked);
        let delete = approved == QuickStartRate::NONE && self.config.denial == Denial::Delete;
        if let Behaviour::Cheat { to } = self.config.behaviour
            && asked > QuickStartRate::NONE
        {
            *rate = asked.max(to);
            *ttl = ttl.wrapping_sub(1);
            if to > asked {
                // The fields of the steps between are not known to who raises the rate.
                *nonce = nonce.lowered(to, asked, self.draw());
            }
        } else if approved == QuickStartRate::NONE {
            (*rate, *ttl, *nonce) = (approved, 0, QuickStartNonce::default());
        } else {
            if approved < asked {
                *nonce = nonce.lowered(asked, approved, self.draw());
            }
            *rate = approved;
            *ttl = ttl.wrapping_sub(1);
        }
        Some(Decision { asked, approved: *rate, measured: self.measured(), reserved, delete })
    }

    /// Thirty random bits.
    #[inline]
    fn draw(&mut self) -> u32 {
        (self.random.next_u64() >> 34) as u32
    }

    #[inline]
    fn approve(&mut self, asked: QuickStartRate) -> QuickStartRate {
        match self.config.behaviour {
            Behaviour::Deny => return QuickStartRate::NONE,
            Behaviour::Approve => return asked,
            Behaviour::Admit | Behaviour::Cheat { .. } => {}
        }
        let left = self
            .config
            .threshold
            .as_bps()
            .saturating_sub(self.measured)
            .saturating_sub(self.reserved);
        let approved =
            asked.min(self.config.most).min(QuickStartRate::at_most(Rate::from_bps(left)));
        if let Some(rate) = approved.rate() {
            let at = self.approvals.at;
            self.approvals.values[at] += rate.as_bps();
            self.reserved += rate.as_bps();
        }
        approved
    }
}

#[cfg(test)]
mod tests;
