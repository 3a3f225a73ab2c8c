//! Probe: TODO the document, and what it says, by section.

use ackclock_units::{Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::Part;
use super::impairments::Reorder;
use crate::check::{Refusal, check_positive_share, check_time};

/// TODO one sentence that says what the part does, as the reference and Python have it. Some packets arrive later.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ProbeSpec")]
pub struct ProbeConfig {
    /// The probability that a packet arrives later.
    #[serde(deserialize_with = "ackclock_units::share::read")]
    #[schemars(with = "ackclock_units::share::Share")]
    pub share: f64,
    /// By how much it arrives later.
    pub by: Duration,
}

impl Part for ProbeConfig {
    fn check(&self, _: Rate) -> Result<(), Refusal> {
        check_positive_share("share", self.share)?;
        check_time("by", self.by)
    }
}

impl ProbeConfig {
    /// The impairment of packets that it is. TODO a part may be a channel, an aggregation or a thinning instead, see
    /// `Installed`.
    pub const fn reorder(&self) -> Reorder {
        Reorder { share: self.share, delay: self.by }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probe_is_checked() {
        let rate = Rate::from_bps(1_000_000);
        let key = |share: f64, by: Duration| {
            ProbeConfig { share, by }.check(rate).map_err(|(key, _)| key)
        };
        // TODO the new part's settings. A share is from 0 to 1, and a time is more than none.
        assert_eq!(key(0.5, Duration::from_millis(1)), Ok(()));
        assert_eq!(key(1.5, Duration::from_millis(1)), Err("share"));
        assert_eq!(key(0.5, Duration::ZERO), Err("by"));
    }

    #[test]
    fn probe_is_an_impairment() {
        // TODO what the new part puts among those of the link.
        let config = ProbeConfig { share: 0.5, by: Duration::from_millis(1) };
        assert_eq!(config.reorder(), Reorder { share: 0.5, delay: Duration::from_millis(1) });
    }
}
