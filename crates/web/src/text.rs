//! A scenario as TOML text.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// Keys that people write first, in their order: a tree has forgotten the order of its text.
const FIRST: [&str; 25] = [
    "title",
    "duration",
    "seed",
    "linux",
    "topology",
    "flow",
    "traffic",
    "cross_traffic",
    "event",
    "measure",
    "probe",
    "kind",
    "name",
    "variant",
    "profile",
    "at",
    "from",
    "to",
    "link",
    "rate",
    "delay",
    "rtt",
    "bottleneck",
    "access",
    "queue",
];

/// The pairs of a table in the order in which people write them.
fn ordered(table: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut pairs: Vec<(&String, &Value)> =
        table.iter().filter(|(_, value)| !value.is_null()).collect();
    pairs
        .sort_by_key(|(key, _)| FIRST.iter().position(|first| first == key).unwrap_or(FIRST.len()));
    pairs
}

/// A tree as TOML: keys of the document first, then its tables and lists of tables, whose own tables stand in one line.
pub fn to_toml(tree: &Map<String, Value>) -> String {
    let (mut text, mut tables) = (String::new(), String::new());
    for (key, value) in ordered(tree) {
        match value {
            Value::Object(table) => write_table(&mut tables, &format!("[{key}]"), table),
            Value::Array(items) if items.iter().all(Value::is_object) => {
                for item in items.iter().filter_map(Value::as_object) {
                    write_table(&mut tables, &format!("[[{key}]]"), item);
                }
            }
            _ => write_pair(&mut text, key, value),
        }
    }
    text + &tables
}

fn write_table(text: &mut String, head: &str, table: &Map<String, Value>) {
    // Writing to a text does not fail.
    let _ = writeln!(text, "\n{head}");
    for (key, value) in ordered(table) {
        write_pair(text, key, value);
    }
}

fn write_pair(text: &mut String, key: &str, value: &Value) {
    let _ = writeln!(text, "{} = {}", name(key), inline(value));
}

fn name(key: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    if !key.is_empty() && key.chars().all(plain) { key.to_owned() } else { quoted(key) }
}

/// JSON and TOML write texts alike, but for DEL.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn inline(value: &Value) -> String {
    match value {
        Value::Object(table) => {
            let pairs = ordered(table).into_iter();
            let pairs: Vec<String> =
                pairs.map(|(key, value)| format!("{} = {}", name(key), inline(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use ackclock_input::{Folder, from_text, to_json};

    use super::*;

    #[test]
    fn a_scenario_comes_back_from_its_text() {
        let text = "title = \"A \\\"test\\\" é\"\nduration = \"2 s\"\nseed = 7\n[topology]\nkind = \"path\"\nrate = \"1 Mbit/s\"\n\
            rtt = \"20 ms\"\nqueue = { kind = \"droptail\", limit = \"2 BDP\" }\n[[flow]]\nvariant = \"newreno+sack\"\n\
            [[flow]]\nname = \"b\"\nvariant = \"cubic\"\napp = { kind = \"bulk\", size = \"1 MB\" }\n";
        let (tree, scenario) = from_text("a", text, false, Folder::here()).unwrap();
        let written = to_toml(tree.as_object().unwrap());
        let (again, read) = from_text("b", &written, false, Folder::here()).unwrap();
        assert_eq!(again, tree);
        assert_eq!(to_json(&read), to_json(&scenario));
        assert_eq!(written, text.replace("\n[", "\n\n["));
    }
}
