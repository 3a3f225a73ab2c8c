//! Quick-Start over a path of routers.

use super::{run, scenario};
use crate::records::{QuickStartRow, QuickStartWhat, Run};

/// The path of figure 5: server - router 1 - router 2 - client, the routers' links at 100 Mbit/s, a
/// round trip of 100 ms. Requests of the client go the other way.
fn path(first: &str, second: &str, flow: &str, more: &str) -> String {
    let link = |name: &str, from: &str, to: &str, rate: &str, delay: &str, router: &str| {
        format!(
            r#"{{"name": "{name}", "from": "{from}", "to": "{to}", "rate": "{rate}",
                "delay": "{delay}", "quick_start": {router},
                "reverse": {{"quick_start": "approve"}}}}"#
        )
    };
    let links = [
        link("host", "server", "r1", "1 Gbit/s", "1 ms", "\"approve\""),
        link("first", "r1", "r2", "100 Mbit/s", "24 ms", first),
        link("second", "r2", "r3", "100 Mbit/s", "24 ms", second),
        link("last", "r3", "client", "1 Gbit/s", "1 ms", "\"approve\""),
    ];
    format!(
        r#"{{"duration": "20 s", "topology": {{"kind": "graph", "link": [{}]}}, {flow} {more}}}"#,
        links.join(", ")
    )
}

/// Slots of 200 ms, two of them, a threshold of 100 Mbit/s.
const ROUTER: &str = r#"{"threshold": 1.0, "slot": "200 ms", "history": 2}"#;

/// Three downloads of 10 MB with 5 s between.
const DOWNLOADS: &str = r#"
    "traffic": [{
        "name": "web", "variant": "newreno+sack+iw3+cwv+quickstart(81.92Mbps,approved)",
        "tcp": {"delayed_ack": "off", "receive_window": "8 MB"}, "from": "client", "to": "server",
        "arrivals": {"kind": "list", "at": ["1 s"]},
        "app": {"kind": "request", "request": "100 B", "response": "10 MB", "exchanges": 3,
                "gap": "5 s", "closes": "client"}
    }]"#;

/// The decisions of a router: what it measured, reserved and approved, in Mbit/s.
fn decisions(run: &Run, link: &str) -> Vec<(f64, f64, f64)> {
    let of = |row: &&QuickStartRow| {
        row.link.is_some_and(|wire| {
            let (name, direction) = &run.link_names[wire as usize];
            name == link && *direction == "forward"
        })
    };
    let mbps = |bps: u64| bps as f64 / 1e6;
    let row = |row: &QuickStartRow| {
        (mbps(row.measured_bps.unwrap()), mbps(row.reserved_bps.unwrap()), mbps(row.approved_bps))
    };
    run.quick_start.iter().filter(of).map(row).collect()
}

/// The conclusions of the ends that asked.
fn conclusions(run: &Run) -> Vec<&'static str> {
    let sender = |row: &&QuickStartRow| matches!(row.step, QuickStartWhat::Sender(_));
    run.quick_start.iter().filter(sender).map(|row| row.step.as_str()).collect()
}

#[test]
fn figure_7_grants_every_request() {
    let run = run(&path(ROUTER, ROUTER, DOWNLOADS, ""));
    for link in ["first", "second"] {
        let granted: Vec<f64> = decisions(&run, link).iter().map(|row| row.2).collect();
        assert_eq!(granted, [81.92, 81.92, 81.92], "{link}");
    }
    assert_eq!(conclusions(&run), ["asked", "approved"].repeat(3));
}

