//! Scenario to run to records.
//!
//! [`simulate`] is a pure function of (scenario, seed): the same bytes on any machine, on one
//! thread or many, in debug and release.
//!
//! ```
//! let scenario: ackclock_sim::Scenario = serde_json::from_str(r#"{
//!     "duration": "10 s",
//!     "topology": {
//!         "kind": "dumbbell",
//!         "bottleneck": {"rate": "10 Mbit/s", "delay": "20 ms"},
//!         "access": {"rate": "100 Mbit/s", "delay": "1 ms"}
//!     },
//!     "flow": [{"name": "bulk", "variant": "newreno"}]
//! }"#).unwrap();
//! let run = ackclock_sim::simulate(&scenario).unwrap();
//! assert!(run.flows[0].goodput_bps > 8e6);
//! ```

mod browsing;
pub mod budget;
mod changes;
mod check;
mod choice;
mod class;
mod cross;
mod events;
mod fast;
mod host;
mod links;
mod measure;
mod meter;
mod objects;
mod observe;
pub mod paths;
pub mod plan;
mod probe;
pub mod records;
mod reference;
pub mod scenario;
mod setup;
mod state;
#[cfg(test)]
mod tests;
mod topology;
mod traffic;

use std::fmt;

pub use budget::{Budget, Estimate};
pub use class::Class;
pub use meter::Meter;
pub use objects::ObjectLog;
pub use observe::{Names, Observer, Sent, SentSegment, Transmission};
pub use records::Run;
pub use scenario::Scenario;

/// Why a scenario that reads well still cannot be run: which key, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The key, as a path: `flow[0].count`.
    pub key: String,
    /// What was expected, in one line.
    pub message: String,
}

impl ScenarioError {
    /// `message` says what was expected of `key`.
    pub fn new(key: &str, message: &str) -> Self {
        Self { key: key.to_owned(), message: message.to_owned() }
    }

    /// `word` names nothing; `known` are the words that do.
    pub(crate) fn unknown<'a>(
        key: &str,
        what: &str,
        word: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> Self {
        // A thousand access links help nobody.
        let known: Vec<String> = known.take(20).map(|name| format!("`{name}`")).collect();
        Self::new(key, &format!("unknown {what} `{word}`, expected one of {}", known.join(", ")))
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.message)
    }
}

impl std::error::Error for ScenarioError {}

impl Scenario {
    /// Checks all that can be checked without running.
    ///
    /// # Errors
    /// The first key whose value cannot be run.
    pub fn check(&self) -> Result<(), ScenarioError> {
        self.estimate().map(|_| ())
    }

    /// The memory and the events that a run will take, roughly.
    ///
    /// # Errors
    /// The first key whose value cannot be run.
    pub fn estimate(&self) -> Result<Estimate, ScenarioError> {
        check::check(self)
    }
}

/// For each flow, `count` spelled out, the index of its entry in the file.
fn flow_entries(scenario: &Scenario) -> Vec<usize> {
    scenario
        .flows
        .iter()
        .enumerate()
        .flat_map(|(entry, flow)| std::iter::repeat_n(entry, flow.count as usize))
        .collect()
}

/// The engine that moves packets. Both leave the same results behind, to the last bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The one for every day.
    #[default]
    Fast,
    /// The plain one: every hop an event, nothing for speed. It is what the fast one is tested against.
    Reference,
}

