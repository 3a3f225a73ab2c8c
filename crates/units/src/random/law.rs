//! Distributions to draw numbers from.

use super::Stream;

/// A distribution of positive numbers, in whatever unit its parameters are.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// Always the same.
    Fixed(f64),
    /// Uniform from the first (inclusive) to the second (exclusive).
    Uniform(f64, f64),
    /// Exponential.
    Exponential {
        /// The mean.
        mean: f64,
    },
    /// Pareto: P(X > x) = (scale / x)^shape from `scale` on.
    Pareto {
        /// The exponent.
        shape: f64,
        /// The smallest value.
        scale: f64,
    },
    /// Weibull: P(X > x) = exp(-(x / scale)^shape).
    Weibull {
        /// The exponent.
        shape: f64,
        /// The value that 1/e of the draws exceed.
        scale: f64,
    },
    /// Log-normal: ln X is normal.
    Lognormal {
        /// The median.
        median: f64,
        /// The standard deviation of ln X.
        sigma: f64,
    },
    /// One of these, all equally likely.
    Values(Vec<f64>),
    /// The inverse of a distribution function, by points (p, value), neither of which falls, from p = 0 to
    /// p = 1; linear between them, with a jump where one p has several values.
    Quantiles(Vec<(f64, f64)>),
}

impl Law {
    /// A draw. Each kind takes the same number of draws from `random` every time: none, one, or, of
    /// the log-normal, two.
    #[inline]
    pub fn sample(&self, random: &mut Stream) -> f64 {
        if let Self::Fixed(value) = self { *value } else { self.draw(random) }
    }

    /// The mean of the draws, each of them cut at `most`, so that a law without a mean has one. An estimate from 1,024 draws
    /// of a stream of its own: a rare value may be missing in it.
    #[must_use]
    pub fn mean_below(&self, most: f64) -> f64 {
        const DRAWS: u32 = 1024;
        let mut random = Stream::new(0, "mean");
        let sum: f64 = (0..DRAWS).map(|_| self.sample(&mut random).clamp(0.0, most)).sum();
        sum / f64::from(DRAWS)
    }

    fn draw(&self, random: &mut Stream) -> f64 {
        match self {
            Self::Fixed(value) => *value,
            Self::Uniform(low, high) => random.uniform_in(*low, *high),
            Self::Exponential { mean } => random.exponential(*mean),
            Self::Pareto { shape, scale } => scale * libm::exp(random.exponential(1.0) / shape),
            Self::Weibull { shape, scale } => {
                scale * libm::pow(random.exponential(1.0), shape.recip())
            }
            Self::Lognormal { median, sigma } => median * libm::exp(sigma * random.normal()),
            Self::Values(values) => values[index(values.len(), random.uniform())],
            Self::Quantiles(points) => quantile(points, random.uniform()),
        }
    }
}

/// The place of `p` among `len` equal shares of 0 to 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "from 0 to below len, which is a length in memory"
)]
fn index(len: usize, p: f64) -> usize {
    ((p * len as f64) as usize).min(len - 1)
}

