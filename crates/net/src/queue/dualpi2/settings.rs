//! The settings of `dualpi2`, and the values that follow from one another.

use ackclock_units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::control::{GAIN, MOST_GAIN};
use crate::check::{Refusal, check_share, check_time, refuse};
use crate::limit::{Limit, QueueLimit, QueueUnit};
use crate::queue::check::{check_limit, check_size};

/// The coupled dual queue with PI2 (RFC 9332), as Linux has it: L4S packets have a queue of their own, and are marked
/// with a probability that is coupled to the one by which Classic packets are dropped or marked.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct DualPi2Config {
    /// The most that waits, in both queues together.
    pub limit: Limit,
    /// The delay that is aimed at; default: `typical_rtt` where it or `max_rtt` is given, and otherwise 15 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Duration>,
    /// The interval at which the probability is computed; default: 16 ms, or by `typical_rtt` and `max_rtt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<Duration>,
    /// The weight in the probability of a second of delay beyond the target, in Hz, rounded down to 256ths; default:
    /// 41/256, or by `max_rtt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// The weight of a second by which the delay has grown, in Hz, rounded down to 256ths; default: 819/256, or by
    /// `max_rtt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// The round trip that most flows have, from which the controller's values follow; default: a sixth of `max_rtt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub typical_rtt: Option<Duration>,
    /// The longest round trip of flows, from which the controller's values follow; default: six times `typical_rtt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rtt: Option<Duration>,
    /// The factor k: L4S packets are marked with k times the base probability, Classic ones with its square.
    pub coupling: u8,
    /// The delay above which every L4S packet is marked, or the L4S packets ("5 packet") behind it; "unlimited": none.
    pub step: Limit,
    /// The fewest L4S packets that a packet has to find as it comes, for the step to apply to it.
    pub step_from: u32,
    /// A ramp in the place of the step: `"rfc9332"`, `"docsis"`, or `{ above = "0.8 ms", over = "0.4 ms" }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ramp: Option<RampSpec>,
    /// True if L4S packets are dropped, too, as often as Classic ones, once their probability would be above 1. False keeps
    /// it at 1, so that only a full buffer drops them.
    pub drop_on_overload: bool,
    /// True if packets are dropped and marked by the probability as they come, and not as they leave.
    pub at_enqueue: bool,
    /// The share of the link that is kept for Classic packets while both wait.
    #[serde(deserialize_with = "ackclock_units::share::read")]
    #[schemars(with = "ackclock_units::share::Share")]
    pub classic_protection: f64,
    /// True if all packets that ask for ECN are L4S, and not those with ECT(1) or CE alone.
    pub any_ect: bool,
    /// The size of a full packet: where less than two of these wait, the probability strikes nothing.
    pub packet_size: Bytes,
}

impl Default for DualPi2Config {
    fn default() -> Self {
        Self {
            limit: Limit::packets(10_000),
            target: None,
            update: None,
            alpha: None,
            beta: None,
            typical_rtt: None,
            max_rtt: None,
            coupling: 2,
            step: Limit::Time(Duration::from_millis(1)),
            step_from: 0,
            ramp: None,
            drop_on_overload: true,
            at_enqueue: false,
            classic_protection: 0.1,
            any_ect: false,
            packet_size: Bytes::new(1500),
        }
    }
}

/// A ramp of the probability of L4S packets by their own delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected \"rfc9332\", \"docsis\" or { above = \"0.8 ms\", over = \"0.4 ms\" }"
)]
pub enum RampSpec {
    /// One by its name.
    Named(NamedRamp),
    /// One by its numbers.
    Numbers(Ramp),
}

/// Ramps with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NamedRamp {
    /// From 0.8 ms over 0.4 ms.
    // Appendix A.1.
    Rfc9332,
    /// That of low-latency DOCSIS as cable modems are configured: from 1476 us over 524 us, which are 2^19 ns.
    Docsis,
}

/// A ramp: the probability grows from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ramp {
    /// The delay up to which nothing is marked.
    pub above: Duration,
    /// The further delay over which the probability grows to 1.
    pub over: Duration,
}

impl RampSpec {
    /// Its numbers.
    pub const fn ramp(self) -> Ramp {
        let (above, over) = match self {
            Self::Named(NamedRamp::Rfc9332) => (800, 400),
            Self::Named(NamedRamp::Docsis) => (1476, 524),
            Self::Numbers(ramp) => return ramp,
        };
        Ramp { above: Duration::from_micros(above), over: Duration::from_micros(over) }
    }
}

/// The controller's values, all of them given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values {
    /// The delay that is aimed at.
    pub target: Duration,
    /// The interval of updates.
    pub update: Duration,
    /// The gains, in 256ths of a hertz.
    pub alpha: u32,
    /// See [`alpha`](Self::alpha).
    pub beta: u32,
}

impl DualPi2Config {
    /// The controller's values. Those of round trips are what iproute2's `tc` computes of them.
    pub fn values(&self) -> Values {
        let derived = match (self.typical_rtt, self.max_rtt) {
            (None, None) => Values {
                target: Duration::from_millis(15),
                update: Duration::from_millis(16),
                alpha: 41,
                beta: 819,
            },
            (typical, max) => {
                let max = max.or(typical.map(|typical| typical * 6)).unwrap_or(Duration::ZERO);
                let target = typical.unwrap_or(max / 6);
                let update = target.min(max / 3);
                // RFC 9332 A.1.
                let seconds = max.as_secs_f64();
                Values {
                    target,
                    update,
                    alpha: scaled(0.1 * update.as_secs_f64() / (seconds * seconds)),
                    beta: scaled(0.3 / seconds),
                }
            }
        };
        Values {
            target: self.target.unwrap_or(derived.target),
            update: self.update.unwrap_or(derived.update),
            alpha: self.alpha.map_or(derived.alpha, scaled),
            beta: self.beta.map_or(derived.beta, scaled),
        }
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// The first key that is wrong, and why.
    pub fn check(&self) -> Result<(), Refusal> {
        for (name, rtt) in [("typical_rtt", self.typical_rtt), ("max_rtt", self.max_rtt)] {
            if let Some(rtt) = rtt {
                check_time(name, rtt)?;
            }
        }
        let values = self.values();
        check_time("target", values.target)?;
        // Each update takes a step, however long the queue is left alone.
        if values.update < Duration::from_micros(10) {
            return refuse("update", "expected at least 10 us");
        }
        for (name, gain, own) in
            [("alpha", values.alpha, self.alpha), ("beta", values.beta, self.beta)]
        {
            if gain > MOST_GAIN || own.is_some_and(|own| !(own.is_finite() && own >= 0.0)) {
                return refuse(name, "expected from 0 to 255 (in Hz)");
            }
        }
        if self.coupling == 0 {
            return refuse("coupling", "expected from 1 to 255");
        }
        let step = matches!(
            self.step,
            Limit::Time(_)
                | Limit::Fixed(QueueLimit::UNLIMITED | QueueLimit { unit: QueueUnit::Packets, .. })
        );
        if !step {
            return refuse("step", "expected a time such as \"1 ms\", or \"5 packet\"");
        }
        check_share("classic_protection", self.classic_protection)?;
        check_size("packet_size", self.packet_size)?;
        check_limit(self.limit)
    }
}

/// A gain in 256ths of a hertz, rounded down as iproute2 does.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded down; what is no number is refused"
)]
fn scaled(gain: f64) -> u32 {
    // 0.3 / 0.2 is 1.5 but for the last digit of a binary fraction.
    (gain * GAIN + 1e-9) as u32
}
