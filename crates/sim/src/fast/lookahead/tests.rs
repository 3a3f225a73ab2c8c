use serde_json::{Value, json};

use super::*;
use crate::layout::topology::flow_entries;

fn of(scenario: &Value) -> Option<Lookahead> {
    beside(scenario, &Elsewhere { crossed: &[], watched: &[], probed: &[] })
}

fn beside(scenario: &Value, elsewhere: &Elsewhere<'_>) -> Option<Lookahead> {
    let scenario = Scenario::from_json(&scenario.to_string()).unwrap();
    scenario.check().unwrap();
    let layout = Layout::new(&scenario, &flow_entries(&scenario)).unwrap();
    lookahead(&scenario, &layout, elsewhere)
}

fn dumbbell(flows: u32) -> Value {
    json!({
        "duration": "1 s",
        "topology": {
            "kind": "dumbbell",
            "bottleneck": {"rate": "100 Mbit/s", "delay": "10 ms"},
            "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
        },
        "flow": [{"name": "f", "variant": "newreno", "count": flows}],
    })
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn a_window_is_as_long_as_the_links_before_and_behind_the_shared_ones() {
    // To the bottleneck 1 ms; over it, and from there to the host, 10 + 1.
    let lookahead = of(&dumbbell(2)).unwrap();
    let partition = |hosts: &[u32], bottleneck| Partition {
        hosts: hosts.to_vec(),
        lookahead_to_core: ms(1),
        lookahead_to_hosts: Some(ms(11)),
        bottlenecks: vec![bottleneck],
    };
    // Senders send by the bottleneck's one direction, receivers by the other: each waits for the other's whole way.
    let partitions = [partition(&[0, 2], 0), partition(&[1, 3], 1)];
    assert_eq!((&*lookahead.partitions, lookahead.between_hosts), (&partitions[..], None));
    assert_eq!(lookahead.length(), ms(24));
    // Both directions of the bottleneck are shared; of each flow's four links at hosts, none.
    assert_eq!(lookahead.own.iter().filter(|own| !**own).count(), 2);
    // 24 ms at 100 Mbit/s are 200 packets, for four hosts.
    assert!(lookahead.worth_it);
    // A flow alone shares nothing: 1 + 10 + 1 from host to host.
    let lookahead = of(&dumbbell(1)).unwrap();
    let [Partition { lookahead_to_hosts: None, .. }] = *lookahead.partitions else {
        panic!("{lookahead:?}")
    };
    assert_eq!(lookahead.between_hosts, Some(ms(12)));
    // With a queue whose departures are events, the same as without.
    let mut managed = dumbbell(2);
    managed["topology"]["bottleneck"]["queue"] = json!({"kind": "codel"});
    assert_eq!(of(&managed).unwrap().partitions, partitions);
    // Of a flow alone such a link is not the host's.
    managed["flow"][0]["count"] = json!(1);
    assert_eq!(of(&managed), None);
}

#[test]
fn hosts_that_send_by_the_links_that_bring_them_something_are_of_one_side() {
    let partitions = |ends: &[[&str; 2]]| -> Vec<Vec<u32>> {
        let flows = ends.iter().enumerate().map(|(n, [from, to])| {
            json!({"name": format!("f{n}"), "variant": "newreno", "from": from, "to": to})
        });
        let links =
            [["a", "x"], ["b", "x"], ["x", "y"], ["y", "c"], ["y", "d"]].map(|[from, to]| {
                let name = format!("{from}{to}");
                json!({"name": name, "from": from, "to": to, "rate": "1 Mbit/s", "delay": "1 ms"})
            });
        let scenario = json!({
            "duration": "1 s",
            "topology": {"kind": "graph", "link": links},
            "flow": flows.collect::<Vec<_>>(),
        });
        of(&scenario).unwrap().partitions.into_iter().map(|partition| partition.hosts).collect()
    };
    assert_eq!(partitions(&[["a", "c"], ["b", "d"]]), [[0, 2], [1, 3]]);
    // The other way round, senders send by the links by which the others' ACKs come.
    assert_eq!(partitions(&[["a", "c"], ["d", "b"]]), [[0, 3], [2, 1]]);
    // Each of three leaves of a star has a link in and one out, over which it sends to the next one and hears of the
    // one before: what is behind which cannot be told.
    let around = [["a", "b"], ["b", "x"], ["x", "a"]];
    let mut scenario = dumbbell(0);
    let links = ["a", "b", "x"].map(|leaf| {
        json!({"name": leaf, "from": "hub", "to": leaf, "rate": "1 Mbit/s", "delay": "1 ms"})
    });
    scenario["topology"] = json!({"kind": "graph", "link": links});
    let flows = around
        .map(|[from, to]| json!({"name": from, "variant": "newreno", "from": from, "to": to}));
    scenario["flow"] = json!(flows);
    let layout = |scenario: &Value| {
        let scenario = Scenario::from_json(&scenario.to_string()).unwrap();
        Layout::new(&scenario, &flow_entries(&scenario)).unwrap()
    };
    let elsewhere = Elsewhere { crossed: &[], watched: &[], probed: &[] };
    assert_eq!(super::partitions(&layout(&scenario), &elsewhere, &[false; 6]), [0; 6]);
    // Of two of these ways all is known.
    scenario["flow"].as_array_mut().unwrap().pop();
    assert_eq!(super::partitions(&layout(&scenario), &elsewhere, &[false; 6]), [0, 1, 1, 0]);
}

#[test]
fn other_ties_between_hosts_forbid_lookahead() {
    let with = |key: &str, value: Value| {
        let mut scenario = dumbbell(2);
        scenario[key] = value;
        of(&scenario)
    };
    let flow = |app: Value| json!([{"name": "f", "variant": "newreno", "count": 2, "app": app}]);
    // The far end is told at once of what will come.
    assert_eq!(with("flow", flow(json!({"kind": "bulk", "size": "1 MB"}))), None);
    assert_eq!(
        with("event", json!([{"at": "0.5 s", "link": "bottleneck", "set": {"delay": "20 ms"}}])),
        None
    );
    assert!(with("measure", json!([{"name": "m", "from": "0.2 s"}])).is_some());
    let mut ruled = dumbbell(2);
    ruled["topology"]["bottleneck"]["rcp"] = json!({});
    assert_eq!(of(&ruled), None);
    let mut impaired = dumbbell(2);
    impaired["topology"]["bottleneck"]["duplicate"] = json!(0.1);
    assert_eq!(of(&impaired), None);
    let mut near = dumbbell(2);
    near["topology"]["bottleneck"]["delay"] = json!("0 s");
    near["topology"]["access"]["delay"] = json!("0 s");
    assert_eq!(of(&near), None);
}

#[test]
fn what_is_recorded_or_enters_elsewhere_counts() {
    let nothing = Elsewhere { crossed: &[], watched: &[], probed: &[] };
    // Wires: bottleneck 0 and 1, access-left 2 and 3 of the first flow.
    assert_eq!(beside(&dumbbell(2), &Elsewhere { watched: &[0], ..nothing }), None);
    // Cross-traffic is on a clock, of which one side would be ahead of the other.
    let crossed = beside(&dumbbell(2), &Elsewhere { crossed: &[0], ..nothing }).unwrap();
    assert_eq!(crossed.partitions.len(), 1);
    assert_eq!(beside(&dumbbell(2), &Elsewhere { crossed: &[2], ..nothing }), None);
    // 4096 packets of 12,000 bits at 100 Mbit/s.
    let probed = beside(&dumbbell(2), &Elsewhere { probed: &[0, 1], ..nothing }).unwrap();
    assert_eq!(probed.longest, Some(Duration::from_nanos(491_520_000)));
}

#[test]
fn windows_in_which_little_happens_are_not_taken() {
    // A packet of 12,000 bits takes 12 ms; both windows are twice as long, and there are 2000 hosts to look at.
    let mut slow = dumbbell(1000);
    slow["topology"]["bottleneck"]["rate"] = json!("1 Mbit/s");
    assert!(!of(&slow).unwrap().worth_it);
    // At 100 Mbit/s 200 packets, for each of which 10 hosts are looked at.
    assert!(of(&dumbbell(1000)).unwrap().worth_it);
    // Where something is recorded every 0.1 ms, each window ends there.
    let mut seen = dumbbell(1000);
    seen["probe"] = json!([{"link": "bottleneck", "every": "0.1 ms"}]);
    assert!(!of(&seen).unwrap().worth_it);
}
