//! The name of a sender: `growth` then `+part` for each choice that is not the default.
//!
//! ```
//! use ackclock_tcp::{Profile, Variant};
//!
//! let variant: Variant = "reno+partialack".parse().unwrap();
//! assert_eq!(variant.resolve(Profile::Rfc).unwrap().name(Profile::Rfc), "newreno");
//! ```
//!
//! One parser, one printer. A part's word says which slot it fills, so that the parts may come in
//! any order; the printer writes them in the order of [`Slot`] and leaves out what is the default
//! under the profile, so that two spellings of one sender print alike.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use ackclock_laws::Profile;
use ackclock_laws::growth::{self, Growth, GrowthChoice, Recoveries, VisitorError};
use ackclock_laws::idle::IdleChoice;
use ackclock_laws::start::{JumpChoice, SlowStartChoice, SynLossChoice, WindowChoice};
use ackclock_laws::words::{Choice, Defaults, Row, split};
use ackclock_units::Duration;

use crate::recovery::RecoveryChoice;
pub use ackclock_laws::words::Slot;

/// One choice, of whichever slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A growth law.
    Growth(GrowthChoice),
    /// A recovery.
    Recovery(RecoveryChoice),
    /// A first window.
    Window(WindowChoice),
    /// An answer to a lost SYN or SYN-ACK.
    SynLoss(SynLossChoice),
    /// A jump past slow start.
    Jump(JumpChoice),
    /// A slow-start law.
    SlowStart(SlowStartChoice),
    /// An idle rule.
    Idle(IdleChoice),
}

impl Part {
    /// The slot that this choice fills.
    pub const fn slot(self) -> Slot {
        match self {
            Self::Growth(_) => Slot::Growth,
            Self::Recovery(_) => Slot::Recovery,
            Self::Window(_) => Slot::Window,
            Self::SynLoss(_) => Slot::SynLoss,
            Self::Jump(_) => Slot::Jump,
            Self::SlowStart(_) => Slot::SlowStart,
            Self::Idle(_) => Slot::Idle,
        }
    }

    /// The choice that `text` spells.
    pub fn parse(text: &str) -> Option<Self> {
        None.or_else(|| GrowthChoice::parse(text).map(Self::Growth))
            .or_else(|| RecoveryChoice::parse(text).map(Self::Recovery))
            .or_else(|| WindowChoice::parse(text).map(Self::Window))
            .or_else(|| SynLossChoice::parse(text).map(Self::SynLoss))
            .or_else(|| JumpChoice::parse(text).map(Self::Jump))
            .or_else(|| SlowStartChoice::parse(text).map(Self::SlowStart))
            .or_else(|| IdleChoice::parse(text).map(Self::Idle))
    }

    /// The arguments that `word` takes, where rows do not say so.
    fn expected(word: &str) -> Option<&'static str> {
        GrowthChoice::expected(word)
            .or_else(|| SynLossChoice::expected(word))
            .or_else(|| JumpChoice::expected(word))
            .or_else(|| IdleChoice::expected(word))
    }

    /// The word of this choice, and its argument if it has one.
    pub fn spelled(self) -> String {
        match self {
            Self::Growth(growth) => growth.spelled(),
            Self::Recovery(recovery) => recovery.spelled(),
            Self::Window(window) => window.spelled(),
            Self::SynLoss(rule) => rule.spelled(),
            Self::Jump(jump) => jump.spelled(),
            Self::SlowStart(law) => law.spelled(),
            Self::Idle(idle) => idle.spelled(),
        }
    }
}

/// A row of the registry: a word, its argument, the choice, and a line of help.
pub type Entry = Row<Part>;

/// Every word that a name may contain, family by family. Among words of one growth law the printer prefers the first.
pub static REGISTRY: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    fn entries<C: Choice>(part: fn(C) -> Part) -> impl Iterator<Item = Entry> {
        C::rows().iter().map(move |&Row { word, argument, choice, help }| Row {
            word,
            argument,
            choice: part(choice),
            help,
        })
    }
    entries(Part::Growth)
        .chain(entries(Part::Recovery))
        .chain(entries(Part::Window))
        .chain(entries(Part::SynLoss))
        .chain(entries(Part::Jump))
        .chain(entries(Part::SlowStart))
        .chain(entries(Part::Idle))
        .collect()
});

