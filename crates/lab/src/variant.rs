//! The names of senders, for those who type them.

use ackclock_tcp::variant::{FORMS, REGISTRY, Slot, VariantError, slug};
use ackclock_tcp::{Profile, Variant};
use serde_json::json;

use crate::input::{BadInput, did_you_mean};

/// The canonical name of a sender under a profile (`rfc`, `linux` or `ns2`).
///
/// # Errors
/// A word of the name that is not known, or choices that do not go together.
pub fn variant_name(variant: &str, profile: &str) -> Result<String, BadInput> {
    let profile: Profile =
        profile.parse().map_err(|error| BadInput::new(format_args!("profile: {error}")))?;
    let named = parse(variant).and_then(|variant| {
        variant.resolve(profile).map(|parts| parts.name(profile)).map_err(|e| e.to_string())
    });
    named.map_err(|error| BadInput::new(format_args!("variant: {error}")))
}

/// The file-name form of a variant's name, whether or not the name is known.
pub fn variant_slug(variant: &str) -> String {
    slug(variant)
}

/// Every word that a variant's name may contain, as JSON: `[{word, argument, slot, help}]`.
pub fn registry() -> String {
    let row = |word: &str, argument: Option<&str>, slot: Slot, help: &str| json!({ "word": word, "argument": argument, "slot": slot.to_string(), "help": help });
    let forms = FORMS.iter().map(|form| {
        let (word, argument) = match form.text.split_once('(') {
            Some((word, rest)) => (word, rest.strip_suffix(')')),
            None => (form.text, None),
        };
        row(word, argument, form.slot, form.help)
    });
    let rows: Vec<_> = REGISTRY
        .iter()
        .map(|entry| row(entry.word, entry.argument, entry.choice.slot(), entry.help))
        .chain(forms)
        .collect();
    json!(rows).to_string()
}

/// Reads a variant's name, and where a word of it is unknown offers the nearest.
pub(crate) fn parse(text: &str) -> Result<Variant, String> {
    text.parse().map_err(|error: VariantError| {
        let hint = match &error {
            VariantError::UnknownPart { word, .. } => {
                let forms = FORMS.iter().filter_map(|form| Some(form.text.split_once('(')?.0));
                did_you_mean(word, REGISTRY.iter().map(|entry| entry.word).chain(forms))
            }
            VariantError::GrowthFirst { name, .. } => {
                let first = name.split(['+', '(']).next().unwrap_or_default();
                let laws = REGISTRY.iter().filter(|entry| entry.choice.slot() == Slot::Growth);
                did_you_mean(first, laws.map(|entry| entry.word))
            }
            _ => String::new(),
        };
        format!("{error}{hint}")
    })
}

#[cfg(test)]
mod tests;
