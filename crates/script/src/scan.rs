//! A place in a text, and the small steps forward from it.

use ackclock_units::Duration;

use crate::error::{Fault, Span, hint, shown};

/// A place in a text.
#[derive(Clone, Debug)]
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// The offset of each line.
    lines: Vec<usize>,
}

pub(crate) type Parsed<T> = Result<T, Fault>;

/// No script lasts longer: eleven days.
pub(crate) const MOST_SECONDS: u64 = 1_000_000;

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(n, _)| n + 1));
        Self { text, at: 0, lines: lines.collect() }
    }

    pub(crate) fn span(&self) -> Span {
        self.span_at(self.at)
    }

    fn span_at(&self, at: usize) -> Span {
        let line = self.lines.partition_point(|start| *start <= at);
        let start = self.lines[line - 1];
        let column = self.text[start..at].chars().count() + 1;
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span { line: narrow(line), column: narrow(column) }
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Bytes before this place.
    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn at_end(&self) -> bool {
        self.rest().is_empty()
    }

    /// `expected` was, something else is here.
    pub(crate) fn fault(&self, expected: &str) -> Fault {
        let rest = self.rest();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let found = match (rest.is_empty(), end) {
            (true, _) => "the end of the script".to_owned(),
            (false, 0) => "the end of the line".to_owned(),
            _ => format!("`{}`", shown(&rest[..end])),
        };
        Fault::new(self.span(), format!("expected {expected}, found {found}"))
    }

    /// Blanks, line ends and comments.
    pub(crate) fn skip(&mut self) -> Parsed<()> {
        loop {
            let trimmed = self.rest().trim_start();
            self.at = self.text.len() - trimmed.len();
            if trimmed.starts_with("//") {
                self.at += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if let Some(body) = trimmed.strip_prefix("/*") {
                let Some(end) = body.find("*/") else {
                    return Err(Fault::new(self.span(), "this comment has no end; expected `*/`"));
                };
                self.at += end + 4;
            } else {
                return Ok(());
            }
        }
    }

    /// Steps over `token` if it is here.
    pub(crate) fn eat(&mut self, token: &str) -> bool {
        let here = self.rest().starts_with(token);
        if here {
            self.at += token.len();
        }
        here
    }

    /// Blanks, then `token` if it is there.
    pub(crate) fn next_is(&mut self, token: &str) -> Parsed<bool> {
        self.skip()?;
        Ok(self.eat(token))
    }

    /// Blanks, then `token`.
    pub(crate) fn expect(&mut self, token: &str) -> Parsed<()> {
        if self.next_is(token)? { Ok(()) } else { Err(self.fault(&format!("`{token}`"))) }
    }

    pub(crate) fn take_while(&mut self, of: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !of(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    pub(crate) fn take_one(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Everything up to `end`, which is stepped over.
    pub(crate) fn until(&mut self, end: &str, what: &str) -> Parsed<&'a str> {
        let rest = self.rest();
        let Some(length) = rest.find(end) else {
            return Err(Fault::new(self.span(), format!("{what} has no end; expected `{end}`")));
        };
        self.at += length + end.len();
        Ok(&rest[..length])
    }

    pub(crate) fn peek_word(&self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        if rest.starts_with(|c: char| c.is_ascii_digit()) { "" } else { &rest[..end] }
    }

    /// A word; empty if there is none.
    pub(crate) fn word(&mut self) -> &'a str {
        let word = self.peek_word();
        self.at += word.len();
        word
    }

    /// A number, decimal or `0x`, with a sign or without.
    pub(crate) fn integer(&mut self, expected: &str) -> Parsed<i64> {
        let fault = self.fault(expected);
        let negative = self.eat("-");
        let (digits, radix) = if self.eat("0x") || self.eat("0X") {
            (self.take_while(|c| c.is_ascii_hexdigit()), 16)
        } else {
            (self.take_while(|c| c.is_ascii_digit()), 10)
        };
        let value = i64::from_str_radix(digits, radix).map_err(|_| fault)?;
        Ok(if negative { -value } else { value })
    }

    /// A number that fits `T`, after blanks.
    pub(crate) fn number<T: TryFrom<i64>>(&mut self, expected: &str) -> Parsed<T> {
        self.skip()?;
        let fault = self.fault(expected);
        T::try_from(self.integer(expected)?).map_err(|_| fault)
    }

    /// A count of seconds such as `1`, `.1` or `0.000001`.
    pub(crate) fn seconds(&mut self) -> Parsed<Duration> {
        let fault = self.fault("a time in seconds such as `0.1`");
        let whole = self.take_while(|c| c.is_ascii_digit());
        // `0...1` is a time, three points and another time.
        let point = self.rest().starts_with('.') && !self.rest().starts_with("...");
        let fraction =
            if point && self.eat(".") { self.take_while(|c| c.is_ascii_digit()) } else { "" };
        if whole.is_empty() && fraction.is_empty() {
            return Err(fault);
        }
        let seconds = if whole.is_empty() { 0 } else { whole.parse::<u64>().unwrap_or(u64::MAX) };
        if seconds > MOST_SECONDS {
            return Err(fault);
        }
        let nanos = fraction
            .bytes()
            .chain(std::iter::repeat(b'0'))
            .take(9)
            .fold(0, |nanos, digit| nanos * 10 + u64::from(digit - b'0'));
        Ok(Duration::from_nanos(seconds * 1_000_000_000 + nanos))
    }
}

/// An unknown word, with the nearest that is known.
pub(crate) fn unknown(span: Span, what: &str, word: &str, known: &[&str]) -> Fault {
    let near = hint(word, known.iter().copied());
    let known = known.join(", ");
    Fault::new(span, format!("unknown {what} `{}`{near}; known: {known}", shown(word)))
}

pub(crate) const fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
