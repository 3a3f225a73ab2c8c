use serde_json::{Value, json};

use crate::scenario::Scenario;

/// A scenario of a second, with `value` at the JSON pointer `place`.
fn refused(place: &str, value: Value) -> String {
    let mut text = json!({
        "duration": "1 s",
        "topology": {
            "kind": "dumbbell",
            "bottleneck": {"rate": "2 Mbit/s", "delay": "20 ms", "reverse": {}},
            "access": {"rate": "10 Mbit/s", "delay": "1 ms"},
        },
        "flow": [{"name": "a", "variant": "newreno", "tcp": {}, "count": 3}],
        "event": [{"at": "0.5 s", "link": "bottleneck", "set": {"loss": 0.0}}],
        "probe": [{"flow": "a", "every": "1 ms"}],
    });
    let (table, key) = place.rsplit_once('/').unwrap();
    text.pointer_mut(table).unwrap()[key] = value;
    let scenario = Scenario::from_json(&text.to_string()).unwrap();
    let error = scenario.check().unwrap_err();
    format!("{}: {}", error.key, error.message)
}

#[test]
fn times_that_no_path_has_are_refused() {
    let day = "expected at most 1 day (24 h)";
    for (place, key) in [
        ("/topology/bottleneck/delay", "topology.bottleneck.delay"),
        ("/topology/bottleneck/reverse/delay", "topology.bottleneck.reverse.delay"),
        ("/topology/access/delay", "topology.access.delay"),
        ("/flow/0/tcp/min_rto", "flow[0].tcp.min_rto"),
        ("/flow/0/tcp/initial_rto", "flow[0].tcp.initial_rto"),
        ("/flow/0/tcp/max_rto", "flow[0].tcp.max_rto"),
        ("/event/0/set/delay", "event[0].set.delay"),
    ] {
        assert_eq!(refused(place, json!("86401 s")), format!("{key}: {day}"));
    }
    for key in ["clock_granularity", "handshake_tick"] {
        let expected = format!("flow[0].tcp.{key}: expected at most 60 s");
        assert_eq!(refused(&format!("/flow/0/tcp/{key}"), json!("61 s")), expected);
    }
}

#[test]
fn a_flow_that_would_begin_after_the_run_is_refused() {
    let end = "expected a moment before the end of the run";
    assert_eq!(refused("/flow/0/start", json!("1 s")), format!("flow[0].start: {end}"));
    let drawn = json!({"uniform": ["2 s", "3 s"]});
    assert_eq!(refused("/flow/0/start", drawn), format!("flow[0].start: {end}"));
    // The third of three begins after two stretches of 0.6 s.
    assert_eq!(
        refused("/flow/0/stagger", json!("600 ms")),
        "flow[0].stagger: the last of 3 flows would begin at 1.2 s, expected before the end of the run"
    );
}

#[test]
fn volumes_that_mean_nothing_are_refused() {
    assert_eq!(
        refused("/flow/0/app", json!({"kind": "bulk", "size": "0 B"})),
        "flow[0].app.size: expected at least 1 B; a transfer without an end has no `size`"
    );
    // RFC 7323 (2.3): a window has at most 2^30 bytes; of 1460 B a segment that is 735,439 of them.
    assert_eq!(
        refused("/flow/0/tcp/initial_window", json!(735_440)),
        "flow[0].tcp.initial_window: expected at most 1 GiB of segments"
    );
}

#[test]
fn a_probe_names_each_value_once_and_no_direction_of_a_flow() {
    assert_eq!(
        refused("/probe/0/what", json!(["cwnd", "srtt", "cwnd"])),
        "probe[0].what: a word stands twice; leave one out"
    );
    assert_eq!(
        refused("/probe/0/direction", json!("reverse")),
        "probe[0].direction: a flow has no direction; leave this key out"
    );
}

#[test]
fn a_source_sends_at_most_a_packet_a_tick_of_the_clock() {
    // Gaps below half a nanosecond are 0 on a clock of nanoseconds: time would stand still.
    let source = json!([{"link": "bottleneck", "kind": "poisson", "size": "1 kB", "stop": "1 ns",
        "rate": "2000000000 packet/s"}]);
    assert_eq!(
        refused("/cross_traffic", source),
        "cross_traffic[0].rate: expected at most 10^9 a second, one in each nanosecond of the clock"
    );
    let class = json!([{"name": "w", "variant": "reno", "stop": "1 ns",
        "arrivals": {"kind": "periodic", "rate": "2000000000 /s"},
        "app": {"kind": "bulk", "size": "1 kB"}}]);
    assert_eq!(
        refused("/traffic", class),
        "traffic[0].arrivals.rate: expected at most 10^9 a second, one in each nanosecond of the clock"
    );
}
