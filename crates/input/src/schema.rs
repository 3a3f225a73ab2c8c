//! A tree held against a JSON schema, to say where it departs from it.
//!
//! Of JSON Schema, what schemars writes for the types that people fill in: references, tables with
//! required and no further keys, lists, words, enums told apart by a tag or by shape, and texts that
//! a type of `units`, `tcp` or `sim` reads.

use std::fmt::Display;
use std::str::FromStr;

use ackclock_net::{Dscp, Limit};
use ackclock_sim::scenario::{Every, Span};
use ackclock_units::{Bytes, Duration, Frequency, Mss, PacketRate, Percent, Rate, RateOrZero};
use serde_json::{Map, Value};

use super::document::{element, member};
use super::{Fault, elsewhere, hints, nearest, printable};

/// The longest text that a value may be: no quantity, name or title is as long.
const MAX_TEXT_CHARS: usize = 500;

/// The characters of a text that a message shows.
const SHOWN_CHARS: usize = 60;

/// The keys of a table by which it is compared with those that it may be: none of these has as many.
const MOST_COMPARED: usize = 100;

/// Reads a text and says what is wrong with it.
type Reader = fn(&str) -> Result<(), String>;

/// The schemas of texts that are not free, by name.
pub(super) const READERS: &[(&str, Reader)] = &[
    ("Bytes", reads::<Bytes>),
    ("Dscp", reads::<Dscp>),
    ("Duration", reads::<Duration>),
    ("Every", reads::<Every>),
    ("Frequency", reads::<Frequency>),
    ("Limit", reads::<Limit>),
    ("Mss", reads::<Mss>),
    ("PacketRate", reads::<PacketRate>),
    ("Percent", reads::<Percent>),
    ("Profile", |text| crate::variant::profile(text).map(drop)),
    ("Rate", reads::<Rate>),
    ("RateOrZero", reads::<RateOrZero>),
    ("Span", reads::<Span>),
    ("Variant", |text| crate::variant::parse(text).map(drop)),
];

fn reads<T: FromStr<Err: Display>>(text: &str) -> Result<(), String> {
    text.parse::<T>().map(drop).map_err(|error| error.to_string())
}

/// Finds where `value` departs from `schema`.
pub(super) fn check(schema: &Value, value: &Value) -> Result<(), Fault> {
    Checker { root: schema }.check(schema, value, "")
}

/// A schema with its definitions.
pub(super) struct Checker<'s> {
    pub(super) root: &'s Value,
}

impl<'s> Checker<'s> {
    fn check(&self, schema: &'s Value, value: &Value, key: &str) -> Result<(), Fault> {
        if let Some(name) = reference(schema) {
            let reader = READERS.iter().find(|(reads, _)| *reads == name).map(|(_, reader)| reader);
            return match (reader, value) {
                (Some(reader), Value::String(text)) => {
                    bounded(text, key)?;
                    reader(text).map_err(|message| Fault::new(key, message))
                }
                _ => self.check(self.resolve(schema), value, key),
            };
        }
        let words = words(schema);
        if !words.is_empty() {
            let words: Vec<_> = words.into_iter().map(|word| (word, Vec::new())).collect();
            return check_word(&words, value, key);
        }
        if let Some(alternatives) = schema.get("oneOf").and_then(Value::as_array) {
            let chosen = self.by_tag(alternatives, value, key)?;
            return self.check(chosen, value, key);
        }
        if let Some(alternatives) = schema.get("anyOf").and_then(Value::as_array) {
            return match self.by_shape(alternatives, value) {
                Some(chosen) => self
                    .check(chosen, value, key)
                    .map_err(|fault| self.plain_number(alternatives, value, key).unwrap_or(fault)),
                None => Err(self.wrong_type(schema, value, key)),
            };
        }
        if !self.fits(schema, value) {
            return Err(self.wrong_type(schema, value, key));
        }
        match value {
            Value::Object(table) => self.check_table(schema, table, key),
            Value::Array(list) => self.check_list(schema, list, key),
            Value::String(text) => bounded(text, key),
            _ => Ok(()),
        }
    }

