//! Errors: the place in a script, and the fault.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A place in a script: line and column, both from 1; columns count characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Why a script cannot be read, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{span}: {message}")]
pub struct ScriptError {
    /// The script.
    pub file: String,
    /// The place.
    pub span: Span,
    /// The message: what was expected and what was found.
    pub message: String,
}

/// A fault at a place; the file's name is added on the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) span: Span,
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }

    pub(crate) fn within(self, file: &str) -> ScriptError {
        ScriptError { file: file.to_owned(), span: self.span, message: self.message }
    }
}

/// ` (did you mean ...?)`, if one of `known` is near enough to `word` to have been meant.
pub(crate) fn hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    // The distance to a very long text costs its length times the candidate's, for nothing.
    if word.len() > 100 {
        return String::new();
    }
    let lower = word.to_lowercase();
    known
        .into_iter()
        .map(|candidate| {
            (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate)
        })
        .filter(|(distance, candidate)| *distance <= (candidate.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map_or_else(String::new, |(_, near)| format!(" (did you mean `{near}`?)"))
}

/// A name of the wild, short enough for one line.
pub(crate) fn shown(text: &str) -> String {
    let line: String = text.trim().lines().next().unwrap_or_default().chars().take(40).collect();
    if line.len() < text.trim().len() { format!("{line}...") } else { line }
}
