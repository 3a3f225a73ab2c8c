//! Families of choices: in a file a table with a `kind` and the settings of that kind beside it.
//!
//! serde's own form of this, an internally tagged enum, asks for the words in the enum. Here each kind brings its own.

use schemars::{Schema, json_schema};
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
    /// Words for it in other tools, which are refused with a hint.
    pub also: &'static [&'static str],
    /// The list that a file may stand for, if there is one.
    pub file: Option<ListFile>,
}

/// A list of a kind's settings that a file may stand for, by the key `file`.
#[derive(Clone, Copy, Debug)]
pub struct ListFile {
    /// The key of the list.
    pub list: &'static str,
    /// The keys that say more of the file, and what they say.
    pub beside: &'static [(&'static str, &'static str)],
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

    /// The error of a `kind` that is none of these.
    pub fn unknown<E: serde::de::Error>(&self, kinds: &[Kind]) -> E {
        let words: Vec<&str> = kinds.iter().map(|kind| kind.word).collect();
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

/// The schema of a family that is described so: one form a kind, from the schema of its settings.
///
/// # Panics
/// If the schema of settings is not that of a table.
pub fn one_of<'a>(
    description: &str,
    kinds: impl Iterator<Item = (&'a Kind, &'a Schema)>,
) -> Schema {
    let forms: Vec<Schema> = kinds.map(|(kind, settings)| form(kind, settings)).collect();
    json_schema!({ "description": description, "oneOf": forms })
}

fn form(kind: &Kind, settings: &Schema) -> Schema {
    let mut form = settings.as_object().expect("settings are a table").clone();
    let properties = form.entry("properties").or_insert_with(|| json!({}));
    properties["kind"] = json!({ "type": "string", "const": kind.word });
    if let Some(ListFile { list, beside }) = kind.file {
        let says = format!(
            "The name of a file in the place of `{list}`: from the folder of the scenario file, or in Python from the \
             current one."
        );
        properties["file"] = json!({ "type": ["string", "null"], "description": says });
        for (key, says) in beside {
            properties[key] = json!({ "type": ["string", "null"], "description": says });
        }
    }
    let required = form.entry("required").or_insert_with(|| json!([]));
    let required = required.as_array_mut().expect("a list of keys");
    // Readers of files say what is missing if neither stands there.
    required.retain(|key| kind.file.is_none_or(|file| key != file.list));
    required.insert(0, json!("kind"));
    form.insert("title".to_owned(), json!(kind.title));
    if !kind.source.is_empty() {
        form.insert("source".to_owned(), json!(kind.source));
    }
    if !kind.also.is_empty() {
        form.insert("also".to_owned(), json!(kind.also));
    }
    form.insert("additionalProperties".to_owned(), json!(false));
    form.remove("$schema");
    Schema::from(form)
}

/// Makes a family's enum of settings a table with a `kind`: its name in the schema, its description there, its kinds.
/// Each kind's type says the rest as `Described`, a trait of the family.
#[macro_export]
macro_rules! read_by_kind {
    ($Family:ident: $name:literal, $says:literal, $($Kind:ident)*) => {
        impl $Family {
            /// The kinds, in the order of the table.
            const KINDS: &'static [$crate::written::kinds::Kind] = &[
                $($crate::written::kinds::Kind {
                    word: <$Kind as Described>::KIND,
                    title: stringify!($Kind),
                    source: <$Kind as Described>::SOURCE,
                    also: <$Kind as Described>::ALSO,
                    file: <$Kind as Described>::FILE,
                },)*
            ];

            /// The list that a file may stand for in a table of this `kind`.
            pub fn list_file(kind: &str) -> Option<$crate::written::kinds::ListFile> {
                Self::KINDS.iter().find(|known| known.word == kind)?.file
            }

            /// The word that names it in a scenario.
            pub const fn kind(&self) -> &'static str {
                match self {
                    $(Self::$Kind(_) => <$Kind as Described>::KIND,)*
                }
            }
        }

        impl $crate::written::serde::Serialize for $Family {
            fn serialize<S: $crate::written::serde::Serializer>(
                &self,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$Kind(settings) => {
                        $crate::written::kinds::write(self.kind(), settings, serializer)
                    })*
                }
            }
        }

        impl<'de> $crate::written::serde::Deserialize<'de> for $Family {
            fn deserialize<D: $crate::written::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                let table = $crate::written::kinds::Table::read(deserializer)?;
                $(if table.kind == <$Kind as Described>::KIND {
                    return table.settings().map(Self::$Kind);
                })*
                Err(table.unknown(Self::KINDS))
            }
        }

        impl $crate::written::schemars::JsonSchema for $Family {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema(
                generator: &mut $crate::written::schemars::SchemaGenerator,
            ) -> $crate::written::schemars::Schema {
                let settings = [$(<$Kind as Described>::Settings::json_schema(generator),)*];
                let kinds = Self::KINDS.iter().zip(&settings);
                $crate::written::kinds::one_of($says, kinds)
            }
        }
    };
}
