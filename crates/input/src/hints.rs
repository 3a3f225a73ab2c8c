//! Words that people write by habit or in other tools, and the word here that they mean.

use serde_json::{Map, Value};

use super::nearest;

/// Keys, and what others call them; the first that exists where the word stands is meant.
const KEYS: &[(&str, &[&str])] = &[
    ("rate", &["bandwidth", "bw", "capacity", "speed", "bitrate", "bit_rate", "throughput"]),
    ("delay", &["latency", "propagation", "propagation_delay", "prop_delay", "owd", "rtt"]),
    ("rtt", &["delay", "latency", "base_rtt", "min_rtt"]),
    ("limit", &["size", "buffer", "capacity", "length", "depth", "max", "max_size", "packets"]),
    ("buffer", &["limit", "queue_size", "buffer_size", "bufsize"]),
    ("queue", &["buffer", "limit", "aqm", "qdisc", "queue_size", "buffer_size", "discipline"]),
    ("loss", &["plr", "loss_rate", "packet_loss", "error_rate", "drop"]),
    ("reorder", &["reordering"]),
    ("duration", &["time", "length", "runtime", "sim_time", "run_time", "stop", "until", "end"]),
    ("seed", &["seeds", "random_seed", "rng"]),
    ("title", &["name", "description"]),
    ("topology", &["network"]),
    ("bottleneck", &["link", "shared", "core"]),
    ("flow", &["flows", "connection", "connections", "sender", "senders"]),
    ("traffic", &["web", "class", "classes"]),
    ("cross_traffic", &["background", "udp", "cross"]),
    ("event", &["change", "changes"]),
    ("measure", &["window", "measurement"]),
    (
        "variant",
        &[
            "cc",
            "cca",
            "algorithm",
            "congestion_control",
            "congestion",
            "tcp_variant",
            "law",
            "protocol",
        ],
    ),
    ("app", &["application", "source"]),
    ("name", &["id", "label"]),
    ("count", &["number", "n", "num", "flows"]),
    ("start", &["begin", "start_time", "starts", "at"]),
    ("from", &["start", "begin", "at", "since", "source", "src"]),
    ("to", &["dest", "destination", "dst", "target"]),
    ("until", &["to", "end", "stop", "for", "lasts", "length", "duration"]),
    ("for", &["length", "lasts", "duration", "until", "to", "end", "stop"]),
    ("every", &["interval", "period", "step", "rate"]),
    ("size", &["bytes", "volume", "length", "amount", "data"]),
    ("initial_window", &["iw", "initcwnd", "init_cwnd", "initial_cwnd"]),
    ("receive_window", &["rcvbuf", "rwnd", "receive_buffer", "rcv_buf", "window"]),
    ("delayed_ack", &["delack", "delayed_acks", "ack_delay"]),
    ("mss", &["segment_size", "segsize", "packet_size", "mtu"]),
    ("min_rto", &["rto_min", "rtomin"]),
    ("utilisation", &["load", "utilization"]),
    ("arrivals", &["rate", "interarrival"]),
    ("clients", &["direction", "side"]),
    ("times_ms", &["times", "trace"]),
    ("unit", &["units"]),
];

/// Words, keys that they stand for and do not mean quite the same, and the difference.
const DIFFERENCES: &[(&[&str], &str, &str)] = &[
    (&["rtt", "base_rtt", "min_rtt"], "delay", "It is one way, half of a round trip."),
    (&["delay", "latency"], "rtt", "It is there and back, twice the delay of one way."),
    (&["until", "to", "end", "stop"], "for", "It is a length, and not the time of the end."),
    (
        &["for", "lasts", "length", "duration"],
        "until",
        "It is the time of the end, and not a length.",
    ),
    (&["rate"], "every", "It is the time from one to the next."),
    (&["interarrival"], "arrivals", "They have a rate, and not the time between two."),
    (&["packet_size", "mtu"], "mss", "It is the payload of a segment, without headers."),
    (
        &["rcvbuf", "receive_buffer", "rcv_buf"],
        "receive_window",
        "It is the window that is announced, less than a buffer of the kernel.",
    ),
];

/// The difference between what `word` means elsewhere and `key` here, with a blank before it; or nothing.
pub(super) fn difference(word: &str, key: &str) -> String {
    let lower = word.to_lowercase();
    let differs =
        DIFFERENCES.iter().find(|(words, meant, _)| *meant == key && words.contains(&&*lower));
    differs.map_or_else(String::new, |(_, _, difference)| format!(" {difference}"))
}

