//! Bounds of the settings of several routers.

/// A key that is wrong, and what was expected there.
pub type Fault = Option<(&'static str, &'static str)>;

/// The first of these values that its bounds, which are exclusive below, do not hold.
pub fn out_of_bounds(values: &[(&'static str, f64, f64, &'static str)]) -> Fault {
    values.iter().find_map(|(key, value, most, expected)| {
        let wrong = !(*value > 0.0 && value <= most);
        wrong.then_some((*key, *expected))
    })
}

pub const A_GAIN: &str = "expected a number above 0, at most 10";
pub const A_SHARE: &str = "expected a share above 0, at most 1";
