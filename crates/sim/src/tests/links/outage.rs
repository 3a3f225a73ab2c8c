//! Outages of links.

use serde_json::{Value, json};

use crate::scenario::EventTime;
use crate::{Engine, Meter, Run, Scenario, ScenarioError};

/// A flow of CUBIC over 10 Mbit/s and 40 ms whose link has these outages, for 20 s.
fn run(outage: &Value) -> Run {
    let scenario = scenario(outage, "20 s");
    let [fast, reference] = [Engine::Fast, Engine::Reference]
        .map(|engine| engine.simulate(&scenario, &Meter::default()).unwrap().unwrap());
    assert_eq!(fast.flows[0].goodput_bps.to_bits(), reference.flows[0].goodput_bps.to_bits());
    fast
}

fn scenario(outage: &Value, duration: &str) -> Scenario {
    let text = json!({
        "duration": duration,
        "topology": {"kind": "path", "rate": "10 Mbit/s", "rtt": "40 ms", "buffer": "200 packet", "outage": outage},
        "flow": [{"name": "f", "variant": "cubic"}],
    });
    Scenario::from_json(&text.to_string()).unwrap()
}

#[test]
fn a_link_is_on_first_and_off_by_turns() {
    let outage = json!({"on": "3 s", "off": "1 s", "periodic": true});
    let scenario = scenario(&outage, "10 s");
    let events: Vec<f64> = scenario
        .with_outages()
        .events
        .iter()
        .step_by(2)
        .map(|event| match &event.at {
            EventTime::At(at) => at.as_secs_f64(),
            EventTime::After(_) => f64::NAN,
        })
        .collect();
    // Off at 3 and 7, on at 4 and 8; both directions at once.
    assert_eq!(events, [3.0, 4.0, 7.0, 8.0]);
}

#[test]
fn drawn_times_have_their_means() {
    let scenario = scenario(&json!({"on": "3 s", "off": "1 s"}), "4000 s");
    // 4000 s are 1000 turns of 4 s, each with an event for the beginning and the end in two directions. The standard deviation
    // of a turn is sqrt(3^2 + 1^2) = 3.2 s, that of the number of turns about 25.
    let turns = scenario.with_outages().events.len() / 4;
    assert!((900..1100).contains(&turns), "{turns}");
}

#[test]
fn packets_are_lost_or_wait_while_a_link_is_off() {
    let lost =
        run(&json!({"on": "4 s", "off": "500 ms", "periodic": true, "direction": "forward"}));
    let held = run(&json!({"on": "4 s", "off": "500 ms", "periodic": true, "holds": true}));
    // Four outages of 0.5 s in 20 s leave 18 s of 10 Mbit/s: 9 Mbit/s of packets, at most 8.8 of data.
    let goodput = |run: &Run| run.flows[0].goodput_bps;
    assert!(goodput(&held) < 8.8e6 && goodput(&lost) < goodput(&held), "{held:?}");
    let link = |run: &Run| run.links[0].clone();
    assert!(link(&lost).lost_packets > 0, "{:?}", link(&lost));
    assert_eq!(link(&held).lost_packets, 0, "{:?}", link(&held));
}

#[test]
fn outages_that_cannot_be_are_refused() {
    let said = |outage: Value| -> Result<(), ScenarioError> {
        scenario(&outage, "10 s").check().map(drop)
    };
    let key = |outage: Value| said(outage).unwrap_err().to_string();
    assert!(key(json!({"on": "0 s", "off": "1 s"})).starts_with("topology.outage.on: "));
    assert!(key(json!({"on": "1 us", "off": "1 us"})).contains("expected at most 100000 outages"));
    let mut other =
        serde_json::to_value(scenario(&json!({"on": "1 s", "off": "1 s"}), "10 s")).unwrap();
    other["event"] = json!([{"at": "1 s", "link": "bottleneck", "set": {"loss": 0.1}}]);
    let other = Scenario::from_json(&other.to_string()).unwrap();
    let said = other.check().unwrap_err().to_string();
    assert!(said.starts_with("event[0].set.loss: link `bottleneck` has outages"), "{said}");
}
