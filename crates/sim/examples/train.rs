//! Training for profile-guided optimisation: the compiler learns which ways through the engine are common, when it
//! builds the wheel for users. See `make wheel` and `docs/decisions/0032-one-order-many-shortcuts.md`.
//!
//! `train` runs each scenario of a fixed list once and prints how many events it had. The list is kept broad,
//! as what no scenario touches is laid out for size and not for speed.

mod workload;

use std::process::ExitCode;

use ackclock_sim::{Scenario, simulate};

use workload::workload;

fn main() -> ExitCode {
    for (name, text) in scenarios() {
        let done = Scenario::from_json(&text)
            .map_err(|why| why.to_string())
            .and_then(|scenario| simulate(&scenario).map_err(|why| why.to_string()));
        match done {
            Ok(run) => {
                println!("{name}: {} events", run.events);
            }
            Err(why) => {
                eprintln!("{name}: {why}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

fn scenarios() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (variant, more) in [
        ("newreno+sack", ""),
        ("newreno+sack", r#""profile": "linux","#),
        ("newreno", ""),
        ("reno+prr", ""),
        ("cubic", ""),
        ("cubic", r#""profile": "linux","#),
        ("bbr", ""),
        ("bbr1", ""),
        ("compound", ""),
        ("vegas", ""),
    ] {
        all.push((format!("1 flow, {variant}"), workload(1, 100_000_000, "6", variant, more)));
    }
    for (variant, seconds) in [("newreno+sack", "8"), ("cubic", "8"), ("bbr", "30")] {
        let text = workload(100, 1_000_000_000, "3", variant, "");
        all.push((format!("100 flows, {variant}"), text));
        let text = workload(1000, 1_000_000_000, seconds, variant, "");
        all.push((format!("1000 flows, {variant}"), text));
    }
    for queue in ["red", "codel", "fq_codel", "pie", "fair"] {
        all.push((format!("a queue, {queue}"), queued(queue)));
    }
    all.push(("short connections".into(), SHORT.into()));
    all.push(("web traffic".into(), WEB.into()));
    all.push(("a lossy path".into(), LOSSY.into()));
    all.push(("applications".into(), APPLICATIONS.into()));
    all
}

/// A queue that manages itself, marks half of its flows, and is looked at by probes.
fn queued(kind: &str) -> String {
    let limit = r#""limit": "200 packet""#;
    let queue = match kind {
        "red" => {
            format!(r#"{{"kind": "red", {limit}, "min_th": "20 packet", "max_th": "80 packet"}}"#)
        }
        kind => format!(r#"{{"kind": "{kind}", {limit}}}"#),
    };
    format!(
        r#"{{"duration": "3 s",
        "topology": {{"kind": "dumbbell",
            "bottleneck": {{"rate": "50 Mbit/s", "delay": "20 ms", "queue": {queue}}},
            "access": {{"rate": "1 Gbit/s", "delay": "1 ms"}}}},
        "flow": [
            {{"name": "a", "count": 5, "variant": "cubic", "tcp": {{"ecn": "on"}}}},
            {{"name": "b", "count": 5, "variant": "newreno+prr"}}],
        "probe": [{{"flow": "a-1", "every": "change"}},
            {{"link": "bottleneck", "every": "10 ms"}}]}}"#
    )
}

/// 10 kB each.
const SHORT: &str = r#"{"duration": "1.5 s",
    "topology": {"kind": "dumbbell",
        "bottleneck": {"rate": "1 Gbit/s", "delay": "8 ms"},
        "access": {"rate": "1 Gbit/s", "delay": "1 ms"}},
    "traffic": [{"name": "short", "variant": "newreno+sack",
        "tcp": {"mss": "1448 B", "delayed_ack": "off"},
        "arrivals": {"kind": "poisson", "rate": "10000 /s"},
        "app": {"kind": "bulk", "size": "10 kB"}}]}"#;

/// PackMime-HTTP through private lines, beside a bulk flow.
const WEB: &str = r#"{"duration": "400 s",
    "topology": {"kind": "graph", "link": [{"name": "path", "from": "s", "to": "c",
        "rate": "20 Mbit/s", "delay": "1 ms",
        "queue": {"kind": "droptail", "limit": "100 packet"}}]},
    "flow": [{"name": "bulk", "variant": "reno", "profile": "ns2", "from": "s", "to": "c",
        "app": {"kind": "bulk", "size": "30 MB"}}],
    "traffic": [{"name": "web", "variant": "newreno+sack", "profile": "ns2",
        "arrivals": {"kind": "packmime", "rate": "100 /s"},
        "app": {"kind": "packmime", "http": "1.1"},
        "from": "c", "to": "s",
        "access": {"client": {"rate": "1 Gbit/s"}, "server": {"rate": "1 Gbit/s"}}}]}"#;

/// Losses, copies and packets out of order, over a path of several links, with cross-traffic.
const LOSSY: &str = r#"{"duration": "20 s",
    "topology": {"kind": "graph", "link": [
        {"name": "first", "from": "a", "to": "b", "rate": "100 Mbit/s", "delay": "2 ms"},
        {"name": "second", "from": "b", "to": "c", "rate": "20 Mbit/s", "delay": "20 ms",
            "loss": 0.002, "duplicate": 0.001, "corrupt": 0.0005,
            "queue": {"kind": "droptail", "limit": "60 packet"}}]},
    "flow": [
        {"name": "rack", "variant": "cubic+rack", "profile": "linux", "from": "a", "to": "c"},
        {"name": "sack", "variant": "newreno+sack", "from": "a", "to": "c"},
        {"name": "none", "variant": "newreno", "tcp": {"sack": false}, "from": "a", "to": "c"},
        {"name": "tahoe", "variant": "tahoe", "from": "b", "to": "c"},
        {"name": "back", "variant": "bbr", "from": "c", "to": "a"}],
    "cross_traffic": [{"link": "second", "kind": "poisson",
        "rate": "300 packet/s", "size": "500 B"}]}"#;

/// Applications, with a fair share for each.
const APPLICATIONS: &str = r#"{"duration": "60 s",
    "topology": {"kind": "dumbbell",
        "bottleneck": {"rate": "20 Mbit/s", "delay": "20 ms"},
        "access": {"rate": "1 Gbit/s", "delay": "1 ms"}},
    "flow": [
        {"name": "cbr", "variant": "newreno+sack+cwv",
            "app": {"kind": "cbr", "message": "1460 B", "rate": "1 Mbit/s"}},
        {"name": "bursts", "variant": "cubic",
            "app": {"kind": "bursts", "size": "100 kB", "every": "2 s"}},
        {"name": "onoff", "variant": "newreno+sack", "app": {"kind": "onoff",
            "message": "1000 B", "rate": "2 Mbit/s", "on": "1 s", "off": "1 s"}},
        {"name": "video", "variant": "cubic", "profile": "linux",
            "app": {"kind": "video", "size": "20 MB", "length": "50 s"}},
        {"name": "dash", "variant": "bbr",
            "app": {"kind": "dash", "rates": ["1 Mbit/s", "3 Mbit/s"], "length": "48 s"}}],
    "traffic": [{"name": "requests", "variant": "newreno+sack",
        "arrivals": {"kind": "poisson", "rate": "20 /s"},
        "app": {"kind": "request", "response": "20 kB", "exchanges": 3}}]}"#;
