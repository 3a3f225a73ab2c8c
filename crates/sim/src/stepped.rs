//! A run that goes on when it is told to: for learners, which act between two moments.

use ackclock_tcp::Sender;
use ackclock_units::Instant;

use crate::error::ScenarioError;
use crate::fast;
use crate::measures::meter::Meter;
use crate::records::Run;
use crate::run::state::Watcher;
use crate::scenario::Scenario;

/// Nobody waits for a stepped run: its caller is told when each step is over.
static NOBODY: Meter = Meter::new();

/// A run of a scenario by the fast engine, in steps. The end of all steps leaves what a run in one go leaves.
pub struct Stepped {
    engine: fast::Engine<'static>,
    now: Instant,
    ended: bool,
}

// SAFETY: all of a run may go to another thread but those who look at it, and nobody looks at this one.
#[expect(unsafe_code, reason = "`dyn Observer` need not be Send, and there is none")]
unsafe impl Send for Stepped {}

impl std::fmt::Debug for Stepped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stepped").field("now", &self.now).finish_non_exhaustive()
    }
}

impl Stepped {
    /// A run that has not begun.
    ///
    /// # Errors
    /// The first key whose value cannot be run.
    pub fn new(scenario: &Scenario) -> Result<Self, ScenarioError> {
        scenario.check()?;
        let scenario = &*scenario.with_outages();
        let engine = fast::Engine::new(scenario, Watcher::Nobody, &NOBODY)?;
        Ok(Self { engine, now: Instant::START, ended: false })
    }

    /// The moment up to which everything has happened.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Goes on until `at`, which has not begun then; false once the scenario's duration is over.
    pub fn run_until(&mut self, at: Instant) -> bool {
        self.ended |= !self.engine.run_until(at, |_| false);
        self.now = self.now.max(at);
        !self.ended
    }

    /// Goes on until `at`, or until an event after which `enough` says so; false once the scenario's duration is over.
    pub fn run_until_enough(&mut self, at: Instant, mut enough: impl FnMut() -> bool) -> bool {
        let mut reached = at;
        self.ended |= !self.engine.run_until(at, |now| {
            let ends = enough();
            if ends {
                reached = now;
            }
            ends
        });
        self.now = self.now.max(reached);
        !self.ended
    }

    /// The sender of flow `n`, in the order of the scenario, `count` spelled out.
    pub fn sender(&self, n: usize) -> &Sender {
        self.engine.opener(n).endpoint.sender()
    }

    /// Goes on to the end.
    pub fn finish(mut self) -> Option<Run> {
        self.run_until(Instant::NEVER);
        self.engine.finish()
    }
}

#[cfg(test)]
mod tests {
    use ackclock_units::Duration;

    use super::*;
    use crate::simulate;

    #[test]
    fn steps_leave_the_run_in_one_go() {
        let text = r#"{
            "duration": "5 s",
            "topology": {"kind": "path", "rate": "10 Mbit/s", "rtt": "40 ms", "buffer": "20 packet"},
            "flow": [
                {"name": "one", "variant": "cubic"},
                {"name": "two", "variant": "bbr", "start": "0.5 s"}
            ],
            "measure": [{"name": "half", "from": "2 s", "for": "2 s"}],
            "probe": [{"flow": "one", "every": "100 ms"}]
        }"#;
        let scenario = Scenario::from_json(text).unwrap();
        for step in [1, 7, 1000] {
            let mut stepped = Stepped::new(&scenario).unwrap();
            while stepped.run_until(stepped.now() + Duration::from_millis(step)) {}
            let run = stepped.finish().unwrap();
            assert_eq!(format!("{run:?}"), format!("{:?}", simulate(&scenario).unwrap()));
        }
    }
}
