use ackclock_sim::Scenario;
use serde_json::{Value, json};

use super::*;
use crate::{Meter, Ready, from_json, simulate_one};

fn scenario(bottleneck: Value, flow: Value, more: Value) -> Scenario {
    let mut text = json!({
        "duration": "300 s",
        "topology": {
            "kind": "dumbbell",
            "bottleneck": {"rate": "10 Mbit/s", "delay": "48 ms"},
            "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
        },
        "flow": [{"name": "a", "variant": "newreno+sack"}],
    });
    for (table, with) in [("/topology/bottleneck", bottleneck), ("/flow/0", flow), ("", more)] {
        for (key, value) in with.as_object().unwrap() {
            text.pointer_mut(table).unwrap()[key] = value.clone();
        }
    }
    from_json(&text.to_string()).unwrap()
}

fn refused(bottleneck: Value, flow: Value, more: Value) -> String {
    closed_form(&scenario(bottleneck, flow, more)).unwrap_err().to_string()
}

fn one(scenario: &Scenario) -> Prediction {
    let theory = closed_form(scenario).unwrap();
    assert_eq!(theory.flows.len(), 1);
    theory.flows[0].clone()
}

/// The ratio of what is simulated to what theory says.
fn simulated(scenario: &Scenario, of: fn(&ackclock_sim::records::FlowRow) -> f64) -> f64 {
    let ready = Ready::new(scenario, None, &Meter::default(), || false).unwrap();
    of(&simulate_one(&ready).unwrap().flows[0])
}

fn near(found: f64, expected: f64, share: f64) {
    assert!((found / expected - 1.0).abs() < share, "{found} and {expected}");
}

#[test]
fn one_loss_in_ten_thousand_is_renos_response_function() {
    // 1.2 / sqrt(10^-4) = 120 segments; a round trip is 2 (48 + 2) ms and what sending takes: a packet of 1500 B
    // 1.2 ms and twice 12 us, its ACK of 40 B 32 us and 2 x 0.32 us.
    let many = json!({"loss": {"every": 10_000, "first": 100}, "rate": "1 Gbit/s", "reverse": {"loss": 0.0}});
    let flow = json!({"tcp": {"delayed_ack": "off", "receive_window": "1 GiB"}});
    let of = scenario(many, flow, json!({"duration": "900 s"}));
    let found = one(&of);
    assert_eq!((found.form, &*found.reasons), ("reno response function", &[][..]));
    assert!(found.valid);
    assert_eq!(found.cwnd_mean_segments, Some(120.0));
    let rtt_s = 0.1 + 3.0 * 12e-6 + 3.0 * 0.32e-6;
    near(found.rtt_s.unwrap(), rtt_s, 1e-9);
    near(found.goodput_bps.unwrap(), 120.0 / rtt_s * 1460.0 * 8.0, 1e-9);
    // docs/studies/response.md: Reno is within 2.5 % of it.
    near(simulated(&of, |row| row.goodput_bps), found.goodput_bps.unwrap(), 0.04);
}

#[test]
fn random_losses_of_reno_are_pftks() {
    let of = scenario(
        json!({"loss": 0.001, "rate": "1 Gbit/s", "reverse": {"loss": 0.0}}),
        json!({"tcp": {"delayed_ack": "off", "receive_window": "1 GiB", "min_rto": "200 ms"}}),
        json!({"duration": "600 s"}),
    );
    let found = one(&of);
    assert_eq!((found.form, &*found.reasons), ("pftk", &[][..]));
    // The study reproduced PFTK within 15 %.
    near(simulated(&of, |row| row.goodput_bps), found.goodput_bps.unwrap(), 0.15);
}

#[test]
fn a_response_function_beyond_the_link_is_not_believed() {
    let of = scenario(json!({"loss": 1e-5}), json!({}), json!({}));
    let found = one(&of);
    assert!(!found.valid);
    assert!(found.reasons.iter().any(|reason| reason.contains("% of link `bottleneck`")));
}

#[test]
fn a_transfer_takes_its_rounds_of_slow_start() {
    // 100 segments of 1460 B: windows of 10, 20, 40 and the other 30.
    let of = scenario(
        json!({"rate": "100 Mbit/s"}),
        json!({"app": {"kind": "bulk", "size": "146 kB"}, "tcp": {"delayed_ack": "off", "initial_window": 10}}),
        json!({"duration": "10 s"}),
    );
    let found = one(&of);
    assert_eq!((found.form, &*found.reasons), ("slow start", &[][..]));
    assert_eq!(found.details["rounds"], 4);
    assert_eq!(found.details["largest_window_segments"], 80.0);
    let completed = simulated(&of, |row| row.completed_s.unwrap());
    near(completed, found.completed_s.unwrap(), 0.002);
}

