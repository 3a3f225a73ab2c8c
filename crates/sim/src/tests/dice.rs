//! Random scenarios of all kinds, for tests that hold one way of running them against another.

use ackclock_tcp::variant::{REGISTRY, Slot};
use ackclock_units::random::Stream;
use serde_json::{Value, json};

/// The laws whose windows routers set.
const RULED: [&str; 2] = ["rcp", "xcp"];

/// Draws of scenarios.
#[derive(Debug)]
pub struct Dice(Stream);

impl Dice {
    /// The draws of number `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Stream::new(seed, "engines"))
    }

    fn chance(&mut self, p: f64) -> bool {
        self.0.bernoulli(p)
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        let n = usize::try_from(self.0.next_u64() % of.len() as u64).unwrap();
        of[n].clone()
    }

    /// A link, mostly a plain one. Few rates and delays, so that many events fall on one instant.
    fn link(&mut self) -> Value {
        let mut link = json!({
            "rate": self.one(&["1 Mbit/s", "2 Mbit/s", "3 Mbit/s", "10 Mbit/s", "100 Mbit/s"]),
            "delay": self.one(&["0 s", "1 ms", "1 ms", "2 ms", "15 ms"]),
        });
        if self.chance(0.5) {
            link["queue"] = self.one(&[
                json!({"kind": "droptail", "limit": "3 packet"}),
                json!({"kind": "droptail", "limit": "20 packet", "counts_in_service": true}),
                json!({"kind": "droptail", "limit": "10 kB"}),
                json!({"kind": "droptail", "limit": "30 packet", "mark": "5 packet"}),
                json!({"kind": "fair", "limit": "20 packet"}),
                json!({"kind": "red", "limit": "40 packet"}),
                json!({"kind": "codel", "ecn": true}),
                json!({"kind": "fq_codel"}),
                json!({"kind": "pie", "ecn": true}),
                json!({"kind": "cobalt", "limit": "15 packet"}),
                json!({"kind": "drr", "limit": "20 packet"}),
                json!({"kind": "sfq", "limit": "9 packet", "divisor": 8, "perturb": "300 ms"}),
                json!({"kind": "prio", "limit": "12 packet"}),
                json!({"kind": "prio", "bands": "precedence"}),
                json!({"kind": "cake"}),
                json!({"kind": "cake", "bandwidth": "900 kbit/s", "ack_filter": "aggressive", "rtt": "20 ms",
                    "link_layer": "ethernet", "wash": true, "limit": "20 kB"}),
                json!({"kind": "cake", "bandwidth": "1.5 Mbit/s", "ingress": true, "tins": "diffserv8",
                    "ack_filter": "conservative"}),
                json!({"kind": "fq_pie", "ecn": true, "queues": 3}),
                json!({"kind": "fq_cobalt", "limit": "20 kB", "queues": 4}),
                json!({"kind": "droptail", "limit": "8 kB", "drop": "head"}),
            ]);
        }
        if self.chance(0.15) {
            link["loss"] = self.one(&[json!(0.01), json!({"every": 40})]);
        }
        if self.chance(0.08) {
            link["reorder"] = json!({"share": 0.02, "delay": "3 ms"});
        }
        if self.chance(0.08) {
            link["duplicate"] = json!(0.01);
            link["corrupt"] = json!(0.005);
        }
        if self.chance(0.06) {
            link["channel"] = json!({"kind": "wifi"});
        }
        if self.chance(0.08) {
            link["jitter"] = self.one(&[
                json!({"kind": "uniform", "most": "3 ms"}),
                json!({"kind": "uniform", "most": "2 ms", "reorders": true}),
                json!({"kind": "normal", "sd": "1 ms"}),
                json!({"kind": "wifi"}),
                json!({"kind": "steps", "every": "300 ms", "most": "10 ms"}),
                json!({"kind": "trace", "delays_ms": [3, 0, 1.5], "every": "50 ms"}),
                json!({"kind": "slots", "every": "4 ms"}),
                json!({"kind": "netem", "mean": "5 ms", "spread": "2 ms", "law": "pareto"}),
            ]);
        }
        if self.chance(0.08) {
            link["queue"] = self.one(&[
                json!({"kind": "policer", "burst": "6 kB", "limit": "20 packet"}),
                json!({"kind": "policer", "rate": "700 kbit/s", "burst": "15 kB", "excess": "6 kB",
                    "marks": true}),
                json!({"kind": "policer", "rate": "500 kbit/s", "peak": "900 kbit/s"}),
            ]);
        }
        if self.chance(0.08) {
            link["channel"] = json!({"kind": "shaper", "burst": "15 kB", "peak": "200 Mbit/s"});
        }
        self.bundle(&mut link);
        if self.chance(0.08) {
            link["outage"] = self.one(&[
                json!({"on": "500 ms", "off": "100 ms"}),
                json!({"on": "700 ms", "off": "200 ms", "periodic": true, "direction": "reverse"}),
                json!({"on": "600 ms", "off": "150 ms", "holds": true}),
            ]);
        }
        if self.chance(0.15) {
            link["quick_start"] = self.one(&[
                json!("approve"),
                json!({"threshold": 0.9, "slot": "100 ms", "history": 2}),
            ]);
        }
        link
    }

    /// Packets that wait for others, ACKs that are thinned, and parts that the way back does not have.
    fn bundle(&mut self, link: &mut Value) {
        if self.chance(0.12) {
            link["aggregation"] = self.one(&[
                json!({"kind": "hold", "time": "5 ms"}),
                json!({"kind": "hold", "packets": 3, "time": "9 ms"}),
                json!({"kind": "ampdu"}),
                json!({"kind": "ampdu", "packets": 4, "volume": "5000 B", "access": "1 ms"}),
                json!({"kind": "grants"}),
                json!({"kind": "grants", "interval": "1 ms", "delay": "1 ms", "volume": "4 kB"}),
            ]);
        }
        if self.chance(0.08) {
            link["ack_thinning"] = self.one(&[
                json!({"every": 3}),
                json!({"every": 8, "within": "5 ms"}),
                json!({"every": 4, "within": "1 ms", "all": true}),
            ]);
        }
        if self.chance(0.1) {
            let parts = ["queue", "jitter", "aggregation", "ack_thinning", "loss", "channel"];
            link["reverse"] = json!({"without": [self.one(&parts)]});
        }
    }

    fn flow(&mut self, n: usize, laws: &[String]) -> Value {
        let mut flow = json!({"name": format!("f{n}"), "variant": self.one(laws)});
        if self.chance(0.5) {
            flow["tcp"] = self.one(&[
                json!({"delayed_ack": "off"}),
                json!({"ecn": "on"}),
                json!({"rledbat": "ledbatpp"}),
                json!({"mss": "536 B", "receive_window": "20 kB"}),
            ]);
        }
        if self.chance(0.4) {
            flow["count"] = json!(self.one(&[2, 3, 5]));
            flow["stagger"] = json!(self.one(&["0 s", "1 ms", "70 ms"]));
        }
        if self.chance(0.3) {
            flow["dscp"] = json!(self.one(&["CS1", "EF", "AF41"]));
        }
        if self.chance(0.3) {
            flow["start"] = json!("300 ms");
        }
        if self.chance(0.4) {
            flow["app"] = self.one(&[
                json!({"kind": "bulk", "size": "60 kB"}),
                json!({"kind": "cbr", "rate": "500 kbit/s", "message": "2000 B"}),
                json!({"kind": "bursts", "size": "20 kB", "every": "400 ms"}),
                json!({"kind": "frames", "bytes": [9000, 700, 700], "every": "20 ms"}),
                json!({"kind": "onoff", "on": "0.3 s", "off": "0.2 s", "rate": "3 Mbit/s", "message": "700 B"}),
                json!({"kind": "video", "size": "500 kB", "length": "2 s"}),
            ]);
        }
        flow
    }

    fn class(&mut self, n: usize, laws: &[String]) -> Value {
        let mut class = json!({
            "name": format!("t{n}"), "variant": self.one(laws),
            "arrivals": {"kind": self.one(&["poisson", "periodic"]), "rate": "8 /s"},
            "app": self.one(&[
                json!({"kind": "bulk", "size": "20 kB"}),
                json!({"kind": "request", "response": "9 kB", "exchanges": 2}),
                json!({"kind": "browser", "request": "160 B", "size": "4 kB", "embedded": 2,
                    "active_off": "0 s", "think": "300 ms", "pages": 2}),
            ]),
        });
        if self.chance(0.3) {
            class["dscp"] = json!(self.one(&["LE", "46"]));
        }
        if self.chance(0.5) {
            class["access"] = self.one(&[
                json!({"client": {"rate": "5 Mbit/s", "delay": "2 ms"}}),
                json!({"client": {"delay": "3 ms", "loss": 0.02}, "server": {"rate": "20 Mbit/s", "syn_loss": 0.1}}),
                json!({"client": {"delay": "3 ms", "delaybox": true}, "server": {"delay": "20 ms", "delaybox": true}}),
            ]);
        }
        class
    }

    /// A scenario as a tree, which need not be one that can be run.
    ///
    /// # Panics
    /// Never: the trees are made here.
    pub fn scenario(&mut self, seed: u64) -> Value {
        // Every growth law that needs no router of its own, and parts that ask the engines for more.
        let laws: Vec<String> = REGISTRY
            .iter()
            .filter(|row| row.choice.slot() == Slot::Growth && !RULED.contains(&row.word))
            .map(ackclock_laws::words::Row::spelled)
            .chain(
                ["newreno+sack", "cubic+rack", "newreno+quickstart(5.12Mbps)"].map(str::to_owned),
            )
            .collect();
        let mut scenario = json!({"duration": "2.5 s", "seed": seed});
        let mut flows: Vec<Value> =
            (0..self.one(&[1, 1, 2, 3])).map(|n| self.flow(n, &laws)).collect();
        let mut classes: Vec<Value> = Vec::new();
        if self.chance(0.3) {
            classes = (0..self.one(&[1, 2])).map(|n| self.class(n, &laws)).collect();
        }
        let name = if self.chance(0.5) {
            let (mut bottleneck, access) = (self.link(), self.link());
            let mut topology = json!({"kind": "dumbbell", "access": access});
            let ruled = self.chance(0.08);
            if ruled {
                let law = self.one(&RULED);
                bottleneck[law] = json!({});
                topology["access"][law] = json!({});
                flows[0]["variant"] = json!(law);
            }
            topology["access"].as_object_mut().unwrap().remove("outage");
            topology["bottleneck"] = bottleneck;
            scenario["topology"] = topology;
            "bottleneck"
        } else {
            // A chain, or a star.
            let star = self.chance(0.4);
            let links: Vec<Value> = (0..3)
                .map(|n| {
                    let mut link = self.link();
                    link["name"] = json!(format!("l{n}"));
                    link["from"] = json!(if star { "hub".to_owned() } else { format!("n{n}") });
                    link["to"] = json!(format!("n{}", n + 1));
                    link
                })
                .collect();
            scenario["topology"] = json!({"kind": "graph", "link": links});
            for each in flows.iter_mut().chain(&mut classes) {
                let ends = self.one(&[["n1", "n3"], ["n1", "n3"], ["n3", "n1"], ["n2", "n1"]]);
                (each["from"], each["to"]) = (json!(ends[0]), json!(ends[1]));
            }
            self.one(&["l1", "l1", "l2"])
        };
        scenario["flow"] = json!(flows);
        if !classes.is_empty() {
            scenario["traffic"] = json!(classes);
        }
        if self.chance(0.3) {
            scenario["cross_traffic"] = json!([
                {"link": name, "kind": self.one(&["poisson", "periodic"]), "rate": "60 packet/s", "size": "500 B"}
            ]);
        }
        if self.chance(0.2) {
            scenario["event"] = json!([
                {"at": "1 s", "link": name, "set": self.one(&[
                    json!({"rate": "4 Mbit/s"}), json!({"delay": "5 ms"}), json!({"loss": 0.02}),
                    json!({"rate": "0 bit/s"}), json!({"queue": {"limit": "5 packet"}}),
                ])},
                {"at": "1.4 s", "link": name, "set": {"rate": "8 Mbit/s"}},
            ]);
        }
        if has_jitter(&scenario["topology"], name) && self.chance(0.7) {
            let jitter = self.one(&[
                json!({"kind": "uniform", "most": "9 ms"}),
                json!({"kind": "uniform", "most": "0 s"}),
                json!({"kind": "wifi"}),
                json!({"kind": "netem", "mean": "2 ms", "spread": "2 ms"}),
            ]);
            let event = json!({
                "at": "0.9 s", "link": name, "direction": "forward", "set": {"jitter": jitter}
            });
            match &mut scenario["event"] {
                Value::Array(events) => events.push(event),
                none => *none = json!([event]),
            }
        }
        if self.chance(0.4) {
            scenario["measure"] = json!([
                {"name": "m", "from": "0.31 s", "for": "0.77 s"},
                {"name": "late", "from": "1.2 s", "crossings": [name]},
            ]);
        }
        let mut probes = Vec::new();
        for probe in [
            json!({"flow": "f0", "every": "change"}),
            json!({"link": name, "every": "change"}),
            json!({"link": name, "every": "17 ms", "direction": "reverse"}),
        ] {
            if self.chance(0.2) {
                probes.push(probe);
            }
        }
        scenario["probe"] = json!(probes);
        scenario
    }
}

/// Says if the link of that name has a jitter on its way there.
fn has_jitter(topology: &Value, name: &str) -> bool {
    let is_named = |link: &&Value| link["name"] == *name;
    let link = match &topology["link"] {
        Value::Array(links) => links.iter().find(is_named),
        _ => topology.get("bottleneck"),
    };
    link.is_some_and(|link| link.get("jitter").is_some())
}
