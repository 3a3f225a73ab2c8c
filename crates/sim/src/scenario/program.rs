//! Programs of live runs that somebody has to allow.

use ackclock_app::application::Side;
use ackclock_units::is_printable;

/// The commands that a live run of a scenario would run and the files that it would give them, unless nobody has to
/// allow them: a key and what would be done, a row each.
pub fn programs_asked(scenario: &super::Scenario) -> Vec<(String, String)> {
    let mut asked = Vec::new();
    for (n, flow) in scenario.flows.iter().enumerate() {
        let key = |key: &str| format!("flow[{n}].app.{key}");
        let Some(program) = flow.app.to_be_allowed() else { continue };
        for side in Side::BOTH {
            let command = program.command(side);
            if !command.is_empty() {
                let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
                asked.push((key(side.as_str()), format!("would run {}", words.join(" "))));
            }
        }
        for (name, text) in &program.files {
            let what = format!("would write {} bytes for them", text.len());
            asked.push((key(&format!("files.{name}")), what));
        }
    }
    asked
}

/// A word of a command as a shell would have it, so that one sees where it ends; with escapes for what is not shown.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%{}".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    let mut shown = String::from("'");
    for char in word.chars() {
        match char {
            '\'' => shown.push_str("'\\''"),
            _ if is_printable(char) => shown.push(char),
            _ => shown.extend(char.escape_default()),
        }
    }
    shown.push('\'');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(app: &str) -> Vec<(String, String)> {
        let scenario = format!(
            r#"{{"duration": "1 s", "topology": {{"kind": "dumbbell",
                "bottleneck": {{"rate": "1 Mbit/s", "delay": "1 ms"}},
                "access": {{"rate": "1 Mbit/s", "delay": "1 ms"}}}},
                "flow": [{{"name": "a", "variant": "cubic"}},
                         {{"name": "b", "variant": "cubic", "app": {app}}}]}}"#
        );
        programs_asked(&crate::Scenario::from_json(&scenario).unwrap())
    }

    #[test]
    fn what_a_file_would_run_is_said_word_by_word() {
        let app = r#"{"kind": "program", "sender": ["sh", "-c", "rm -rf 'x'\n\u001b[2J"],
            "receiver": ["nc", "-l", "{port}"], "files": {"conf": "é"}}"#;
        let row = |key: &str, what: &str| (format!("flow[1].app.{key}"), what.to_owned());
        let expected = [
            row("sender", r"would run sh -c 'rm -rf '\''x'\''\n\u{1b}[2J'"),
            row("receiver", "would run nc -l {port}"),
            // Of é: two bytes in UTF-8.
            row("files.conf", "would write 2 bytes for them"),
        ];
        assert_eq!(asked(app), expected);
    }

    #[test]
    fn iperf3_is_asked_for_if_it_does_more_than_its_flow() {
        for plain in ["[]", r#"["-P", "4"]"#, r#"["--bitrate=10M", "-N"]"#, r#"["-O", "1.5"]"#] {
            assert_eq!(
                asked(&format!(r#"{{"kind": "iperf3", "options": {plain}}}"#)),
                [],
                "{plain}"
            );
        }
        // Of iperf3(1): they write files, read them, or name other programs' ends; getopt takes short forms too.
        for more in ["--logfile", "--logf", "-I/etc/x", "-F", "--pidfile=/x", "-c", "/etc/passwd"] {
            let app = format!(r#"{{"kind": "iperf3", "options": ["{more}", "7"]}}"#);
            assert_eq!(asked(&app).len(), 2, "{more}");
        }
    }
}
