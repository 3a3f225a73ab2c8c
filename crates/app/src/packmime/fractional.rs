//! Correlated normal numbers with a long memory, in O(n log n).
//!
//! x is fractional noise, ARIMA(0, d, 0) (Hosking, Biometrika 68, 1981): its autocovariance falls as
//! k^(2d−1) and so slowly that it has no sum. The numbers are `x_t` + `x_(t−1)`, scaled to a variance of
//! one. It is drawn whole, by the circulant embedding of Davies and Harte (Biometrika 74, 1987), which is
//! exact: the covariances of a circle of twice the length are those of x, and a Fourier transform
//! makes a circle's numbers independent.
//!
//! ns-2 makes x by Hosking's recursion over the last M values, a term each: an autoregression of order M,
//! which has the covariances of x up to M and forgets all beyond. On a circle its eigenvalues are its
//! spectral density, so that it takes a transform too, and no recursion.

use ackclock_units::random::Stream;

use super::fft::{Complex, Fft, Row};
use super::normal::{ABREAST, normal_pairs};

/// The autocovariances of ARIMA(0, d, 0) with γ(0) = 1, one after another: γ(k)/γ(k−1) = (k−1+d)/(k−d)
/// (Hosking 1981, theorem 1).
fn autocorrelations(d: f64) -> impl Iterator<Item = f64> {
    let mut k = 0.0;
    let mut gamma = 1.0;
    std::iter::from_fn(move || {
        let last = gamma;
        k += 1.0;
        gamma = gamma * (k - 1.0 + d) / (k - d);
        Some(last)
    })
}

/// The eigenvalues 0..=m of the circle γ(0) … γ(m) … γ(1), of length 2m: those below m are the real parts
/// of what is returned, the last is the first's imaginary part.
fn eigenvalues(d: f64, fft: &Fft) -> Row {
    let m = fft.length();
    let mut circle = Row::zeros(m);
    for (j, gamma) in autocorrelations(d).take(m + 1).enumerate() {
        put(&mut circle, j, gamma);
        put(&mut circle, (2 * m - j) % (2 * m), gamma);
    }
    // Positive for 0 < d < 1/2, where γ falls and is convex; rounding may leave a few below.
    real_transform(fft, &mut circle, |sum| sum.re.max(0.0));
    circle
}

/// Puts a real number at `j` of a row of them, two of which stand in each complex number.
fn put(row: &mut Row, j: usize, number: f64) {
    let both = row.get(j / 2);
    let both = if j.is_multiple_of(2) {
        Complex::new(number, both.im)
    } else {
        Complex::new(both.re, number)
    };
    row.set(j / 2, both);
}

/// The coefficients φ(1)..=φ(order) of the best prediction of x from so many values before it, and the
/// variance of what it misses (Hosking 1981, theorem 1: φ(j) in closed form, partial correlations
/// d/(j−d)).
fn autoregression(d: f64, order: usize) -> (Vec<f64>, f64) {
    let n = order as f64;
    let mut phi = Vec::with_capacity(order);
    phi.push(n * d / (n - d));
    for j in 1..order {
        let j = j as f64;
        let ratio = (n - j) / (j + 1.0) * (j - d) / (n - d - j);
        phi.push(phi[phi.len() - 1] * ratio);
    }
    let missed = |j: usize| 1.0 - (d / (j as f64 - d)) * (d / (j as f64 - d));
    (phi, (1..=order).map(missed).product())
}

/// The eigenvalues 0..=m of the autoregression of so many terms on a circle of length 2m, which is long
/// beside them: σ²/|1 − Σ φ(j) exp(−iωj)|². They stand as those of [`eigenvalues`].
fn eigenvalues_of_terms(d: f64, fft: &Fft, terms: usize) -> Row {
    let (phi, missed) = autoregression(d, terms);
    let mut circle = Row::zeros(fft.length());
    put(&mut circle, 0, 1.0);
    for (j, phi) in phi.iter().enumerate() {
        put(&mut circle, j + 1, -phi);
    }
    real_transform(fft, &mut circle, |sum| missed / (sum.re * sum.re + sum.im * sum.im));
    circle
}

