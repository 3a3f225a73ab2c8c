//! A text as a tree whose every node knows where it stands.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::Fault;

/// A parsed text.
#[derive(Debug)]
pub(crate) struct Document<'t> {
    text: &'t str,
    /// The tree.
    pub(crate) value: Value,
    /// The byte at which each key stands.
    places: BTreeMap<String, usize>,
}

impl<'t> Document<'t> {
    /// Parses TOML.
    pub(crate) fn from_toml(text: &'t str) -> Result<Self, Fault> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let table = DeTable::parse(text).map_err(|error| Fault {
            line: Some(error.span().map_or(1, |span| line_at(text.as_bytes(), span.start))),
            ..Fault::new("", format!("TOML syntax: {}", error.message()))
        })?;
        let mut document = Self { text, value: Value::Null, places: BTreeMap::new() };
        let value = document.toml_table(table.get_ref(), "")?;
        Ok(Self { value, ..document })
    }

    /// Parses JSON.
    pub(crate) fn from_json(text: &'t str) -> Result<Self, Fault> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let syntax = |error: &serde_json::Error| {
            let says = error.to_string();
            let message = says.rsplit_once(" at line ").map_or(&*says, |(message, _)| message);
            Fault {
                line: Some(error.line().max(1)),
                ..Fault::new("", format!("JSON syntax: {message}, column {}", error.column()))
            }
        };
        // Once for the syntax and the bound on depth, then level by level for the places.
        let whole = serde_json::from_str::<Value>(text)
            .and_then(|_| serde_json::from_str::<&RawValue>(text))
            .map_err(|error| syntax(&error))?;
        let mut document = Self { text, value: Value::Null, places: BTreeMap::new() };
        let value = document.json_value(whole, "")?;
        Ok(Self { value, ..document })
    }

    /// The line of `key`, or of the nearest key around it.
    pub(crate) fn line_of(&self, key: &str) -> Option<usize> {
        let mut key = key;
        loop {
            if let Some(place) = self.places.get(key) {
                return Some(line_at(self.text.as_bytes(), *place));
            }
            key = match key.rfind(['.', '[']) {
                Some(at) => &key[..at],
                None if key.is_empty() => return Some(1),
                None => "",
            };
        }
    }

    fn fault(&self, key: &str, message: String) -> Fault {
        Fault { line: self.line_of(key), ..Fault::new(key, message) }
    }

    fn toml_table(&mut self, table: &DeTable<'_>, key: &str) -> Result<Value, Fault> {
        let mut map = Map::new();
        for (name, value) in table {
            let child = member(key, name.get_ref());
            self.places.insert(child.clone(), name.span().start);
            map.insert(name.get_ref().to_string(), self.toml_value(value, &child)?);
        }
        Ok(Value::Object(map))
    }

    fn toml_value(&mut self, value: &Spanned<DeValue<'_>>, key: &str) -> Result<Value, Fault> {
        Ok(match value.get_ref() {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Boolean(flag) => Value::Bool(*flag),
            DeValue::Integer(integer) => Value::Number(
                whole_number(integer)
                    .ok_or_else(|| self.fault(key, format!("the number {integer} is too large")))?,
            ),
            DeValue::Float(float) => {
                let number = float.as_str().parse().ok().and_then(Number::from_f64);
                Value::Number(number.ok_or_else(|| {
                    self.fault(key, format!("found {float}, expected a finite number"))
                })?)
            }
            DeValue::Datetime(_) => {
                return Err(self.fault(
                    key,
                    "found a date; times are durations since the run began, such as \"30 ms\""
                        .into(),
                ));
            }
            DeValue::Array(items) => {
                let mut list = Vec::with_capacity(items.len());
                for (i, item) in items.iter().enumerate() {
                    let child = element(key, i);
                    self.places.insert(child.clone(), item.span().start);
                    list.push(self.toml_value(item, &child)?);
                }
                Value::Array(list)
            }
            DeValue::Table(table) => self.toml_table(table, key)?,
        })
    }

    fn json_value(&mut self, raw: &'t RawValue, key: &str) -> Result<Value, Fault> {
        let text = raw.get();
        self.places.insert(key.to_owned(), text.as_ptr().addr() - self.text.as_ptr().addr());
        let fault = |error: serde_json::Error| Fault::new(key, format!("JSON syntax: {error}"));
        match text.as_bytes().first() {
            Some(b'{') => {
                let Entries(entries) = serde_json::from_str(text).map_err(fault)?;
                let mut map = Map::new();
                for (name, raw) in entries {
                    let child = member(key, &name);
                    let value = self.json_value(raw, &child)?;
                    if map.insert(name, value).is_some() {
                        return Err(self.fault(&child, "the key stands there twice".into()));
                    }
                }
                Ok(Value::Object(map))
            }
            // The places of numbers in one line tell no more than that of their list, and a film has thousands.
            Some(b'[') => match numbers_of_a_line(text) {
                Some(numbers) => Ok(numbers.into_iter().map(Value::Number).collect()),
                None => self.json_list(text, key),
            },
            _ => serde_json::from_str(text).map_err(fault),
        }
    }

    fn json_list(&mut self, text: &'t str, key: &str) -> Result<Value, Fault> {
        let fault = |error: serde_json::Error| Fault::new(key, format!("JSON syntax: {error}"));
        let raws: Vec<&'t RawValue> = serde_json::from_str(text).map_err(fault)?;
        raws.into_iter()
            .enumerate()
            .map(|(i, raw)| self.json_value(raw, &element(key, i)))
            .collect::<Result<_, _>>()
            .map(Value::Array)
    }
}

/// The numbers of a list that stands in one line and has nothing else.
fn numbers_of_a_line(text: &str) -> Option<Vec<Number>> {
    let begins =
        text.as_bytes().get(1).is_some_and(|first| first.is_ascii_digit() || *first == b'-');
    (begins && !text.contains('\n')).then(|| serde_json::from_str(text).ok())?
}

/// The key of a table's member.
pub(crate) fn member(key: &str, name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let mut child = key.to_owned();
    if !child.is_empty() {
        child.push('.');
    }
    if !name.is_empty() && name.chars().all(plain) {
        child.push_str(name);
    } else {
        let _ = write!(child, "\"{}\"", super::printable(name, 60));
    }
    child
}

/// The key of a list's element.
pub fn element(key: &str, index: usize) -> String {
    format!("{key}[{index}]")
}

/// The line of the byte at `place`.
pub(super) fn line_at(text: &[u8], place: usize) -> usize {
    text.split(|byte| *byte == b'\n')
        .scan(0, |end, line| {
            *end += line.len() + 1;
            Some(*end)
        })
        .take_while(|end| *end <= place)
        .count()
        + 1
}

fn whole_number(integer: &DeInteger<'_>) -> Option<Number> {
    let (digits, radix) = (integer.as_str(), integer.radix());
    u64::from_str_radix(digits, radix)
        .map(Number::from)
        .or_else(|_| i64::from_str_radix(digits, radix).map(Number::from))
        .ok()
}

/// An object's members in their order, doubles included.
struct Entries<'t>(Vec<(String, &'t RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Entries<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Members)
    }
}
