//! The response function of CUBIC (RFC 9438 §5.1): deterministic losses, no fast convergence.

use crate::error::{InvalidParameter, loss_rate, positive, require};
use crate::reno;

/// The constants of a CUBIC sender.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constants {
    /// Aggressiveness (C), packets/s³.
    pub c: f64,
    /// Multiplicative decrease factor (β): the share of the window that remains after a loss.
    pub beta: f64,
}

impl Default for Constants {
    /// C = 0.4 packets/s³ and β = 0.7 (RFC 9438 §4.1).
    fn default() -> Self {
        Self { c: 0.4, beta: 0.7 }
    }
}

impl Constants {
    /// (C (3 + β) / (4 (1 − β)))^¼ · RTT^¾.
    fn scale(&self, rtt_s: f64) -> Result<f64, InvalidParameter> {
        let c = positive("c", self.c)?;
        let beta = require("beta", self.beta, self.beta > 0.0 && self.beta < 1.0, || {
            "a number in (0, 1)".into()
        })?;
        let rtt_s = positive("rtt_s", rtt_s)?;
        let constant = c * (3.0 + beta) / (4.0 * (1.0 - beta));
        Ok(libm::pow(constant, 0.25) * libm::pow(rtt_s, 0.75))
    }
}

/// Mean window, packets, by the cubic law alone.
///
/// # Errors
/// A loss rate or β outside (0, 1); a C or round-trip time not above 0.
pub fn cubic_window_packets(
    rtt_s: f64,
    p: f64,
    constants: &Constants,
) -> Result<f64, InvalidParameter> {
    Ok(constants.scale(rtt_s)? / libm::pow(loss_rate(p)?, 0.75))
}

/// Mean window, packets: the cubic law or standard TCP's, whichever is larger (§5.1, §4.3).
///
/// # Errors
/// As [`cubic_window_packets`].
pub fn window_packets(rtt_s: f64, p: f64, constants: &Constants) -> Result<f64, InvalidParameter> {
    Ok(cubic_window_packets(rtt_s, p, constants)?.max(reno::window_packets(p)?))
}

/// Mean throughput, packets/s: [`window_packets`] each round-trip time.
///
/// # Errors
/// As [`cubic_window_packets`].
pub fn throughput_pps(rtt_s: f64, p: f64, constants: &Constants) -> Result<f64, InvalidParameter> {
    Ok(window_packets(rtt_s, p, constants)? / rtt_s)
}

/// Loss rate at which the mean window is `window_packets`: the higher of the two laws' (§5.2).
///
/// # Errors
/// A window that is not above 0, and as [`cubic_window_packets`].
pub fn loss_rate_for(
    rtt_s: f64,
    window_packets: f64,
    constants: &Constants,
) -> Result<f64, InvalidParameter> {
    let window = positive("window_packets", window_packets)?;
    let by_cubic = libm::pow(constants.scale(rtt_s)? / window, 4.0 / 3.0);
    Ok(by_cubic.max(reno::loss_rate_for(window)?))
}

#[cfg(test)]
mod tests;
