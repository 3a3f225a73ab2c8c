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
    /// Delays that are not zero; `None` of the many links at which nothing ever waits.
    positive: Option<Box<Positive>>,
}

#[derive(Clone, Debug)]
struct Positive {
    /// The place of each octave in `octaves`, or `ABSENT`.
    places: [u8; OCTAVES],
    /// Those that something fell into, in the order in which it first did.
    octaves: Vec<[u32; STEPS]>,
}

const ABSENT: u8 = u8::MAX;

impl Default for Positive {
    fn default() -> Self {
        Self { places: [ABSENT; OCTAVES], octaves: Vec::new() }
    }
}

impl Positive {
    /// Makes room for an octave; returns its place.
    #[cold]
    fn add(&mut self, octave: usize) -> usize {
        let place = self.octaves.len();
        // Links are many, and octaves of one link few.
        self.octaves.reserve_exact(1);
        self.octaves.push([0; STEPS]);
        self.places[octave] = u8::try_from(place).expect("64 octaves at most");
        place
    }

    fn of(&self, octave: usize) -> Option<&[u32; STEPS]> {
        self.octaves.get(usize::from(self.places[octave]))
    }
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
        self.record_positive(nanos, 1);
    }

    /// Counts a delay that is not zero, `times` times.
    pub fn record_positive(&mut self, nanos: u64, times: u64) {
        let (octave, step) = place(nanos);
        let positive = self.positive.get_or_insert_default();
        let mut at = usize::from(positive.places[octave]);
        if at == usize::from(ABSENT) {
            at = positive.add(octave);
        }
        let count = &mut positive.octaves[at][step];
        *count = count.saturating_add(u32::try_from(times).unwrap_or(u32::MAX));
    }

    /// Takes one delay back that is not zero.
    pub fn forget_positive(&mut self, nanos: u64) {
        let (octave, step) = place(nanos);
        let Some(positive) = &mut self.positive else { return };
        if let Some(counts) = positive.octaves.get_mut(usize::from(positive.places[octave])) {
            counts[step] = counts[step].saturating_sub(1);
        }
    }

    /// The histogram with so many delays of zero.
    #[must_use]
    pub fn with_zeros(self, zeros: u64) -> Self {
        Self { zeros, ..self }
    }

    /// The number of delays.
    pub fn count(&self) -> u64 {
        let octaves = self.positive.iter().flat_map(|positive| &positive.octaves);
        self.zeros + octaves.flatten().map(|count| u64::from(*count)).sum::<u64>()
    }

    /// The delay below which a share `q` of those counted since `earlier` lies; `None` if none was.
    pub fn quantile_since(&self, earlier: &Self, q: f64) -> Option<Duration> {
        let counts = |histogram: &Self, octave: usize| {
            let positive = histogram.positive.as_ref();
            positive.and_then(|positive| positive.of(octave)).copied().unwrap_or_default()
        };
        let zeros = self.zeros - earlier.zeros;
        let buckets = || {
            (0..OCTAVES)
                .filter(|octave| self.positive.as_ref().is_some_and(|p| p.of(*octave).is_some()))
                .flat_map(|octave| {
                    let (now, before) = (counts(self, octave), counts(earlier, octave));
                    (0..STEPS).map(move |step| (octave, step, u64::from(now[step] - before[step])))
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
