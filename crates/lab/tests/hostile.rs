//! Scenarios drawn from the schema, most of them absurd: each is refused in one line or begins to run, and none ends the
//! process or stands still. `ACKCLOCK_HOSTILE=50000` draws so many (the default is a few), `ACKCLOCK_HOSTILE_SEED` others.

#![expect(
    clippy::disallowed_methods,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "drawn numbers need no last bit"
)]

use std::sync::mpsc::channel;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use std::{env, thread};

use ackclock_lab::{Meter, Ready, SweepError, from_json, schema, simulate_watched};
use ackclock_tcp::variant::{REGISTRY, Slot};
use ackclock_units::random::Stream;
use serde_json::{Map, Value, json};

/// A run that goes on after so long is stopped.
const LET_RUN: Duration = Duration::from_millis(60);
/// A thread that has not ended after so long stands still, on whatever machine: it should take milliseconds.
const STANDS_STILL: Duration = Duration::from_mins(1);

/// Every growth law, and two names with more parts.
static LAWS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let laws = REGISTRY.iter().filter(|row| row.choice.slot() == Slot::Growth);
    laws.map(|row| row.word).chain(["newreno+sack", "dctcp+ecn"]).collect()
});

struct Draw<'a> {
    random: Stream,
    definitions: &'a Value,
}

