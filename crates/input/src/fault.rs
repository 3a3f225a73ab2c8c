//! Input that cannot be used: what is said of it.

use std::fmt;

use crate::printable;

/// The longest message: room for every valid word, not for a file echoed back.
pub const MAX_MESSAGE_CHARS: usize = 1000;

/// Input that cannot be used.
///
/// Its text is one line without control characters: the file and line if there is one, the key, what
/// is wrong, what was expected, and the nearest valid word if one is near.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct BadInput {
    text: String,
}

impl BadInput {
    /// One line, with whatever could disturb a terminal made visible.
    pub fn new(text: impl fmt::Display) -> Self {
        Self { text: printable(&text.to_string(), MAX_MESSAGE_CHARS) }
    }

    /// An error of a cell of a sweep, likewise.
    #[must_use]
    pub fn in_cell(&self, cell: usize) -> Self {
        Self::new(format_args!("cell {cell}: {}", self.text))
    }

    /// A fault of a file, with the line if it is known.
    pub fn in_file(file: &str, line: Option<usize>, fault: &Fault) -> Self {
        match line {
            Some(line) => Self::new(format_args!("{file}:{line}: {fault}")),
            None => Self::new(format_args!("{file}: {fault}")),
        }
    }
}

/// A fault at a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The key, as in `flow[0].count`; empty for the whole document.
    pub key: String,
    /// The line, where the key does not say it.
    pub line: Option<usize>,
    /// The fault, and what was expected.
    pub message: String,
}

impl Fault {
    /// A fault under a key, before its line is known.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), line: None, message: message.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}
