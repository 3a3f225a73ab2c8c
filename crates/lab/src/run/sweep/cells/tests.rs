use super::*;

const NO_LIMITS: CellLimits =
    CellLimits { budget: Budget { memory_bytes: 4e9, events: 1e11 }, time: None };

fn text(duration: &str, variant: &str) -> String {
    format!(
        r#"{{"duration": "{duration}",
            "topology": {{"kind": "dumbbell",
                "bottleneck": {{"rate": "2 Mbit/s", "delay": "20 ms"}},
                "access": {{"rate": "10 Mbit/s", "delay": "1 ms"}}}},
            "flow": [{{"name": "a", "variant": "{variant}"}}]}}"#
    )
}

fn run(texts: &[String], threads: usize, limits: CellLimits) -> Vec<Fate> {
    simulate_cells(texts, Some(threads), limits, |_| (), || false).unwrap()
}

#[test]
fn a_cell_that_is_none_does_not_stop_the_others() {
    let texts = [text("1 s", "reno"), text("1 s", "rino"), text("2 s", "reno")];
    let fates = run(&texts, 1, NO_LIMITS);
    assert!(matches!(&fates[0], Fate::Done(_)));
    let Fate::Refused(why) = &fates[1] else { panic!("{:?}", fates[1]) };
    assert!(why.starts_with("flow[0].variant: ") && why.contains("`reno`"), "{why}");
    assert!(matches!(&fates[2], Fate::Done(_)));
    assert_eq!(fates, run(&texts, 4, NO_LIMITS));
}

#[test]
fn a_cell_beyond_a_limit_says_which() {
    // 100000 s at 2 Mbit/s are some 17 million packets of 1500 B: more than 20 ms, and than 1000 events.
    let texts = [text("100000 s", "reno"), text("1 s", "reno")];
    let time = CellLimits { time: Some(Duration::from_millis(100)), ..NO_LIMITS };
    let fates = run(&texts, 2, time);
    assert_eq!(fates[0], Fate::Limit("the run took longer than 0.1 s".to_owned()));
    assert!(matches!(&fates[1], Fate::Done(_)));
    let budget = Budget { events: 1000.0, ..NO_LIMITS.budget };
    let fates = run(&texts[..1], 1, CellLimits { budget, ..NO_LIMITS });
    let Fate::Limit(why) = &fates[0] else { panic!("{:?}", fates[0]) };
    assert!(why.contains("events, more than 1.00e3") && !why.contains("--events"), "{why}");
}

#[test]
fn a_cancellation_ends_a_long_cell() {
    let texts = [text("100000 s", "reno")];
    let looked = AtomicUsize::new(0);
    let cancelled = || looked.fetch_add(1, Ordering::Relaxed) > 5;
    let result = simulate_cells(&texts, Some(1), NO_LIMITS, |_| (), cancelled);
    assert_eq!(result, Err(SweepError::Cancelled));
}

#[test]
fn two_spellings_of_a_scenario_are_one() {
    let kbit = text("1 s", "reno").replace("2 Mbit/s", "2000 kbit/s");
    let found = canonical(&[text("1 s", "reno"), kbit, text("1 s", "rino")], Some(2)).unwrap();
    assert_eq!(found[0], found[1]);
    assert!(found[0].is_ok() && found[2].is_err());
}