impl Draw<'_> {
    fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.random.next_u64() % len as u64).unwrap()
    }

    fn chance(&mut self, share: f64) -> bool {
        self.random.bernoulli(share)
    }

    fn one_of<'b, T>(&mut self, of: &'b [T]) -> &'b T {
        &of[self.index(of.len())]
    }

    /// Ordinary numbers, and those that break things.
    fn number(&mut self) -> f64 {
        match self.index(12) {
            0 => 0.0,
            1 => -1.0,
            2 => 1e18,
            3 => 9.1e18,
            4 => 1e-9,
            5 => 0.5,
            6 => 1.0,
            7 => 1e9,
            _ => {
                let exponent = self.random.uniform_in(-3.0, 6.0);
                let digits = 10_f64.powf(exponent);
                if self.chance(0.7) { digits.ceil() } else { digits }
            }
        }
    }

    /// A text as the type called `name` has it.
    fn text(&mut self, name: &str, example: &str) -> String {
        let units: &[&str] = match name {
            "Bytes" | "Mss" => &["B", "kB", "MB", "GB", "TB"],
            "Duration" => &["ns", "us", "ms", "ms", "s", "s", "h"],
            "Rate" | "RateOrZero" => &["bit/s", "kbit/s", "Mbit/s", "Mbit/s", "Gbit/s", "Tbit/s"],
            "PacketRate" => &["packet/s"],
            "Frequency" => &["/s", "/min", "/h"],
            "Limit" => &["packets", "B", "kB", "BDP"],
            "Span" => &["RTT", "s"],
            "Every" => &["us", "ms", "s"],
            _ => &[],
        };
        let words: &[&str] = match name {
            "Limit" => &["unlimited"],
            "Every" => &["change"],
            "Profile" => &["rfc", "linux", "ns2"],
            "Variant" => &LAWS,
            _ => &[],
        };
        if units.is_empty() || (!words.is_empty() && self.chance(0.3)) {
            return if words.is_empty() {
                example.to_owned()
            } else {
                (*self.one_of(words)).to_owned()
            };
        }
        let number = self.number();
        format!("{number} {}", self.one_of(units))
    }

    /// A value of `schema` under the key `key`.
    fn value(&mut self, schema: &Value, key: &str, depth: u32) -> Value {
        if let Some(of) = schema.get("$ref").and_then(Value::as_str) {
            let name = of.rsplit('/').next().unwrap();
            let definition = &self.definitions[name];
            if definition["type"] == "string"
                && let Some(example) = definition["examples"][0].as_str()
            {
                return self.text(name, example).into();
            }
            return self.value(definition, key, depth);
        }
        for word in ["anyOf", "oneOf"] {
            if let Some(choices) = schema.get(word).and_then(Value::as_array) {
                let at = self.index(choices.len());
                return self.value(&choices[at], key, depth);
            }
        }
        if let Some(only) = schema.get("const") {
            return only.clone();
        }
        if let Some(words) = schema.get("enum").and_then(Value::as_array) {
            return self.one_of(words).clone();
        }
        match schema.get("type").and_then(Value::as_str) {
            Some("object") => self.object(schema, depth),
            Some("array") => {
                let fixed = schema.get("prefixItems").and_then(Value::as_array);
                if let Some(items) = fixed {
                    return items.iter().map(|item| self.value(item, key, depth + 1)).collect();
                }
                let count = schema
                    .get("minItems")
                    .and_then(Value::as_u64)
                    .unwrap_or_else(|| 1 + self.random.next_u64() % 3);
                (0..count).map(|_| self.value(&schema["items"], key, depth + 1)).collect()
            }
            Some("integer") => {
                let number = self.number();
                if self.chance(0.8) {
                    json!(number.clamp(1.0, 1e3).round() as u64)
                } else {
                    json!(number.round().clamp(0.0, 1e19) as u64)
                }
            }
            Some("number") => {
                if self.chance(0.6) {
                    json!(self.random.uniform())
                } else {
                    json!(self.number())
                }
            }
            Some("boolean") => self.chance(0.5).into(),
            Some("string") => self.name(key).into(),
            _ => Value::Null,
        }
    }

    /// A text that means something under `key` in the scenarios that are drawn here.
    fn name(&mut self, key: &str) -> String {
        let words: &[&str] = match key {
            "link" | "crossings" => &["bottleneck", "access-left-a", "l0", "l1"],
            "flow" => &["a", "a-1", "b"],
            "from" | "to" => &["n0", "n1", "n2"],
            "name" => &["a", "b", "c", "l0", "l1", "w"],
            _ => &["a", "x"],
        };
        (*self.one_of(words)).to_owned()
    }

    fn object(&mut self, schema: &Value, depth: u32) -> Value {
        let mut made = Map::new();
        let required: Vec<&str> = schema["required"]
            .as_array()
            .map(|list| list.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return Value::Object(made);
        };
        // Fewer the deeper, so that most values are within bounds.
        let share = 0.25 / f64::from(1 + depth);
        for (key, of) in properties {
            if required.contains(&key.as_str()) || self.chance(share) {
                made.insert(key.clone(), self.value(of, key, depth + 1));
            }
        }
        Value::Object(made)
    }

    /// A scenario: a good one of which some parts are drawn.
    fn scenario(&mut self, schema: &Value) -> Value {
        let mut scenario = json!({
            "duration": "2 s",
            "topology": {"kind": "dumbbell",
                "bottleneck": {"rate": "10 Mbit/s", "delay": "5 ms"},
                "access": {"rate": "100 Mbit/s", "delay": "1 ms"}},
            "flow": [{"name": "a", "variant": "cubic"}],
        });
        for _ in 0..=self.index(3) {
            let keys = [
                "duration",
                "topology",
                "flow",
                "traffic",
                "cross_traffic",
                "event",
                "measure",
                "probe",
                "link",
            ];
            match *self.one_of(&keys) {
                "duration" => scenario["duration"] = self.text("Duration", "").into(),
                "link" => {
                    let end = ["bottleneck", "access"][self.index(2)];
                    let link = &self.definitions["LinkSpec"]["properties"];
                    let properties = link.as_object().unwrap();
                    let at = self.index(properties.len());
                    let (key, of) = properties.iter().nth(at).unwrap();
                    if scenario["topology"]["kind"] == "dumbbell" {
                        scenario["topology"][end][key.as_str()] = self.value(of, key, 1);
                    }
                }
                key => {
                    let value = self.value(&schema["properties"][key], key, 0);
                    scenario[key] = value;
                }
            }
        }
        scenario
    }
}

