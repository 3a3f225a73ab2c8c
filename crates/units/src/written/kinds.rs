//! Families of choices: in a file a table with a `kind` and the settings of that kind beside it.
//!
//! serde's own form of this, an internally tagged enum, asks for the words in the enum. Here each kind brings its own.

use schemars::Schema;
use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

/// A kind as documents describe it.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The word.
    pub word: &'static str,
    /// The name of its type, as in Python.
    pub title: &'static str,
    /// The document that says how it works; empty if it needs none.
    pub source: &'static str,
}

/// A table whose `kind` was read, and the rest of it.
#[derive(Debug)]
pub struct Table {
    /// The word.
    pub kind: String,
    rest: Map<String, Value>,
}

impl Table {
    /// Reads a table with a `kind`.
    ///
    /// # Errors
    /// If it is no such table.
    pub fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut rest = Map::deserialize(deserializer)?;
        match rest.remove("kind") {
            Some(Value::String(kind)) => Ok(Self { kind, rest }),
            _ => Err(D::Error::custom("missing, expected a `kind`")),
        }
    }

    /// The settings of the kind.
    ///
    /// # Errors
    /// If they are not what the kind needs.
    pub fn settings<T: DeserializeOwned, E: serde::de::Error>(self) -> Result<T, E> {
        serde_json::from_value(Value::Object(self.rest)).map_err(E::custom)
    }

    /// The error of a `kind` that is none of `words`.
    pub fn unknown<E: serde::de::Error>(&self, words: &[&str]) -> E {
        E::custom(format_args!(
            "unknown kind `{}`, expected one of {}",
            self.kind,
            words.join(", ")
        ))
    }
}

/// Writes the settings of a kind as a table.
///
/// # Errors
/// The writer's own.
pub fn write<S: Serializer>(
    word: &str,
    settings: &impl Serialize,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Tagged<'a, T> {
        kind: &'a str,
        #[serde(flatten)]
        settings: &'a T,
    }
    Tagged { kind: word, settings }.serialize(serializer).map_err(S::Error::custom)
}

/// The schema of a kind's table, from that of its settings.
///
/// # Panics
/// If the schema of the settings is not that of a table.
pub fn form(kind: Kind, settings: &Schema) -> Schema {
    let mut form = settings.as_object().expect("settings are a table").clone();
    let properties = form.entry("properties").or_insert_with(|| json!({}));
    properties["kind"] = json!({ "type": "string", "const": kind.word });
    let required = form.entry("required").or_insert_with(|| json!([]));
    required.as_array_mut().expect("a list of keys").insert(0, json!("kind"));
    form.insert("title".to_owned(), json!(kind.title));
    if !kind.source.is_empty() {
        form.insert("source".to_owned(), json!(kind.source));
    }
    form.insert("additionalProperties".to_owned(), json!(false));
    form.remove("$schema");
    Schema::from(form)
}
