//! Files of numbers that a scenario names: distributions, series of rates, traces of delivery opportunities, in the forms
//! in which they are published.
//!
//! A file takes the place of a list: `quantiles = "websearch.txt"` with `unit = "B"`, `series = "5g.csv"` with
//! `unit = "Mbit/s"`, `times_ms = "lte.up"`. In a channel, a jitter or an application its key may be `file`, whatever the kind. The list is put in
//! its place before the scenario is held against its schema, so that all that comes later knows lists alone. Messages
//! name the line of a file and never repeat its text: a scenario may come from somebody who is not to see other files.

use std::path::{Path, PathBuf};

use ackclock_app::Application;
use ackclock_net::{ChannelConfig, JitterConfig};
use ackclock_units::Duration;
use ackclock_units::written::kinds::ListFile;
use serde_json::{Map, Value, json};

use super::document::{element, member};
use super::{Fault, read};

/// A list that a file may stand for.
struct Kind {
    /// The key of the list.
    key: &'static str,
    /// The keys that belong to the file.
    beside: &'static [&'static str],
    /// True if the first line may be a heading.
    heading: bool,
    /// True if the key means this list in every table, false if in those of its kind alone.
    anywhere: bool,
    /// The list of the file's rows.
    list: fn(&File<'_>) -> Result<Vec<Value>, Fault>,
}

const KINDS: [Kind; 5] = [
    Kind { key: "quantiles", beside: &["unit"], heading: true, anywhere: true, list: quantiles },
    Kind {
        key: "series",
        beside: &["unit", "interval"],
        heading: true,
        anywhere: true,
        list: series,
    },
    Kind { key: "times_ms", beside: &[], heading: false, anywhere: true, list: times },
    Kind { key: "delays_ms", beside: &[], heading: false, anywhere: true, list: delays },
    Kind { key: "bytes", beside: &[], heading: true, anywhere: false, list: sizes },
];

/// The key of a file in the place of the list of a channel, a jitter or an application.
const FILE: &str = "file";

/// The rows of a file, and what the scenario says of them.
struct File<'a> {
    /// The key at which the file is named, and the file.
    key: &'a str,
    name: &'a str,
    rows: Vec<Row>,
    /// The table that names the file.
    table: &'a Map<String, Value>,
}

/// The numbers of a line.
struct Row {
    line: usize,
    numbers: Vec<f64>,
}

impl File<'_> {
    fn fault(&self, line: usize, message: &str) -> Fault {
        Fault::new(self.key, format!("`{}` line {line}: {message}", self.name))
    }

    fn whole(&self, message: &str) -> Fault {
        Fault::new(self.key, format!("`{}`: {message}", self.name))
    }

    fn text(&self, word: &str) -> Option<&str> {
        self.table.get(word).and_then(Value::as_str)
    }

    /// The factor and the unit of the numbers: `"B"` is 1 and `B`, `"1460 B"` is 1460 and `B`.
    fn unit(&self, example: &str) -> Result<(f64, &str), Fault> {
        let text = self.text("unit").ok_or_else(|| {
            self.whole(&format!("plain numbers, expected `unit` beside it, such as \"{example}\""))
        })?;
        let at = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
        let (number, unit) = (text[..at].trim(), text[at..].trim());
        let factor = if number.is_empty() { Some(1.0) } else { number.parse().ok() };
        let fits = |factor: &f64| factor.is_finite() && *factor > 0.0 && !unit.is_empty();
        match factor.filter(fits) {
            Some(factor) => Ok((factor, unit)),
            None => Err(Fault::new(
                member(self.key.rsplit_once('.').map_or("", |(table, _)| table), "unit"),
                format!("expected a unit such as \"{example}\""),
            )),
        }
    }
}

/// The folder from which relative names of files count.
#[derive(Clone, Copy, Debug)]
pub struct Folder<'a> {
    /// Its path.
    pub path: &'a Path,
    /// True if no file outside of it is read, links resolved.
    pub closed: bool,
}

impl Folder<'static> {
    /// The current folder.
    pub fn here() -> Self {
        Self::open(Path::new(""))
    }
}

impl<'a> Folder<'a> {
    /// A folder from which the whole machine's files can be named.
    pub const fn open(path: &'a Path) -> Self {
        Self { path, closed: false }
    }

