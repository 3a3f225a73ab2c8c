//! The closed forms, for those who have JSON: one question an object, or a list of them.

use ackclock_theory::altman::infer::{
    Candidate, Cause, Inference, Measured, Measurements, NotIdentifiable, Outcome, Parameter, infer,
};
use ackclock_theory::altman::{self, Mode, Parameters, Path};
use ackclock_theory::{InvalidParameter, cubic, mathis, pftk, reno};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::BadInput;
use ackclock_input::{element, value_from_json};

/// The half-width that a measurement without one is taken to have, as a share of its value.
const DEFAULT_HALF_WIDTH: f64 = 0.01;

/// The fluid model of Altman et al. (1997).
///
/// Takes `mu_pps`, `lambda_pps`, `buffer_packets`, the delays as `tau1_s` and `tau2_s` or together as
/// `tau_s`, and perhaps `bw_in_pps`, `mode` (`auto`, `one` or `two` slow starts) and `rto_s`; gives
/// the fields of a [`Prediction`](altman::Prediction), with `throughput_with_timeout_pps` if `rto_s`
/// was given.
///
/// # Errors
/// The first key that is unknown, missing or out of range.
pub fn altman_predict(parameters: &str) -> Result<String, BadInput> {
    answer(parameters, |question: AltmanQuestion| {
        let path = question.path()?;
        let prediction = match question.mode {
            ModeChoice::Auto => altman::predict(&path),
            ModeChoice::One => altman::predict_in_mode(&path, Mode::OneSlowStart),
            ModeChoice::Two => altman::predict_in_mode(&path, Mode::TwoSlowStarts),
        };
        let mut answer = json!(prediction);
        if let Some(rto_s) = question.rto_s {
            answer["throughput_with_timeout_pps"] =
                json!(prediction.throughput_with_timeout(rto_s)?);
        }
        Ok(answer)
    })
}

/// The fluid model of Altman et al. (1997) backwards: one parameter from measurements.
///
/// Takes `parameter` (`mu`, `lambda`, `tau` or `buffer`), the others as in [`altman_predict`], and
/// `throughput_pps`, `rtt_s` or both, each with the half-width of its 95 % interval as
/// `throughput_ci_pps` and `rtt_ci_s` (1 % of the value if left out). Gives `status`, which is
/// `estimate` or `not identifiable`, and accordingly `estimate`, `low`, `high`, `validity` or
/// `cause`, `reason`, `solutions`; what does not apply is null.
///
/// # Errors
/// The first key that is unknown, missing or out of range.
pub fn altman_infer(parameters: &str) -> Result<String, BadInput> {
    answer(parameters, |question: InferQuestion| {
        let known = question.known()?;
        let measured = |value: Option<f64>, half_width: Option<f64>| {
            value.map(|value| Measured {
                value,
                half_width: half_width.unwrap_or(DEFAULT_HALF_WIDTH * value),
            })
        };
        let measurements = Measurements {
            throughput_pps: measured(question.throughput_pps, question.throughput_ci_pps),
            rtt_s: measured(question.rtt_s, question.rtt_ci_s),
        };
        Ok(match infer(question.parameter.into(), &known, &measurements)? {
            Outcome::Identified(inference) => identified(question.parameter, &inference),
            Outcome::NotIdentifiable(refusal) => refused(question.parameter, &refusal),
        })
    })
}

/// The response functions: throughput over loss rate and round-trip time.
///
/// Takes `loss_rate`, `rtt_s`, and perhaps `packets_per_ack` (1), `t_rto_s` (four round-trip times,
/// at least 1 s), `w_max_packets` (unlimited), `cubic_c` (0.4) and `cubic_beta` (0.7). Gives
/// `mathis_pps`, `reno_pps`, `pftk_pps`, `tfrc_pps` and `cubic_pps`, and of the laws of a window
/// `mathis_window_packets`, `reno_window_packets` and `cubic_window_packets`.
///
/// # Errors
/// The first key that is unknown, missing or out of range.
pub fn response(parameters: &str) -> Result<String, BadInput> {
    answer(parameters, |question: ResponseQuestion| {
        let ResponseQuestion { loss_rate: p, rtt_s, packets_per_ack: b, .. } = question;
        let t_rto_s = question.t_rto_s.unwrap_or_else(|| pftk::tfrc_timeout_s(rtt_s));
        let connection = pftk::Connection {
            rtt_s,
            t_rto_s,
            packets_per_ack: b,
            w_max_packets: question.w_max_packets.unwrap_or(f64::INFINITY),
        };
        let constants = cubic::Constants { c: question.cubic_c, beta: question.cubic_beta };
        let reno_window = reno::window_packets(p)?;
        Ok(json!({
            "mathis_pps": mathis::throughput_pps(rtt_s, p, b)?,
            "mathis_window_packets": mathis::window_packets(p, b)?,
            "reno_pps": reno_window / rtt_s,
            "reno_window_packets": reno_window,
            "pftk_pps": pftk::full_pps(p, &connection)?,
            "tfrc_pps": pftk::tfrc_pps(rtt_s, t_rto_s, p, b)?,
            "cubic_pps": cubic::throughput_pps(rtt_s, p, &constants)?,
            "cubic_window_packets": cubic::window_packets(rtt_s, p, &constants)?,
        }))
    })
}

