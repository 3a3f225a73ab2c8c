//! A Fourier transform of power-of-two length, for [`fractional`](super::fractional).
//!
//! Its own, because a run is to have the same bits on every machine: the crates for this choose
//! their arithmetic by the processor, and take their sines from the platform
//! (docs/decisions/0011-own-fourier-transform.md).

use super::normal::{ABREAST, sincos_of_turns};

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

/// Two complex numbers side by side: one instruction does the same to both.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    re: [f64; 2],
    im: [f64; 2],
}

impl Pair {
    const fn new(first: Complex, second: Complex) -> Self {
        Self { re: [first.re, second.re], im: [first.im, second.im] }
    }
}

fn sum(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

fn difference(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

fn product(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] * b[0], a[1] * b[1]]
}

impl std::ops::Add for Pair {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { re: sum(self.re, other.re), im: sum(self.im, other.im) }
    }
}

impl std::ops::Sub for Pair {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { re: difference(self.re, other.re), im: difference(self.im, other.im) }
    }
}

impl std::ops::Mul for Pair {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self {
            re: difference(product(self.re, other.re), product(self.im, other.im)),
            im: sum(product(self.re, other.im), product(self.im, other.re)),
        }
    }
}

/// A row of complex numbers, two at least.
#[derive(Clone, Debug)]
pub(super) struct Row(Vec<Pair>);

impl Row {
    /// A row of `length` zeros, an even number.
    pub(super) fn zeros(length: usize) -> Self {
        Self(vec![Pair::default(); length / 2])
    }

    /// The number at `k`.
    #[inline]
    pub(super) fn get(&self, k: usize) -> Complex {
        let pair = &self.0[k / 2];
        Complex { re: pair.re[k % 2], im: pair.im[k % 2] }
    }

    /// Puts a number at `k`.
    #[inline]
    pub(super) fn set(&mut self, k: usize, number: Complex) {
        let pair = &mut self.0[k / 2];
        pair.re[k % 2] = number.re;
        pair.im[k % 2] = number.im;
    }

    /// The number at `k` of the index with its bits reversed.
    fn reverse_bits(&mut self) {
        let length = 2 * self.0.len();
        if length > IN_CACHE {
            self.reverse_bits_by_blocks();
            return;
        }
        let mut reversed = 0;
        for k in 0..length {
            if k < reversed {
                let (here, there) = (self.get(k), self.get(reversed));
                self.set(k, there);
                self.set(reversed, here);
            }
            // Counting up changes the lowest bits, as many as there are ones at the end and one more.
            reversed ^= length - (length >> (k.trailing_ones() + 1));
        }
    }

    /// The reversal of bits in a row that is longer than the cache: a number's mirror is far away, and so
    /// are those of its neighbours from one another, but `EDGE` neighbours at each of `EDGE` places that
    /// differ in the first bits have their mirrors in as few places (Carter and Gatlin, FOCS 1998).
    fn reverse_bits_by_blocks(&mut self) {
        let length = 2 * self.0.len();
        let places = length / (EDGE * EDGE);
        let mirrored = |k: usize, of: usize| k.reverse_bits() >> (of.leading_zeros() + 1);
        let edge: [usize; EDGE] = std::array::from_fn(|k| mirrored(k, EDGE));
        let at = |row: usize, place: usize| row * (length / EDGE) + place * EDGE;
        let mut tile = [[Complex::default(); EDGE]; EDGE];
        for place in 0..places {
            let mirror = mirrored(place, places);
            if mirror < place {
                continue;
            }
            for (row, numbers) in tile.iter_mut().enumerate() {
                for (column, number) in numbers.iter_mut().enumerate() {
                    *number = self.get(at(row, place) + column);
                }
            }
            for row in 0..EDGE {
                for column in 0..EDGE {
                    let number = &mut tile[edge[column]][edge[row]];
                    let k = at(row, mirror) + column;
                    let there = self.get(k);
                    self.set(k, *number);
                    *number = there;
                }
            }
            if mirror == place {
                continue;
            }
            for (row, numbers) in tile.iter().enumerate() {
                for (column, number) in numbers.iter().enumerate() {
                    self.set(at(row, place) + column, *number);
                }
            }
        }
    }
}

