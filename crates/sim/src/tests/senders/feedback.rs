//! RCP and XCP: what routers and senders come to together, against theory.

use super::{run, scenario};
use crate::records::{FlowRow, LinkRow, Run};

/// Bulk flows over a bottleneck of 20 Mbit/s, 60 ms there and back.
fn dumbbell(law: &str, flows: &str, measures: &str, duration: &str) -> String {
    format!(
        r#"{{
            "duration": "{duration}",
            "topology": {{
                "kind": "dumbbell",
                "bottleneck": {{"rate": "20 Mbit/s", "delay": "28 ms", "{law}": {{}}}},
                "access": {{"rate": "1 Gbit/s", "delay": "1 ms", "{law}": {{}}}}
            }},
            "flow": [{flows}],
            "measure": [{measures}]
        }}"#
    )
}

fn flows<'a>(run: &'a Run, measure: &str) -> Vec<&'a FlowRow> {
    run.flows.iter().filter(|row| row.measure == measure).collect()
}

fn link<'a>(run: &'a Run, measure: &str, name: &str) -> &'a LinkRow {
    run.links
        .iter()
        .find(|row| (&*row.measure, &*row.link, row.direction) == (measure, name, "forward"))
        .unwrap()
}

/// The rate of a flow on the wire, in Mbit/s: 1500 bytes for 1440 of payload.
fn wire_mbps(row: &FlowRow) -> f64 {
    row.goodput_bps * 1500.0 / 1440.0 / 1e6
}

fn assert_near(value: f64, expected: f64, within: f64, what: &str) {
    assert!((value / expected - 1.0).abs() <= within, "{what}: {value} is not {expected}");
}

const LATE: &str = r#"{"name": "late", "from": "10 s"}"#;

#[test]
fn n_rcp_flows_have_an_nth_of_the_target_each() {
    // 0.95 of 20 Mbit/s.
    for n in [1_u32, 4, 10] {
        let flow =
            format!(r#"{{"name": "f", "count": {n}, "variant": "rcp", "stagger": "300 ms"}}"#);
        let run = run(&dumbbell("rcp", &flow, LATE, "30 s"));
        for row in flows(&run, "late") {
            assert_near(wire_mbps(row), 19.0 / f64::from(n), 0.01, &row.flow);
            assert_eq!(row.segments_retransmitted, 0);
        }
        // No queue stands: what waits are packets of flows that meet.
        let delay = link(&run, "late", "bottleneck").queue_delay_mean_s.unwrap();
        assert!(delay < 0.002, "{delay}");
    }
}

#[test]
fn an_rcp_flow_that_others_join_gives_way() {
    // One alone has 19 Mbit/s; from 10 s on four share: 4.75.
    let flow = r#"
        {"name": "first", "variant": "rcp"},
        {"name": "later", "count": 3, "variant": "rcp", "start": "10 s"}"#;
    let measures = r#"
        {"name": "alone", "from": "5 s", "for": "5 s"},
        {"name": "late", "from": "15 s"}"#;
    let run = run(&dumbbell("rcp", flow, measures, "30 s"));
    assert_near(wire_mbps(flows(&run, "alone")[0]), 19.0, 0.01, "alone");
    for row in flows(&run, "late") {
        assert_near(wire_mbps(row), 4.75, 0.01, &row.flow);
    }
}

#[test]
fn n_xcp_flows_share_the_link_alike() {
    for n in [1_u32, 4, 10] {
        let flow =
            format!(r#"{{"name": "f", "count": {n}, "variant": "xcp", "stagger": "300 ms"}}"#);
        let run = run(&dumbbell("xcp", &flow, LATE, "30 s"));
        for row in flows(&run, "late") {
            assert_near(wire_mbps(row), 20.0 / f64::from(n), 0.03, &row.flow);
        }
        // Katabi et al. §5: nothing is dropped, the queue is small, the link is in use.
        let bottleneck = link(&run, "run", "bottleneck");
        assert_eq!(bottleneck.dropped_packets, 0);
        let late = link(&run, "late", "bottleneck");
        assert!(late.utilisation > 0.97, "{late:?}");
        assert!(late.queue_delay_mean_s.unwrap() < 0.010, "{late:?}");
    }
}

#[test]
fn xcp_is_stable_whatever_the_delay() {
    // Theorem 1: alpha < pi/(4 sqrt 2), beta = alpha^2 sqrt 2, for any capacity and delay. With 10 to
    // 1000 ms the window settles: between the seconds of the last third its rate hardly moves.
    for (delay, from) in [("4 ms", 20), ("99 ms", 40), ("499 ms", 120)] {
        let measures: Vec<String> = (0..5)
            .map(|n| {
                let at = from + 4 * n;
                format!(r#"{{"name": "m{n}", "from": "{at} s", "for": "4 s"}}"#)
            })
            .collect();
        let flow = r#"{"name": "f", "count": 3, "variant": "xcp",
                       "tcp": {"receive_window": "64 MB"}}"#;
        let text = dumbbell("xcp", flow, &measures.join(", "), &format!("{} s", from + 20));
        let run = run(&text.replace("28 ms", delay));
        for n in 0..5 {
            let name = format!("m{n}");
            let used = link(&run, &name, "bottleneck").utilisation;
            assert!(used > 0.95, "{delay} {name}: {used}");
            assert_eq!(link(&run, &name, "bottleneck").dropped_packets, 0);
            for row in flows(&run, &name) {
                assert_near(wire_mbps(row), 20.0 / 3.0, 0.08, &format!("{delay} {name}"));
            }
        }
    }
}

/// Two bottlenecks in a row, 10 and 20 Mbit/s; one flow over both, one over each alone.
fn parking_lot(law: &str) -> String {
    let link = |name: &str, from: &str, to: &str, rate: &str| {
        format!(
            r#"{{"name": "{name}", "from": "{from}", "to": "{to}", "rate": "{rate}",
                "delay": "10 ms", "{law}": {{}}}}"#
        )
    };
    let links = [
        link("a", "r1", "r2", "10 Mbit/s"),
        link("b", "r2", "r3", "20 Mbit/s"),
        link("h1", "s1", "r1", "1 Gbit/s"),
        link("h2", "r3", "d1", "1 Gbit/s"),
        link("h3", "s2", "r1", "1 Gbit/s"),
        link("h4", "r2", "d2", "1 Gbit/s"),
        link("h5", "s3", "r2", "1 Gbit/s"),
        link("h6", "r3", "d3", "1 Gbit/s"),
    ];
    let flow = |name: &str, n: u32| {
        format!(r#"{{"name": "{name}", "variant": "{law}", "from": "s{n}", "to": "d{n}"}}"#)
    };
    format!(
        r#"{{"duration": "60 s", "topology": {{"kind": "graph", "link": [{}]}},
            "flow": [{}, {}, {}], "measure": [{{"name": "late", "from": "30 s"}}]}}"#,
        links.join(", "),
        flow("both", 1),
        flow("only a", 2),
        flow("only b", 3)
    )
}

