//! Delivery opportunities: moments at which up to 1500 bytes may leave, as the link emulator mahimahi
//! has them (R. Netravali et al., "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015).
//! What nobody uses is lost.

use std::sync::Arc;

use ackclock_units::{Duration, Instant};

/// Bytes that leave at one opportunity.
pub(super) const BYTES: u64 = 1500;
pub(super) const MILLI: u64 = 1_000_000;
const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// Opportunities, at whole milliseconds, over and over.
#[derive(Clone, Debug)]
pub struct Opportunities {
    /// Within a period, in the order of time.
    pub(super) times_ms: Arc<[u64]>,
    pub(super) period_ms: u64,
    /// Whole periods that have passed, the next opportunity, and what of it is used.
    rounds: u64,
    next: usize,
    used: u64,
}

impl Opportunities {
    /// Opportunities at `times_ms`, repeated from the last of them on, as mahimahi does.
    ///
    /// # Errors
    /// A line that says what is wrong: none, not in order, or all at 0.
    pub fn new(times_ms: Vec<u64>) -> Result<Self, &'static str> {
        let Some(period_ms) = times_ms.last().copied().filter(|last| *last > 0) else {
            return Err("expected a time of more than 0 ms");
        };
        if !times_ms.is_sorted() {
            return Err("expected times in order");
        }
        // A century.
        if period_ms > 100 * 365 * 86_400_000 {
            return Err("expected times of less than a century");
        }
        Ok(Self { times_ms: times_ms.into(), period_ms, rounds: 0, next: 0, used: 0 })
    }

    fn at(&self) -> Instant {
        Instant::from_nanos((self.rounds * self.period_ms + self.times_ms[self.next]) * MILLI)
    }

    fn advance(&mut self) {
        self.used = 0;
        self.next += 1;
        if self.next == self.times_ms.len() {
            self.next = 0;
            self.rounds += 1;
        }
    }

    /// Passes over what comes before `now`.
    fn skip_to(&mut self, now: Instant) {
        let whole = now.as_nanos() / MILLI / self.period_ms;
        if whole > self.rounds + 1 {
            // Nothing of the rounds between is of use.
            (self.rounds, self.next, self.used) = (whole - 1, 0, 0);
        }
        while self.at() < now {
            self.advance();
        }
    }

    /// The bits of all opportunities by `now`, times 10^9.
    pub(super) fn capacity(&self, now: Instant) -> u128 {
        let ms = now.as_nanos() / MILLI;
        let passed = self.times_ms.partition_point(|time| *time <= ms % self.period_ms);
        let rounds = u128::from(ms / self.period_ms) * self.times_ms.len() as u128;
        (rounds + passed as u128) * u128::from(8 * BYTES) * NANOS_PER_SECOND
    }

    /// The time that a packet of `size` bytes spends on the channel: it came at `now`, behind others that leave by
    /// `starts`.
    pub(super) fn time(&mut self, now: Instant, starts: Instant, size: u64) -> Duration {
        self.skip_to(now);
        let mut left = size;
        loop {
            let taken = left.min(BYTES - self.used);
            left -= taken;
            self.used += taken;
            if left == 0 {
                break;
            }
            self.advance();
        }
        let departs = self.at();
        if self.used == BYTES {
            self.advance();
        }
        departs.since(starts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * MILLI)
    }

    /// When packets of these (ms of arrival, bytes) leave, in ms.
    fn departures(times_ms: &[u64], packets: &[(u64, u64)]) -> Vec<u64> {
        let mut channel = Opportunities::new(times_ms.to_vec()).unwrap();
        let mut free = Instant::START;
        packets
            .iter()
            .map(|(came, size)| {
                let starts = free.max(at(*came));
                free = starts + channel.time(at(*came), starts, *size);
                free.as_nanos() / MILLI
            })
            .collect()
    }

    #[test]
    fn each_opportunity_carries_1500_bytes() {
        // Three full packets at 0: at 5, 10 and 12.
        assert_eq!(departures(&[5, 10, 12, 20], &[(0, 1500); 3]), [5, 10, 12]);
        // Two of 750 share one; a third of 1000 and a fourth of 1000 lie across two.
        let packets = [(0, 750), (0, 750), (0, 1000), (0, 1000)];
        assert_eq!(departures(&[5, 10, 12, 20], &packets), [5, 5, 10, 12]);
    }

    #[test]
    fn what_nobody_uses_is_lost() {
        // The one at 5 has passed when the packet comes at 6; one that comes at 10 uses 10's.
        assert_eq!(departures(&[5, 10, 12, 20], &[(6, 1500)]), [10]);
        assert_eq!(departures(&[5, 10, 12, 20], &[(10, 1500)]), [10]);
        // 500 of 10's 1500 bytes used: the rest has passed at 11.
        assert_eq!(departures(&[5, 10, 12, 20], &[(10, 500), (11, 1500)]), [10, 12]);
    }

    #[test]
    fn the_trace_begins_again() {
        // A period of 20: 25 and 30 follow. Long after: 1000 periods of 20 ms and 5.
        assert_eq!(departures(&[5, 10, 12, 20], &[(21, 1500), (21, 1500)]), [25, 30]);
        assert_eq!(departures(&[5, 10, 12, 20], &[(0, 1500), (20_001, 1500)]), [5, 20_005]);
        // Twice in one millisecond.
        assert_eq!(departures(&[3, 3, 4], &[(0, 1500); 3]), [3, 3, 4]);
    }

    #[test]
    fn what_the_opportunities_carry_is_counted_whoever_comes() {
        // Four of 12,000 bits in each period of 20 ms: none before 5 ms, one from then on, four by 20 ms, five at 25 ms.
        let channel = Opportunities::new(vec![5, 10, 12, 20]).unwrap();
        let bits = |now: Instant| channel.capacity(now) / NANOS_PER_SECOND;
        let just_before = Instant::from_nanos(5 * MILLI - 1);
        assert_eq!(
            [just_before, at(5), at(19), at(20), at(24), at(25)].map(bits),
            [0, 12_000, 36_000, 48_000, 48_000, 60_000]
        );
        // That at 0 is there once a period, beside that of the end: at 0, 10, 10, 20, 20 ms.
        let channel = Opportunities::new(vec![0, 10]).unwrap();
        let bits = |ms: u64| channel.capacity(at(ms)) / NANOS_PER_SECOND;
        assert_eq!([0, 9, 10, 19, 20].map(bits), [12_000, 12_000, 36_000, 36_000, 60_000]);
    }

    #[test]
    fn impossible_traces_are_refused() {
        for times in [vec![], vec![0], vec![5, 4], vec![1, 1 << 62]] {
            assert!(Opportunities::new(times).is_err());
        }
    }
}