/// A word with numbers in it, which the registry cannot list one by one.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The spelling, with capitals or `<N>` for the numbers.
    pub text: &'static str,
    /// The slot that it fills.
    pub slot: Slot,
    /// One line of help.
    pub help: &'static str,
}

/// The words with numbers in them.
pub static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    fn forms<C: Choice>() -> impl Iterator<Item = Form> {
        C::FORMS.iter().map(|(text, help)| Form { text, slot: C::SLOT, help })
    }
    forms::<WindowChoice>().chain(forms::<SynLossChoice>()).chain(forms::<JumpChoice>()).collect()
});

/// A sender's complete choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The growth law.
    pub growth: GrowthChoice,
    /// The recovery from losses.
    pub recovery: RecoveryChoice,
    /// The first window.
    pub window: WindowChoice,
    /// The cost of a lost SYN or SYN-ACK to it.
    pub syn_loss: SynLossChoice,
    /// The jump past slow start.
    pub jump: JumpChoice,
    /// The slow-start law.
    pub slow_start: SlowStartChoice,
    /// The idle rule.
    pub idle: IdleChoice,
}

/// The words of a profile's own habits, where neither a name nor the law says something else.
const HABITS: Defaults = &[
    (&[Profile::Rfc, Profile::Linux], "rack"),
    (&[Profile::Rfc, Profile::Linux], "iw10"),
    (&[Profile::Rfc], "synloss(rfc5681)"),
    (&[Profile::Rfc, Profile::Ns2], "standard"),
    (&[Profile::Rfc], "rfc5681"),
    (&[Profile::Linux], "synloss(rfc6928)"),
    (&[Profile::Linux], "abc(unlimited)"),
    (&[Profile::Linux], "linuxidle"),
    (&[Profile::Ns2], "sack"),
    // windowInit_ of ns-2.35.
    (&[Profile::Ns2], "iw2"),
    (&[Profile::Ns2], "synloss(ns2)"),
    // slow_start_restart_ of ns-2.35.
    (&[Profile::Ns2], "rfc5681(timer,rw=1)"),
];

/// The word for the parts that senders have today, whatever the law: those that a law refuses are left out.
pub const MODERN: &str = "modern";

/// One line of help on [`MODERN`].
pub const MODERN_HELP: &str = "what hosts have today, whatever the law and the profile: `rack` and `iw10`, where the law takes them";

/// The words that [`MODERN`] stands for.
const MODERN_PARTS: [&str; 2] = ["rack", "iw10"];

impl Parts {
    /// The most between two ACKs of a train whose length may end slow start; `None` if no train does.
    pub const fn train_gap(&self) -> Option<Duration> {
        match self.slow_start.train_gap() {
            None => self.growth.about().train_gap,
            gap => gap,
        }
    }

    /// The parts that `growth` has under `profile` when its name says no more.
    fn of(growth: GrowthChoice, profile: Profile) -> Self {
        // Scenarios have thousands of flows, and most of them one of a few laws.
        static KNOWN: LazyLock<Vec<(GrowthChoice, Profile, Parts)>> = LazyLock::new(|| {
            let laws = GrowthChoice::rows().iter().map(|row| row.choice);
            let each =
                |law| Profile::ALL.map(|(_, profile)| (law, profile, Parts::find(law, profile)));
            laws.flat_map(each).collect()
        });
        let known = KNOWN.iter().find(|(law, under, _)| *law == growth && *under == profile);
        known.map_or_else(|| Self::find(growth, profile), |(_, _, parts)| *parts)
    }

