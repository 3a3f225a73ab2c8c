//! The Test Anything Protocol, version 13.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Write as _};
use std::io::{self, Write};
use std::path::Path;

use crate::run::Outcome;

/// The comments that follow each script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comments {
    /// True for the notes of a script that passed.
    pub notes: bool,
    /// True for the packets that passed, in both directions, up to a failure.
    pub packets: bool,
}

/// Writes what became of scripts: a line each, and behind that of one that failed a block of YAML
/// with the place, what is wrong, and the two packets one above the other if packets differ. If the
/// scripts are of more than one folder, comments at the end count those that passed in each.
///
/// `comments` says what follows a script as comments.
///
/// ```
/// use ackclock_script::{Comments, Settings, drill, tap};
///
/// let good = drill("good.pkt", "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3", &Settings::default());
/// let bad = drill("bad.pkt", "+0 close(3) = 0", &Settings::default());
/// let mut text = Vec::new();
/// tap(&[good, bad], Comments::default(), &mut text).unwrap();
/// assert_eq!(
///     String::from_utf8(text).unwrap(),
///     "TAP version 13\n1..2\nok 1 - good.pkt\nnot ok 2 - bad.pkt\n  ---\n  \
///      at: \"bad.pkt:1:4\"\n  message: \"`close` returned -1 EBADF, expected 0\"\n  ...\n"
/// );
/// ```
///
/// # Errors
/// `out` cannot be written to.
pub fn tap(outcomes: &[Outcome], comments: Comments, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "TAP version 13\n1..{}", outcomes.len())?;
    for (n, outcome) in outcomes.iter().enumerate() {
        // A `#` would begin a directive, and version 13 has no escape for it.
        let name = outcome.file.replace('#', "_");
        match &outcome.result {
            Ok(report) => {
                writeln!(out, "ok {} - {}", n + 1, Escaped(&name))?;
                for note in report.notes.iter().filter(|_| comments.notes) {
                    writeln!(out, "# {}:{}", Escaped(&outcome.file), Escaped(note))?;
                }
            }
            Err(failure) => {
                writeln!(out, "not ok {} - {}", n + 1, Escaped(&name))?;
                writeln!(out, "  ---")?;
                let at = format!("{}:{}", failure.file, failure.span);
                writeln!(out, "  at: {}", Quoted(&at))?;
                writeln!(out, "  message: {}", Quoted(&failure.message))?;
                if let Some((expected, actual)) = &failure.packets {
                    let (expected, actual) = aligned(expected, actual);
                    writeln!(out, "  expected: {}", Quoted(&expected))?;
                    writeln!(out, "  actual:   {}", Quoted(&actual))?;
                }
                writeln!(out, "  ...")?;
            }
        }
        for (_, passed) in outcome.trace.packets.iter().filter(|_| comments.packets) {
            writeln!(out, "#   {}", Escaped(&passed.to_string()))?;
        }
    }
    by_folder(outcomes, out)
}

/// Writes the number that passed of all, a line a folder.
fn by_folder(outcomes: &[Outcome], out: &mut impl Write) -> io::Result<()> {
    let mut folders: BTreeMap<&Path, (usize, usize)> = BTreeMap::new();
    for outcome in outcomes {
        let folder = Path::new(&outcome.file).parent().unwrap_or(Path::new(""));
        let (passed, total) = folders.entry(folder).or_default();
        *passed += usize::from(outcome.result.is_ok());
        *total += 1;
    }
    if folders.len() < 2 {
        return Ok(());
    }
    let passed: usize = folders.values().map(|(passed, _)| passed).sum();
    writeln!(out, "# {passed}/{} passed", outcomes.len())?;
    let counts: Vec<(String, String)> = folders
        .iter()
        .map(|(folder, (passed, total))| {
            let name = folder.display().to_string();
            let name = if name.is_empty() { ".".to_owned() } else { name };
            (format!("{passed}/{total}"), name)
        })
        .collect();
    let width = counts.iter().map(|(count, _)| count.len()).max().unwrap_or(0);
    for (count, name) in counts {
        writeln!(out, "#   {count:>width$}  {}", Escaped(&name))?;
    }
    Ok(())
}

/// Two packets in packetdrill's notation, with what corresponds in the same column. Texts of another
/// form are left as they are.
fn aligned(expected: &str, actual: &str) -> (String, String) {
    let (Some(expected_parts), Some(actual_parts)) = (parts(expected), parts(actual)) else {
        return (expected.to_owned(), actual.to_owned());
    };
    let mut lines = (String::new(), String::new());
    for (left, right) in expected_parts.into_iter().zip(actual_parts) {
        let width = left.chars().count().max(right.chars().count());
        if width > 0 {
            // Writing to a text cannot fail.
            let _ = write!(lines.0, "{left:width$} ");
            let _ = write!(lines.1, "{right:width$} ");
        }
    }
    (lines.0.trim_end().to_owned(), lines.1.trim_end().to_owned())
}

