//! The syntax tree of a script.

use std::fmt;

use ackclock_packet::{AccurateEcn, Ecn, Flags};
use ackclock_units::{Duration, Instant};

use crate::error::Span;

/// A script: its options, and what happens in what order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The file's name, as the caller gave it.
    pub file: String,
    /// The lines `--name=value`.
    pub options: Vec<ScriptOption>,
    /// The events.
    pub events: Vec<Event>,
}

/// A line `--name=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptOption {
    /// The place of the event.
    pub span: Span,
    /// The name.
    pub name: String,
    /// The value; empty if there is none.
    pub value: String,
}

/// Something that happens, or is to be seen, at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The place of the event.
    pub span: Span,
    /// When.
    pub time: Time,
    /// For a call that blocks: when it returns, counted from where [`time`](Self::time) counts.
    pub until: Option<Duration>,
    /// The action.
    pub action: Action,
}

/// When an event takes place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Since the script began.
    At(Duration),
    /// Since the event before.
    After(Duration),
    /// Whenever.
    Any,
    /// Between two moments since the script began.
    Between(Duration, Duration),
    /// Between two moments since the event before.
    AfterBetween(Duration, Duration),
}

/// An action of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A packet that comes in, or is expected to go out.
    Packet(Packet),
    /// A system call.
    Call(Call),
    /// The text between backquotes. Never executed: [`crate::shell`] reads settings out of it.
    Shell(Block),
    /// The text between `%{` and `}%`. Never executed: [`crate::assertion`] reads it.
    Code(Block),
}

/// A captured text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The place of its first character.
    pub span: Span,
    /// The text.
    pub text: String,
}

/// Which way a packet goes, seen from the end point under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `<`: the script sends it.
    In,
    /// `>`: the end point is expected to send it.
    Out,
}

/// A TCP packet; `None` is what the script does not state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Which way it goes.
    pub direction: Direction,
    /// The ECN field.
    pub ecn: Option<EcnTag>,
    /// The control bits.
    pub flags: Flags,
    /// The first number.
    pub seq: u32,
    /// The payload.
    pub len: u32,
    /// The acknowledgment.
    pub ack: Option<u32>,
    /// The window field, as it stands in the header.
    pub window: Option<u16>,
    /// The options.
    pub options: OptionList,
}

/// A script's statement about the ECN field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnTag {
    /// `[noecn]`, `[ect0]`, `[ect1]`, `[ce]`.
    Is(Ecn),
    /// `[ect01]`: either of the two.
    Ect,
}

impl EcnTag {
    pub(crate) const WORDS: [(&'static str, Self); 5] = [
        ("noecn", Self::Is(Ecn::NotEct)),
        ("ect0", Self::Is(Ecn::Ect0)),
        ("ect1", Self::Is(Ecn::Ect1)),
        ("ce", Self::Is(Ecn::Ce)),
        ("ect01", Self::Ect),
    ];

    /// True if a packet with the field `ecn` is meant.
    pub fn admits(self, ecn: Ecn) -> bool {
        match self {
            Self::Is(expected) => ecn == expected,
            Self::Ect => matches!(ecn, Ecn::Ect0 | Ecn::Ect1),
        }
    }
}

impl fmt::Display for EcnTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = Self::WORDS.iter().find(|(_, tag)| tag == self).map_or("", |(word, _)| word);
        write!(f, "[{word}]")
    }
}

/// A script's statement about a packet's options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionList {
    /// Nothing.
    Unstated,
    /// `<...>`: whatever there is.
    Any,
    /// These and no others.
    These(Vec<TcpOption>),
}

/// A TCP option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TcpOption {
    /// `mss 1460`
    Mss(u16),
    /// `wscale 7`
    WindowScale(u8),
    /// `sackOK`
    SackPermitted,
    /// `sack 1:1001 2001:3001`
    Sack(Vec<(u32, u32)>),
    /// `TS val 100 ecr 0`
    Timestamps {
        /// The value.
        val: u32,
        /// The echo reply.
        ecr: u32,
    },
    /// `nop`
    Nop,
    /// `eol`
    Eol,
    /// `FO`, `FO 0123abcd`, and in the form of the experiment `FOEXP 0123abcd`
    FastOpen {
        /// The cookie.
        cookie: ShownCookie,
        /// `FOEXP`
        experimental: bool,
    },
    /// `ECN e1b 1 ceb 0 e0b 1`
    AccurateEcn(AccurateEcn),
}

