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

use crate::Profile;
use crate::growth::{CcpSettings, CubicForm, GrowthChoice};
use crate::idle::{CwvRto, IdleChoice, IdleClock};
use crate::recovery::RecoveryChoice;
use crate::start::{
    LARGEST_INITIAL_WINDOW, SlowStartChoice, SynLossChoice, WindowChoice, whole_number,
};
use ackclock_units::Duration;

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
            Self::SlowStart(_) => Slot::SlowStart,
            Self::Idle(_) => Slot::Idle,
        }
    }
}

/// A row of the registry: a word, its arguments, what it means, and a line of help.
pub struct Entry {
    /// The word, `[a-z0-9]+`, unique over all slots.
    pub word: &'static str,
    /// The argument in parentheses, if this row is the form that has one.
    pub argument: Option<&'static str>,
    /// The choice.
    pub part: Part,
    /// One line of help.
    pub help: &'static str,
}

const fn entry(word: &'static str, part: Part, help: &'static str) -> Entry {
    Entry { word, argument: None, part, help }
}

/// Every word a name may contain: a new idea adds one file in a folder of the `tcp` crate and one
/// row here. Among words of one growth law the printer prefers the first.
pub const REGISTRY: &[Entry] = &[
    entry(
        "tahoe",
        Part::Growth(GrowthChoice::Tahoe),
        "1/floor(W) segments per ACK in congestion avoidance; window of one segment after a loss",
    ),
    Entry {
        word: "tahoe",
        argument: Some("bytes"),
        part: Part::Growth(GrowthChoice::TahoeBytes),
        help: "Tahoe, growing by one segment per window of bytes acknowledged (RFC 5681 §3.1)",
    },
    entry(
        "newreno",
        Part::Growth(GrowthChoice::Reno { word: RenoWord::NewReno }),
        "RFC 5681's law with RFC 6582's recovery",
    ),
    entry(
        "reno",
        Part::Growth(GrowthChoice::Reno { word: RenoWord::Reno }),
        "RFC 5681: one segment per window, half after a loss",
    ),
    entry(
        "cubic",
        Part::Growth(GrowthChoice::Cubic { form: None }),
        "a cubic curve of time around the last loss, at least Reno's window; the profile's form",
    ),
    Entry {
        word: "cubic",
        argument: Some("rfc9438"),
        part: Part::Growth(GrowthChoice::Cubic { form: Some(CubicForm::Rfc9438) }),
        help: "CUBIC as RFC 9438 has it, which is the form of `rfc` and `ns2`",
    },
    Entry {
        word: "cubic",
        argument: Some("linux"),
        part: Part::Growth(GrowthChoice::Cubic { form: Some(CubicForm::Linux) }),
        help: "CUBIC as Linux has it, in whole segments and milliseconds",
    },
    entry(
        "highspeed",
        Part::Growth(GrowthChoice::HighSpeed),
        "Reno below 38 segments, bolder above (RFC 3649)",
    ),
    entry(
        "vegas",
        Part::Growth(GrowthChoice::Vegas),
        "two to four segments waiting at the bottleneck (Brakmo and Peterson 1995)",
    ),
    entry(
        "compound",
        Part::Growth(GrowthChoice::Compound),
        "Reno's window and one that grows while there is no queue (draft-sridharan-tcpm-ctcp-02)",
    ),
    Entry {
        word: "ccp",
        argument: Some("1"),
        part: Part::Growth(GrowthChoice::Ccp(CcpSettings::CCP)),
        help: "the path's storage less its backlog (Watanabe 2013, eq. 5): `Kp`, then `literal`, `buffer`",
    },
    Entry {
        word: "ccpd",
        argument: Some("1,2000"),
        part: Part::Growth(GrowthChoice::Ccp(CcpSettings::CCPD)),
        help: "the same with a derivative (eq. 6): `Kp,Kd`, Kd in microseconds, then `literal`, `buffer`",
    },
    entry(
        "playout",
        Part::Growth(GrowthChoice::Playout),
        "made for video: paced, four segments waiting, losses without a queue cost nothing",
    ),
    entry(
        "dctcp",
        Part::Growth(GrowthChoice::Dctcp),
        "reduced by the share of its data that met congestion marks (RFC 8257); asks for ECN",
    ),
    entry(
        "bbr",
        Part::Growth(GrowthChoice::Bbr),
        "paced at the path's bandwidth, within what it holds without much loss (draft-ietf-ccwg-bbr-06)",
    ),
    entry(
        "bbr1",
        Part::Growth(GrowthChoice::Bbr1),
        "paced at the path's bandwidth, window of two bandwidth-delay products (BBR v1, as Linux has it)",
    ),
    entry(
        "gobackn",
        Part::Recovery(RecoveryChoice::GoBackN),
        "resend everything from the lost segment",
    ),
    entry(
        "fastrecovery",
        Part::Recovery(RecoveryChoice::FastRecovery),
        "fast retransmit and fast recovery (RFC 5681 §3.2)",
    ),
    entry(
        "partialack",
        Part::Recovery(RecoveryChoice::PartialAck),
        "fast recovery that stays until all is repaired (RFC 6582)",
    ),
    entry(
        "rack",
        Part::Recovery(RecoveryChoice::Rack),
        "losses by time, tail loss probes (RFC 8985), proportional rate reduction",
    ),
    entry("sack", Part::Recovery(RecoveryChoice::Sack), "selective acknowledgments (RFC 6675)"),
    entry(
        "prr",
        Part::Recovery(RecoveryChoice::Prr),
        "SACK with proportional rate reduction (RFC 9937)",
    ),
    entry(
        "rfc3390",
        Part::Window(WindowChoice::Rfc3390),
        "min(4 MSS, max(2 MSS, 4380 B)) (RFC 3390)",
    ),
    Entry {
        word: "synloss",
        argument: Some("rfc5681"),
        part: Part::SynLoss(SynLossChoice::Rfc5681),
        help: "a window of one segment after a lost SYN or SYN-ACK (RFC 5681 §3.1)",
    },
    Entry {
        word: "synloss",
        argument: Some("rfc6928"),
        part: Part::SynLoss(SynLossChoice::Rfc6928),
        help: "the same, but only after two, and not after a spurious timeout (RFC 6928 §2, Linux)",
    },
    Entry {
        word: "synloss",
        argument: Some("ns2"),
        part: Part::SynLoss(SynLossChoice::Ns2),
        help: "the whole window, and a threshold of two segments (ns-2's FullTcp)",
    },
    entry(
        "standard",
        Part::SlowStart(SlowStartChoice::Standard),
        "one segment per ACK (RFC 5681 §3.1)",
    ),
    entry(
        "abc",
        Part::SlowStart(SlowStartChoice::Abc),
        "the bytes of an ACK, at most two segments (RFC 3465)",
    ),
    Entry {
        word: "abc",
        argument: Some("unlimited"),
        part: Part::SlowStart(SlowStartChoice::AbcUnlimited),
        help: "all that an ACK delivers, up to the threshold (Linux)",
    },
    entry(
        "hystartpp",
        Part::SlowStart(SlowStartChoice::HyStartPlusPlus),
        "slow start that slows down, then ends, when the delay grows (HyStart++, RFC 9406)",
    ),
    entry(
        "hystart",
        Part::SlowStart(SlowStartChoice::HyStart),
        "slow start that ends when the delay or the train of ACKs grows (Linux)",
    ),
    entry(
        "limited",
        Part::SlowStart(SlowStartChoice::Limited),
        "at most 50 segments per round trip beyond 100 segments (RFC 3742)",
    ),
    entry(
        "rfc5681",
        Part::Idle(IdleChoice::RFC5681),
        "restart window after an RTO without sending (RFC 5681 §4.1)",
    ),
    Entry {
        word: "rfc5681",
        argument: Some("timer"),
        part: Part::Idle(IdleChoice::Rfc5681 { clock: IdleClock::Timer, restart_window: None }),
        help: "the same, with the RTO counted from the ACK of everything",
    },
    Entry {
        word: "rfc5681",
        argument: Some("rw=1"),
        part: Part::Idle(IdleChoice::Rfc5681 {
            clock: IdleClock::LastSend,
            restart_window: Some(1),
        }),
        help: "a restart window of so many segments",
    },
    Entry {
        word: "rfc5681",
        argument: Some("timer,rw=1"),
        part: Part::Idle(IdleChoice::NS2),
        help: "both, as ns-2 has it",
    },
    entry(
        "cwv",
        Part::Idle(IdleChoice::Cwv { rto: CwvRto::Clamped }),
        "only a full window grows; silence halves it once an RTO, down to a segment (RFC 2861)",
    ),
    Entry {
        word: "cwv",
        argument: Some("rto=unclamped"),
        part: Part::Idle(IdleChoice::Cwv { rto: CwvRto::Unclamped }),
        help: "the same, with an RTO that has no minimum",
    },
    Entry {
        word: "cwv",
        argument: Some("rto=500ms"),
        part: Part::Idle(IdleChoice::Cwv { rto: CwvRto::Fixed(Duration::from_millis(500)) }),
        help: "the same, counting a fixed time, of any length",
    },
    entry(
        "newcwv",
        Part::Idle(IdleChoice::NewCwv),
        "the window is kept for 5 min; a loss is answered from what was used of it (RFC 7661)",
    ),
    entry(
        "linuxidle",
        Part::Idle(IdleChoice::Linux { restart: true }),
        "only a full window grows; silence halves it once an RTO (Linux, after RFC 2861)",
    ),
    Entry {
        word: "linuxidle",
        argument: Some("norestart"),
        part: Part::Idle(IdleChoice::Linux { restart: false }),
        help: "only a full window grows; silence costs nothing (tcp_slow_start_after_idle=0)",
    },
    entry("noidle", Part::Idle(IdleChoice::NoIdle), "the window keeps its worth"),
];

