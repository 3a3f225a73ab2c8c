//! Load by utilisation: the rate of arrivals that uses a link to a given share.
//!
//! A class of connections may name a utilisation in place of trusting its rate. The rate is searched
//! for by running the scenario itself, and kept with its inputs, so that it is searched for once.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use ackclock_live::read_own;
use ackclock_sim::{Engine, Meter, Scenario};
use ackclock_units::Frequency;
use ackclock_writer::{WriteError, write_file};
use serde::{Deserialize, Serialize};

use crate::sweep::{SweepError, simulate_plain};
use crate::version;
use ackclock_input::{BadInput, to_json};

/// Steps after which a search gives up.
const MOST_STEPS: u32 = 16;

/// A scenario as it is run: with the rate of arrivals that its `utilisation` asks for.
///
/// Every way out of a run, whether to tables in memory, to files or to captures, takes one of these, so that none of them
/// can run another scenario than the others.
#[derive(Clone, Debug)]
pub struct Ready {
    scenario: Scenario,
    engine: Engine,
}

impl Ready {
    /// The scenario ready to be run. Rates found before are read from the folder `cache`, and new ones kept there as far as it can
    /// be written.
    ///
    /// # Errors
    /// No rate gives what is asked; a run of the search that cannot be; a cancellation.
    pub fn new(
        scenario: &Scenario,
        cache: Option<&Path>,
        meter: &Meter,
        cancelled: impl Fn() -> bool,
    ) -> Result<Self, SweepError> {
        let scenario = find_rate(scenario, cache, meter, cancelled)?;
        Ok(Self { scenario, engine: Engine::default() })
    }

    /// A scenario made ready, to be run by `engine`.
    #[must_use]
    pub fn by(self, engine: Engine) -> Self {
        Self { engine, ..self }
    }

    /// The scenario.
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The engine that runs it.
    pub const fn engine(&self) -> Engine {
        self.engine
    }

    /// The scenario, without what says that it is ready.
    pub fn into_scenario(self) -> Scenario {
        self.scenario
    }
}

/// A search that is done, as it is kept.
#[derive(Debug, Deserialize, Serialize)]
struct Found {
    /// The version that ran it, and what it ran: a rate is that of these inputs.
    version: String,
    scenario: String,
    /// Connections per second, and the utilisation that it gave, of every step; the last is the answer.
    steps: Vec<(f64, f64)>,
    /// The checksum of all of that, so that a file that was damaged is not believed.
    checksum: String,
}

impl Found {
    fn new(scenario: String, steps: Vec<(f64, f64)>) -> Self {
        let checksum = Self::checksum(&scenario, &steps);
        Self { version: version().to_owned(), scenario, steps, checksum }
    }

    fn checksum(scenario: &str, steps: &[(f64, f64)]) -> String {
        let bits = steps.iter().map(|(rate, seen)| (rate.to_bits(), seen.to_bits()));
        format!("{:016x}", key(&format!("{scenario} {:x?}", bits.collect::<Vec<_>>())))
    }
}

/// The folder in which rates are kept: `$ACKCLOCK_CACHE`, or `ackclock` where the user's caches are; none
/// if there is no such place.
pub fn cache() -> Option<PathBuf> {
    let named =
        |key: &str| std::env::var_os(key).filter(|path| !path.is_empty()).map(PathBuf::from);
    named("ACKCLOCK_CACHE")
        .or_else(|| named("XDG_CACHE_HOME").map(|caches| caches.join("ackclock")))
        .or_else(|| named("HOME").map(|home| home.join(".cache/ackclock")))
}

