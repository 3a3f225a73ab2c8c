//! Segmentation offload: several segments that leave as one packet of the host, back to back (Linux's
//! `tcp_tso_autosize`, and `tcp_tso_should_defer` with `tcp_tso_win_divisor` 3).

use ackclock_units::{Bytes, Duration, Instant, Rate};

/// The most payload of one packet of the host: 65,536 bytes but for the room for headers (`sk_gso_max_size`).
const LARGEST: u64 = 65_215;
/// The time in which the pacing rate fills a packet is 1 s / 2^10 (`sk_pacing_shift`).
const PACING_SHIFT: u32 = 10;
/// Round trips shorter than 32 times 2^9 us make packets larger (`tcp_tso_rtt_log`).
const RTT_LOG: u32 = 9;
/// The least number of segments (`tcp_min_tso_segs`).
const FEWEST: u64 = 2;
/// The share of the window that is worth a packet (`tcp_tso_win_divisor`).
const WINDOW_DIVISOR: u64 = 3;
/// A packet waits only if the last one left no longer ago, and if an ACK is to be expected within this.
const NEAR: Duration = Duration::from_millis(1);

/// The packet of the host that is being sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Segmentation {
    /// Segments of it that are still to leave.
    left: u64,
}

/// The windows and clocks that a packet of the host goes by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) now: Instant,
    /// The payload of a full segment.
    pub(super) mss: u64,
    /// Segments that fill a packet.
    pub(super) goal: u64,
    /// The congestion window, and the part of it that is free.
    pub(super) cwnd: Bytes,
    pub(super) free: Bytes,
    /// The peer's window, and the part of it that is free.
    pub(super) rwnd: Bytes,
    pub(super) open: Bytes,
    /// When a segment was last sent, and when the first without an acknowledgment was.
    pub(super) last_send: Option<Instant>,
    pub(super) first_sent: Option<Instant>,
    pub(super) srtt: Option<Duration>,
    /// True if nothing is to be waited for: losses are repaired, or the data ends here.
    pub(super) hurries: bool,
}

impl Segmentation {
    /// True if the next segment is of a packet that has begun.
    pub(super) const fn continues(self) -> bool {
        self.left > 0
    }

    /// Nothing more goes out for now.
    pub(super) const fn end(&mut self) {
        self.left = 0;
    }

    /// A new segment is to leave: begins a packet where none has begun. False if it waits for an ACK.
    pub(super) fn takes(&mut self, room: &Room) -> bool {
        if self.left == 0 {
            if room.waits() {
                return false;
            }
            self.left = room.segments();
        }
        self.left -= 1;
        true
    }
}

impl Room {
    /// Segments of the packet that may leave: no more than half of the congestion window (`tcp_cwnd_test`).
    fn segments(&self) -> u64 {
        let half = (self.cwnd.get() / self.mss / 2).max(1);
        let free = self.free.get() / self.mss;
        free.min(half).min(self.open.get() / self.mss).min(self.goal).max(1)
    }

    /// True if the packet waits for an ACK that will let more of it go at once.
    fn waits(&self) -> bool {
        let limit = self.free.min(self.open).get();
        let chunk = self.rwnd.min(self.cwnd).get() / WINDOW_DIVISOR;
        if self.hurries || limit >= self.goal * self.mss || limit >= chunk {
            return false;
        }
        let (Some(last), Some(first), Some(srtt)) = (self.last_send, self.first_sent, self.srtt)
        else {
            return false;
        };
        let expected = (first + srtt).since(self.now);
        self.now.since(last) <= NEAR && expected <= NEAR.min(srtt / 2)
    }
}

/// Segments of `mss` that fill a packet of the host at the pacing rate `rate`, where the least round trip is `min_rtt`.
pub(super) fn goal(rate: Rate, min_rtt: Duration, mss: u64) -> u64 {
    let in_time = (rate.as_bps() / 8) >> PACING_SHIFT;
    let shift = (min_rtt.as_nanos() / 1000) >> RTT_LOG;
    let near = if shift < 32 { LARGEST >> shift } else { 0 };
    ((in_time + near).min(LARGEST) / mss).max(FEWEST)
}

#[cfg(test)]
mod tests;
