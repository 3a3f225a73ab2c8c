//! Impairments besides loss: some packets are held back, doubled, or a bit of them is flipped.

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::{Refusal, check_share, check_time};
use crate::fate::Fate;
use crate::parts::contract::Part;
use crate::parts::jitter::{Jitter, JitterConfig};

/// The frequencies of impairments on a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImpairmentConfig {
    /// Packets that others overtake.
    pub reorder: Reorder,
    /// The probability that a packet arrives twice.
    pub duplicate: f64,
    /// The probability that a bit of a packet is flipped.
    pub corrupt: f64,
    /// A delay that varies.
    pub jitter: Option<JitterConfig>,
}

impl ImpairmentConfig {
    /// True if any can happen at all.
    pub fn any(&self) -> bool {
        self.reorder.share > 0.0
            || self.duplicate > 0.0
            || self.corrupt > 0.0
            || self.jitter.is_some()
    }
}

/// Packets that others overtake: a share of a link's packets, chosen at random, is held back after
/// it was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ReorderSpec")]
pub struct Reorder {
    /// The probability that a packet is held back.
    #[serde(deserialize_with = "ackclock_units::share::read")]
    #[schemars(with = "ackclock_units::share::Share")]
    pub share: f64,
    /// By how much it arrives later than it would.
    pub delay: Duration,
}

impl Part for Reorder {
    fn check(&self, _: Rate) -> Result<(), Refusal> {
        check_share("share", self.share)?;
        if self.share > 0.0 { check_time("delay", self.delay) } else { Ok(()) }
    }

    fn keeps_times(&self) -> bool {
        self.share <= 0.0
    }
}

/// The probability that a packet arrives twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Duplicate(
    #[serde(deserialize_with = "ackclock_units::share::read")]
    #[schemars(with = "ackclock_units::share::Share")]
    pub f64,
);

impl Part for Duplicate {
    fn check(&self, _: Rate) -> Result<(), Refusal> {
        check_share("", self.0)
    }

    fn keeps_times(&self) -> bool {
        self.0 <= 0.0
    }
}

/// The probability that a bit of a packet is flipped on the way: the host that it is for discards it, as its checksum
/// is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Corrupt(
    #[serde(deserialize_with = "ackclock_units::share::read")]
    #[schemars(with = "ackclock_units::share::Share")]
    pub f64,
);

impl Part for Corrupt {
    fn check(&self, _: Rate) -> Result<(), Refusal> {
        check_share("", self.0)
    }

    fn keeps_times(&self) -> bool {
        self.0 <= 0.0
    }
}

/// A packet at a link's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When.
    pub at: Instant,
    /// True if a bit of it was flipped on the way.
    pub corrupted: bool,
}

/// A link's impairments and their draws.
///
/// Each has a random stream of its own, so that one more impairment leaves the others' draws, and
/// those of the link's losses, as they were.
#[derive(Clone, Debug)]
pub struct Impairments {
    config: ImpairmentConfig,
    late: Stream,
    copies: Stream,
    flips: Stream,
    jitter: Option<Jitter>,
}

impl Impairments {
    /// The settings.
    pub(crate) const fn config(&self) -> &ImpairmentConfig {
        &self.config
    }

    /// The impairments of `config`; `stream` makes the random stream of the one that it is told.
    pub fn new(config: ImpairmentConfig, stream: impl Fn(&str) -> Stream) -> Self {
        let jitter = config.jitter.as_ref().map(|jitter| Jitter::new(jitter, stream("jitter")));
        Self {
            config,
            jitter,
            late: stream("reorder"),
            copies: stream("duplicate"),
            flips: stream("corrupt"),
        }
    }

    /// Another jitter of packets from the next one on, where there was one before.
    pub(crate) fn set_jitter(&mut self, config: &JitterConfig, random: Stream) {
        if let Some(jitter) = &mut self.jitter {
            jitter.change(config, random);
        }
    }

    /// The fate of the next packet that is not lost.
    pub(crate) fn draw(&mut self) -> Fate {
        let draw = |stream: &mut Stream, p: f64| p > 0.0 && stream.bernoulli(p);
        let ImpairmentConfig { reorder, duplicate, corrupt, jitter } = &self.config;
        let (duplicate, corrupt) = (*duplicate, *corrupt);
        let mut fate = Fate::INTACT;
        fate.add_if(jitter.is_some(), Fate::JITTERED);
        fate.add_if(draw(&mut self.late, reorder.share), Fate::LATE);
        fate.add_if(draw(&mut self.flips, corrupt), Fate::CORRUPTED);
        if draw(&mut self.copies, duplicate) {
            fate.add_if(true, Fate::COPIED);
            // What befalls the copy comes from the copies' stream, for the originals' sake.
            fate.add_if(draw(&mut self.copies, reorder.share), Fate::COPY_LATE);
            fate.add_if(draw(&mut self.copies, corrupt), Fate::COPY_CORRUPTED);
        }
        fate
    }

    /// The arrivals of a packet of `fate` that would have come at `at`: its own, and its copy's. Asked once for each
    /// packet, in the order in which they were sent.
    pub(crate) fn arrivals(&mut self, at: Instant, fate: Fate) -> (Arrival, Option<Arrival>) {
        let late_by = self.config.reorder.delay;
        let mut arrival = |late, corrupted| {
            let at = self.jitter.as_mut().map_or(at, |jitter| jitter.arrival(at));
            Arrival { at: if late { at + late_by } else { at }, corrupted }
        };
        let own = arrival(fate.has(Fate::LATE), fate.has(Fate::CORRUPTED));
        let mut copy = || arrival(fate.has(Fate::COPY_LATE), fate.has(Fate::COPY_CORRUPTED));
        (own, fate.is_copied().then(&mut copy))
    }
}

#[cfg(test)]
mod tests;
