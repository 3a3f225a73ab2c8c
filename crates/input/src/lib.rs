//! Strict reading of files that people write.
//!
//! A text is parsed into a tree whose every node knows its line, the tree is held against the JSON
//! schema of the type that is wanted, and only then does serde build the value. The schema, which is
//! generated from the same type, knows the path to whatever is wrong; serde loses it inside an enum.

mod columns;
mod document;
mod elsewhere;
mod hints;
mod law_trace;
mod schema;
mod syntax;
mod variant;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::LazyLock;

use ackclock_sim::Scenario;
use ackclock_units::is_printable;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use columns::Folder;
use document::Document;
pub use document::element;
pub use law_trace::read_law_trace;
pub use variant::{
    expect_law, law_variables, parse as parse_variant, profile, read_law, registry, senders,
    variant_name, variant_slug,
};

/// The largest file that is read. A scenario of ten thousand links is a tenth of it.
pub const MAX_FILE_BYTES: u64 = 16 << 20;

/// The longest message: room for every valid word, not for a file echoed back.
const MAX_MESSAGE_CHARS: usize = 1000;

const A_SCENARIO_FILE: &str = "expected a scenario file (.toml or .json)";

/// Input that cannot be used.
///
/// Its text is one line without control characters: the file and line if there is one, the key, what
/// is wrong, what was expected, and the nearest valid word if one is near.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct BadInput {
    text: String,
}

impl BadInput {
    /// One line, with whatever could disturb a terminal made visible.
    pub fn new(text: impl fmt::Display) -> Self {
        Self { text: printable(&text.to_string(), MAX_MESSAGE_CHARS) }
    }

    /// An error of a cell of a sweep, likewise.
    #[must_use]
    pub fn in_cell(&self, cell: usize) -> Self {
        Self::new(format_args!("cell {cell}: {}", self.text))
    }

    /// A fault of a file, with the line if it is known.
    pub fn in_file(file: &str, line: Option<usize>, fault: &Fault) -> Self {
        match line {
            Some(line) => Self::new(format_args!("{file}:{line}: {fault}")),
            None => Self::new(format_args!("{file}: {fault}")),
        }
    }
}

/// A fault at a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The key, as in `flow[0].count`; empty for the whole document.
    pub key: String,
    /// The line, where the key does not say it.
    pub line: Option<usize>,
    /// The fault, and what was expected.
    pub message: String,
}

impl Fault {
    /// A fault under a key, before its line is known.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), line: None, message: message.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

/// Reads a scenario from a TOML file, or from a JSON file whose name ends in `.json`.
///
/// # Errors
/// The first thing that keeps the file from being a scenario that can be run.
pub fn load(path: &Path) -> Result<Scenario, BadInput> {
    let file = path.display().to_string();
    let text = read(path, A_SCENARIO_FILE)
        .map_err(|fault| BadInput::in_file(&file, fault.line, &fault))?;
    let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(from_text(&file, &text, is_json, Folder::open(folder))?.1)
}

/// Reads a scenario from a text, TOML or JSON, that is called `file` where something is wrong; returns the tree that was
/// written, too. Files that it names are looked for in `folder`.
///
/// # Errors
/// The first thing that keeps the text from being a scenario that can be run.
pub fn from_text(
    file: &str,
    text: &str,
    is_json: bool,
    folder: Folder<'_>,
) -> Result<(Value, Scenario), BadInput> {
    let parse = if is_json { Document::from_json } else { Document::from_toml };
    parse(text)
        .map_err(|fault| {
            let fault = if is_json { fault } else { syntax::explained(text, fault, &lists()) };
            (fault.line, fault)
        })
        .and_then(|mut document| {
            columns::resolve(&mut document.value, folder)
                .and_then(|()| scenario(&document))
                .map_err(|fault| (Some(document.line_of(&fault.key)), fault))
                .map(|scenario| (document.value, scenario))
        })
        .map_err(|(line, fault)| BadInput::in_file(file, line, &fault))
}

/// Reads a scenario from TOML text. Files that it names are looked for in the current folder.
///
/// # Errors
/// The first thing that keeps the text from being a scenario that can be run.
pub fn from_toml(text: &str) -> Result<Scenario, BadInput> {
    Ok(from_text("scenario", text, false, Folder::here())?.1)
}

/// Reads a scenario from JSON text. Files that it names are looked for in the current folder.
///
/// # Errors
/// The first thing that keeps the text from being a scenario that can be run.
pub fn from_json(text: &str) -> Result<Scenario, BadInput> {
    Document::from_json(text)
        .and_then(|mut document| {
            columns::resolve(&mut document.value, Folder::here())?;
            scenario(&document)
        })
        .map_err(BadInput::new)
}

/// A table, as JSON text, in which the list stands in the place of the file that it names: `{"quantiles": "FILE", "unit":
/// "B"}`, `{"series": "FILE", "unit": "Mbit/s"}` or `{"times_ms": "FILE"}`. Files are looked for in the current folder.
///
/// # Errors
/// The file cannot be read, or a line of it is not as it should be.
pub fn read_columns(table: &str) -> Result<String, BadInput> {
    let mut document = Document::from_json(table).map_err(BadInput::new)?;
    columns::resolve(&mut document.value, Folder::here()).map_err(BadInput::new)?;
    Ok(document.value.to_string())
}

/// Reads a `T` from JSON text.
pub fn value_from_json<T: DeserializeOwned + JsonSchema>(text: &str) -> Result<T, BadInput> {
    Document::from_json(text)
        .and_then(|document| decode(&document, &schema_of::<T>()))
        .map_err(BadInput::new)
}

/// A scenario as JSON text, which [`from_json`] reads.
///
/// # Panics
/// Never: every scenario has a text.
pub fn to_json(scenario: &Scenario) -> String {
    serde_json::to_string(scenario).expect("a scenario is JSON")
}

// A sweep reads thousands.
static SCHEMA: LazyLock<Value> = LazyLock::new(schema_of::<Scenario>);

/// The keys of a scenario that are lists.
fn lists() -> Vec<&'static str> {
    let properties = SCHEMA["properties"].as_object().into_iter().flatten();
    let lists = properties.filter(|(_, schema)| schema.get("items").is_some());
    lists.map(|(key, _)| key.as_str()).collect()
}

