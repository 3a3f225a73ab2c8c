//! The path that the model describes, and the windows that follow from it.

use serde::Serialize;

use super::Mode;
use crate::error::{InvalidParameter, require};

/// The largest rate or buffer and the largest delay that are accepted: far beyond any network, and
/// small enough that no square of a window overflows.
pub(super) const MAX_PACKETS: f64 = 1e12;
const MIN_MU_PPS: f64 = 1e-9;
const MAX_DELAY_S: f64 = 1e6;

/// The parameters of the model, as given; [`Path::new`] checks them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Parameters {
    /// Service rate of the bottleneck (μ), packets/s.
    pub mu_pps: f64,
    /// Rate of the exogenous traffic (λ), packets/s; below μ.
    pub lambda_pps: f64,
    /// One-way delay between the source and the queue (τ₁), s.
    pub tau1_s: f64,
    /// One-way delay between the queue and the destination (τ₂), s.
    pub tau2_s: f64,
    /// Size of the bottleneck's buffer (B), packets.
    pub buffer_packets: f64,
    /// Rate of the link from the source to the queue, packets/s. The formulas do not use it; the
    /// validity of the prediction depends on it.
    pub bw_in_pps: Option<f64>,
}

/// A path on which every formula of the model is defined.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Path(Parameters);

impl Path {
    /// Checks the parameters.
    ///
    /// # Errors
    /// The first parameter that is not finite, is negative (zero, for μ, B and the source link's
    /// rate) or absurdly large, or a λ that is not below μ.
    pub fn new(parameters: &Parameters) -> Result<Self, InvalidParameter> {
        let Parameters { mu_pps, lambda_pps, tau1_s, tau2_s, buffer_packets, bw_in_pps } =
            *parameters;
        require("mu_pps", mu_pps, (MIN_MU_PPS..=MAX_PACKETS).contains(&mu_pps), || {
            format!("packets per second, {MIN_MU_PPS:e} to {MAX_PACKETS:e}")
        })?;
        require("lambda_pps", lambda_pps, (0.0..mu_pps).contains(&lambda_pps), || {
            format!("packets per second, at least 0 and below mu_pps ({mu_pps})")
        })?;
        for (name, delay_s) in [("tau1_s", tau1_s), ("tau2_s", tau2_s)] {
            require(name, delay_s, (0.0..=MAX_DELAY_S).contains(&delay_s), || {
                format!("seconds, 0 to {MAX_DELAY_S:e}")
            })?;
        }
        let buffer_fits = buffer_packets > 0.0 && buffer_packets <= MAX_PACKETS;
        require("buffer_packets", buffer_packets, buffer_fits, || {
            format!("packets, above 0 and at most {MAX_PACKETS:e}")
        })?;
        if let Some(bw_in_pps) = bw_in_pps {
            let link_fits = bw_in_pps > 0.0 && bw_in_pps.is_finite();
            require("bw_in_pps", bw_in_pps, link_fits, || {
                "packets per second, finite and above 0".into()
            })?;
        }
        Ok(Self(*parameters))
    }

    /// A path given by its whole propagation delay τ, as in figures 4 and 5 of the paper.
    ///
    /// The delay is split evenly, τ₁ = τ₂ = τ/4. Throughput does not depend on the split; the
    /// round-trip time depends on τ₁ when a queue builds during slow start (W̃ < `W_th`).
    ///
    /// # Errors
    /// As [`Path::new`], and a τ that is negative or not finite.
    pub fn from_tau(
        mu_pps: f64,
        lambda_pps: f64,
        tau_s: f64,
        buffer_packets: f64,
    ) -> Result<Self, InvalidParameter> {
        require("tau_s", tau_s, (0.0..=4.0 * MAX_DELAY_S).contains(&tau_s), || {
            format!("seconds, 0 to {:e}", 4.0 * MAX_DELAY_S)
        })?;
        Self::new(&Parameters {
            mu_pps,
            lambda_pps,
            tau1_s: tau_s / 4.0,
            tau2_s: tau_s / 4.0,
            buffer_packets,
            bw_in_pps: None,
        })
    }

