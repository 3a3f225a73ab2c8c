//! The error of a scenario that cannot be run.

use std::fmt;

/// Why a scenario that reads well still cannot be run: which key, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The key, as a path: `flow[0].count`.
    pub key: String,
    /// What was expected, in one line.
    pub message: String,
}

impl ScenarioError {
    /// `message` says what was expected of `key`.
    pub fn new(key: &str, message: &str) -> Self {
        Self { key: key.to_owned(), message: message.to_owned() }
    }

    /// `word` names nothing; `known` are the words that do.
    pub(crate) fn unknown<'a>(
        key: &str,
        what: &str,
        word: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> Self {
        // A thousand access links help nobody.
        let known: Vec<String> = known.take(20).map(|name| format!("`{name}`")).collect();
        Self::new(key, &format!("unknown {what} `{word}`, expected one of {}", known.join(", ")))
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.message)
    }
}

impl std::error::Error for ScenarioError {}
