//! Losses in bursts, and links whose rate is not one number.

use ackclock_net::{Cellular, Channel, Opportunities, RateSeries, Wifi, WifiConfig};
use ackclock_units::random::Stream;
use ackclock_units::{Duration, PacketRate, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RateOrZero;

/// Losses in bursts: a chain of two states, which moves before each packet and begins in the good one
/// (Gilbert and Elliott). Probabilities from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BurstLoss {
    /// Of going over from the good state to the bad one; bursts begin so often.
    pub to_bad: f64,
    /// Of going back; bursts last 1/`to_good` packets in the mean.
    pub to_good: f64,
    /// Of a loss in the bad state.
    #[serde(default = "always")]
    pub in_bad: f64,
    /// Of a loss in the good state.
    #[serde(default)]
    pub in_good: f64,
}

const fn always() -> f64 {
    1.0
}

/// What takes the place of a constant rate; the link's `rate` is the mean.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ChannelSpec {
    /// A wireless LAN: packets leave in bundles, each of which has to win the air, at a rate of the
    /// air that changes. `rate` is what full bundles of 1500-byte packets get in the mean.
    Wifi {
        /// The most packets of a bundle.
        #[serde(default = "bundle")]
        bundle: u32,
        /// What a bundle costs besides its bits, in the mean; each draws from half to one and a half.
        #[serde(default = "overhead")]
        overhead: Duration,
        /// Rates of the air over their mean, in order; the channel steps to a neighbour.
        #[serde(default = "levels")]
        levels: Vec<f64>,
        /// The mean time between two steps.
        #[serde(default = "hold")]
        hold: Duration,
    },
    /// Moments at which up to 1500 bytes may leave, as mahimahi's traces have them. `rate` is used
    /// where a limit is written as a multiple of the bandwidth-delay product, and nowhere else.
    Trace {
        /// The moments, in milliseconds and in order; they begin again with the last. In a scenario file also the name
        /// of a file of mahimahi's, from the folder of the scenario.
        times_ms: Vec<u64>,
    },
    /// A measured series of rates: each holds until the next, and what is left of a packet in transmission is sent at
    /// the rate that comes. `rate` is used where a limit is written as a multiple of the bandwidth-delay product, and
    /// nowhere else.
    Rates {
        /// The values, the first at 0 s. In a scenario file also the name of a file, from the folder of the scenario:
        /// two columns, time in seconds and rate, with `unit` beside it, such as `unit = "Mbit/s"`; or one column of
        /// rates, with `interval` beside it too, such as `interval = "1 s"`.
        series: Vec<RateStep>,
        /// The time after which the series begins again. Default: the last value holds as long as the one before it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        period: Option<Duration>,
    },
    /// A trace drawn at random: packets leave as a Poisson process whose rate wanders between zero
    /// and twice `rate`.
    Cellular {
        /// How far the rate wanders in a second (as the root of the time).
        #[serde(default = "wander")]
        wander: PacketRate,
        /// After how long it begins again.
        #[serde(default = "period")]
        period: Duration,
    },
}

/// A value of a series of rates.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// Its beginning, counted from that of the series.
    pub at: Duration,
    /// The rate until the next.
    pub rate: RateOrZero,
}

/// What Linux's drivers commonly send at once to a busy station.
const fn bundle() -> u32 {
    32
}

/// IEEE 802.11n at 5 GHz, best effort: 43 us of waiting, 67.5 us of backoff in the mean, a preamble of
/// 40 us, 16 us and an acknowledgment of 32 us.
const fn overhead() -> Duration {
    Duration::from_micros(200)
}

fn levels() -> Vec<f64> {
    vec![0.6, 0.8, 1.0, 1.2, 1.4]
}

/// Each change takes a step, however long the link is silent.
const LEAST_HOLD: Duration = Duration::from_micros(10);

const fn hold() -> Duration {
    Duration::from_millis(500)
}

fn wander() -> PacketRate {
    PacketRate::from_pps(Cellular::SPROUT_WANDER_PPS).expect("a rate")
}

const fn period() -> Duration {
    Duration::from_secs(600)
}

impl ChannelSpec {
    /// The channel of a link of `rate`, which draws from `random`.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    pub fn channel(
        &self,
        rate: Rate,
        mut random: Stream,
    ) -> Result<Channel, (&'static str, &'static str)> {
        match self {
            Self::Wifi { bundle, overhead, levels, hold } => {
                let config = WifiConfig {
                    rate,
                    bundle: *bundle,
                    overhead: *overhead,
                    levels: levels.clone(),
                    hold: *hold,
                };
                let wrong = match () {
                    () if *bundle == 0 => "bundle",
                    () if *hold < LEAST_HOLD => {
                        return Err(("hold", "expected at least 10 us"));
                    }
                    () if config.levels.is_empty() => "levels",
                    () if !config.levels.iter().all(|l| (0.01..=100.0).contains(l)) => "levels",
                    () => "overhead",
                };
                Wifi::new(config, random)
                    .map(|wifi| Channel::Wifi(Box::new(wifi)))
                    .map_err(|why| (wrong, why))
            }
            Self::Trace { times_ms } => Opportunities::new(times_ms.clone())
                .map(Channel::Opportunities)
                .map_err(|why| ("times_ms", why)),
            Self::Rates { series, period } => {
                let steps: Vec<_> = series.iter().map(|step| (step.at, step.rate.0)).collect();
                let lasts = match steps[..] {
                    [.., (before, _), (last, _)] => last + last.saturating_sub(before),
                    _ => Duration::from_secs(1),
                };
                let wrong = if period.is_some() { "period" } else { "series" };
                RateSeries::new(&steps, period.unwrap_or(lasts))
                    .map(Channel::Rates)
                    .map_err(|why| (if why.contains("period") { wrong } else { "series" }, why))
            }
            Self::Cellular { wander, period } => {
                let cellular =
                    Cellular { mean: rate, wander_pps: wander.as_pps(), period: *period };
                cellular
                    .draw(&mut random)
                    .map(Channel::Opportunities)
                    .map_err(|why| ("period", why))
            }
        }
    }
}