#[test]
fn figure_8_grants_half_all_and_nothing() {
    // 30 Mbit/s at router 1 during the first download: 2500 packets of 1500 B a second. 100 Mbit/s at
    // router 2 during the third, which begins when the first two and twice 5 s are over.
    let cross = |link: &str, rate: &str, start: &str, stop: &str| {
        format!(
            r#"{{"link": "{link}", "kind": "periodic", "rate": "{rate} packet/s", "size": "1500 B",
                "phase": 0.0, "start": "{start}", "stop": "{stop}"}}"#
        )
    };
    let first = cross("first", "2500", "0 s", "4 s");
    let third = cross("second", "8333.333", "12 s", "18 s");
    let run =
        run(&path(ROUTER, ROUTER, DOWNLOADS, &format!(r#", "cross_traffic": [{first}, {third}]"#)));
    let at_first = decisions(&run, "first");
    let at_second = decisions(&run, "second");
    // 100 - 30 = 70: 40.96. Then nothing is carried: 81.92, and the same again.
    let granted: Vec<f64> = at_first.iter().map(|row| row.2).collect();
    assert_eq!(granted, [40.96, 81.92, 81.92]);
    assert!((at_first[0].0 - 30.0).abs() < 0.1, "{at_first:?}");
    // Router 2 sees the lowered rate, and in the end 100 Mbit/s: refused.
    let granted: Vec<f64> = at_second.iter().map(|row| row.2).collect();
    assert_eq!(granted, [40.96, 81.92, 0.0]);
    assert!(at_second[2].0 > 99.5, "{at_second:?}");
    assert_eq!(
        conclusions(&run),
        ["asked", "approved", "asked", "approved", "asked", "unanswered"]
    );
}

#[test]
fn a_router_that_takes_no_part_shows_in_the_ttl() {
    let text = path(ROUTER, ROUTER, DOWNLOADS, "");
    let ignorant = text.replacen(&format!(r#""quick_start": {ROUTER},"#), "", 1);
    assert_ne!(text, ignorant);
    let run = run(&ignorant);
    assert_eq!(conclusions(&run), ["asked", "ttl_mismatch"].repeat(3));
}

#[test]
fn a_router_that_cheats_shows_in_the_nonce() {
    // Router 1 lowers to 40.96, router 2 raises to 81.92 again: believed with probability 1/4.
    let lowers = r#"{"most": "40.96 Mbit/s"}"#;
    let cheats = r#"{"cheat": "81.92 Mbit/s"}"#;
    let mut believed = 0;
    let one = DOWNLOADS.replace("\"exchanges\": 3", "\"exchanges\": 1").replace("10 MB", "10 kB");
    for seed in 0..100 {
        let mut scenario = scenario(&path(lowers, cheats, &one, ""));
        scenario.seed = seed;
        let run = crate::simulate(&scenario).unwrap();
        match conclusions(&run)[..] {
            ["asked", "approved"] => believed += 1,
            ["asked", "nonce_mismatch"] => {}
            ref other => panic!("{other:?}"),
        }
    }
    // 25 of 100, with a standard deviation of sqrt(100 · 1/4 · 3/4) = 4.3; four of them.
    assert!((8..=42).contains(&believed), "{believed}");
}

#[test]
fn the_end_that_has_the_volume_asks() {
    // A bulk flow's sender opens, and asks with its SYN; its receiver asks for nothing.
    let flow = r#"
        "flow": [{"name": "up", "variant": "newreno+quickstart(5.12Mbps)", "from": "server",
                  "to": "client", "app": {"kind": "bulk", "size": "1 MB"}}]"#;
    let run = run(&path(ROUTER, ROUTER, flow, ""));
    assert_eq!(conclusions(&run), ["asked", "approved"]);
    assert_eq!(decisions(&run, "first").len(), 1);
}

#[test]
fn routers_see_the_same_under_both_engines() {
    let flow = r#"
        "flow": [{"name": "up", "count": 3, "variant": "newreno+quickstart(20.48Mbps)",
                  "stagger": "37 ms", "app": {"kind": "bulk", "size": "1 MB"}}]"#;
    let text = format!(
        r#"{{"duration": "5 s", "topology": {{"kind": "dumbbell",
            "bottleneck": {{"rate": "100 Mbit/s", "delay": "20 ms", "quick_start": {ROUTER}}},
            "access": {{"rate": "1 Gbit/s", "delay": "1 ms", "quick_start": "approve"}}}}, {flow}}}"#
    );
    let run = run(&text);
    let granted: Vec<f64> = decisions(&run, "bottleneck").iter().map(|row| row.2).collect();
    // 100, less what was reserved, each time: 20.48 of 100, of 79.52 and of 59.04.
    assert_eq!(granted, [20.48, 20.48, 20.48]);
}

