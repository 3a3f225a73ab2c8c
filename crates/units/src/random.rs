//! Random streams, one a component, keyed by (seed, name).
//!
//! A component's draws depend on the run's seed and its own name alone: adding a link or changing a
//! flow's variant leaves every other component's draws as they were. The generator is xoshiro256++
//! (Blackman & Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 2021), seeded
//! through `SplitMix64` as its authors advise. Both are pinned here rather than taken from a crate,
//! because a crate may change its sequence between versions and a published figure may not.

mod law;

use std::cell::Cell;

pub use law::Law;

thread_local! {
    static DRAWS: Cell<u64> = const { Cell::new(0) };
}

/// The number of draws that this thread has made: a run that made none is the same under every seed.
pub fn draws() -> u64 {
    DRAWS.get()
}

/// The finaliser of `SplitMix64`: a bijection that mixes every bit into every other.
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// `SplitMix64`'s increment.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The key of (seed, name).
fn key(seed: u64, name: &str) -> u64 {
    // FNV-1a spreads the name; the finaliser separates names and seeds that differ in one bit.
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    mix(seed.wrapping_add(GOLDEN)) ^ mix(hash)
}

/// One component's random stream.
#[derive(Clone, Debug)]
pub struct Stream {
    state: [u64; 4],
}

impl Stream {
    /// The stream of the component `name` in the run of `seed`.
    pub fn new(seed: u64, name: &str) -> Self {
        Self::of_key(key(seed, name))
    }

    fn of_key(mut z: u64) -> Self {
        let mut next = || {
            z = z.wrapping_add(GOLDEN);
            mix(z)
        };
        Self { state: [next(), next(), next(), next()] }
    }

    /// The four words that the next draws follow from, for a generator elsewhere that is to draw the same.
    pub const fn state(&self) -> [u64; 4] {
        self.state
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        DRAWS.set(DRAWS.get().wrapping_add(1));
        self.next_seed()
    }

    /// The next 64 bits as the seed of another component: no draw that counts, as that component may make none.
    pub const fn next_seed(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c2, d2) = (c ^ a, d ^ b);
        self.state = [a ^ d2, b ^ c2, c2 ^ (b << 17), d2.rotate_left(45)];
        result
    }

    /// A number from 0 (inclusive) to 1 (exclusive), in steps of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// A number from `low` (inclusive) to `high` (exclusive).
    pub fn uniform_in(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// An exponential draw of the given mean, by inversion.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // 1 - U is in (0, 1], so that the logarithm is finite.
        -mean * libm::log(1.0 - self.uniform())
    }

    /// A standard normal draw, by Box and Muller's transform of two uniform draws.
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// True with probability `p`.
    pub fn bernoulli(&mut self, p: f64) -> bool {
        self.uniform() < p
    }
}

/// Streams by number, for components that are alike and many: each is keyed by (seed, name, number)
/// alone, whatever the others drew.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    key: u64,
}

impl Streams {
    /// The streams of the components `name` in the run of `seed`.
    pub fn new(seed: u64, name: &str) -> Self {
        Self { key: key(seed, name) }
    }

    /// The stream of component `number`.
    pub fn of(&self, number: u64) -> Stream {
        // Stepped first, or component 0 would be the key's own stream, shifted.
        Stream::of_key(self.key ^ mix(number.wrapping_mul(GOLDEN).wrapping_add(1)))
    }
}

#[cfg(test)]
mod tests;
