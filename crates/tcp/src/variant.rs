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

mod registry;

use std::fmt;
use std::str::FromStr;

use crate::Profile;
use crate::growth::{GrowthChoice, LawForm, RenoWord};
use crate::idle::IdleChoice;
use crate::recovery::RecoveryChoice;
use crate::start::{
    JumpChoice, LARGEST_INITIAL_WINDOW, SlowStartChoice, SynLossChoice, WindowChoice, whole_number,
};
pub use registry::{Entry, FORMS, Form, REGISTRY};

/// The places that a part's word can fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slot {
    /// How the window moves.
    Growth,
    /// Which segments are lost, and what is sent while repairing.
    Recovery,
    /// The first window after the handshake.
    Window,
    /// What a lost SYN or SYN-ACK does to it.
    SynLoss,
    /// A jump past slow start.
    Jump,
    /// The slow-start law.
    SlowStart,
    /// What the window is worth after silence.
    Idle,
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Growth => "growth",
            Self::Recovery => "recovery",
            Self::Window => "first window",
            Self::SynLoss => "answer to a lost SYN",
            Self::Jump => "jump past slow start",
            Self::SlowStart => "slow-start law",
            Self::Idle => "idle rule",
        })
    }
}

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
}

/// A sender's complete choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// How the window moves.
    pub growth: GrowthChoice,
    /// How losses are repaired.
    pub recovery: RecoveryChoice,
    /// The first window.
    pub window: WindowChoice,
    /// What a lost SYN or SYN-ACK does to it.
    pub syn_loss: SynLossChoice,
    /// The jump past slow start.
    pub jump: JumpChoice,
    /// The slow-start law.
    pub slow_start: SlowStartChoice,
    /// The idle rule.
    pub idle: IdleChoice,
}

/// The parts that `growth` has under `profile` when its name says no more.
const fn defaults(growth: GrowthChoice, profile: Profile) -> Parts {
    let growth = growth.under(profile);
    let recovery = match (growth, profile) {
        (GrowthChoice::Tahoe | GrowthChoice::TahoeBytes, _) => RecoveryChoice::GoBackN,
        (_, Profile::Linux) => RecoveryChoice::Rack,
        // As every law of Linux's has it.
        (GrowthChoice::Reno { form: Some(LawForm::Linux), .. }, Profile::Rfc) => {
            RecoveryChoice::Rack
        }
        (GrowthChoice::Reno { form: Some(LawForm::Linux), .. }, Profile::Ns2) => {
            RecoveryChoice::Sack
        }
        (GrowthChoice::Reno { word: RenoWord::Reno, .. }, _) => RecoveryChoice::FastRecovery,
        (GrowthChoice::Reno { word: RenoWord::NewReno, .. }, _) => RecoveryChoice::PartialAck,
        (_, Profile::Rfc) => RecoveryChoice::Rack,
        (_, Profile::Ns2) => RecoveryChoice::Sack,
    };
    let window = match profile {
        Profile::Rfc => match growth {
            GrowthChoice::Tahoe
            | GrowthChoice::TahoeBytes
            | GrowthChoice::Reno { form: Some(LawForm::Published) | None, .. } => {
                WindowChoice::Rfc3390
            }
            GrowthChoice::Reno { form: Some(LawForm::Linux), .. }
            | GrowthChoice::Cubic { .. }
            | GrowthChoice::HighSpeed { .. }
            | GrowthChoice::Vegas { .. }
            | GrowthChoice::Compound
            | GrowthChoice::Ccp(_)
            | GrowthChoice::Playout
            | GrowthChoice::Dctcp { .. }
            | GrowthChoice::Bbr
            | GrowthChoice::Bbr1
            | GrowthChoice::Rcp
            | GrowthChoice::Xcp => WindowChoice::Segments(10),
        },
        Profile::Linux => WindowChoice::Segments(10),
        // windowInit_ of ns-2.35.
        Profile::Ns2 => WindowChoice::Segments(2),
    };
    let syn_loss = match profile {
        Profile::Rfc => SynLossChoice::Rfc5681,
        Profile::Linux => SynLossChoice::Rfc6928,
        Profile::Ns2 => SynLossChoice::Ns2,
    };
    let slow_start = match (growth, profile) {
        // RFC 9438 §4.10 recommends HyStart++; Linux has its predecessor, ns-2.35's CUBIC neither.
        (GrowthChoice::Cubic { form: Some(LawForm::Linux) }, _) => SlowStartChoice::HyStart,
        (GrowthChoice::Cubic { .. }, Profile::Rfc | Profile::Linux) => {
            SlowStartChoice::HyStartPlusPlus
        }
        // Its own; or its own end of it.
        (
            GrowthChoice::Vegas { .. }
            | GrowthChoice::Playout
            | GrowthChoice::Rcp
            | GrowthChoice::Xcp,
            _,
        ) => SlowStartChoice::Standard,
        _ if growth.is_linux() => SlowStartChoice::AbcUnlimited,
        (_, Profile::Rfc | Profile::Ns2) => SlowStartChoice::Standard,
        (_, Profile::Linux) => SlowStartChoice::AbcUnlimited,
    };
    let idle = match (growth, profile) {
        (
            GrowthChoice::Bbr
            | GrowthChoice::Bbr1
            | GrowthChoice::Playout
            | GrowthChoice::Rcp
            | GrowthChoice::Xcp,
            _,
        ) => IdleChoice::NoIdle,
        _ if growth.is_linux() => IdleChoice::Linux { restart: true },
        // slow_start_restart_ of ns-2.35.
        (_, Profile::Ns2) => IdleChoice::NS2,
        (GrowthChoice::Tahoe | GrowthChoice::TahoeBytes, _) | (_, Profile::Rfc) => {
            IdleChoice::RFC5681
        }
        (_, Profile::Linux) => IdleChoice::Linux { restart: true },
    };
    Parts { growth, recovery, window, syn_loss, jump: JumpChoice::None, slow_start, idle }
}

