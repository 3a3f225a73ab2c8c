//! Outages of links: a link that is on and off by turns, as mahimahi's `mm-onoff`.

use ackclock_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::left_out::is_default;
use super::link::Direction;

/// Outages of a link (a Markov process of two states): it is on at the start, then off and on by turns.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutageSpec {
    /// The mean time for which it is on, exponentially distributed.
    pub on: Duration,
    /// The mean time for which it is off.
    pub off: Duration,
    /// True if the times are always these, and not drawn.
    #[serde(default, skip_serializing_if = "is_default")]
    pub periodic: bool,
    /// True if packets wait in the queue while it is off; false if those that the link sends then are lost.
    #[serde(default, skip_serializing_if = "is_default")]
    pub holds: bool,
    /// The direction that they befall; default: both at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
}