    /// The path of a file; nothing if it may not be read, though it were there.
    fn find(self, name: &str) -> Option<PathBuf> {
        let path = self.path.join(name);
        if !self.closed {
            return Some(path);
        }
        let folder = self.path.canonicalize().ok()?;
        // A file that is not there has a folder in which near names would be looked for.
        let real = path.canonicalize().or_else(|_| path.parent().unwrap_or(&path).canonicalize());
        real.ok()?.starts_with(folder).then_some(path)
    }
}

/// Puts lists in the place of the names of files in `value`; relative names count from `folder`.
///
/// # Errors
/// The key that names a file that cannot be read, or not as what it is to be.
pub(super) fn resolve(value: &mut Value, folder: Folder<'_>) -> Result<(), Fault> {
    visit(value, "", folder)
}

fn visit(value: &mut Value, key: &str, folder: Folder<'_>) -> Result<(), Fault> {
    match value {
        Value::Object(table) => {
            let of_kind = kind_list(table, key);
            if let Some(of) = of_kind {
                check_file(of, table, key)?;
            }
            for kind in &KINDS {
                let is_of_kind = of_kind.is_some_and(|of| of.list == kind.key);
                if !(is_of_kind || kind.anywhere) {
                    continue;
                }
                let is_file = is_given(table, FILE) && is_of_kind;
                let written = if is_file { FILE } else { kind.key };
                if let Some(Value::String(name)) = table.get(written) {
                    let list = load(kind, name, &member(key, written), table, folder)?;
                    table.insert(kind.key.to_owned(), Value::Array(list));
                    kind.beside.iter().for_each(|word| drop(table.remove(*word)));
                    table.remove(FILE);
                }
            }
            table.iter_mut().try_for_each(|(name, child)| visit(child, &member(key, name), folder))
        }
        Value::Array(list) => list
            .iter_mut()
            .enumerate()
            .try_for_each(|(n, child)| visit(child, &element(key, n), folder)),
        _ => Ok(()),
    }
}

/// The list of a channel, a jitter or an application that a file may stand for.
fn kind_list(table: &Map<String, Value>, key: &str) -> Option<ListFile> {
    let kind = table.get("kind")?.as_str()?;
    if key == "jitter" || key.ends_with(".jitter") {
        return JitterConfig::list_file(kind);
    }
    if key.rsplit('.').next() == Some("app") {
        return Application::list_file(kind);
    }
    ChannelConfig::list_file(kind)
}

fn is_given(table: &Map<String, Value>, key: &str) -> bool {
    table.get(key).is_some_and(|value| !value.is_null())
}

/// Checks that either the list stands there or a file, and what says more of a file beside a file alone.
fn check_file(of: ListFile, table: &Map<String, Value>, key: &str) -> Result<(), Fault> {
    let file = is_given(table, FILE);
    let list = of.list;
    let fault = |message: String| Err(Fault::new(member(key, FILE), message));
    match (file, is_given(table, list)) {
        (false, false) => {
            return fault(format!("missing, expected `{FILE} = \"NAME\"`, or `{list}`"));
        }
        (true, true) => return fault(format!("expected either `{FILE}` or `{list}`")),
        _ => {}
    }
    let is_named = file || table.get(list).is_some_and(Value::is_string);
    match of.beside.iter().find(|(beside, _)| is_given(table, beside) && !is_named) {
        Some((beside, _)) => {
            let message = format!("it says more of a `{FILE}`, which is missing");
            Err(Fault::new(member(key, beside), message))
        }
        None => Ok(()),
    }
}

fn load(
    kind: &Kind,
    name: &str,
    key: &str,
    table: &Map<String, Value>,
    folder: Folder<'_>,
) -> Result<Vec<Value>, Fault> {
    if cfg!(target_family = "wasm") {
        let message =
            format!("`{name}`: a page reads no files, expected the numbers in their place");
        return Err(Fault::new(key, message));
    }
    let Some(path) = folder.find(name) else {
        let message = format!("`{name}`: lies outside of the folder in which files are read");
        return Err(Fault::new(key, message));
    };
    // A FIFO or a terminal would keep the reader waiting without a word.
    if path.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        return Err(Fault::new(
            key,
            format!("`{name}` is no plain file, expected a file of numbers"),
        ));
    }
    let text = read(&path, "expected a file of numbers")
        .map_err(|fault| Fault::new(key, format!("`{name}`: {}", fault.message)))?;
    let rows = rows(&text, kind.heading)
        .map_err(|(line, message)| Fault::new(key, format!("`{name}` line {line}: {message}")))?;
    let file = File { key, name, rows, table };
    if file.rows.is_empty() {
        return Err(file.whole("no numbers in it, expected one line or more"));
    }
    (kind.list)(&file)
}

