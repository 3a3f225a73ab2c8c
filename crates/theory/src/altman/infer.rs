//! The model run backwards: from measured throughput and round-trip time to one unknown parameter.
//!
//! The paper proposes this for λ; μ, B and τ follow in the same way. The parameter that fits best
//! in weighted least squares is sought on a fine grid, branch by branch, since the prediction jumps
//! where the cycle changes from two slow starts to one. The interval is the profile of χ² at its
//! minimum + [`CHI_SQUARE_95`]. An answer that the data do not support is refused with its reason.

use serde::Serialize;

use super::path::MAX_PACKETS;
use super::{Cycle, Mode, Parameters, Path};
use crate::error::{InvalidParameter, positive, require};

/// 95 % point of χ² with one degree of freedom.
pub const CHI_SQUARE_95: f64 = 3.84;

/// Points of the grid on which each admissible range is scanned.
const GRID: u32 = 4000;

/// Halvings of a grid cell: enough to reach neighbouring floating-point numbers.
const HALVINGS: u32 = 60;

/// The parameter to be inferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Parameter {
    /// The bottleneck's rate μ, packets/s: λ + 10⁻³ to λ + 10⁸.
    Mu,
    /// The exogenous rate λ, packets/s: 0 to just below μ.
    Lambda,
    /// The propagation delay τ = 2(τ₁ + τ₂), s: 10⁻⁶ to 10⁴. The ratio τ₁ : τ₂ is kept, and taken
    /// as 1 : 1 if both are given as 0.
    Tau,
    /// The buffer B, packets: 0.1 to 10⁶.
    Buffer,
}

/// A measured mean and the half-width of its 95 % confidence interval, in the same unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measured {
    /// The mean.
    pub value: f64,
    /// Half of the width of its 95 % confidence interval.
    pub half_width: f64,
}

/// Measurements of the reference connection; at least one of the two.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Measurements {
    /// Mean throughput, packets/s.
    pub throughput_pps: Option<Measured>,
    /// Mean round-trip time, s.
    pub rtt_s: Option<Measured>,
}

/// One range of values that explains the measurements.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Candidate {
    /// The value that fits best, in the parameter's unit.
    pub estimate: f64,
    /// Lower end of its 95 % interval, or of the admissible range.
    pub low: f64,
    /// Upper end of its 95 % interval, or of the admissible range.
    pub high: f64,
    /// χ² at the estimate: the squared misfits in units of standard errors, summed.
    pub residual: f64,
}

/// An inferred parameter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inference {
    /// Which parameter.
    pub parameter: Parameter,
    /// Its estimate, interval and misfit.
    pub fit: Candidate,
    /// The path with the estimate in it: predict on it to learn whether the model is valid there.
    pub path: Path,
}

/// Why a measurement does not determine the parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The prediction hardly depends on the parameter, so that its interval leaves the admissible range.
    Flat,
    /// Several separate ranges of the parameter explain the measurement.
    SeveralSolutions,
    /// No admissible value explains the measurement.
    NoSolution,
}

/// A parameter that the measurements do not determine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NotIdentifiable {
    /// Which parameter.
    pub parameter: Parameter,
    /// The kind of failure.
    pub cause: Cause,
    /// One sentence for people, numbers included.
    pub reason: String,
    /// Every range that explains the measurement, ascending; with [`Cause::NoSolution`] the one
    /// value that comes closest.
    pub solutions: Vec<Candidate>,
}

/// The answer of an inversion.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// One range of values explains the measurements.
    Identified(Inference),
    /// The measurements do not determine the parameter.
    NotIdentifiable(NotIdentifiable),
}

/// Infers one parameter of a path from measurements of the reference connection.
///
/// The field of `known` that holds `parameter` is not read (for τ: only the ratio of its two).
///
/// # Errors
/// One of the other parameters is out of range, nothing was measured, or a measurement is not a
/// finite number above 0 with a half-width above a billionth of it.
pub fn infer(
    parameter: Parameter,
    known: &Parameters,
    measurements: &Measurements,
) -> Result<Outcome, InvalidParameter> {
    let search = Search::new(parameter, known, measurements)?;
    let candidates = search.candidates();
    let refuse = |cause, reason, solutions| {
        Ok(Outcome::NotIdentifiable(NotIdentifiable { parameter, cause, reason, solutions }))
    };
    let least = candidates.iter().copied().min_by(|a, b| a.residual.total_cmp(&b.residual));
    let Some(best) = least else {
        let reason = format!("No value of {parameter:?} gives a path.");
        return refuse(Cause::NoSolution, reason, candidates);
    };
    if best.residual > CHI_SQUARE_95 {
        let reason = format!(
            "No value of {parameter:?} in {:.4e} to {:.4e} explains the measurement: the closest, \
             {:.4e}, misses it by a chi-square of {:.3e} against {CHI_SQUARE_95}.",
            search.value(0.0),
            search.value(1.0),
            best.estimate,
            best.residual
        );
        return refuse(Cause::NoSolution, reason, vec![best]);
    }
    if candidates.len() > 1 {
        let ranges: Vec<_> = candidates
            .iter()
            .map(|found| {
                format!("{:.4e} ({:.4e} to {:.4e})", found.estimate, found.low, found.high)
            })
            .collect();
        let reason = format!(
            "{} separate values of {parameter:?} explain the measurement: {}.",
            candidates.len(),
            ranges.join(", ")
        );
        return refuse(Cause::SeveralSolutions, reason, candidates);
    }
    if search.leaves_range(&best) {
        let reason = format!(
            "The measurement depends too little on {parameter:?}: every value from {:.4e} to \
             {:.4e} explains it within its uncertainty, to the end of the admissible range.",
            best.low, best.high
        );
        return refuse(Cause::Flat, reason, candidates);
    }
    let path = Path::new(&search.with(best.estimate))?;
    Ok(Outcome::Identified(Inference { parameter, fit: best, path }))
}

