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

use super::fft::{Complex, Fft};
use super::normal::Normal;

/// γ(0)..=γ(last) of ARIMA(0, d, 0) with γ(0) = 1: γ(k)/γ(k−1) = (k−1+d)/(k−d) (Hosking 1981,
/// theorem 1).
fn autocorrelations(d: f64, last: usize) -> Vec<f64> {
    let mut gamma = Vec::with_capacity(last + 1);
    gamma.push(1.0);
    for k in 1..=last {
        let k = k as f64;
        gamma.push(gamma[gamma.len() - 1] * (k - 1.0 + d) / (k - d));
    }
    gamma
}

/// The eigenvalues 0..=m of the circle γ(0) … γ(m) … γ(1), of length 2m.
fn eigenvalues(d: f64, fft: &Fft, m: usize) -> Vec<f64> {
    let gamma = autocorrelations(d, m);
    // Positive for 0 < d < 1/2, where γ falls and is convex; rounding may leave a few below.
    let at = |j: usize| if j <= m { gamma[j] } else { gamma[2 * m - j] };
    real_transform(fft, m, at, |sum| sum.re.max(0.0))
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
/// beside them: σ²/|1 − Σ φ(j) exp(−iωj)|².
fn eigenvalues_of_terms(d: f64, fft: &Fft, m: usize, terms: usize) -> Vec<f64> {
    let (phi, missed) = autoregression(d, terms);
    let at = |j: usize| match j {
        0 => 1.0,
        _ => phi.get(j - 1).map_or(0.0, |phi| -phi),
    };
    real_transform(fft, m, at, |sum| missed / (sum.re * sum.re + sum.im * sum.im))
}

/// What `take` makes of the terms 0..=m of the transform of 2m real numbers.
fn real_transform(
    fft: &Fft,
    m: usize,
    at: impl Fn(usize) -> f64,
    take: impl Fn(Complex) -> f64,
) -> Vec<f64> {
    // Two real numbers a complex one: half the transform.
    let mut z: Vec<Complex> = (0..m).map(|j| Complex::new(at(2 * j), at(2 * j + 1))).collect();
    fft.forward(&mut z);
    let half = |k: usize| {
        let (z, mirror) = (z[k % m], z[(m - k) % m].conj());
        let odd = z - mirror;
        let (even, odd) = ((z + mirror).times(0.5), Complex::new(odd.im, -odd.re).times(0.5));
        if k == m { Complex::new(even.re - odd.re, 0.0) } else { even + fft.root(k) * odd }
    };
    (0..=m).map(|k| take(half(k))).collect()
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
/// more than seven digits.
#[expect(clippy::cast_possible_truncation, reason = "seven digits are enough, as said")]
pub(super) fn correlated(
    d: f64,
    n: usize,
    terms: Option<usize>,
    fft: &Fft,
    stream: &mut Stream,
) -> Vec<f32> {
    let m = fft.length();
    let lambda = match terms {
        None => eigenvalues(d, fft, m),
        Some(terms) => eigenvalues_of_terms(d, fft, m, terms),
    };
    let mut normal = Normal::default();
    let size = 2.0 * m as f64;
    // The circle's spectrum: independent, with the eigenvalues as variances (times its length).
    let mut spectrum: Vec<Complex> = Vec::with_capacity(m);
    spectrum.push(Complex::new(libm::sqrt(lambda[0] * size) * normal.draw(stream), 0.0));
    let last = libm::sqrt(lambda[m] * size) * normal.draw(stream);
    for lambda in &lambda[1..m] {
        let sd = libm::sqrt(lambda * size / 2.0);
        spectrum.push(Complex::new(normal.draw(stream), normal.draw(stream)).times(sd));
    }
    drop(lambda);
    real_inverse(fft, &mut spectrum, last);
    // var(x_t + x_(t−1)) = 2 + 2γ(1), γ(1) = d/(1−d).
    let scale = 1.0 / libm::sqrt(2.0 + 2.0 * d / (1.0 - d));
    let x = |t: usize| if t.is_multiple_of(2) { spectrum[t / 2].re } else { spectrum[t / 2].im };
    (0..n).map(|t| ((x(t) + x(t + 1)) * scale) as f32).collect()
}

/// The real sequence `x_0` … `x_(2m−1)` whose transform is `spectrum` at 0..m, `last` at m, and what
/// symmetry says beyond; left in place as `x_(2j) + i x_(2j+1)`.
fn real_inverse(fft: &Fft, spectrum: &mut [Complex], last: f64) {
    let m = spectrum.len();
    // The inverse is the conjugate of the transform of the conjugate.
    let pack = |y: Complex, mirror: Complex, k: usize| {
        let (even, odd) = ((y + mirror).times(0.5), (y - mirror).times(0.5) * fft.root(k).conj());
        Complex::new(even.re - odd.im, even.im + odd.re).conj()
    };
    let first = spectrum[0];
    spectrum[0] = pack(first, Complex::new(last, 0.0), 0);
    for k in 1..=m / 2 {
        let (low, high) = (spectrum[k], spectrum[m - k]);
        spectrum[k] = pack(low, high.conj(), k);
        if k != m - k {
            spectrum[m - k] = pack(high, low.conj(), m - k);
        }
    }
    fft.forward(spectrum);
    let scale = 1.0 / m as f64;
    for z in spectrum {
        *z = z.conj().times(scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvalues_are_the_sums_that_define_them() {
        // λ_k = Σ_j c_j cos(2πjk/2m) over the circle, by hand for m = 8, d = 0.3.
        let (m, d) = (8, 0.3);
        let gamma = autocorrelations(d, m);
        let got = eigenvalues(d, &Fft::new(m), m);
        for (k, got) in got.iter().enumerate() {
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
        let lambda = eigenvalues_of_terms(d, &Fft::new(m), m, 2);
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
        let mut spectrum: Vec<Complex> = (0..m).map(at).collect();
        real_inverse(&Fft::new(m), &mut spectrum, at(m).re);
        for (j, z) in spectrum.iter().enumerate() {
            assert!((z.re - x[2 * j]).abs() < 1e-12, "{j}: {z:?}");
            assert!((z.im - x[2 * j + 1]).abs() < 1e-12, "{j}: {z:?}");
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
