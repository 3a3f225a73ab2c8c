//! Checks that settings of queues, channels and links share.

use ackclock_units::Duration;

/// A key that is wrong, and why.
pub type Refusal = (&'static str, String);

/// Refuses the value of `key`.
///
/// # Errors
/// Always.
pub fn refuse<T>(key: &'static str, why: &str) -> Result<T, Refusal> {
    Err((key, why.to_owned()))
}

/// Checks a probability or a weight.
pub fn check_share(key: &'static str, share: f64) -> Result<(), Refusal> {
    if (0.0..=1.0).contains(&share) {
        return Ok(());
    }
    Err((key, format!("{share} is not a probability, expected a number from 0 to 1")))
}

/// Checks a probability or a weight that is not zero.
pub fn check_positive_share(key: &'static str, share: f64) -> Result<(), Refusal> {
    check_share(key, share)?;
    if share <= 0.0 { refuse(key, "expected more than 0") } else { Ok(()) }
}

/// Checks a time that is not zero.
pub fn check_time(key: &'static str, time: Duration) -> Result<(), Refusal> {
    if time == Duration::ZERO { refuse(key, "expected more than 0 s") } else { Ok(()) }
}
