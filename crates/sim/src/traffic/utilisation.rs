//! Load by utilisation: the rate of arrivals that uses a link to a given share.
//!
//! A class of connections may name a utilisation in place of trusting its rate. The rate is searched for by running the
//! scenario itself.

use ackclock_units::Frequency;

use crate::error::ScenarioError;
use crate::records::Run;
use crate::scenario::{Scenario, UtilisationSpec};

/// Steps after which a search gives up.
const MOST_STEPS: u32 = 16;

/// Steps of a search: connections per second, and the utilisation that they gave.
pub type Steps = Vec<(f64, f64)>;

/// A search for the rate of arrivals of a class.
#[derive(Debug)]
pub struct LoadSearch<'a> {
    scenario: &'a Scenario,
    class: usize,
    wanted: &'a UtilisationSpec,
    guess_hz: f64,
}

impl<'a> LoadSearch<'a> {
    /// The search that `scenario` asks for, if it asks for one.
    ///
    /// # Errors
    /// Several classes ask, or one that has no rate.
    pub fn of(scenario: &'a Scenario) -> Result<Option<Self>, ScenarioError> {
        let mut asking =
            scenario.traffic.iter().enumerate().filter(|(_, t)| t.utilisation.is_some());
        let Some((class, traffic)) = asking.next() else { return Ok(None) };
        if asking.next().is_some() {
            return Err(refused(class, "one class alone may ask for a utilisation"));
        }
        let Some(wanted) = &traffic.utilisation else { return Ok(None) };
        let rate = traffic.arrivals.rate().ok_or_else(|| {
            refused(class, "the arrivals are a list, expected a rate at which the search begins")
        })?;
        Ok(Some(Self { scenario, class, wanted, guess_hz: rate.as_hz() }))
    }

    /// The scenario with a rate of connections per second.
    #[must_use]
    pub fn with(&self, rate_hz: f64) -> Scenario {
        let mut scenario = self.scenario.clone();
        if let Some(rate) = Frequency::from_hz(rate_hz) {
            scenario.traffic[self.class].arrivals.set_rate(rate);
        }
        scenario
    }

    /// Steps of the search, the last of them the answer. It begins at the rate that the scenario names, and ends within
    /// the tolerance; `run` runs a scenario.
    ///
    /// # Errors
    /// No rate does it; a run that fails.
    pub fn steps<E: From<ScenarioError>>(
        &self,
        mut run: impl FnMut(&Scenario) -> Result<Run, E>,
    ) -> Result<Steps, E> {
        let (link, wanted) = (self.wanted.link(), self.wanted);
        let evaluate = |rate: f64| {
            let run = run(&self.with(rate))?;
            let used = run.links.iter().filter(|row| row.measure == "run" && row.link == link);
            used.map(|row| row.utilisation).reduce(f64::max).ok_or_else(|| {
                let says = format!("`{link}` is not a link; name one as {{ target, link }}");
                E::from(refused(self.class, &says))
            })
        };
        let steps = search(evaluate, wanted.target(), wanted.within(), self.guess_hz)?;
        let (rate, seen) = steps[steps.len() - 1];
        if (seen - wanted.target()).abs() > wanted.within() {
            let says = format!(
                "no rate was found that gives {} to {}; {rate:.3} /s gives {seen:.4}",
                wanted.target(),
                wanted.within()
            );
            return Err(refused(self.class, &says).into());
        }
        Ok(steps)
    }
}

fn refused(class: usize, message: &str) -> ScenarioError {
    ScenarioError::new(&format!("traffic[{class}].utilisation"), message)
}

/// Steps of (rate, utilisation), the last within `tolerance` of `target` if any is.
///
/// A secant search: utilisation rises with the rate, steeply at first and hardly near 1. Each step stays
/// between what was too little and what was too much.
fn search<E>(
    mut evaluate: impl FnMut(f64) -> Result<f64, E>,
    target: f64,
    tolerance: f64,
    guess: f64,
) -> Result<Vec<(f64, f64)>, E> {
    let mut steps: Vec<(f64, f64)> = Vec::new();
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut rate = guess;
    for _ in 0..MOST_STEPS {
        let seen = evaluate(rate)?;
        steps.push((rate, seen));
        if (seen - target).abs() <= tolerance {
            break;
        }
        if seen < target {
            low = f64::max(low, rate);
        } else {
            high = f64::min(high, rate);
        }
        rate = next(&steps, target, low, high);
    }
    Ok(steps)
}

/// The rate to try next: on the secant of the two nearest tries, inside of the bracket.
fn next(tried: &[(f64, f64)], target: f64, low: f64, high: f64) -> f64 {
    let mut nearest = tried.to_vec();
    nearest.sort_by(|a, b| f64::total_cmp(&(a.1 - target).abs(), &(b.1 - target).abs()));
    let (r0, u0) = nearest[0];
    let (r1, u1) = nearest.get(1).copied().unwrap_or_default();
    let slope = (u0 - u1) / (r0 - r1);
    let rate = r0 + (target - u0) / slope;
    if high.is_infinite() {
        return if slope > 0.0 && rate > low { rate.min(2.0 * low) } else { 1.1 * low };
    }
    let edge = 0.02 * (high - low);
    let inside = slope > 0.0 && (low + edge..=high - edge).contains(&rate);
    if inside { rate } else { f64::midpoint(low, high) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_ends_where_it_should_on_a_curve_that_saturates() {
        // rate/(rate + 10), squared: 0.9 where rate/(rate + 10) = 0.948683, at 10·0.948683/0.051317 = 184.87.
        let curve = |rate: f64| {
            let used = rate / (rate + 10.0);
            Ok::<_, ScenarioError>(used * used)
        };
        for guess in [1.0, 57.0, 180.0, 900.0] {
            let steps = search(curve, 0.9, 0.001, guess).unwrap();
            let (rate, seen) = steps[steps.len() - 1];
            assert!((seen - 0.9).abs() <= 0.001, "{guess}: {steps:?}");
            assert!((rate - 184.87).abs() < 2.2, "{rate}");
            assert!(steps.len() <= 12, "{guess}: {}", steps.len());
        }
    }
}