/// The numbers of each line that has any. Blanks, commas, semicolons and tabs separate them; `#` begins a comment, and with
/// `heading` the first line may be one, in which `nan` and `inf` do not stand.
fn rows(text: &str, heading: bool) -> Result<Vec<Row>, (usize, &'static str)> {
    let mut rows: Vec<Row> = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.split('#').next().unwrap_or_default();
        let words = text.split(|c: char| c.is_whitespace() || c == ',' || c == ';');
        let read: Vec<Option<f64>> = words
            .filter(|word| !word.is_empty())
            .map(|word| word.trim_matches('"').parse().ok())
            .collect();
        if read.iter().flatten().any(|number| !number.is_finite()) {
            return Err((line, "expected numbers"));
        }
        let numbers: Option<Vec<f64>> = read.into_iter().collect();
        match numbers {
            Some(numbers) if numbers.is_empty() => {}
            Some(numbers) => {
                if rows.first().is_some_and(|row| row.numbers.len() != numbers.len()) {
                    return Err((line, "expected as many columns as in the first line"));
                }
                rows.push(Row { line, numbers });
            }
            None if heading && rows.is_empty() && line == 1 => {}
            None => return Err((line, "expected numbers")),
        }
    }
    Ok(rows)
}

/// Values and shares: two columns, or three of which the one between is another count, as in files for ns-2. The share is
/// the last column, as published, unless the first is the one that ends at 1 or 100.
fn quantiles(file: &File<'_>) -> Result<Vec<Value>, Fault> {
    let (factor, unit) = file.unit("B")?;
    let columns = file.rows[0].numbers.len();
    if !(2..=3).contains(&columns) {
        return Err(file.fault(file.rows[0].line, "expected two columns, a value and its share"));
    }
    let ends = |column: usize| {
        let last = file.rows[file.rows.len() - 1].numbers[column];
        [1.0, 100.0].into_iter().find(|whole| (last - whole).abs() < 1e-9)
    };
    let (share, value) = match (ends(columns - 1), ends(0)) {
        (None, Some(_)) => (0, columns - 1),
        (Some(_), _) => (columns - 1, 0),
        (None, None) => {
            return Err(file.whole("expected shares that end at 1, or at 100 in percent"));
        }
    };
    let whole = ends(share).unwrap_or(1.0);
    let mut before = (0.0, f64::NEG_INFINITY);
    let mut points = Vec::with_capacity(file.rows.len() + 1);
    for Row { line, numbers } in &file.rows {
        let (p, amount) = (numbers[share] / whole, numbers[value] * factor);
        if !(0.0..=1.0 + 1e-9).contains(&p) {
            return Err(file.fault(*line, "expected a share from 0 to 1, or to 100 in percent"));
        }
        if p < before.0 || amount < before.1 {
            return Err(file.fault(*line, "expected shares and values that do not fall"));
        }
        if points.is_empty() && p > 0.0 {
            // Nothing is said of what is smaller: the first value has the first share.
            points.push(json!({ "p": 0.0, "value": format!("{amount} {unit}") }));
        }
        before = (p, amount);
        points.push(json!({ "p": p.min(1.0), "value": format!("{amount} {unit}") }));
    }
    if let Some(last) = points.last_mut() {
        last["p"] = json!(1.0);
    }
    Ok(points)
}