/// Whether `growth` has a way of its own to do what the parts of `slot` do, so that none of them goes
/// with it; and why.
const fn owns(growth: GrowthChoice, slot: Slot) -> Option<&'static str> {
    match (growth, slot) {
        (GrowthChoice::Vegas { .. }, Slot::SlowStart) => {
            Some("Vegas has a slow start of its own, which compares rates in every other round")
        }
        (GrowthChoice::Bbr | GrowthChoice::Bbr1, Slot::SlowStart) => {
            Some("BBR has a startup of its own, which ends when the bandwidth stops growing")
        }
        (GrowthChoice::Bbr | GrowthChoice::Bbr1, Slot::Jump) => {
            Some("BBR sends at the rate that it measures, and its window follows from that")
        }
        (GrowthChoice::Ccp(_), Slot::Jump) => {
            Some("CCP's window follows from what it measures of the path")
        }
        (GrowthChoice::Rcp | GrowthChoice::Xcp, Slot::SlowStart | Slot::Jump) => {
            Some("routers say how fast it begins")
        }
        (GrowthChoice::Rcp, Slot::Idle) => Some("RCP sends at the rate that routers say"),
        (GrowthChoice::Bbr | GrowthChoice::Bbr1, Slot::Idle) => {
            Some("BBR keeps its window after silence and sends at the rate that it knows")
        }
        _ => None,
    }
}

