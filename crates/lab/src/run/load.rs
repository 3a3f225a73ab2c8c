//! Load by utilisation: the rate of arrivals that uses a link to a given share.
//!
//! A rate that was searched for is kept with its inputs, so that it is searched for once.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use ackclock_laws::growth::registered_laws;
use ackclock_live::read_own;
use ackclock_sim::{Engine, LoadSearch, Meter, Scenario};
use ackclock_writer::{WriteError, write_file};
use serde::{Deserialize, Serialize};

use crate::rules;
use crate::run::sweep::{SweepError, simulate_plain};
use ackclock_input::to_json;

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
struct KeptSearch {
    /// The engine's rules that ran it, and what it ran: a rate is that of these inputs.
    rules: String,
    scenario: String,
    /// Connections per second, and the utilisation that it gave, of every step; the last is the answer.
    steps: Vec<(f64, f64)>,
    /// The checksum of all of that, so that a file that was damaged is not believed.
    checksum: String,
}

impl KeptSearch {
    fn new(scenario: String, steps: Vec<(f64, f64)>) -> Self {
        let checksum = Self::checksum(&scenario, &steps);
        Self { rules: rules().to_owned(), scenario, steps, checksum }
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
/// Rates found before are read from `cache`, and new ones kept there as far as it can be written.
///
/// # Errors
/// No rate does it, or several classes ask; a run that cannot be; a cancellation.
fn find_rate(
    scenario: &Scenario,
    cache: Option<&Path>,
    meter: &Meter,
    cancelled: impl Fn() -> bool,
) -> Result<Scenario, SweepError> {
    let Some(asked) = LoadSearch::of(scenario)? else { return Ok(scenario.clone()) };
    let text = to_json(scenario);
    // A law of this process's may be another one the next time, under the same name.
    let is_ours = !registered_laws().iter().any(|name| text.contains(name.as_str()));
    let kept = cache.filter(|_| is_ours);
    let kept = kept.map(|folder| folder.join(format!("rate-{:016x}.json", key(&text))));
    if let Some(found) = kept.as_deref().and_then(|path| read(path, &text))
        && let Some((rate, _)) = found.steps.last()
    {
        return Ok(asked.with(*rate));
    }
    let steps = asked.steps(|scenario| {
        if cancelled() {
            return Err(SweepError::Cancelled);
        }
        simulate_plain(Engine::default(), scenario, meter)
    })?;
    let (rate, _) = steps[steps.len() - 1];
    if let Some(path) = kept {
        // A search that cannot be kept is done again.
        let _ = keep(&path, &KeptSearch::new(text, steps));
    }
    Ok(asked.with(rate))
}

/// FNV-1a of a text: a file's name, not a proof; what the file holds is compared.
fn key(text: &str) -> u64 {
    text.bytes()
        .chain(rules().bytes())
        .fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// Bytes of a file of the cache, which holds a scenario.
const MOST_KEPT: u64 = 64 << 20;

fn read(path: &Path, scenario: &str) -> Option<KeptSearch> {
    let found: KeptSearch = serde_json::from_slice(&read_own(path, MOST_KEPT).ok()?).ok()?;
    let whole = found.checksum == KeptSearch::checksum(scenario, &found.steps);
    (found.rules == rules() && found.scenario == scenario && whole).then_some(found)
}

fn keep(path: &Path, found: &KeptSearch) -> Result<(), WriteError> {
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
    use crate::law::Growth;
    use crate::scratch::Scratch;

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
    fn the_rate_of_a_law_of_ones_own_is_searched_for_again() {
        let scratch = Scratch::new("load-own");
        let reno = || Box::new(ackclock_laws::growth::Reno::default()) as Box<dyn Growth>;
        crate::register_law("loadown", reno).unwrap();
        let text = to_json(&scenario("0.5")).replace("newreno", "loadown");
        let asked = from_json(&text).unwrap();
        find_rate(&asked, Some(&scratch), &Meter::default(), || false).unwrap();
        let again = find_rate(&asked, Some(&scratch), &Meter::default(), || true);
        assert_eq!(again.unwrap_err(), SweepError::Cancelled);
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
