//! A text as a tree whose every node knows where it stands.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::{self, Write as _};

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor,
};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::Fault;

/// A parsed text. Places of keys are looked for once something is wrong: the spelt keys of a large file take more than
/// the file.
#[derive(Debug)]
pub(crate) struct Document<'t> {
    text: &'t str,
    /// The parsed TOML; `None` for JSON.
    toml: Option<DeValue<'t>>,
    /// The tree.
    pub(crate) value: Value,
}

impl<'t> Document<'t> {
    /// Parses TOML.
    pub(crate) fn from_toml(text: &'t str) -> Result<Self, Fault> {
        let text = unmarked(text);
        let table = DeTable::parse(text).map_err(|error| Fault {
            line: Some(error.span().map_or(1, |span| line_at(text.as_bytes(), span.start))),
            ..Fault::new("", format!("TOML syntax: {}", error.message()))
        })?;
        let value = toml_table(table.get_ref());
        let toml = Some(DeValue::Table(table.into_inner()));
        let mut document = Self { text, toml, value: Value::Null };
        document.value = value.map_err(|mut wrong| {
            let key = wrong.key();
            Fault { line: Some(document.line_of(&key)), ..Fault::new(key, wrong.message) }
        })?;
        Ok(document)
    }

    /// Parses JSON.
    pub(crate) fn from_json(text: &'t str) -> Result<Self, Fault> {
        let text = unmarked(text);
        let twice = RefCell::default();
        let mut reader = serde_json::Deserializer::from_str(text);
        let value = Tree(&twice).deserialize(&mut reader).and_then(|value| {
            reader.end()?;
            Ok(value)
        });
        let value = value.map_err(|error| {
            let line = Some(error.line().max(1));
            if let Some(mut wrong) = twice.take() {
                return Fault { line, ..Fault::new(wrong.key(), wrong.message) };
            }
            let says = error.to_string();
            let message = says.rsplit_once(" at line ").map_or(&*says, |(message, _)| message);
            let message = format!("JSON syntax: {message}, column {}", error.column());
            Fault { line, ..Fault::new("", message) }
        })?;
        Ok(Self { text, toml: None, value })
    }

    /// The line of `key`, or of the nearest key around it.
    pub(crate) fn line_of(&self, key: &str) -> usize {
        let place = match &self.toml {
            Some(whole) => toml_place(whole, key),
            None => json_place(self.text, key),
        };
        line_at(self.text.as_bytes(), place.unwrap_or(0))
    }
}

fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// A step from a value to one in it.
#[derive(Debug)]
enum Step {
    Member(String),
    Element(usize),
}

/// A value that no scenario has.
#[derive(Debug)]
struct Wrong {
    message: String,
    /// The steps to it, the last one first.
    steps: Vec<Step>,
}

