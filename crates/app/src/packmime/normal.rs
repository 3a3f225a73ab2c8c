//! Normal numbers and what is made of them.

use std::f64::consts::{PI, SQRT_2};

use ackclock_units::random::Stream;

/// Standard normal numbers, two at a time (Box and Muller 1958).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Normal {
    spare: Option<f64>,
}

impl Normal {
    /// A number of mean 0 and variance 1.
    pub(super) fn draw(&mut self, stream: &mut Stream) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        // 1 − U is in (0, 1], so that the logarithm is finite.
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - stream.uniform()));
        let (sin, cos) = libm::sincos(2.0 * PI * stream.uniform());
        self.spare = Some(radius * sin);
        radius * cos
    }
}

/// A gamma number of `shape` ≥ 1 and mean 1 (Marsaglia and Tsang, ACM TOMS 26, 2000).
pub(super) fn gamma_of_mean_one(shape: f64, stream: &mut Stream) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    let mut normal = Normal::default();
    loop {
        let x = normal.draw(stream);
        let v = (1.0 + c * x) * (1.0 + c * x) * (1.0 + c * x);
        let u = 1.0 - stream.uniform();
        if v > 0.0 && libm::log(u) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v / shape;
        }
    }
}

/// How far along a distribution: from below, or where that is too close to 1 from above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    /// p, at most 1/2.
    Below(f64),
    /// 1 − p, below 1/2.
    Above(f64),
}

impl Place {
    /// Where the standard normal number `y` is in its distribution.
    pub(super) fn of_normal(y: f64) -> Self {
        let tail = 0.5 * libm::erfc(y.abs() / SQRT_2);
        if y > 0.0 { Self::Above(tail) } else { Self::Below(tail) }
    }

    /// A uniform place.
    pub(super) fn uniform(stream: &mut Stream) -> Self {
        let u = stream.uniform();
        // 1 − U rather than U above, so that it is never zero.
        if u < 0.5 { Self::Below(u) } else { Self::Above(1.0 - u) }
    }

    /// −ln(1−p).
    pub(super) fn exponential(self) -> f64 {
        match self {
            Self::Below(p) => -libm::log1p(-p),
            Self::Above(q) => -libm::log(q),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_places_are_those_of_the_tables() {
        // Φ(1.959964) = 0.975, Φ(0) = 0.5, Φ(−3.090232) = 0.001, Φ(6) = 1 − 9.8659e−10.
        let Place::Above(q) = Place::of_normal(1.959_964) else { panic!() };
        assert!((q - 0.025).abs() < 1e-8);
        assert_eq!(Place::of_normal(0.0), Place::Below(0.5));
        let Place::Below(p) = Place::of_normal(-3.090_232) else { panic!() };
        assert!((p - 0.001).abs() < 5e-9);
        let Place::Above(q) = Place::of_normal(6.0) else { panic!() };
        assert!((q / 9.8659e-10 - 1.0).abs() < 1e-4);
    }

    #[test]
    fn draws_have_the_moments_of_their_distributions() {
        // Variance of a gamma of mean 1: 1/shape. 100,000 draws: the mean of a normal is within
        // 4·0.0032, its variance within 4·√(2/10^5) = 0.018; the gamma's within the same or so.
        let mut stream = Stream::new(1, "test");
        let n = 100_000;
        let moments = |draws: Vec<f64>| {
            let mean = draws.iter().sum::<f64>() / draws.len() as f64;
            let square = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
            (mean, square / draws.len() as f64)
        };
        let mut normal = Normal::default();
        let (mean, variance) = moments((0..n).map(|_| normal.draw(&mut stream)).collect());
        assert!(mean.abs() < 0.0128 && (variance - 1.0).abs() < 0.018, "{mean} {variance}");
        for shape in [1.85, 3.22] {
            let draws = (0..n).map(|_| gamma_of_mean_one(shape, &mut stream)).collect();
            let (mean, variance) = moments(draws);
            assert!((mean - 1.0).abs() < 0.01, "{mean}");
            assert!((variance * shape - 1.0).abs() < 0.04, "{variance}");
        }
    }
}
