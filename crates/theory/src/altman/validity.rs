//! Validity: the limits within which the fluid model is to be believed.

use serde::Serialize;

use super::{Cycle, Mode, Path};

/// The source link should be faster than μ − λ by this share. The paper reports a growing error as
/// that link's rate falls "below" μ − λ without a number; a tenth is a choice of this crate.
pub const SOURCE_LINK_MARGIN: f64 = 0.1;

/// Largest exogenous share λ/μ taken as tested: the paper's good cases reach 0.37, its bad one is
/// 0.83; a half is a choice of this crate.
pub const MAX_EXOGENOUS_SHARE: f64 = 0.5;

/// Largest relative error in the rate of congestion avoidance from the term that the paper neglects
/// between equations 16 and 17; a choice of this crate.
pub const MAX_NEGLECTED_SHARE: f64 = 0.1;

/// Smallest `W_max`, packets, of which a lost one can be followed by three duplicate ACKs.
pub const MIN_W_MAX: f64 = 4.0;

/// Largest share of the mean round-trip time that may be owed to the negative queue of equation 23
/// just after W̃; a choice of this crate.
pub const MAX_NEGATIVE_QUEUE_EFFECT: f64 = 0.01;

/// A β within this share of the critical value leaves the mode in doubt, and the prediction jumps
/// between modes; a choice of this crate.
pub const CRITERION_MARGIN: f64 = 0.05;

/// Largest [gap](super::Prediction::third_slow_start_gap_packets), packets, at which a third slow
/// start is suspected; a heuristic of this crate.
pub const THIRD_SLOW_START_GAP: f64 = 2.0;

/// The validity of a prediction, and the reasons against it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Validity {
    /// No reason against it was found.
    pub ok: bool,
    /// One sentence for each reason against it, numbers included.
    pub reasons: Vec<String>,
}

impl Validity {
    pub(super) fn of(path: &Path, cycle: &Cycle) -> Self {
        let checks = [
            source_link(path),
            exogenous_share(path),
            neglected_growth(path),
            small_windows(path),
            near_criterion(path),
            forced_mode(path, cycle.mode),
            overlapping_mini_cycles(path, cycle.mode),
            three_slow_starts(path, cycle.mode),
            negative_queue(path, cycle),
        ];
        let reasons: Vec<_> = checks.into_iter().flatten().collect();
        Self { ok: reasons.is_empty(), reasons }
    }
}

fn source_link(path: &Path) -> Option<String> {
    let bw_in_pps = path.parameters().bw_in_pps?;
    let needed = (1.0 + SOURCE_LINK_MARGIN) * path.available_pps();
    (bw_in_pps < needed).then(|| {
        format!(
            "The source link of {bw_in_pps} packets/s is itself a bottleneck: the model needs it \
             above {needed:.4} packets/s, {:.0} % over mu - lambda.",
            SOURCE_LINK_MARGIN * 100.0
        )
    })
}

fn exogenous_share(path: &Path) -> Option<String> {
    let share = path.exogenous_share();
    (share > MAX_EXOGENOUS_SHARE).then(|| {
        format!(
            "Exogenous traffic takes {share:.3} of the bottleneck, above {MAX_EXOGENOUS_SHARE}: a \
             FIFO queue no longer shares it in proportion to the input rates."
        )
    })
}

fn neglected_growth(path: &Path) -> Option<String> {
    // Equation 16 with dW/dack = 1/W, at the smallest window of most of the avoidance phase.
    let neglected = path.lambda_pps() / (path.available_pps() * (path.w_th() + 1.0));
    (neglected > MAX_NEGLECTED_SHARE).then(|| {
        format!(
            "At the threshold of {:.2} packets the window's own growth, which the model neglects, \
             raises the throughput by {:.0} %.",
            path.w_th(),
            neglected * 100.0
        )
    })
}

