//! The controller of the base probability, in the integers of Linux's `sch_dualpi2`.

use ackclock_units::Duration;

/// A probability in units of 2^-32, where the largest number is 1.
pub type Probability = u32;

/// 1.
pub const CERTAIN: Probability = Probability::MAX;

/// The scale of the gains as users write them: 256ths of a hertz.
pub const GAIN: f64 = 256.0;

/// The bits by which the gains inside are finer than what a nanosecond adds.
const FINER: u32 = 6;

/// The most that a gain may be, in 256ths of a hertz: less than 2^64 after a day's delay.
pub const MOST_GAIN: u32 = 256 * 255;

/// A gain of so many 256ths of a hertz, in units of 2^-38 a nanosecond, rounded down.
pub fn inside(gain: u32) -> u64 {
    ((u64::from(gain) * u64::from(CERTAIN)) >> (8 - FINER)) / 1_000_000_000
}

/// A proportional integral controller of one probability, p' of RFC 9332 §2.4.
#[derive(Clone, Copy, Debug)]
pub struct Controller {
    target: i64,
    alpha: u64,
    beta: u64,
    /// The most that the probability becomes.
    most: Probability,
    /// The probability.
    pub probability: Probability,
    /// The delay at the last update, in nanoseconds.
    pub last: u64,
}

impl Controller {
    /// A controller that aims at `target`, with gains in 256ths of a hertz.
    pub fn new(target: Duration, alpha: u32, beta: u32, most: Probability) -> Self {
        Self {
            target: signed(target.as_nanos()),
            alpha: inside(alpha),
            beta: inside(beta),
            most,
            probability: 0,
            last: 0,
        }
    }

    /// Takes the delay of now, in nanoseconds.
    pub fn update(&mut self, delay: u64) {
        let (now, last) = (signed(delay), signed(self.last));
        let away = i128::from(now - self.target) * i128::from(self.alpha);
        let grown = i128::from(now - last) * i128::from(self.beta);
        let step = away + grown;
        let size = Probability::try_from(step.unsigned_abs() >> FINER).unwrap_or(CERTAIN);
        self.probability = if step > 0 {
            self.probability.saturating_add(size)
        } else {
            self.probability.saturating_sub(size)
        };
        self.probability = self.probability.min(self.most);
        self.last = delay;
    }

    /// True if an update without delay would change nothing.
    pub const fn is_at_rest(&self) -> bool {
        self.probability == 0 && self.last == 0
    }
}

fn signed(nanos: u64) -> i64 {
    i64::try_from(nanos).unwrap_or(i64::MAX)
}

/// A probability as a share.
pub fn share(probability: u64) -> f64 {
    (probability as f64 / f64::from(CERTAIN)).min(1.0)
}
