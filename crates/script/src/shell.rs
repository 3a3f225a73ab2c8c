//! Shell blocks of a script, read by a whitelist of commands. Nothing is ever executed.
//!
//! | command | meaning |
//! | --- | --- |
//! | `sysctl [-q] [-w] net.ipv4.tcp_x=v ...` | settings |
//! | `echo v > /proc/sys/net/ipv4/tcp_x`, `echo v > /sys/module/tcp_cubic/parameters/x` | a setting |
//! | `.../set_sysctls.py /proc/sys/net/ipv4/tcp_x=v ...` | settings |
//! | `[. ].../defaults.sh` | the defaults that the field's scripts share: [`Command::Defaults`] |
//! | `.../sysctl_restore_*.sh` | nothing: there is nothing to restore |
//! | `ip tcp_metrics flush ...` | nothing: there is no cache of metrics |
//! | `tc qdisc ... fq`, `tc qdisc ...` | the setting `qdisc`: `fq`, `closed` with `limit 0`, or `other`; the stack says what it can do |
//! | `... > /dev/null`, `... 2>&1`, `... \|\| true` | not looked at |
//!
//! Everything else is refused by name.

use crate::ast::Block;
use crate::error::{Fault, Span, hint, shown};

/// The request of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A setting by its short name: `tcp_sack`, `tcp_cubic.hystart`.
    Set {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    },
    /// The defaults that the field's scripts share.
    Defaults,
    /// Something without meaning here.
    Ignored(String),
}

/// The commands of a block, each with its place.
pub(crate) fn commands(block: &Block) -> Result<Vec<(Span, Command)>, Fault> {
    let mut commands = Vec::new();
    for (span, words) in split(block)? {
        let fault = |message: String| Fault::new(span, message);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut add = |command| commands.push((span, command));
        match words.as_slice() {
            [] | ["true" | ":"] => {}
            ["sysctl", rest @ ..] => {
                for word in rest.iter().filter(|word| !matches!(**word, "-q" | "-w" | "-e")) {
                    add(assignment(word).map_err(fault)?);
                }
            }
            ["echo", value @ .., ">", path] => {
                let name = short_name(path).map_err(fault)?;
                add(Command::Set { name, value: value.join(" ") });
            }
            ["." | "source" | "sh" | "bash", path, rest @ ..] => {
                add(script(path, rest).map_err(fault)?);
            }
            ["python" | "python3", path, rest @ ..] if path.ends_with("set_sysctls.py") => {
                for word in rest {
                    add(assignment(word).map_err(fault)?);
                }
            }
            [path, rest @ ..] if path.ends_with("set_sysctls.py") => {
                for word in rest {
                    add(assignment(word).map_err(fault)?);
                }
            }
            ["tc", "qdisc", rest @ ..] => {
                let value = match rest {
                    [.., "limit", "0"] => "closed",
                    _ if rest.contains(&"fq") => "fq",
                    _ => "other",
                };
                add(Command::Set { name: "qdisc".to_owned(), value: value.to_owned() });
            }
            ["ip", "tcp_metrics", ..] => {
                add(Command::Ignored("`ip tcp_metrics`: no cache of metrics here".to_owned()));
            }
            ["tc" | "ip", what, ..] => {
                return Err(fault(format!("`{} {}` is not simulated", words[0], shown(what))));
            }
            [path, rest @ ..] if path.contains('/') => add(script(path, rest).map_err(fault)?),
            [word, ..] => {
                let near = hint(word, ["sysctl", "echo", "tc", "ip"]);
                return Err(fault(format!(
                    "the command `{}` is refused{near}: shell blocks are read, never executed",
                    shown(word)
                )));
            }
        }
    }
    Ok(commands)
}

fn script(path: &str, rest: &[&str]) -> Result<Command, String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name == "defaults.sh" && rest.is_empty() {
        return Ok(Command::Defaults);
    }
    if name.starts_with("sysctl_restore_") {
        return Ok(Command::Ignored(format!("`{}`: nothing to restore", shown(name))));
    }
    Err(format!("the program `{}` is refused: shell blocks are read, never executed", shown(path)))
}

fn assignment(word: &str) -> Result<Command, String> {
    let Some((name, value)) = word.split_once('=') else {
        return Err(format!(
            "expected a setting such as `net.ipv4.tcp_sack=1`, found `{}`",
            shown(word)
        ));
    };
    Ok(Command::Set { name: short_name(name)?, value: value.to_owned() })
}

/// `net.ipv4.tcp_sack` and `/proc/sys/net/ipv4/tcp_sack` give `tcp_sack`.
fn short_name(name: &str) -> Result<String, String> {
    if let Some(parameter) = name.strip_prefix("/sys/module/") {
        return match parameter.split('/').collect::<Vec<_>>().as_slice() {
            [module, "parameters", name] => Ok(format!("{module}.{name}")),
            _ => Err(format!("no module's parameter: `{}`", shown(parameter))),
        };
    }
    let dotted = name.strip_prefix("/proc/sys/").unwrap_or(name).replace('/', ".");
    if dotted.starts_with("net.core.") {
        return Ok(dotted);
    }
    match dotted.strip_prefix("net.ipv4.") {
        Some(short) if !short.is_empty() => Ok(short.to_owned()),
        _ => Err(format!(
            "unknown setting `{}`; expected one of `net.ipv4.`, `net.core.` or of a module",
            shown(name)
        )),
    }
}