fn quantile(points: &[(f64, f64)], p: f64) -> f64 {
    let after = points.partition_point(|(q, _)| *q <= p).clamp(1, points.len() - 1);
    let ((p0, low), (p1, high)) = (points[after - 1], points[after]);
    low + (high - low) * (p - p0) / (p1 - p0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jumps() -> Law {
        Law::Quantiles(vec![
            (0.0, 0.0),
            (0.0, 2.0),
            (0.5, 10.0),
            (0.5, 30.0),
            (1.0, 50.0),
            (1.0, 90.0),
        ])
    }

    fn sorted(law: &Law) -> Vec<f64> {
        let mut random = Stream::new(3, "law");
        let mut draws: Vec<f64> = (0..100_000).map(|_| law.sample(&mut random)).collect();
        draws.sort_by(f64::total_cmp);
        draws
    }

    #[test]
    fn quantiles_are_those_of_the_distributions() {
        // (law, p, quantile): Pareto 2 * (1 - 3/4)^(-1/1.5) = 2 * 4^(2/3) = 5.03968; Weibull
        // 3 * (ln 4)^(1/0.5) = 3 * 1.921812 = 5.76544; log-normal at p = 0.8413447 is one sigma:
        // 5 e^0.5 = 8.24361; exponential 2 ln 4 = 2.77259. The second quantile of `Quantiles` is half
        // way from 10 to 30 at p = 0.75 of [0.5, 1].
        let cases = [
            (Law::Pareto { shape: 1.5, scale: 2.0 }, 0.75, 5.039_68),
            (Law::Weibull { shape: 0.5, scale: 3.0 }, 0.75, 5.765_44),
            (Law::Lognormal { median: 5.0, sigma: 0.5 }, 0.841_344_7, 8.243_61),
            (Law::Exponential { mean: 2.0 }, 0.75, 2.772_59),
            (Law::Uniform(1.0, 3.0), 0.25, 1.5),
            (Law::Quantiles(vec![(0.0, 0.0), (0.5, 10.0), (1.0, 30.0)]), 0.75, 20.0),
            // As flow sizes are published: two values at 0, of which the second begins, and a jump from 10 to 30 at
            // p = 0.5, so that none lies between: half are at most 10, and p = 0.75 is half way from 30 to 50.
            (jumps(), 0.5, 10.0),
            (jumps(), 0.5, 29.0),
            (jumps(), 0.75, 40.0),
        ];
        for (law, p, expected) in cases {
            let draws = sorted(&law);
            // The rank of a p-quantile among 100,000 has a standard deviation of at most 158; four.
            let rank = draws.partition_point(|x| *x <= expected) as f64;
            assert!((rank - p * 1e5).abs() < 632.0, "{law:?}: {rank}");
        }
    }

    #[test]
    fn means_are_those_of_the_distributions() {
        // (law, most, mean, standard deviation): exponential 2, 2; uniform from 1 to 3: 2, 2/sqrt(12); Pareto of shape 1
        // and scale 1, which has no mean, cut at e^2: 1 + ln(e^2) = 3, and 2 e^2 - 1 - 9 = 4.778 = 2.186^2.
        let cases = [
            (Law::Exponential { mean: 2.0 }, f64::INFINITY, 2.0, 2.0),
            (Law::Uniform(1.0, 3.0), f64::INFINITY, 2.0, 0.577),
            (Law::Pareto { shape: 1.0, scale: 1.0 }, 7.389_056, 3.0, 2.186),
            (Law::Fixed(5.0), 3.0, 3.0, 0.0),
            (Law::Fixed(-5.0), 3.0, 0.0, 0.0),
        ];
        for (law, most, mean, deviation) in cases {
            // Four standard errors of 1,024 draws.
            let error = (law.mean_below(most) - mean).abs();
            assert!(error <= deviation / 8.0 + 1e-12, "{law:?}: {error}");
        }
    }

    #[test]
    fn values_come_equally_often_and_alone() {
        let draws = sorted(&Law::Values(vec![1.0, 2.0, 4.0]));
        // Each 33,333 times; standard deviation 149; four.
        for value in [1.0, 2.0, 4.0] {
            let count = draws.iter().filter(|x| x.total_cmp(&value).is_eq()).count() as f64;
            assert!((count - 33_333.0).abs() < 596.0, "{value}: {count}");
        }
    }

    #[test]
    fn of_several_values_at_an_end_the_inner_one_counts() {
        let draws = sorted(&jumps());
        // Uniform from 2 to 10 and from 30 to 50: of 100,000 draws the least is within 2 + 8/50,000 of 2 in the
        // mean; a hundred times as much.
        assert!((2.0..2.02).contains(&draws[0]), "{}", draws[0]);
        assert!((49.96..50.0).contains(&draws[99_999]), "{}", draws[99_999]);
    }

    #[test]
    fn the_ends_of_quantiles_are_reached_and_not_passed() {
        let points = [(0.0, 1.0), (0.25, 2.0), (1.0, 3.0)];
        for (p, value) in points {
            assert!((quantile(&points, p) - value).abs() < 1e-12, "{p}");
        }
    }
}
