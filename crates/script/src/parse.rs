//! The parser: recursive descent over the text itself.

mod call;
mod packet;

use ackclock_units::Duration;

use crate::ast::{Action, Block, Event, Script, ScriptOption, Time};
use crate::error::{Fault, ScriptError};
use crate::scan::{Parsed, Scanner};

/// Reads a script. `file` is its name in messages.
///
/// ```
/// let script = ackclock_script::parse("a.pkt", "0 > S 0:0(0) win 65535 <mss 1460>").unwrap();
/// assert_eq!(script.events.len(), 1);
/// let error = ackclock_script::parse("a.pkt", "+0 > S 0:0(0) <mms 1460>").unwrap_err();
/// assert!(error.to_string().starts_with("a.pkt:1:16: unknown option `mms` (did you mean `mss`?)"));
/// ```
pub fn parse(file: &str, text: &str) -> Result<Script, ScriptError> {
    let mut scanner = Scanner::new(text);
    let mut script = Script { file: file.to_owned(), options: Vec::new(), events: Vec::new() };
    read(&mut scanner, &mut script).map_err(|fault| fault.within(file))?;
    Ok(script)
}

fn read(scanner: &mut Scanner<'_>, script: &mut Script) -> Parsed<()> {
    // A mark that editors of other systems leave.
    scanner.eat("\u{feff}");
    loop {
        scanner.skip()?;
        if scanner.at_end() {
            return Ok(());
        }
        let span = scanner.span();
        if scanner.eat("--") {
            let name = scanner.take_while(|c| crate::scan::is_word(c) || c == '-');
            if name.is_empty() {
                return Err(scanner.fault("the name of an option, as in `--tolerance_usecs=4000`"));
            }
            let value = if scanner.eat("=") {
                scanner.take_while(|c| !c.is_whitespace()).trim_matches('"')
            } else {
                ""
            };
            script.options.push(ScriptOption {
                span,
                name: name.to_owned(),
                value: value.to_owned(),
            });
        } else {
            script.events.push(event(scanner)?);
        }
    }
}

fn event(scanner: &mut Scanner<'_>) -> Parsed<Event> {
    let span = scanner.span();
    // Settings before the first event have no time.
    let timeless = scanner.rest().starts_with('`') || scanner.rest().starts_with("%{");
    let (time, until) = if timeless { (Time::After(Duration::ZERO), None) } else { time(scanner)? };
    scanner.skip()?;
    let action = action(scanner)?;
    if until.is_some() && !matches!(action, Action::Call(_)) {
        return Err(Fault::new(span, "only a call can block: `...` has no meaning here"));
    }
    Ok(Event { span, time, until, action })
}

fn action(scanner: &mut Scanner<'_>) -> Parsed<Action> {
    if scanner.rest().starts_with(['<', '>']) {
        return packet::packet(scanner).map(Action::Packet);
    }
    if scanner.eat("`") {
        let span = scanner.span();
        let text = scanner.until("`", "this shell block")?.to_owned();
        return Ok(Action::Shell(Block { span, text }));
    }
    if scanner.eat("%{") {
        let span = scanner.span();
        let text = scanner.until("}%", "this code block")?.to_owned();
        return Ok(Action::Code(Block { span, text }));
    }
    if scanner.peek_word().is_empty() {
        return Err(scanner.fault("a packet (`<` or `>`), a call, `` ` `` or `%{`"));
    }
    call::call(scanner).map(Action::Call)
}

fn time(scanner: &mut Scanner<'_>) -> Parsed<(Time, Option<Duration>)> {
    if scanner.eat("*") {
        return Ok((Time::Any, None));
    }
    if !scanner.rest().starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == '+') {
        return Err(scanner.fault("a time such as `0.1`, `+0.1` or `*`"));
    }
    let relative = scanner.eat("+");
    scanner.skip()?;
    let start = scanner.seconds()?;
    if scanner.next_is("~")? {
        scanner.skip()?;
        let span = scanner.span();
        if relative && !scanner.eat("+") {
            return Err(scanner.fault("`+`, as before the first time"));
        }
        let end = scanner.seconds()?;
        if end < start {
            return Err(Fault::new(span, "this range of times ends before it begins"));
        }
        let time =
            if relative { Time::AfterBetween(start, end) } else { Time::Between(start, end) };
        return Ok((time, None));
    }
    let time = if relative { Time::After(start) } else { Time::At(start) };
    if !scanner.next_is("...")? {
        return Ok((time, None));
    }
    scanner.skip()?;
    let span = scanner.span();
    scanner.eat("+");
    let until = scanner.seconds()?;
    if until < start {
        return Err(Fault::new(span, "this call would return before it begins"));
    }
    Ok((time, Some(until)))
}
