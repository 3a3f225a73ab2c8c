//! The capacity of the bottleneck by packet pairs, of which those count that met the least queue:
//! the filter of R. Kapoor, L.-J. Chen, L. Lao, M. Gerla and M. Y. Sanadidi, "`CapProbe`: A Simple and
//! Accurate Capacity Estimation Technique", SIGCOMM 2004, on the data that goes out anyhow.

use ackclock_units::{Bytes, Duration, Instant};

/// The time that a pair is remembered at least. It counts until a later span had one, and at most as
/// long again.
const SPAN: Duration = Duration::from_secs(10);

/// An ACK of data that was sent once.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub now: Instant,
    /// The round-trip time of the last segment that it is for.
    pub rtt: Duration,
    /// The data that it delivered.
    pub data: Bytes,
}

/// A pair that the path spread.
#[derive(Clone, Copy, Debug)]
struct Pair {
    /// Both round-trip times together.
    delay: Duration,
    bytes_per_second: f64,
}

fn better(a: Option<Pair>, b: Option<Pair>) -> Option<Pair> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.delay < a.delay { b } else { a }),
        _ => a.or(b),
    }
}

/// The estimate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Capacity {
    previous: Option<Arrival>,
    /// The best pair of the span before, and of this one, which began so.
    before: Option<Pair>,
    best: Option<Pair>,
    began: Option<Instant>,
    /// The highest rate that a pair has shown.
    largest: Option<f64>,
}

impl Capacity {
    /// An ACK; `None` if it says nothing, and neither does its distance from the next one.
    pub fn see(&mut self, arrival: Option<Arrival>) {
        let previous = std::mem::replace(&mut self.previous, arrival);
        let (Some(previous), Some(arrival)) = (previous, arrival) else { return };
        let spread = arrival.now.since(previous.now);
        if spread == Duration::ZERO || arrival.data == Bytes::ZERO {
            return;
        }
        // Sent together, or so close that the second waited for the first: only then does their
        // distance tell of the bottleneck and not of the sender.
        let apart = (spread + previous.rtt).abs_diff(arrival.rtt);
        if apart * 2 > spread {
            return;
        }
        let pair = Pair {
            delay: previous.rtt + arrival.rtt,
            bytes_per_second: arrival.data.get() as f64 / spread.as_secs_f64(),
        };
        let began = *self.began.get_or_insert(arrival.now);
        if arrival.now.since(began) > SPAN {
            self.began = Some(arrival.now);
            self.before = self.best.take();
        }
        self.best = better(self.best, Some(pair));
        let rate = pair.bytes_per_second;
        self.largest = Some(self.largest.map_or(rate, |largest| largest.max(rate)));
    }

    /// By the pair of the whole connection that shows the highest rate.
    pub const fn largest(&self) -> Option<f64> {
        self.largest
    }

    /// By the pair that waited least.
    pub fn bytes_per_second(&self) -> Option<f64> {
        better(self.before, self.best).map(|pair| pair.bytes_per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(now_us: u64, rtt_us: u64) -> Arrival {
        Arrival {
            now: Instant::START + Duration::from_micros(now_us),
            rtt: Duration::from_micros(rtt_us),
            data: Bytes::new(1000),
        }
    }

    fn estimate(arrivals: &[(u64, u64)]) -> Option<f64> {
        let mut capacity = Capacity::default();
        for (now, rtt) in arrivals {
            capacity.see(Some(arrival(*now, *rtt)));
        }
        capacity.bytes_per_second()
    }

    #[test]
    fn a_pair_that_was_sent_together_tells() {
        // Both sent at 0: 1000 bytes in 2 ms.
        let rate = estimate(&[(100_000, 100_000), (102_000, 102_000)]).unwrap();
        assert!((rate - 500_000.0).abs() < 1e-6);
    }

    #[test]
    fn a_pair_that_the_sender_spread_tells_nothing() {
        // Sent at 0 and 2 ms, and at 0 and 1.1 ms of 2.
        assert!(estimate(&[(100_000, 100_000), (102_000, 100_000)]).is_none());
        assert!(estimate(&[(100_000, 100_000), (102_000, 100_900)]).is_none());
        // At 0 and 0.9 ms: the second waited for the first.
        assert!(estimate(&[(100_000, 100_000), (102_000, 101_100)]).is_some());
    }

    #[test]
    fn the_pair_that_waited_least_counts() {
        // The second pair met other traffic: 5 ms of dispersion. The third had its first segment
        // held up, and arrives too close. Only the first met no queue.
        let rate = estimate(&[
            (100_000, 100_000),
            (102_000, 102_000),
            (300_000, 110_000),
            (305_000, 115_000),
            (500_000, 120_000),
            (500_500, 120_500),
        ]);
        assert!((rate.unwrap() - 500_000.0).abs() < 1e-6);
    }

    #[test]
    fn the_largest_is_of_any_pair() {
        // 1000 bytes in 2 ms, and with a longer queue in 1 ms; later in 4 ms.
        let mut capacity = Capacity::default();
        for (now, rtt) in [(100, 100), (102, 102), (200, 120), (201, 121), (300, 100), (304, 104)] {
            capacity.see(Some(arrival(now * 1000, rtt * 1000)));
        }
        assert!((capacity.largest().unwrap() - 1_000_000.0).abs() < 1e-6);
        assert!((capacity.bytes_per_second().unwrap() - 500_000.0).abs() < 1e-6);
    }

    #[test]
    fn what_came_at_the_same_moment_tells_nothing() {
        assert!(estimate(&[(100_000, 100_000), (100_000, 100_000)]).is_none());
    }

    #[test]
    fn an_ack_that_says_nothing_parts_a_pair() {
        let mut capacity = Capacity::default();
        capacity.see(Some(arrival(100_000, 100_000)));
        capacity.see(None);
        capacity.see(Some(arrival(102_000, 102_000)));
        assert!(capacity.bytes_per_second().is_none());
    }

    #[test]
    fn an_old_pair_gives_way_to_a_newer_one_but_not_to_none() {
        let mut capacity = Capacity::default();
        let mut see = |now: u64, rtt: u64| {
            capacity.see(Some(arrival(now, rtt)));
            capacity.bytes_per_second()
        };
        see(100_000, 100_000);
        see(102_000, 102_000);
        // Half a minute later there is still no other: two segments sent 4 ms apart.
        see(30_000_000, 110_000);
        assert!((see(30_004_000, 110_000).unwrap() - 500_000.0).abs() < 1e-6);
        // Now one of 250 kB/s with more delay; the old one had less and stays for this span.
        see(31_000_000, 130_000);
        assert!((see(31_004_000, 134_000).unwrap() - 500_000.0).abs() < 1e-6);
        // Two spans later only the new path's pairs are known.
        see(43_000_000, 130_000);
        assert!((see(43_004_000, 134_000).unwrap() - 250_000.0).abs() < 1e-6);
    }
}
