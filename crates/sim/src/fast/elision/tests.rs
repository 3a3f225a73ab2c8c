use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::Meter;
use crate::Scenario;
use crate::fast::Engine;
use crate::layout::topology::flow_entries;
use crate::records::Run;

fn read(scenario: &Value) -> Scenario {
    Scenario::from_json(&scenario.to_string()).unwrap()
}

fn layout(scenario: &Value) -> Layout {
    let scenario = read(scenario);
    Layout::new(&scenario, &flow_entries(&scenario)).unwrap()
}

const NOTHING: Elsewhere<'_> = Elsewhere { crossed: &[], watched: &[], probed: &[] };

/// The names of the links that are elided, reverse directions with a dash.
fn names(scenario: &Value, elsewhere: &Elsewhere<'_>) -> Vec<String> {
    let layout = layout(scenario);
    let elided = elided(&layout, elsewhere);
    let elided = layout.wires.iter().zip(elided).filter(|(_, elided)| *elided);
    elided
        .map(|(wire, _)| match wire.direction {
            crate::scenario::Direction::Forward => wire.name.clone(),
            crate::scenario::Direction::Reverse => format!("-{}", wire.name),
        })
        .collect()
}

fn dumbbell(flows: u32) -> Value {
    json!({
        "duration": "1 s",
        "topology": {
            "kind": "dumbbell",
            "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms"},
            "access": {"rate": "100 Mbit/s", "delay": "1 ms"},
        },
        "flow": [{"name": "f", "variant": "newreno", "count": flows}],
    })
}

fn graph(links: &[[&str; 2]], flows: &[[&str; 2]]) -> Value {
    let link = |[from, to]: &[&str; 2]| json!({"name": format!("{from}{to}"), "from": from, "to": to, "rate": "10 Mbit/s", "delay": "1 ms"});
    let flow = |(n, [from, to]): (usize, &[&str; 2])| json!({"name": format!("f{n}"), "variant": "newreno", "from": from, "to": to});
    json!({
        "duration": "1 s",
        "topology": {"kind": "graph", "link": links.iter().map(link).collect::<Vec<_>>()},
        "flow": flows.iter().enumerate().map(flow).collect::<Vec<_>>(),
    })
}

#[test]
fn on_a_dumbbell_the_last_links_are_elided() {
    assert_eq!(
        names(&dumbbell(2), &NOTHING),
        ["-access-left-f-1", "access-right-f-1", "-access-left-f-2", "access-right-f-2"]
    );
    // Of a single flow everything but the links at the hosts.
    assert_eq!(
        names(&dumbbell(1), &NOTHING),
        ["bottleneck", "-bottleneck", "-access-left-f", "access-right-f"]
    );
}

#[test]
fn what_happens_elsewhere_keeps_a_link_apart() {
    // Wires: bottleneck 0 and 1, access-left 2 and 3, access-right 4 and 5.
    let alone = dumbbell(1);
    let crossed = Elsewhere { crossed: &[0], ..NOTHING };
    assert_eq!(names(&alone, &crossed), ["-bottleneck", "-access-left-f", "access-right-f"]);
    // A probe of every arrival at the last link: its packets must come at their time, and then all
    // others' must.
    let watched = Elsewhere { watched: &[4], ..NOTHING };
    assert!(names(&dumbbell(2), &watched).is_empty());
    // Of both directions of the bottleneck: two records of one moment could change places.
    let watched = Elsewhere { watched: &[0, 1], ..NOTHING };
    assert!(names(&dumbbell(2), &watched).is_empty());
    let watched = Elsewhere { watched: &[0], ..NOTHING };
    assert_eq!(names(&dumbbell(2), &watched).len(), 4);
    let mut impaired = dumbbell(1);
    impaired["topology"]["access"]["reorder"] = json!({"share": 0.1, "delay": "1 ms"});
    assert!(names(&impaired, &NOTHING).is_empty());
    let mut fair = dumbbell(2);
    fair["topology"]["bottleneck"]["queue"] = json!({"kind": "fair", "limit": "20 packet"});
    assert!(names(&fair, &NOTHING).is_empty());
}

