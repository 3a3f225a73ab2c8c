//! Rules that several checks share.

use ackclock_net::Refusal;
use ackclock_packet::QuickStartRate;
use ackclock_units::{Rate, check_name};

use crate::error::ScenarioError;

pub type Result = std::result::Result<(), ScenarioError>;

pub fn refuse(key: &str, message: &str) -> Result {
    Err(ScenarioError::new(key, message))
}

/// A name, as wherever users choose one.
pub fn check_named(key: &str, name: &str) -> Result {
    check_name(name).map_err(|why| ScenarioError::new(key, &why.to_string()))
}

/// A rate that an application asks the routers for.
pub fn check_asks(key: &str, rate: Option<Rate>) -> Result {
    QuickStartRate::check(rate).or_else(|expected| refuse(key, expected))
}

/// The outcome of the check of a part that stands under `key`.
pub fn check_part(key: &str, checked: std::result::Result<(), Refusal>) -> Result {
    checked.or_else(|(of, why)| match of {
        "" => refuse(key, &why),
        _ => refuse(&format!("{key}.{of}"), &why),
    })
}

/// Checks a part that may be left out.
pub fn check_given<T>(
    key: &str,
    part: Option<&T>,
    check: impl Fn(&T) -> std::result::Result<(), Refusal>,
) -> Result {
    part.map_or(Ok(()), |part| check_part(key, check(part)))
}

pub fn check_share(key: &str, share: f64) -> Result {
    if (0.0..=1.0).contains(&share) {
        return Ok(());
    }
    refuse(key, &format!("{share} is not a probability, expected a number from 0 to 1"))
}