/// The transform of one length.
#[derive(Debug)]
pub(super) struct Fft {
    length: usize,
    /// exp(−πi k/length), k up to half of the length.
    roots: Vec<Complex>,
    /// Factors of each pass, over parts of the length, a quarter of it, a sixteenth …: exp(−2πi k/part)
    /// and its square, k below a quarter of the part.
    passes: Vec<Vec<[Pair; 2]>>,
}

/// Below it a part of the transform lies in the first cache, and passes over all of it are cheap.
const IN_CACHE: usize = 1 << 10;

/// The side of a block: a row of it is a few lines of the cache, and the whole block fits into the
/// first level.
const EDGE: usize = 1 << 4;

impl Fft {
    /// The transform of `length` numbers, a power of two and two at least.
    pub(super) fn new(length: usize) -> Self {
        assert!(length.is_power_of_two() && length > 1, "a power of two above one, not {length}");
        let some_roots = |first: usize| {
            let turn = |k: usize| (first + k) as f64 / (2 * length) as f64;
            let (sin, cos) = sincos_of_turns(std::array::from_fn(turn));
            cos.into_iter().zip(sin).map(|(cos, sin)| Complex::new(cos, -sin))
        };
        let wanted = length / 2 + 1;
        let mut roots = Vec::with_capacity(wanted.next_multiple_of(ABREAST));
        roots.extend((0..wanted).step_by(ABREAST).flat_map(some_roots));
        roots.truncate(wanted);
        // exp(−πi k/length), k below the length.
        let at = |k: usize| {
            let mirrored = |root: Complex| Complex::new(-root.re, root.im);
            if k <= length / 2 { roots[k] } else { mirrored(roots[length - k]) }
        };
        let parts = (0..).map(|pass| length >> (2 * pass)).take_while(|part| *part >= 8);
        let passes = parts
            .map(|part| {
                let step = 2 * length / part;
                let pair = |k: usize, step: usize| Pair::new(at(k * step), at((k + 1) * step));
                (0..part / 4).step_by(2).map(|k| [pair(k, step), pair(k, 2 * step)]).collect()
            })
            .collect();
        Self { length, roots, passes }
    }

    /// The number of complex numbers that it transforms.
    pub(super) const fn length(&self) -> usize {
        self.length
    }

    /// exp(−πi k/length), k up to half of the length.
    #[inline]
    pub(super) fn root(&self, k: usize) -> Complex {
        self.roots[k]
    }

    /// `X_k = Σ x_j exp(−2πi jk/length)` in place of x.
    pub(super) fn forward(&self, x: &mut Row) {
        assert_eq!(2 * x.0.len(), self.length, "one length a transform");
        split(&self.passes, &mut x.0);
        x.reverse_bits();
    }
}

/// Decimation in frequency, a quarter wholly before the next, so that each lies in the cache
/// while it is worked on. Leaves the bits of the index reversed.
fn split(passes: &[Vec<[Pair; 2]>], x: &mut [Pair]) {
    if let [pass, rest @ ..] = passes
        && 2 * x.len() > IN_CACHE
    {
        two_steps(pass, x);
        x.chunks_exact_mut(x.len() / 4).for_each(|quarter| split(rest, quarter));
        return;
    }
    let mut part = x.len();
    for pass in passes {
        x.chunks_exact_mut(part).for_each(|part| two_steps(pass, part));
        part /= 4;
    }
    if part == 2 {
        x.as_chunks_mut().0.iter_mut().for_each(last_four);
    } else {
        for Pair { re, im } in x {
            (*re, *im) = ([re[0] + re[1], re[0] - re[1]], [im[0] + im[1], im[0] - im[1]]);
        }
    }
}