fn number_of(key: &str, default: u64) -> u64 {
    env::var(key).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn absurd_scenarios_are_refused_or_run() {
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    let seed = number_of("ACKCLOCK_HOSTILE_SEED", 1);
    let mut draw = Draw { random: Stream::new(seed, "hostile"), definitions: &schema["$defs"] };
    let (mut refused, mut run, mut stopped) = (0, 0, 0);
    for n in 0..number_of("ACKCLOCK_HOSTILE", 300) {
        let text = draw.scenario(&schema).to_string();
        let meter = Arc::new(Meter::default());
        let (sender, receiver) = channel();
        let (of_run, input) = (Arc::clone(&meter), text.clone());
        thread::spawn(move || {
            let result = from_json(&input)
                .map_err(SweepError::from)
                .and_then(|scenario| Ready::new(&scenario, None, &of_run, || false))
                .and_then(|ready| simulate_watched(&ready, &of_run))
                .map(|_| ());
            let _ = sender.send(result);
        });
        let result = receiver.recv_timeout(LET_RUN).or_else(|_| {
            meter.stop();
            receiver.recv_timeout(STANDS_STILL)
        });
        match result {
            Ok(Ok(())) => run += 1,
            Ok(Err(SweepError::Cancelled)) => stopped += 1,
            Ok(Err(SweepError::Input(error))) => {
                let line = error.to_string();
                assert!(line.lines().count() == 1 && line.len() < 2000, "{n}: {line}\n{text}");
                refused += 1;
            }
            other => panic!("case {n} of seed {seed}: {other:?}\n{text}"),
        }
    }
    println!("{refused} refused, {run} run, {stopped} stopped on their way");
    assert!(run + stopped > 0);
}

/// A scenario that no machine could carry out: a good one in which one or two amounts are far beyond the budget.
fn impossible(draw: &mut Draw<'_>) -> Value {
    let power = |draw: &mut Draw<'_>, from: f64, to: f64| {
        10_f64.powf(draw.random.uniform_in(from, to)).round()
    };
    let mut scenario = json!({
        "duration": "2 s",
        "topology": {"kind": "dumbbell",
            "bottleneck": {"rate": "10 Mbit/s", "delay": "5 ms"},
            "access": {"rate": "100 Mbit/s", "delay": "1 ms"}},
        "flow": [{"name": "a", "variant": "cubic"}],
    });
    for _ in 0..=draw.index(2) {
        match draw.index(10) {
            0 => {
                // 10 Mbit/s are some 3,400 events a second.
                let seconds = power(draw, 7.6, 9.0);
                scenario["duration"] = format!("{seconds} s").into();
            }
            1 => {
                let rate = power(draw, 8.0, 15.0);
                scenario["traffic"] = json!([{"name": "w", "variant": "reno",
                    "arrivals": {"kind": "poisson", "rate": format!("{rate} /s")},
                    "app": {"kind": "request", "response": "1 kB"}}]);
            }
            2 => {
                let exchanges = power(draw, 8.0, 18.0);
                scenario["traffic"] = json!([{"name": "w", "variant": "reno",
                    "arrivals": {"kind": "poisson", "rate": "100 /s"},
                    "app": {"kind": "request", "response": "1 kB", "exchanges": exchanges}}]);
            }
            3 => {
                scenario["flow"][0]["count"] =
                    json!(400_000 + draw.random.next_u64() % 3_800_000_000);
            }
            4 => {
                let rate = power(draw, 12.0, 18.0);
                scenario["cross_traffic"] = json!([{"link": "bottleneck", "kind": "poisson",
                    "rate": format!("{rate} packet/s"), "size": "100 B"}]);
            }
            5 => {
                let probes = 50 + draw.index(100);
                let probe = json!({"flow": "a", "every": "1 us"});
                scenario["probe"] = (0..probes).map(|_| probe.clone()).collect();
            }
            6 => {
                // A day of pictures for each of very many flows.
                scenario["flow"] = json!([{"name": "v", "variant": "reno", "count": 1000 + draw.index(9000),
                    "app": {"kind": "video", "size": "10 GB", "length": "24 h"}}]);
            }
            7 => {
                let rate = power(draw, 6.0, 15.0);
                let channel = json!({"kind": "cellular", "period": "24 h"});
                scenario["topology"]["bottleneck"]["rate"] =
                    format!("{} Mbit/s", rate / 1e3).into();
                scenario["topology"]["bottleneck"]["channel"] = channel;
            }
            8 => {
                let every = draw.random.uniform();
                scenario["flow"][0]["app"] = json!({"kind": "bursts", "size": "1 kB",
                    "every": {"exponential": format!("{every} ns")}});
            }
            _ => {
                let rate = power(draw, 3.0, 6.0);
                scenario["flow"][0]["app"] =
                    json!({"kind": "cbr", "rate": format!("{rate} Gbit/s"), "message": "1 B"});
            }
        }
    }
    scenario
}

#[test]
fn impossible_scenarios_are_refused_before_they_run() {
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    let mut draw = Draw { random: Stream::new(1, "impossible"), definitions: &schema["$defs"] };
    for n in 0..number_of("ACKCLOCK_IMPOSSIBLE", 1000) {
        let text = impossible(&mut draw).to_string();
        let (sender, receiver) = channel();
        let input = text.clone();
        thread::spawn(move || {
            let _ = sender.send(from_json(&input).is_err());
        });
        let refused = receiver.recv_timeout(STANDS_STILL);
        assert_eq!(refused, Ok(true), "case {n}:\n{text}");
    }
}
