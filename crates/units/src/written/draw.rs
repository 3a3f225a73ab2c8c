//! Quantities, or the distributions to draw them from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::random::{Law, Stream};
use crate::{Bytes, Duration, Rate};

/// A quantity, or a distribution to draw it from.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a value, or a distribution such as { uniform = [least, most] } or { exponential = mean }"
)]
#[schemars(rename = "{T}Draw")]
pub enum Draw<T> {
    /// Always the same.
    Fixed(T),
    /// Uniform between the two.
    Uniform(UniformDraw<T>),
    /// Exponential with the given mean.
    Exponential(ExponentialDraw<T>),
    /// Pareto.
    Pareto(ParetoDraw<T>),
    /// Weibull.
    Weibull(WeibullDraw<T>),
    /// Log-normal.
    Lognormal(LognormalDraw<T>),
    /// One of a list, all equally likely.
    Values(ValuesDraw<T>),
    /// By quantiles.
    Quantiles(QuantilesDraw<T>),
}

/// A span of time, or a distribution to draw it from.
pub type DurationDraw = Draw<Duration>;

/// A uniform distribution.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Uniform{T}")]
pub struct UniformDraw<T> {
    /// The least and the most.
    pub uniform: [T; 2],
}

/// An exponential distribution.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Exponential{T}")]
pub struct ExponentialDraw<T> {
    /// The mean.
    pub exponential: T,
}

/// A Pareto distribution.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Pareto{T}")]
pub struct ParetoDraw<T> {
    /// P(X > x) = (scale / x)^shape from `scale` on.
    pub pareto: Scaled<T>,
}

/// A Weibull distribution.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Weibull{T}")]
pub struct WeibullDraw<T> {
    /// P(X > x) = exp(-(x / scale)^shape).
    pub weibull: Scaled<T>,
}

/// The parameters of a distribution with a scale and a shape.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Scaled{T}")]
pub struct Scaled<T> {
    /// The exponent.
    pub shape: f64,
    /// The scale.
    pub scale: T,
}

/// A log-normal distribution.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Lognormal{T}")]
pub struct LognormalDraw<T> {
    /// Its parameters.
    pub lognormal: Lognormal<T>,
}

/// The parameters of a log-normal distribution.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LognormalOf{T}")]
pub struct Lognormal<T> {
    /// The median.
    pub median: T,
    /// The standard deviation of the natural logarithm.
    pub sigma: f64,
}

/// An empirical distribution.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ValuesOf{T}")]
pub struct ValuesDraw<T> {
    /// The values, all equally likely.
    pub values: Vec<T>,
}

/// A distribution by its quantiles.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "QuantilesOf{T}")]
pub struct QuantilesDraw<T> {
    /// From p = 0 to p = 1, ascending in both; linear between them. Where one p has several values the distribution jumps
    /// from the first to the last of them. In a scenario file also the name of a file, from the folder of the scenario:
    /// columns of values and of p, in shares or percent, with `unit` beside it, such as `unit = "B"`.
    pub quantiles: Vec<Quantile<T>>,
}

/// A quantile.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "QuantileOf{T}")]
pub struct Quantile<T> {
    /// The share of draws that are below `value`, from 0 to 1.
    pub p: f64,
    /// The value.
    pub value: T,
}

/// Something of which a distribution can be made.
pub trait Quantity {
    /// The quantity as a number of its base unit: s, B, bit/s.
    fn amount(&self) -> f64;
}

impl Quantity for f64 {
    fn amount(&self) -> f64 {
        *self
    }
}

impl Quantity for Duration {
    fn amount(&self) -> f64 {
        self.as_secs_f64()
    }
}

impl Quantity for Bytes {
    fn amount(&self) -> f64 {
        self.get() as f64
    }
}

impl Quantity for Rate {
    fn amount(&self) -> f64 {
        self.as_bps() as f64
    }
}

impl<T: Quantity> Draw<T> {
    /// The distribution, in base units.
    pub fn law(&self) -> Law {
        match self {
            Self::Fixed(value) => Law::Fixed(value.amount()),
            Self::Uniform(UniformDraw { uniform: [least, most] }) => {
                Law::Uniform(least.amount(), most.amount())
            }
            Self::Exponential(ExponentialDraw { exponential }) => {
                Law::Exponential { mean: exponential.amount() }
            }
            Self::Pareto(ParetoDraw { pareto }) => {
                Law::Pareto { shape: pareto.shape, scale: pareto.scale.amount() }
            }
            Self::Weibull(WeibullDraw { weibull }) => {
                Law::Weibull { shape: weibull.shape, scale: weibull.scale.amount() }
            }
            Self::Lognormal(LognormalDraw { lognormal }) => {
                Law::Lognormal { median: lognormal.median.amount(), sigma: lognormal.sigma }
            }
            Self::Values(ValuesDraw { values }) => {
                Law::Values(values.iter().map(Quantity::amount).collect())
            }
            Self::Quantiles(QuantilesDraw { quantiles }) => {
                Law::Quantiles(quantiles.iter().map(|q| (q.p, q.value.amount())).collect())
            }
        }
    }

    /// True if each draw is zero.
    pub fn is_zero(&self) -> bool {
        match self {
            Self::Fixed(value) => value.amount() == 0.0,
            Self::Uniform(UniformDraw { uniform: [_, most] }) => most.amount() == 0.0,
            Self::Exponential(ExponentialDraw { exponential }) => exponential.amount() == 0.0,
            Self::Pareto(ParetoDraw { pareto }) => pareto.scale.amount() == 0.0,
            Self::Weibull(WeibullDraw { weibull }) => weibull.scale.amount() == 0.0,
            Self::Lognormal(LognormalDraw { lognormal }) => lognormal.median.amount() == 0.0,
            Self::Values(ValuesDraw { values }) => values.iter().all(|v| v.amount() == 0.0),
            Self::Quantiles(QuantilesDraw { quantiles }) => {
                quantiles.iter().all(|quantile| quantile.value.amount() == 0.0)
            }
        }
    }

