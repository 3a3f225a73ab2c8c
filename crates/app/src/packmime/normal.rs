//! Normal numbers and what is made of them.

use std::f64::consts::{SQRT_2, TAU};

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
        let (sin, cos) = libm::sincos(TAU * stream.uniform());
        self.spare = Some(radius * sin);
        radius * cos
    }
}

/// Two of them at once, but for the last bit: for millions of which seven digits are kept.
#[inline]
pub(super) fn normal_pair(stream: &mut Stream) -> (f64, f64) {
    // 1 − U is in (0, 1], so that the logarithm is finite.
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - stream.uniform()));
    let (sin, cos) = sincos_of_turn(stream.uniform());
    (radius * cos, radius * sin)
}

/// The coefficients of −x² and its powers in the series of sin x/x and of cos x: 1/3!, 1/5! … and 1/2!,
/// 1/4! ….
const SINE: [f64; 8] = [
    1. / 6.,
    1. / 120.,
    1. / 5_040.,
    1. / 362_880.,
    1. / 39_916_800.,
    1. / 6_227_020_800.,
    1. / 1_307_674_368_000.,
    1. / 355_687_428_096_000.,
];
const COSINE: [f64; 8] = [
    1. / 2.,
    1. / 24.,
    1. / 720.,
    1. / 40_320.,
    1. / 3_628_800.,
    1. / 479_001_600.,
    1. / 87_178_291_200.,
    1. / 20_922_789_888_000.,
];

/// The sine and the cosine of 2πu, u from 0 to 1. Of a turn the quarter is found exactly, and to what is
/// left, at most π/4 either way, the power series are exact to rounding: what they leave out is below
/// (π/4)^19/19! = 8e−20 and (π/4)^18/18! = 2e−18.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "from 0 to 4, to be cut off")]
pub(super) fn sincos_of_turn(u: f64) -> (f64, f64) {
    let quarter = (4.0 * u + 0.5) as i32;
    let x = TAU * (u - 0.25 * f64::from(quarter));
    let s = -x * x;
    let series =
        |terms: &[f64; 8]| 1.0 + s * terms.iter().rev().fold(0.0, |sum, term| sum * s + term);
    let parts = [x * series(&SINE), series(&COSINE)];
    let odd = quarter & 1 != 0;
    let (sin, cos) = if odd { (parts[1], parts[0]) } else { (parts[0], parts[1]) };
    // The sine is negative in the third and fourth quarter, the cosine in the second and third.
    let signed = |part: f64, negative: bool| if negative { -part } else { part };
    (signed(sin, quarter & 2 != 0), signed(cos, (quarter + 1) & 2 != 0))
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
    fn sines_of_turns_are_those_of_libm() {
        // Within two units in the last place of 1, and exact at quarters; the last is below 1 by 2^−53.
        let turns = (0..10_000).map(|n| f64::from(n) * 1e-4 + 3e-5 / f64::from(n + 1));
        for u in turns.chain([0.125, 0.375, 0.625, 0.875, 1.0 - f64::EPSILON / 2.0]) {
            let (sin, cos) = sincos_of_turn(u);
            let (want_sin, want_cos) = libm::sincos(TAU * u);
            // The argument of libm's is rounded, by at most 2^−51 of up to 2π.
            assert!((sin - want_sin).abs() < 1.4e-15 && (cos - want_cos).abs() < 1.4e-15, "{u}");
        }
        let quarters = [(0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0)];
        for (u, want) in [0.0, 0.25, 0.5, 0.75].into_iter().zip(quarters) {
            assert_eq!(sincos_of_turn(u), want, "{u}");
        }
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
