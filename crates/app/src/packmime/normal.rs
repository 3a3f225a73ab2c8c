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

/// The number of pairs that are made side by side.
pub(super) const ABREAST: usize = 4;

/// A number of each.
type Abreast = [f64; ABREAST];

/// `few` pairs of them, at most [`ABREAST`], as [`Normal`] makes them but for the last bits. Every step is
/// one of all pairs, and without a branch, so that the processor takes several at once.
#[inline]
pub(super) fn normal_pairs(few: usize, stream: &mut Stream) -> [(f64, f64); ABREAST] {
    let (mut radii, mut turns) = ([0.0; ABREAST], [0.0; ABREAST]);
    for (radius, turn) in radii.iter_mut().zip(&mut turns).take(few) {
        (*radius, *turn) = (stream.uniform(), stream.uniform());
    }
    // 1 − U is in (0, 1], so that the logarithm is finite.
    let radii = log_of_unit(radii.map(|u| 1.0 - u)).map(|log| (-2.0 * log).sqrt());
    let (sin, cos) = sincos_of_turns(turns);
    std::array::from_fn(|k| (radii[k] * cos[k], radii[k] * sin[k]))
}

/// The sum of `terms` times the powers of each x, from the first on.
#[inline]
fn power_series(x: Abreast, terms: &[f64]) -> Abreast {
    terms
        .iter()
        .rev()
        .fold([0.0; ABREAST], |sum, term| std::array::from_fn(|k| sum[k] * x[k] + term))
}

/// 1/3, 1/5 … 1/21.
const ODDS: [f64; 10] = [
    1. / 3.,
    1. / 5.,
    1. / 7.,
    1. / 9.,
    1. / 11.,
    1. / 13.,
    1. / 15.,
    1. / 17.,
    1. / 19.,
    1. / 21.,
];

/// The natural logarithms of numbers from 2^−1022 to 1. Each is that of a power of two, and of what is left
/// beside it, f from √½ to √2: 2 artanh s of s = (f − 1)/(f + 1), at most 0.172 either way, of whose power series
/// is left out what is below 0.172^22/23 = 7e−19 of it.
#[inline(never)]
fn log_of_unit(x: Abreast) -> Abreast {
    const MANTISSA: u64 = (1 << 52) - 1;
    let half = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    // Counted from √½, as if the exponents began there.
    let beyond = x.map(|x| x.to_bits().wrapping_sub(half));
    let s = beyond.map(|beyond| {
        let f = f64::from_bits((beyond & MANTISSA) + half);
        (f - 1.0) / (f + 1.0)
    });
    let z = s.map(|s| s * s);
    let series = power_series(z, &ODDS);
    std::array::from_fn(|k| {
        let exponent = (beyond[k].cast_signed() >> 52) as i32;
        f64::from(exponent) * std::f64::consts::LN_2 + 2.0 * (s[k] + s[k] * z[k] * series[k])
    })
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

/// The sines and the cosines of 2πu, u from 0 to 1. Of a turn the quarter is found exactly, and to what is
/// left, at most π/4 either way, the power series are exact to rounding: what they leave out is below
/// (π/4)^19/19! = 8e−20 and (π/4)^18/18! = 2e−18.
#[inline(never)]
#[expect(clippy::cast_possible_truncation, reason = "from 0 to 4, to be cut off")]
pub(super) fn sincos_of_turns(u: Abreast) -> (Abreast, Abreast) {
    let quarters = u.map(|u| (4.0 * u + 0.5) as i32);
    let x: Abreast = std::array::from_fn(|k| TAU * (u[k] - 0.25 * f64::from(quarters[k])));
    let s = x.map(|x| -x * x);
    let (sines, cosines) = (power_series(s, &SINE), power_series(s, &COSINE));
    let (mut sin, mut cos) = ([0.0; ABREAST], [0.0; ABREAST]);
    for (k, quarter) in quarters.into_iter().enumerate() {
        let parts = [x[k] * (1.0 + s[k] * sines[k]), 1.0 + s[k] * cosines[k]];
        let odd = quarter & 1 != 0;
        (sin[k], cos[k]) = if odd { (parts[1], parts[0]) } else { (parts[0], parts[1]) };
        // The sine is negative in the third and fourth quarter, the cosine in the second and third.
        let signed = |part: f64, negative: i32| {
            f64::from_bits(part.to_bits() ^ (u64::from(negative.cast_unsigned()) << 62))
        };
        sin[k] = signed(sin[k], quarter & 2);
        cos[k] = signed(cos[k], (quarter + 1) & 2);
    }
    (sin, cos)
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

/// A cumulative probability: from below or, where that is too close to 1, from above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    /// p, at most 1/2.
    Below(f64),
    /// 1 − p, below 1/2.
    Above(f64),
}

impl Place {
    /// The cumulative probability of the standard normal number `y`.
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
    fn logarithms_are_those_of_libm() {
        // Within two units in the last place, 2^−52 of it each; exact at 1. The least is what 1 − U can be.
        let all = (1..10_000).map(|n| f64::from(n) * 1e-4);
        let ends =
            [1.0, 0.5, 0.25, 0.5 + f64::EPSILON, 1.0 - f64::EPSILON / 2.0, f64::EPSILON / 2.0];
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let borders = [half.next_down(), half, half.next_up()];
        for x in all.chain(ends).chain(borders) {
            let ([got, ..], want) = (log_of_unit([x; ABREAST]), libm::log(x));
            assert!((got - want).abs() <= 4.5e-16 * want.abs(), "{x}: {got} {want}");
        }
        assert!(log_of_unit([1.0; ABREAST]).iter().all(|log| *log == 0.0));
    }

    #[test]
    fn a_few_pairs_are_the_first_of_many() {
        let (mut one, mut many) = (Stream::new(1, "pairs"), Stream::new(1, "pairs"));
        let singly: Vec<_> = (0..ABREAST).map(|_| normal_pairs(1, &mut one)[0]).collect();
        assert_eq!(singly, normal_pairs(ABREAST, &mut many));
        assert_eq!(one.next_u64(), many.next_u64());
    }

    #[test]
    fn sines_of_turns_are_those_of_libm() {
        // Within two units in the last place of 1, and exact at quarters; the last is below 1 by 2^−53.
        let turns = (0..10_000).map(|n| f64::from(n) * 1e-4 + 3e-5 / f64::from(n + 1));
        for u in turns.chain([0.125, 0.375, 0.625, 0.875, 1.0 - f64::EPSILON / 2.0]) {
            let ([sin, ..], [cos, ..]) = sincos_of_turns([u; ABREAST]);
            let (want_sin, want_cos) = libm::sincos(TAU * u);
            // The argument of libm's is rounded, by at most 2^−51 of up to 2π.
            assert!((sin - want_sin).abs() < 1.4e-15 && (cos - want_cos).abs() < 1.4e-15, "{u}");
        }
        let quarters = [(0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0)];
        let (sin, cos) = sincos_of_turns([0.0, 0.25, 0.5, 0.75]);
        assert_eq!(sin.into_iter().zip(cos).collect::<Vec<_>>(), quarters);
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