/// Applies `take` to the terms 0..=m of the transform of 2m real numbers, two of which stand in each
/// complex one: half the transform. The results are left in their place, term k below m as a real part,
/// m as the first imaginary part.
fn real_transform(fft: &Fft, z: &mut Row, take: impl Fn(Complex) -> f64) {
    let m = fft.length();
    fft.forward(z);
    let sum = z.get(0);
    let (first, last) = (sum.re + sum.im, sum.re - sum.im);
    z.set(0, Complex::new(take(Complex::new(first, 0.0)), take(Complex::new(last, 0.0))));
    for k in 1..=m / 2 {
        let (here, mirror) = (z.get(k), z.get(m - k).conj());
        let odd = here - mirror;
        let (even, odd) = ((here + mirror).times(0.5), Complex::new(odd.im, -odd.re).times(0.5));
        let turned = fft.root(k) * odd;
        z.set(k, Complex::new(take(even + turned), 0.0));
        // Both are of real sequences, so that terms m − k are the conjugates of terms k.
        z.set(m - k, Complex::new(take((even - turned).conj()), 0.0));
    }
}

/// Half the circle for `n` numbers: the length of the transform. With a memory of so many `terms` it is
/// at least eight times as long, where an autoregression has forgotten.
pub(super) fn circle(n: usize, terms: Option<usize>) -> usize {
    (n + 1).max(terms.map_or(0, |terms| 8 * terms)).next_power_of_two()
}

/// `n` numbers `x_t` + `x_(t−1)` of variance one, x = ARIMA(0, d, 0) with 0 < d < 1/2;
/// `fft` is of a length that is at least the [`circle`] of `n`. With a memory of so many `terms` x is the
/// autoregression of that order.
///
/// As `f32`, because a million of them are kept, and a quantile of a web object's size has no use for
/// more than seven digits. One row of so many complex numbers is all that is needed besides.
#[expect(clippy::cast_possible_truncation, reason = "seven digits are enough, as said")]
pub(super) fn correlated(
    d: f64,
    n: usize,
    terms: Option<usize>,
    fft: &Fft,
    stream: &mut Stream,
) -> Vec<f32> {
    let m = fft.length();
    let mut row = match terms {
        None => eigenvalues(d, fft),
        Some(terms) => eigenvalues_of_terms(d, fft, terms),
    };
    // The circle's spectrum: independent, with the eigenvalues as variances (times its length).
    let size = 2.0 * m as f64;
    let mut last = 0.0;
    for begin in (0..m).step_by(ABREAST) {
        let few = ABREAST.min(m - begin);
        for (k, (re, im)) in (begin..).zip(normal_pairs(few, stream)).take(few) {
            let variance = row.get(k);
            let drawn = if k == 0 {
                last = libm::sqrt(variance.im * size) * im;
                Complex::new(libm::sqrt(variance.re * size) * re, 0.0)
            } else {
                Complex::new(re, im).times(libm::sqrt(variance.re * size / 2.0))
            };
            row.set(k, drawn);
        }
    }
    real_inverse(fft, &mut row, last);
    // var(x_t + x_(t−1)) = 2 + 2γ(1), γ(1) = d/(1−d).
    let scale = 1.0 / libm::sqrt(2.0 + 2.0 * d / (1.0 - d));
    // The row holds m times x.
    let whole = 1.0 / m as f64;
    let scaled = |sum: f64| (sum * whole * scale) as f32;
    let mut numbers = Vec::with_capacity(n + 1);
    let mut here = row.get(0);
    for k in 1..=n.div_ceil(2) {
        let next = row.get(k);
        numbers.extend([scaled(here.re - here.im), scaled(next.re - here.im)]);
        here = next;
    }
    numbers.truncate(n);
    numbers
}

