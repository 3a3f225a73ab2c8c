use ackclock_units::Instant;
use ackclock_units::random::Stream;

use crate::fate::Fate;
use crate::parts::impairments::{Arrival, Impairments};
use crate::parts::jitter::JitterConfig;
use crate::parts::loss::{Loss, Losses};

/// Losses and impairments of packets behind a link's queue, and their draws.
#[derive(Clone, Debug)]
pub struct Hazards {
    losses: Losses,
    random: Stream,
    impairments: Option<Impairments>,
    /// True if `random` may have been drawn from.
    in_use: bool,
}

impl Hazards {
    /// Losses by `loss`, drawn from `random`, and `impairments` of what is not lost.
    pub fn new(loss: Loss, random: Stream, impairments: Option<Impairments>) -> Self {
        let losses = Losses::new(loss);
        let in_use = losses.any() || impairments.is_some();
        Self { losses, random, impairments, in_use }
    }

    /// Says if a packet can be lost or impaired at all.
    pub fn any(&self) -> bool {
        self.losses.any() || self.impairments.is_some()
    }

    /// Says if packets may arrive in another order than that in which they were sent.
    pub const fn reorder(&self) -> bool {
        self.impairments.is_some()
    }

    /// The fate of the next packet, which carries a flow's `data` or not. A packet that is lost has no other fate.
    #[inline]
    pub fn draw(&mut self, data: bool) -> Fate {
        if self.in_use { self.draw_one(data) } else { Fate::INTACT }
    }

    #[cold]
    fn draw_one(&mut self, data: bool) -> Fate {
        let lost = self.losses.strike(data, &mut self.random);
        match &mut self.impairments {
            _ if lost => Fate::LOST,
            Some(impairments) => impairments.draw(),
            None => Fate::INTACT,
        }
    }

    /// Another loss model from the next packet on, which draws from `random` if nothing befell packets before.
    pub fn set_loss(&mut self, loss: Loss, random: Stream) {
        self.losses = Losses::new(loss);
        if !self.in_use {
            (self.random, self.in_use) = (random, true);
        }
    }

    /// Another jitter of packets from the next one on, where there was one before.
    pub fn set_jitter(&mut self, jitter: &JitterConfig, random: Stream) {
        if let Some(impairments) = &mut self.impairments {
            impairments.set_jitter(jitter, random);
        }
    }

    /// The arrivals of a packet of `fate` that would have come at `at`: its own, and its copy's if there is one.
    pub fn arrivals(&mut self, at: Instant, fate: Fate) -> (Arrival, Option<Arrival>) {
        match &mut self.impairments {
            Some(impairments) => impairments.arrivals(at, fate),
            None => (Arrival { at, corrupted: false }, None),
        }
    }
}
