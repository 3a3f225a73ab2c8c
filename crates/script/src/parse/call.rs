//! System calls.

use crate::ast::{Call, Expr, ExprKind, Field};
use crate::error::Fault;
use crate::scan::{Parsed, Scanner};

/// Lists in lists: deeper than anyone writes, and not so deep that reading it needs much stack.
const DEEPEST: u32 = 32;

pub(super) fn call(scanner: &mut Scanner<'_>) -> Parsed<Call> {
    let span = scanner.span();
    let name = scanner.word().to_owned();
    if !scanner.next_is("(")? {
        return Err(scanner.fault(&format!("`(` behind the call `{name}`")));
    }
    let args = list(scanner, ")", DEEPEST)?;
    let mut call = Call { span, name, args, result: None, errno: None, note: None };
    if !scanner.next_is("=")? {
        return Ok(call);
    }
    call.result = Some(expr(scanner, DEEPEST)?);
    scanner.skip()?;
    let errno = scanner.word();
    if !errno.is_empty() {
        call.errno = Some(errno.to_owned());
    }
    if scanner.next_is("(")? {
        call.note = Some(scanner.until(")", "this remark")?.to_owned());
    }
    Ok(call)
}

/// Behind the opening bracket, up to and including `close`.
fn list(scanner: &mut Scanner<'_>, close: &str, depth: u32) -> Parsed<Vec<Expr>> {
    let mut items = Vec::new();
    if scanner.next_is(close)? {
        return Ok(items);
    }
    loop {
        items.push(expr(scanner, depth)?);
        if scanner.next_is(close)? {
            return Ok(items);
        }
        if !scanner.next_is(",")? {
            return Err(scanner.fault(&format!("`,` or `{close}`")));
        }
    }
}

fn expr(scanner: &mut Scanner<'_>, depth: u32) -> Parsed<Expr> {
    scanner.skip()?;
    let span = scanner.span();
    let first = term(scanner, depth)?;
    if !scanner.next_is("|")? {
        return Ok(first);
    }
    let mut all = vec![first];
    loop {
        all.push(term(scanner, depth)?);
        if !scanner.next_is("|")? {
            return Ok(Expr { span, kind: ExprKind::Or(all) });
        }
    }
}

fn term(scanner: &mut Scanner<'_>, depth: u32) -> Parsed<Expr> {
    scanner.skip()?;
    let span = scanner.span();
    let Some(depth) = depth.checked_sub(1) else {
        return Err(Fault::new(span, "lists are nested too deeply"));
    };
    let kind = if scanner.eat("...") {
        ExprKind::Ellipsis
    } else if scanner.eat("\"") {
        ExprKind::Text(text(scanner)?)
    } else if scanner.eat("[") {
        ExprKind::List(list(scanner, "]", depth)?)
    } else if scanner.eat("{") {
        ExprKind::Struct(fields(scanner, depth)?)
    } else if scanner.peek_word().is_empty() {
        ExprKind::Int(scanner.integer("a number, a symbol, a text, a list or `...`")?)
    } else {
        let name = scanner.word().to_owned();
        if scanner.eat("(") {
            ExprKind::Apply(name, list(scanner, ")", depth)?)
        } else {
            ExprKind::Name(name)
        }
    };
    Ok(Expr { span, kind })
}

/// Behind the opening quote.
fn text(scanner: &mut Scanner<'_>) -> Parsed<String> {
    let mut text = String::new();
    loop {
        text.push_str(scanner.take_while(|c| c != '"' && c != '\\' && c != '\n'));
        if scanner.eat("\"") {
            return Ok(text);
        }
        if scanner.eat("\\") {
            let escaped = scanner.take_one();
            let Some(c) = escaped else { return Err(scanner.fault("a character behind `\\`")) };
            text.push(match c {
                'x' => hexadecimal(scanner)?,
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '0' => '\0',
                c => c,
            });
        } else {
            return Err(scanner.fault("`\"` at the end of this text"));
        }
    }
}

/// The byte behind `\x`, as a character of the same number.
fn hexadecimal(scanner: &mut Scanner<'_>) -> Parsed<char> {
    let digits = [scanner.take_one(), scanner.take_one()].map(|c| c?.to_digit(16));
    match digits {
        [Some(high), Some(low)] => Ok(char::from_u32(high * 16 + low).unwrap_or_default()),
        _ => Err(scanner.fault("two hexadecimal digits behind `\\x`")),
    }
}

/// Behind the opening brace.
fn fields(scanner: &mut Scanner<'_>, depth: u32) -> Parsed<Vec<Field>> {
    let mut fields = Vec::new();
    if scanner.next_is("}")? {
        return Ok(fields);
    }
    loop {
        let first = expr(scanner, depth)?;
        fields.push(if scanner.next_is("=")? {
            Field { name: Some(first), value: expr(scanner, depth)? }
        } else {
            Field { name: None, value: first }
        });
        if scanner.next_is("}")? {
            return Ok(fields);
        }
        if !scanner.next_is(",")? {
            return Err(scanner.fault("`,` or `}`"));
        }
    }
}