#[test]
fn an_application_asks_with_each_message() {
    // NewReno without Quick-Start; the server asks for 81.92 Mbit/s with each of two responses, a second
    // apart. Nothing is asked for with the handshake, and each request is on the first data.
    let flow = r#""traffic": [{
        "name": "web", "variant": "newreno+sack", "tcp": {"delayed_ack": "off", "receive_window": "8 MB", "nagle": "minshall"},
        "from": "client", "to": "server", "arrivals": {"kind": "list", "at": ["1 s"]},
        "app": {"kind": "request", "request": "100 B", "response": "1 MB", "exchanges": 2, "gap": "3 s",
                "closes": "client", "quick_start": "100 Mbit/s"}
    }]"#;
    let run = run(&path(ROUTER, ROUTER, flow, ""));
    assert_eq!(conclusions(&run), ["asked", "approved", "asked", "approved"]);
    // Rounded down to one that Quick-Start knows.
    let approved: Vec<f64> =
        decisions(&run, "first").into_iter().map(|(_, _, mbps)| mbps).collect();
    assert_eq!(approved, [81.92, 81.92]);
    let asked = run.quick_start[0].time_ns as f64 / 1e9;
    // A handshake and half of a round trip after the opening: with the response.
    assert!((1.15..1.16).contains(&asked), "{asked}");
    // Without losses and with 3 segments, 1 MB take eight round trips by slow start: 3·(2^8 - 1) = 765 of
    // 685 segments. With Quick-Start two, and 0.1 s at 81.92 Mbit/s: 0.3 s.
    let took = (run.objects.completed_ns[1] - run.objects.requested_ns[1]) as f64 / 1e9;
    assert!((0.29..0.32).contains(&took), "{took}");
}

#[test]
fn a_burst_asks_with_its_first_data() {
    let flow = r#""flow": [{
        "name": "bursts", "variant": "newreno+sack", "from": "server", "to": "client",
        "tcp": {"delayed_ack": "off", "receive_window": "8 MB"},
        "app": {"kind": "bursts", "size": "1 MB", "every": "4 s", "quick_start": "40.96 Mbit/s"}
    }]"#;
    let run = run(&path("\"approve\"", "\"approve\"", flow, ""));
    // At 0, 4, 8, 12, 16 and 20 s, which is the end; the first before the connection opens, with the SYN.
    let approved = conclusions(&run).iter().filter(|step| **step == "approved").count();
    assert_eq!(approved, 5);
    let log: Vec<f64> = run
        .quick_start
        .iter()
        .filter(|row| row.step.as_str() == "asked")
        .map(|row| row.time_ns as f64 / 1e9)
        .collect();
    for (n, at) in log.iter().take(5).enumerate() {
        assert!((at - 4.0 * n as f64).abs() < 1e-3, "{at}");
    }
}

#[test]
fn who_cannot_ask_is_told_so() {
    let refused = |variant: &str, rate: &str| {
        let flow = format!(
            r#""flow": [{{"name": "bursts", "variant": "{variant}", "from": "server", "to": "client",
                "app": {{"kind": "bursts", "size": "1 MB", "every": "4 s", "quick_start": "{rate}"}}}}]"#
        );
        scenario(&path(ROUTER, ROUTER, &flow, "")).check().unwrap_err().to_string()
    };
    let said = refused("bbr", "5 Mbit/s");
    assert!(said.starts_with("flow[0].variant: BBR sends at the rate"), "{said}");
    let said = refused("cubic", "70 kbit/s");
    assert!(said.starts_with("flow[0].app.quick_start: expected at least 80 kbit/s"), "{said}");
}
