//! The fluid model of one Tahoe connection through a shared bottleneck (Altman et al., 1997).
//!
//! A reference connection shares a drop-tail buffer of B packets, served at μ packets/s, with
//! exogenous traffic of λ packets/s that never reacts. The window then follows a cycle, with one
//! slow start ([`one_slow_start`], theorem 3.1) or, when the buffer is small against the path's
//! bandwidth-delay product, two ([`two_slow_starts`], section 4). [`predict`] chooses by the
//! paper's equation 26 and says in [`Validity`] where the model is known to be poor; [`infer`] runs
//! it backwards, from measured throughput and round-trip time to one unknown parameter.
//!
//! Equation numbers are those of the paper. The formulas here are the integrals of its equations
//! 18 to 24; where a printed formula differs, the code says `CORRECTION(altman1997 ...)`.

mod burst;
mod cycle;
pub mod infer;
mod path;
mod validity;

pub use burst::{burst_rate_pps, limit_burst_rate_pps, mini_cycles_until_loss};
pub use cycle::{Cycle, Mode, Period, one_slow_start, two_slow_starts};
pub use path::{Parameters, Path};
pub use validity::{
    CRITERION_MARGIN, MAX_EXOGENOUS_SHARE, MAX_NEGATIVE_QUEUE_EFFECT, MAX_NEGLECTED_SHARE,
    MIN_W_MAX, SOURCE_LINK_MARGIN, THIRD_SLOW_START_GAP, Validity,
};

use serde::Serialize;

use crate::error::{InvalidParameter, require};

/// The model's prediction for a path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prediction {
    /// Mean throughput of the reference connection, packets/s (equation 4 and its like in section 4).
    pub throughput_pps: f64,
    /// Mean round-trip time of its packets, queueing included, s (equation 5).
    pub rtt_s: f64,
    /// Slow starts in one cycle of the window: 1 or 2.
    pub slow_starts_per_cycle: u8,
    /// Length of one cycle, s.
    pub cycle_s: f64,
    /// Packets carried in one cycle.
    pub packets_per_cycle: f64,
    /// The parts of the cycle, in order: three, or five with two slow starts. A part may be empty.
    pub periods: Vec<Period>,
    /// Window at which congestion avoidance fills the buffer, packets (equation 3).
    pub w_loss: f64,
    /// Largest window of the cycle, packets (equation 3).
    pub w_max: f64,
    /// Slow-start threshold after a loss in congestion avoidance, packets (theorem 3.1).
    pub w_th: f64,
    /// Window at which a slow-start burst overflows the buffer, packets (equation 28).
    pub w_b: f64,
    /// Window at which a queue begins to build, packets (equation 14).
    pub w_tilde: f64,
    /// The buffer over the path's bandwidth-delay product, dimensionless (section 2).
    pub beta: f64,
    /// The largest β at which slow start overflows the buffer (right side of equation 26).
    pub criterion: f64,
    /// With two slow starts, how many packets the second ends short of overflowing the buffer again,
    /// counted from the window at which the first overflow is detected. A third slow start is
    /// possible where this is below about 3, and rare elsewhere; the model has no place for it.
    pub third_slow_start_gap_packets: Option<f64>,
    /// The validity of the model for this path.
    pub validity: Validity,
}

impl Prediction {
    /// Mean throughput, packets/s, when each cycle's loss is found by a timer of `rto_s` seconds
    /// and not by duplicate ACKs (equation 25): a further window of packets gets through, in a
    /// cycle longer by the timer.
    ///
    /// The paper adds the term to a cycle with one slow start. It is added once here in both modes.
    ///
    /// # Errors
    /// `rto_s` is negative or not finite.
    pub fn throughput_with_timeout(&self, rto_s: f64) -> Result<f64, InvalidParameter> {
        require("rto_s", rto_s, rto_s >= 0.0 && rto_s.is_finite(), || {
            "a finite number of seconds, at least 0".into()
        })?;
        Ok((self.packets_per_cycle + self.w_max) / (self.cycle_s + rto_s))
    }
}

/// The model's prediction in the mode that equation 26 chooses.
pub fn predict(path: &Path) -> Prediction {
    predict_in_mode(path, path.mode())
}

/// The model's prediction in a mode of the caller's choice, as in figures 4 and 5 of the paper,
/// which follow theorem 3.1 also where equation 26 asks for section 4.
///
/// A mode other than the one that equation 26 chooses is a reason against the prediction's validity:
/// far from it the formulas may give a round-trip time below T, down to 0.
pub fn predict_in_mode(path: &Path, mode: Mode) -> Prediction {
    let cycle = Cycle::of(path, mode);
    Prediction {
        throughput_pps: cycle.throughput_pps(),
        rtt_s: cycle.rtt_s(),
        slow_starts_per_cycle: mode.slow_starts(),
        cycle_s: cycle.duration_s(),
        packets_per_cycle: cycle.packets(),
        w_loss: path.w_loss(),
        w_max: path.w_max(),
        w_th: path.w_th(),
        w_b: path.w_b(),
        w_tilde: path.w_tilde(),
        beta: path.beta(),
        criterion: path.critical_beta(),
        third_slow_start_gap_packets: validity::third_slow_start_gap(path, mode),
        validity: Validity::of(path, &cycle),
        periods: cycle.periods,
    }
}

#[cfg(test)]
mod tests;