impl Wrong {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), steps: Vec::new() }
    }

    fn key(&mut self) -> String {
        self.steps.drain(..).rev().fold(String::new(), |key, step| match step {
            Step::Member(name) => member(&key, &name),
            Step::Element(index) => element(&key, index),
        })
    }

    fn within(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

fn toml_table(table: &DeTable<'_>) -> Result<Value, Wrong> {
    let entry = |(name, value): (&Spanned<Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
        let name = name.get_ref().to_string();
        match toml_value(value) {
            Ok(value) => Ok((name, value)),
            Err(wrong) => Err(wrong.within(Step::Member(name))),
        }
    };
    table.iter().map(entry).collect::<Result<_, _>>().map(Value::Object)
}

fn toml_value(value: &Spanned<DeValue<'_>>) -> Result<Value, Wrong> {
    Ok(match value.get_ref() {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Integer(integer) => Value::Number(
            whole_number(integer)
                .ok_or_else(|| Wrong::new(format!("the number {integer} is too large")))?,
        ),
        DeValue::Float(float) => {
            let number = float.as_str().parse().ok().and_then(Number::from_f64);
            Value::Number(
                number.ok_or_else(|| {
                    Wrong::new(format!("found {float}, expected a finite number"))
                })?,
            )
        }
        DeValue::Datetime(_) => {
            return Err(Wrong::new(
                "found a date; times are durations since the run began, such as \"30 ms\"",
            ));
        }
        DeValue::Array(items) => {
            let item = |(i, item)| toml_value(item).map_err(|wrong| wrong.within(Step::Element(i)));
            items.iter().enumerate().map(item).collect::<Result<_, _>>().map(Value::Array)?
        }
        DeValue::Table(table) => toml_table(table)?,
    })
}

/// True if a key is another one or lies in it.
fn is_within(key: &str, outer: &str) -> bool {
    key.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The byte at which a key, or the nearest around it, stands in TOML; `None` if none does.
fn toml_place(whole: &DeValue<'_>, key: &str) -> Option<usize> {
    let (mut value, mut at, mut place) = (whole, String::new(), None);
    loop {
        let found = match value {
            DeValue::Table(table) => table.iter().find_map(|(name, value)| {
                let child = member(&at, name.get_ref());
                is_within(key, &child).then(|| (child, name.span().start, value.get_ref()))
            }),
            DeValue::Array(items) => index_in(key, &at).and_then(|index| {
                let item = items.get(index)?;
                Some((element(&at, index), item.span().start, item.get_ref()))
            }),
            _ => None,
        };
        let Some((child, start, inner)) = found else { return place };
        (at, place, value) = (child, Some(start), inner);
    }
}

/// The byte at which the value of a key, or of the nearest around it, stands in JSON.
fn json_place(text: &str, key: &str) -> Option<usize> {
    let mut raw: &RawValue = serde_json::from_str(text).ok()?;
    let mut at = String::new();
    loop {
        let found = match raw.get().as_bytes().first() {
            Some(b'{') => {
                let Entries(entries) = serde_json::from_str(raw.get()).ok()?;
                entries.into_iter().find_map(|(name, raw)| {
                    let child = member(&at, &name);
                    is_within(key, &child).then_some((child, raw))
                })
            }
            Some(b'[') => index_in(key, &at).and_then(|index| {
                let items: Vec<&RawValue> = serde_json::from_str(raw.get()).ok()?;
                Some((element(&at, index), *items.get(index)?))
            }),
            _ => None,
        };
        let Some((child, inner)) = found else {
            return Some(raw.get().as_ptr().addr() - text.as_ptr().addr());
        };
        (at, raw) = (child, inner);
    }
}

/// The element of the list at `list` that `key` is, or lies in.
fn index_in(key: &str, list: &str) -> Option<usize> {
    key.strip_prefix(list)?.strip_prefix('[')?.split_once(']')?.0.parse().ok()
}

/// The characters of a name that its key shows.
const SHOWN_CHARS: usize = 60;

/// The key of a table's member.
pub(crate) fn member(key: &str, name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let mut child = key.to_owned();
    if !child.is_empty() {
        child.push('.');
    }
    if (1..=SHOWN_CHARS).contains(&name.len()) && name.chars().all(plain) {
        child.push_str(name);
    } else {
        let _ = write!(child, "\"{}\"", super::printable(name, SHOWN_CHARS));
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

/// Reads a tree, and keeps the key that stands there twice.
#[derive(Clone, Copy)]
struct Tree<'w>(&'w RefCell<Option<Wrong>>);

impl Tree<'_> {
    /// An error on its way out of a value in this one.
    fn outward<E>(self, error: E, step: impl FnOnce() -> Step) -> E {
        self.0.replace_with(|wrong| wrong.take().map(|wrong| wrong.within(step())));
        error
    }
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Value;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(flag.into())
    }
    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }
    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }
    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }
    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            let next = seq.next_element_seed(self);
            match next.map_err(|error| self.outward(error, || Step::Element(list.len())))? {
                Some(value) => list.push(value),
                None => return Ok(Value::Array(list)),
            }
        }
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            if map.contains_key(&name) {
                let wrong = Wrong::new("the key stands there twice").within(Step::Member(name));
                self.0.replace(Some(wrong));
                return Err(A::Error::custom("twice"));
            }
            let value = entries.next_value_seed(self);
            let value =
                value.map_err(|error| self.outward(error, || Step::Member(name.clone())))?;
            map.insert(name, value);
        }
        Ok(Value::Object(map))
    }
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