#[test]
fn paths_that_join_twice_are_not_elided() {
    // A parking lot: b's flow joins a's at the second queue.
    let lot = [["a", "r"], ["x", "r"], ["r", "s"], ["s", "t"], ["b", "s"]];
    assert!(names(&graph(&lot, &[["a", "t"], ["x", "t"], ["b", "t"]]), &NOTHING).is_empty());
    // Two flows through one queue, but what comes back to their senders leaves by different links:
    // nothing orders two ACKs that come to them at once.
    let apart = [["a", "r"], ["b", "r"], ["r", "c"], ["r", "d"]];
    assert!(names(&graph(&apart, &[["a", "c"], ["b", "c"], ["d", "b"]]), &NOTHING).is_empty());
    // Alone, a chain is elided from end to end.
    let chain = [["a", "b"], ["b", "c"], ["c", "d"]];
    assert_eq!(names(&graph(&chain, &[["a", "d"]]), &NOTHING), ["-ab", "bc", "-bc", "cd"]);
}

fn run(scenario: &Value, way: impl FnOnce(Engine<'static>) -> Engine<'static>) -> Run {
    let scenario = read(scenario);
    scenario.check().unwrap();
    way(Engine::unwatched(&scenario)).run().unwrap()
}

/// The run of the reference engine, in which every hop is an event.
fn reference(scenario: &Value) -> Run {
    let run = crate::Engine::Reference.simulate(&read(scenario), &Meter::default());
    run.unwrap().unwrap()
}

/// A link that may be elided; equal rates and delays, so that many events fall on one instant.
fn link() -> impl Strategy<Value = Value> {
    let rate = prop::sample::select(vec!["1 Mbit/s", "2 Mbit/s", "10 Mbit/s", "3 Mbit/s"]);
    let delay = prop::sample::select(vec!["1 ms", "1 ms", "2 ms", "5 ms"]);
    let limit = prop::sample::select(vec!["3 packet", "20 packet", "10 kB", "unlimited"]);
    let loss =
        prop::sample::select(vec![json!(0.0), json!(0.0), json!(0.01), json!({"every": 40})]);
    (rate, delay, limit, loss, any::<bool>()).prop_map(|(rate, delay, limit, loss, counts)| {
        let queue = json!({"kind": "droptail", "limit": limit, "counts_in_service": counts});
        json!({"rate": rate, "delay": delay, "loss": loss, "queue": queue})
    })
}

fn with(link: &Value, more: &Value) -> Value {
    let mut all = link.clone();
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

/// A dumbbell, a star of up to four leaves or a chain, with flows across it.
fn topology() -> impl Strategy<Value = (Value, Vec<[String; 2]>)> {
    let links = prop::collection::vec(link(), 4);
    (0..3_usize, links, prop::collection::vec((0..4_usize, 1..4_usize), 1..5)).prop_map(
        |(kind, links, pairs)| {
            if kind == 0 {
                let topology =
                    json!({"kind": "dumbbell", "bottleneck": links[0], "access": links[1]});
                return (topology, Vec::new());
            }
            let ends = |n: usize| match kind {
                1 => ["hub".to_owned(), format!("n{n}")],
                _ => [format!("n{n}"), format!("n{}", n + 1)],
            };
            let links: Vec<Value> = links
                .iter()
                .enumerate()
                .map(|(n, link)| {
                    let [from, to] = ends(n);
                    with(link, &json!({"name": format!("l{n}"), "from": from, "to": to}))
                })
                .collect();
            let flows = pairs
                .iter()
                .map(|(from, step)| [format!("n{from}"), format!("n{}", (from + step) % 4)]);
            (json!({"kind": "graph", "link": links}), flows.collect())
        },
    )
}

/// Two paced senders have segments due at one instant: the one whose timer was set first sends first.
#[test]
fn timers_of_one_instant_go_in_the_order_in_which_they_were_set() {
    // Of 65,000 segments of 20 senders, with a nanosecond as the clock's step, some fall on one instant.
    let scenario = json!({
        "duration": "2 s",
        "topology": {
            "kind": "dumbbell",
            "bottleneck": {"rate": "300 Mbit/s", "delay": "48 ms",
                "queue": {"kind": "droptail", "limit": "1 BDP"}},
            "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
        },
        "flow": [{"name": "f", "count": 20, "variant": "bbr", "stagger": "1 ms",
            "tcp": {"mss": "1448 B", "delayed_ack": "off"}}],
    });
    let plain = reference(&scenario);
    let with_lookahead = run(&scenario, Engine::with_lookahead);
    let same =
        format!("{plain:?}") == format!("{:?}", Run { events: plain.events, ..with_lookahead });
    assert!(same);
}

/// Two links bring packets at one instant, and two ACKs that answer them come to a link at one instant. The ACK goes
/// first whose data packet was the first to leave the link before both.
#[test]
fn arrivals_by_two_links_go_in_the_order_of_the_link_before_both() {
    // A random scenario, made smaller by proptest.
    let links = [("l0", 1), ("l1", 2), ("l2", 1), ("l3", 1)].map(|(name, mbps)| {
        json!({"name": name, "from": "hub", "to": name.replace('l', "n"), "rate": format!("{mbps} Mbit/s"),
            "delay": "1 ms", "queue": {"kind": "droptail", "limit": "3 packet"}})
    });
    let flows = [("f0", "n3"), ("f1", "n2")].map(|(name, to)| {
        json!({"name": name, "from": "n1", "to": to, "count": 2, "variant": "newreno",
            "tcp": {"delayed_ack": "off"}})
    });
    let scenario = json!({
        "duration": "1.5 s",
        "topology": {"kind": "graph", "link": links},
        "flow": flows,
    });
    let plain = reference(&scenario);
    let with_lookahead = run(&scenario, Engine::with_lookahead);
    let same =
        format!("{plain:?}") == format!("{:?}", Run { events: plain.events, ..with_lookahead });
    assert!(same);
}

/// A queue that decides at departure who goes next behind another link that the same flows share.
#[test]
fn a_queue_behind_a_shared_link_is_asked_in_the_order_of_time() {
    for queue in ["fair", "red", "codel", "fq_codel", "pie"] {
        let link = |name: &str, from: &str, to: &str, rate: &str, queue: Value| {
            json!({"name": name, "from": from, "to": to, "rate": rate, "delay": "5 ms", "queue": queue,
                "reverse": {"queue": {"kind": "droptail", "limit": "40 packet"}}})
        };
        let droptail = || json!({"kind": "droptail", "limit": "40 packet"});
        let scenario = json!({
            "duration": "5 s",
            "topology": {"kind": "graph", "link": [
                link("l0", "n0", "n1", "10 Mbit/s", droptail()),
                link("l1", "n1", "n2", "3 Mbit/s", json!({"kind": queue, "limit": "20 packet"})),
            ]},
            "flow": [{"name": "f", "from": "n0", "to": "n2", "count": 3, "variant": "newreno",
                "tcp": {"delayed_ack": "off"}}],
        });
        assert!(
            crate::fast::lookahead::lookahead(&read(&scenario), &layout(&scenario), &NOTHING)
                .is_some()
        );
        let plain = reference(&scenario);
        let with_lookahead = run(&scenario, Engine::with_lookahead);
        let same =
            format!("{plain:?}") == format!("{:?}", Run { events: plain.events, ..with_lookahead });
        assert!(same, "{queue}");
    }
}

/// A queue that decides at departure on no flow's way, where only cross-traffic waits.
#[test]
fn cross_traffic_waits_where_no_flow_does() {
    let mut scenario = graph(&[["a", "b"], ["b", "c"]], &[["b", "c"], ["b", "c"]]);
    scenario["topology"]["link"][0]["queue"] = json!({"kind": "red", "limit": "20 packet"});
    scenario["cross_traffic"] = json!([
        {"link": "ab", "kind": "poisson", "rate": "2000 packet/s", "size": "500 B"}
    ]);
    let plain = reference(&scenario);
    let with_lookahead = run(&scenario, Engine::with_lookahead);
    assert!(plain.sources.iter().any(|row| row.delivered_packets > 1000));
    let same =
        format!("{plain:?}") == format!("{:?}", Run { events: plain.events, ..with_lookahead });
    assert!(same);
}

/// A link that is offered packets ahead of their time is seen by a probe as it is at that time.
#[test]
fn probes_see_elided_links_as_they_are() {
    let chain = [["a", "b"], ["b", "c"], ["c", "d"]];
    let mut scenario = graph(&chain, &[["a", "d"]]);
    scenario["probe"] = json!([{"link": "bc", "every": "1.7 ms"}]);
    let (elided, unelided) = (run(&scenario, Engine::by_the_clock), reference(&scenario));
    assert!(elided.events < unelided.events);
    assert_eq!(format!("{:?}", elided.link_samples), format!("{:?}", unelided.link_samples));
}

proptest! {
    /// Fused or not, a run leaves the same behind, to the last bit.
    #[test]
    fn elision_changes_no_result(
        (topology, ends) in topology(),
        variant in prop::sample::select(vec!["newreno", "newreno+sack", "cubic", "bbr", "dctcp"]),
        count in 1_u32..4,
        cross: bool,
        probes in 0_u32..16,
        queue in prop::sample::select(vec!["", "", "droptail", "red", "codel", "fq_codel", "pie"]),
        all: bool,
    ) {
        let mut topology = topology;
        if !queue.is_empty() {
            // Where departures are events nothing is elided if events go by the clock.
            let mut queue = json!({"kind": queue, "limit": "20 packet"});
            if queue["kind"] == "droptail" {
                queue["mark"] = json!("3 packet");
            }
            match topology.get_mut("link").and_then(Value::as_array_mut) {
                Some(links) => {
                    links.iter_mut().filter(|_| all).for_each(|link| link["queue"] = queue.clone());
                    links[1]["queue"] = queue;
                }
                None => topology["bottleneck"]["queue"] = queue,
            }
        }
        let flow = |n: usize| json!({
            "name": format!("f{n}"), "variant": variant, "count": count,
            "tcp": {"delayed_ack": "off"},
        });
        let flows: Vec<Value> = match ends.as_slice() {
            [] => vec![flow(0), flow(1)],
            _ => ends.iter().enumerate()
                .map(|(n, [from, to])| with(&flow(n), &json!({"from": from, "to": to})))
                .collect(),
        };
        let link = if ends.is_empty() { "bottleneck" } else { "l1" };
        let mut all_probes = Vec::new();
        if probes & 8 != 0 {
            all_probes.push(json!({"link": link, "every": "1.7 ms"}));
        }
        if probes & 1 != 0 {
            all_probes.push(json!({"link": link, "every": "change", "direction": "reverse"}));
        }
        if probes & 2 != 0 {
            all_probes.push(json!({"flow": "f0", "every": "change"}));
        }
        if probes & 4 != 0 {
            all_probes.push(json!({"link": link, "every": "change"}));
        }
        let mut scenario = json!({
            "duration": "1.5 s",
            "topology": topology,
            "flow": flows,
            "measure": [{"name": "m", "from": "0.31 s", "for": "0.77 s"}],
            "probe": all_probes,
        });
        if cross {
            scenario["cross_traffic"] = json!([
                {"link": link, "kind": "poisson", "rate": "50 packet/s", "size": "500 B"}
            ]);
        }
        let unelided = reference(&scenario);
        let elided = run(&scenario, Engine::by_the_clock);
        prop_assert!(elided.events <= unelided.events);
        for other in [elided, run(&scenario, Engine::with_lookahead)] {
            let other = Run { events: unelided.events, ..other };
            // As text: a threshold that is not set is no number, and equal to nothing.
            let (a, b) = (format!("{other:?}"), format!("{unelided:?}"));
            let at = a.bytes().zip(b.bytes()).position(|(a, b)| a != b).unwrap_or(a.len().min(b.len()));
            let near = |t: &str| t[at.saturating_sub(300)..t.len().min(at + 60)].to_owned();
            prop_assert!(a == b, "{scenario} {} {}\nA {}\nB {}", a.len(), b.len(), near(&a), near(&b));
        }
    }
}
