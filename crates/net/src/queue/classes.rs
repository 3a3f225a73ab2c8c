//! Counts of a queue with two classes of packets, L4S and Classic (RFC 9332 §1.2).

use ackclock_units::Duration;

use crate::delays::DelayHistogram;

/// The counts of one class since the queue was made.
#[derive(Clone, Debug, Default)]
pub struct ClassCounts {
    /// Packets that were dequeued and not dropped.
    pub sent: u64,
    /// Packets that were dropped, as they came or later.
    pub dropped: u64,
    /// Packets that were marked, each once.
    pub marked: u64,
    /// The sum of their delays, in nanoseconds.
    pub delay_ns: u128,
    /// Their delays.
    pub delays: DelayHistogram,
}

impl ClassCounts {
    /// Counts a packet that is sent after `delay`.
    pub fn send(&mut self, delay: Duration) {
        self.sent += 1;
        self.delay_ns += u128::from(delay.as_nanos());
        self.delays.record(delay);
    }
}

/// The counts of both classes, and of the controller that rules them.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    /// L4S.
    pub l4s: ClassCounts,
    /// Classic.
    pub classic: ClassCounts,
    /// Packets of L4S whose delay, or the queue behind which, was above the step: marked by the controller before or not.
    pub step_marked: u64,
    /// The controller's updates.
    pub updates: u64,
    /// The sum over updates of the base probability p'.
    pub base: f64,
    /// The sum over updates of the probability p'^2 of Classic packets.
    pub squared: f64,
    /// The sum over updates of the probability of L4S packets by coupling, at most 1.
    pub coupled: f64,
}