    fn find(growth: GrowthChoice, profile: Profile) -> Self {
        let growth = growth.under(profile);
        // Every profile's habits fill every place but that of a jump.
        let mut parts = Self {
            growth,
            recovery: RecoveryChoice::rows()[0].choice,
            window: WindowChoice::rows()[0].choice,
            syn_loss: SynLossChoice::rows()[0].choice,
            jump: JumpChoice::None,
            slow_start: SlowStartChoice::default(),
            idle: IdleChoice::rows()[0].choice,
        };
        for (profiles, word) in HABITS.iter().chain(growth.defaults()) {
            if profiles.contains(&profile) {
                parts.set(Part::parse(word).expect("the default is a word of the registry"));
            }
        }
        parts
    }

    const fn set(&mut self, part: Part) {
        match part {
            Part::Growth(growth) => self.growth = growth,
            Part::Recovery(recovery) => self.recovery = recovery,
            Part::Window(window) => self.window = window,
            Part::SynLoss(rule) => self.syn_loss = rule,
            Part::Jump(jump) => self.jump = jump,
            Part::SlowStart(law) => self.slow_start = law,
            Part::Idle(idle) => self.idle = idle,
        }
    }

    /// Why no jump past slow start goes with them, if none does.
    pub fn owns_jump(&self) -> Option<&'static str> {
        owns(self.growth, Slot::Jump)
    }

    /// The canonical name of this sender under `profile`.
    ///
    /// # Panics
    /// If a growth law lacks a word in the registry, which is a bug.
    pub fn name(self, profile: Profile) -> String {
        // Of the words for this growth law take the one that needs the fewest parts, and under `linux` of those the
        // one that Linux has.
        let same =
            |growth: &GrowthChoice| growth.under(profile).is_same_law(self.growth.under(profile));
        let rows = GrowthChoice::rows().iter();
        let named = rows.map(|row| (row.word, row.choice.with_numbers_of(self.growth)));
        // A visitor's law has no row.
        let listed = GrowthChoice::rows().iter().any(|row| row.choice.is_same_law(self.growth));
        let named = named.chain((!listed).then_some(("", self.growth)));
        let (_, growth, parts) = named
            .filter(|(_, growth)| same(growth))
            .map(|(word, growth)| (word, growth, parts_beyond(self, Self::of(growth, profile))))
            .min_by_key(|(word, growth, parts)| {
                let foreign = *word != growth.under(profile).about().linux;
                (parts.len(), foreign && profile == Profile::Linux)
            })
            .expect("the registry has a word for every growth law");
        let words = std::iter::once(Part::Growth(growth)).chain(parts).map(Part::spelled);
        words.collect::<Vec<_>>().join("+")
    }
}

/// The reason for which no part of `slot` goes with `growth`, if the law fills that slot itself.
fn owns(growth: GrowthChoice, slot: Slot) -> Option<&'static str> {
    growth.about().owns.iter().find(|(owned, _)| *owned == slot).map(|(_, reason)| *reason)
}

/// The reason for which `recovery` does not go with `growth`, if it does not.
fn refuses(growth: GrowthChoice, recovery: RecoveryChoice) -> Option<&'static str> {
    match growth.about().recoveries {
        Recoveries::LeavingTheWindow(reason) if !recovery.about().leaves_window => Some(reason),
        Recoveries::OrLeavingTheWindow(word, reason)
            if recovery.spelled() != word && !recovery.about().leaves_window =>
        {
            Some(reason)
        }
        _ => None,
    }
}

fn parts_beyond(parts: Parts, defaults: Parts) -> Vec<Part> {
    let mut beyond = Vec::new();
    if parts.recovery != defaults.recovery {
        beyond.push(Part::Recovery(parts.recovery));
    }
    if parts.window != defaults.window {
        beyond.push(Part::Window(parts.window));
    }
    if parts.syn_loss != defaults.syn_loss {
        beyond.push(Part::SynLoss(parts.syn_loss));
    }
    if parts.jump != defaults.jump {
        beyond.push(Part::Jump(parts.jump));
    }
    if parts.slow_start != defaults.slow_start {
        beyond.push(Part::SlowStart(parts.slow_start));
    }
    if parts.idle != defaults.idle {
        beyond.push(Part::Idle(parts.idle));
    }
    beyond
}

/// A name as it was written: a growth law and the parts that were spelled out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    growth: GrowthChoice,
    /// True if today's parts fill the places that `parts` leaves open.
    modern: bool,
    parts: Vec<Part>,
}