/// The real sequence `x_0` … `x_(2m−1)` whose transform is `spectrum` at 0..m, `last` at m, and what
/// symmetry says beyond; left in place as m times `x_(2j) − i x_(2j+1)`.
fn real_inverse(fft: &Fft, spectrum: &mut Row, last: f64) {
    let m = fft.length();
    // The inverse is the conjugate of the transform of the conjugate.
    let pack = |y: Complex, mirror: Complex, root: Complex| {
        let (even, odd) = ((y + mirror).times(0.5), (y - mirror).times(0.5) * root.conj());
        Complex::new(even.re - odd.im, even.im + odd.re).conj()
    };
    let first = spectrum.get(0);
    spectrum.set(0, pack(first, Complex::new(last, 0.0), fft.root(0)));
    for k in 1..=m / 2 {
        let (low, high) = (spectrum.get(k), spectrum.get(m - k));
        let root = fft.root(k);
        spectrum.set(k, pack(low, high.conj(), root));
        if k != m - k {
            // The root of m − k, mirrored.
            let mirrored = Complex::new(-root.re, root.im);
            spectrum.set(m - k, pack(high, low.conj(), mirrored));
        }
    }
    fft.forward(spectrum);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eigenvalues 0..=m.
    fn listed(row: &Row, m: usize) -> Vec<f64> {
        (0..m).map(|k| row.get(k).re).chain([row.get(0).im]).collect()
    }

    #[test]
    fn eigenvalues_are_the_sums_that_define_them() {
        // λ_k = Σ_j c_j cos(2πjk/2m) over the circle, by hand for m = 8, d = 0.3.
        let (m, d) = (8, 0.3);
        let gamma: Vec<f64> = autocorrelations(d).take(m + 1).collect();
        for (k, got) in listed(&eigenvalues(d, &Fft::new(m)), m).iter().enumerate() {
            let want: f64 = (0..2 * m)
                .map(|j| {
                    let angle = std::f64::consts::PI * (j * k) as f64 / m as f64;
                    gamma[j.min(2 * m - j)] * libm::cos(angle)
                })
                .sum();
            assert!((got - want).abs() < 1e-12, "{k}: {got} {want}");
        }
    }

    #[test]
    fn two_terms_predict_as_by_hand() {
        // Durbin's recursion for d = 0.3: 0.3/0.7 = 0.428571 for one term; for two
        // φ(2) = 0.3/1.7 = 0.176471, φ(1) = 0.428571·(1 − 0.176471) = 0.352941; missed is
        // (1 − 0.183673)(1 − 0.031142) = 0.790905.
        let (phi, missed) = autoregression(0.3, 2);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-6;
        assert!(near(phi[0], 0.352_941) && near(phi[1], 0.176_471) && near(missed, 0.790_905));
        // φ(1) and φ(1000) of a thousand terms by Durbin's recursion, d = 0.33, and what they miss.
        let (phi, missed) = autoregression(0.33, 1000);
        assert!(near(phi[0], 0.330_109) && near(phi[999], 0.000_330_109), "{phi:?}");
        assert!(near(missed, 0.692_736), "{missed}");
    }

    #[test]
    fn terms_keep_the_correlations_as_far_as_they_reach() {
        // γ of d = 0.3: 3/7, 3/7·1.3/1.7 = 0.327731, then 2.3/2.7 of it = 0.279178. With two terms
        // 0.352941·0.327731 + 0.176471·0.428571 = 0.191300 stands in place of the last.
        let (m, d) = (128, 0.3);
        let lambda = listed(&eigenvalues_of_terms(d, &Fft::new(m), 2), m);
        for (j, want) in [1.0, 0.428_571, 0.327_731, 0.191_300].into_iter().enumerate() {
            // The mean of λ_k cos(2πjk/2m) over the circle, on which each but 0 and m stands twice.
            let sum: f64 = (0..2 * m)
                .map(|k| {
                    let angle = std::f64::consts::PI * (j * k) as f64 / m as f64;
                    lambda[k.min(2 * m - k)] * libm::cos(angle)
                })
                .sum();
            let got = sum / (2 * m) as f64;
            assert!((got - want).abs() < 2e-6, "{j}: {got} {want}");
        }
    }

    #[test]
    fn the_spectrum_becomes_the_real_sequence_whose_transform_it_is() {
        let m = 8;
        let x: Vec<f64> = (0..2 * m).map(|j| ((j * 7 + 3) % 11) as f64).collect();
        let at = |k: usize| {
            x.iter().enumerate().fold(Complex::default(), |sum, (j, x)| {
                let angle = -std::f64::consts::PI * (j * k) as f64 / m as f64;
                sum + Complex::new(libm::cos(angle), libm::sin(angle)).times(*x)
            })
        };
        let mut spectrum = Row::zeros(m);
        (0..m).for_each(|k| spectrum.set(k, at(k)));
        real_inverse(&Fft::new(m), &mut spectrum, at(m).re);
        for j in 0..m {
            let z = spectrum.get(j).times(1.0 / m as f64);
            assert!((z.re - x[2 * j]).abs() < 1e-12, "{j}: {z:?}");
            assert!((-z.im - x[2 * j + 1]).abs() < 1e-12, "{j}: {z:?}");
        }
    }

    #[test]
    fn correlations_are_those_of_the_sum_of_neighbours() {
        // γ(k) of d = 0.33 from γ(k)/γ(k−1) = (k−1+d)/(k−d): γ(1) = 0.33/0.67 = 0.492537,
        // γ(2) = γ(1)·1.33/1.67 = 0.392260, γ(3) = γ(2)·2.33/2.67 = 0.342309,
        // γ(4) = γ(3)·3.33/3.67 = 0.310596; ρ(k) = (2γ(k)+γ(k−1)+γ(k+1))/(2+2γ(1)):
        // ρ(1) = (0.985075+1+0.392260)/2.985075 = 0.796407,
        // ρ(2) = (0.784520+0.492537+0.342309)/2.985075 = 0.542488,
        // ρ(3) = (0.684618+0.392260+0.310596)/2.985075 = 0.464803.
        let want = [1.0, 0.796_407, 0.542_488, 0.464_803];
        // A mean over seeds, or the long memory lets one sample's mean wander.
        let (n, seeds) = (1 << 12, 40);
        let fft = Fft::new(circle(n, None));
        let mut got = [0.0; 4];
        for seed in 0..seeds {
            let y = correlated(0.33, n, None, &fft, &mut Stream::new(seed, "test"));
            for (lag, got) in got.iter_mut().enumerate() {
                let sum: f64 = y.iter().zip(&y[lag..]).map(|(a, b)| f64::from(a * b)).sum();
                *got += sum / ((n - lag) as f64 * seeds as f64);
            }
        }
        for (lag, (got, want)) in got.iter().zip(want).enumerate() {
            // The sd of one seed's estimate is about 0.09 (it is dominated by the wandering mean,
            // whose variance at d = 0.33 is about n^(2d−1)·2 = 0.12), of the mean of 40 about 0.02.
            assert!((got - want).abs() < 0.06, "lag {lag}: {got} {want}");
        }
    }

    #[test]
    fn the_memory_is_long() {
        // The variance of means of k numbers falls as k^(2d−1): from k = 64 to k = 4096, that is 2^6
        // times as many, by 2^(6·(2·0.33−1)) = 2^−2.04 = 0.243. Independent numbers: 2^−6 = 0.016.
        let variance = |y: &[f32], k: usize| {
            let means: Vec<f64> = y
                .chunks_exact(k)
                .map(|part| part.iter().map(|y| f64::from(*y)).sum::<f64>() / k as f64)
                .collect();
            means.iter().map(|mean| mean * mean).sum::<f64>() / means.len() as f64
        };
        let (mut short, mut long) = (0.0, 0.0);
        let fft = Fft::new(circle(1 << 16, None));
        for seed in 0..20 {
            let y = correlated(0.33, 1 << 16, None, &fft, &mut Stream::new(seed, "test"));
            short += variance(&y, 64);
            long += variance(&y, 4096);
        }
        let ratio = long / short;
        assert!((0.18..0.31).contains(&ratio), "{ratio}");
    }
}
