//! The detection of a queue that marks as RFC 3168 has it, after Linux's TCP Prague of 2020 to 2021: such a queue holds a
//! standing delay that varies, a queue for L4S does not.
//!
//! DEVIATION(`tcp_prague.c`): the sources publish the weights and the scales of the two measurements, and that the score is
//! held within margins beyond 0 and 1. The widths of these margins, and that the score moves once a round, are ours; the
//! part of the score by which idle time counts is left out.

use ackclock_units::Duration;

/// The variation of round trips, and the depth of the queue, that say nothing.
const VARIATION: f64 = 750e-6;
const DEPTH: f64 = 2e-3;
/// The weight of each, halved.
const WEIGHT: f64 = 0.25;
/// The margin of the score beyond 0 and 1.
const MARGIN: f64 = 1.0;
/// The share that a mark of such a queue takes, doubled: CUBIC's 0.3.
const CLASSIC_SHARE: f64 = 0.6;
/// The weights of a sample in the means.
const SAMPLE: f64 = 1.0 / 8.0;

/// The signs of the queue in the round trips.
#[derive(Clone, Copy, Debug)]
pub struct Fallback {
    /// The mean of round trips, and their mean deviation, in seconds; zero before the first.
    pub mean: f64,
    pub deviation: f64,
    /// The least round trip.
    pub least: f64,
    /// 0 for a queue of L4S, 1 for one of RFC 3168.
    pub score: f64,
}

impl Default for Fallback {
    fn default() -> Self {
        Self { mean: 0.0, deviation: 0.0, least: f64::INFINITY, score: -MARGIN }
    }
}

impl Fallback {
    pub fn on_rtt(&mut self, rtt: Duration) {
        let rtt = rtt.as_secs_f64();
        if self.mean <= 0.0 {
            self.mean = rtt;
        }
        self.deviation += SAMPLE * ((rtt - self.mean).abs() - self.deviation);
        self.mean += SAMPLE * (rtt - self.mean);
        self.least = self.least.min(rtt);
    }

    pub fn end_round(&mut self) {
        if self.mean <= 0.0 {
            return;
        }
        let measured = |value: f64, scale: f64| libm::log2((value / scale).max(1e-3));
        let depth = self.mean - self.least;
        let step = WEIGHT * (measured(self.deviation, VARIATION) + measured(depth, DEPTH));
        self.score = (self.score + step).clamp(-MARGIN, 1.0 + MARGIN);
    }

    /// Twice the share that a mark takes, where the mean of marks is `alpha`.
    pub fn share(&self, alpha: f64) -> f64 {
        alpha.max(self.score.clamp(0.0, 1.0) * CLASSIC_SHARE)
    }
}
