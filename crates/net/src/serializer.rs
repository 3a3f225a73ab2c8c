//! Putting packets on a wire at a rate that is not a whole number of nanoseconds a bit.

use ackclock_units::{Bytes, Duration, Instant, Rate};

use crate::channel::Channel;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Turns sizes into transmission times. Packets sent back to back keep the fraction of a nanosecond
/// that the last one left, so that a busy link neither gains nor loses rate.
#[derive(Clone, Debug)]
// What a change of sizes asks for comes first.
#[repr(C)]
pub struct Serializer {
    /// What a byte takes, in nanoseconds, at a rate at which that is a whole number; otherwise zero. Where
    /// sizes do not repeat, as on the lines of short connections, it spares the division.
    byte_nanos: u32,
    rate: Rate,
    /// What earlier packets left, in units of 1/rate nanoseconds.
    carry: u64,
    /// The last size and its transmission time: sizes repeat, and a division costs more than all else here.
    known: Known,
    /// What takes the place of a constant rate. Nothing is cached then, so that only a size that is
    /// not in the cache asks for it.
    channel: Option<Box<Channel>>,
}

/// A size and its transmission time.
#[derive(Clone, Copy, Debug)]
struct Known {
    size: u32,
    nanos: u64,
    /// In units of 1/rate nanoseconds.
    remainder: u64,
}

impl Serializer {
    /// A wire of `rate`.
    pub const fn new(rate: Rate) -> Self {
        let byte = 8 * NANOS_PER_SECOND;
        let bps = rate.as_bps();
        #[expect(clippy::cast_possible_truncation, reason = "32 bits, as said")]
        let byte_nanos = match byte.checked_rem(bps) {
            Some(0) if byte / bps <= u32::MAX as u64 => (byte / bps) as u32,
            _ => 0,
        };
        let known = Known { size: 0, nanos: 0, remainder: 0 };
        Self { byte_nanos, rate, carry: 0, known, channel: None }
    }

    /// The same over `channel`, whose mean rate is the wire's.
    #[must_use]
    pub fn over(mut self, channel: Channel) -> Self {
        // No packet's size.
        self.known.size = u32::MAX;
        self.channel = Some(Box::new(channel));
        self
    }

    /// The rate.
    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// Another rate from the next packet on. A channel keeps its own.
    pub fn set_rate(&mut self, rate: Rate) {
        let channel = self.channel.take();
        *self = Self::new(rate);
        if let Some(channel) = channel {
            *self = std::mem::replace(self, Self::new(rate)).over(*channel);
        }
    }

    /// The wire was idle: no fraction is owed.
    pub const fn rest(&mut self) {
        self.carry = 0;
    }

    /// The time that the next packet takes: it came at `now`, and goes out when the one before has
    /// left, at `starts`.
    #[inline]
    pub fn send(&mut self, now: Instant, starts: Instant, size: Bytes) -> Duration {
        if u64::from(self.known.size) != size.get()
            && let Some(channel) = &mut self.channel
        {
            return channel.time(now, starts, size.get());
        }
        self.next(size)
    }

    /// The time that the next packet takes, which is of the same size as the last, on a wire that may
    /// have `rested`; `None`, and nothing is done, if that is not known.
    #[inline]
    pub const fn again(&mut self, size: u32, rested: bool) -> Option<Duration> {
        let Known { size: known, mut nanos, remainder, .. } = self.known;
        if known != size {
            return None;
        }
        // The remainder alone is less than a nanosecond.
        self.carry = if rested { remainder } else { self.carry + remainder };
        if self.carry >= self.rate.as_bps() {
            self.carry -= self.rate.as_bps();
            nanos += 1;
        }
        Some(Duration::from_nanos(nanos))
    }

    /// The time that the next packet takes, on a wire that may have `rested`; `None`, and nothing is done, over a
    /// channel.
    #[inline]
    pub const fn at_rate(&mut self, size: u32, rested: bool) -> Option<Duration> {
        if let Some(time) = self.again(size, rested) {
            return Some(time);
        }
        if self.channel.is_some() {
            return None;
        }
        if rested {
            self.rest();
        }
        Some(self.next(Bytes::new(size as u64)))
    }

    /// The size of the last packet, what it takes, in nanoseconds, and whether every such packet takes that, or only
    /// one that comes after a rest; `None` where neither is so.
    #[inline]
    pub fn last(&self) -> Option<(u32, u32, bool)> {
        let Known { size, nanos, .. } = self.known;
        let nanos = u32::try_from(nanos).ok()?;
        (self.channel.is_none() && nanos > 0).then_some((size, nanos, self.is_even()))
    }

