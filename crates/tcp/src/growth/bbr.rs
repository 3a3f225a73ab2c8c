//! BBR: the window and the rate follow a model of the path, its bandwidth and its least round-trip
//! time, and not each loss.
//!
//! Two versions: [`Bbr1`] is the first, as in Linux's mainline kernel; [`Bbr`] is the current draft,
//! often called `BBRv3`. Both count data in bytes and rates in bytes per second.

mod filter;
mod v1;
mod v3;

use ackclock_units::{Bytes, Duration, Rate};

pub use v1::Bbr1;
pub use v3::Bbr;

/// Segments in flight that keep a path of delayed ACKs busy: the least window and `MinPipeCwnd`.
const MIN_PIPE_SEGMENTS: u64 = 4;
/// Below the estimated bandwidth, so that queues shrink: `PacingMarginPercent`, 1 %.
const PACING_MARGIN: f64 = 0.99;
/// How long the least round-trip time is remembered: `MinRTTFilterLen`.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// How long the window is small in order to see the path without a queue: `ProbeRTTDuration`.
const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);
/// The round-trip time that the first pacing rate assumes, if none was measured.
const NOMINAL_RTT: Duration = Duration::from_millis(1);

/// The data that `rate`, in bytes per second, carries in `span`.
fn volume(rate: f64, span: Duration) -> f64 {
    rate * span.as_secs_f64()
}

/// Whole bytes of a volume, rounded down; never more than any connection carries.
#[expect(clippy::cast_possible_truncation, reason = "positive; the cast saturates")]
fn bytes(volume: f64) -> Bytes {
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
    count: u64,
    /// The round is over when a segment is delivered that was sent after so much had been.
    ends_at: Bytes,
    /// Whether the last ACK began one.
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
    const fn restart(&mut self, delivered: Bytes) {
        self.ends_at = delivered;
    }
}

#[cfg(test)]
pub(super) mod path;
