//! Keys that stand in the wrong table, and the place where they belong.

use serde_json::{Map, Value};

use super::hints;
use super::schema::{Checker, required, tag_of};

/// A table that may stand in a scenario.
#[derive(Clone, Copy)]
struct Table<'s> {
    schema: &'s Value,
    properties: &'s Map<String, Value>,
}

impl<'s> Checker<'s> {
    /// The tables that a value of `schema` may be, or that stand in it if it is a list.
    fn tables(&self, schema: &'s Value) -> Vec<Table<'s>> {
        let schema = self.resolve(schema);
        let several = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(key)?.as_array());
        if let Some(forms) = several {
            return forms.iter().flat_map(|form| self.tables(form)).collect();
        }
        if let Some(items) = schema.get("items") {
            return self.tables(items);
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        properties.map(|properties| Table { schema, properties }).into_iter().collect()
    }

    fn is_list(&self, schema: &Value) -> bool {
        self.resolve(schema).get("items").is_some()
    }

    /// The tables around the one at `key`, from the file itself on, with their keys.
    fn around(&self, key: &str) -> Vec<(String, Vec<Table<'s>>)> {
        let mut around = vec![(String::new(), self.tables(self.root))];
        let mut place = String::new();
        for name in key.split('.').filter(|name| !name.is_empty()) {
            if !place.is_empty() {
                place.push('.');
            }
            place.push_str(name);
            let plain = name.split('[').next().unwrap_or(name);
            let inside = around[around.len() - 1].1.iter();
            let inside = inside.filter_map(|table| table.properties.get(plain));
            let tables = inside.flat_map(|schema| self.tables(schema)).collect();
            around.push((place.clone(), tables));
        }
        around
    }
}

/// The advice on `name`, a key of `table` at `key` that is none of its `properties`.
pub(super) fn meant(
    checker: &Checker<'_>,
    properties: &Map<String, Value>,
    table: &Map<String, Value>,
    name: &str,
    key: &str,
) -> Option<String> {
    let value = &table[name];
    let here: Vec<&str> = properties.keys().map(String::as_str).collect();
    let by_case = here.iter().find(|known| known.eq_ignore_ascii_case(name));
    if let Some(known) = by_case {
        return Some(format!("did you mean `{known}`?"));
    }
    let near = hints::key(name, &here);
    let takes_table = near.is_some_and(|near| !checker.tables(&properties[near]).is_empty());
    let is_plain = near.is_some_and(|near| !takes_table && hints::by_habit(name, near));
    if !is_plain
        && let Some(inside) = inside(checker, properties, table, name, |known| known == name)
    {
        return Some(inside);
    }
    if takes_table && !value.is_object() && !value.is_array() {
        let habit = |known: &str| hints::by_habit(name, known);
        let deeper = as_kind(checker, &properties[near?], near?, value)
            .or_else(|| inside(checker, properties, table, name, habit));
        if deeper.is_some() {
            return deeper;
        }
    }
    if let Some(near) = near {
        return Some(format!("did you mean `{near}`?{}", hints::difference(name, near)));
    }
    let habit = |known: &str| hints::by_habit(name, known);
    if let Some(inside) = inside(checker, properties, table, name, habit) {
        return Some(inside);
    }
    let around = checker.around(key);
    // Another kind of the same table has it.
    let kinds = around.last().into_iter().flat_map(|(_, tables)| tables);
    let mut of_kind = kinds.filter(|form| form.properties.contains_key(name));
    if let Some((_, word)) = of_kind.find_map(|form| tag_of(form.schema)) {
        return Some(format!("`{name}` is a key of the kind `{word}`"));
    }
    let outside = around
        .iter()
        .rev()
        .skip(1)
        .find(|(_, tables)| tables.iter().any(|table| table.properties.contains_key(name)));
    if let Some((place, _)) = outside {
        return Some(if place.is_empty() {
            format!("`{name}` belongs to the file itself: write it above the first `[table]`")
        } else {
            format!("`{name}` is a key of `{place}`")
        });
    }
    let found = anywhere(checker, name)?;
    Some(format!("`{name}` is a key of `{found}`"))
}

/// The advice on a table with a `kind` at `key`, where no table stands, if a key beside it takes tables of that kind:
/// `buffer = { kind = "codel" }`.
pub(super) fn beside(
    checker: &Checker<'_>,
    table: &Map<String, Value>,
    key: &str,
) -> Option<String> {
    let (around, name) = key.rsplit_once('.')?;
    let tables = checker.around(around).pop()?.1;
    let keys = tables.iter().flat_map(|table| table.properties).filter(|(child, _)| *child != name);
    for (child, schema) in keys {
        let Some(forms) = alternatives(checker, schema) else { continue };
        let (tag, words) = checker.tags(forms);
        let Some(word) = table.get(tag).and_then(Value::as_str) else { continue };
        if words.iter().any(|(known, _)| *known == word) {
            let more = if table.len() > 1 { ", ..." } else { "" };
            return Some(format!("; write `{child} = {{ {tag} = \"{word}\"{more} }}`"));
        }
    }
    None
}

/// A word in the place of a table with a `kind`.
fn as_kind<'s>(
    checker: &Checker<'s>,
    schema: &'s Value,
    name: &str,
    value: &Value,
) -> Option<String> {
    let forms = alternatives(checker, schema)?;
    let (tag, words) = checker.tags(forms);
    let word = hints::word(value.as_str()?, &words)?;
    Some(format!("write `{name} = {{ {tag} = \"{word}\" }}`"))
}