/// Why a name is not a variant's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VariantError {
    /// Nothing was written.
    #[error("a variant's name is empty; expected a growth law such as `newreno`")]
    Empty,
    /// A word that is not in the registry.
    #[error("unknown part `{word}` in `{name}`; known: {known}")]
    UnknownPart {
        /// The word.
        word: String,
        /// The whole name.
        name: String,
        /// The words that could stand there.
        known: String,
    },
    /// A known word with an argument it does not take.
    #[error("`{word}` in `{name}` does not take `{argument}`; expected {expected}")]
    Argument {
        /// The word.
        word: String,
        /// The argument written.
        argument: String,
        /// The whole name.
        name: String,
        /// The words that it takes.
        expected: String,
    },
    /// Something other than a growth law in front.
    #[error("`{name}` does not begin with a growth law; known: {known}")]
    GrowthFirst {
        /// The whole name.
        name: String,
        /// The growth laws.
        known: String,
    },
    /// Two words for one slot.
    #[error("`{name}` has two parts for the {slot}: `{first}` and `{second}`")]
    Twice {
        /// The whole name.
        name: String,
        /// The slot.
        slot: Slot,
        /// The first word for it.
        first: String,
        /// The second.
        second: String,
    },
    /// Two choices that do not go together.
    #[error("`{growth}` does not go with `{part}`: {reason}")]
    Refused {
        /// The growth law.
        growth: String,
        /// The other part.
        part: String,
        /// Why.
        reason: &'static str,
    },
}

fn words(slot: impl Fn(Slot) -> bool) -> String {
    let mut words: Vec<&str> = Vec::new();
    for entry in REGISTRY.iter().filter(|e| slot(e.choice.slot())) {
        if !words.contains(&entry.word) {
            words.push(entry.word);
        }
    }
    words.extend(FORMS.iter().filter(|form| slot(form.slot)).map(|form| form.text));
    if slot(Slot::Recovery) {
        words.push(MODERN);
    }
    words.join(", ")
}

/// The error of a part such as `iw0`: its form is known, and its number is not one that it takes.
fn out_of_range(text: &str, name: &str) -> Option<VariantError> {
    FORMS.iter().find_map(|form| {
        let word = form.text.strip_suffix("<N>")?;
        let number = text.strip_prefix(word).filter(|number| !number.is_empty())?;
        number.bytes().all(|b| b.is_ascii_digit()).then(|| VariantError::Argument {
            word: word.to_owned(),
            argument: number.to_owned(),
            name: name.to_owned(),
            expected: format!("`{}`: {}", form.text, form.help),
        })
    })
}

fn parse_part(text: &str, name: &str) -> Result<Part, VariantError> {
    if let Some(part) = Part::parse(text) {
        return Ok(part);
    }
    if let Some(error) = out_of_range(text, name) {
        return Err(error);
    }
    let (word, argument) = split(text);
    let forms: Vec<String> = REGISTRY
        .iter()
        .filter(|entry| entry.word == word)
        .map(|e| e.argument.map_or_else(|| "no argument".to_owned(), |a| format!("`{a}`")))
        .collect();
    match Part::expected(word) {
        None if forms.is_empty() => Err(VariantError::UnknownPart {
            word: word.to_owned(),
            name: name.to_owned(),
            known: words(|_| true),
        }),
        expected => Err(VariantError::Argument {
            word: word.to_owned(),
            argument: argument.unwrap_or_default().to_owned(),
            name: name.to_owned(),
            expected: expected.map_or_else(|| forms.join(" or "), str::to_owned),
        }),
    }
}

ackclock_units::written_as_text! {
    Variant: "Variant", "A sender: a growth law, then +part for each choice that differs from its default.", "newreno+iw10";
}

impl FromStr for Variant {
    type Err = VariantError;