    /// The fault in it: a key below this one, and what was expected there.
    pub fn fault(&self) -> Option<(&'static str, &'static str)> {
        let positive = |number: f64| number > 0.0 && number.is_finite();
        match self {
            Self::Uniform(UniformDraw { uniform: [least, most] })
                if least.amount() > most.amount() =>
            {
                Some((".uniform", "expected the lesser of the two first"))
            }
            Self::Pareto(ParetoDraw { pareto }) if !positive(pareto.shape) => {
                Some((".pareto.shape", "expected a number above 0"))
            }
            Self::Pareto(ParetoDraw { pareto }) if pareto.scale.amount() <= 0.0 => {
                Some((".pareto.scale", "expected more than 0"))
            }
            Self::Weibull(WeibullDraw { weibull }) if !positive(weibull.shape) => {
                Some((".weibull.shape", "expected a number above 0"))
            }
            Self::Lognormal(LognormalDraw { lognormal })
                if !(lognormal.sigma >= 0.0 && lognormal.sigma.is_finite()) =>
            {
                Some((".lognormal.sigma", "expected a number from 0 on"))
            }
            Self::Values(ValuesDraw { values }) if values.is_empty() => {
                Some((".values", "expected at least one"))
            }
            Self::Quantiles(QuantilesDraw { quantiles }) if !is_distribution(quantiles) => Some((
                ".quantiles",
                "expected at least two, from p = 0 to p = 1, neither p nor value falling",
            )),
            _ => None,
        }
    }
}

fn is_distribution<T: Quantity>(quantiles: &[Quantile<T>]) -> bool {
    let ends =
        quantiles.first().map(|q| q.p) == Some(0.0) && quantiles.last().map(|q| q.p) == Some(1.0);
    let ascends = |pair: &[Quantile<T>]| {
        pair[0].p <= pair[1].p && pair[0].value.amount() <= pair[1].value.amount()
    };
    ends && quantiles.len() > 1 && quantiles.windows(2).all(ascends)
}

impl<T: Quantity> Draw<T> {
    /// The least value, and the most unless there is none, in base units.
    pub fn bounds(&self) -> (f64, Option<f64>) {
        let of = |values: &mut dyn Iterator<Item = f64>| {
            let ends =
                |(least, most): (f64, f64), value| (f64::min(least, value), f64::max(most, value));
            let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), ends);
            (least, Some(most))
        };
        match self {
            Self::Fixed(value) => of(&mut [value.amount()].into_iter()),
            Self::Uniform(UniformDraw { uniform }) => of(&mut uniform.iter().map(Quantity::amount)),
            Self::Values(ValuesDraw { values }) => of(&mut values.iter().map(Quantity::amount)),
            Self::Quantiles(QuantilesDraw { quantiles }) => {
                of(&mut quantiles.iter().map(|quantile| quantile.value.amount()))
            }
            // Of a negative mean, scale or median all values are negative.
            Self::Exponential(ExponentialDraw { exponential }) => {
                (exponential.amount().min(0.0), None)
            }
            Self::Pareto(ParetoDraw { pareto }) => (pareto.scale.amount(), None),
            Self::Weibull(WeibullDraw { weibull }) => (weibull.scale.amount().min(0.0), None),
            Self::Lognormal(LognormalDraw { lognormal }) => {
                (lognormal.median.amount().min(0.0), None)
            }
        }
    }
}

impl<T: Quantity> Draw<T> {
    /// The mean in base units, each draw cut at `most`; nothing of one with a [fault](Self::fault).
    pub fn mean(&self, most: f64) -> f64 {
        if self.fault().is_some() { 0.0 } else { self.law().mean_below(most) }
    }
}

impl DurationDraw {
    /// The earliest that it comes to.
    pub fn earliest(&self) -> Duration {
        match self {
            Self::Fixed(fixed) => *fixed,
            Self::Uniform(draw) => draw.uniform[0],
            Self::Pareto(draw) => draw.pareto.scale,
            Self::Values(draw) => draw.values.iter().copied().min().unwrap_or_default(),
            Self::Quantiles(draw) => {
                draw.quantiles.first().map(|first| first.value).unwrap_or_default()
            }
            Self::Exponential(_) | Self::Weibull(_) | Self::Lognormal(_) => Duration::ZERO,
        }
    }

    /// The latest that it comes to, if there is one.
    pub fn latest(&self) -> Option<Duration> {
        match self {
            Self::Fixed(fixed) => Some(*fixed),
            Self::Uniform(draw) => Some(draw.uniform[1]),
            Self::Values(draw) => draw.values.iter().copied().max(),
            Self::Quantiles(draw) => draw.quantiles.last().map(|last| last.value),
            Self::Exponential(_) | Self::Pareto(_) | Self::Weibull(_) | Self::Lognormal(_) => None,
        }
    }

    /// A draw.
    pub fn sample(&self, random: &mut Stream) -> Duration {
        match self {
            Self::Fixed(fixed) => *fixed,
            distribution => Duration::from_secs_f64(distribution.law().sample(random)),
        }
    }
}

impl Default for DurationDraw {
    fn default() -> Self {
        Self::Fixed(Duration::ZERO)
    }
}

impl Default for Draw<f64> {
    fn default() -> Self {
        Self::Fixed(0.0)
    }
}
