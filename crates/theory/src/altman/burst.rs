//! The bursts of a slow start through a shared bottleneck (section 4 of the paper).

use super::Path;
use crate::error::{InvalidParameter, positive};

/// Rate at which the source sends in mini-cycle `n` (`α_n`), packets/s, given its rate in the first.
///
/// The closed form of equation 27: ACKs of a burst return at the rate at which the bottleneck served
/// the burst beside the exogenous traffic, and each releases two packets. The paper leaves α₁ open;
/// the result forgets it within a few mini-cycles.
///
/// # Errors
/// `first_rate_pps` is not a finite number above 0.
pub fn burst_rate_pps(path: &Path, first_rate_pps: f64, n: u32) -> Result<f64, InvalidParameter> {
    positive("first_rate_pps", first_rate_pps)?;
    // 1/α obeys a linear recursion with ratio λ/2μ < 1/2.
    let ratio = path.exogenous_share() / 2.0;
    let decay = libm::pow(ratio, f64::from(n.max(1) - 1));
    let limit = (1.0 - decay) / limit_burst_rate_pps(path);
    Ok(1.0 / (decay / first_rate_pps + limit))
}

/// Rate to which the bursts converge, 2μ − λ, packets/s.
pub fn limit_burst_rate_pps(path: &Path) -> f64 {
    2.0 * path.mu_pps() - path.lambda_pps()
}

/// Mini-cycles (rounds) of a slow start up to the one whose burst fills the buffer (`n_b`).
///
/// A real number, below 1 where less than one packet fills the buffer.
pub fn mini_cycles_until_loss(path: &Path) -> f64 {
    // CORRECTION(altman1997 n_b): mini-cycle n carries 2^(n−1) packets and the loss falls after
    // W_b of them, so the printed equation has its factor on the wrong side and its solution lacks
    // the 1.
    libm::log2(path.w_b()) + 1.0
}

#[cfg(test)]
mod tests;
