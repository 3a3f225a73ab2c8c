//! CAKE and other disciplines with classes, in whole runs.

use serde_json::{Value, json};

use crate::{Engine, Meter, Run, Scenario};

fn run(text: &Value) -> Run {
    let scenario = Scenario::from_json(&text.to_string()).unwrap();
    Engine::Fast.simulate(&scenario, &Meter::default()).unwrap().unwrap()
}

fn path(queue: &Value, flows: &Value) -> Value {
    json!({
        "duration": "30 s",
        "topology": {
            "kind": "graph",
            "link": [
                {"name": "up", "from": "a", "to": "gateway", "rate": "1 Gbit/s", "delay": "1 ms"},
                {"name": "other", "from": "b", "to": "gateway", "rate": "1 Gbit/s", "delay": "1 ms"},
                {"name": "bottleneck", "from": "gateway", "to": "server", "rate": "20 Mbit/s", "delay": "19 ms",
                    "queue": queue},
            ],
        },
        "flow": flows,
        "measure": [{"name": "steady", "from": "10 s"}],
    })
}

/// The goodputs of flows in the steady state, in Mbit/s.
fn goodputs(run: &Run) -> Vec<f64> {
    let steady = run.flows.iter().filter(|row| row.measure == "steady");
    steady.map(|row| row.goodput_bps / 1e6).collect()
}

/// 18 Mbit/s on Ethernet: of 1538 B that the shaper counts for a packet 1460 are data, 17.09 Mbit/s.
#[test]
fn the_shaper_counts_the_link_layer() {
    let queue = json!({"kind": "cake", "bandwidth": "18 Mbit/s", "link_layer": "ethernet"});
    let flows = json!([{"name": "f", "variant": "cubic", "from": "a", "to": "server", "count": 8}]);
    let goodput = goodputs(&run(&path(&queue, &flows))).iter().sum::<f64>();
    assert!((16.75..17.09).contains(&goodput), "{goodput}");
}

/// Four flows of one host and one of another: by flows a fifth each, by hosts at most one half for the one, which does not
/// quite fill it at a target of 5 ms.
#[test]
fn a_host_with_one_flow_has_half_of_the_link() {
    let share = |isolation: &str| {
        let queue = json!({"kind": "cake", "isolation": isolation});
        let flows = json!([
            {"name": "many", "variant": "cubic", "from": "a", "to": "server", "count": 4},
            {"name": "one", "variant": "cubic", "from": "b", "to": "server"},
        ]);
        let all = goodputs(&run(&path(&queue, &flows)));
        all[4] / all.iter().sum::<f64>()
    };
    let (flows, hosts) = (share("flows"), share("dual_srchost"));
    assert!((0.18..0.22).contains(&flows) && (0.38..0.51).contains(&hosts), "{flows} {hosts}");
}

/// A call of 1 Mbit/s marked EF beside four transfers waits for the packet that is being sent, 0.6 ms, and not for theirs.
#[test]
fn voice_does_not_wait_for_transfers() {
    for kind in ["prio", "cake"] {
        let flows = json!([
            {"name": "bulk", "variant": "cubic", "from": "a", "to": "server", "count": 4},
            {"name": "call", "variant": "cubic", "from": "b", "to": "server", "dscp": "EF",
                "app": {"kind": "cbr", "rate": "1 Mbit/s", "message": "1000 B"}},
        ]);
        let mut text = path(&json!({"kind": kind}), &flows);
        if kind == "prio" {
            text["topology"]["link"][2]["queue"]["limit"] = json!("50 packet");
        }
        let all = goodputs(&run(&text));
        assert!((0.98..1.02).contains(&all[4]), "{kind} {all:?}");
    }
}

/// ACKs of 20 Mbit/s over 200 kbit/s back: each of 52 B, 96 a second a Mbit/s of data, are 20 times too many with one for two
/// packets. The filter lets those through that count.
#[test]
fn filtered_acks_let_a_slow_way_back_do() {
    let goodput = |ack_filter: &str| {
        let mut text = path(
            &json!({"kind": "droptail", "limit": "100 packet"}),
            &json!([{"name": "f", "variant": "cubic", "profile": "linux", "from": "a", "to": "server"}]),
        );
        text["topology"]["link"][2]["reverse"] = json!({
            "rate": "200 kbit/s",
            "queue": {"kind": "cake", "ack_filter": ack_filter},
        });
        goodputs(&run(&text))[0]
    };
    let [off, conservative, aggressive] = ["off", "conservative", "aggressive"].map(goodput);
    println!("{off} {conservative} {aggressive}");
    assert!(
        off < conservative && conservative <= aggressive * 1.05,
        "{off} {conservative} {aggressive}"
    );
}