    fn from_str(name: &str) -> Result<Self, VariantError> {
        if name.is_empty() {
            return Err(VariantError::Empty);
        }
        let mut texts = name.split('+');
        let first = texts.next().unwrap_or_default();
        let known = || words(|slot| slot == Slot::Growth);
        let growth_first = || VariantError::GrowthFirst { name: name.to_owned(), known: known() };
        if first == MODERN {
            return Err(growth_first());
        }
        let Part::Growth(growth) = parse_part(first, name)? else {
            return Err(growth_first());
        };
        let mut parts: Vec<Part> = Vec::new();
        let mut modern = false;
        for text in texts {
            if text == MODERN {
                modern = true;
                continue;
            }
            let part = parse_part(text, name)?;
            let earlier = std::iter::once(&Part::Growth(growth))
                .chain(&parts)
                .find(|p| p.slot() == part.slot())
                .copied();
            if let Some(earlier) = earlier {
                return Err(VariantError::Twice {
                    name: name.to_owned(),
                    slot: part.slot(),
                    first: earlier.spelled(),
                    second: part.spelled(),
                });
            }
            parts.push(part);
        }
        parts.sort_by_key(|p| p.slot());
        Ok(Self { growth, modern, parts })
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.growth.spelled())?;
        if self.modern {
            write!(f, "+{MODERN}")?;
        }
        for part in &self.parts {
            write!(f, "+{}", part.spelled())?;
        }
        Ok(())
    }
}

impl Variant {
    /// True if the name itself says what fills `slot`, by a word for it or by [`MODERN`].
    pub fn spells(&self, slot: Slot) -> bool {
        let modern = self.modern && matches!(slot, Slot::Recovery | Slot::Window);
        modern || self.parts.iter().any(|part| part.slot() == slot)
    }

    /// The complete choices: what was spelled out, the rest from `profile`.
    ///
    /// # Errors
    /// Two choices that do not go together.
    pub fn resolve(&self, profile: Profile) -> Result<Parts, VariantError> {
        let mut resolved = Parts::of(self.growth, profile);
        if self.modern {
            for part in MODERN_PARTS.iter().filter_map(|word| Part::parse(word)) {
                let refused = match part {
                    Part::Recovery(recovery) => refuses(self.growth, recovery),
                    other => owns(self.growth, other.slot()),
                };
                if refused.is_none() {
                    resolved.set(part);
                }
            }
        }
        for part in &self.parts {
            if let Some(reason) = owns(self.growth, part.slot()) {
                return Err(VariantError::Refused {
                    growth: self.growth.spelled(),
                    part: part.spelled(),
                    reason,
                });
            }
            resolved.set(*part);
        }
        if let Some(reason) = refuses(resolved.growth, resolved.recovery) {
            return Err(VariantError::Refused {
                growth: resolved.growth.spelled(),
                part: resolved.recovery.spelled(),
                reason,
            });
        }
        Ok(resolved)
    }
}

/// Registers a law under `name` for this process. Names of variants may begin with it from then on, as in `mine+rack`.
///
/// A name that was registered before means the new law from then on; what has been read keeps the old one.
///
/// # Errors
/// The name is not lower-case letters and digits, or a word for a part of the house's.
pub fn register_law(
    name: &str,
    make: impl Fn() -> Box<dyn Growth> + Send + Sync + 'static,
) -> Result<(), VisitorError> {
    if is_word(name) {
        return Err(VisitorError::Taken(name.to_owned()));
    }
    growth::register(name, make)
}

/// True if `text` is a word for a part of the house's, with an argument or without.
fn is_word(text: &str) -> bool {
    let is_form = |form: &Form| form.text.split(['(', '<']).next() == Some(text);
    let is_number = || text.strip_prefix("iw").is_some_and(|n| n.parse::<u32>().is_ok());
    text == MODERN
        || REGISTRY.iter().any(|entry| entry.word == text)
        || FORMS.iter().any(is_form)
        || is_number()
}

/// The file-name form of a variant's name: `newreno+iw3` gives `newreno_iw3`, `tahoe(bytes)` gives
/// `tahoe-bytes`.
pub fn slug(name: &str) -> String {
    name.replace('+', "_").replace(['(', ','], "-").replace(')', "")
}

#[cfg(test)]
mod tests;
