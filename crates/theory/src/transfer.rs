//! The time that a transfer of known size takes over an idle path without loss: by slow start (Cardwell, Savage and
//! Anderson, 2000; the stalls as in Kurose and Ross, "Computer Networking", 3.7), and by Quick-Start (RFC 4782).

use crate::error::{InvalidParameter, packets_per_ack, positive, require};

/// Windows above this grow by half of it a round trip where slow start is limited (RFC 3742 §2): segments.
const MAX_SSTHRESH: f64 = 100.0;
/// Beyond so many rounds nothing is added up any more.
const MOST_ROUNDS: u32 = 10_000;

/// A transfer over an idle path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transfer {
    /// Full segments to send.
    pub segments: f64,
    /// From the SYN to the first data segment, s.
    pub handshake_s: f64,
    /// From the start of a segment's transmission to the arrival of its ACK, if nothing else is under way, s.
    pub rtt_s: f64,
    /// Time that the bottleneck takes for a segment, s; at most `rtt_s`.
    pub segment_s: f64,
    /// First window, segments.
    pub initial_window: f64,
    /// Segments that one ACK acknowledges (b).
    pub packets_per_ack: f64,
    /// Largest window that the receiver allows, segments; infinite if it never limits.
    pub w_max_packets: f64,
}

/// A transfer's time, and the largest window that it used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Latency {
    /// From the SYN to the last ACK, s.
    pub seconds: f64,
    /// Round trips in which data was sent.
    pub rounds: u32,
    /// Segments of the last round's window, whether or not they were there to send.
    pub largest_window: f64,
}

impl Transfer {
    fn checked(&self) -> Result<(), InvalidParameter> {
        positive("segments", self.segments)?;
        positive("initial_window", self.initial_window)?;
        require("handshake_s", self.handshake_s, self.handshake_s >= 0.0, || {
            "a number from 0 on".into()
        })?;
        let rtt_s = positive("rtt_s", self.rtt_s)?;
        require(
            "segment_s",
            self.segment_s,
            self.segment_s > 0.0 && self.segment_s <= rtt_s,
            || format!("a number above 0, at most rtt_s = {rtt_s}"),
        )?;
        require("w_max_packets", self.w_max_packets, self.w_max_packets >= 1.0, || {
            "a number of packets, at least 1; may be infinite".into()
        })?;
        packets_per_ack(self.packets_per_ack).map(|_| ())
    }

    /// The window of the next round of slow start.
    fn grown(&self, window: f64) -> f64 {
        (window * (1.0 + 1.0 / self.packets_per_ack)).min(self.w_max_packets)
    }
}

/// The time with slow start, whose threshold is never reached: each round's window leaves as fast as the bottleneck
/// sends, and a round lasts a round trip or as long as its window takes.
///
/// # Errors
/// A parameter out of range, by its name.
pub fn slow_start(transfer: &Transfer) -> Result<Latency, InvalidParameter> {
    transfer.checked()?;
    let first = transfer.initial_window.min(transfer.w_max_packets);
    Ok(rounds(transfer, first, transfer.segment_s, |window, _| {
        (transfer.grown(window), transfer.segment_s)
    }))
}

/// The time with Quick-Start at an approved rate, which is no more than the bottleneck's: the first window leaves at that
/// rate, and limited slow start follows (RFC 3742). `w_first_packets` is the window that the answer to the SYN advertises,
/// which is never scaled (RFC 7323 §2.2): 65,535 bytes at most.
///
/// # Errors
/// A parameter out of range, by its name.
pub fn quick_start(
    transfer: &Transfer,
    approved_pps: f64,
    w_first_packets: f64,
) -> Result<Latency, InvalidParameter> {
    transfer.checked()?;
    let most = 1.0 / transfer.segment_s;
    require("approved_pps", approved_pps, approved_pps > 0.0 && approved_pps <= most, || {
        format!("a number above 0, at most the bottleneck's {most}")
    })?;
    // RFC 4782 §4.4: as many whole segments as the rate fills in a round trip.
    let jump = (approved_pps * transfer.rtt_s).floor();
    let jump = jump.min(transfer.w_max_packets).min(w_first_packets.floor());
    if jump <= transfer.initial_window {
        return slow_start(transfer);
    }
    let limited = |window: f64, spacing_s: f64| {
        // Below MAX_SSTHRESH a segment an ACK, above it half of MAX_SSTHRESH a round: the smaller of the two in any round.
        let next = transfer.grown(window).min(window + MAX_SSTHRESH / 2.0);
        // ACKs come as the segments left, and release more segments in the same time.
        (next, (spacing_s * window / next).max(transfer.segment_s))
    };
    Ok(rounds(transfer, jump, 1.0 / approved_pps, limited))
}

/// Adds up rounds: the first has the window `window` at `spacing_s` a segment, and `next` gives those of the round after.
fn rounds(
    transfer: &Transfer,
    mut window: f64,
    mut spacing_s: f64,
    next: impl Fn(f64, f64) -> (f64, f64),
) -> Latency {
    let (mut seconds, mut left, mut rounds) = (transfer.handshake_s, transfer.segments, 1);
    while left > window && rounds < MOST_ROUNDS {
        let lasts = transfer.rtt_s.max(window * spacing_s);
        if window * spacing_s >= transfer.rtt_s && spacing_s <= transfer.segment_s {
            // The bottleneck is busy from here on.
            break;
        }
        seconds += lasts;
        left -= window;
        rounds += 1;
        (window, spacing_s) = next(window, spacing_s);
    }
    seconds += left * spacing_s + transfer.rtt_s - spacing_s.min(transfer.rtt_s);
    Latency { seconds, rounds, largest_window: window }
}

#[cfg(test)]
mod tests;