impl Engine {
    /// Its word, as options and scenarios have it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Reference => "reference",
        }
    }

    /// The engine of a word.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Fast, Self::Reference].into_iter().find(|engine| engine.word() == word)
    }

    /// Runs `scenario` from its beginning to its end, while `meter` says how far the run is and may stop it: then there
    /// is no result.
    ///
    /// # Errors
    /// The first key whose value cannot be run.
    pub fn simulate(
        self,
        scenario: &Scenario,
        meter: &Meter,
    ) -> Result<Option<Run>, ScenarioError> {
        self.run(scenario, Watcher::Nobody, meter)
    }

    /// The same, while `observer` sees what `links` send, each an index into [`Names::links`]. `None` if
    /// the observer ended it.
    ///
    /// # Errors
    /// The first key whose value cannot be run.
    ///
    /// # Panics
    /// With an index that is none of a link.
    pub fn simulate_observed(
        self,
        scenario: &Scenario,
        links: &[usize],
        observer: &mut dyn Observer,
        meter: &Meter,
    ) -> Result<Option<Run>, ScenarioError> {
        self.run(scenario, Watcher::Observer(links, observer), meter)
    }

    /// The same, while `collector` takes rows. Those that it did not take are in the result, and
    /// one that takes all of them and puts them together has the same tables.
    ///
    /// # Errors
    /// The first key whose value cannot be run.
    pub fn simulate_into(
        self,
        scenario: &Scenario,
        collector: &mut dyn Collector,
        meter: &Meter,
    ) -> Result<Option<Run>, ScenarioError> {
        self.run(scenario, Watcher::Collector(collector), meter)
    }

    /// Not inlined, so that there is one copy of the loop.
    #[inline(never)]
    fn run<'o>(
        self,
        scenario: &Scenario,
        watcher: Watcher<'o>,
        meter: &'o Meter,
    ) -> Result<Option<Run>, ScenarioError> {
        scenario.check()?;
        let run = match self {
            Self::Fast => fast::Engine::new(scenario, watcher, meter)?.run(),
            Self::Reference => reference::Engine::new(scenario, watcher, meter)?.run(),
        };
        match meter.stuck() {
            Some(at) => {
                let message = format!(
                    "simulated time stands still at {} s of them: events without end at one moment; expected a link, an \
                     application or a distribution that takes time",
                    at.as_secs_f64()
                );
                Err(ScenarioError::new("duration", &message))
            }
            None => Ok(run),
        }
    }
}

/// Runs `scenario` from its beginning to its end.
///
/// # Errors
/// The first key whose value cannot be run.
///
/// # Panics
/// Never: only an observer ends a run early.
pub fn simulate(scenario: &Scenario) -> Result<Run, ScenarioError> {
    let run = Engine::Fast.simulate(scenario, &Meter::default())?;
    Ok(run.expect("nobody is there to stop it"))
}

/// [`Engine::simulate`] by the fast engine.
///
/// # Errors
/// The first key whose value cannot be run.
pub fn simulate_metered(scenario: &Scenario, meter: &Meter) -> Result<Option<Run>, ScenarioError> {
    Engine::Fast.simulate(scenario, meter)
}

/// [`Engine::simulate_observed`] by the fast engine.
///
/// # Errors
/// The first key whose value cannot be run.
///
/// # Panics
/// With an index that is none of a link.
pub fn simulate_observed(
    scenario: &Scenario,
    links: &[usize],
    observer: &mut dyn Observer,
    meter: &Meter,
) -> Result<Option<Run>, ScenarioError> {
    Engine::Fast.simulate_observed(scenario, links, observer, meter)
}

/// [`Engine::simulate_into`] by the fast engine.
///
/// # Errors
/// The first key whose value cannot be run.
pub fn simulate_into(
    scenario: &Scenario,
    collector: &mut dyn Collector,
    meter: &Meter,
) -> Result<Option<Run>, ScenarioError> {
    Engine::Fast.simulate_into(scenario, collector, meter)
}

/// Takes rows from a run while it lasts, so that a long run does not hold them all.
pub trait Collector {
    /// Takes all rows of `run`'s [`objects`](Run::objects), [`connections`](Run::connections),
    /// [`flow_samples`](Run::flow_samples) and [`link_samples`](Run::link_samples), by
    /// [`Run::take_rows`]: what it leaves comes again.
    fn take(&mut self, run: &mut Run);
}

/// The rows of one of the large tables that a run holds at most before its [`Collector`] is asked to take
/// them: at 48 to 81 bytes a row, 1.3 MB. Where hosts and links take turns it is asked between two turns, of
/// which each brings some thousands.
pub const MOST_ROWS_HELD: usize = 1 << 14;

/// Time stands still with more events than this at one moment, beside those that hosts have.
const MOST_AT_ONE_MOMENT: u64 = 1 << 20;

/// Those who look at a run.
enum Watcher<'o> {
    Nobody,
    Observer(&'o [usize], &'o mut dyn Observer),
    Collector(&'o mut dyn Collector),
}
