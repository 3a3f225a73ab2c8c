//! The largest value of a window of time.

use crate::growth::real::larger;

/// A sliding-window maximum over a clock that counts rounds.
///
/// DEVIATION(linux): exact, where Linux keeps three candidates (Nichols' filter), which may forget a
/// maximum early.
#[derive(Clone, Debug)]
// What every value touches comes first.
#[repr(C)]
pub struct WindowedMax {
    /// The first and the last of the values that may yet be the maximum, the largest and oldest first, one a round at
    /// most; and a value with which the last but one would go too. So most values ask for no more.
    first: (u64, f64),
    last: (u64, f64),
    beyond: f64,
    /// All but the last.
    candidates: Vec<(u64, f64)>,
}

/// Zero is the maximum before the first value.
impl Default for WindowedMax {
    fn default() -> Self {
        Self { first: (0, 0.0), last: (0, 0.0), beyond: f64::INFINITY, candidates: Vec::new() }
    }
}

impl WindowedMax {
    /// Takes in `value` at time `now`; forgets what is older than `window`.
    #[inline]
    pub fn update(&mut self, value: f64, now: u64, window: u64) {
        if value >= self.first.1 {
            // No other will be the maximum any more.
            self.candidates.clear();
            self.beyond = f64::INFINITY;
            self.first = (now, value);
            self.last = self.first;
        } else if now > self.last.0 || now - self.first.0 > window || value >= self.beyond {
            self.take(value, now, window);
        } else {
            self.last.1 = larger(self.last.1, value);
        }
    }

    #[inline(never)]
    fn take(&mut self, value: f64, now: u64, window: u64) {
        self.candidates.push(self.last);
        while self.candidates.pop_if(|(_, old)| *old <= value).is_some() {}
        // A smaller value of the same round cannot outlive the one before it.
        if self.candidates.last().is_none_or(|(at, _)| *at < now) {
            self.candidates.push((now, value));
        }
        let old = self.candidates.iter().take_while(|(at, _)| now - at > window).count();
        if old > 0 {
            self.candidates.drain(..old);
        }
        self.first = self.candidates.first().copied().unwrap_or_default();
        self.last = self.candidates.pop().unwrap_or_default();
        self.beyond = self.candidates.last().map_or(f64::INFINITY, |(_, value)| *value);
    }

    /// The maximum; zero before the first value.
    pub const fn get(&self) -> f64 {
        self.first.1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_window_that_becomes_shorter_forgets_at_once() {
        let mut filter = WindowedMax::default();
        filter.update(5.0, 0, 10);
        filter.update(3.0, 4, 10);
        filter.update(1.0, 4, 2);
        assert!((filter.get() - 3.0).abs() < f64::EPSILON);
    }

    proptest! {
        #[test]
        fn it_is_the_maximum_of_the_window(
            steps in prop::collection::vec((0_u64..4, 0_u32..50), 1..200),
            window in 0_u64..12,
        ) {
            let mut filter = WindowedMax::default();
            let mut seen: Vec<(u64, f64)> = Vec::new();
            let mut now = 0;
            for (step, value) in steps {
                now += step;
                let value = f64::from(value);
                seen.push((now, value));
                filter.update(value, now, window);
                let expected = seen
                    .iter()
                    .filter(|(at, _)| now - at <= window)
                    .fold(0.0, |max: f64, (_, value)| max.max(*value));
                prop_assert!((filter.get() - expected).abs() < f64::EPSILON);
            }
        }
    }
}
