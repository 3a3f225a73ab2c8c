//! The square-root law (Mathis, Semke, Mahdavi and Ott, 1997): congestion avoidance alone, each
//! cycle ended by one loss that is repaired without a timeout.

use crate::error::{InvalidParameter, loss_rate, packets_per_ack, positive};

/// Mean window, packets: √(3/(2 b p)) at loss rate `p`, with one ACK for every b packets.
///
/// # Errors
/// A loss rate outside (0, 1), or b below 1.
pub fn window_packets(p: f64, b: f64) -> Result<f64, InvalidParameter> {
    Ok((3.0 / (2.0 * packets_per_ack(b)? * loss_rate(p)?)).sqrt())
}

/// Mean throughput, packets/s: [`window_packets`] each round-trip time.
///
/// # Errors
/// As [`window_packets`], or a round-trip time that is not above 0.
pub fn throughput_pps(rtt_s: f64, p: f64, b: f64) -> Result<f64, InvalidParameter> {
    Ok(window_packets(p, b)? / positive("rtt_s", rtt_s)?)
}

#[cfg(test)]
mod tests;