/// The forms of a table with a `kind`.
fn alternatives<'s>(checker: &Checker<'s>, schema: &'s Value) -> Option<&'s [Value]> {
    let schema = checker.resolve(schema);
    if let Some(forms) = schema.get("oneOf") {
        return forms.as_array().map(Vec::as_slice);
    }
    schema.get("anyOf")?.as_array()?.iter().find_map(|form| alternatives(checker, form))
}

/// The advice on a key that belongs into a table beside it.
fn inside(
    checker: &Checker<'_>,
    properties: &Map<String, Value>,
    table: &Map<String, Value>,
    name: &str,
    is_meant: impl Fn(&str) -> bool,
) -> Option<String> {
    for (child, schema) in properties {
        let written = table.get(child);
        let kind = |form: &Table<'_>| match (tag_of(form.schema), written) {
            (Some((tag, word)), Some(written)) => written.get(tag).is_none_or(|w| w == word),
            _ => true,
        };
        for form in checker.tables(schema).into_iter().filter(kind) {
            let Some(key) = form.properties.keys().find(|known| is_meant(known)) else { continue };
            let takes_table = !checker.tables(&form.properties[key]).is_empty();
            if key == "kind" || (table[name].is_object() || table[name].is_array()) && !takes_table
            {
                continue;
            }
            let says = if key == name {
                format!("`{name}` is a key of `{child}`")
            } else {
                format!("did you mean `{key}` of `{child}`")
            };
            let value = &table[name];
            if value.is_object() {
                let is_list = checker.is_list(&form.properties[key]);
                let (open, close) = if is_list { ("[[", "]]") } else { ("[", "]") };
                return Some(format!("{says}: write `{open}{child}.{key}{close}`"));
            }
            let lone = written.is_none() && !value.is_array() && alone(form, key);
            let value = hints::written(value).filter(|_| lone);
            return Some(match value {
                Some(value) => {
                    let tag = tag_of(form.schema)
                        .map_or_else(String::new, |(tag, word)| format!("{tag} = \"{word}\", "));
                    format!("write `{child} = {{ {tag}{key} = {value} }}`")
                }
                None if key == name => says,
                None => says + "?" + &hints::difference(name, key),
            });
        }
    }
    None
}

/// True if a table is whole with this key and its kind.
fn alone(form: Table<'_>, key: &str) -> bool {
    let tag = tag_of(form.schema).map(|(tag, _)| tag);
    required(form.schema).all(|needed| needed == key || Some(needed) == tag)
}

/// The only place of a scenario that has a key of this name.
fn anywhere(checker: &Checker<'_>, name: &str) -> Option<String> {
    let mut places = Vec::new();
    let mut level = vec![(String::new(), checker.tables(checker.root))];
    for _ in 0..4 {
        let mut next = Vec::new();
        for (place, tables) in &level {
            for table in tables {
                if table.properties.contains_key(name) && !places.contains(place) {
                    places.push(place.clone());
                }
                for (child, schema) in table.properties {
                    let dot = if place.is_empty() { "" } else { "." };
                    next.push((format!("{place}{dot}{child}"), checker.tables(schema)));
                }
            }
        }
        if !places.is_empty() {
            break;
        }
        level = next;
    }
    match &mut places[..] {
        [place] if !place.is_empty() => Some(std::mem::take(place)),
        _ => None,
    }
}
