use std::sync::Mutex;
use std::sync::atomic::AtomicU32;

use super::*;
use crate::from_json;

fn scenario(flows: u32) -> Scenario {
    let text = format!(
        r#"{{"duration": "1 s",
            "topology": {{"kind": "dumbbell",
                "bottleneck": {{"rate": "2 Mbit/s", "delay": "20 ms"}},
                "access": {{"rate": "10 Mbit/s", "delay": "1 ms"}}}},
            "flow": [{{"name": "a", "count": {flows}, "variant": "newreno"}}]}}"#
    );
    from_json(&text).unwrap()
}

fn ready(scenario: &Scenario) -> Ready {
    Ready::new(scenario, None, &Meter::default(), || false).unwrap()
}

#[test]
fn results_come_in_the_order_of_the_scenarios() {
    let scenarios: Vec<Ready> = (1..20).rev().map(|n| ready(&scenario(n))).collect();
    let runs = |threads| simulate_many(&scenarios, Some(threads), |_| (), || false).unwrap();
    let one = runs(1);
    assert_eq!(
        one.iter().map(|run| run.flow_names.len()).collect::<Vec<_>>(),
        (1..20).rev().collect::<Vec<_>>()
    );
    assert!(one == runs(2) && one == runs(7));
}

#[test]
fn progress_counts_every_run_once() {
    let seen = Mutex::new(Vec::new());
    let scenarios: Vec<Ready> = (1..6).map(|n| ready(&scenario(n))).collect();
    simulate_many(&scenarios, None, |finished| seen.lock().unwrap().push(finished), || false)
        .unwrap();
    let mut seen = seen.into_inner().unwrap();
    seen.sort_unstable();
    assert_eq!(seen, [1, 2, 3, 4, 5]);
}

#[test]
fn no_run_begins_after_a_cancellation() {
    let scenarios: Vec<Ready> = (0..50).map(|_| ready(&scenario(1))).collect();
    let finished = AtomicU32::new(0);
    let error = simulate_many(
        &scenarios,
        Some(2),
        |_| {
            finished.fetch_add(1, Ordering::Relaxed);
        },
        || finished.load(Ordering::Relaxed) >= 3,
    );
    assert_eq!(error, Err(SweepError::Cancelled));
    assert!(finished.into_inner() <= 4);
}

#[test]
fn a_scenario_that_cannot_be_run_is_told_before_any_is() {
    let mut empty = scenario(1);
    empty.flows.clear();
    let scenarios = [ready(&scenario(1)), ready(&empty)];
    let error =
        simulate_many(&scenarios, None, |_| panic!("a run"), || false).unwrap_err().to_string();
    assert!(error.starts_with("cell 1: flow: a scenario needs at least one "), "{error}");
}

#[test]
fn runs_share_the_memory_that_is_allowed() {
    let estimate = |flows, probe: &str| {
        let mut text = serde_json::to_value(scenario(flows)).unwrap();
        text["probe"] = serde_json::from_str(probe).unwrap();
        from_json(&text.to_string()).unwrap().estimate().unwrap()
    };
    let gigabytes = |n: f64| Budget { memory_bytes: n * 1e9, ..Budget::default() };
    // A flow takes 17 kB, and little more at 2 Mbit/s: 100,000 of them 1.7 to 2 GB, and no rows.
    let large = [estimate(100_000, "[]"), estimate(100_000, "[]"), estimate(1, "[]")];
    assert_eq!(runs_at_once(&large, gigabytes(3.0)), Ok(1));
    assert_eq!(runs_at_once(&large, gigabytes(4.0)), Ok(2));
    // A sample a microsecond of a second: 10^6 rows of 76 B.
    let rows = vec![estimate(1, r#"[{"flow": "a", "every": "1 us"}]"#); 20];
    assert!(runs_at_once(&rows, gigabytes(1.6)).is_ok());
    let error = runs_at_once(&rows, gigabytes(1.4)).unwrap_err().to_string();
    assert_eq!(
        error,
        "the 20 runs together would take about 1.5 GB of memory, more than 1.4 GB; expected fewer runs or rows, or \
         `ackclock --memory SIZE` before the command"
    );
}

#[test]
fn as_many_runs_as_no_memory_holds_are_refused_before_they_are_listed() {
    // 20 kB and more each: 4 GB hold 200,000 of them at most.
    assert!(check_runs(&[scenario(1)], 1000).is_ok());
    let error = check_runs(&[scenario(1), scenario(1)], 1_000_000_000).unwrap_err().to_string();
    assert!(error.starts_with("the 2000000000 runs together would take about "), "{error}");
    assert!(error.ends_with("or `ackclock --memory SIZE` before the command"), "{error}");
}

#[test]
fn a_senseless_number_of_threads_is_refused() {
    for threads in [0, 1025] {
        let error = simulate_many(&[], Some(threads), |_| (), || false).unwrap_err();
        assert_eq!(error.to_string(), "threads: expected a whole number from 1 to 1024");
    }
    assert_eq!(simulate_many(&[], None, |_| (), || false), Ok(vec![]));
}

#[test]
fn a_panic_is_told_without_its_place() {
    let panic = catch_unwind(|| panic!("a {} of mind", "slip")).unwrap_err();
    assert_eq!(panic_message(&*panic), "a slip of mind");
}
