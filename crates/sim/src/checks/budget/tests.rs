use ackclock_units::Duration;

use super::*;
use crate::simulate;

/// A dumbbell of 10 Mbit/s for `duration` with the tables `rest`.
fn scenario(duration: &str, rest: &str) -> Scenario {
    let text = format!(
        r#"{{"duration": "{duration}",
            "topology": {{"kind": "dumbbell",
                "bottleneck": {{"rate": "10 Mbit/s", "delay": "5 ms"}},
                "access": {{"rate": "100 Mbit/s", "delay": "1 ms"}}}}, {rest}}}"#
    );
    Scenario::from_json(&text).unwrap()
}

fn flow(rest: &str) -> String {
    format!(r#""flow": [{{"name": "a", "variant": "cubic" {rest}}}]"#)
}

fn class(arrivals: &str, app: &str) -> String {
    format!(
        r#""traffic": [{{"name": "w", "variant": "cubic", "arrivals": {arrivals}, "app": {app}}}]"#
    )
}

const A_RESPONSE: &str = r#"{"kind": "request", "response": "1 kB"}"#;

fn fault(scenario: &Scenario) -> String {
    scenario.check().unwrap_err().to_string()
}

#[test]
fn what_no_machine_could_carry_out_is_refused_by_its_key() {
    let poisson = |rate: &str| format!(r#"{{"kind": "poisson", "rate": "{rate}"}}"#);
    let cases = [
        // 10^9 connections of a row of 150 B: 150 GB.
        ("1 s", class(&poisson("1e9 /s"), A_RESPONSE), "traffic[0].arrivals", "GB"),
        (
            "1 s",
            class(
                &poisson("1 /s"),
                r#"{"kind": "request", "response": "1 kB", "exchanges": 1e18}"#,
            ),
            "traffic[0].app.exchanges",
            "GB",
        ),
        // 10 Mbit/s for 10^9 s are 8.6 10^11 segments of 1460 B.
        ("1e9 s", flow(""), "flow[0]", "events"),
        // 500,000 flows of 17 kB: 8.5 GB.
        ("1 s", flow(r#", "count": 500000"#), "flow[0].count", "GB"),
        (
            "1 s",
            format!(
                r#"{}, "cross_traffic": [{{"link": "bottleneck", "kind": "poisson",
                    "rate": "1e12 packets/s", "size": "100 B"}}]"#,
                flow("")
            ),
            "cross_traffic[0].rate",
            "events",
        ),
        // Each of the two probes is within what one may record; of 10 flows each row is ten.
        (
            "100 s",
            format!(
                r#"{}, "probe": [{{"flow": "a", "every": "10 us"}}, {{"link": "bottleneck", "every": "10 us"}}]"#,
                flow(r#", "count": 10"#)
            ),
            "probe[0].every",
            "GB",
        ),
        // 1000 windows of 2000 flows, of 6.5 kB each: 13 GB.
        (
            "10 s",
            format!(
                r#"{}, "measure": [{}]"#,
                flow(r#", "count": 2000"#),
                (0..1000)
                    .map(|n| format!(r#"{{"name": "m{n}", "from": "1 s"}}"#))
                    .collect::<Vec<_>>()
                    .join(",")
            ),
            "measure: ",
            "GB",
        ),
    ];
    for (duration, rest, key, of) in cases {
        let text = fault(&scenario(duration, &rest));
        assert!(text.starts_with(key) && text.contains(of), "{text}");
    }
}

#[test]
fn cross_traffic_that_waits_without_limit_takes_memory() {
    // 10^6 packets a second of 100 B on 1 kbit/s: of 10^8 all but 125 wait, 60 B each.
    let text = r#"{"duration": "100 s",
        "topology": {"kind": "graph", "link": [{"name": "l", "from": "a", "to": "b", "rate": "1 kbit/s", "delay": "1 ms"}]},
        "cross_traffic": [{"link": "l", "kind": "poisson", "rate": "1e6 packet/s", "size": "100 B"}]}"#;
    let text = fault(&Scenario::from_json(text).unwrap());
    assert!(
        text.starts_with("cross_traffic[0].rate: ") && text.contains("6.0 GB of memory"),
        "{text}"
    );
}

#[test]
fn probes_that_record_nothing_or_twice_are_refused() {
    let probed = |rest: &str| {
        let text = format!(r#"{}, "probe": [{rest}]"#, flow(""));
        fault(&scenario("2 s", &text))
    };
    for (probes, expected) in [
        (
            r#"{"flow": "a", "every": "1 ms", "from": "2 s"}"#,
            "probe[0].from: expected a moment before the end",
        ),
        (
            r#"{"flow": "a", "every": "1 ms", "from": "1 s", "until": "1 s"}"#,
            "probe[0].until: expected a moment after `from`",
        ),
        (
            r#"{"flow": "a", "every": "1 ms"}, {"flow": "a", "every": "1 ms"}"#,
            "probe[1]: the same as probe[0]",
        ),
    ] {
        let text = probed(probes);
        assert!(text.starts_with(expected), "{text}");
    }
}

#[test]
fn sources_have_names_of_their_own() {
    let source = r#"{"link": "bottleneck", "kind": "poisson", "rate": "1 packet/s", "size": "100 B", "name": "x"}"#;
    let rest = format!(r#""cross_traffic": [{source}, {source}]"#);
    let text = fault(&scenario("2 s", &rest));
    assert!(text.starts_with("cross_traffic[1].name: `x` is the name of another source"), "{text}");
}

#[test]
fn a_larger_budget_lets_them_pass() {
    let long = scenario("1e9 s", &flow(""));
    let estimate = Estimate::of_entries(&long)
        .and(Estimate::of_packets(&long, &Layout::new(&long, &[0]).unwrap()));
    assert!(estimate.check(Budget::default()).is_err());
    assert_eq!(estimate.check(Budget { events: 1e13, ..Budget::default() }), Ok(()));
}

#[test]
fn times_that_are_always_zero_are_refused() {
    for every in [
        r#""0 s""#,
        r#"{"exponential": "0 s"}"#,
        r#"{"weibull": {"shape": 1, "scale": "0 s"}}"#,
        r#"{"lognormal": {"median": "0 s", "sigma": 1}}"#,
        r#"{"uniform": ["0 s", "0 s"]}"#,
        r#"{"values": ["0 s", "0 s"]}"#,
        r#"{"quantiles": [{"p": 0, "value": "0 s"}, {"p": 1, "value": "0 s"}]}"#,
    ] {
        let rest =
            flow(&format!(r#", "app": {{"kind": "bursts", "size": "1 kB", "every": {every}}}"#));
        let text = fault(&scenario("1 s", &rest));
        assert_eq!(text, "flow[0].app.every: expected more than 0 s", "{every}");
    }
    // Nearly always, so that a second would hold some 10^9 bursts.
    let rest =
        flow(r#", "app": {"kind": "bursts", "size": "1 kB", "every": {"exponential": "1 ns"}}"#);
    let text = fault(&scenario("1000 s", &rest));
    assert!(text.starts_with("flow[0].app: "), "{text}");
}

#[test]
fn events_without_end_at_one_moment_are_told() {
    let scenario = scenario("1 s", &flow(""));
    let meter = crate::Meter::default();
    let at = ackclock_units::Instant::START + Duration::from_millis(300);
    let watcher = crate::run::state::Watcher::Nobody;
    let mut engine = crate::fast::Engine::new(&scenario, watcher, &meter).unwrap();
    assert!(engine.mark(at, 1 << 20));
    assert!(!engine.mark(at, 1 << 21));
    assert_eq!(meter.stuck(), Some(at));
}

#[test]
fn a_probe_takes_fifty_million_rows_at_most() {
    // 500 s at 10 us are 50,000,000; ten microseconds more are one more.
    let probe = format!(r#"{}, "probe": [{{"flow": "a", "every": "10 us"}}]"#, flow(""));
    assert_eq!(scenario("500 s", &probe).check(), Ok(()));
    let text = fault(&scenario("500.00001 s", &probe));
    assert!(text.contains("50000001 samples are more than 50000000"), "{text}");
}

/// The estimate is of the order of what runs take.
#[test]
fn estimates_are_near_the_events_of_runs() {
    let poisson = r#"{"kind": "poisson", "rate": "50 /s"}"#;
    for rest in [
        flow(""),
        flow(r#", "count": 10"#),
        flow(r#", "app": {"kind": "bulk", "size": "1 MB"}"#),
        flow(r#", "app": {"kind": "cbr", "rate": "1 Mbit/s", "message": "1 kB"}"#),
        class(poisson, r#"{"kind": "request", "response": "20 kB"}"#),
        // Three times what the link carries.
        class(poisson, r#"{"kind": "request", "response": "75 kB"}"#),
    ] {
        let scenario = scenario("20 s", &rest);
        let entries = flow_entries(&scenario);
        let layout = Layout::new(&scenario, &entries).unwrap();
        let estimate =
            Estimate::of_entries(&scenario).and(Estimate::of_packets(&scenario, &layout));
        let estimated: f64 = estimate.costs.iter().map(|cost| cost.events).sum();
        let events = simulate(&scenario).unwrap().events as f64;
        let ratio = estimated / events;
        assert!((0.25..4.0).contains(&ratio), "{rest}: {estimated} for {events}");
    }
}

#[test]
fn flows_share_what_a_link_holds() {
    // 100,000 flows on 100 Gbit/s and 20 ms: 1.7 GB of flows, and at most 2 * 250 MB of packets under way, of 250 B each:
    // 0.1 GB. A flow may have 64 MB under way, all together not.
    let text = r#"{"duration": "10 s",
        "topology": {"kind": "dumbbell",
            "bottleneck": {"rate": "100 Gbit/s", "delay": "8 ms"},
            "access": {"rate": "1 Gbit/s", "delay": "1 ms"}},
        "flow": [{"name": "a", "variant": "cubic", "count": 100000}]}"#;
    let scenario = Scenario::from_json(text).unwrap();
    let layout = Layout::new(&scenario, &flow_entries(&scenario)).unwrap();
    let estimate = Estimate::of_entries(&scenario).and(Estimate::of_packets(&scenario, &layout));
    let bytes: f64 = estimate.costs.iter().map(|cost| cost.memory_bytes).sum();
    assert!((1.7e9..2.0e9).contains(&bytes), "{bytes}");
}

#[test]
fn a_run_is_stopped_by_its_meter() {
    let meter = crate::Meter::default();
    meter.stop();
    let run = crate::simulate_metered(&scenario("100 s", &flow("")), &meter).unwrap();
    assert_eq!(run, None);
    assert!(meter.now() < ackclock_units::Instant::START + Duration::from_secs(50));
}
