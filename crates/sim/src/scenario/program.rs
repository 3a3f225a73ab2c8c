//! Programs of their own as the ends of a flow: what live runs have and a simulation does not.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ackclock_units::{check_name, is_printable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// Programs on the flow's hosts, whose TCP is the kernel's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgramSpec {
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
    /// Whose program is the server: it is started first, and the run begins when it listens. The other
    /// is started at the flow's `start`.
    #[serde(default)]
    pub server: Side,
    /// What `{port}` stands for.
    #[serde(default = "port")]
    pub port: u16,
    /// Text files that are written into `{folder}` before anything starts, by name; words in braces
    /// stand for the same in them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

/// iperf3 on the flow's hosts: its server at the receiver, its client at the sender.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Iperf3Spec {
    /// Further options of its client, such as `["-P", "4"]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

/// iperf3's own; that of nobody else who would matter in a namespace.
const fn port() -> u16 {
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

impl ProgramSpec {
    /// The command of a side; empty if it has none.
    pub fn command(&self, side: Side) -> &[String] {
        match side {
            Side::Sender => &self.sender,
            Side::Receiver => &self.receiver,
        }
    }

    /// What is wrong with it: a key, and what was expected.
    ///
    /// # Errors
    /// As said.
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

/// How many letters have to be put in, taken out or changed to make one word the other (Levenshtein).
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

/// Options of iperf3 that would make a flow something else than it says.
const OTHER_FLOWS: [(&str, &str); 7] = [
    ("-u", "a flow is TCP"),
    ("--udp", "a flow is TCP"),
    ("-R", "the flow's data goes from its sender; expected `from` and `to` the other way round"),
    (
        "--reverse",
        "the flow's data goes from its sender; expected `from` and `to` the other way round",
    ),
    ("--bidir", "a flow has one direction; expected a second flow"),
    ("-C", "the flow's `variant` says it"),
    ("--congestion", "the flow's `variant` says it"),
];

impl Iperf3Spec {
    /// What is wrong with it: a key, and what was expected.
    ///
    /// # Errors
    /// As said.
    pub fn check(&self) -> Result<(), (String, String)> {
        for (n, option) in self.options.iter().enumerate() {
            let word = option.split('=').next().unwrap_or_default();
            // A short option may hold its value.
            let word = if option.starts_with("-C") { "-C" } else { word };
            if let Some((_, why)) = OTHER_FLOWS.iter().find(|(other, _)| *other == word) {
                return Err((format!("options[{n}]"), format!("`{word}`: {why}")));
            }
        }
        self.program().check().map_err(|(_, why)| ("options".to_owned(), why))
    }

    /// The same as commands.
    pub fn program(&self) -> ProgramSpec {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut sender = words("iperf3 -c {receiver} -B {sender} -p {port} -t {seconds} -J");
        sender.extend(self.options.iter().cloned());
        ProgramSpec {
            sender,
            receiver: words("iperf3 -s -1 -B {receiver} -p {port}"),
            server: Side::Receiver,
            port: port(),
            files: BTreeMap::new(),
        }
    }
}

/// Options of iperf3 that shape its flow and do nothing else; all others, such as those that name files, are asked for
/// as programs are.
const SHAPING: [&str; 27] = [
    "-4",
    "-6",
    "-P",
    "--parallel",
    "-b",
    "--bitrate",
    "--pacing-timer",
    "--fq-rate",
    "-l",
    "--length",
    "-w",
    "--window",
    "-M",
    "--set-mss",
    "-N",
    "--no-delay",
    "-O",
    "--omit",
    "-n",
    "--bytes",
    "-k",
    "--blockcount",
    "-i",
    "--interval",
    "-Z",
    "--zerocopy",
    "-S",
];

impl Iperf3Spec {
    /// Whether it has but options that shape its flow, with numbers.
    fn is_plain(&self) -> bool {
        let number = |text: &str| {
            text.starts_with(|c: char| c.is_ascii_digit())
                && text.chars().all(|c| c.is_ascii_alphanumeric() || "./".contains(c))
        };
        self.options.iter().all(|option| {
            let (word, value) = match option.split_once('=') {
                Some((word, value)) if word.starts_with("--") => (word, Some(value)),
                _ => (&**option, None),
            };
            number(option) || (SHAPING.contains(&word) && value.is_none_or(number))
        })
    }
}

/// The commands that a live run of a scenario would run and the files that it would give them, unless nobody has to
/// allow them: a key and what would be done, a row each.
pub fn programs_asked(scenario: &super::Scenario) -> Vec<(String, String)> {
    let mut asked = Vec::new();
    for (n, flow) in scenario.flows.iter().enumerate() {
        let key = |key: &str| format!("flow[{n}].app.{key}");
        let program = match &flow.app {
            super::AppSpec::Program(program) => program,
            super::AppSpec::Iperf3(iperf3) if !iperf3.is_plain() => &iperf3.program(),
            _ => continue,
        };
        for side in Side::BOTH {
            let command = program.command(side);
            if !command.is_empty() {
                let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
                asked.push((key(side.as_str()), format!("would run {}", words.join(" "))));
            }
        }
        for (name, text) in &program.files {
            let what = format!("would write {} bytes for them", text.len());
            asked.push((key(&format!("files.{name}")), what));
        }
    }
    asked
}

/// A word of a command as a shell would have it, so that one sees where it ends; with escapes for what is not shown.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%{}".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    let mut shown = String::from("'");
    for char in word.chars() {
        match char {
            '\'' => shown.push_str("'\\''"),
            _ if is_printable(char) => shown.push(char),
            _ => shown.extend(char.escape_default()),
        }
    }
    shown.push('\'');
    shown
}

impl super::AppSpec {
    /// The programs that it is, if it is any.
    pub fn program(&self) -> Option<Cow<'_, ProgramSpec>> {
        match self {
            Self::Program(program) => Some(Cow::Borrowed(program)),
            Self::Iperf3(iperf3) => Some(Cow::Owned(iperf3.program())),
            _ => None,
        }
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
        // What was put in is not looked at again.
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
    fn iperf3_is_a_server_and_a_client() {
        let spec = Iperf3Spec { options: vec!["-P".to_owned(), "4".to_owned()] };
        assert_eq!(spec.check(), Ok(()));
        let program = spec.program();
        assert_eq!(program.receiver[..2], ["iperf3", "-s"]);
        assert_eq!(program.sender.last().map(String::as_str), Some("4"));
        let wrong = Iperf3Spec { options: vec!["--bidir".to_owned()] };
        assert_eq!(wrong.check().unwrap_err().0, "options[0]");
    }

    #[test]
    fn a_server_has_a_command_and_files_have_plain_names() {
        let mut spec = ProgramSpec { sender: vec!["curl".to_owned()], ..ProgramSpec::default() };
        assert_eq!(spec.check().unwrap_err().0, "receiver");
        spec.server = Side::Sender;
        assert_eq!(spec.check(), Ok(()));
        spec.files.insert("../conf".to_owned(), String::new());
        assert_eq!(spec.check().unwrap_err().0, "files.../conf");
    }

    fn asked(app: &str) -> Vec<(String, String)> {
        let scenario = format!(
            r#"{{"duration": "1 s", "topology": {{"kind": "dumbbell",
                "bottleneck": {{"rate": "1 Mbit/s", "delay": "1 ms"}},
                "access": {{"rate": "1 Mbit/s", "delay": "1 ms"}}}},
                "flow": [{{"name": "a", "variant": "cubic"}},
                         {{"name": "b", "variant": "cubic", "app": {app}}}]}}"#
        );
        programs_asked(&serde_json::from_str(&scenario).unwrap())
    }

    #[test]
    fn what_a_file_would_run_is_said_word_by_word() {
        let app = r#"{"kind": "program", "sender": ["sh", "-c", "rm -rf 'x'\n\u001b[2J"],
            "receiver": ["nc", "-l", "{port}"], "files": {"conf": "é"}}"#;
        let row = |key: &str, what: &str| (format!("flow[1].app.{key}"), what.to_owned());
        let expected = [
            row("sender", r"would run sh -c 'rm -rf '\''x'\''\n\u{1b}[2J'"),
            row("receiver", "would run nc -l {port}"),
            // Of é: two bytes in UTF-8.
            row("files.conf", "would write 2 bytes for them"),
        ];
        assert_eq!(asked(app), expected);
    }

    #[test]
    fn iperf3_is_asked_for_if_it_does_more_than_its_flow() {
        for plain in ["[]", r#"["-P", "4"]"#, r#"["--bitrate=10M", "-N"]"#, r#"["-O", "1.5"]"#] {
            assert_eq!(
                asked(&format!(r#"{{"kind": "iperf3", "options": {plain}}}"#)),
                [],
                "{plain}"
            );
        }
        // Of iperf3(1): they write files, read them, or name other programs' ends; getopt takes short forms too.
        for more in ["--logfile", "--logf", "-I/etc/x", "-F", "--pidfile=/x", "-c", "/etc/passwd"] {
            let app = format!(r#"{{"kind": "iperf3", "options": ["{more}", "7"]}}"#);
            assert_eq!(asked(&app).len(), 2, "{more}");
        }
    }
}
