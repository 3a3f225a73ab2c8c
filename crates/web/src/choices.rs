//! The choices that a sender's name makes, and the words that could stand in their place.

use ackclock_input::{BadInput, parse_variant, variant_name};
use ackclock_laws::start::JumpChoice;
use ackclock_tcp::variant::{FORMS, MODERN, Part, REGISTRY, Slot};
use serde_json::{Value, json};

/// The slots, in the order in which a page shows them.
const SLOTS: [Slot; 7] = [
    Slot::Growth,
    Slot::Window,
    Slot::Jump,
    Slot::SlowStart,
    Slot::Idle,
    Slot::Recovery,
    Slot::SynLoss,
];

/// First windows that are offered: ten segments (RFC 6928), and those of earlier senders.
const FIRST_WINDOWS: [&str; 5] = ["iw10", "iw4", "iw3", "iw2", "iw1"];

/// The name of `variant` under `profile`, and for each slot its `word`, null without a jump, and the `words` of the registry: with each the
/// name that it would give, or the reason for which it is refused beside the other choices.
///
/// # Errors
/// A name that is none.
pub fn choices(variant: &str, profile: &str) -> Result<Value, BadInput> {
    let name = variant_name(variant, profile)?;
    let parsed = parse_variant(variant).map_err(BadInput::new)?;
    let resolved = ackclock_input::profile(profile)
        .and_then(|profile| parsed.resolve(profile).map_err(|error| error.to_string()))
        .map_err(BadInput::new)?;
    let word_of = |slot| {
        let part = match slot {
            Slot::Growth => Part::Growth(resolved.growth),
            Slot::Recovery => Part::Recovery(resolved.recovery),
            Slot::Window => Part::Window(resolved.window),
            Slot::SynLoss => Part::SynLoss(resolved.syn_loss),
            Slot::Jump if resolved.jump == JumpChoice::None => return None,
            Slot::Jump => Part::Jump(resolved.jump),
            Slot::SlowStart => Part::SlowStart(resolved.slow_start),
            Slot::Idle => Part::Idle(resolved.idle),
        };
        Some(part.spelled())
    };
    let slots: Vec<Value> = SLOTS
        .iter()
        .map(|slot| {
            let written = parsed.spells(*slot);
            let word = word_of(*slot);
            let row = |spelled: String, help: &str| {
                let with = with(variant, *slot, &spelled);
                match variant_name(&with, profile) {
                    Ok(name) => json!({ "word": spelled, "help": help, "with": with, "name": name }),
                    Err(why) => {
                        let why = why.to_string();
                        let why = why.strip_prefix("variant: ").unwrap_or(&why);
                        json!({ "word": spelled, "help": help, "refused": why })
                    }
                }
            };
            let words = REGISTRY.iter().filter(|entry| entry.choice.slot() == *slot);
            let mut words: Vec<Value> = words.map(|entry| row(entry.spelled(), entry.help)).collect();
            // A number of segments is a form and no word: the usual ones are offered.
            let numbers = FORMS.iter().filter(|form| *slot == Slot::Window && form.slot == *slot);
            for form in numbers {
                words.extend(FIRST_WINDOWS.iter().map(|word| row((*word).to_owned(), form.help)));
            }
            let forms = FORMS.iter().filter(|form| form.slot == *slot);
            let forms: Vec<Value> =
                forms.map(|form| json!({ "form": form.text, "help": form.help })).collect();
            json!({
                "slot": slot.to_string(), "word": word, "written": written, "words": words, "forms": forms,
                "without": without(variant, *slot),
            })
        })
        .collect();
    Ok(json!({ "name": name, "slots": slots }))
}

/// The slot of a part of a name; none of `modern`, which fills several.
fn slot(text: &str) -> Option<Slot> {
    (text != MODERN).then(|| Part::parse(text)).flatten().map(Part::slot)
}

/// `variant` with `word` in a slot.
fn with(variant: &str, of: Slot, word: &str) -> String {
    if of == Slot::Growth {
        let rest = variant.split_once('+').map_or("", |(_, rest)| rest);
        return if rest.is_empty() { word.to_owned() } else { format!("{word}+{rest}") };
    }
    format!("{}+{word}", without(variant, of))
}

/// `variant` without its word in a slot.
fn without(variant: &str, of: Slot) -> String {
    let mut parts = variant.split('+');
    let growth = parts.next().unwrap_or_default();
    let rest = parts.filter(|part| slot(part) != Some(of));
    std::iter::once(growth).chain(rest).collect::<Vec<_>>().join("+")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot_of(choices: &Value, slot: Slot) -> Value {
        let slots = choices["slots"].as_array().unwrap();
        slots.iter().find(|row| row["slot"] == slot.to_string()).unwrap().clone()
    }

    fn row(slot: &Value, word: &str) -> Value {
        let words = slot["words"].as_array().unwrap();
        words.iter().find(|row| row["word"] == word).unwrap().clone()
    }

    #[test]
    fn a_word_replaces_that_of_its_slot() {
        let found = choices("cubic+sack+iw3", "rfc").unwrap();
        let recovery = slot_of(&found, Slot::Recovery);
        assert_eq!(recovery["word"], "sack");
        assert_eq!(recovery["written"], true);
        assert_eq!(row(&recovery, "rack")["with"], "cubic+iw3+rack");
        let growth = slot_of(&found, Slot::Growth);
        assert_eq!(row(&growth, "reno")["with"], "reno+sack+iw3");
        assert_eq!(slot_of(&found, Slot::Window)["without"], "cubic+sack");
    }

    #[test]
    fn a_first_window_is_a_number_too() {
        let found = choices("newreno+rfc3390", "rfc").unwrap();
        let window = slot_of(&found, Slot::Window);
        assert_eq!(row(&window, "iw10")["with"], "newreno+iw10");
        assert_eq!(row(&window, "rfc3390")["with"], "newreno+rfc3390");
    }

    #[test]
    fn what_does_not_go_together_has_its_reason() {
        // docs/algorithms/README.md lists the pairs.
        let found = choices("bbr", "rfc").unwrap();
        let recovery = slot_of(&found, Slot::Recovery);
        let refused =
            recovery["words"].as_array().unwrap().iter().filter(|row| !row["refused"].is_null());
        let reasons: Vec<&str> = refused.map(|row| row["refused"].as_str().unwrap()).collect();
        assert!(!reasons.is_empty());
        assert!(reasons.iter().all(|why| why.contains("bbr")), "{reasons:?}");
    }
}
