//! The data that ACKs deliver at once beyond what is expected, on links that gather them.

use ackclock_units::{Bytes, Duration, Instant};

use crate::growth::bbr::{bytes, volume};

/// Rounds after which the older of two maxima is forgotten.
const WINDOW_ROUNDS: u32 = 5;
/// At most what the path carries in this time is added to the window.
const LONGEST: Duration = Duration::from_millis(100);
/// Segments after which an epoch begins anew, however fast ACKs come.
const LONGEST_EPOCH_SEGMENTS: u64 = 1 << 20;

/// The estimator: the largest excess of the last five to ten rounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Aggregation {
    epoch: Instant,
    epoch_acked: Bytes,
    /// The largest excess of this window of rounds, and of the one before.
    excess: [Bytes; 2],
    rounds: u32,
}

/// The facts of an ACK.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// When.
    pub now: Instant,
    /// Data that it delivered.
    pub data: Bytes,
    /// True if a round began.
    pub round_start: bool,
    /// The bandwidth, in bytes per second.
    pub bw: f64,
    /// The window.
    pub cwnd: Bytes,
    /// Payload of a full segment.
    pub segment: Bytes,
}

impl Aggregation {
    /// The epoch begins anew.
    pub const fn restart(&mut self, now: Instant) {
        self.epoch = now;
        self.epoch_acked = Bytes::ZERO;
    }

    /// Takes in an ACK.
    pub fn update(&mut self, acked: &Acked) {
        if acked.round_start {
            self.rounds += 1;
            if self.rounds >= WINDOW_ROUNDS {
                self.rounds = 0;
                self.excess = [Bytes::ZERO, self.excess[0]];
            }
        }
        let mut expected = volume(acked.bw, acked.now.since(self.epoch));
        let reached = acked.segment * LONGEST_EPOCH_SEGMENTS;
        if self.epoch_acked.get() as f64 <= expected || self.epoch_acked + acked.data >= reached {
            self.restart(acked.now);
            expected = 0.0;
        }
        self.epoch_acked += acked.data;
        let excess = bytes((self.epoch_acked.get() as f64 - expected).max(0.0));
        self.excess[0] = self.excess[0].max(excess.min(acked.cwnd));
    }

    /// The window's share beside what bandwidth and delay ask for, if the bandwidth is `bw`.
    pub fn extra(&self, bw: f64) -> f64 {
        let excess = self.excess[0].max(self.excess[1]).get() as f64;
        excess.min(volume(bw, LONGEST))
    }
}
