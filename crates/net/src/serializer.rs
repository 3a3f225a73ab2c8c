//! Putting packets on a wire at a rate that is not a whole number of nanoseconds a bit.

use ackclock_units::{Bytes, Duration, Instant, Rate};

use crate::parts::channel::Channel;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// More than an IP packet has, and few enough for a product of 64 bits.
const MOST_BYTES: u32 = 1 << 30;

/// Turns sizes into transmission times. Packets sent back to back keep the fraction of a nanosecond
/// that the last one left, so that a busy link neither gains nor loses rate.
#[derive(Clone, Debug)]
// What packets ask for that leave no trace comes first.
#[repr(C)]
pub struct Serializer {
    /// The time of a byte, in nanoseconds, at a rate at which that is a whole number; otherwise zero. Where sizes do
    /// not repeat, as on the lines of short connections, it spares the division.
    byte_nanos: u32,
    /// The last size: sizes repeat, and a division costs more than all else here.
    size: u32,
    rate: Rate,
    /// The last size's transmission time: this in units of 1/rate nanoseconds and those below.
    remainder: u64,
    nanos: u64,
    /// The rest of a nanosecond that earlier packets left, in units of 1/rate nanoseconds.
    carry: u64,
    /// The channel in place of a constant rate. Nothing is cached then, so that only a size that is not in the cache
    /// asks for it.
    channel: Option<Box<Channel>>,
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
        Self { byte_nanos, size: 0, rate, remainder: 0, nanos: 0, carry: 0, channel: None }
    }

    /// The same over `channel`, whose mean rate is the wire's.
    #[must_use]
    pub fn over(mut self, channel: Channel) -> Self {
        // No packet's size.
        self.size = u32::MAX;
        self.channel = Some(Box::new(channel));
        self
    }

    /// The rate.
    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// All that a channel could have sent by `now`, in bits times 10^9; `None` of a constant rate.
    pub fn capacity(&self, now: Instant) -> Option<u128> {
        self.channel.as_ref().and_then(|channel| channel.capacity(now))
    }

    /// The wire was idle: no fraction is owed.
    pub const fn rest(&mut self) {
        self.carry = 0;
    }

    /// The time that the next packet takes: it came at `now`, and goes out when the one before has
    /// left, at `starts`.
    #[inline]
    pub fn send(&mut self, now: Instant, starts: Instant, size: Bytes) -> Duration {
        if u64::from(self.size) != size.get()
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
        if self.size != size {
            return None;
        }
        let Self { mut nanos, remainder, .. } = *self;
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

    /// The size of the last packet; what one takes that comes after a rest, in nanoseconds; and what the last owes of
    /// one, in 1/rate nanoseconds, unless every packet takes whole ones. `None` over a channel, and where one takes less
    /// than a nanosecond or more than 32 bits of them.
    #[inline]
    pub fn last(&self) -> Option<(u32, u32, Option<u64>)> {
        let nanos = u32::try_from(self.nanos).ok()?;
        let owed = (!self.is_even()).then_some(self.carry);
        (self.channel.is_none() && nanos > 0).then_some((self.size, nanos, owed))
    }

    /// True if packets of every size take a whole number of nanoseconds.
    #[inline]
    const fn is_even(&self) -> bool {
        self.byte_nanos > 0
    }

    /// The time of a packet of this size after a rest, in nanoseconds; `None`, and nothing is done, over a channel, and
    /// where it takes less than one or more than 32 bits of them.
    #[inline]
    pub fn nanos_after_rest(&mut self, size: u32) -> Option<u32> {
        let nanos = if self.is_even() {
            u64::from(size) * u64::from(self.byte_nanos)
        } else if self.channel.is_some() || size > MOST_BYTES {
            return None;
        } else {
            let scaled = u64::from(size) * 8 * NANOS_PER_SECOND;
            let (nanos, remainder) = (scaled / self.rate.as_bps(), scaled % self.rate.as_bps());
            if (1..1 << u32::BITS).contains(&nanos) {
                (self.size, self.nanos, self.remainder) = (size, nanos, remainder);
            }
            nanos
        };
        u32::try_from(nanos).ok().filter(|nanos| *nanos > 0)
    }

    /// The fraction of a nanosecond that a packet of the last size owes after one that owed so much, and how many
    /// nanoseconds it takes more than one after a rest.
    #[inline]
    pub const fn owed_after(&self, owed: u64) -> (u64, u64) {
        let (owed, rate) = (owed + self.remainder, self.rate.as_bps());
        // The remainder alone is less than a nanosecond.
        if owed >= rate { (owed - rate, 1) } else { (owed, 0) }
    }

    /// The fraction of a nanosecond that a packet of the last size owes after a rest.
    #[inline]
    pub const fn owed_after_rest(&self) -> u64 {
        self.remainder
    }

    /// The time of a packet of the last size, and that of a nanosecond, in the same unit: a nanosecond, or 1/rate of
    /// one.
    pub const fn fractions(&self) -> (u128, u64) {
        if self.is_even() {
            return (self.nanos as u128, 1);
        }
        let rate = self.rate.as_bps();
        (self.nanos as u128 * rate as u128 + self.remainder as u128, rate)
    }

    /// Packets have been sent without it, of which the last was of this size and owes so much of a nanosecond.
    #[inline]
    pub const fn has_sent(&mut self, size: u32, owed: u64) {
        if self.size != size {
            self.learn(Bytes::new(size as u64));
        }
        self.carry = owed;
    }

    /// The time that the next packet takes at a constant rate.
    #[inline]
    pub const fn next(&mut self, size: Bytes) -> Duration {
        let bps = self.rate.as_bps();
        if self.size as u64 != size.get() {
            self.learn(size);
        }
        let mut nanos = self.nanos;
        self.carry += self.remainder;
        if self.carry >= bps {
            self.carry -= bps;
            nanos += 1;
        }
        Duration::from_nanos(nanos)
    }

    #[inline]
    const fn learn(&mut self, size: Bytes) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "what is longer is never the same again"
        )]
        let short = if size.get() < u32::MAX as u64 { size.get() as u32 } else { u32::MAX };
        self.size = short;
        if self.byte_nanos > 0 {
            self.nanos = size.get() * self.byte_nanos as u64;
            self.remainder = 0;
        } else {
            let scaled = size.bits() * NANOS_PER_SECOND;
            self.nanos = scaled / self.rate.as_bps();
            self.remainder = scaled % self.rate.as_bps();
        }
    }

    /// The size of the last packet that it was asked about.
    #[inline]
    pub const fn last_size(&self) -> u32 {
        self.size
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
