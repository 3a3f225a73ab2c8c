//! Correlated normal numbers with a long memory, in O(n log n).
//!
//! x is fractional noise, ARIMA(0, d, 0) (Hosking, Biometrika 68, 1981): its autocovariance falls as
//! k^(2d−1) and so slowly that it has no sum. The numbers are `x_t` + `x_(t−1)`, scaled to a variance of
//! one. ns-2 makes x by Hosking's recursion over the last thousand values or more, a term each; here
//! it is drawn whole, by the circulant embedding of Davies and Harte (Biometrika 74, 1987), which is
//! exact: the covariances of a circle of twice the length are those of x, and a Fourier transform
//! makes a circle's numbers independent.

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
    let at = |j: usize| if j <= m { gamma[j] } else { gamma[2 * m - j] };
    // Two real numbers a complex one: half the transform.
    let mut z: Vec<Complex> = (0..m).map(|j| Complex::new(at(2 * j), at(2 * j + 1))).collect();
    fft.forward(&mut z);
    let half = |k: usize| {
        let (z, mirror) = (z[k % m], z[(m - k) % m].conj());
        let odd = z - mirror;
        let (even, odd) = ((z + mirror).times(0.5), Complex::new(odd.im, -odd.re).times(0.5));
        if k == m { even.re - odd.re } else { (even + fft.root(k) * odd).re }
    };
    // Positive for 0 < d < 1/2, where γ falls and is convex; rounding may leave a few below.
    (0..=m).map(|k| half(k).max(0.0)).collect()
}

/// Half the circle for `n` numbers: the length of the transform.
pub(super) const fn circle(n: usize) -> usize {
    (n + 1).next_power_of_two()
}

/// `n` numbers `x_t` + `x_(t−1)` of variance one, x = ARIMA(0, d, 0) with 0 < d < 1/2;
/// `fft` is of the length [`circle`] of `n`.
///
/// As `f32`, because a million of them are kept, and a quantile of a web object's size has no use for
/// more than seven digits.
#[expect(clippy::cast_possible_truncation, reason = "seven digits are enough, as said")]
pub(super) fn correlated(d: f64, n: usize, fft: &Fft, stream: &mut Stream) -> Vec<f32> {
    let m = circle(n);
    let lambda = eigenvalues(d, fft, m);
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
        let fft = Fft::new(circle(n));
        let mut got = [0.0; 4];
        for seed in 0..seeds {
            let y = correlated(0.33, n, &fft, &mut Stream::new(seed, "test"));
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
        let fft = Fft::new(circle(1 << 16));
        for seed in 0..20 {
            let y = correlated(0.33, 1 << 16, &fft, &mut Stream::new(seed, "test"));
            short += variance(&y, 64);
            long += variance(&y, 4096);
        }
        let ratio = long / short;
        assert!((0.18..0.31).contains(&ratio), "{ratio}");
    }
}
