//! Scenarios, and other values: a text, its tree, the check against the schema, the value.

use std::path::Path;
use std::sync::LazyLock;

use ackclock_sim::Scenario;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::document::Document;
use crate::{BadInput, Fault, Folder, columns, nearest, read, schema, syntax};

const A_SCENARIO_FILE: &str = "expected a scenario file (.toml or .json)";

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
