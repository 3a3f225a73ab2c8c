//! Names that users choose: what they may be made of, since they reach terminals, pages, figures and files.

use std::fmt;

/// Characters of a name. As many as Linux gives the name of a host (`HOST_NAME_MAX`); with what is added for a file
/// it stays below the 255 bytes of a file's name.
pub const LONGEST_NAME: usize = 64;

/// Why a text is no name: one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameError {
    /// It is empty, or blank.
    Empty,
    /// It has so many characters.
    Long {
        /// The number of characters found.
        found: usize,
        /// And so many may be.
        most: usize,
    },
    /// It has a character that is not shown, or changes how others are.
    Unprintable {
        /// The first.
        char: char,
        /// Its place, from 1.
        place: usize,
    },
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("expected a name"),
            Self::Long { found, most } => {
                write!(f, "{found} characters are too many, expected at most {most}")
            }
            Self::Unprintable { char, place } => write!(
                f,
                "character {place} is U+{:04X}, expected characters that are seen, and no blank at an end",
                u32::from(*char)
            ),
        }
    }
}

impl std::error::Error for NameError {}

/// Checks a name: 1 to [`LONGEST_NAME`] printable characters that are seen, without a blank at an end.
///
/// # Errors
/// The first thing that is wrong.
pub fn check_name(name: &str) -> Result<(), NameError> {
    if name.chars().all(|char| char == ' ') {
        return Err(NameError::Empty);
    }
    let last = name.chars().count().saturating_sub(1);
    let unseen = |(at, char): (usize, char)| {
        let at_an_end = char == ' ' && (at == 0 || at == last);
        (at_an_end || is_blank(char)).then_some(NameError::Unprintable { char, place: at + 1 })
    };
    if let Some(error) = name.chars().enumerate().find_map(unseen) {
        return Err(error);
    }
    check_line(name, LONGEST_NAME)
}

/// True if a character counts as printable and yet shows nothing: fillers of Hangul, the blank of braille, selectors of
/// variants.
const fn is_blank(char: char) -> bool {
    matches!(char,
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{2800}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Checks a line of text: printable characters, `most` of them at most.
///
/// # Errors
/// The first thing that is wrong.
pub fn check_line(text: &str, most: usize) -> Result<(), NameError> {
    let unprintable = text.chars().enumerate().find(|(_, char)| !is_printable(*char));
    if let Some((at, char)) = unprintable {
        return Err(NameError::Unprintable { char, place: at + 1 });
    }
    let found = text.chars().count();
    if found > most { Err(NameError::Long { found, most }) } else { Ok(()) }
}

/// True if a character is shown as itself: no control or format character (those that turn the direction of text
/// are), no separator but the blank, nothing private or unassigned. Python's `str.isprintable` is the same rule.
pub fn is_printable(char: char) -> bool {
    match char {
        ' '..='~' => true,
        '\0'..='\x7f' => false,
        // The standard library's list, of what `{:?}` does not escape. It escapes a combining character that begins
        // a text.
        _ => {
            let text = String::from_iter(['x', char]);
            text.escape_debug().nth(1) != Some('\\')
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_is_what_unicode_calls_so() {
        // Letters, a combining mark, digits, punctuation, symbols, and of separators the blank alone (UnicodeData.txt).
        for char in ['A', 'é', '漢', '\u{301}', '٣', '"', '\\', '\'', '$', '🦆', ' ', '~', '–']
        {
            assert!(is_printable(char), "{char:?}");
        }
        // Cc; Cf with the marks and isolates of bidirectional text (UAX #9, table 4), the soft hyphen, joiners, the
        // byte-order mark and tags; Zl, Zp; Zs but the blank; Co; Cn with what is no character.
        let controls = ('\0'..' ').chain('\x7f'..='\u{9f}');
        let turning =
            ('\u{200e}'..='\u{200f}').chain('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}');
        let others = "\u{61c}\u{ad}\u{200b}\u{200d}\u{feff}\u{e0041}\u{2028}\u{2029}\u{a0}\u{3000}\u{e000}\u{ffff}\u{fdd0}";
        for char in controls.chain(turning).chain(others.chars()) {
            assert!(!is_printable(char), "U+{:04X}", u32::from(char));
        }
    }

    #[test]
    fn names_have_one_to_64_printable_characters() {
        for name in ["a", "[/x]", "$\\tau$", "<b>&\"'", "../x", "a b", "漢", "e\u{301}"] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        assert_eq!(check_name(&"é".repeat(64)), Ok(()));
        assert_eq!(check_name(&"é".repeat(65)), Err(NameError::Long { found: 65, most: 64 }));
        assert_eq!(check_name(""), Err(NameError::Empty));
        assert_eq!(check_name("   "), Err(NameError::Empty));
        // Of these `a` would look the same in a table: blanks at an end, fillers, the blank of braille, selectors.
        for (name, place) in [
            (" a", 1),
            ("a ", 2),
            ("a\u{3164}", 2),
            ("a\u{2800}b", 2),
            ("a\u{fe0f}", 2),
            ("a\u{e0100}", 2),
        ] {
            let found = check_name(name);
            assert!(
                matches!(found, Err(NameError::Unprintable { place: at, .. }) if at == place),
                "{name:?}"
            );
        }
        let error = check_name("a\x1b[31m").unwrap_err();
        assert_eq!(error, NameError::Unprintable { char: '\x1b', place: 2 });
        assert_eq!(
            error.to_string(),
            "character 2 is U+001B, expected characters that are seen, and no blank at an end"
        );
    }
}
