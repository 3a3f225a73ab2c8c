//! A short transfer through each law, in namespaces of its own.

use ackclock_kernel::Asked;
use serde::Serialize;

use crate::SweepError;

/// The result of a law's trial.
#[derive(Clone, Debug, Serialize)]
pub struct Trial {
    /// The word.
    pub word: String,
    /// The goodput.
    pub goodput_bps: f64,
    /// Segments sent again.
    pub segments_retransmitted: u64,
    /// True if the path kept its promises.
    pub valid: bool,
    /// The promises that it broke.
    pub doubts: Vec<String>,
    /// The law, as a run's report has it.
    pub law: serde_json::Value,
    /// True if data went through, and the law kept to the one in Rust, where it has one.
    pub passed: bool,
}

/// Loads each law, sends through it, and removes it.
#[cfg(target_os = "linux")]
pub(super) fn try_all(
    laws: &[Asked],
    seconds: f64,
    cancelled: &dyn Fn() -> bool,
) -> Result<Vec<Trial>, SweepError> {
    laws.iter().map(|law| try_one(law, seconds, cancelled)).collect()
}

/// Refuses: laws in the kernel need Linux.
#[cfg(not(target_os = "linux"))]
pub(super) fn try_all(_: &[Asked], _: f64, _: &dyn Fn() -> bool) -> Result<Vec<Trial>, SweepError> {
    Err(SweepError::Machine("laws in the kernel need Linux".to_owned()))
}

/// The path: 20 Mbit/s, 40 ms and a buffer of half a product, so that every law meets losses.
#[cfg(target_os = "linux")]
fn scenario(word: &str, seconds: f64) -> String {
    format!(
        r#"{{ "title": "trial of {word} in the kernel", "duration": "{seconds} s",
            "topology": {{ "kind": "dumbbell",
                "bottleneck": {{ "rate": "20 Mbit/s", "delay": "18 ms",
                    "queue": {{ "kind": "droptail", "limit": "34 packets" }} }},
                "access": {{ "rate": "1 Gbit/s", "delay": "1 ms" }} }},
            "flow": [{{ "name": "trial", "variant": "{word}", "profile": "linux" }}] }}"#
    )
}

#[cfg(target_os = "linux")]
fn try_one(asked: &Asked, seconds: f64, cancelled: &dyn Fn() -> bool) -> Result<Trial, SweepError> {
    use ackclock_live::Options;

    use super::{HeldLaws, refused};
    use crate::run::live::live_error;

    // A word alone has no numbers, which a sender's name has.
    let parsed = crate::variant_name(&asked.word, "linux");
    let word = match (&parsed, asked.settings) {
        (Err(_), Some([kp, 0, ..])) => format!("{}({})", asked.word, kp / 1000),
        (Err(_), Some([kp, kd, ..])) => format!("{}({},{kd})", asked.word, kp / 1000),
        _ => asked.word.clone(),
    };
    let scenario = crate::from_json(&scenario(&word, seconds)).map_err(SweepError::from)?;
    let ends = ackclock_live::ends(&scenario, [None; 2]);
    let laws = ackclock_live::sender_laws(&scenario, &ends)
        .map_err(|error| crate::BadInput::new(format_args!("{}: {}", error.key, error.message)))?;
    let law = laws.into_iter().next();
    let word = law.ok_or_else(|| SweepError::Internal("a trial has no sender".to_owned()))?.word;
    let mut held = HeldLaws::default();
    // The law is loaded anew, whichever module the kernel has and whichever law somebody with more rights has loaded.
    held.add(word, ackclock_kernel::hold(asked).map_err(refused)?);
    let options = Options { laws: held.laws(), ..Options::default() };
    let lived = ackclock_live::run(&scenario, &options, cancelled).map_err(live_error)?;
    let law = held.finish().into_iter().next().unwrap_or_default();
    let flow = lived.run.flows.first();
    let goodput_bps = flow.map_or(0.0, |flow| flow.goodput_bps);
    Ok(Trial {
        word: asked.word.clone(),
        goodput_bps,
        segments_retransmitted: flow.map_or(0, |flow| flow.segments_retransmitted),
        valid: lived.report.valid,
        doubts: lived.report.doubts,
        passed: goodput_bps > 0.0
            && law.records > 0
            && (!asked.law.wraps.is_empty() || law.apart_acks == Some(0)),
        law: serde_json::to_value(law).unwrap_or_default(),
    })
}
