//! iperf3 as the ends of a flow, in live runs alone.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::convert::Infallible;

use ackclock_units::Duration;
use ackclock_units::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::{Described, Load, Refusal, live_alone};
use super::program::{ProgramConfig, Side, port};

/// iperf3, in a live run alone: a program whose commands are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Iperf3Config {
    /// Further options of its client, such as `["-P", "4"]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
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

impl Iperf3Config {
    /// Checks the options.
    ///
    /// # Errors
    /// A key that is wrong, and what was expected.
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

    /// The commands: the server at the receiver, the client at the sender.
    pub fn program(&self) -> ProgramConfig {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut sender = words("iperf3 -c {receiver} -B {sender} -p {port} -t {seconds} -J");
        sender.extend(self.options.iter().cloned());
        ProgramConfig {
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

impl Iperf3Config {
    /// True if it has no options but those that shape its flow, with numbers.
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

/// iperf3 on the flow's hosts.
#[derive(Clone, Copy, Debug)]
pub struct Iperf3;

impl Described for Iperf3 {
    type Settings = Iperf3Config;
    type Sender = Infallible;
    type Receiver = Infallible;

    const KIND: &'static str = "iperf3";
    const LIVE_ALONE: bool = true;
    const REPORTS: bool = true;

    fn is_sized(_: &Iperf3Config) -> bool {
        false
    }

    fn program(iperf3: &Iperf3Config) -> Option<Cow<'_, ProgramConfig>> {
        Some(Cow::Owned(iperf3.program()))
    }

    fn to_be_allowed(iperf3: &Iperf3Config) -> Option<Cow<'_, ProgramConfig>> {
        (!iperf3.is_plain()).then(|| Cow::Owned(iperf3.program()))
    }

    fn load(_: &Iperf3Config, _: f64) -> Load {
        Load::of(f64::INFINITY)
    }

    fn check(iperf3: &Iperf3Config, _: Duration) -> Result<(), Refusal> {
        iperf3.check()
    }

    fn apps(
        _: &Iperf3Config,
        _: &dyn Fn(&str) -> Stream,
    ) -> Result<(Self::Sender, Self::Receiver), Refusal> {
        Err(live_alone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iperf3_is_a_server_and_a_client() {
        let spec = Iperf3Config { options: vec!["-P".to_owned(), "4".to_owned()] };
        assert_eq!(spec.check(), Ok(()));
        let program = spec.program();
        assert_eq!(program.receiver[..2], ["iperf3", "-s"]);
        assert_eq!(program.sender.last().map(String::as_str), Some("4"));
        let wrong = Iperf3Config { options: vec!["--bidir".to_owned()] };
        assert_eq!(wrong.check().unwrap_err().0, "options[0]");
    }
}
