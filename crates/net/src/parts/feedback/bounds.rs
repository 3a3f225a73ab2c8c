//! Bounds of the settings of several routers.

use crate::check::{Refusal, refuse};

/// Checks these values against their bounds, which are exclusive below.
pub fn check_bounds(values: &[(&'static str, f64, f64, &'static str)]) -> Result<(), Refusal> {
    values.iter().try_for_each(|(key, value, most, expected)| {
        if *value > 0.0 && value <= most { Ok(()) } else { refuse(key, expected) }
    })
}

pub const A_GAIN: &str = "expected a number above 0, at most 10";
pub const A_SHARE: &str = "expected a share above 0, at most 1";
