//! When the connections of a class open.

use std::fmt::Debug;

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant};

use crate::PackMimeArrivals;

/// A process of arrivals: when the connections of a class open, one after another.
pub trait Arrivals: Debug + Send {
    /// The next arrival, at or after `last`, the one before or the moment at which the class begins;
    /// `None` if no more come. Called once for each arrival.
    fn next(&mut self, last: Instant) -> Option<Instant>;
}

/// A Poisson process.
#[derive(Clone, Debug)]
pub struct Poisson {
    mean_ns: f64,
    random: Stream,
}

impl Poisson {
    /// `rate` arrivals a second, drawn from `random`.
    pub fn new(rate: f64, random: Stream) -> Self {
        Self { mean_ns: 1e9 / rate, random }
    }
}

impl Arrivals for Poisson {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive gap, to the nearest nanosecond"
    )]
    fn next(&mut self, last: Instant) -> Option<Instant> {
        let gap = self.random.exponential(self.mean_ns).round();
        Some(last + Duration::from_nanos(gap as u64))
    }
}

/// Arrivals at equal intervals.
#[derive(Clone, Debug)]
pub struct Periodic {
    origin: Option<Instant>,
    period_ns: f64,
    /// The place of the first arrival in the first interval, from 0 to 1.
    phase: f64,
    came: u64,
}

impl Periodic {
    /// `rate` arrivals a second, the first a share `phase` of an interval after the class begins.
    pub fn new(rate: f64, phase: f64) -> Self {
        Self { origin: None, period_ns: 1e9 / rate, phase, came: 0 }
    }
}

impl Arrivals for Periodic {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive time, to the nearest nanosecond"
    )]
    fn next(&mut self, last: Instant) -> Option<Instant> {
        // Counted from the origin, so that rounding does not add up.
        let origin = *self.origin.get_or_insert(last);
        let after = (self.came as f64 + self.phase) * self.period_ns;
        self.came += 1;
        Some(origin + Duration::from_nanos(after.round() as u64))
    }
}

/// Arrivals at given moments, in ascending order.
#[derive(Clone, Debug)]
pub struct Listed {
    moments: Vec<Instant>,
    next: usize,
}

impl Listed {
    /// Arrivals at `moments`; those before the class begins do not come.
    pub fn new(mut moments: Vec<Instant>) -> Self {
        moments.sort_unstable();
        Self { moments, next: 0 }
    }
}

impl Arrivals for Listed {
    fn next(&mut self, last: Instant) -> Option<Instant> {
        if self.next == 0 {
            self.next = self.moments.partition_point(|moment| *moment < last);
        }
        let moment = self.moments.get(self.next).copied();
        self.next += 1;
        moment
    }
}

/// The arrival processes that scenarios name, and any other.
#[derive(Debug)]
pub enum AnyArrivals {
    /// A Poisson process.
    Poisson(Poisson),
    /// At equal intervals.
    Periodic(Periodic),
    /// At given moments.
    Listed(Listed),
    /// PackMime-HTTP's, which have a long memory.
    PackMime(PackMimeArrivals),
    /// A user's own.
    Other(Box<dyn Arrivals>),
}

impl Arrivals for AnyArrivals {
    fn next(&mut self, last: Instant) -> Option<Instant> {
        match self {
            Self::Poisson(arrivals) => arrivals.next(last),
            Self::Periodic(arrivals) => arrivals.next(last),
            Self::Listed(arrivals) => arrivals.next(last),
            Self::PackMime(arrivals) => arrivals.next(last),
            Self::Other(arrivals) => arrivals.next(last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(arrivals: &mut impl Arrivals, start: u64, count: usize) -> Vec<u64> {
        let mut last = Instant::from_nanos(start);
        let mut next = || {
            last = arrivals.next(last)?;
            Some(last.as_nanos())
        };
        std::iter::from_fn(&mut next).take(count).collect()
    }

    #[test]
    fn intervals_do_not_drift() {
        // Three a second: 333,333,333.33 ns; the fourth comes after exactly a second, and with a
        // phase of a half each 166,666,666.67 ns later.
        let plain = moments(&mut Periodic::new(3.0, 0.0), 1000, 4);
        assert_eq!(plain, [1000, 333_334_333, 666_667_667, 1_000_001_000]);
        let late = moments(&mut Periodic::new(3.0, 0.5), 0, 3);
        assert_eq!(late, [166_666_667, 500_000_000, 833_333_333]);
    }

    #[test]
    fn a_poisson_process_has_as_many_arrivals_as_its_rate_says() {
        let mut arrivals = Poisson::new(1000.0, Stream::new(1, "arrivals"));
        // 100,000 arrivals take 100 s; standard deviation sqrt(1e5)/1000 = 0.32 s; four.
        let last = *moments(&mut arrivals, 0, 100_000).last().unwrap();
        assert!(last.abs_diff(100_000_000_000) < 1_280_000_000, "{last}");
    }

    #[test]
    fn listed_moments_come_in_order_from_the_start_on() {
        let at = Instant::from_nanos;
        let mut arrivals = Listed::new([30, 10, 20, 20, 40].map(at).into());
        assert_eq!(moments(&mut arrivals, 15, 9), [20, 20, 30, 40]);
    }
}