#[test]
fn rcp_shares_two_bottlenecks_max_min() {
    // Of 9.5 Mbit/s on `a` both have 4.75; of 19 on `b` the other has what is left, 14.25.
    let run = run(&parking_lot("rcp"));
    let rates: Vec<f64> = flows(&run, "late").iter().map(|row| wire_mbps(row)).collect();
    for (rate, expected) in rates.iter().zip([4.75, 4.75, 14.25]) {
        assert_near(*rate, expected, 0.02, "max-min");
    }
}

#[test]
fn xcp_shares_two_bottlenecks_nearly_max_min() {
    // Max-min is 5, 5 and 15. XCP's shuffling costs `b` some of that: there the flow of `a` gives of its
    // share and may not take. With fluids, e Mbit/s unused and y = 20 - e: gains come to 0.1 y, in
    // halves; losses to 0.1 y - 0.4 e, in proportion, of which (15 - e)/y is the third flow's. Where
    // its gain is its loss, 0.05 y^2 = (0.1 y - 0.4 e)(15 - e): e = 1.46. What the first flow does not
    // take it pays for in the router's residue, which makes that less. So between 13.54 and 15.
    let run = run(&parking_lot("xcp"));
    let rates: Vec<f64> = flows(&run, "late").iter().map(|row| wire_mbps(row)).collect();
    assert_near(rates[0], 5.0, 0.06, "both");
    assert_near(rates[1], 5.0, 0.06, "only a");
    assert!((13.4..15.1).contains(&rates[2]), "{rates:?}");
    assert!(link(&run, "late", "a").utilisation > 0.96, "{rates:?}");
}

#[test]
fn other_traffic_leaves_what_it_leaves() {
    // Cross-traffic of 10 Mbit/s that obeys nobody: two flows share the rest. A packet of 1500 B 833.33
    // times a second.
    for (law, rest) in [("rcp", 9.0), ("xcp", 10.0)] {
        let flow = format!(r#"{{"name": "f", "count": 2, "variant": "{law}"}}"#);
        let text = dumbbell(law, &flow, LATE, "30 s");
        let cross = r#", "cross_traffic": [{"link": "bottleneck", "kind": "periodic",
            "rate": "833.3333 packet/s", "size": "1500 B"}]}"#;
        let run = run(&format!("{}{cross}", text.trim_end().strip_suffix('}').unwrap()));
        let sum: f64 = flows(&run, "late").iter().map(|row| wire_mbps(row)).sum();
        assert_near(sum, rest, 0.04, law);
        assert_eq!(link(&run, "run", "bottleneck").dropped_packets, 0);
    }
}

#[test]
fn a_router_that_knows_nothing_of_it_is_refused() {
    for law in ["rcp", "xcp"] {
        let flow = format!(r#"{{"name": "f", "variant": "{law}"}}"#);
        let text = dumbbell(law, &flow, LATE, "20 s");
        assert!(scenario(&text).check().is_ok());
        let ignorant = text.replacen(&format!(r#", "{law}": {{}}"#), "", 1);
        let error = scenario(&ignorant).check().unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("flow[0].variant: `{law}` goes by the routers on its way"))
                && error.contains("in front of link `bottleneck` (forward)"),
            "{error}"
        );
    }
    let text = dumbbell("rcp", r#"{"name": "f", "variant": "newreno"}"#, LATE, "20 s");
    let error = scenario(&text.replacen("\"rcp\": {}", "\"rcp\": {\"target\": 1.5}", 1)).check();
    assert_eq!(
        error.unwrap_err().to_string(),
        "topology.bottleneck.rcp.target: expected a share above 0, at most 1"
    );
}

#[test]
fn routers_rule_the_same_under_both_engines() {
    for law in ["rcp", "xcp"] {
        let flow =
            format!(r#"{{"name": "f", "count": 3, "variant": "{law}", "stagger": "37 ms"}}"#);
        let run = run(&dumbbell(law, &flow, LATE, "12 s"));
        assert!(flows(&run, "late").iter().all(|row| row.delivered_bytes > 0));
    }
}