/// A word with numbers in it, which the registry cannot list one by one.
pub struct Form {
    /// How it is written, with capitals or `<N>` for the numbers.
    pub text: &'static str,
    /// The slot that it fills.
    pub slot: Slot,
    /// One line of help.
    pub help: &'static str,
}

/// The words with numbers in them.
pub const FORMS: &[Form] = &[
    Form { text: "iw<N>", slot: Slot::Window, help: "N segments, 1 to 1000" },
    Form {
        text: "tsl(IW,SSTHRESH)",
        slot: Slot::SynLoss,
        help: "after a lost SYN or SYN-ACK a window of IW and a threshold of SSTHRESH segments (TSL)",
    },
    Form {
        text: "tsl(half,IW,SSTHRESH)",
        slot: Slot::SynLoss,
        help: "both halved for each lost SYN or SYN-ACK, down to so many segments (TSL)",
    },
];

/// Which of the two words for RFC 5681's law was written: they differ in their default recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenoWord {
    /// `reno`: fast recovery.
    Reno,
    /// `newreno`: partial-ACK recovery.
    NewReno,
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
        (GrowthChoice::Reno { word: RenoWord::Reno }, _) => RecoveryChoice::FastRecovery,
        (GrowthChoice::Reno { word: RenoWord::NewReno }, _) => RecoveryChoice::PartialAck,
        (_, Profile::Rfc) => RecoveryChoice::Rack,
        (_, Profile::Ns2) => RecoveryChoice::Sack,
    };
    let window = match profile {
        Profile::Rfc => match growth {
            GrowthChoice::Tahoe | GrowthChoice::TahoeBytes | GrowthChoice::Reno { .. } => {
                WindowChoice::Rfc3390
            }
            GrowthChoice::Cubic { .. }
            | GrowthChoice::HighSpeed
            | GrowthChoice::Vegas
            | GrowthChoice::Compound
            | GrowthChoice::Ccp(_)
            | GrowthChoice::Playout
            | GrowthChoice::Dctcp
            | GrowthChoice::Bbr
            | GrowthChoice::Bbr1 => WindowChoice::Segments(10),
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
        (GrowthChoice::Cubic { form: Some(CubicForm::Linux) }, _) => SlowStartChoice::HyStart,
        (GrowthChoice::Cubic { .. }, Profile::Rfc | Profile::Linux) => {
            SlowStartChoice::HyStartPlusPlus
        }
        // Its own; or its own end of it.
        (GrowthChoice::Vegas | GrowthChoice::Playout, _) | (_, Profile::Rfc | Profile::Ns2) => {
            SlowStartChoice::Standard
        }
        (_, Profile::Linux) => SlowStartChoice::AbcUnlimited,
    };
    let idle = match (growth, profile) {
        (GrowthChoice::Bbr | GrowthChoice::Bbr1 | GrowthChoice::Playout, _) => IdleChoice::NoIdle,
        (GrowthChoice::Cubic { form: Some(CubicForm::Linux) }, _) => {
            IdleChoice::Linux { restart: true }
        }
        // slow_start_restart_ of ns-2.35.
        (_, Profile::Ns2) => IdleChoice::NS2,
        (GrowthChoice::Tahoe | GrowthChoice::TahoeBytes, _) | (_, Profile::Rfc) => {
            IdleChoice::RFC5681
        }
        (_, Profile::Linux) => IdleChoice::Linux { restart: true },
    };
    Parts { growth, recovery, window, syn_loss, slow_start, idle }
}

/// Whether `growth` has a way of its own to do what the parts of `slot` do, so that none of them goes
/// with it; and why.
const fn owns(growth: GrowthChoice, slot: Slot) -> Option<&'static str> {
    match (growth, slot) {
        (GrowthChoice::Vegas, Slot::SlowStart) => {
            Some("Vegas has a slow start of its own, which compares rates in every other round")
        }
        (GrowthChoice::Bbr | GrowthChoice::Bbr1, Slot::SlowStart) => {
            Some("BBR has a startup of its own, which ends when the bandwidth stops growing")
        }
        (GrowthChoice::Bbr | GrowthChoice::Bbr1, Slot::Idle) => {
            Some("BBR keeps its window after silence and sends at the rate that it knows")
        }
        _ => None,
    }
}

impl Parts {
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
                let newreno = *growth == GrowthChoice::Reno { word: RenoWord::NewReno };
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
            expected: IdleChoice::expected(word).map_or(forms.join(" or "), str::to_owned),
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
