//! The ACKs that reach the sender of a flow: their number, and the times between them.

use ackclock_net::DelayHistogram;
use ackclock_units::{Duration, Instant};

use crate::layout::topology::Layout;
use crate::scenario::Scenario;

/// Counts of the packets without data and without SYN that reached the sender of a flow.
#[derive(Clone, Debug, Default)]
pub struct Acks {
    packets: u64,
    last: Option<Instant>,
    /// The times since the one before.
    gaps: DelayHistogram,
    gap_sum_ns: u64,
    gap_count: u64,
}

/// The ACKs of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AckCounts {
    /// Their number.
    pub packets: u64,
    /// The mean time between two of them, in seconds; `None` of fewer than two.
    pub gap_mean_s: Option<f64>,
    /// Its 99th percentile, to within 1.6 %.
    pub gap_p99_s: Option<f64>,
}

impl Acks {
    /// Counts one that arrives at `now`.
    pub fn count(&mut self, now: Instant) {
        self.packets += 1;
        if let Some(last) = self.last.replace(now) {
            let gap = now.since(last);
            self.gaps.record(gap);
            self.gap_sum_ns += gap.as_nanos();
            self.gap_count += 1;
        }
    }

    /// Those since `earlier`. A gap is of the window in which it ends.
    pub fn since(&self, earlier: Option<&Self>) -> AckCounts {
        let nothing = Self::default();
        let earlier = earlier.unwrap_or(&nothing);
        let gaps = self.gap_count - earlier.gap_count;
        let sum_ns = self.gap_sum_ns - earlier.gap_sum_ns;
        AckCounts {
            packets: self.packets - earlier.packets,
            gap_mean_s: (gaps > 0).then(|| sum_ns as f64 / gaps as f64 / 1e9),
            gap_p99_s: self.gaps.quantile_since(&earlier.gaps, 0.99).map(Duration::as_secs_f64),
        }
    }
}

impl Scenario {
    /// True if ACKs are counted: a measure asks, or a link holds or thins packets.
    pub(crate) fn counts_acks(&self, layout: &Layout) -> bool {
        self.measures.iter().any(|measure| measure.acks)
            || layout.wires.iter().any(crate::layout::topology::Wire::waits_for_others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_counted_in_the_window_in_which_they_end() {
        let at = |ms: u64| Instant::START + Duration::from_millis(ms);
        let mut acks = Acks::default();
        assert_eq!(acks.since(None), AckCounts::default());
        for ms in [10, 12] {
            acks.count(at(ms));
        }
        let before = acks.clone();
        // 8, 0 and 4 ms: three gaps of 4 ms in the mean.
        for ms in [20, 20, 24] {
            acks.count(at(ms));
        }
        let counts = acks.since(Some(&before));
        assert_eq!((counts.packets, counts.gap_mean_s), (3, Some(0.004)));
        let p99 = counts.gap_p99_s.unwrap();
        assert!((p99 - 0.008).abs() <= 0.016 * 0.008, "{p99}");
        // And 2 ms before: 14 ms in all.
        assert_eq!((acks.since(None).packets, acks.since(None).gap_mean_s), (5, Some(0.0035)));
    }
}