/// A trial value, by its place in the admissible range.
#[derive(Debug, Clone, Copy)]
struct Trial {
    /// Place in the range, 0 to 1.
    place: f64,
    mode: Mode,
    chi_square: f64,
}

struct Search<'a> {
    parameter: Parameter,
    known: &'a Parameters,
    measurements: &'a Measurements,
}

impl<'a> Search<'a> {
    fn new(
        parameter: Parameter,
        known: &'a Parameters,
        measurements: &'a Measurements,
    ) -> Result<Self, InvalidParameter> {
        let throughput = measurements.throughput_pps;
        let pairs = [
            ("throughput_pps", "throughput_pps.half_width", throughput),
            ("rtt_s", "rtt_s.half_width", measurements.rtt_s),
        ];
        for (name, half_width_name, measured) in pairs {
            if let Some(Measured { value, half_width }) = measured {
                positive(name, value)?;
                let resolved = half_width.is_finite() && half_width > 1e-9 * value;
                require(half_width_name, half_width, resolved, || {
                    format!("a finite number above {:e}, a billionth of the mean", 1e-9 * value)
                })?;
            }
        }
        if throughput.is_none() && measurements.rtt_s.is_none() {
            return Err(InvalidParameter {
                parameter: "measurements",
                value: f64::NAN,
                expected: "a throughput, a round-trip time, or both".into(),
            });
        }
        let search = Self { parameter, known, measurements };
        // The known parameters are in range if they are beside an unknown one that is.
        let stand_in = match parameter {
            Parameter::Mu => MAX_PACKETS,
            Parameter::Lambda | Parameter::Tau | Parameter::Buffer => search.value(0.0),
        };
        Path::new(&search.with(stand_in))?;
        Ok(search)
    }

    fn value(&self, place: f64) -> f64 {
        match self.parameter {
            Parameter::Lambda => self.known.mu_pps * (1.0 - 1e-6) * place,
            Parameter::Mu => self.known.lambda_pps + logarithmic(1e-3, 1e8, place),
            Parameter::Tau => logarithmic(1e-6, 1e4, place),
            Parameter::Buffer => logarithmic(0.1, 1e6, place),
        }
    }

    fn with(&self, value: f64) -> Parameters {
        let mut parameters = *self.known;
        match self.parameter {
            Parameter::Lambda => parameters.lambda_pps = value,
            Parameter::Mu => parameters.mu_pps = value,
            Parameter::Buffer => parameters.buffer_packets = value,
            Parameter::Tau => {
                let whole = self.known.tau1_s + self.known.tau2_s;
                let first = if whole > 0.0 { self.known.tau1_s / whole } else { 0.5 };
                parameters.tau1_s = value / 2.0 * first;
                parameters.tau2_s = value / 2.0 * (1.0 - first);
            }
        }
        parameters
    }

    fn trial(&self, place: f64) -> Trial {
        let Ok(path) = Path::new(&self.with(self.value(place))) else {
            return Trial { place, mode: Mode::OneSlowStart, chi_square: f64::INFINITY };
        };
        let mode = path.mode();
        let cycle = Cycle::of(&path, mode);
        let misfit = |measured: Option<Measured>, predicted: f64| {
            measured.map_or(0.0, |Measured { value, half_width }| {
                let deviation = (predicted - value) / half_width;
                // The half-width is √3.84 standard errors.
                CHI_SQUARE_95 * deviation * deviation
            })
        };
        let chi_square = misfit(self.measurements.throughput_pps, cycle.throughput_pps())
            + misfit(self.measurements.rtt_s, cycle.rtt_s());
        Trial { place, mode, chi_square }
    }

