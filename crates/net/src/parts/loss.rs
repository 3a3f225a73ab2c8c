//! Losses on a link, after a packet was sent.

use ackclock_units::Rate;
use ackclock_units::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::{Refusal, check_share, refuse};
use crate::parts::contract::Part;

/// Packets that a link loses after they were sent.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a probability such as 0.01 or \"1 %\", { every = 1000 }, or { to_bad = 0.001, to_good = 0.2 }"
)]
#[schemars(rename = "LossSpec")]
pub enum Loss {
    /// Each with this probability, from 0 to 1, independently of the others.
    Random(
        #[serde(deserialize_with = "ackclock_units::share::read")]
        #[schemars(with = "ackclock_units::share::Share")]
        f64,
    ),
    /// One in so many, without chance.
    Periodic(PeriodicLoss),
    /// In bursts.
    Bursts(BurstLoss),
}

/// A loss at regular intervals, as the models of response functions have it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeriodicLoss {
    /// The distance between losses: of the packets that carry a flow's data, new or sent again, one in so many is
    /// lost, in the order in which the link sends them; each direction counts for itself, over all flows. Packets
    /// without data, and cross-traffic, are neither lost nor counted.
    pub every: u64,
    /// The number of the first that is lost, from 1; default: `every`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
}

/// Losses in bursts: a chain of two states, which moves before each packet and begins in the good one
/// (Gilbert and Elliott). Probabilities from 0 to 1.
// E. N. Gilbert, "Capacity of a Burst-Noise Channel", Bell System Technical Journal 39, 1960; E. O. Elliott, the same,
// 42, 1963.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BurstLoss {
    /// The probability of going over to the bad state: bursts begin once in 1/`to_bad` packets.
    #[serde(deserialize_with = "ackclock_units::share::read")]
    #[schemars(with = "ackclock_units::share::Share")]
    pub to_bad: f64,
    /// The probability of going back: bursts last 1/`to_good` packets in the mean.
    #[serde(deserialize_with = "ackclock_units::share::read")]
    #[schemars(with = "ackclock_units::share::Share")]
    pub to_good: f64,
    /// The probability of a loss in the bad state.
    #[serde(default = "always", deserialize_with = "ackclock_units::share::read")]
    #[schemars(with = "ackclock_units::share::Share")]
    pub in_bad: f64,
    /// The probability of a loss in the good state.
    #[serde(default, deserialize_with = "ackclock_units::share::read")]
    #[schemars(with = "ackclock_units::share::Share")]
    pub in_good: f64,
}

const fn always() -> f64 {
    1.0
}

impl Default for Loss {
    fn default() -> Self {
        Self::NONE
    }
}

impl Loss {
    /// No packet.
    pub const NONE: Self = Self::Random(0.0);

    /// True if no packet is lost.
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }
}

impl Part for Loss {
    fn check(&self, _: Rate) -> Result<(), Refusal> {
        match self {
            Self::Random(share) => check_share("", *share),
            Self::Periodic(PeriodicLoss { every: 0, .. }) => {
                refuse("every", "expected at least 1 packet")
            }
            Self::Periodic(PeriodicLoss { first: Some(0), .. }) => {
                refuse("first", "expected at least 1, the first packet")
            }
            Self::Periodic(_) => Ok(()),
            Self::Bursts(BurstLoss { to_bad, to_good, in_bad, in_good }) => {
                check_share("to_bad", *to_bad)?;
                check_share("to_good", *to_good)?;
                check_share("in_bad", *in_bad)?;
                check_share("in_good", *in_good)
            }
        }
    }

    // A link draws its losses from a stream of its own, and its settings may change.
    fn keeps_times(&self) -> bool {
        true
    }
}

/// A loss model in use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Losses {
    model: Loss,
    /// Data packets up to the next that is lost, that one included.
    left: u64,
    /// True if the chain of two states is in the bad one.
    bad: bool,
}

impl Losses {
    pub(crate) const fn new(model: Loss) -> Self {
        let left = match model {
            Loss::Random(_) | Loss::Bursts(_) => 0,
            Loss::Periodic(PeriodicLoss { every, first }) => match first {
                Some(first) => first,
                None => every,
            },
        };
        Self { model, left, bad: false }
    }

    /// True if anything is ever lost.
    pub(crate) fn any(&self) -> bool {
        !self.model.is_none()
    }

    /// True if the packet that is sent next is lost; `data` says if it carries a flow's data.
    #[inline]
    pub(crate) fn strike(&mut self, data: bool, random: &mut Stream) -> bool {
        match self.model {
            Loss::Random(p) => p > 0.0 && random.bernoulli(p),
            Loss::Bursts(BurstLoss { to_bad, to_good, in_bad, in_good }) => {
                let leaves = random.bernoulli(if self.bad { to_good } else { to_bad });
                self.bad ^= leaves;
                random.bernoulli(if self.bad { in_bad } else { in_good })
            }
            Loss::Periodic(PeriodicLoss { every, .. }) => {
                self.left -= u64::from(data);
                let lost = self.left == 0;
                if lost {
                    self.left = every;
                }
                lost
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A million packets; whether each is lost.
    fn million(model: Loss) -> Vec<bool> {
        let mut losses = Losses::new(model);
        let mut random = Stream::new(1, "losses");
        (0..1_000_000).map(|_| losses.strike(true, &mut random)).collect()
    }

    #[test]
    fn bursts_have_their_share_and_their_length() {
        // Bad for 0.001/(0.001 + 0.2) = 0.4975 % of the packets, in bursts of 1/0.2 = 5 in the mean;
        // about 1000 of them, so that both are within some 5 %.
        let lost = million(Loss::Bursts(BurstLoss {
            to_bad: 0.001,
            to_good: 0.2,
            in_bad: 1.0,
            in_good: 0.0,
        }));
        let share = lost.iter().filter(|lost| **lost).count() as f64 / 1e6;
        assert!((share / 0.004_975 - 1.0).abs() < 0.1, "{share}");
        let begins = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        assert!((share * 1e6 / begins / 5.0 - 1.0).abs() < 0.1, "{begins}");
    }

    #[test]
    fn both_states_may_lose() {
        // Good half of the time: 0.5 * 0.02 + 0.5 * 0.4 = 0.21.
        let lost = million(Loss::Bursts(BurstLoss {
            to_bad: 0.1,
            to_good: 0.1,
            in_bad: 0.4,
            in_good: 0.02,
        }));
        let share = lost.iter().filter(|lost| **lost).count() as f64 / 1e6;
        assert!((share - 0.21).abs() < 0.005, "{share}");
    }
}
