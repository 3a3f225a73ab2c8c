//! Losses on a link, after a packet was sent.

use core::num::NonZeroU64;

use ackclock_units::random::Stream;

/// Which packets are lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Each with this probability, independently of the others.
    Random(f64),
    /// In bursts: a chain of two states that moves before each packet (E. N. Gilbert, "Capacity of a
    /// Burst-Noise Channel", Bell System Technical Journal 39, 1960; E. O. Elliott, the same, 42,
    /// 1963). It begins in the good state.
    Bursts {
        /// The probability of going over from the good state to the bad one, and back.
        to_bad: f64,
        /// From the bad state to the good one.
        to_good: f64,
        /// The probability of a loss in the bad state.
        in_bad: f64,
        /// In the good one.
        in_good: f64,
    },
    /// Packet number `first` and every `period`-th after it, of those that carry a flow's data, in the order of
    /// transmission. The others are neither lost nor counted.
    Periodic {
        /// From one loss to the next.
        period: NonZeroU64,
        /// The first loss, counted from 1.
        first: NonZeroU64,
    },
}

impl Loss {
    /// No packet.
    pub const NONE: Self = Self::Random(0.0);
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
            Loss::Random(_) | Loss::Bursts { .. } => 0,
            Loss::Periodic { first, .. } => first.get(),
        };
        Self { model, left, bad: false }
    }

    /// True if anything is ever lost.
    pub(crate) fn any(&self) -> bool {
        self.model != Loss::NONE
    }

    /// True if the packet that is sent next is lost; `data` says if it carries a flow's data.
    #[inline]
    pub(crate) fn strike(&mut self, data: bool, random: &mut Stream) -> bool {
        match self.model {
            Loss::Random(p) => p > 0.0 && random.bernoulli(p),
            Loss::Bursts { to_bad, to_good, in_bad, in_good } => {
                let leaves = random.bernoulli(if self.bad { to_good } else { to_bad });
                self.bad ^= leaves;
                random.bernoulli(if self.bad { in_bad } else { in_good })
            }
            Loss::Periodic { period, .. } => {
                self.left -= u64::from(data);
                let lost = self.left == 0;
                if lost {
                    self.left = period.get();
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
        let lost = million(Loss::Bursts { to_bad: 0.001, to_good: 0.2, in_bad: 1.0, in_good: 0.0 });
        let share = lost.iter().filter(|lost| **lost).count() as f64 / 1e6;
        assert!((share / 0.004_975 - 1.0).abs() < 0.1, "{share}");
        let begins = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        assert!((share * 1e6 / begins / 5.0 - 1.0).abs() < 0.1, "{begins}");
    }

    #[test]
    fn both_states_may_lose() {
        // Good half of the time: 0.5 * 0.02 + 0.5 * 0.4 = 0.21.
        let lost = million(Loss::Bursts { to_bad: 0.1, to_good: 0.1, in_bad: 0.4, in_good: 0.02 });
        let share = lost.iter().filter(|lost| **lost).count() as f64 / 1e6;
        assert!((share - 0.21).abs() < 0.005, "{share}");
    }
}