    fn check_table(
        &self,
        schema: &'s Value,
        table: &Map<String, Value>,
        key: &str,
    ) -> Result<(), Fault> {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return Ok(());
        };
        let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        if let Some(name) = table.keys().find(|name| closed && !properties.contains_key(*name)) {
            let known = properties.keys().map(String::as_str);
            let message = match elsewhere::meant(self, properties, table, name, key) {
                Some(meant) => {
                    let stop = if meant.ends_with(['?', '.']) { "" } else { "." };
                    format!("unknown key; {meant}{stop} Known: {}", quoted(known))
                }
                None => format!("unknown key, expected {}", one_of(known)),
            };
            return Err(Fault::new(member(key, name), message));
        }
        for name in required(schema) {
            if !table.contains_key(name) {
                let expected = self.expectation(&properties[name]);
                let why = hints::needed_beside(name, table).unwrap_or_default();
                let message = format!("missing, expected {expected}{why}");
                return Err(Fault::new(member(key, name), message));
            }
        }
        table
            .iter()
            .filter_map(|(name, value)| Some((name, properties.get(name)?, value)))
            .try_for_each(|(name, schema, value)| self.check(schema, value, &member(key, name)))
    }

    fn check_list(&self, schema: &'s Value, list: &[Value], key: &str) -> Result<(), Fault> {
        let bound = |name| schema.get(name).and_then(Value::as_u64);
        let len = list.len() as u64;
        if let (Some(least), Some(most)) = (bound("minItems"), bound("maxItems"))
            && !(least..=most).contains(&len)
        {
            let message = format!("a list of {len}, expected a list of {least}");
            return Err(Fault::new(key, message));
        }
        let Some(items) = schema.get("items") else { return Ok(()) };
        // A film has thousands of numbers: no key is spelt out for those that are as they should be.
        let plain =
            ["$ref", "const", "enum", "oneOf", "anyOf"].iter().all(|key| items.get(key).is_none());
        let is_known = |value: &Value| {
            value.is_number() && types(items).any(|name| has_type(items, name, value))
        };
        if plain && list.iter().all(is_known) {
            return Ok(());
        }
        list.iter()
            .enumerate()
            .try_for_each(|(i, value)| self.check(items, value, &element(key, i)))
    }

    /// The alternative whose tag the table carries.
    fn by_tag(
        &self,
        alternatives: &'s [Value],
        value: &Value,
        key: &str,
    ) -> Result<&'s Value, Fault> {
        let resolved: Vec<&Value> = alternatives.iter().map(|one| self.resolve(one)).collect();
        let (tag, words) = self.tags(alternatives);
        let Value::Object(table) = value else {
            let name = last(key);
            let expected = match value {
                Value::String(word) => match hints::word(word, &words) {
                    Some(word) => format!("write `{name} = {{ {tag} = \"{word}\" }}`"),
                    None => format!("expected a table with `{tag}`, {}", one_of(firsts(&words))),
                },
                Value::Array(_) => format!("write `[{name}]`, with one bracket: there is only one"),
                _ => format!("expected a table with `{tag}`, {}", one_of(firsts(&words))),
            };
            return Err(Fault::new(key, format!("found {}; {expected}", found(value))));
        };
        let Some(written) = table.get(tag) else {
            let message = format!("missing, expected {}", one_of(firsts(&words)));
            return Err(Fault::new(member(key, tag), message));
        };
        check_word(&words, written, &member(key, tag))?;
        Ok(resolved
            .into_iter()
            .find(|one| tag_of(one).is_some_and(|(_, word)| *written == *word))
            .expect("the word is one of theirs"))
    }

    /// The key that tells these tables apart, and the word of each with those of other tools.
    pub(super) fn tags(
        &self,
        alternatives: &'s [Value],
    ) -> (&'s str, Vec<(&'s str, Vec<&'s str>)>) {
        let mut key = "";
        let mut words = Vec::new();
        for one in alternatives.iter().map(|one| self.resolve(one)) {
            if let Some((tag, word)) = tag_of(one) {
                key = tag;
                let also = one.get("also").and_then(Value::as_array).into_iter().flatten();
                words.push((word, also.filter_map(Value::as_str).collect()));
            }
        }
        (key, words)
    }

    /// The alternative that the value is most likely meant to be.
    fn by_shape(&self, alternatives: &'s [Value], value: &Value) -> Option<&'s Value> {
        let shared = |one: &&Value| match (value, self.resolve(one).get("properties")) {
            (Value::Object(table), Some(Value::Object(properties))) => table
                .keys()
                .take(MOST_COMPARED)
                .filter_map(|name| {
                    nearest(name, properties.keys().map(String::as_str)).zip(Some(name))
                })
                .map(|(near, name)| if near == name { 2 } else { 1 })
                .sum(),
            _ => 0,
        };
        alternatives
            .iter()
            .filter(|one| self.fits(one, value))
            // The first of equals.
            .rev()
            .max_by_key(shared)
    }

    /// True if a value has the outer shape that a schema asks for.
    fn fits(&self, schema: &Value, value: &Value) -> bool {
        let schema = self.resolve(schema);
        if !words(schema).is_empty() {
            return value.is_string();
        }
        let among = |key| schema.get(key).and_then(Value::as_array);
        if let Some(alternatives) = among("anyOf").or_else(|| among("oneOf")) {
            return alternatives.iter().any(|one| self.fits(one, value));
        }
        let mut names = types(schema).peekable();
        names.peek().is_none() || names.any(|name| has_type(schema, name, value))
    }

    fn wrong_type(&self, schema: &'s Value, value: &Value, key: &str) -> Fault {
        // A table with a `kind` that may be left out.
        let forms = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
        let mut forms = forms.filter(|form| form.get("type") != Some(&Value::from("null")));
        if let (Some(form), None) = (forms.next(), forms.next())
            && let Some(kinds) = self.resolve(form).get("oneOf").and_then(Value::as_array)
            && !self.tags(kinds).0.is_empty()
            && let Err(fault) = self.by_tag(kinds, value, key)
        {
            return fault;
        }
        let found = found(value);
        let message = match self.instead(schema, value, key) {
            Some(instead) => format!("found {found}{instead}"),
            None => format!("found {found}, expected {}", self.expectation(schema)),
        };
        Fault::new(key, message)
    }

    /// The fault of a table, none of whose keys is known, where a number alone would do: `loss = { rate = 0.01 }`.
    fn plain_number(&self, forms: &[Value], value: &Value, key: &str) -> Option<Fault> {
        let table = value.as_object()?;
        let number = hints::lone_number(table)?;
        let properties = |form: &Value| self.resolve(form).get("properties")?.as_object().cloned();
        let is_known = |name: &String| {
            let mut forms = forms.iter().filter_map(properties);
            forms.any(|known| nearest(name, known.keys().map(String::as_str)).is_some())
        };
        if table.keys().take(MOST_COMPARED).any(is_known)
            || !forms.iter().any(|form| self.fits(form, number))
        {
            return None;
        }
        let unknown = one_of(table.keys().map(String::as_str).take(MOST_COMPARED));
        let message = format!("write `{} = {number}`; no key {unknown} is known here", last(key));
        Some(Fault::new(key, message))
    }

    /// The end of a message that says what to write in the place of a value of a wrong type.
    fn instead(&self, schema: &Value, value: &Value, key: &str) -> Option<String> {
        let schema = self.resolve(schema);
        let any = schema.get("anyOf").and_then(Value::as_array);
        let forms: Vec<&Value> = any.map_or_else(
            || vec![schema],
            |forms| forms.iter().map(|one| self.resolve(one)).collect(),
        );
        let wants = |name: &str| forms.iter().find(|one| types(one).any(|known| known == name));
        let name = last(key);
        match value {
            Value::Number(number) => {
                let example = forms.iter().find_map(|one| example(one));
                if let Some(example) =
                    example.filter(|e| e.starts_with(|c: char| c.is_ascii_digit()))
                {
                    return Some(format!(", which has no unit; write it as in \"{example}\""));
                }
                let written = self.filled(wants("object")?, number.as_f64()?)?;
                Some(format!("; write `{name} = {written}`"))
            }
            Value::String(text) => {
                let number = text.trim();
                let whole = wants("integer").is_some() && number.parse::<u64>().is_ok();
                let real = wants("number").is_some() && number.parse::<f64>().is_ok();
                let truth = wants("boolean").is_some() && ["true", "false"].contains(&number);
                if whole || real || truth {
                    return Some(format!("; write `{name} = {number}`, without quotes"));
                }
                wants("number")?;
                let (name, is_entry) =
                    name.split_once('[').map_or((name, false), |(list, _)| (list, true));
                let unit = if name.ends_with("_ms") { 1e3 } else { 1.0 };
                let time = text.parse::<Duration>().map(|time| time.as_secs_f64() * unit).ok();
                let plain = time.or_else(|| Some(text.parse::<Percent>().ok()?.share()))?;
                Some(if is_entry {
                    format!("; write {plain}")
                } else {
                    format!("; write `{name} = {plain}`")
                })
            }
            Value::Object(_) if wants("array").is_some() && !key.contains('.') => {
                Some(format!("; write `[[{name}]]`, with two brackets: there may be several"))
            }
            Value::Array(_) if wants("object").is_some() => {
                Some(format!("; write `[{key}]`, with one bracket: there is only one"))
            }
            Value::Object(table) => elsewhere::beside(self, table, key),
            _ => None,
        }
    }

    /// A table with what it must have, a number in its place and examples in the place of texts.
    fn filled(&self, schema: &Value, number: f64) -> Option<String> {
        let properties = schema.get("properties")?;
        let entry = |name: &str| {
            let schema = self.resolve(properties.get(name)?);
            let value = match schema.get("anyOf").and_then(|forms| forms.get(0)).unwrap_or(schema) {
                one if types(one).any(|name| name == "number") => number.to_string(),
                one => format!("\"{}\"", example(one)?),
            };
            Some(format!("{name} = {value}"))
        };
        let entries: Option<Vec<String>> = required(schema).map(entry).collect();
        let entries = entries.filter(|entries| !entries.is_empty())?;
        Some(format!("{{ {} }}", entries.join(", ")))
    }

    pub(super) fn resolve<'a>(&self, schema: &'a Value) -> &'a Value
    where
        's: 'a,
    {
        reference(schema).and_then(|name| self.root.get("$defs")?.get(name)).unwrap_or(schema)
    }

    /// The expectation of a schema, in words.
    fn expectation(&self, schema: &Value) -> String {
        let schema = self.resolve(schema);
        let words = words(schema);
        if !words.is_empty() {
            return one_of(words);
        }
        if let Some(alternatives) = schema.get("anyOf").and_then(Value::as_array) {
            let mut texts: Vec<String> = Vec::new();
            let mut keys = Vec::new();
            for one in
                alternatives.iter().filter(|one| one.get("type") != Some(&Value::from("null")))
            {
                let form = self.resolve(one);
                match required(form).next().filter(|_| form.get("properties").is_some()) {
                    Some(key) => keys.push(key),
                    None => texts.push(self.expectation(one)),
                }
            }
            match &*keys {
                [] => {}
                [key] => texts.push(format!("a table with `{key}`")),
                keys => texts.push(format!("a table with {}", one_of(keys.iter().copied()))),
            }
            return texts.join(" or ");
        }
        if let Some(tags) = schema.get("oneOf").and_then(Value::as_array) {
            let tag = tags.iter().find_map(|one| tag_of(self.resolve(one)));
            return format!("a table with `{}`", tag.map_or("kind", |(tag, _)| tag));
        }
        match types(schema).find(|name| *name != "null") {
            Some("string") => match example(schema) {
                Some(example) => format!("text such as \"{example}\""),
                None => "text".into(),
            },
            Some("integer") => match (minimum(schema), maximum(schema)) {
                (Some(least), Some(most)) => format!("a whole number from {least} to {most}"),
                (Some(least), None) => format!("a whole number, at least {least}"),
                _ => "a whole number".into(),
            },
            Some("number") => "a number".into(),
            Some("boolean") => "true or false".into(),
            Some("array") => "a list".into(),
            Some("object") => match required(schema).next() {
                Some(name) => format!("a table with `{name}`"),
                None => "a table".into(),
            },
            _ => "something else".into(),
        }
    }
}

