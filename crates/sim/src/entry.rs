//! Running a scenario by one of the two engines.

use crate::error::ScenarioError;
use crate::hosts::visitors::Visitors;
use crate::measures::meter::Meter;
use crate::measures::observe::Observer;
use crate::records::{Collector, Run};
use crate::run::state::Watcher;
use crate::scenario::Scenario;
use crate::{fast, reference};

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
        self.run(scenario, Visitors::default(), Watcher::Nobody, meter)
    }

    /// Runs `scenario` while `observer` sees all packets that `links` send, each an index into [`Names::links`](crate::Names::links). `None`
    /// if the observer ended it.
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
        self.run(scenario, Visitors::default(), Watcher::Observer(links, observer), meter)
    }

    /// Runs `scenario` while `collector` takes rows. Those that it did not take are in the result, and a collector that
    /// takes all of them and puts them together has the same tables.
    ///
    /// # Errors
    /// The first key whose value cannot be run.
    pub fn simulate_into(
        self,
        scenario: &Scenario,
        collector: &mut dyn Collector,
        meter: &Meter,
    ) -> Result<Option<Run>, ScenarioError> {
        self.run(scenario, Visitors::default(), Watcher::Collector(collector), meter)
    }

    /// Not inlined, so that there is one copy of the loop.
    #[inline(never)]
    fn run<'o>(
        self,
        scenario: &Scenario,
        visitors: Visitors<'_>,
        watcher: Watcher<'o>,
        meter: &'o Meter,
    ) -> Result<Option<Run>, ScenarioError> {
        scenario.check()?;
        let scenario = &*scenario.with_outages();
        let run = match self {
            Self::Fast => fast::Engine::new(scenario, watcher, meter)?.run(),
            Self::Reference => reference::Engine::new(scenario, visitors, watcher, meter)?.run(),
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

/// Runs `scenario` with the transports and queues of `visitors`, by the reference engine; `observed` are links, as of
/// [`Engine::simulate_observed`]. `None` if the observer or the meter ended it.
///
/// # Errors
/// The first key whose value cannot be run; a visitor for a flow or a link that is none.
pub fn simulate_visited(
    scenario: &Scenario,
    visitors: Visitors<'_>,
    observed: Option<(&[usize], &mut dyn Observer)>,
    meter: &Meter,
) -> Result<Option<Run>, ScenarioError> {
    let watcher = match observed {
        Some((links, observer)) => Watcher::Observer(links, observer),
        None => Watcher::Nobody,
    };
    Engine::Reference.run(scenario, visitors, watcher, meter)
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
