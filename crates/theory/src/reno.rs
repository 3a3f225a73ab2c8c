//! The response function of standard TCP as RFC 3649 and RFC 9438 write it: 1.2/√p.
//!
//! The square-root law of [`mathis`](crate::mathis) with one ACK a packet, its √(3/2) = 1.2247
//! rounded to two digits, so that tables in those RFCs can be met.

use crate::error::{InvalidParameter, loss_rate, positive};

const COEFFICIENT: f64 = 1.2;

/// Mean window, packets, at loss rate `p`.
///
/// # Errors
/// A loss rate outside (0, 1).
pub fn window_packets(p: f64) -> Result<f64, InvalidParameter> {
    Ok(COEFFICIENT / loss_rate(p)?.sqrt())
}

/// Mean throughput, packets/s: [`window_packets`] each round-trip time.
///
/// # Errors
/// As [`window_packets`], or a round-trip time that is not above 0.
pub fn throughput_pps(rtt_s: f64, p: f64) -> Result<f64, InvalidParameter> {
    Ok(window_packets(p)? / positive("rtt_s", rtt_s)?)
}

/// Loss rate at which the mean window is `window_packets`; above 1 for a window below 1.2.
///
/// # Errors
/// A window that is not above 0.
pub fn loss_rate_for(window_packets: f64) -> Result<f64, InvalidParameter> {
    let ratio = COEFFICIENT / positive("window_packets", window_packets)?;
    Ok(ratio * ratio)
}

#[cfg(test)]
mod tests;
