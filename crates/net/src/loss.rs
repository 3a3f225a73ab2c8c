//! What a link loses after it was sent.

use core::num::NonZeroU64;

use ackclock_units::random::Stream;

/// Which packets are lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Each with this probability, independently of the others.
    Random(f64),
    /// Of the packets that carry a flow's data, in the order of transmission, number `first` and
    /// every `period`-th after it. The others are neither lost nor counted.
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
}

impl Losses {
    pub(crate) const fn new(model: Loss) -> Self {
        let left = match model {
            Loss::Random(_) => 0,
            Loss::Periodic { first, .. } => first.get(),
        };
        Self { model, left }
    }

    /// Whether anything is ever lost.
    pub(crate) fn any(&self) -> bool {
        self.model != Loss::NONE
    }

    /// Whether the packet that is sent next is lost; `data`: whether it carries a flow's data.
    #[inline]
    pub(crate) fn strike(&mut self, data: bool, random: &mut Stream) -> bool {
        match self.model {
            Loss::Random(p) => p > 0.0 && random.bernoulli(p),
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
