//! The names of senders, for those who type them.

use ackclock_laws::growth::{GrowthChoice, Variable, laws_of_linux, registered_laws};
use ackclock_laws::words::Row;
use ackclock_sim::scenario::VariantChoice;
use ackclock_sim::{Names, Scenario};
use ackclock_tcp::variant::{FORMS, MODERN, MODERN_HELP, Part, REGISTRY, Slot, VariantError, slug};
use ackclock_tcp::{Profile, TcpSpec, Variant};
use serde_json::{Value, json};

use crate::{BadInput, nearest};

/// The canonical name of a sender under a profile (`rfc`, `linux` or `ns2`).
///
/// # Errors
/// A word of the name that is not known, or choices that do not go together.
pub fn variant_name(variant: &str, profile: &str) -> Result<String, BadInput> {
    let profile: Profile =
        self::profile(profile).map_err(|error| BadInput::new(format_args!("profile: {error}")))?;
    let named = parse(variant).and_then(|variant| {
        variant.resolve(profile).map(|parts| parts.name(profile)).map_err(|e| e.to_string())
    });
    named.map_err(|error| BadInput::new(format_args!("variant: {error}")))
}

/// The names of the variables that a sender's law publishes under a profile.
///
/// # Errors
/// As those of [`variant_name`].
pub fn law_variables(variant: &str, profile: &str) -> Result<Vec<&'static str>, BadInput> {
    variant_name(variant, profile)?;
    let profile = self::profile(profile).map_err(|error| BadInput::new(format_args!("{error}")))?;
    let resolved = parse(variant).and_then(|variant| {
        variant.resolve(profile).map(|parts| parts.growth).map_err(|e| e.to_string())
    });
    let law = resolved.map_err(|error| BadInput::new(format_args!("variant: {error}")))?;
    Ok(law.variables().iter().map(|variable| variable.name).collect())
}

