//! Rules that several checks share.

use ackclock_units::{Rate, check_name};

use crate::error::ScenarioError;
use crate::scenario::{A_RATE, BurstLoss, LossSpec, PeriodicLoss, is_below_all};

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
    if is_below_all(rate) { refuse(key, A_RATE) } else { Ok(()) }
}

pub fn check_loss(key: &str, loss: LossSpec) -> Result {
    match loss {
        LossSpec::Random(share) => check_share(key, share),
        LossSpec::Periodic(PeriodicLoss { every: 0, .. }) => {
            refuse(&format!("{key}.every"), "expected at least 1 packet")
        }
        LossSpec::Periodic(PeriodicLoss { first: Some(0), .. }) => {
            refuse(&format!("{key}.first"), "expected at least 1, the first packet")
        }
        LossSpec::Periodic(_) => Ok(()),
        LossSpec::Bursts(BurstLoss { to_bad, to_good, in_bad, in_good }) => {
            check_share(&format!("{key}.to_bad"), to_bad)?;
            check_share(&format!("{key}.to_good"), to_good)?;
            check_share(&format!("{key}.in_bad"), in_bad)?;
            check_share(&format!("{key}.in_good"), in_good)
        }
    }
}

pub fn check_share(key: &str, share: f64) -> Result {
    if (0.0..=1.0).contains(&share) {
        return Ok(());
    }
    refuse(key, &format!("{share} is not a probability, expected a number from 0 to 1"))
}
