//! A Fourier transform of power-of-two length, for [`fractional`](super::fractional).
//!
//! Its own, because a run is to have the same bits on every machine: the crates for this choose
//! their arithmetic by the processor, and take their sines from the platform
//! (docs/decisions/0011-own-fourier-transform.md).

use std::f64::consts::PI;

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Complex {
    pub(super) re: f64,
    pub(super) im: f64,
}

impl Complex {
    pub(super) const fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }

    pub(super) const fn conj(self) -> Self {
        Self { re: self.re, im: -self.im }
    }

    pub(super) fn times(self, by: f64) -> Self {
        Self { re: self.re * by, im: self.im * by }
    }
}

impl std::ops::Add for Complex {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}

impl std::ops::Sub for Complex {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }
}

impl std::ops::Mul for Complex {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
}

/// The transform of one length.
#[derive(Debug)]
pub(super) struct Fft {
    /// exp(−2πi k/(2·length)), k below the length, then every second of them, every fourth …, so that
    /// each step reads its own in a row.
    roots: Vec<Vec<Complex>>,
}

/// Below it a part of the transform lies in the first cache, and passes over all of it are cheap.
const IN_CACHE: usize = 1 << 10;

impl Fft {
    /// The transform of `length` numbers, a power of two.
    pub(super) fn new(length: usize) -> Self {
        assert!(length.is_power_of_two(), "a power of two, not {length}");
        let step = -PI / length as f64;
        let root = |k: usize| {
            let (im, re) = libm::sincos(step * k as f64);
            Complex { re, im }
        };
        let mut roots = vec![(0..length).map(root).collect::<Vec<_>>()];
        while let Some(last) = roots.last()
            && last.len() > 1
        {
            roots.push(last.iter().step_by(2).copied().collect());
        }
        Self { roots }
    }

    /// How many numbers it takes.
    pub(super) fn length(&self) -> usize {
        self.roots[0].len()
    }

    /// exp(−2πi k/(2·length)).
    pub(super) fn root(&self, k: usize) -> Complex {
        self.roots[0][k]
    }

    /// exp(−2πi k/length), k up to half of `length`.
    fn roots_of(&self, length: usize) -> &[Complex] {
        &self.roots[(2 * self.length() / length).trailing_zeros() as usize]
    }

    /// `X_k = Σ x_j exp(−2πi jk/length)` in place of x.
    pub(super) fn forward(&self, x: &mut [Complex]) {
        assert_eq!(x.len(), self.length(), "one length a transform");
        self.split(x);
        reverse_bits(x);
    }

    /// Decimation in frequency, a quarter wholly before the next, so that each lies in the cache
    /// while it is worked on. Leaves the bits of the index reversed.
    fn split(&self, x: &mut [Complex]) {
        let mut length = x.len();
        if length > IN_CACHE {
            self.two_steps(x);
            x.chunks_exact_mut(length / 4).for_each(|quarter| self.split(quarter));
            return;
        }
        while length > 2 {
            x.chunks_exact_mut(length).for_each(|part| self.two_steps(part));
            length /= 4;
        }
        if length == 2 {
            for pair in x.chunks_exact_mut(2) {
                (pair[0], pair[1]) = (pair[0] + pair[1], pair[0] - pair[1]);
            }
        }
    }

    /// The step from length to length/2 and the one from there to length/4, in one pass.
    fn two_steps(&self, x: &mut [Complex]) {
        let length = x.len();
        let (low, high) = x.split_at_mut(length / 2);
        let ((a, b), (c, d)) = (low.split_at_mut(length / 4), high.split_at_mut(length / 4));
        let roots = self.roots_of(length).iter().zip(self.roots_of(length / 2));
        for ((((a, b), c), d), (root, square)) in a.iter_mut().zip(b).zip(c).zip(d).zip(roots) {
            let (u0, v0) = (*a + *c, (*a - *c) * *root);
            let v1 = (*b - *d) * *root;
            // exp(−2πi (k + length/4)/length) is −i times the root of k.
            let (u1, v1) = (*b + *d, Complex::new(v1.im, -v1.re));
            (*a, *b) = (u0 + u1, (u0 - u1) * *square);
            (*c, *d) = (v0 + v1, (v0 - v1) * *square);
        }
    }
}

fn reverse_bits<T>(x: &mut [T]) {
    let unused = usize::BITS - x.len().trailing_zeros();
    if x.len() < 2 {
        return;
    }
    for k in 0..x.len() {
        let reversed = k.reverse_bits() >> unused;
        if k < reversed {
            x.swap(k, reversed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_sum_that_defines_it() {
        let x: Vec<Complex> =
            (0..16).map(|j| Complex::new(f64::from(j * j % 7) - 2.0, f64::from(j % 5))).collect();
        let mut transformed = x.clone();
        Fft::new(16).forward(&mut transformed);
        for (k, got) in transformed.iter().enumerate() {
            let want = x.iter().enumerate().fold(Complex::default(), |sum, (j, x)| {
                let angle = -2.0 * PI * (j * k) as f64 / 16.0;
                sum + *x * Complex::new(libm::cos(angle), libm::sin(angle))
            });
            assert!((got.re - want.re).abs() < 1e-12 && (got.im - want.im).abs() < 1e-12, "{k}");
        }
    }

    #[test]
    fn beyond_the_cache_a_single_frequency_stays_one_line() {
        // exp(2πi·5j/4096) has the transform 4096 at k = 5, and 0 elsewhere.
        let n = 4096;
        let mut x: Vec<Complex> = (0..n)
            .map(|j| {
                let (im, re) = libm::sincos(2.0 * PI * 5.0 * f64::from(j) / f64::from(n));
                Complex { re, im }
            })
            .collect();
        Fft::new(x.len()).forward(&mut x);
        for (k, x) in x.iter().enumerate() {
            let want = if k == 5 { 4096.0 } else { 0.0 };
            assert!((x.re - want).abs() < 1e-8 && x.im.abs() < 1e-8, "{k}: {x:?}");
        }
    }

    #[test]
    fn a_single_number_is_its_own_transform() {
        let mut x = [Complex::new(3.0, 1.0)];
        Fft::new(1).forward(&mut x);
        assert_eq!(x, [Complex::new(3.0, 1.0)]);
    }
}