/// The commands of a text, as words. Quotes hold words together; `\` continues a line.
fn split(block: &Block) -> Result<Vec<(Span, Vec<String>)>, Fault> {
    let mut commands = vec![(block.span, Vec::<String>::new())];
    let mut span = block.span;
    let mut word: Option<(Span, String)> = None;
    let text = without_redirections(&block.text);
    let mut chars = text.chars().peekable();
    let end_word = |commands: &mut Vec<(Span, Vec<String>)>, word: &mut Option<(Span, String)>| {
        if let (Some((at, text)), Some(last)) = (word.take(), commands.last_mut()) {
            if last.1.is_empty() {
                last.0 = at;
            }
            last.1.push(text);
        }
    };
    while let Some(c) = chars.next() {
        let here = span;
        if c == '\n' {
            span = Span { line: span.line + 1, column: 1 };
        } else {
            span.column += 1;
        }
        match c {
            '\\' if chars.peek() == Some(&'\n') => {
                chars.next();
                span = Span { line: span.line + 1, column: 1 };
                end_word(&mut commands, &mut word);
            }
            '#' if word.is_none() => {
                while chars.next_if(|c| *c != '\n').is_some() {
                    span.column += 1;
                }
            }
            '"' | '\'' => {
                let (_, text) = word.get_or_insert_with(|| (here, String::new()));
                loop {
                    let Some(quoted) = chars.next() else {
                        return Err(Fault::new(here, "this quote has no end"));
                    };
                    span.column += 1;
                    if quoted == '\n' {
                        span = Span { line: span.line + 1, column: 1 };
                    }
                    if quoted == c {
                        break;
                    }
                    text.push(quoted);
                }
            }
            '&' if chars.next_if_eq(&'&').is_some() => {
                span.column += 1;
                end_word(&mut commands, &mut word);
                commands.push((span, Vec::new()));
            }
            '\n' | ';' => {
                end_word(&mut commands, &mut word);
                commands.push((span, Vec::new()));
            }
            '>' => {
                end_word(&mut commands, &mut word);
                word = Some((here, ">".to_owned()));
                end_word(&mut commands, &mut word);
            }
            '|' | '&' | '<' | '(' | ')' => {
                return Err(Fault::new(here, format!("`{c}` is refused in a shell block")));
            }
            // The name of the file that restores settings has a variable in it.
            '$' if !word.as_ref().is_some_and(|(_, text)| text.contains("sysctl_restore_")) => {
                return Err(Fault::new(here, "`$` is refused in a shell block"));
            }
            c if c.is_whitespace() => end_word(&mut commands, &mut word),
            c => word.get_or_insert_with(|| (here, String::new())).1.push(c),
        }
    }
    end_word(&mut commands, &mut word);
    Ok(commands)
}

/// The text with blanks where it throws messages away.
fn without_redirections(text: &str) -> String {
    const THROWN_AWAY: [&str; 7] = [
        "&>/dev/null",
        "2>/dev/null",
        "2> /dev/null",
        "2>&1",
        ">/dev/null",
        "> /dev/null",
        "|| true",
    ];
    THROWN_AWAY
        .iter()
        .fold(text.to_owned(), |text, piece| text.replace(piece, &" ".repeat(piece.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Command>, String> {
        let block = Block { span: Span { line: 1, column: 2 }, text: text.to_owned() };
        commands(&block)
            .map(|all| all.into_iter().map(|(_, command)| command).collect())
            .map_err(|fault| format!("{}: {}", fault.span, fault.message))
    }

    fn set(name: &str, value: &str) -> Command {
        Command::Set { name: name.to_owned(), value: value.to_owned() }
    }

    #[test]
    fn settings_are_read_however_they_are_written() {
        let text = "../../common/defaults.sh\n. ../common/defaults.sh # shared\n\
             sysctl -q net.ipv4.tcp_sack=0 net.ipv4.tcp_rmem=\"4096 8192 16384\"; \\\n\
             ../common/set_sysctls.py /proc/sys/net/ipv4/tcp_ecn=0 && \
             echo 0 > /sys/module/tcp_cubic/parameters/hystart\n\
             tc qdisc replace dev tun0 root fq >/dev/null 2>&1 || true\n\
             tc qdisc replace dev tun0 root pfifo limit 0";
        assert_eq!(
            read(text),
            Ok(vec![
                Command::Defaults,
                Command::Defaults,
                set("tcp_sack", "0"),
                set("tcp_rmem", "4096 8192 16384"),
                set("tcp_ecn", "0"),
                set("tcp_cubic.hystart", "0"),
                set("qdisc", "fq"),
                set("qdisc", "closed"),
            ])
        );
    }

    #[test]
    fn everything_else_is_refused_by_name_and_place() {
        let starts = |text: &str, expected: &str| {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(expected), "{text}: {error}");
        };
        starts("rm -rf /", "1:2: the command `rm` is refused");
        starts(
            "\n  systcl -q a=b",
            "2:3: the command `systcl` is refused (did you mean `sysctl`?)",
        );
        starts("sysctl -q kernel.x=1", "1:2: unknown setting `kernel.x`");
        starts("echo $HOME > /proc/sys/net/ipv4/tcp_sack", "1:7: `$` is refused");
        starts("ip route add default", "1:2: `ip route` is not simulated");
        starts("/bin/sh -c x", "1:2: the program `/bin/sh` is refused");
        starts("sysctl -q a=b | cat", "1:16: `|` is refused");
    }
}
