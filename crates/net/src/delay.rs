//! A histogram of delays in bounded memory, for quantiles.

use ackclock_units::Duration;

/// Buckets an octave: a quantile is known to within 1/64 = 1.6 % of its value.
const STEPS: usize = 32;
const STEP_BITS: u32 = 5;
const OCTAVES: usize = 64;

/// Counts of delays, 32 buckets an octave; an octave takes memory once something falls into it. A
/// bucket stops at 2^32 - 1, which full packets of one delay reach after 5,000 s at 10 Gbit/s.
#[derive(Clone, Debug, Default)]
pub struct DelayHistogram {
    zeros: u64,
    octaves: Vec<Option<Box<[u32; STEPS]>>>,
}

impl DelayHistogram {
    /// Counts one delay.
    #[inline]
    pub fn record(&mut self, delay: Duration) {
        let nanos = delay.as_nanos();
        if nanos == 0 {
            self.zeros += 1;
            return;
        }
        self.record_positive(nanos);
    }

    /// Counts one delay that is not zero.
    pub(crate) fn record_positive(&mut self, nanos: u64) {
        let (octave, step) = place(nanos);
        if self.octaves.is_empty() {
            self.octaves.resize_with(OCTAVES, || None);
        }
        let counts = self.octaves[octave].get_or_insert_with(|| Box::new([0; STEPS]));
        counts[step] = counts[step].saturating_add(1);
    }

    /// Takes one delay back that is not zero.
    pub(crate) fn forget_positive(&mut self, nanos: u64) {
        let (octave, step) = place(nanos);
        if let Some(Some(counts)) = self.octaves.get_mut(octave) {
            counts[step] = counts[step].saturating_sub(1);
        }
    }

    /// The same, of which so many are of no delay.
    pub(crate) fn with_zeros(self, zeros: u64) -> Self {
        Self { zeros, ..self }
    }

    /// How many delays were counted.
    pub fn count(&self) -> u64 {
        let steps = self.octaves.iter().flatten().flat_map(|octave| octave.iter());
        self.zeros + steps.map(|count| u64::from(*count)).sum::<u64>()
    }

    /// The delay below which a share `q` of those counted since `earlier` lies; `None` if none was.
    pub fn quantile_since(&self, earlier: &Self, q: f64) -> Option<Duration> {
        let count = |histogram: &Self, octave: usize, step: usize| {
            let counts = histogram.octaves.get(octave).and_then(Option::as_ref);
            counts.map_or(0, |counts| u64::from(counts[step]))
        };
        let zeros = self.zeros - earlier.zeros;
        let buckets = || {
            (0..self.octaves.len())
                .filter(|octave| self.octaves[*octave].is_some())
                .flat_map(|octave| (0..STEPS).map(move |step| (octave, step)))
                .map(|(octave, step)| {
                    (octave, step, count(self, octave, step) - count(earlier, octave, step))
                })
                .filter(|(_, _, n)| *n > 0)
        };
        let total = zeros + buckets().map(|(_, _, n)| n).sum::<u64>();
        if total == 0 {
            return None;
        }
        let wanted = q * total as f64;
        let mut below = zeros as f64;
        if below >= wanted {
            return Some(Duration::ZERO);
        }
        let mut last = Duration::ZERO;
        for (octave, step, n) in buckets() {
            let (low, high) = bounds(octave, step);
            let share = ((wanted - below) / n as f64).min(1.0);
            last = Duration::from_secs_f64((low + (high - low) * share) / 1e9);
            below += n as f64;
            if below >= wanted {
                break;
            }
        }
        Some(last)
    }
}

/// Octave and step of a positive number of nanoseconds.
#[inline]
fn place(nanos: u64) -> (usize, usize) {
    let octave = nanos.ilog2();
    let offset = nanos - (1 << octave);
    let step = if octave >= STEP_BITS {
        offset >> (octave - STEP_BITS)
    } else {
        offset << (STEP_BITS - octave)
    };
    // Both are small: the octave below 64, the step below 32.
    (octave as usize, usize::try_from(step).unwrap_or(STEPS - 1))
}

/// The least delay of a bucket and the least of the next, in nanoseconds.
fn bounds(octave: usize, step: usize) -> (f64, f64) {
    let base = power_of_two(octave);
    let low = base * (1.0 + step as f64 / STEPS as f64);
    (low, low + base / STEPS as f64)
}

/// 2^n, exact.
fn power_of_two(n: usize) -> f64 {
    (1_u64 << n) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_a_known_sample() {
        let mut histogram = DelayHistogram::default();
        // 1 us, 2 us ... 1000 us: the 99th percentile is 990 us, the median 500 us.
        for micros in 1..=1000 {
            histogram.record(Duration::from_micros(micros));
        }
        let none = DelayHistogram::default();
        for (q, micros) in [(0.5, 500.0), (0.99, 990.0)] {
            let found = histogram.quantile_since(&none, q).unwrap().as_secs_f64() * 1e6;
            assert!((found / micros - 1.0).abs() < 0.016, "{q}: {found}");
        }
        assert_eq!(none.quantile_since(&none, 0.5), None);
    }

    #[test]
    fn only_what_came_since_counts() {
        let mut histogram = DelayHistogram::default();
        histogram.record(Duration::from_secs(1));
        let earlier = histogram.clone();
        for _ in 0..99 {
            histogram.record(Duration::ZERO);
        }
        assert_eq!(histogram.quantile_since(&earlier, 0.99), Some(Duration::ZERO));
    }
}