fn small_windows(path: &Path) -> Option<String> {
    let mut small = Vec::new();
    if path.w_max() < MIN_W_MAX {
        small.push(format!("W_max = {:.2} is below {MIN_W_MAX}", path.w_max()));
    }
    let two = path.mode() == Mode::TwoSlowStarts;
    let windows = [("W~", path.w_tilde(), true), ("the second threshold", path.w_b() / 2.0, two)];
    for (name, packets, applies) in windows {
        if applies && packets < 1.0 {
            small.push(format!("{name} = {packets:.2} is below 1 and was taken as 1"));
        }
    }
    (!small.is_empty())
        .then(|| format!("The windows are too small for a fluid: {}.", small.join("; ")))
}

fn near_criterion(path: &Path) -> Option<String> {
    let (beta, critical) = (path.beta(), path.critical_beta());
    ((beta / critical - 1.0).abs() < CRITERION_MARGIN).then(|| {
        format!(
            "The normalised buffer {beta:.4} is within {:.0} % of the critical {critical:.4}: the \
             cycle may have one slow start or two.",
            CRITERION_MARGIN * 100.0
        )
    })
}

fn forced_mode(path: &Path, mode: Mode) -> Option<String> {
    (path.mode() != mode).then(|| {
        format!(
            "The normalised buffer {:.4} against the critical {:.4} asks for {} slow start(s) per \
             cycle, not {}.",
            path.beta(),
            path.critical_beta(),
            path.mode().slow_starts(),
            mode.slow_starts()
        )
    })
}

fn overlapping_mini_cycles(path: &Path, mode: Mode) -> Option<String> {
    // Only the loss in slow start rests on the condition; a cycle with one slow start does not.
    let busy_s = 2.0 * path.buffer_packets() / path.mu_pps();
    (mode == Mode::TwoSlowStarts && busy_s >= path.tau_s()).then(|| {
        format!(
            "A full buffer needs {busy_s:.4} s to build up and empty, no less than the propagation \
             delay of {:.4} s, so that bursts of successive rounds overlap.",
            path.tau_s()
        )
    })
}

/// Half of the window at which the loss of the first slow start is detected, packets.
///
/// The paper takes `W_b`/2, but detection comes a round after the overflow, when the window is about
/// 2 `W_b` or, if congestion avoidance begins before that, hardly more than `W_th`.
fn detected_threshold(path: &Path) -> f64 {
    (2.0 * path.w_b()).min(path.w_th()) / 2.0
}

/// The distance from the end of the second slow start to the next overflow, packets; none with one
/// slow start.
pub(super) fn third_slow_start_gap(path: &Path, mode: Mode) -> Option<f64> {
    (mode == Mode::TwoSlowStarts).then(|| path.w_b() - detected_threshold(path))
}

/// A heuristic: the paper has no criterion, and one published case (table 2, case 3) to judge by.
///
/// A gap of a few packets is necessary and far from sufficient, since the phases of the bursts
/// decide. The two further conditions halve the false alarms and miss most true ones: congestion
/// avoidance begins before the detection, and an exogenous packet arrives while the buffer fills.
fn three_slow_starts(path: &Path, mode: Mode) -> Option<String> {
    let gap = third_slow_start_gap(path, mode)?;
    let exogenous = path.exogenous_share() * path.buffer_packets();
    let avoidance_first = path.w_th() < 2.0 * path.w_b();
    (gap <= THIRD_SLOW_START_GAP && avoidance_first && exogenous >= 1.0).then(|| {
        format!(
            "A third slow start is suspected (a heuristic): the second may end at {:.2} packets, \
             a burst of {:.2} overflows the buffer, and {exogenous:.2} exogenous packets arrive \
             while it fills.",
            detected_threshold(path),
            path.w_b()
        )
    })
}

fn negative_queue(path: &Path, cycle: &Cycle) -> Option<String> {
    let empty_rtt_s = path.empty_rtt_s();
    let missing: f64 = cycle
        .periods
        .iter()
        .map(|period| period.packets * (empty_rtt_s - period.mean_rtt_s).max(0.0))
        .sum();
    let share = missing / (cycle.packets() * cycle.rtt_s() + missing);
    (share > MAX_NEGATIVE_QUEUE_EFFECT).then(|| {
        format!(
            "The published queue of a growing slow start is negative at first, which lowers the \
             mean round-trip time by {:.1} %.",
            share * 100.0
        )
    })
}

#[cfg(test)]
mod tests;