fn scenario(document: &Document) -> Result<Scenario, Fault> {
    let mut scenario: Scenario = decode(document, &SCHEMA)?;
    for (n, flow) in scenario.flows.iter_mut().enumerate() {
        let written = document.value.pointer(&format!("/flow/{n}/name"));
        if flow.name.is_empty() && written.is_none_or(Value::is_null) {
            flow.name = format!("flow-{}", n + 1);
        }
    }
    scenario.check().map_err(|error| Fault::new(error.key, unknown_name(error.message)))?;
    Ok(scenario)
}

/// A message of `sim`'s that quotes first a name that names nothing, then those that do, with the hint between.
fn unknown_name(message: String) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let near = quoted.next().and_then(|word| nearest(word, quoted));
    match (message.split_once(", expected "), near) {
        (Some((says, known)), Some(near)) if message.starts_with("unknown ") => {
            format!("{says}; did you mean `{near}`? Known: {}", known.trim_start_matches("one of "))
        }
        _ => message,
    }
}

/// The JSON schema of a type.
pub fn schema_of<T: JsonSchema>() -> Value {
    schemars::schema_for!(T).to_value()
}

fn decode<T: DeserializeOwned>(document: &Document, schema: &Value) -> Result<T, Fault> {
    schema::check(schema, &document.value)?;
    // Keeping the path to each value takes as long again.
    if let Ok(read) = T::deserialize(&document.value) {
        return Ok(read);
    }
    serde_path_to_error::deserialize(&document.value).map_err(|error| {
        let key = error.path().to_string();
        Fault::new(if key == "." { String::new() } else { key }, error.inner().to_string())
    })
}

/// The text of a file; `expected` is the end of the message if there is none.
pub fn read(path: &Path, expected: &str) -> Result<String, Fault> {
    let fault = |problem: String| Fault::new("", format!("{problem}, {expected}"));
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| fault(problem(&error) + &near_file(path, &error)))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(fault(format!("is larger than {} MiB", MAX_FILE_BYTES >> 20)));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Fault {
            line: Some(document::line_at(error.as_bytes(), at)),
            ..fault(format!("byte {} is not UTF-8 text", at + 1))
        }
    })
}

/// Opens a file that is read where no interrupt reaches the reader: a pipe or a terminal would keep it waiting.
///
/// # Errors
/// There is none, or it is something else.
pub fn open(path: &Path) -> io::Result<File> {
    let about = path.metadata()?;
    if about.is_file() || about.is_dir() {
        File::open(path)
    } else {
        Err(io::ErrorKind::InvalidInput.into())
    }
}

/// Why a file or a folder is not read.
pub fn problem(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::IsADirectory => "is a folder".to_owned(),
        io::ErrorKind::InvalidInput => "is no plain file".to_owned(),
        kind => format!("cannot be read ({kind})"),
    }
}

/// The most names of a folder among which the nearest is looked for.
const MOST_NAMES: usize = 10_000;

/// ` (did you mean ...?)` if there is no file at `path` and one of a near name beside it; or nothing.
pub(crate) fn near_file(path: &Path, error: &io::Error) -> String {
    let name = path.file_name().and_then(|name| name.to_str());
    let (io::ErrorKind::NotFound, Some(name)) = (error.kind(), name) else { return String::new() };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = folder.unwrap_or(Path::new(".")).read_dir() else { return String::new() };
    let mut names: Vec<String> = entries
        .take(MOST_NAMES)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    // Folders list their names in no order.
    names.sort_unstable();
    did_you_mean(name, names.iter().map(String::as_str))
}

/// `text` on one line, of at most `max_chars`, with control and invisible characters escaped.
pub fn printable(text: &str, max_chars: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(4 * max_chars));
    for (i, char) in text.chars().enumerate() {
        if i == max_chars {
            shown.push('…');
            break;
        }
        if is_printable(char) {
            shown.push(char);
        } else {
            shown.extend(char.escape_default());
        }
    }
    shown
}

/// The word nearest to `word`, if one is near enough to have been meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The distance to a very long text costs its length times the candidate's, for nothing.
    if word.len() > 100 {
        return None;
    }
    let lower = word.to_lowercase();
    // Half of a word of four letters is another word: `time` is no `name`.
    let length = word.chars().count();
    let reach = if length > 4 { 1 + length / 4 } else { 1 };
    known
        .into_iter()
        .map(|candidate| {
            (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate)
        })
        .filter(|(distance, candidate)| *distance <= reach && *distance < candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// ` (did you mean ...?)` or nothing.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"))
}

#[cfg(test)]
mod scratch;
#[cfg(test)]
mod tests;
