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