    /// Every range of values within `CHI_SQUARE_95` of the best, ascending.
    fn candidates(&self) -> Vec<Candidate> {
        let branches = self.branches();
        let least = branches.iter().flatten().map(|trial| trial.chi_square);
        let level = least.fold(f64::INFINITY, f64::min) + CHI_SQUARE_95;
        let mut candidates = Vec::new();
        let mut open: Option<Candidate> = None;
        for trials in branches {
            let mut outside = None;
            for (i, &trial) in trials.iter().enumerate() {
                if trial.chi_square > level {
                    candidates.extend(open.take());
                    outside = Some(trial);
                    continue;
                }
                let (estimate, residual) = (self.value(trial.place), trial.chi_square);
                let found = open.get_or_insert_with(|| {
                    let low = self.edge(trial, outside, level);
                    Candidate { estimate, low, high: estimate, residual }
                });
                if residual < found.residual {
                    (found.estimate, found.residual) = (estimate, residual);
                }
                let beyond = trials.get(i + 1).copied().filter(|next| next.chi_square > level);
                found.high = self.edge(trial, beyond, level);
            }
        }
        candidates.extend(open);
        candidates
    }

    /// The grid, split where the mode changes, with each branch's end points and local minima added.
    fn branches(&self) -> Vec<Vec<Trial>> {
        let mut branches = Vec::new();
        let mut last = self.trial(0.0);
        let mut branch = vec![last];
        for i in 1..=GRID {
            let next = self.trial(f64::from(i) / f64::from(GRID));
            if next.mode != last.mode {
                let (left, right) = self.bisect(last, next, |trial| trial.mode == last.mode);
                branch.push(left);
                branches.push(std::mem::replace(&mut branch, vec![right]));
            }
            branch.push(next);
            last = next;
        }
        branches.push(branch);
        for branch in &mut branches {
            self.refine(branch);
        }
        branches
    }

    /// Adds the minimum near each grid point that is lower than its neighbours.
    fn refine(&self, branch: &mut Vec<Trial>) {
        let mut minima = Vec::new();
        for (i, trial) in branch.iter().enumerate() {
            let before = branch[i.saturating_sub(1)];
            let after = branch[(i + 1).min(branch.len() - 1)];
            let below = |other: Trial| trial.chi_square <= other.chi_square;
            if below(before) && below(after) && before.place < after.place {
                minima.push(self.golden_section(before.place, after.place));
            }
        }
        branch.extend(minima);
        branch.sort_by(|a, b| a.place.total_cmp(&b.place));
    }

    /// The least χ² between two places, one minimum between them assumed.
    fn golden_section(&self, mut low: f64, mut high: f64) -> Trial {
        // 1/φ
        let ratio = 0.618_033_988_749_894_9;
        let mut left = self.trial(high - ratio * (high - low));
        let mut right = self.trial(low + ratio * (high - low));
        for _ in 0..HALVINGS {
            if left.chi_square <= right.chi_square {
                (high, right) = (right.place, left);
                left = self.trial(high - ratio * (high - low));
            } else {
                (low, left) = (left.place, right);
                right = self.trial(low + ratio * (high - low));
            }
        }
        if left.chi_square <= right.chi_square { left } else { right }
    }

    /// The value at which χ² crosses `level`, or the inner one if there is nothing beyond it.
    fn edge(&self, inside: Trial, outside: Option<Trial>, level: f64) -> f64 {
        let place = outside.map_or(inside.place, |outside| {
            let accepted = |trial: &Trial| trial.chi_square <= level;
            self.bisect(inside, outside, accepted).0.place
        });
        self.value(place)
    }

    /// The last trial that has a property and the first that lacks it, given one of each.
    fn bisect(
        &self,
        mut with: Trial,
        mut without: Trial,
        property: impl Fn(&Trial) -> bool,
    ) -> (Trial, Trial) {
        for _ in 0..HALVINGS {
            let middle = self.trial(f64::midpoint(with.place, without.place));
            if property(&middle) {
                with = middle;
            } else {
                without = middle;
            }
        }
        (with, without)
    }

    /// True if an interval ends at a limit that is ours and not nature's: a λ of 0 or of all of μ, a
    /// vanishing B or τ and a μ of hardly more than λ bound an interval; a very large μ, B or τ does
    /// not.
    fn leaves_range(&self, found: &Candidate) -> bool {
        let at_low = found.low <= self.value(0.0);
        let at_high = found.high >= self.value(1.0);
        match self.parameter {
            Parameter::Lambda => at_low && at_high,
            Parameter::Mu | Parameter::Tau | Parameter::Buffer => at_high,
        }
    }
}

/// The point at `place` of a logarithmic scale.
fn logarithmic(low: f64, high: f64, place: f64) -> f64 {
    low * libm::exp(place * libm::log(high / low))
}

#[cfg(test)]
mod tests;
