//! The router's settings, as a scenario has them.

use ackclock_packet::QuickStartRate;
use ackclock_units::{Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Behaviour, Denial, QuickStartConfig};
use crate::check::{Refusal, refuse};
use crate::parts::contract::Part;

/// The treatment of Quick-Start requests (RFC 4782) by the router in front of a link. Left out, it takes no part, as
/// almost every router of today: it does not touch the option, and every request that goes through
/// it fails.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected \"approve\", \"deny\", or { threshold = 1.0, slot = \"1 s\", history = 2 }"
)]
pub enum QuickStartSpec {
    /// In one word.
    Word(QuickStartWord),
    /// With admission.
    Admission(QuickStartAdmission),
}

/// The treatment of requests by a router, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuickStartWord {
    /// Approves every request as it is: the link is far faster than anybody may ask for.
    Approve,
    /// Denies every request.
    Deny,
}

/// The admission of Quick-Start requests by the router in front of a link. The traffic that it
/// carried in slots of time, and the rates that it approved in the last of them, may together not
/// exceed a share of the capacity.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuickStartAdmission {
    /// The source of the other keys' defaults: `"slots"` is the router of Scharf et al. (2008),
    /// `"target"` the target algorithm of RFC 4782, appendix D.
    #[serde(default)]
    pub admission: QuickStartRule,
    /// The rate of the link as the router knows it; default: as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Rate>,
    /// The share of the capacity, 0 to 1; default: 1 with `slots`, 0.85 with `target`.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "ackclock_units::share::read_if_given"
    )]
    #[schemars(with = "Option<ackclock_units::share::Share>")]
    pub threshold: Option<f64>,
    /// The length of a slot; default: 1 s with `slots`, 150 ms with `target`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<Duration>,
    /// The number of slots for which an approved rate is reserved, the current one included;
    /// default: 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<u32>,
    /// The number of whole slots of which the busiest counts as the traffic; default: 1 with
    /// `slots`, 10 with `target`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u32>,
    /// The most that one request gets; default: all that may be asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<Rate>,
    /// The form of a denial: `"zero"` clears the option, `"delete"` takes it out.
    #[serde(default, skip_serializing_if = "Denial::is_zero")]
    pub denial: Denial,
    /// A router that cheats raises every rate that comes to this one, which RFC 4782 forbids, and
    /// guesses the nonce.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cheat: Option<Rate>,
}

/// The authors of an admission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuickStartRule {
    /// That of Scharf et al.
    #[default]
    Slots,
    /// That of RFC 4782, appendix D.
    Target,
}

/// Most slots of a history.
const MOST_SLOTS: u32 = 10_000;

impl QuickStartSpec {
    /// The settings of a router in front of a link of `rate`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share from 0 to 1 of a rate"
    )]
    pub fn config(&self, rate: Rate) -> QuickStartConfig {
        let spec = match self {
            Self::Word(word) => {
                let behaviour = match word {
                    QuickStartWord::Approve => Behaviour::Approve,
                    QuickStartWord::Deny => Behaviour::Deny,
                };
                return QuickStartConfig { behaviour, ..QuickStartConfig::SCHARF2008 };
            }
            Self::Admission(spec) => spec,
        };
        let (base, threshold) = match spec.admission {
            QuickStartRule::Slots => (QuickStartConfig::SCHARF2008, 1.0),
            QuickStartRule::Target => (QuickStartConfig::RFC4782, 0.85),
        };
        let capacity = spec.capacity.unwrap_or(rate).as_bps();
        let threshold = capacity as f64 * spec.threshold.unwrap_or(threshold);
        QuickStartConfig {
            behaviour: match spec.cheat {
                Some(to) => Behaviour::Cheat { to: QuickStartRate::at_most(to) },
                None => Behaviour::Admit,
            },
            denial: spec.denial,
            threshold: Rate::from_bps(threshold.round() as u64),
            slot: spec.slot.unwrap_or(base.slot),
            history: spec.history.unwrap_or(base.history),
            samples: spec.samples.unwrap_or(base.samples),
            most: spec.most.map_or(base.most, QuickStartRate::at_most),
        }
    }

    /// True if it decides by the load, so that its slots are of interest.
    pub const fn admits(&self) -> bool {
        matches!(self, Self::Admission(_))
    }
}

impl Part for QuickStartSpec {
    fn check(&self, _: Rate) -> Result<(), Refusal> {
        let Self::Admission(spec) = self else { return Ok(()) };
        if spec.threshold.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            return refuse("threshold", "expected a share of the capacity from 0 to 1");
        }
        if spec.slot.is_some_and(|slot| slot < Duration::from_micros(100)) {
            return refuse("slot", "expected at least 100 us");
        }
        for (key, slots) in [("history", spec.history), ("samples", spec.samples)] {
            if slots.is_some_and(|n| n == 0 || n > MOST_SLOTS) {
                return refuse(key, "expected from 1 to 10000 slots");
            }
        }
        for (key, rate) in [("most", spec.most), ("cheat", spec.cheat)] {
            QuickStartRate::check(rate).or_else(|expected| refuse(key, expected))?;
        }
        Ok(())
    }

    fn keeps_times(&self) -> bool {
        true
    }

    fn is_router(&self) -> bool {
        true
    }
}
