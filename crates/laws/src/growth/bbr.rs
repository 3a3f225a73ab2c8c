//! BBR: the window and the rate follow a model of the path, its bandwidth and its least round-trip
//! time, and not each loss.
//!
//! Two versions: [`Bbr1`](super::Bbr1) is the first, as in Linux's mainline kernel; [`Bbr`](super::Bbr) is the current draft,
//! often called `BBRv3`. Both count data in bytes and rates in bytes per second.

pub(super) mod filter;

use ackclock_units::{Bytes, Duration, Rate};

use super::contract::Recoveries;
use crate::words::Slot;

/// Segments in flight that keep a path of delayed ACKs busy: the least window and `MinPipeCwnd`.
pub(super) const MIN_PIPE_SEGMENTS: u64 = 4;
/// Below the estimated bandwidth, so that queues shrink: `PacingMarginPercent`, 1 %.
pub(super) const PACING_MARGIN: f64 = 0.99;
/// The time that the least round-trip time is remembered: `MinRTTFilterLen`.
pub(super) const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// The time that the window is small in order to see the path without a queue: `ProbeRTTDuration`.
pub(super) const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);
/// The round-trip time that the first pacing rate assumes, if none was measured.
pub(super) const NOMINAL_RTT: Duration = Duration::from_millis(1);

/// The slots that BBR fills itself.
pub(super) const OWNS: [(Slot, &str); 3] = [
    (Slot::SlowStart, "BBR has a startup of its own, which ends when the bandwidth stops growing"),
    (Slot::Jump, "BBR sends at the rate that it measures, and its window follows from that"),
    (Slot::Idle, "BBR keeps its window after silence and sends at the rate that it knows"),
];
/// The recoveries that go with it.
pub(super) const RECOVERIES: Recoveries = Recoveries::LeavingTheWindow(
    "BBR must know which segments arrived, and says itself how much is sent while losses are \
     repaired",
);

/// The recoveries that go with other laws that model the path.
pub(super) const RECOVERIES_OF_MODELS: Recoveries = Recoveries::LeavingTheWindow(
    "the law must know which segments arrived, and its window goes on moving while losses are \
     repaired",
);

/// The data that `rate`, in bytes per second, carries in `span`.
pub(super) fn volume(rate: f64, span: Duration) -> f64 {
    rate * span.as_secs_f64()
}

/// Whole bytes of a volume, rounded down; never more than any connection carries.
#[expect(clippy::cast_possible_truncation, reason = "positive; the cast saturates")]
pub(super) fn bytes(volume: f64) -> Bytes {
    // By way of a signed number, to which an instruction leads.
    Bytes::new((volume as i64).cast_unsigned()).min(Bytes::UNLIMITED)
}

/// A rate for the pacer, which knows no zero.
#[expect(clippy::cast_possible_truncation, reason = "positive; the cast saturates")]
pub(super) fn pacing_rate(bytes_per_second: f64) -> Rate {
    Rate::from_bps(((8.0 * bytes_per_second) as i64).max(1).cast_unsigned())
}

/// Packet-timed round trips (draft-ietf-ccwg-bbr-06 §5.5.1).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    pub(super) count: u64,
    /// The round is over when a segment is delivered that was sent after so much had been.
    ends_at: Bytes,
    /// True if the last ACK began one.
    pub(super) start: bool,
}

impl Rounds {
    /// A segment was delivered that was sent when `prior` had been, and now `delivered` has.
    pub(super) fn on_delivered(&mut self, prior: Bytes, delivered: Bytes) {
        self.start = prior >= self.ends_at;
        if self.start {
            self.count += 1;
            self.ends_at = delivered;
        }
    }

    /// A round begins now.
    pub(super) const fn restart(&mut self, delivered: Bytes) {
        self.ends_at = delivered;
    }
}

#[cfg(test)]
pub(super) mod path;