/// The scenario with the rate of arrivals that its `utilisation` asks for; as it is if it asks for none.
///
/// The search begins at the rate that the scenario names, and ends within the tolerance. Rates found
/// before are read from `cache`, and new ones kept there as far as it can be written.
///
/// # Errors
/// No rate does it, or several classes ask; a run that cannot be; a cancellation.
fn find_rate(
    scenario: &Scenario,
    cache: Option<&Path>,
    meter: &Meter,
    cancelled: impl Fn() -> bool,
) -> Result<Scenario, SweepError> {
    let mut asking = scenario.traffic.iter().enumerate().filter(|(_, t)| t.utilisation.is_some());
    let Some((n, class)) = asking.next() else { return Ok(scenario.clone()) };
    let refuse = |message: String| {
        SweepError::from(BadInput::new(format_args!("traffic[{n}].utilisation: {message}")))
    };
    if asking.next().is_some() {
        return Err(refuse("one class alone may ask for a utilisation".to_owned()));
    }
    let Some(wanted) = &class.utilisation else { return Ok(scenario.clone()) };
    let rate = class.arrivals.rate().ok_or_else(|| {
        refuse("the arrivals are a list, expected a rate at which the search begins".to_owned())
    })?;
    let with = |rate: f64| {
        let mut scenario = scenario.clone();
        if let Some(rate) = Frequency::from_hz(rate) {
            scenario.traffic[n].arrivals.set_rate(rate);
        }
        scenario
    };
    let text = to_json(scenario);
    let kept = cache.map(|folder| folder.join(format!("rate-{:016x}.json", key(&text))));
    if let Some(found) = kept.as_deref().and_then(|path| read(path, &text))
        && let Some((rate, _)) = found.steps.last()
    {
        return Ok(with(*rate));
    }
    let link = wanted.link();
    let evaluate = |rate: f64| {
        if cancelled() {
            return Err(SweepError::Cancelled);
        }
        let run = simulate_plain(Engine::default(), &with(rate), meter)?;
        let used = run.links.iter().filter(|row| row.measure == "run" && row.link == link);
        used.map(|row| row.utilisation).reduce(f64::max).ok_or_else(|| {
            refuse(format!("`{link}` is not a link; name one as {{ target, link }}"))
        })
    };
    let steps = search(evaluate, wanted.target(), wanted.within(), rate.as_hz())?;
    let (rate, seen) = steps[steps.len() - 1];
    if (seen - wanted.target()).abs() > wanted.within() {
        return Err(refuse(format!(
            "no rate was found that gives {} to {}; {rate:.3} /s gives {seen:.4}",
            wanted.target(),
            wanted.within()
        )));
    }
    if let Some(path) = kept {
        // A search that cannot be kept is done again.
        let _ = keep(&path, &Found::new(text, steps));
    }
    Ok(with(rate))
}

