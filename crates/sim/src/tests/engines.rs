//! The fast engine against the reference engine, on random scenarios of all kinds.
//!
//! `ACKCLOCK_SCENARIOS=1000 cargo test -p ackclock-sim engines` runs a thousand.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;

use super::dice::Dice;
use crate::{Engine, Given, Meter, Names, Observer, Run, Scenario, Transmission};

/// As many as take some seconds.
const SCENARIOS: u64 = 60;

/// All that an observer was told.
#[derive(Default)]
struct Recorder {
    transmissions: String,
    /// By flow and end, as engines may come to hosts in any order at one moment.
    given: BTreeMap<(usize, bool), String>,
}

impl Observer for Recorder {
    fn on_transmit(&mut self, transmission: &Transmission) -> ControlFlow<()> {
        writeln!(self.transmissions, "{transmission:?}").unwrap();
        ControlFlow::Continue(())
    }

    fn wants_given(&self) -> bool {
        true
    }

    fn on_given(&mut self, given: &Given) {
        let of = self.given.entry((given.flow, given.from_client)).or_default();
        writeln!(of, "{given:?}").unwrap();
    }
}

/// A run as text, as NaN in samples is not equal to itself, and what was seen of it; without the number of events, which
/// is no result.
fn leaves(engine: Engine, scenario: &Scenario, observed: bool) -> [String; 3] {
    let meter = Meter::default();
    let mut seen = Recorder::default();
    let run = if observed {
        let links: Vec<usize> = (0..Names::of(scenario).unwrap().links.len()).collect();
        engine.simulate_observed(scenario, &links, &mut seen, &meter)
    } else {
        engine.simulate(scenario, &meter)
    };
    let run = Run { events: 0, ..run.unwrap().unwrap() };
    [format!("{run:?}"), seen.transmissions, format!("{:?}", seen.given)]
}

#[test]
fn engines_leave_the_same_of_any_scenario() {
    let count = std::env::var("ACKCLOCK_SCENARIOS").ok().map(|count| count.parse().unwrap());
    let count: u64 = count.unwrap_or(SCENARIOS);
    let mut refused = 0;
    for seed in 0..count {
        let text = Dice::new(seed).scenario(seed);
        let read = Scenario::from_json(&text.to_string());
        let checked = read
            .map_err(|why| why.to_string())
            .and_then(|read| read.check().map(|()| read).map_err(|why| why.to_string()));
        let scenario = match checked {
            Ok(scenario) => scenario,
            Err(why) => {
                println!("{seed}: {why}");
                refused += 1;
                continue;
            }
        };
        let mut alone = None;
        for observed in [false, true] {
            let [fast, reference] =
                [Engine::Fast, Engine::Reference].map(|by| leaves(by, &scenario, observed));
            // An observer that asks for reasons changes nothing.
            let run = alone.get_or_insert_with(|| fast[0].clone());
            assert!(*run == fast[0], "{seed}: an observer changes the run: {text}");
            for (a, b) in fast.iter().zip(&reference) {
                let at = a.bytes().zip(b.bytes()).position(|(a, b)| a != b);
                let at = at.unwrap_or(a.len().min(b.len()));
                let near = |t: &str| t[at.saturating_sub(200)..t.len().min(at + 80)].to_owned();
                assert!(
                    a == b,
                    "{seed} observed: {observed}: {text}\nfast      {}\nreference {}",
                    near(a),
                    near(b)
                );
            }
        }
    }
    assert!(refused * 4 < count, "{refused} of {count} scenarios cannot be run");
}