/// The key of `known` that `word` means.
pub(super) fn key<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    // The key `from` is a place in flows and links, beside `to`, and a time in probes and measures.
    let is_place = known.contains(&"to");
    let known = || known.iter().copied();
    let lower = word.to_lowercase();
    let exact = known().find(|key| key.eq_ignore_ascii_case(&lower));
    // In the order of the list above, which has the likelier first.
    let habit = || {
        let mut meant = KEYS.iter().map(|(key, _)| *key).filter(|key| by_habit(word, key));
        let fits = |key: &str| key != "from" || is_place == ["source", "src"].contains(&&*lower);
        meant.find_map(|meant| known().find(|key| *key == meant && fits(key)))
    };
    // A word that says something else is no misspelling.
    let is_known = KEYS.iter().any(|(key, others)| *key == lower || others.contains(&&*lower));
    let misspelt = || if is_known { None } else { nearest(word, known()) };
    exact.or_else(habit).or_else(misspelt)
}

/// True if `word` is a word of other tools for `key`.
pub(super) fn by_habit(word: &str, key: &str) -> bool {
    let lower = word.to_lowercase();
    KEYS.iter().any(|(known, others)| *known == key && others.contains(&&*lower))
}

/// The word of `known` that `word` means, of which each may list words of other tools.
pub(super) fn word<'a>(word: &str, known: &[(&'a str, Vec<&'a str>)]) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace(['-', '_', ' '], "");
    let said = plain(word);
    let exact = known.iter().find(|(word, _)| plain(word) == said);
    let by_habit = || known.iter().find(|(_, also)| also.iter().any(|other| plain(other) == said));
    exact
        .or_else(by_habit)
        .map(|(word, _)| *word)
        .or_else(|| nearest(word, known.iter().map(|(word, _)| *word)))
}

/// A value as TOML has it, if it is short.
pub(super) fn written(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => format!("\"{text}\""),
        Value::Object(table) => table_of(table.iter().map(|(key, value)| (&**key, value)))?,
        value => value.to_string(),
    };
    (text.len() <= 60 && !text.contains('`')).then_some(text)
}

/// An inline table.
fn table_of<'a>(entries: impl Iterator<Item = (&'a str, &'a Value)>) -> Option<String> {
    let entries: Option<Vec<String>> =
        entries.map(|(key, value)| Some(format!("{key} = {}", written(value)?))).collect();
    Some(format!("{{ {} }}", entries?.join(", ")))
}

/// The only number of a table, and its key.
pub(super) fn lone_number(table: &Map<String, Value>) -> Option<&Value> {
    let mut numbers = table.values().filter(|value| value.is_number());
    numbers.next().filter(|_| numbers.next().is_none())
}

/// The reason why a table that has a channel needs `name`, too.
pub(super) fn needed_beside(name: &str, table: &Map<String, Value>) -> Option<&'static str> {
    let of_channel = name == "rate" && table.contains_key("channel");
    of_channel
        .then_some("; the mean rate of the channel, by which limits in `BDP` and in time count")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_means_another_quantity_is_told_with_the_difference() {
        let measure = ["crossings", "flow", "for", "from", "name"];
        let probe = ["direction", "every", "flow", "from", "link", "until", "what"];
        let link = ["delay", "from", "name", "rate", "to"];
        let said = |word: &str, known: &[&'static str]| {
            key(word, known).map(|key| format!("{key}{}", difference(word, key)))
        };
        for (word, known, meant) in [
            ("to", &measure[..], "for It is a length, and not the time of the end."),
            ("duration", &measure, "for"),
            ("duration", &probe, "until It is the time of the end, and not a length."),
            ("stop", &probe, "until"),
            ("rate", &probe, "every It is the time from one to the next."),
            ("rtt", &link, "delay It is one way, half of a round trip."),
            ("src", &link, "from"),
            ("start", &measure, "from"),
        ] {
            assert_eq!(said(word, known).as_deref(), Some(meant), "{word}");
        }
        // A node where a time stands and a time where a node stands; words that are others, and no misspellings.
        for (word, known) in
            [("src", &measure[..]), ("since", &link), ("time", &measure), ("link", &["kind"])]
        {
            assert_eq!(said(word, known), None, "{word}");
        }
        assert_eq!(said("crossing", &measure).as_deref(), Some("crossings"));
    }
}
