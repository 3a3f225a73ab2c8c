//! The words of an assertion block.

use crate::error::{Fault, Span};
use crate::scan::{Scanner, is_word};

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Name(String),
    Int(i64),
    Float(f64),
    Text(String),
    Symbol(&'static str),
    /// The end of a statement.
    Line,
    End,
}

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) span: Span,
    pub(super) kind: Kind,
    /// The place in the text of its first byte, and after its last one.
    pub(super) from: usize,
    pub(super) to: usize,
}

/// The longer ones first.
const SYMBOLS: [&str; 29] = [
    "//=", "//", "==", "!=", "<=", ">=", "<<", ">>", "+=", "-=", "*=", "=", "<", ">", "+", "-",
    "*", "/", "%", "(", ")", "[", "]", ",", "|", "&", "^", "~", ";",
];

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Fault> {
    let mut scanner = Scanner::new(text);
    let mut tokens = Vec::new();
    // Lines end nothing inside brackets.
    let mut depth = 0_u32;
    loop {
        scanner.take_while(|c| c.is_whitespace() && c != '\n');
        let (span, from) = (scanner.span(), scanner.at());
        if scanner.rest().starts_with('#') {
            scanner.take_while(|c| c != '\n');
            continue;
        }
        if scanner.eat("\\\n") || scanner.eat("\\\r\n") {
            continue;
        }
        let kind = match scanner.peek() {
            None => Kind::End,
            Some('\n') => {
                scanner.take_one();
                if depth > 0 {
                    continue;
                }
                Kind::Line
            }
            Some(c) if c.is_ascii_digit() => number(&mut scanner)?,
            Some('"' | '\'') => string(&mut scanner)?,
            Some(c) if is_word(c) => Kind::Name(scanner.word().to_owned()),
            Some(c) => {
                let Some(symbol) = SYMBOLS.into_iter().find(|s| scanner.eat(s)) else {
                    return Err(Fault::new(span, format!("`{c}` is refused in an assertion")));
                };
                match symbol {
                    "(" | "[" => depth += 1,
                    ")" | "]" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if symbol == ";" { Kind::Line } else { Kind::Symbol(symbol) }
            }
        };
        let end = matches!(kind, Kind::End);
        tokens.push(Token { span, kind, from, to: scanner.at() });
        if end {
            return Ok(tokens);
        }
    }
}

fn number(scanner: &mut Scanner<'_>) -> Result<Kind, Fault> {
    let digits = {
        let mut ahead = scanner.clone();
        ahead.take_while(|c| is_word(c) || c == '.')
    };
    let whole = digits.bytes().all(|b| b.is_ascii_digit());
    if whole || digits.starts_with("0x") || digits.starts_with("0X") {
        return scanner.integer("a number").map(Kind::Int);
    }
    let fault = scanner.fault("a number");
    scanner.take_while(|c| is_word(c) || c == '.');
    digits.parse().map(Kind::Float).map_err(|_| fault)
}

fn string(scanner: &mut Scanner<'_>) -> Result<Kind, Fault> {
    let fault = Fault::new(scanner.span(), "this text has no end");
    let Some(quote) = scanner.take_one() else { return Err(fault) };
    let mut text = String::new();
    loop {
        match scanner.take_one() {
            None | Some('\n') => return Err(fault),
            Some(c) if c == quote => return Ok(Kind::Text(text)),
            Some('\\') => match scanner.take_one() {
                Some('n') => text.push('\n'),
                Some(c) => text.push(c),
                None => return Err(fault),
            },
            Some(c) => text.push(c),
        }
    }
}