/// The number of slow starts that a cycle is taken to have.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ModeChoice {
    /// As equation 26 says.
    #[default]
    Auto,
    /// One.
    One,
    /// Two.
    Two,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AltmanQuestion {
    mu_pps: f64,
    lambda_pps: f64,
    tau1_s: Option<f64>,
    tau2_s: Option<f64>,
    tau_s: Option<f64>,
    buffer_packets: f64,
    bw_in_pps: Option<f64>,
    #[serde(default)]
    mode: ModeChoice,
    rto_s: Option<f64>,
}

impl AltmanQuestion {
    fn path(&self) -> Result<Path, Refusal> {
        let (tau1_s, tau2_s) = delays(self.tau_s, self.tau1_s, self.tau2_s)?;
        Ok(Path::new(&Parameters {
            mu_pps: self.mu_pps,
            lambda_pps: self.lambda_pps,
            tau1_s,
            tau2_s,
            buffer_packets: self.buffer_packets,
            bw_in_pps: self.bw_in_pps,
        })?)
    }
}

/// The parameters that can be inferred, as people write them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Unknown {
    /// The bottleneck's rate.
    Mu,
    /// The exogenous rate.
    Lambda,
    /// The propagation delay.
    Tau,
    /// The buffer.
    Buffer,
}

impl Unknown {
    const fn word(self) -> &'static str {
        match self {
            Self::Mu => "mu",
            Self::Lambda => "lambda",
            Self::Tau => "tau",
            Self::Buffer => "buffer",
        }
    }
}

