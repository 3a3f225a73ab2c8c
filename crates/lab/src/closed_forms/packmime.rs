//! PackMime-HTTP's draws beside the reference, for those who have JSON.

use ackclock_app::{
    Exchange, PACKMIME_QUANTITIES, PackMimeArrivals, PackMimeMemory, PackMimeSessions,
    packmime_reference,
};
use ackclock_units::random::Streams;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::BadInput;
use crate::SweepError;
use ackclock_input::value_from_json;

/// The probabilities of the quantiles in the answer.
const PROBABILITIES: [f64; 9] = [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/// Connections of a run from which one is taken: the first of every run is a download.
const TAKEN: u64 = 6;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Question {
    /// Connections per second.
    rate_per_s: f64,
    /// Values to draw.
    draws: u64,
    /// Seed of the first.
    #[serde(default)]
    seed: u64,
    /// The probabilities of the quantiles in the answer.
    #[serde(default)]
    probabilities: Option<Vec<f64>>,
}

/// Draws of the model's quantities beside the quantiles of ns-2.35's generators.
///
/// Takes `rate_per_s`, `draws` and perhaps `seed` (0) and `probabilities`. Every value is drawn in a run of its own, so that
/// they are independent of one another, as those of one run are not. Gives `probabilities` and, in
/// `quantities`, for each: `quantity`, `unit`, `n`, `drawn` and `reference` (quantiles; the latter null
/// where there is no table), `distance` (of Kolmogorov and Smirnov) and `critical`, which one sample of a
/// thousand exceeds; and of the connections `mean_objects`, `persistent_share`, `download_share`.
///
/// # Errors
/// The first key that is unknown, missing or out of range; a cancellation, after which `cancelled` answers true.
pub fn packmime(parameters: &str, cancelled: impl Fn() -> bool) -> Result<String, SweepError> {
    let question: Question = value_from_json(parameters)?;
    let rate = question.rate_per_s;
    if !(rate.is_finite() && rate > 0.0) {
        return Err(
            BadInput::new(format_args!("rate_per_s: {rate}, expected a number above 0")).into()
        );
    }
    if !(100..=10_000_000).contains(&question.draws) {
        return Err(BadInput::new(format_args!(
            "draws: {}, expected a number from 100 to 10,000,000",
            question.draws
        ))
        .into());
    }
    let at = question.probabilities.unwrap_or_else(|| PROBABILITIES.to_vec());
    if let Some(p) = at.iter().find(|p| !(0.0..1.0).contains(*p)) {
        return Err(BadInput::new(format_args!(
            "probabilities: {p}, expected numbers from 0 to below 1"
        ))
        .into());
    }
    let mut drawn: Vec<Vec<f64>> = vec![Vec::new(); PACKMIME_QUANTITIES.len()];
    let (mut gaps, mut rtts) = (Vec::new(), Vec::new());
    let (mut objects, mut persistent, mut downloads) = (0, 0, 0);
    let mut exchanges: Vec<Exchange> = Vec::new();
    for n in 0..question.draws {
        if n % LOOK_EVERY == 0 && cancelled() {
            return Err(SweepError::Cancelled);
        }
        let seed = question.seed.wrapping_add(n);
        let mut model =
            PackMimeSessions::new(rate, true, PackMimeMemory::Long, Some(TAKEN), seed, "web");
        let streams = Streams::new(seed, "connections");
        let mut last = None;
        for k in 0..TAKEN {
            let mut random = streams.of(k);
            last = Some((model.next_connection(&mut random), random));
        }
        let Some((connection, mut random)) = last else { continue };
        let validates = connection.validates_cache;
        let parts =
            [connection.client_rtt, connection.server_rtt].map(|rtt| rtt.as_secs_f64() * 1e3);
        connection.exchanges_into(&mut random, &mut exchanges);
        let first = exchanges[0];
        drawn[0].push(first.request.get() as f64);
        drawn[1 + usize::from(validates)].push(first.response.get() as f64);
        drawn[3].push(parts[0]);
        drawn[4].push(parts[1]);
        drawn[5].push(first.server_delay.as_secs_f64() * 1e3);
        rtts.push(parts[0] + parts[1]);
        objects += exchanges.len();
        persistent += u64::from(exchanges.len() > 1);
        downloads += u64::from(!validates);
        let gap = PackMimeArrivals::new(rate, PackMimeMemory::Long, Some(1), seed, "web").gap();
        gaps.push(gap.as_secs_f64() * 1e3);
    }
    let mut rows = Vec::new();
    for (name, sample) in PACKMIME_QUANTITIES.iter().zip(&mut drawn) {
        let (quantity, unit) = name.rsplit_once('_').unwrap_or((name, ""));
        rows.push(row(quantity, unit, sample, &packmime_reference(name), &at));
    }
    rows.push(row("rtt", "ms", &mut rtts, &[], &at));
    rows.push(row("arrival_gap", "ms", &mut gaps, &[], &at));
    let share = |count: u64| count as f64 / question.draws as f64;
    let below = rtts.partition_point(|rtt| *rtt < 50.0) as u64;
    Ok(json!({
        "rate_per_s": rate,
        "probabilities": at,
        "quantities": rows,
        "mean_objects": objects as f64 / question.draws as f64,
        "persistent_share": share(persistent),
        "download_share": share(downloads),
        "rtt_below_50_ms_share": share(below),
    })
    .to_string())
}

fn row(quantity: &str, unit: &str, sample: &mut [f64], law: &[(f64, f64)], at: &[f64]) -> Value {
    sample.sort_by(f64::total_cmp);
    let n = sample.len();
    let drawn: Vec<f64> = at.iter().map(|p| quantile(sample, *p)).collect();
    let (mut reference, mut distance, mut critical) = (Value::Null, Value::Null, Value::Null);
    if !law.is_empty() {
        let value = |p: &f64| law[law.partition_point(|(q, _)| *q < p - 1e-9).min(law.len() - 1)].1;
        reference = json!(at.iter().map(value).collect::<Vec<_>>());
        let quantum = if unit == "bytes" { 1.0 } else { 1e-6 };
        distance = json!(distance_from(sample, law, quantum));
        critical = json!(1.949 / (n as f64).sqrt());
    }
    json!({
        "quantity": quantity,
        "unit": unit,
        "n": n,
        "mean": sample.iter().sum::<f64>() / n.max(1) as f64,
        "drawn": drawn,
        "reference": reference,
        "distance": distance,
        "critical": critical,
    })
}

/// Draws between two looks at whether to go on.
const LOOK_EVERY: u64 = 1024;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place within the sample"
)]
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let place = (p * sorted.len() as f64) as usize;
    sorted.get(place.min(sorted.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}

/// The distance of Kolmogorov and Smirnov at the points of `law`, between values that were cut to a
/// multiple of `quantum` and those that were not.
fn distance_from(sorted: &[f64], law: &[(f64, f64)], quantum: f64) -> f64 {
    let n = sorted.len() as f64;
    law.iter()
        .map(|(p, value)| {
            let value = (value / quantum).floor() * quantum;
            let low = sorted.partition_point(|x| *x < value) as f64 / n;
            let high = sorted.partition_point(|x| *x < value + quantum) as f64 / n;
            (low - p).max(p - high).max(0.0)
        })
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_the_references() {
        let answer: Value = serde_json::from_str(
            &packmime(r#"{"rate_per_s": 100, "draws": 20000}"#, || false).unwrap(),
        )
        .unwrap();
        for row in answer["quantities"].as_array().unwrap() {
            if let Some(distance) = row["distance"].as_f64() {
                assert!(distance < row["critical"].as_f64().unwrap(), "{row}");
            }
        }
        // The reference's round trip: median 68 ms, mean 108 ms; 20,000 draws of sd 250 ms or so.
        let rtt = &answer["quantities"][6];
        assert!((rtt["drawn"][3].as_f64().unwrap() - 68.0).abs() < 2.0, "{rtt}");
        assert!((rtt["mean"].as_f64().unwrap() - 108.0).abs() < 7.0, "{rtt}");
        assert!((answer["mean_objects"].as_f64().unwrap() - 1.198).abs() < 0.02);
    }

    #[test]
    fn it_ends_when_it_is_asked_to() {
        let error = packmime(r#"{"rate_per_s": 100, "draws": 10000000}"#, || true).unwrap_err();
        assert_eq!(error, SweepError::Cancelled);
    }

    #[test]
    fn bad_questions_get_one_line() {
        let said = |question: &str| packmime(question, || false).unwrap_err().to_string();
        assert!(said(r#"{"rate_per_s": 0, "draws": 1000}"#).starts_with("rate_per_s: 0"));
        assert!(said(r#"{"rate_per_s": 50, "draws": 1}"#).starts_with("draws: 1, expected"));
        assert!(said(r#"{"rate": 50, "draws": 1000}"#).contains("rate_per_s"));
    }
}