/// A key without the tables that it stands in.
fn last(key: &str) -> &str {
    key.rsplit_once('.').map_or(key, |(_, name)| name)
}

fn example(schema: &Value) -> Option<&str> {
    schema.pointer("/examples/0").and_then(Value::as_str)
}

fn firsts<'a>(words: &[(&'a str, Vec<&'a str>)]) -> Vec<&'a str> {
    words.iter().map(|(word, _)| *word).collect()
}

fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")
}

pub(super) fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The words of an enum of words; none for any other schema.
fn words(schema: &Value) -> Vec<&str> {
    let list = |key| schema.get(key).and_then(Value::as_array).into_iter().flatten();
    if let Some(word) = schema.get("const").and_then(Value::as_str) {
        return vec![word];
    }
    let direct = list("enum").filter_map(Value::as_str);
    // schemars writes the words with documentation one by one, those without in a list.
    let documented = list("oneOf").flat_map(words);
    direct.chain(documented).collect()
}

/// The key that tells this table from its alternatives, and its word.
pub(super) fn tag_of(schema: &Value) -> Option<(&str, &str)> {
    schema
        .get("properties")?
        .as_object()?
        .iter()
        .find_map(|(name, schema)| Some((name.as_str(), schema.get("const")?.as_str()?)))
}