/// Times in seconds and rates, or rates alone with an `interval`.
fn series(file: &File<'_>) -> Result<Vec<Value>, Fault> {
    let (factor, unit) = file.unit("Mbit/s")?;
    let columns = file.rows[0].numbers.len();
    let interval = file.text("interval");
    let every = match (columns, interval) {
        (2, None) => None,
        (1, Some(text)) => Some(text.parse::<Duration>().map_err(|error| {
            let table = file.key.rsplit_once('.').map_or("", |(table, _)| table);
            Fault::new(member(table, "interval"), error.to_string())
        })?),
        (1, None) => {
            return Err(
                file.whole("one column of rates, expected `interval` beside it, such as \"1 s\"")
            );
        }
        (2, Some(_)) => {
            return Err(file.whole("it has a column of times; leave `interval` out"));
        }
        _ => return Err(file.fault(file.rows[0].line, "expected two columns, a time and a rate")),
    };
    let begins = file.rows[0].numbers[0];
    let mut before = f64::NEG_INFINITY;
    let step = |(n, Row { line, numbers }): (u64, &Row)| {
        let at = if let Some(every) = every {
            Duration::from_nanos(every.as_nanos().saturating_mul(n))
        } else {
            if numbers[0] <= before {
                return Err(file.fault(*line, "expected times that ascend"));
            }
            before = numbers[0];
            Duration::from_secs_f64(numbers[0] - begins)
        };
        let rate = numbers[columns - 1] * factor;
        if rate < 0.0 {
            return Err(file.fault(*line, "expected a rate of 0 or more"));
        }
        Ok(json!({ "at": at.to_string(), "rate": format!("{rate} {unit}") }))
    };
    (0..).zip(&file.rows).map(step).collect()
}

/// Delays in milliseconds.
fn delays(file: &File<'_>) -> Result<Vec<Value>, Fault> {
    let delay = |Row { line, numbers }: &Row| match numbers[..] {
        [ms] if ms >= 0.0 => Ok(json!(ms)),
        _ => Err(file.fault(*line, "expected a delay in milliseconds")),
    };
    file.rows.iter().map(delay).collect()
}

/// Delivery opportunities in whole milliseconds.
fn times(file: &File<'_>) -> Result<Vec<Value>, Fault> {
    let mut before = 0.0;
    let mut times = Vec::with_capacity(file.rows.len());
    for Row { line, numbers } in &file.rows {
        match numbers[..] {
            [ms] if ms >= 0.0 && ms.fract() == 0.0 && ms < 4e12 => {
                if ms < before {
                    return Err(
                        file.fault(*line, "expected a time no earlier than the line before")
                    );
                }
                before = ms;
                times.push(json!(whole(ms)));
            }
            _ => return Err(file.fault(*line, "expected a time in whole milliseconds")),
        }
    }
    if before > 0.0 { Ok(times) } else { Err(file.whole("expected a last time of more than 0 ms")) }
}