impl Parts {
    /// Why no jump past slow start goes with them, if none does.
    pub const fn owns_jump(&self) -> Option<&'static str> {
        owns(self.growth, Slot::Jump)
    }

    /// The canonical name of this sender under `profile`.
    ///
    /// # Panics
    /// If a growth law lacks a word in the registry, which is a bug.
    pub fn name(self, profile: Profile) -> String {
        // Of the words for this growth law take the one that needs the fewest parts.
        REGISTRY
            .iter()
            .filter_map(|e| match e.part {
                Part::Growth(growth) => Some(growth.with_numbers_of(self.growth)),
                _ => None,
            })
            .filter(|growth| growth.under(profile).same_law(self.growth.under(profile)))
            .map(|growth| (growth, parts_beyond(self, defaults(growth, profile))))
            .min_by_key(|(growth, parts)| {
                // Under `linux` the two words for Reno's law mean one sender, which Linux calls reno.
                let newreno = matches!(growth, GrowthChoice::Reno { word: RenoWord::NewReno, .. });
                (parts.len(), newreno && profile == Profile::Linux)
            })
            .map(|(growth, parts)| {
                std::iter::once(Part::Growth(growth))
                    .chain(parts)
                    .map(word_of)
                    .collect::<Vec<_>>()
                    .join("+")
            })
            .expect("the registry has a word for every growth law")
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

fn word_of(part: Part) -> String {
    if let Part::Window(WindowChoice::Segments(n)) = part {
        return format!("iw{n}");
    }
    if let Part::SynLoss(rule) = part
        && let Some(spelled) = rule.spelled()
    {
        return spelled;
    }
    if let Part::Jump(jump) = part
        && let Some(spelled) = jump.spelled()
    {
        return spelled;
    }
    if let Part::Idle(idle) = part
        && let Some(spelled) = idle.spelled()
    {
        return spelled;
    }
    if let Part::Growth(GrowthChoice::Ccp(settings)) = part {
        return format!("{}({settings})", settings.word());
    }
    let entry =
        REGISTRY.iter().find(|e| e.part == part).expect("the registry has a word for every part");
    match entry.argument {
        None => entry.word.to_owned(),
        Some(argument) => format!("{}({argument})", entry.word),
    }
}

/// A name as it was written: a growth law and the parts that were spelled out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    growth: GrowthChoice,
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
        /// What it takes.
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
    for entry in REGISTRY.iter().filter(|e| slot(e.part.slot())) {
        if !words.contains(&entry.word) {
            words.push(entry.word);
        }
    }
    words.extend(FORMS.iter().filter(|form| slot(form.slot)).map(|form| form.text));
    words.join(", ")
}

fn parse_tsl(argument: Option<&str>, name: &str) -> Result<Part, VariantError> {
    let given = argument.unwrap_or_default();
    SynLossChoice::tsl(given).map(Part::SynLoss).ok_or_else(|| VariantError::Argument {
        word: "tsl".to_owned(),
        argument: given.to_owned(),
        name: name.to_owned(),
        expected: SynLossChoice::EXPECTED.to_owned(),
    })
}

fn parse_part(text: &str, name: &str) -> Result<Part, VariantError> {
    let (word, argument) = match text.split_once('(') {
        Some((word, rest)) => match rest.strip_suffix(')') {
            Some(argument) => (word, Some(argument)),
            None => (text, None),
        },
        None => (text, None),
    };
    let candidates: Vec<&Entry> = REGISTRY.iter().filter(|e| e.word == word).collect();
    if let Some(entry) = candidates.iter().find(|e| e.argument == argument) {
        return Ok(entry.part);
    }
    if let Some(idle) = IdleChoice::parse(word, argument) {
        return Ok(Part::Idle(idle));
    }
    if let Some(jump) = JumpChoice::parse(word, argument) {
        return Ok(Part::Jump(jump));
    }
    let ccp = candidates.iter().find_map(|e| match e.part {
        Part::Growth(GrowthChoice::Ccp(settings)) => Some(settings),
        _ => None,
    });
    if let Some(form) = ccp {
        return match argument.and_then(|argument| form.read(argument)) {
            Some(settings) => Ok(Part::Growth(GrowthChoice::Ccp(settings))),
            None => Err(VariantError::Argument {
                word: word.to_owned(),
                argument: argument.unwrap_or_default().to_owned(),
                name: name.to_owned(),
                expected: form.expected().to_owned(),
            }),
        };
    }
    if !candidates.is_empty() {
        let forms: Vec<String> = candidates
            .iter()
            .map(|e| e.argument.map_or_else(|| "no argument".to_owned(), |a| format!("`{a}`")))
            .collect();
        return Err(VariantError::Argument {
            word: word.to_owned(),
            argument: argument.unwrap_or_default().to_owned(),
            name: name.to_owned(),
            expected: IdleChoice::expected(word)
                .or_else(|| JumpChoice::expected(word))
                .map_or(forms.join(" or "), str::to_owned),
        });
    }
    if word == "tsl" {
        return parse_tsl(argument, name);
    }
    if let (Some(digits), None) = (word.strip_prefix("iw"), argument)
        && let Some(n) = whole_number(digits, 1, LARGEST_INITIAL_WINDOW)
    {
        return Ok(Part::Window(WindowChoice::Segments(n)));
    }
    Err(VariantError::UnknownPart {
        word: word.to_owned(),
        name: name.to_owned(),
        known: words(|_| true),
    })
}