/// Steps of (rate, utilisation), the last within `tolerance` of `target` if any is.
///
/// A secant search: utilisation rises with the rate, steeply at first and hardly near 1. Each step stays
/// between what was too little and what was too much.
fn search(
    mut evaluate: impl FnMut(f64) -> Result<f64, SweepError>,
    target: f64,
    tolerance: f64,
    guess: f64,
) -> Result<Vec<(f64, f64)>, SweepError> {
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

/// FNV-1a of a text: a file's name, not a proof; what the file holds is compared.
fn key(text: &str) -> u64 {
    text.bytes()
        .chain(version().bytes())
        .fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// Bytes of a file of the cache, which holds a scenario.
const MOST_KEPT: u64 = 64 << 20;

fn read(path: &Path, scenario: &str) -> Option<Found> {
    let found: Found = serde_json::from_slice(&read_own(path, MOST_KEPT).ok()?).ok()?;
    let whole = found.checksum == Found::checksum(scenario, &found.steps);
    (found.version == version() && found.scenario == scenario && whole).then_some(found)
}

fn keep(path: &Path, found: &Found) -> Result<(), WriteError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| WriteError::io(folder, &error))?;
    }
    let text =
        serde_json::to_vec_pretty(found).map_err(|error| WriteError::io(path, &error.into()))?;
    write_file(path, |file| file.write_all(&text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::from_json;
    use crate::scratch::Scratch;

    #[test]
    fn a_search_ends_where_it_should_on_a_curve_that_saturates() {
        // rate/(rate + 10), squared: 0.9 where rate/(rate + 10) = 0.948683, at 10·0.948683/0.051317 = 184.87.
        let curve = |rate: f64| Ok((rate / (rate + 10.0)).powi(2));
        for guess in [1.0, 57.0, 180.0, 900.0] {
            let steps = search(curve, 0.9, 0.001, guess).unwrap();
            let (rate, seen) = steps[steps.len() - 1];
            assert!((seen - 0.9).abs() <= 0.001, "{guess}: {steps:?}");
            assert!((rate - 184.87).abs() < 2.2, "{rate}");
            assert!(steps.len() <= 12, "{guess}: {}", steps.len());
        }
    }

    fn scenario(utilisation: &str) -> Scenario {
        from_json(&format!(
            r#"{{
                "duration": "60 s",
                "topology": {{"kind": "dumbbell",
                    "bottleneck": {{"rate": "10 Mbit/s", "delay": "5 ms"}},
                    "access": {{"rate": "1 Gbit/s", "delay": "1 ms"}}}},
                "traffic": [{{"name": "web", "variant": "newreno", "utilisation": {utilisation},
                    "arrivals": {{"kind": "poisson", "rate": "20 /s"}},
                    "app": {{"kind": "request", "response": "10 kB"}}}}]
            }}"#
        ))
        .unwrap()
    }

    #[test]
    fn the_rate_is_found_and_kept_with_its_inputs() {
        let scratch = Scratch::new("load");
        let asked = scenario("0.5");
        let found = find_rate(&asked, Some(&scratch), &Meter::default(), || false).unwrap();
        let rate = found.traffic[0].arrivals.rate().unwrap().as_hz();
        // A response of 10 kB is 7 segments of 1460 bytes and headers of 40: 10,280 bytes, with the
        // SYN-ACK, the FIN's and the request's ACK 40 or 44 bytes each: 10,400 or so, 83.2 kbit. Half of
        // 10 Mbit/s: 60 a second, to the tolerance of 2 % and the Poisson noise of 3600 arrivals (1.7 %).
        assert!((rate / 60.1 - 1.0).abs() < 0.06, "{rate}");
        // A cancelled search would fail: this one is read.
        let again = find_rate(&asked, Some(&scratch), &Meter::default(), || true).unwrap();
        assert_eq!(to_json(&again), to_json(&found));
        // A digit that has changed on the disk is noticed, and the search begins anew.
        let file = fs::read_dir(&*scratch).unwrap().next().unwrap().unwrap().path();
        let text = fs::read_to_string(&file).unwrap();
        let at = text.find("\"steps\"").unwrap();
        let at = at + text[at..].find(|c: char| ('1'..='8').contains(&c)).unwrap();
        let mut damaged = text.into_bytes();
        damaged[at] += 1;
        fs::write(&file, damaged).unwrap();
        let damaged = find_rate(&asked, Some(&scratch), &Meter::default(), || true);
        assert_eq!(damaged.unwrap_err(), SweepError::Cancelled);
        // Of other inputs it knows nothing.
        let other = find_rate(&scenario("0.6"), Some(&scratch), &Meter::default(), || true);
        assert_eq!(other.unwrap_err(), SweepError::Cancelled);
    }

    #[test]
    fn what_cannot_be_is_said_in_one_line() {
        let said = |utilisation: &str| {
            find_rate(&scenario(utilisation), None, &Meter::default(), || false)
                .unwrap_err()
                .to_string()
        };
        let nowhere = said(r#"{"target": 0.5, "link": "nowhere"}"#);
        assert!(
            nowhere.starts_with("traffic[0].utilisation: `nowhere` is not a link"),
            "{nowhere}"
        );
        let never = said(r#"{"target": 0.5, "within": 1e-12}"#);
        assert!(never.starts_with("traffic[0].utilisation: no rate was found"), "{never}");
    }

    #[test]
    fn a_scenario_that_asks_for_nothing_is_left_as_it_is() {
        let mut plain = scenario("0.5");
        plain.traffic[0].utilisation = None;
        assert_eq!(
            to_json(&find_rate(&plain, None, &Meter::default(), || true).unwrap()),
            to_json(&plain)
        );
    }
}