/// The step from length to length/2 and the one from there to length/4, in one pass.
fn two_steps(roots: &[[Pair; 2]], x: &mut [Pair]) {
    let length = x.len();
    let (low, high) = x.split_at_mut(length / 2);
    let ((a, b), (c, d)) = (low.split_at_mut(length / 4), high.split_at_mut(length / 4));
    for ((((a, b), c), d), [root, square]) in a.iter_mut().zip(b).zip(c).zip(d).zip(roots) {
        let (u0, v0) = (*a + *c, (*a - *c) * *root);
        let v1 = (*b - *d) * *root;
        // exp(−2πi (k + length/4)/length) is −i times the root of k.
        let (u1, v1) = (*b + *d, Pair { re: v1.im, im: v1.re.map(|re| -re) });
        (*a, *b) = (u0 + u1, (u0 - u1) * *square);
        (*c, *d) = (v0 + v1, (v0 - v1) * *square);
    }
}

/// The same two steps of four numbers, whose roots are one.
fn last_four([low, high]: &mut [Pair; 2]) {
    let (u, v) = (*low + *high, *low - *high);
    // The second of v times −i.
    let (turned_re, turned_im) = (v.im[1], -v.re[1]);
    *low = Pair {
        re: [u.re[0] + u.re[1], u.re[0] - u.re[1]],
        im: [u.im[0] + u.im[1], u.im[0] - u.im[1]],
    };
    *high = Pair {
        re: [v.re[0] + turned_re, v.re[0] - turned_re],
        im: [v.im[0] + turned_im, v.im[0] - turned_im],
    };
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    fn row(numbers: &[Complex]) -> Row {
        let mut row = Row::zeros(numbers.len());
        for (k, number) in numbers.iter().enumerate() {
            row.set(k, *number);
        }
        row
    }

    #[test]
    fn agrees_with_the_sum_that_defines_it() {
        for length in [2, 4, 8, 16, 32, 64] {
            let x: Vec<Complex> = (0..length)
                .map(|j| Complex::new(f64::from(j * j % 7) - 2.0, f64::from(j % 5)))
                .collect();
            let mut transformed = row(&x);
            Fft::new(x.len()).forward(&mut transformed);
            for k in 0..x.len() {
                let want = x.iter().enumerate().fold(Complex::default(), |sum, (j, x)| {
                    let angle = -2.0 * PI * (j * k) as f64 / f64::from(length);
                    sum + *x * Complex::new(libm::cos(angle), libm::sin(angle))
                });
                let got = transformed.get(k);
                let near = (got.re - want.re).abs() < 1e-12 && (got.im - want.im).abs() < 1e-12;
                assert!(near, "{k} of {length}: {got:?} {want:?}");
            }
        }
    }

    #[test]
    fn bits_are_reversed_by_blocks_as_one_by_one() {
        // With the bits of k reversed, 11 of them and 12, an odd number and an even one in the middle.
        for bits in [11, 12] {
            let length = 1 << bits;
            let at = |k: usize| Complex::new(k as f64, -(k as f64));
            let mut x = row(&(0..length).map(at).collect::<Vec<_>>());
            x.reverse_bits_by_blocks();
            for k in 0..length {
                let mut want = 0;
                for bit in 0..bits {
                    want |= ((k >> bit) & 1) << (bits - 1 - bit);
                }
                assert_eq!(x.get(k), at(want), "{k} of {length}");
            }
        }
    }

    #[test]
    fn beyond_the_cache_a_single_frequency_stays_one_line() {
        // exp(2πi·5j/n) has the transform n at k = 5, and 0 elsewhere; n with an even and an odd number
        // of steps.
        for n in [4096, 8192] {
            let x: Vec<Complex> = (0..n)
                .map(|j| {
                    let (im, re) = libm::sincos(2.0 * PI * 5.0 * f64::from(j) / f64::from(n));
                    Complex { re, im }
                })
                .collect();
            let mut x = row(&x);
            let fft = Fft::new(2 * x.0.len());
            fft.forward(&mut x);
            for k in 0..fft.length() {
                let want = if k == 5 { f64::from(n) } else { 0.0 };
                let got = x.get(k);
                assert!((got.re - want).abs() < 1e-8 && got.im.abs() < 1e-8, "{k}: {got:?}");
            }
        }
    }
}