impl FromStr for Variant {
    type Err = VariantError;

    fn from_str(name: &str) -> Result<Self, VariantError> {
        if name.is_empty() {
            return Err(VariantError::Empty);
        }
        let mut texts = name.split('+');
        let first = texts.next().unwrap_or_default();
        let Part::Growth(growth) = parse_part(first, name)? else {
            return Err(VariantError::GrowthFirst {
                name: name.to_owned(),
                known: words(|slot| slot == Slot::Growth),
            });
        };
        let mut parts: Vec<Part> = Vec::new();
        for text in texts {
            let part = parse_part(text, name)?;
            let earlier = std::iter::once(&Part::Growth(growth))
                .chain(&parts)
                .find(|p| p.slot() == part.slot())
                .copied();
            if let Some(earlier) = earlier {
                return Err(VariantError::Twice {
                    name: name.to_owned(),
                    slot: part.slot(),
                    first: word_of(earlier),
                    second: word_of(part),
                });
            }
            parts.push(part);
        }
        parts.sort_by_key(|p| p.slot());
        Ok(Self { growth, parts })
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&word_of(Part::Growth(self.growth)))?;
        for part in &self.parts {
            write!(f, "+{}", word_of(*part))?;
        }
        Ok(())
    }
}

impl Variant {
    /// The complete choices: what was spelled out, the rest from `profile`.
    ///
    /// # Errors
    /// Two choices that do not go together.
    pub fn resolve(&self, profile: Profile) -> Result<Parts, VariantError> {
        let mut resolved = defaults(self.growth, profile);
        for part in &self.parts {
            if let Some(reason) = owns(self.growth, part.slot()) {
                return Err(VariantError::Refused {
                    growth: word_of(Part::Growth(self.growth)),
                    part: word_of(*part),
                    reason,
                });
            }
            match *part {
                Part::Growth(growth) => resolved.growth = growth,
                Part::Recovery(recovery) => resolved.recovery = recovery,
                Part::Window(window) => resolved.window = window,
                Part::SynLoss(rule) => resolved.syn_loss = rule,
                Part::Jump(jump) => resolved.jump = jump,
                Part::SlowStart(law) => resolved.slow_start = law,
                Part::Idle(idle) => resolved.idle = idle,
            }
        }
        let models_path = match resolved.growth {
            GrowthChoice::Bbr | GrowthChoice::Bbr1 => Some(
                "BBR must know which segments arrived, and says itself how much is sent while \
                 losses are repaired",
            ),
            GrowthChoice::Ccp(_) => Some(
                "CCP must know which segments arrived, and its window goes on moving while losses \
                 are repaired",
            ),
            GrowthChoice::Rcp => Some(
                "RCP's rate is the routers', and does not fall while losses are repaired, for which \
                 it must know which segments arrived",
            ),
            GrowthChoice::Playout => Some(
                "the law must know how much was lost, and its window goes on moving while losses \
                 are repaired",
            ),
            _ => None,
        };
        if let Some(reason) = models_path
            && !matches!(resolved.recovery, RecoveryChoice::Sack | RecoveryChoice::Rack)
        {
            return Err(VariantError::Refused {
                growth: word_of(Part::Growth(resolved.growth)),
                part: word_of(Part::Recovery(resolved.recovery)),
                reason,
            });
        }
        let tahoe = matches!(resolved.growth, GrowthChoice::Tahoe | GrowthChoice::TahoeBytes);
        if tahoe && resolved.recovery != RecoveryChoice::GoBackN {
            return Err(VariantError::Refused {
                growth: word_of(Part::Growth(resolved.growth)),
                part: word_of(Part::Recovery(resolved.recovery)),
                reason: "Tahoe's window falls to one segment at a loss, so that it has no recovery \
                         phase during which fast recovery could send",
            });
        }
        Ok(resolved)
    }
}

/// The file-name form of a variant's name: `newreno+iw3` gives `newreno_iw3`, `tahoe(bytes)` gives
/// `tahoe-bytes`.
pub fn slug(name: &str) -> String {
    name.replace('+', "_").replace(['(', ','], "-").replace(')', "")
}

#[cfg(test)]
mod tests;