fn types(schema: &Value) -> impl Iterator<Item = &str> {
    let (one, many) = match schema.get("type") {
        Some(Value::String(name)) => (Some(name.as_str()), None),
        Some(Value::Array(names)) => (None, Some(names.iter().filter_map(Value::as_str))),
        _ => (None, None),
    };
    one.into_iter().chain(many.into_iter().flatten())
}

/// The least value of a whole number.
fn minimum(schema: &Value) -> Option<i64> {
    schema.get("minimum").and_then(Value::as_i64)
}

/// The largest value of a whole number.
fn maximum(schema: &Value) -> Option<u64> {
    let written = schema.get("maximum").and_then(Value::as_u64);
    written.or_else(|| match schema.get("format")?.as_str()? {
        "uint8" => Some(u8::MAX.into()),
        "uint16" => Some(u16::MAX.into()),
        "uint32" => Some(u32::MAX.into()),
        "uint64" => Some(u64::MAX),
        _ => None,
    })
}

fn has_type(schema: &Value, name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => match (value.as_u64(), value.as_i64()) {
            (Some(number), _) => maximum(schema).is_none_or(|most| number <= most),
            (None, Some(number)) => minimum(schema).is_none_or(|least| number >= least),
            (None, None) => false,
        },
        _ => true,
    }
}