impl From<Unknown> for Parameter {
    fn from(unknown: Unknown) -> Self {
        match unknown {
            Unknown::Mu => Self::Mu,
            Unknown::Lambda => Self::Lambda,
            Unknown::Tau => Self::Tau,
            Unknown::Buffer => Self::Buffer,
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct InferQuestion {
    parameter: Unknown,
    mu_pps: Option<f64>,
    lambda_pps: Option<f64>,
    tau1_s: Option<f64>,
    tau2_s: Option<f64>,
    tau_s: Option<f64>,
    buffer_packets: Option<f64>,
    bw_in_pps: Option<f64>,
    throughput_pps: Option<f64>,
    throughput_ci_pps: Option<f64>,
    rtt_s: Option<f64>,
    rtt_ci_s: Option<f64>,
}

impl InferQuestion {
    fn known(&self) -> Result<Parameters, Refusal> {
        let field = |unknown: Unknown, name: &'static str, value: Option<f64>| match value {
            Some(value) => Ok(value),
            // Not read.
            None if self.parameter == unknown => Ok(0.0),
            None => Err(Refusal::missing(name)),
        };
        for (ci, half_width, name, value) in [
            ("throughput_ci_pps", self.throughput_ci_pps, "throughput_pps", self.throughput_pps),
            ("rtt_ci_s", self.rtt_ci_s, "rtt_s", self.rtt_s),
        ] {
            if half_width.is_some() && value.is_none() {
                return Err(Refusal::new(ci, format!("stands alone, expected `{name}` beside it")));
            }
        }
        let given = [self.tau_s, self.tau1_s, self.tau2_s].iter().any(Option::is_some);
        let (tau1_s, tau2_s) = if self.parameter == Unknown::Tau && !given {
            (0.0, 0.0)
        } else {
            delays(self.tau_s, self.tau1_s, self.tau2_s)?
        };
        Ok(Parameters {
            mu_pps: field(Unknown::Mu, "mu_pps", self.mu_pps)?,
            lambda_pps: field(Unknown::Lambda, "lambda_pps", self.lambda_pps)?,
            tau1_s,
            tau2_s,
            buffer_packets: field(Unknown::Buffer, "buffer_packets", self.buffer_packets)?,
            bw_in_pps: self.bw_in_pps,
        })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ResponseQuestion {
    loss_rate: f64,
    rtt_s: f64,
    #[serde(default = "every_packet")]
    packets_per_ack: f64,
    t_rto_s: Option<f64>,
    w_max_packets: Option<f64>,
    #[serde(default = "cubic_c")]
    cubic_c: f64,
    #[serde(default = "cubic_beta")]
    cubic_beta: f64,
}

const fn every_packet() -> f64 {
    1.0
}

fn cubic_c() -> f64 {
    cubic::Constants::default().c
}

fn cubic_beta() -> f64 {
    cubic::Constants::default().beta
}

/// τ₁ and τ₂ as given, or a whole τ split evenly.
fn delays(
    tau_s: Option<f64>,
    tau1_s: Option<f64>,
    tau2_s: Option<f64>,
) -> Result<(f64, f64), Refusal> {
    match (tau_s, tau1_s, tau2_s) {
        (Some(tau_s), None, None) if tau_s >= 0.0 => Ok((tau_s / 4.0, tau_s / 4.0)),
        (Some(tau_s), None, None) => {
            Err(Refusal::new("tau_s", format!("{tau_s}, expected seconds, at least 0")))
        }
        (Some(_), ..) => Err(Refusal::new(
            "tau_s",
            "stands beside `tau1_s` or `tau2_s`, expected one or the other",
        )),
        (None, Some(tau1_s), Some(tau2_s)) => Ok((tau1_s, tau2_s)),
        (None, Some(_), None) => Err(Refusal::missing("tau2_s")),
        (None, ..) => Err(Refusal::missing("tau1_s")),
    }
}

fn candidate(found: &Candidate) -> Value {
    json!(found)
}

fn identified(parameter: Unknown, inference: &Inference) -> Value {
    let fit = &inference.fit;
    json!({
        "status": "estimate",
        "parameter": parameter.word(),
        "estimate": fit.estimate,
        "low": fit.low,
        "high": fit.high,
        "residual": fit.residual,
        "solutions": [candidate(fit)],
        "cause": null,
        "reason": null,
        "validity": altman::predict(&inference.path).validity,
    })
}

fn refused(parameter: Unknown, refusal: &NotIdentifiable) -> Value {
    let cause = match refusal.cause {
        Cause::Flat => "flat",
        Cause::SeveralSolutions => "several solutions",
        Cause::NoSolution => "no solution",
    };
    json!({
        "status": "not identifiable",
        "parameter": parameter.word(),
        "estimate": null,
        "low": null,
        "high": null,
        "residual": null,
        "solutions": refusal.solutions.iter().map(candidate).collect::<Vec<_>>(),
        "cause": cause,
        "reason": refusal.reason,
        "validity": null,
    })
}

/// A key that cannot be used, and why.
struct Refusal {
    key: String,
    message: String,
}

impl Refusal {
    fn new(key: &str, message: impl Into<String>) -> Self {
        Self { key: key.to_owned(), message: message.into() }
    }

    fn missing(key: &str) -> Self {
        Self::new(key, "missing, expected a number")
    }
}

impl From<InvalidParameter> for Refusal {
    fn from(error: InvalidParameter) -> Self {
        let InvalidParameter { parameter, value, expected } = error;
        let message = if value.is_nan() {
            format!("missing, expected {expected}")
        } else {
            format!("{value}, expected {expected}")
        };
        // The names of `theory` for what is written otherwise here.
        let key = match parameter {
            "throughput_pps.half_width" => "throughput_ci_pps",
            "rtt_s.half_width" => "rtt_ci_s",
            "c" => "cubic_c",
            "beta" => "cubic_beta",
            name => name,
        };
        Self::new(key, message)
    }
}

/// One answer for an object, a list of answers for a list of them.
fn answer<Q: DeserializeOwned + JsonSchema>(
    text: &str,
    one: impl Fn(Q) -> Result<Value, Refusal>,
) -> Result<String, BadInput> {
    let refuse = |prefix: String, refusal: Refusal| {
        let dot = if prefix.is_empty() { "" } else { "." };
        BadInput::new(format_args!("{prefix}{dot}{}: {}", refusal.key, refusal.message))
    };
    let value = if text.trim_start().starts_with('[') {
        value_from_json::<Vec<Q>>(text)?
            .into_iter()
            .enumerate()
            .map(|(i, question)| one(question).map_err(|e| refuse(element("", i), e)))
            .collect::<Result<Value, _>>()?
    } else {
        one(value_from_json(text)?).map_err(|error| refuse(String::new(), error))?
    };
    Ok(value.to_string())
}

#[cfg(test)]
mod tests;