/// Refuses a word that is not that of a growth law.
///
/// # Errors
/// The word is another part's, or nobody's.
pub fn expect_law(word: &str) -> Result<(), BadInput> {
    let of_house = REGISTRY.iter().filter(|entry| matches!(entry.choice, Part::Growth(_)));
    let mut laws: Vec<String> = of_house.map(Row::spelled).collect();
    laws.extend(registered_laws());
    if laws.iter().any(|law| law == word) {
        return Ok(());
    }
    let of_another = REGISTRY.iter().any(|entry| entry.word == word);
    let near = nearest(word, laws.iter().map(String::as_str)).filter(|_| !of_another);
    let expected = near.map_or_else(
        || "expected a growth law, such as `reno` (`ackclock variants` lists them)".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    Err(BadInput::new(format_args!("`{word}` is no growth law; {expected}")))
}

/// The growth law of a word.
///
/// # Errors
/// The word is another part's, or nobody's.
pub fn read_law(word: &str) -> Result<GrowthChoice, BadInput> {
    expect_law(word)?;
    let variant = parse(word).map_err(BadInput::new)?;
    let parts = variant.resolve(Profile::Rfc).map_err(BadInput::new)?;
    Ok(parts.growth)
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
        .map(|entry| {
            let mut row = row(entry.word, entry.argument, entry.choice.slot(), entry.help);
            if let Part::Growth(law) = entry.choice {
                row["variables"] = variables(law);
            }
            row
        })
        .chain(forms)
        .chain([
            json!({ "word": MODERN, "argument": null, "slot": "several", "help": MODERN_HELP }),
        ])
        .collect();
    json!(rows).to_string()
}

/// The variables that a law publishes: a row each, with `name` and `help`.
fn variables(law: GrowthChoice) -> Value {
    let row = |variable: &Variable| json!({ "name": variable.name, "help": variable.help });
    law.variables().iter().map(row).collect()
}

/// The senders of a scenario with their parts, as JSON: a row an entry of `flow`, and one a variant of a class.
///
/// A row has `kind` (`flow` or `traffic`), `name` and `names` (of flows, `count` spelled out), `variant` as it is printed and
/// as it was `written`, `profile`, `recovery`, `first_window`, and `spelled`: which of the two the file names itself.
///
/// # Errors
/// Choices that do not go together.
pub fn senders(scenario: &Scenario) -> Result<String, BadInput> {
    let names = Names::of_flows(scenario);
    let mut rows = Vec::new();
    for (entry, flow) in scenario.flows.iter().enumerate() {
        let of = names.iter().filter(|(of, _)| *of == entry).map(|(_, name)| name.as_str());
        let mut row = sender(&flow.variant, flow.profile, &flow.tcp)
            .map_err(|why| BadInput::new(format_args!("flow[{entry}].variant: {why}")))?;
        row["kind"] = json!("flow");
        row["name"] = json!(flow.name);
        row["names"] = of.collect();
        rows.push(row);
    }
    for (n, class) in scenario.traffic.iter().enumerate() {
        let variants: Vec<&Variant> = match &class.variant {
            VariantChoice::One(variant) => vec![variant],
            VariantChoice::Mix(mix) => mix.iter().map(|share| &share.variant).collect(),
            VariantChoice::Feedback(choice) => vec![&choice.calm, &choice.congested],
        };
        for variant in variants {
            let mut row = sender(variant, class.profile, &class.tcp)
                .map_err(|why| BadInput::new(format_args!("traffic[{n}].variant: {why}")))?;
            row["kind"] = json!("traffic");
            row["name"] = json!(class.name);
            row["names"] = json!([class.name]);
            rows.push(row);
        }
    }
    Ok(json!(rows).to_string())
}

fn sender(variant: &Variant, profile: Profile, tcp: &TcpSpec) -> Result<Value, String> {
    let parts = variant.resolve(profile).map_err(|error| error.to_string())?;
    let window = tcp.initial_window;
    let first_window = window
        .map_or_else(|| Part::Window(parts.window).spelled(), |segments| format!("iw{segments}"));
    let spelled = [
        ("recovery", variant.spells(Slot::Recovery)),
        ("first_window", variant.spells(Slot::Window) || window.is_some()),
    ];
    let spelled: Vec<&str> =
        spelled.into_iter().filter_map(|(key, is)| is.then_some(key)).collect();
    let word = Profile::ALL.iter().find(|(_, known)| *known == profile).map(|(name, _)| name);
    Ok(json!({
        "variant": parts.name(profile),
        "written": variant.to_string(),
        "profile": word,
        "recovery": Part::Recovery(parts.recovery).spelled(),
        "first_window": first_window,
        "spelled": spelled,
        "namesake": namesake(variant, profile),
    }))
}

/// A law that Linux has under the same name, and that is another one here, under the profile `linux`: its word, its
/// source, and our word for the kernel's.
fn namesake(variant: &Variant, profile: Profile) -> Option<Value> {
    let name = variant.to_string();
    let word = name.split(['+', '(']).next()?;
    let (ours, _) = laws_of_linux().find(|(ours, kernels)| *kernels == word && *ours != word)?;
    // `reno` of the kernel is the law `reno` here, too, by another word.
    let is_other = !laws_of_linux().any(|(known, _)| known == word);
    let about = REGISTRY.iter().find(|entry| entry.word == word && entry.argument.is_none())?.help;
    let source = about.rsplit_once('(').map_or(about, |(_, source)| source.trim_end_matches(')'));
    (profile == Profile::Linux && is_other)
        .then(|| json!({ "law": word, "source": source, "kernels": ours }))
}

/// Reads a profile's name, and offers the nearest if there is none.
pub fn profile(text: &str) -> Result<Profile, String> {
    text.parse().map_err(|error| {
        let error = format!("{error}");
        let Some(near) = nearest(text, Profile::ALL.iter().map(|(name, _)| *name)) else {
            return error;
        };
        let (says, known) = error.split_once(": ").unwrap_or((&error, ""));
        format!("{says}: did you mean `{near}`? Known: {known}")
    })
}

/// Reads a variant's name, and where a word of it is unknown offers the nearest.
pub fn parse(text: &str) -> Result<Variant, String> {
    text.parse().map_err(|error: VariantError| {
        let near = match &error {
            VariantError::UnknownPart { word, .. } => joined(text).or_else(|| {
                let forms = FORMS.iter().filter_map(|form| Some(form.text.split_once('(')?.0));
                let words = REGISTRY.iter().map(|entry| entry.word).chain(forms);
                nearest(&word.replace(['-', '_'], ""), words.chain([MODERN])).map(str::to_owned)
            }),
            VariantError::GrowthFirst { name, .. } => {
                let first = name.split(['+', '(']).next().unwrap_or_default();
                let laws = REGISTRY.iter().filter(|entry| entry.choice.slot() == Slot::Growth);
                nearest(first, laws.map(|entry| entry.word)).map(str::to_owned)
            }
            _ => None,
        };
        let Some(near) = near else { return error.to_string() };
        let says = error.to_string();
        let (says, known) = says.split_once("; known: ").unwrap_or((&says, ""));
        format!("{says}; did you mean `{near}`? Known: {known}")
    })
}

/// A name whose parts are joined otherwise than by `+`, such as `newreno-sack`, with `+`.
fn joined(text: &str) -> Option<String> {
    let joined = text.to_lowercase().replace(['-', '_', ' ', '/', ','], "+").replace("++", "+");
    (joined != text && joined.parse::<Variant>().is_ok()).then_some(joined)
}

#[cfg(test)]
mod tests;