/// A cookie of TCP Fast Open as a script has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShownCookie {
    /// These bytes, of any number; none asks for a cookie.
    Bytes(Vec<u8>),
    /// `TFO_COOKIE`: that which the stack's key gives for the script's address.
    Right,
}

impl TcpOption {
    pub(crate) const WORDS: [&'static str; 10] =
        ["mss", "wscale", "sackOK", "sack", "TS", "nop", "eol", "FO", "FOEXP", "ECN"];
}

impl fmt::Display for TcpOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mss(mss) => write!(f, "mss {mss}"),
            Self::WindowScale(shift) => write!(f, "wscale {shift}"),
            Self::SackPermitted => f.write_str("sackOK"),
            Self::Sack(blocks) => {
                f.write_str("sack")?;
                blocks.iter().try_for_each(|(left, right)| write!(f, " {left}:{right}"))
            }
            Self::Timestamps { val, ecr } => write!(f, "TS val {val} ecr {ecr}"),
            Self::AccurateEcn(option) => option.fmt(f),
            Self::Nop => f.write_str("nop"),
            Self::Eol => f.write_str("eol"),
            Self::FastOpen { cookie, experimental } => {
                f.write_str(if *experimental { "FOEXP" } else { "FO" })?;
                match cookie {
                    ShownCookie::Right => f.write_str(" TFO_COOKIE"),
                    ShownCookie::Bytes(bytes) => {
                        f.write_str(if bytes.is_empty() { "" } else { " " })?;
                        bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
                    }
                }
            }
        }
    }
}

/// In packetdrill's notation.
impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.direction {
            Direction::In => "< ",
            Direction::Out => "> ",
        })?;
        if let Some(ecn) = self.ecn {
            write!(f, "{ecn} ")?;
        }
        if self.flags == Flags::NONE {
            f.write_str("-")?;
        } else {
            write!(f, "{}", self.flags)?;
        }
        let end = self.seq.wrapping_add(self.len);
        write!(f, " {}:{end}({})", self.seq, self.len)?;
        if let Some(ack) = self.ack {
            write!(f, " ack {ack}")?;
        }
        if let Some(window) = self.window {
            write!(f, " win {window}")?;
        }
        match &self.options {
            OptionList::Unstated => Ok(()),
            OptionList::Any => f.write_str(" <...>"),
            OptionList::These(options) => {
                f.write_str(" <")?;
                for (n, option) in options.iter().enumerate() {
                    write!(f, "{}{option}", if n == 0 { "" } else { "," })?;
                }
                f.write_str(">")
            }
        }
    }
}

/// A system call, and what it is to return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The place in the script.
    pub span: Span,
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub args: Vec<Expr>,
    /// The result of the call, if that is stated.
    pub result: Option<Expr>,
    /// The error that it sets.
    pub errno: Option<String>,
    /// The remark in parentheses behind the result.
    pub note: Option<String>,
}

/// An argument or a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// The place in the script.
    pub span: Span,
    /// The kind of expression.
    pub kind: ExprKind,
}

/// The kind of an [`Expr`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// `...`: whatever is needed.
    Ellipsis,
    /// A number.
    Int(i64),
    /// A text in double quotes.
    Text(String),
    /// A symbol such as `SOCK_STREAM`.
    Name(String),
    /// `A|B`
    Or(Vec<Expr>),
    /// `[1, 2]`
    List(Vec<Expr>),
    /// `{name=value, ...}`
    Struct(Vec<Field>),
    /// `htons(80)`
    Apply(String, Vec<Expr>),
}

/// A member of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, if it is written.
    pub name: Option<Expr>,
    /// Its value.
    pub value: Expr,
}

/// Seconds since the script began.
pub(crate) fn stamp(at: Instant) -> String {
    let micros = at.as_nanos() / 1000;
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}
