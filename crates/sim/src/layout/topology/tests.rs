use ackclock_net::{QueueLimit, QueueUnit};

use super::*;

fn layout(topology: &str, flow: &str) -> Result<Layout, ScenarioError> {
    let text = format!(
        r#"{{"duration": "1 s", "topology": {topology}, "flow": [{{"name": "f", "variant": "reno"{flow}}}]}}"#
    );
    let scenario = Scenario::from_json(&text).unwrap();
    Layout::new(&scenario, &vec![0; scenario.flows[0].count as usize])
}

const DUMBBELL: &str = r#"{
    "kind": "dumbbell",
    "bottleneck": {"rate": "10 Mbit/s", "delay": "48 ms"},
    "access": {"rate": "1 Gbit/s", "delay": "1 ms"}
}"#;

fn names(layout: &Layout, path: &[usize]) -> Vec<String> {
    path.iter()
        .map(|w| format!("{} {}", layout.wires[*w].name, layout.wires[*w].direction.as_str()))
        .collect()
}

#[test]
fn a_dumbbell_gives_each_flow_its_access_links() {
    let layout = layout(DUMBBELL, r#", "count": 2"#).unwrap();
    assert_eq!(
        names(&layout, &layout.paths[1][0]),
        ["access-left-f-2 forward", "bottleneck forward", "access-right-f-2 forward"]
    );
    assert_eq!(
        names(&layout, &layout.paths[1][1]),
        ["access-right-f-2 reverse", "bottleneck reverse", "access-left-f-2 reverse"]
    );
    // 2 * (1 + 48 + 1) ms.
    assert_eq!(layout.base_rtt(0), Duration::from_millis(100));
    // floor(10 Mbit/s * 100 ms / 1500 B) = floor(125000 / 1500) = 83.
    let limit = layout.wires[0].config.limit;
    assert_eq!(limit, QueueLimit { amount: 83, unit: QueueUnit::Packets });
}

const DIAMOND: &str = r#"{
    "kind": "graph",
    "link": [
        {"name": "slow", "from": "a", "to": "d", "rate": "1 Mbit/s", "delay": "30 ms"},
        {"name": "ab", "from": "a", "to": "b", "rate": "1 Mbit/s", "delay": "10 ms"},
        {"name": "db", "from": "d", "to": "b", "rate": "1 Mbit/s", "delay": "10 ms",
         "reverse": {"delay": "15 ms"}},
        {"name": "far", "from": "x", "to": "y", "rate": "1 Mbit/s", "delay": "1 ms"}
    ]
}"#;

#[test]
fn flows_of_a_graph_take_the_path_of_least_delay() {
    let layout = layout(DIAMOND, r#", "from": "a", "to": "d""#).unwrap();
    // a-b-d: 10 + 15 = 25 ms beats 30 ms; back d-b-a: 10 + 10.
    assert_eq!(names(&layout, &layout.paths[0][0]), ["ab forward", "db reverse"]);
    assert_eq!(names(&layout, &layout.paths[0][1]), ["db forward", "ab reverse"]);
    assert_eq!(layout.base_rtt(0), Duration::from_millis(45));
}

#[test]
fn a_flow_that_cannot_be_routed_is_refused_by_name() {
    let error = |flow| layout(DIAMOND, flow).unwrap_err();
    assert_eq!(error(r#", "from": "a""#).key, "flow[0].to");
    let unknown = error(r#", "from": "a", "to": "e""#);
    assert_eq!(unknown.message, "unknown node `e`, expected one of `a`, `b`, `d`, `x`, `y`");
    assert!(error(r#", "from": "a", "to": "x""#).message.contains("no path"));
    assert!(error(r#", "from": "a", "to": "a""#).message.contains("another node"));
}
