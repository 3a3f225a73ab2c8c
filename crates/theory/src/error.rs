//! The one way in which a closed form refuses its input.

use thiserror::Error;

/// A parameter outside the range in which a formula means anything; its text is one line that names
/// the parameter, the value and what was expected.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{parameter} = {value}: expected {expected}")]
pub struct InvalidParameter {
    /// The parameter's name as the caller spells it, for example `lambda_pps`.
    pub parameter: &'static str,
    /// The value that was given.
    pub value: f64,
    /// The input that would have been accepted.
    pub expected: String,
}

/// Passes `value` if `accepted`, which must be false for a NaN.
pub(crate) fn require(
    parameter: &'static str,
    value: f64,
    accepted: bool,
    expected: impl FnOnce() -> String,
) -> Result<f64, InvalidParameter> {
    if accepted {
        Ok(value)
    } else {
        Err(InvalidParameter { parameter, value, expected: expected() })
    }
}

/// A loss event rate: above 0 and below 1.
pub(crate) fn loss_rate(value: f64) -> Result<f64, InvalidParameter> {
    require("loss_rate", value, value > 0.0 && value < 1.0, || "a number in (0, 1)".into())
}

/// A duration, rate, window or count that must be above 0.
pub(crate) fn positive(parameter: &'static str, value: f64) -> Result<f64, InvalidParameter> {
    require(parameter, value, value > 0.0 && value.is_finite(), || "a finite number above 0".into())
}

/// Packets acknowledged by one ACK (b): at least 1; 2 with delayed ACKs.
pub(crate) fn packets_per_ack(value: f64) -> Result<f64, InvalidParameter> {
    require("packets_per_ack", value, (1.0..=1000.0).contains(&value), || {
        "a number from 1 (every packet is acknowledged) to 1000; 2 with delayed ACKs".into()
    })
}
