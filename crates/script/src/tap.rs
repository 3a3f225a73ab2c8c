//! The Test Anything Protocol.

use std::io::{self, Write};

use crate::run::Outcome;

/// Writes what became of scripts, each one line, with what is wrong behind `#`.
///
/// ```
/// use ackclock_script::{Settings, drill, tap};
///
/// let outcome = drill("empty.pkt", "// nothing", &Settings::default());
/// let mut text = Vec::new();
/// tap(&[outcome], &mut text).unwrap();
/// assert_eq!(text, b"TAP version 13\n1..1\nok 1 - empty.pkt\n");
/// ```
pub fn tap(outcomes: &[Outcome], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "TAP version 13\n1..{}", outcomes.len())?;
    for (n, outcome) in outcomes.iter().enumerate() {
        // A `#` in a name would begin a directive.
        let name = outcome.file.replace('#', "_");
        match &outcome.result {
            Ok(report) => {
                writeln!(out, "ok {} - {name}", n + 1)?;
                for note in &report.notes {
                    writeln!(out, "# {}:{note}", outcome.file)?;
                }
            }
            Err(failure) => {
                writeln!(out, "not ok {} - {name}", n + 1)?;
                for line in failure.to_string().lines() {
                    writeln!(out, "# {line}")?;
                }
            }
        }
    }
    Ok(())
}
