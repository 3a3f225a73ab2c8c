//! Putting packets on a wire at a rate that is not a whole number of nanoseconds a bit.

use ackclock_units::{Bytes, Duration, Instant, Rate};

use crate::channel::Channel;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Turns sizes into transmission times. Packets sent back to back keep the fraction of a nanosecond
/// that the last one left, so that a busy link neither gains nor loses rate.
#[derive(Clone, Debug)]
pub struct Serializer {
    rate: Rate,
    /// What earlier packets left, in units of 1/rate nanoseconds.
    carry: u64,
    /// The last size and its transmission time as (whole, remainder): sizes repeat, and a division
    /// costs more than all else here.
    cached: (u64, u64, u64),
    /// What takes the place of a constant rate. Nothing is cached then, so that only a size that is
    /// not in the cache asks for it.
    channel: Option<Box<Channel>>,
}

impl Serializer {
    /// A wire of `rate`.
    pub const fn new(rate: Rate) -> Self {
        Self { rate, carry: 0, cached: (0, 0, 0), channel: None }
    }

    /// The same over `channel`, whose mean rate is the wire's.
    #[must_use]
    pub fn over(mut self, channel: Channel) -> Self {
        self.cached.0 = u64::MAX;
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
        if self.cached.0 != size.get()
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
        let (known, mut nanos, remainder) = self.cached;
        if known != size as u64 {
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

    /// The time that the next packet takes at a constant rate.
    #[inline]
    pub const fn next(&mut self, size: Bytes) -> Duration {
        let bps = self.rate.as_bps();
        if self.cached.0 != size.get() {
            let scaled = size.bits() * NANOS_PER_SECOND;
            self.cached = (size.get(), scaled / bps, scaled % bps);
        }
        let (_, mut nanos, remainder) = self.cached;
        self.carry += remainder;
        if self.carry >= bps {
            self.carry -= bps;
            nanos += 1;
        }
        Duration::from_nanos(nanos)
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
    fn an_idle_wire_owes_nothing() {
        let mut wire = Serializer::new(Rate::from_bps(7_000_000));
        wire.next(Bytes::new(1500));
        wire.rest();
        assert_eq!(wire.next(Bytes::new(1500)), Duration::from_nanos(1_714_285));
    }
}
