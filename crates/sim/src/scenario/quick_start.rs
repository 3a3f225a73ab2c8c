//! Quick-Start at end points.

use ackclock_packet::QuickStartRate;
use ackclock_units::Rate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The part of a connection's ends in Quick-Start, besides the rate that the variant asks for. The
/// end that sends the volume asks.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuickStartTcp {
    /// True to ask with the SYN or SYN-ACK; default: yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_setup: Option<bool>,
    /// True to ask with the first data after silence, if the window is then less than what the
    /// rate fills; default: yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_idle: Option<bool>,
    /// True to answer requests although the variant asks for nothing; default: no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<bool>,
    /// The most that the receiver lets the sender have; default: all that may be asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<Rate>,
    /// A receiver that lies answers with this rate, whatever came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lie: Option<Rate>,
}

impl QuickStartTcp {
    /// Checks the settings.
    ///
    /// # Errors
    /// The first key that is wrong, and why.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        for (key, rate) in [("most", self.most), ("lie", self.lie)] {
            QuickStartRate::check(rate).map_err(|expected| (key, expected))?;
        }
        Ok(())
    }

    /// The settings, where `base` are those of the profile.
    pub fn config(&self, base: ackclock_tcp::QuickStartConfig) -> ackclock_tcp::QuickStartConfig {
        ackclock_tcp::QuickStartConfig {
            asks: base.asks,
            at_setup: self.at_setup.unwrap_or(base.at_setup),
            after_idle: self.after_idle.unwrap_or(base.after_idle),
            answers: self.answer.unwrap_or(base.answers),
            most: self.most.map_or(base.most, QuickStartRate::at_most),
            lies: self.lie.map(QuickStartRate::at_most).or(base.lies),
        }
    }
}
