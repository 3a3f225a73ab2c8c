//! The two classes of packets at a link whose queue has them apart.

use ackclock_net::queue::{ClassCounts, Classes};
use ackclock_units::Duration;

/// One class over a measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassRow {
    /// Packets that the queue sent.
    pub delivered_packets: u64,
    /// Packets that it dropped, as they came or later.
    pub dropped_packets: u64,
    /// Packets that it marked.
    pub marked_packets: u64,
    /// The mean time from arrival to the start of transmission; null without any packet.
    pub queue_delay_mean_s: Option<f64>,
    /// Its 99th percentile, to within 1.6 %; null without any packet.
    pub queue_delay_p99_s: Option<f64>,
}

impl ClassRow {
    fn between(earlier: &ClassCounts, later: &ClassCounts) -> Self {
        let sent = later.sent - earlier.sent;
        let mean = || (later.delay_ns - earlier.delay_ns) as f64 / sent as f64 / 1e9;
        let p99 = later.delays.quantile_since(&earlier.delays, 0.99);
        Self {
            delivered_packets: sent,
            dropped_packets: later.dropped - earlier.dropped,
            marked_packets: later.marked - earlier.marked,
            queue_delay_mean_s: (sent > 0).then(mean),
            queue_delay_p99_s: p99.map(Duration::as_secs_f64),
        }
    }
}

/// Both classes over a measured window, and the probabilities that rule them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassRows {
    /// L4S.
    pub l4s: ClassRow,
    /// Classic.
    pub classic: ClassRow,
    /// Packets of L4S above the step.
    pub step_marked_packets: u64,
    /// The means over the controller's updates of its base probability, of that of L4S packets by coupling and of that of
    /// Classic packets; null without an update.
    pub probabilities: Option<[f64; 3]>,
}

impl ClassRows {
    /// The rows of what was counted `earlier` and `later`.
    pub fn between(earlier: &Classes, later: &Classes) -> Self {
        let updates = later.updates - earlier.updates;
        let mean = |of: fn(&Classes) -> f64| (of(later) - of(earlier)) / updates as f64;
        let means = || [mean(|it| it.base), mean(|it| it.coupled), mean(|it| it.squared)];
        Self {
            l4s: ClassRow::between(&earlier.l4s, &later.l4s),
            classic: ClassRow::between(&earlier.classic, &later.classic),
            step_marked_packets: later.step_marked - earlier.step_marked,
            probabilities: (updates > 0).then(means),
        }
    }
}
