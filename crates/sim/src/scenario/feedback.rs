//! Routers that rule every packet's sender.

use ackclock_net::{RcpConfig, XcpConfig};
use ackclock_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The router in front of a link offers every RCP flow one rate. It is found from the link's spare
/// capacity and its queue; keys that are left out have the numbers of RCP's authors.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RcpSpec {
    /// The gain for spare capacity; default: 0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// The gain for the queue; default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// The share of the link's rate that is aimed at; default: 0.95.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<f64>,
    /// The longest time between updates; a shorter mean round trip takes its place. Default: 10 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// The mean round trip before the first packet; default: 200 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Duration>,
    /// The first rate, as a share of what is aimed at; default: 0.05.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<f64>,
}

/// The router in front of a link tells every packet of an XCP flow how its sender is to change.
/// Keys that are left out have the numbers of XCP's authors.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct XcpSpec {
    /// The gain for spare capacity; default: 0.4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// The gain for the standing queue; default: 0.226.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// The share of the traffic that is taken and given back where nothing is to gain; default: 0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shuffle: Option<f64>,
    /// The mean round trip before the first packet, up to 1 s; default: 50 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Duration>,
}

type Fault = Option<(&'static str, &'static str)>;

/// The first of these values that its bounds, which are exclusive below, do not hold.
fn out_of_bounds(values: &[(&'static str, Option<f64>, f64, &'static str)]) -> Fault {
    values.iter().find_map(|(key, value, most, expected)| {
        let wrong = value.is_some_and(|value| !(value > 0.0 && value <= *most));
        wrong.then_some((*key, *expected))
    })
}

const A_GAIN: &str = "expected a number above 0, at most 10";
const A_SHARE: &str = "expected a share above 0, at most 1";

impl RcpSpec {
    /// The router's numbers.
    pub fn config(&self) -> RcpConfig {
        let base = RcpConfig::DEFAULT;
        RcpConfig {
            alpha: self.alpha.unwrap_or(base.alpha),
            beta: self.beta.unwrap_or(base.beta),
            target: self.target.unwrap_or(base.target),
            interval: self.interval.unwrap_or(base.interval),
            rtt: self.rtt.unwrap_or(base.rtt),
            initial: self.initial.unwrap_or(base.initial),
        }
    }

    /// What is wrong with it: the key, and what was expected.
    pub fn fault(&self) -> Fault {
        let zero =
            |time: Option<Duration>| time.is_some_and(|time| time < Duration::from_micros(1));
        out_of_bounds(&[
            ("alpha", self.alpha, 10.0, A_GAIN),
            ("beta", self.beta, 10.0, A_GAIN),
            ("target", self.target, 1.0, A_SHARE),
            ("initial", self.initial, 1.0, A_SHARE),
        ])
        .or_else(|| zero(self.interval).then_some(("interval", "expected at least 1 us")))
        .or_else(|| zero(self.rtt).then_some(("rtt", "expected at least 1 us")))
    }
}

impl XcpSpec {
    /// The router's numbers.
    pub fn config(&self) -> XcpConfig {
        let base = XcpConfig::DEFAULT;
        XcpConfig {
            alpha: self.alpha.unwrap_or(base.alpha),
            beta: self.beta.unwrap_or(base.beta),
            shuffle: self.shuffle.unwrap_or(base.shuffle),
            rtt: self.rtt.unwrap_or(base.rtt),
        }
    }

    /// What is wrong with it: the key, and what was expected.
    pub fn fault(&self) -> Fault {
        let bounds = Duration::from_millis(1)..=Duration::from_secs(1);
        let outside = self.rtt.is_some_and(|rtt| !bounds.contains(&rtt));
        out_of_bounds(&[
            ("alpha", self.alpha, 10.0, A_GAIN),
            ("beta", self.beta, 10.0, A_GAIN),
            ("shuffle", self.shuffle, 1.0, A_SHARE),
        ])
        .or(outside.then_some(("rtt", "expected from 1 ms to 1 s")))
    }
}