    /// Whether packets of every size take a whole number of nanoseconds.
    #[inline]
    pub const fn is_even(&self) -> bool {
        self.byte_nanos > 0
    }

    /// What so many bytes take, in nanoseconds, at a rate at which a byte takes a whole number of them; otherwise zero.
    #[inline]
    pub const fn even_nanos(&self, bytes: u64) -> u64 {
        bytes * self.byte_nanos as u64
    }

    /// Whether a packet of this size takes a nanosecond at least, and no more than 32 bits hold.
    #[inline]
    pub const fn is_short(&self, size: u32) -> bool {
        let (scaled, rate) =
            (size as u128 * 8 * NANOS_PER_SECOND as u128, self.rate.as_bps() as u128);
        self.channel.is_none() && scaled >= rate && scaled < rate << u32::BITS
    }

    /// What a packet of the last size takes, what the last has left of a nanosecond, and what a nanosecond is, in the
    /// same unit: a nanosecond, or 1/rate of one.
    pub const fn fractions(&self) -> (u128, u64, u64) {
        let Known { nanos, remainder, .. } = self.known;
        if self.is_even() {
            return (nanos as u128, 0, 1);
        }
        let rate = self.rate.as_bps();
        (nanos as u128 * rate as u128 + remainder as u128, self.carry, rate)
    }

    /// More packets of the size of the last have been sent, each after a rest if not every such packet takes
    /// [the same](Self::last).
    #[inline]
    pub const fn sent_again(&mut self) {
        self.carry = self.known.remainder;
    }

    /// The time that the next packet takes at a constant rate.
    #[inline]
    pub const fn next(&mut self, size: Bytes) -> Duration {
        let bps = self.rate.as_bps();
        if self.known.size as u64 != size.get() {
            self.learn(size);
        }
        let Known { mut nanos, remainder, .. } = self.known;
        self.carry += remainder;
        if self.carry >= bps {
            self.carry -= bps;
            nanos += 1;
        }
        Duration::from_nanos(nanos)
    }

    #[inline]
    const fn learn(&mut self, size: Bytes) {
        let known = &mut self.known;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "what is longer is never the same again"
        )]
        let short = if size.get() < u32::MAX as u64 { size.get() as u32 } else { u32::MAX };
        known.size = short;
        if self.byte_nanos > 0 {
            known.nanos = size.get() * self.byte_nanos as u64;
            known.remainder = 0;
        } else {
            let scaled = size.bits() * NANOS_PER_SECOND;
            known.nanos = scaled / self.rate.as_bps();
            known.remainder = scaled % self.rate.as_bps();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_wire_keeps_its_rate_to_the_nanosecond() {
        // 3 Mbit/s and 1500 B: 4 ms exactly. 7 Mbit/s: 12000/7e6 s = 1714285.714... ns; seven of
        // them are 12 ms exactly.
        for (mbps, packets, millis) in [(3, 1, 4), (7, 7, 12)] {
            let mut wire = Serializer::new(Rate::from_bps(mbps * 1_000_000));
            let total: Duration = (0..packets).map(|_| wire.next(Bytes::new(1500))).sum();
            assert_eq!(total, Duration::from_millis(millis));
        }
    }

    #[test]
    fn sizes_that_change_take_what_they_take() {
        // A bit takes 1 ns, 100 ns, 1000/3 ns and 1 s: 40 bytes are 320 bits, 1500 are 12,000. At 3 Mbit/s
        // 106,666.67, then 4,000,000 with the two thirds owed, then the rest: 4,213,333.33 in all.
        let times = |bps| {
            let mut wire = Serializer::new(Rate::from_bps(bps));
            [40, 1500, 40, 40].map(|size| wire.next(Bytes::new(size)).as_nanos())
        };
        assert_eq!(times(1_000_000_000), [320, 12_000, 320, 320]);
        assert_eq!(times(10_000_000), [32_000, 1_200_000, 32_000, 32_000]);
        assert_eq!(times(3_000_000), [106_666, 4_000_000, 106_667, 106_667]);
        let second = 1_000_000_000;
        assert_eq!(times(1), [320, 12_000, 320, 320].map(|bits| bits * second));
    }

    #[test]
    fn an_idle_wire_owes_nothing() {
        let mut wire = Serializer::new(Rate::from_bps(7_000_000));
        wire.next(Bytes::new(1500));
        wire.rest();
        assert_eq!(wire.next(Bytes::new(1500)), Duration::from_nanos(1_714_285));
    }
}