/// Time, direction, ECN tag, flags, numbers, `ack`, `win` and options; empty where there is none.
fn parts(packet: &str) -> Option<[String; 8]> {
    let (head, options) = match packet.find(" <") {
        Some(at) => (&packet[..at], packet[at..].trim_start()),
        None => (packet, ""),
    };
    let mut words = head.split(' ').peekable();
    let mut next = || words.next().map(str::to_owned);
    let (time, direction) = (next()?, next().filter(|word| word == ">")?);
    let mut parts = [time, direction].into_iter().chain(std::iter::repeat_n(String::new(), 6));
    let mut parts: [String; 8] = std::array::from_fn(|_| parts.next().unwrap_or_default());
    if let Some(tag) = words.next_if(|word| word.starts_with('[')) {
        tag.clone_into(&mut parts[2]);
    }
    words.next()?.clone_into(&mut parts[3]);
    words.next()?.clone_into(&mut parts[4]);
    for (place, keyword) in [(5, "ack"), (6, "win")] {
        if words.next_if_eq(&keyword).is_some() {
            parts[place] = format!("{keyword} {}", words.next()?);
        }
    }
    options.clone_into(&mut parts[7]);
    words.next().is_none().then_some(parts)
}

/// A text on one line, with what could disturb a terminal made visible.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            // The standard library knows which characters are seen; quotes and backslashes are.
            if matches!(c, '"' | '\'' | '\\') || c.escape_debug().len() == 1 {
                f.write_char(c)?;
            } else {
                // YAML 1.2 §5.7 has these two and not Rust's braces.
                match u32::from(c) {
                    code @ 0..=0xffff => write!(f, "\\u{code:04x}")?,
                    code => write!(f, "\\U{code:08x}")?,
                }
            }
        }
        Ok(())
    }
}

/// A double-quoted scalar (YAML 1.2 §7.3.1).
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.replace('\\', "\\\\").replace('"', "\\\"");
        write!(f, "\"{}\"", Escaped(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Span;
    use crate::{Failure, Report};

    fn passed(file: &str, notes: &[&str]) -> Outcome {
        let notes = notes.iter().map(ToString::to_string).collect();
        Outcome::new(file, Ok(Report { notes, ..Report::default() }))
    }

    fn failed(file: &str, message: &str, packets: Option<(&str, &str)>) -> Outcome {
        let failure = Failure {
            file: file.to_owned(),
            span: Span { line: 7, column: 3 },
            message: message.to_owned(),
            packets: packets.map(|(expected, actual)| (expected.to_owned(), actual.to_owned())),
        };
        Outcome::new(file, Err(failure))
    }

    fn told(outcomes: &[Outcome], notes: bool) -> String {
        let mut text = Vec::new();
        tap(outcomes, Comments { notes, packets: false }, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn packets_stand_one_above_the_other() {
        let expected = "0.100000~0.200000 > P. 1:1001(1000) ack 1 <nop,nop,TS val 1 ecr 2>";
        let actual = "0.150000 > [ect0] . 1:1001(1000) ack 12 win 256 <TS val 9 ecr 2>";
        let text = told(&[failed("a.pkt", "x", Some((expected, actual)))], false);
        let lines: Vec<&str> = text.lines().filter(|line| line.contains(" > ")).collect();
        assert_eq!(
            lines,
            [
                "  expected: \"0.100000~0.200000 >        P. 1:1001(1000) ack 1          <nop,nop,TS val 1 ecr 2>\"",
                "  actual:   \"0.150000          > [ect0] .  1:1001(1000) ack 12 win 256 <TS val 9 ecr 2>\"",
            ]
        );
    }

    #[test]
    fn texts_that_are_no_packets_are_left_as_they_are() {
        let text = told(&[failed("a.pkt", "x", Some(("* > . 1:1(0) ack 1", "nothing")))], false);
        assert!(text.contains("\n  expected: \"* > . 1:1(0) ack 1\"\n  actual:   \"nothing\"\n"));
    }

    #[test]
    fn folders_are_counted_where_there_is_more_than_one() {
        let one = [passed("b/x.pkt", &[]), failed("b/y.pkt", "no", None)];
        assert!(!told(&one, false).contains('#'));
        let [x, y] = one;
        let more: Vec<Outcome> = (0..9).map(|n| passed(&format!("a/c/{n}.pkt"), &[])).collect();
        let text = told(&[&[x, y, passed("z.pkt", &[])], more.as_slice()].concat(), false);
        let comments: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
        // 1 + 1 + 9 of 2 + 1 + 9.
        assert_eq!(comments, ["# 11/12 passed", "#   1/1  .", "#   9/9  a/c", "#   1/2  b"]);
    }

    #[test]
    fn notes_are_comments_if_they_are_asked_for() {
        let outcomes = [passed("a.pkt", &["1:2: `x` means nothing"])];
        assert_eq!(told(&outcomes, false), "TAP version 13\n1..1\nok 1 - a.pkt\n");
        assert_eq!(
            told(&outcomes, true),
            "TAP version 13\n1..1\nok 1 - a.pkt\n# a.pkt:1:2: `x` means nothing\n"
        );
    }

    #[test]
    fn no_text_breaks_a_line_or_a_terminal() {
        let name = "a\n# TODO \u{1b}[2J\u{202e}\u{e0041}.pkt";
        let text = told(&[failed(name, "say \"hi\" \\ \t'é'", None), passed(name, &["n"])], true);
        assert_eq!(
            text,
            "TAP version 13\n1..2\n\
             not ok 1 - a\\u000a_ TODO \\u001b[2J\\u202e\\U000e0041.pkt\n  ---\n  \
             at: \"a\\u000a# TODO \\u001b[2J\\u202e\\U000e0041.pkt:7:3\"\n  \
             message: \"say \\\"hi\\\" \\\\ \\u0009'é'\"\n  ...\n\
             ok 2 - a\\u000a_ TODO \\u001b[2J\\u202e\\U000e0041.pkt\n\
             # a\\u000a# TODO \\u001b[2J\\u202e\\U000e0041.pkt:n\n"
        );
    }
}
