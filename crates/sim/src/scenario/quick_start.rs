//! Quick-Start at routers and end points.

use ackclock_net::{Behaviour, Denial, QuickStartConfig};
use ackclock_packet::QuickStartRate;
use ackclock_units::{Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the router in front of a link does for Quick-Start (RFC 4782). Left out, it takes no part, as
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "is_default")]
    pub denial: DenialSpec,
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

/// The form of a denial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DenialSpec {
    /// Rate, QS TTL and nonce become zero.
    #[default]
    Zero,
    /// The option is taken out.
    Delete,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_default(denial: &DenialSpec) -> bool {
    *denial == DenialSpec::default()
}

pub(crate) const A_RATE: &str =
    "expected at least 80 kbit/s, the least rate that Quick-Start knows";

/// Whether Quick-Start knows no rate as low as this.
pub(crate) fn is_below_all(rate: Option<Rate>) -> bool {
    rate.is_some_and(|rate| QuickStartRate::at_most(rate) == QuickStartRate::NONE)
}

/// Most slots of a history.
const MOST_SLOTS: u32 = 10_000;

impl QuickStartSpec {
    /// What a router in front of a link of `rate` does.
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
            denial: match spec.denial {
                DenialSpec::Zero => Denial::Zero,
                DenialSpec::Delete => Denial::Delete,
            },
            threshold: Rate::from_bps(threshold.round() as u64),
            slot: spec.slot.unwrap_or(base.slot),
            history: spec.history.unwrap_or(base.history),
            samples: spec.samples.unwrap_or(base.samples),
            most: spec.most.map_or(base.most, QuickStartRate::at_most),
        }
    }

    /// What is wrong with it: the key, and what was expected.
    pub fn fault(&self) -> Option<(&'static str, &'static str)> {
        let Self::Admission(spec) = self else { return None };
        let slots = |count: Option<u32>| count.is_some_and(|n| n == 0 || n > MOST_SLOTS);
        let a_count = "expected from 1 to 10000 slots";
        if spec.threshold.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            return Some(("threshold", "expected a share of the capacity from 0 to 1"));
        }
        if spec.slot.is_some_and(|slot| slot < Duration::from_micros(100)) {
            return Some(("slot", "expected at least 100 us"));
        }
        [
            (slots(spec.history), "history", a_count),
            (slots(spec.samples), "samples", a_count),
            (is_below_all(spec.most), "most", A_RATE),
            (is_below_all(spec.cheat), "cheat", A_RATE),
        ]
        .into_iter()
        .find_map(|(wrong, key, expected)| wrong.then_some((key, expected)))
    }
}

/// The part of a connection's ends in Quick-Start, besides the rate that the variant asks for. The
/// end that sends the volume asks.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuickStartTcp {
    /// True to ask with the SYN or SYN-ACK; default: yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_setup: Option<bool>,
    /// True to ask with the first data after silence, if the window is then less than what the
    /// rate fills; default: yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_idle: Option<bool>,
    /// True to answer requests although the variant asks for nothing; default: no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<bool>,
    /// The most that the receiver lets the sender have; default: all that may be asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<Rate>,
    /// A receiver that lies answers with this rate, whatever came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lie: Option<Rate>,
}

impl QuickStartTcp {
    /// What is wrong with it: the key, and what was expected.
    pub fn fault(&self) -> Option<(&'static str, &'static str)> {
        [("most", self.most), ("lie", self.lie)]
            .into_iter()
            .find_map(|(key, rate)| is_below_all(rate).then_some((key, A_RATE)))
    }

    /// The settings, where `base` are those of the profile.
    pub fn config(&self, base: ackclock_tcp::QuickStartConfig) -> ackclock_tcp::QuickStartConfig {
        ackclock_tcp::QuickStartConfig {
            asks: base.asks,
            at_setup: self.at_setup.unwrap_or(base.at_setup),
            after_idle: self.after_idle.unwrap_or(base.after_idle),
            answers: self.answer.unwrap_or(base.answers),
            most: self.most.map_or(base.most, QuickStartRate::at_most),
            lies: self.lie.map(QuickStartRate::at_most).or(base.lies),
        }
    }
}
