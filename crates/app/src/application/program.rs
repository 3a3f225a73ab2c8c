//! Programs of their own as the ends of a flow, in live runs alone.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::convert::Infallible;

use ackclock_units::random::Stream;
use ackclock_units::{Duration, check_name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::{Described, Load, Refusal, live_alone};

/// A side of a flow.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema, PartialOrd, Ord,
)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The host that the flow's data comes from.
    Sender,
    /// The host that it goes to.
    #[default]
    Receiver,
}

impl Side {
    /// Both, in the order of their [index](Self::index).
    pub const BOTH: [Self; 2] = [Self::Sender, Self::Receiver];

    /// 0 the sender's, 1 the receiver's.
    pub const fn index(self) -> usize {
        match self {
            Self::Sender => 0,
            Self::Receiver => 1,
        }
    }

    /// The word in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        }
    }
}

/// Programs of their own on the flow's hosts, in a live run alone: their TCP is the kernel's, and
/// every connection between the two hosts counts to the flow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct ProgramConfig {
    /// The command on the sender's host, word by word; no shell reads it. Words in braces stand for
    /// what they say: `{sender}` and `{receiver}`, the hosts' addresses; `{server}` and `{client}`, the
    /// same by who listens; `{port}`; `{seconds}`, whole seconds from the flow's start to the end of the
    /// run, less one for opening and closing; `{folder}`, where the programs may write; `{flow}`, the
    /// flow's name; `{congestion_control}`, the kernel's word for the variant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sender: Vec<String>,
    /// The command on the receiver's host, likewise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receiver: Vec<String>,
    /// The side of the server, which is started first; the run begins when it listens. The other
    /// is started at the flow's `start`.
    #[serde(default)]
    pub server: Side,
    /// The port that `{port}` stands for.
    #[serde(default = "port")]
    pub port: u16,
    /// Text files that are written into `{folder}` before anything starts, by name; words in braces
    /// stand for the same in them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

/// iperf3's own port; no other server matters in a namespace.
pub(super) const fn port() -> u16 {
    5201
}

/// The words that may stand in braces.
pub const PLACEHOLDERS: [&str; 9] = [
    "sender",
    "receiver",
    "server",
    "client",
    "port",
    "seconds",
    "folder",
    "flow",
    "congestion_control",
];

/// `text` with every word in braces replaced for which `value` has something; other braces stay, as
/// shells and configuration files have theirs.
pub fn fill(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        filled.push_str(before);
        let found = from.find('}').and_then(|close| Some((value(&from[1..close])?, close)));
        if let Some((text, close)) = found {
            filled.push_str(&text);
            rest = &from[close + 1..];
        } else {
            filled.push('{');
            rest = &from[1..];
        }
    }
    filled.push_str(rest);
    filled
}

impl ProgramConfig {
    /// The command of a side; empty if it has none.
    pub fn command(&self, side: Side) -> &[String] {
        match side {
            Side::Sender => &self.sender,
            Side::Receiver => &self.receiver,
        }
    }

    /// Checks the commands.
    ///
    /// # Errors
    /// A key that is wrong, and what was expected.
    pub fn check(&self) -> Result<(), (String, String)> {
        let server = self.server.as_str();
        if self.command(self.server).is_empty() {
            return Err((server.to_owned(), "missing, expected the server's command".to_owned()));
        }
        let commands = [("sender", &self.sender), ("receiver", &self.receiver)];
        for (key, command) in commands {
            if command.first().is_some_and(String::is_empty) {
                return Err((format!("{key}[0]"), "expected a program".to_owned()));
            }
            for (n, word) in command.iter().enumerate() {
                if word.contains('\0') {
                    return Err((format!("{key}[{n}]"), "a zero byte ends a word".to_owned()));
                }
                if let Some(near) = misspelt(word) {
                    let message = format!("no such word in braces (did you mean `{{{near}}}`?)");
                    return Err((format!("{key}[{n}]"), message));
                }
            }
        }
        for name in self.files.keys() {
            let plain = check_name(name).is_ok() && !name.starts_with('.') && !name.contains('/');
            if !plain {
                let message = "expected the plain name of a file".to_owned();
                return Err((format!("files.{name}"), message));
            }
        }
        Ok(())
    }
}

/// The placeholder that a word in braces in `text` is nearly but not quite.
fn misspelt(text: &str) -> Option<&'static str> {
    let inner = text.split('{').skip(1).filter_map(|part| part.split_once('}'));
    inner.map(|(word, _)| word).find_map(|word| {
        let known = PLACEHOLDERS.contains(&word);
        PLACEHOLDERS.into_iter().find(|near| !known && distance(word, near) <= 2)
    })
}

/// The number of letters that have to be put in, taken out or changed to make one word the other (Levenshtein).
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (n, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = n + 1;
        for (m, same) in other.iter().enumerate() {
            let changed = diagonal + usize::from(*same != letter);
            diagonal = row[m + 1];
            row[m + 1] = changed.min(diagonal + 1).min(row[m] + 1);
        }
    }
    row[other.len()]
}

/// Programs on the flow's hosts.
#[derive(Clone, Copy, Debug)]
pub struct Program;

impl Described for Program {
    type Settings = ProgramConfig;
    type Sender = Infallible;
    type Receiver = Infallible;

    const KIND: &'static str = "program";

    const ALSO: &'static [&'static str] = &["command", "exec", "process"];
    const LIVE_ALONE: bool = true;

    fn is_sized(_: &ProgramConfig) -> bool {
        false
    }

    fn receiver_opens(program: &ProgramConfig) -> bool {
        program.server == Side::Sender
    }

    fn program(program: &ProgramConfig) -> Option<Cow<'_, ProgramConfig>> {
        Some(Cow::Borrowed(program))
    }

    fn to_be_allowed(program: &ProgramConfig) -> Option<Cow<'_, ProgramConfig>> {
        Some(Cow::Borrowed(program))
    }

    fn load(_: &ProgramConfig, _: f64) -> Load {
        Load::of(f64::INFINITY)
    }

    fn check(program: &ProgramConfig, _: Duration) -> Result<(), Refusal> {
        program.check()
    }

    fn apps(
        _: &ProgramConfig,
        _: &dyn Fn(&str) -> Stream,
    ) -> Result<(Self::Sender, Self::Receiver), Refusal> {
        Err(live_alone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_braces_are_replaced_and_other_braces_stay() {
        let value = |word: &str| match word {
            "port" => Some("80".to_owned()),
            "folder" => Some("/tmp/{port}".to_owned()),
            _ => None,
        };
        let text = "a { b } {port}:{folder} ${HOME} {print $1} {port";
        // A value that was put in is not filled in again.
        assert_eq!(fill(text, value), "a { b } 80:/tmp/{port} ${HOME} {print $1} {port");
        assert_eq!(fill("{{port}}", value), "{80}");
    }

    #[test]
    fn a_misspelt_word_is_told_and_others_are_not() {
        assert_eq!(misspelt("http://{receivers}/"), Some("receiver"));
        assert_eq!(misspelt("{second}"), Some("seconds"));
        assert_eq!(misspelt("{receiver} {print} ${HOME}"), None);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn a_server_has_a_command_and_files_have_plain_names() {
        let mut spec =
            ProgramConfig { sender: vec!["curl".to_owned()], ..ProgramConfig::default() };
        assert_eq!(spec.check().unwrap_err().0, "receiver");
        spec.server = Side::Sender;
        assert_eq!(spec.check(), Ok(()));
        spec.files.insert("../conf".to_owned(), String::new());
        assert_eq!(spec.check().unwrap_err().0, "files.../conf");
    }
}