/// Sizes in bytes.
fn sizes(file: &File<'_>) -> Result<Vec<Value>, Fault> {
    let size = |Row { line, numbers }: &Row| match numbers[..] {
        [bytes] if bytes >= 1.0 && bytes.fract() == 0.0 && bytes < 4e12 => Ok(json!(whole(bytes))),
        _ => Err(file.fault(*line, "expected a whole number of bytes")),
    };
    file.rows.iter().map(size).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole, and within bounds"
)]
const fn whole(number: f64) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The table with its file's list, or the message.
    fn resolved(contents: &str, table: &str) -> Result<Value, String> {
        let scratch = crate::scratch::Scratch::new();
        fs::write(scratch.path().join("f.txt"), contents).unwrap();
        let mut value: Value = serde_json::from_str(table).unwrap();
        resolve(&mut value, Folder::open(scratch.path()))
            .map(|()| value)
            .map_err(|fault| fault.to_string())
    }

    #[test]
    fn flow_sizes_are_read_as_they_are_published() {
        let expected = json!({ "size": { "quantiles": [
            { "p": 0.0, "value": "0 B" }, { "p": 0.0, "value": "2000 B" },
            { "p": 0.5, "value": "74000 B" }, { "p": 1.0, "value": "30000000 B" }] } });
        let table = r#"{"size": {"quantiles": "f.txt", "unit": "B"}}"#;
        for contents in [
            // Bytes and percent, as for the tools of HPCC; shares; shares first with a heading and commas.
            "0 0\n2000 0\n74000 50\n30000000 100\n",
            "# web search\n0 0\n2000 0\n\n74000 0.5\n3e7 1\n",
            "p,size\n0,0\n0,2000\n0.5,74000\n1,30000000\n",
        ] {
            assert_eq!(resolved(contents, table).unwrap(), expected, "{contents}");
        }
    }

    #[test]
    fn packets_with_a_third_column_are_read_as_in_scripts_for_ns2() {
        // 6 and 13 packets of 1460 bytes: 8760 and 18,980; the first share is 0.15, so 8760 has it.
        let table = r#"{"quantiles": "f.txt", "unit": "1460 B"}"#;
        let expected = json!({ "quantiles": [
            { "p": 0.0, "value": "8760 B" }, { "p": 0.15, "value": "8760 B" },
            { "p": 1.0, "value": "18980 B" }] });
        assert_eq!(resolved("6 1 0.15\n13 1 1\n", table).unwrap(), expected);
    }

    #[test]
    fn frames_are_read_a_size_a_line() {
        let table = r#"{"app": {"kind": "frames", "file": "f.txt"}}"#;
        let expected = json!({ "app": { "kind": "frames", "bytes": [37500, 6250] } });
        assert_eq!(resolved("bytes\n37500\n6250 # the second\n", table).unwrap(), expected);
        assert_eq!(
            resolved("37500\n62.5\n", table).unwrap_err(),
            "app.file: `f.txt` line 2: expected a whole number of bytes"
        );
        // Another table's key of that name is none of a file.
        let other = json!({ "app": { "kind": "bulk", "bytes": "5 MB" } });
        assert_eq!(resolved("", &other.to_string()).unwrap(), other);
        assert_eq!(
            resolved("", r#"{"app": {"kind": "frames"}}"#).unwrap_err(),
            "app.file: missing, expected `file = \"NAME\"`, or `bytes`"
        );
    }

    #[test]
    fn series_of_rates_have_times_or_an_interval() {
        let expected = json!({ "series": [
            { "at": "0 s", "rate": "12.5 Mbit/s" }, { "at": "1 s", "rate": "0 Mbit/s" },
            { "at": "2 s", "rate": "3 Mbit/s" }] });
        let timed = r#"{"series": "f.txt", "unit": "Mbit/s"}"#;
        assert_eq!(
            resolved("1700000000,12.5\n1700000001,0\n1700000002,3", timed).unwrap(),
            expected
        );
        let even = r#"{"series": "f.txt", "unit": "Mbit/s", "interval": "1 s"}"#;
        assert_eq!(resolved("12.5\n0\n3\n", even).unwrap(), expected);
    }

    #[cfg(unix)]
    #[test]
    fn a_closed_folder_gives_no_file_outside() {
        let scratch = crate::scratch::Scratch::new();
        let inside = scratch.path().join("inside");
        fs::create_dir_all(inside.join("below")).unwrap();
        fs::write(scratch.path().join("outside.txt"), "7\n").unwrap();
        fs::write(inside.join("below/f.txt"), "3\n").unwrap();
        std::os::unix::fs::symlink(scratch.path(), inside.join("out")).unwrap();
        std::os::unix::fs::symlink("../outside.txt", inside.join("link.txt")).unwrap();
        let read = |name: &str| {
            let mut value = json!({ "channel": { "times_ms": name } });
            let folder = Folder { path: &inside, closed: true };
            resolve(&mut value, folder).map(|()| value).map_err(|fault| fault.message)
        };
        let outside = scratch.path().join("outside.txt");
        let names = ["../outside.txt", "out/outside.txt", "link.txt", outside.to_str().unwrap()];
        // A near name would be told of a file that is not there.
        for name in names.into_iter().chain(["../other.txt", "out/other.txt", "../no/x.txt"]) {
            let message = read(name).unwrap_err();
            assert!(
                message.ends_with("outside of the folder in which files are read"),
                "{message}"
            );
        }
        assert_eq!(read("below/f.txt"), Ok(json!({ "channel": { "times_ms": [3] } })));
        assert!(read("below/g.txt").unwrap_err().contains("did you mean `f.txt`?"));
    }

    #[test]
    fn traces_of_opportunities_are_read() {
        let value = resolved("3\n3\n7\n", r#"{"channel": {"times_ms": "f.txt"}}"#).unwrap();
        assert_eq!(value, json!({ "channel": { "times_ms": [3, 3, 7] } }));
    }

    #[test]
    fn a_channel_names_its_file_by_file() {
        let rates = r#"{"kind": "rates", "file": "f.txt", "unit": "Mbit/s", "interval": "1 s"}"#;
        assert_eq!(
            resolved("5\n", rates).unwrap(),
            json!({ "kind": "rates", "series": [{ "at": "0 s", "rate": "5 Mbit/s" }] })
        );
        let trace = r#"{"kind": "trace", "file": "f.txt"}"#;
        assert_eq!(
            resolved("3\n7\n", trace).unwrap(),
            json!({ "kind": "trace", "times_ms": [3, 7] })
        );
        assert_eq!(
            resolved("3\nx\n", trace).unwrap_err(),
            "file: `f.txt` line 2: expected numbers"
        );
        // mahimahi's format has no heading; a first line that is no time was left out in silence.
        for first in ["nan", "inf", "x", "12a"] {
            assert_eq!(
                resolved(&format!("{first}\n3\n"), trace).unwrap_err(),
                "file: `f.txt` line 1: expected numbers"
            );
        }
        // Where a heading may stand, `nan` is none.
        assert_eq!(
            resolved("nan\n5\n", rates).unwrap_err(),
            "file: `f.txt` line 1: expected numbers"
        );
        assert_eq!(
            resolved("3\n", r#"{"kind": "trace"}"#).unwrap_err(),
            "file: missing, expected `file = \"NAME\"`, or `times_ms`"
        );
        let unit = r#"{"kind": "rates", "series": [], "unit": "Mbit/s"}"#;
        assert_eq!(
            resolved("", unit).unwrap_err(),
            "unit: it says more of a `file`, which is missing"
        );
        let both = r#"{"kind": "trace", "file": "f.txt", "times_ms": [1]}"#;
        assert_eq!(
            resolved("3\n", both).unwrap_err(),
            "file: expected either `file` or `times_ms`"
        );
    }

    #[test]
    fn a_jitter_names_its_file_by_file() {
        let table = r#"{"jitter": {"kind": "trace", "file": "f.txt", "every": "10 ms"}}"#;
        assert_eq!(
            resolved("20\n5.5\n", table).unwrap(),
            json!({ "jitter": { "kind": "trace", "delays_ms": [20.0, 5.5], "every": "10 ms" } })
        );
        assert_eq!(
            resolved("20\n-1\n", table).unwrap_err(),
            "jitter.file: `f.txt` line 2: expected a delay in milliseconds"
        );
        // A channel of the same name has another list.
        assert_eq!(
            resolved("", r#"{"link": {"jitter": {"kind": "trace"}}}"#).unwrap_err(),
            "link.jitter.file: missing, expected `file = \"NAME\"`, or `delays_ms`"
        );
    }

    #[test]
    fn a_bad_file_gets_one_line_that_does_not_repeat_it() {
        let sizes = r#"{"size": {"quantiles": "f.txt", "unit": "B"}}"#;
        let rates = r#"{"series": "f.txt", "unit": "Mbit/s"}"#;
        let cases = [
            ("0 0\nroot:x 1\n", sizes, "size.quantiles: `f.txt` line 2: expected numbers"),
            (
                "0 0\n2 0.5\n",
                sizes,
                "size.quantiles: `f.txt`: expected shares that end at 1, or at 100 in percent",
            ),
            (
                "0 0\n9 0.5\n5 1\n",
                sizes,
                "size.quantiles: `f.txt` line 3: expected shares and values that do not fall",
            ),
            (
                "0 0\n1 0.5 3\n",
                sizes,
                "size.quantiles: `f.txt` line 2: expected as many columns as in the first line",
            ),
            ("", sizes, "size.quantiles: `f.txt`: no numbers in it, expected one line or more"),
            ("0 1\n0 2\n", rates, "series: `f.txt` line 2: expected times that ascend"),
            ("0 1\n1 -2\n", rates, "series: `f.txt` line 2: expected a rate of 0 or more"),
            (
                "1\n2\n",
                rates,
                "series: `f.txt`: one column of rates, expected `interval` beside it, such as \"1 s\"",
            ),
            (
                "5 0\n",
                r#"{"quantiles": "f.txt"}"#,
                "quantiles: `f.txt`: plain numbers, expected `unit` beside it, such as \"B\"",
            ),
            (
                "1.5\n",
                r#"{"times_ms": "f.txt"}"#,
                "times_ms: `f.txt` line 1: expected a time in whole milliseconds",
            ),
            (
                "",
                r#"{"times_ms": "g.txt"}"#,
                "times_ms: `g.txt`: no such file (did you mean `f.txt`?), expected a file of numbers",
            ),
        ];
        for (contents, table, message) in cases {
            assert_eq!(resolved(contents, table).unwrap_err(), message);
        }
    }
}