#[test]
fn quick_start_is_faster_by_the_rounds_that_it_leaves_out() {
    // An end with 730 kB asks for what takes them in 100 ms, 58 Mbit/s: 40 kbit/s x 2^10 = 40.96 Mbit/s. The unscaled window
    // of the SYN-ACK lets 44 of 500 segments go out at once, then 88, 138 (RFC 3742: 88 and 50), 188 and the rest.
    let of = |variant| {
        scenario(
            json!({}),
            json!({"variant": variant, "from": "a", "to": "c", "app": {"kind": "bulk", "size": "730 kB"},
                "tcp": {"delayed_ack": "off", "initial_window": 3, "receive_window": "4 MiB"}}),
            json!({"duration": "10 s", "topology": {
                "kind": "graph",
                "link": [
                    {"name": "in", "from": "a", "to": "b", "rate": "1 Gbit/s", "delay": "1 ms"},
                    {"name": "bottleneck", "from": "b", "to": "c", "rate": "100 Mbit/s", "delay": "49 ms",
                        "quick_start": "approve", "queue": {"kind": "droptail", "limit": "2 MB"}},
                ],
            }}),
        )
    };
    let quick = of("newreno+sack+quickstart(81.92Mbps)");
    let found = one(&quick);
    assert_eq!((found.form, &*found.reasons), ("quick-start", &[][..]));
    assert_eq!(found.details["approved_bps"], 40_960_000.0);
    assert_eq!(found.details["rounds"], 5);
    let slow = of("newreno+sack");
    let seconds = |of| simulated(of, |row| row.completed_s.unwrap());
    near(seconds(&quick), found.completed_s.unwrap(), 0.02);
    let speedup = found.details["speedup"].as_f64().unwrap();
    near(seconds(&slow) / seconds(&quick), speedup, 0.03);
    assert!(speedup > 1.3, "{speedup}");
}

#[test]
fn tahoe_beside_exogenous_traffic_is_altmans_model() {
    // The example of the crate theory: 60 and 50 packets/s of 576 B, 150 ms each way, a buffer of ten.
    let of = scenario(
        json!({}),
        json!({"variant": "tahoe", "from": "a", "to": "c", "tcp": {"mss": "536 B"}}),
        json!({
            "topology": {"kind": "graph", "link": [
                {"name": "in", "from": "a", "to": "b", "rate": "691200 bit/s", "delay": "150 ms"},
                {"name": "bottleneck", "from": "b", "to": "c", "rate": "276480 bit/s", "delay": "150 ms",
                    "queue": {"kind": "droptail", "limit": "10 packet", "counts_in_service": true}},
            ]},
            "cross_traffic": [{"link": "bottleneck", "kind": "periodic", "rate": "50 packet/s", "size": "576 B"}],
        }),
    );
    let found = one(&of);
    assert_eq!((found.form, found.valid), ("altman1997", false));
    let parameters = Parameters {
        mu_pps: 60.0,
        lambda_pps: 50.0,
        tau1_s: 0.15,
        tau2_s: 0.15,
        buffer_packets: 10.0,
        bw_in_pps: Some(150.0),
    };
    let expected = altman::predict(&Path::new(&parameters).unwrap());
    near(found.goodput_bps.unwrap(), expected.throughput_pps * 536.0 * 8.0, 1e-9);
    near(found.rtt_s.unwrap(), expected.rtt_s, 1e-9);
    assert_eq!(found.reasons, expected.validity.reasons);
}

#[test]
fn what_no_form_knows_is_refused_by_its_key() {
    let none = json!({});
    for (found, expected) in [
        (
            refused(none.clone(), none.clone(), none.clone()),
            "theory: flow[0].app: no closed form has a flow without losses, end or exogenous traffic; expected `loss` on a link, \
             `app.size` or [[cross_traffic]]",
        ),
        (
            refused(json!({"loss": 0.001}), json!({"variant": "bbr"}), none.clone()),
            "theory: flow[0].variant: no closed form has `bbr`, expected Tahoe, Reno or CUBIC",
        ),
        (
            refused(json!({"duplicate": 0.1}), none.clone(), none.clone()),
            "theory: topology: no closed form has the `duplicate` of link `bottleneck`",
        ),
        (
            refused(json!({"ack_thinning": {"every": 2}}), none.clone(), none.clone()),
            "theory: topology: no closed form has the `ack_thinning` of link `bottleneck`",
        ),
        (
            refused(
                none.clone(),
                json!({"app": {"kind": "cbr", "rate": "1 Mbit/s", "message": "1 kB"}}),
                none.clone(),
            ),
            "theory: flow[0].app: no closed form has this application, expected `kind = \"bulk\"`",
        ),
        (
            refused(
                none.clone(),
                none.clone(),
                json!({"event": [{"at": "1 s", "link": "bottleneck", "set": {"loss": 0.1}}]}),
            ),
            "theory: event: no closed form has a path that changes",
        ),
        (
            refused(
                none.clone(),
                json!({"count": 2, "app": {"kind": "bulk", "size": "1 MB"}}),
                none.clone(),
            ),
            "theory: flow: no closed form has transfers that share a path, expected one flow",
        ),
    ] {
        assert_eq!(found, expected);
    }
}
