//! The types themselves: private fields, and only the operators that mean something.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// The same number, without its highest bit: one instruction converts a signed number, several one that is not. 2^63
/// nanoseconds are 292 years, and as many bytes are more than any connection carries; only "never" has that bit, and
/// stays as late as can be without.
#[inline]
fn real(number: u64) -> f64 {
    (number & i64::MAX.cast_unsigned()).cast_signed() as f64
}

/// A moment, in nanoseconds since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The moment the run begins.
    pub const START: Self = Self(0);
    /// A moment later than any in a run: "never".
    pub const NEVER: Self = Self(u64::MAX);

    /// This moment, unless it is [`NEVER`](Self::NEVER).
    #[inline]
    pub const fn if_ever(self) -> Option<Self> {
        if self.0 == u64::MAX { None } else { Some(self) }
    }

    /// The moment `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        Duration(self.0).as_secs_f64()
    }

    /// The time from `earlier` to `self`, zero if `earlier` is not earlier.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, rhs: Duration) -> Self {
        Self(self.0.saturating_add(rhs.0))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, rhs: Duration) {
        *self = *self + rhs;
    }
}

/// A span of time, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest span there is (about 584 years).
    pub const MAX: Self = Self(u64::MAX);

    /// `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    /// `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// `secs` seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * NANOS_PER_SECOND)
    }

    /// `secs` seconds, to the nearest nanosecond; zero if negative or not a number.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, which is what the docstring promises"
    )]
    pub fn from_secs_f64(secs: f64) -> Self {
        Self((secs * NANOS_PER_SECOND as f64).round() as u64)
    }

    /// Nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds.
    pub fn as_secs_f64(self) -> f64 {
        real(self.0) / NANOS_PER_SECOND as f64
    }

    /// `self - rhs`, or zero if `rhs` is longer.
    #[must_use]
    pub const fn saturating_sub(self, rhs: Self) -> Self {
        Self(self.0.saturating_sub(rhs.0))
    }

    /// The shortest multiple of `step` that is at least `self`; `self` if `step` is zero.
    #[must_use]
    pub const fn round_up_to(self, step: Self) -> Self {
        if step.0 == 0 { self } else { Self(self.0.div_ceil(step.0) * step.0) }
    }

    /// The distance between two spans.
    #[must_use]
    pub const fn abs_diff(self, rhs: Self) -> Self {
        Self(self.0.abs_diff(rhs.0))
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        Self(self.0.saturating_add(rhs.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, rhs: Self) {
        *self = *self + rhs;
    }
}

impl Sub for Duration {
    type Output = Self;
    fn sub(self, rhs: Self) -> Self {
        Self(self.0 - rhs.0)
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, rhs: u64) -> Self {
        Self(self.0.saturating_mul(rhs))
    }
}

impl Div<u64> for Duration {
    type Output = Self;
    fn div(self, rhs: u64) -> Self {
        Self(self.0 / rhs)
    }
}

impl Sum for Duration {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

/// A volume of data, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// More than any connection carries; what "unlimited" sources offer.
    pub const UNLIMITED: Self = Self(1 << 60);

    /// `n` bytes.
    pub const fn new(n: u64) -> Self {
        Self(n)
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number of bytes as a real number.
    pub fn as_f64(self) -> f64 {
        real(self.0)
    }

    /// The number of bits.
    pub const fn bits(self) -> u64 {
        self.0 * 8
    }

    /// `self - rhs`, or zero if `rhs` is larger.
    #[must_use]
    pub const fn saturating_sub(self, rhs: Self) -> Self {
        Self(self.0.saturating_sub(rhs.0))
    }

    /// This volume in segments of `mss`, as a real number.
    pub fn segments(self, mss: Mss) -> f64 {
        // What one ACK tells of is one segment, mostly: that spares the division.
        if self == mss.bytes() { 1.0 } else { real(self.0) / f64::from(mss.get()) }
    }

    /// Whole segments of `mss` that fit into this volume.
    pub const fn whole_segments(self, mss: Mss) -> u64 {
        self.0 / mss.get() as u64
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        Self(self.0 + rhs.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, rhs: Self) {
        self.0 += rhs.0;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, rhs: Self) -> Self {
        Self(self.0 - rhs.0)
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, rhs: Self) {
        self.0 -= rhs.0;
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, rhs: u64) -> Self {
        Self(self.0 * rhs)
    }
}

impl Div<u64> for Bytes {
    type Output = Self;
    fn div(self, rhs: u64) -> Self {
        Self(self.0 / rhs)
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

/// A maximum segment size: payload bytes of a full segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mss(u16);

impl Mss {
    /// A segment size of `bytes` payload bytes; `None` for zero.
    pub const fn new(bytes: u16) -> Option<Self> {
        if bytes == 0 { None } else { Some(Self(bytes)) }
    }

    /// Payload bytes of a full segment.
    pub const fn get(self) -> u16 {
        self.0
    }

    /// The size as a volume.
    pub const fn bytes(self) -> Bytes {
        Bytes(self.0 as u64)
    }

    /// The volume of `n` full segments.
    pub const fn times(self, n: u64) -> Bytes {
        Bytes(self.0 as u64 * n)
    }
}

impl Default for Mss {
    /// 1460 bytes: a 1500-byte IPv4 packet without TCP options.
    fn default() -> Self {
        Self(1460)
    }
}

/// A rate, in bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// `bps` bits per second.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// The time to put `volume` on a link of this rate, to the nanosecond, rounded down.
    ///
    /// A link that sends packets back to back must keep the remainder, or it drifts; see the
    /// serialiser of the `net` crate.
    pub fn transmission_time(self, volume: Bytes) -> Duration {
        // Up to 2 GB; beyond that a division of 128 bits, which costs several times as much.
        if let Some(scaled) = volume.bits().checked_mul(NANOS_PER_SECOND) {
            return Duration(scaled / self.0);
        }
        let nanos = u128::from(volume.bits()) * u128::from(NANOS_PER_SECOND) / u128::from(self.0);
        Duration(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// The volume sent in `span`, rounded down.
    pub fn volume_in(self, span: Duration) -> Bytes {
        let bytes = u128::from(self.0) * u128::from(span.0) / (8 * u128::from(NANOS_PER_SECOND));
        Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

/// A rate that may be zero, which is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateOrZero(pub Option<Rate>);

/// A rate counted in packets per second, for sources whose packets all have one size.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct PacketRate(f64);

impl PacketRate {
    /// `pps` packets per second; `None` unless finite and positive.
    pub fn from_pps(pps: f64) -> Option<Self> {
        (pps.is_finite() && pps > 0.0).then_some(Self(pps))
    }

    /// Packets per second.
    pub const fn as_pps(self) -> f64 {
        self.0
    }

    /// This rate of packets of `size` on the wire as a bit rate, to the nearest bit per second.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive by construction, and saturating above 2^64 bit/s"
    )]
    pub fn bit_rate(self, size: Bytes) -> Rate {
        Rate((self.0 * size.bits() as f64).round() as u64)
    }
}

/// A rate of events per second, such as arrivals.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Frequency(f64);

impl Frequency {
    /// `hertz` events per second; `None` unless finite and positive.
    pub fn from_hz(hertz: f64) -> Option<Self> {
        (hertz.is_finite() && hertz > 0.0).then_some(Self(hertz))
    }

    /// Events per second.
    pub const fn as_hz(self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_takes_its_time_whatever_its_size() {
        // 12,000 bits at 10 Mbit/s; 80 Gbit at 8 Gbit/s, whose nanoseconds exceed 64 bits on the way.
        let small = Rate::from_bps(10_000_000).transmission_time(Bytes::new(1500));
        let large = Rate::from_bps(8_000_000_000).transmission_time(Bytes::new(10_000_000_000));
        assert_eq!((small, large), (Duration::from_micros(1200), Duration::from_secs(10)));
    }
}