fn check_word(words: &[(&str, Vec<&str>)], value: &Value, key: &str) -> Result<(), Fault> {
    let known = firsts(words);
    let Value::String(word) = value else {
        let message = format!("found {}, expected {}", found(value), one_of(known));
        return Err(Fault::new(key, message));
    };
    if words.iter().any(|(known, _)| known == word) {
        return Ok(());
    }
    let shown = printable(word, SHOWN_CHARS);
    let message = match hints::word(word, words) {
        Some(meant) => {
            format!("unknown word `{shown}`; did you mean `{meant}`? Known: {}", quoted(known))
        }
        None => format!("unknown word `{shown}`, expected {}", one_of(known)),
    };
    Err(Fault::new(key, message))
}

fn bounded(text: &str, key: &str) -> Result<(), Fault> {
    let chars = text.chars().count();
    if chars <= MAX_TEXT_CHARS {
        return Ok(());
    }
    let message = format!("a text of {chars} characters, expected at most {MAX_TEXT_CHARS}");
    Err(Fault::new(key, message))
}

fn found(value: &Value) -> String {
    match value {
        Value::Null => "nothing".into(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text \"{}\"", printable(text, SHOWN_CHARS)),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "a table".into(),
    }
}

/// "`a`, `b`, `c`".
fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}

/// "`a`", "`a` or `b`", "one of `a`, `b`, `c`".
fn one_of<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match &*quoted {
        [one] => one.clone(),
        [one, other] => format!("{one} or {other}"),
        _ => format!("one of {}", quoted.join(", ")),
    }
}