    /// The parameters it was made of.
    pub fn parameters(&self) -> &Parameters {
        &self.0
    }

    /// Service rate of the bottleneck (μ), packets/s.
    pub fn mu_pps(&self) -> f64 {
        self.0.mu_pps
    }

    /// Rate of the exogenous traffic (λ), packets/s.
    pub fn lambda_pps(&self) -> f64 {
        self.0.lambda_pps
    }

    /// One-way delay between the source and the queue (τ₁), s.
    pub fn tau1_s(&self) -> f64 {
        self.0.tau1_s
    }

    /// Size of the buffer (B), packets.
    pub fn buffer_packets(&self) -> f64 {
        self.0.buffer_packets
    }

    /// Propagation delay of the round trip (τ), s.
    pub fn tau_s(&self) -> f64 {
        // The paper says only that τ₁ leads to the queue and τ₂ back to the source. Its balance for
        // W_loss, with the term τ₂ + τ/2, gives equation 24 only if τ₁ and τ₂ are one-way link
        // delays that the ACK crosses again.
        2.0 * (self.0.tau1_s + self.0.tau2_s)
    }

    /// Round-trip time through an empty queue, the packet's own service included (T), s.
    pub fn empty_rtt_s(&self) -> f64 {
        // CORRECTION(altman1997 section 4): printed once as τ + μ.
        self.tau_s() + 1.0 / self.0.mu_pps
    }

    /// The rate that the exogenous traffic leaves of the bottleneck (μ − λ), packets/s.
    pub fn available_pps(&self) -> f64 {
        self.0.mu_pps - self.0.lambda_pps
    }

    /// The exogenous traffic's share of the bottleneck (λ/μ), dimensionless.
    pub fn exogenous_share(&self) -> f64 {
        self.0.lambda_pps / self.0.mu_pps
    }

    /// Window at which congestion avoidance fills the buffer (`W_loss`), packets (equation 3).
    pub fn w_loss(&self) -> f64 {
        let waiting = self.0.buffer_packets / self.0.mu_pps;
        (waiting + self.empty_rtt_s()) * self.available_pps() + self.exogenous_share()
    }

    /// Largest window of a cycle, just after the loss (`W_max`), packets (equation 3).
    pub fn w_max(&self) -> f64 {
        self.w_loss() + 2.0
    }

    /// Slow-start threshold after a loss in congestion avoidance (`W_th`), packets (theorem 3.1).
    pub fn w_th(&self) -> f64 {
        self.w_max() / 2.0
    }

    /// Window at which a queue begins to build (W̃), packets (equation 14).
    pub fn w_tilde(&self) -> f64 {
        self.empty_rtt_s() * self.available_pps()
    }

    /// Window at which a slow-start burst overflows the buffer (`W_b`), packets (equation 28).
    pub fn w_b(&self) -> f64 {
        (2.0 - self.exogenous_share()) * self.0.buffer_packets
    }

    /// The buffer over the path's bandwidth-delay product (β), dimensionless (section 2).
    pub fn beta(&self) -> f64 {
        self.0.buffer_packets / (self.tau_s() * self.available_pps() + 1.0)
    }

    /// The largest β at which slow start overflows the buffer, dimensionless (equation 26).
    pub fn critical_beta(&self) -> f64 {
        1.0 / (3.0 - self.exogenous_share())
    }

    /// The mode that equation 26 chooses.
    pub fn mode(&self) -> Mode {
        // CORRECTION(altman1997 equation 26): the text compares W_b with W_max/2 and, in the line
        // above the result, prints μ/λ for λ/μ. The printed result is W_b ≤ W_loss/2 exactly.
        if self.beta() <= self.critical_beta() { Mode::TwoSlowStarts } else { Mode::OneSlowStart }
    }
}

#[cfg(test)]
mod tests;
