//! Errors of TOML's syntax, with what to write.

use super::Fault;

/// A fault of syntax, with what to write if that can be told. `lists` are the keys of lists of tables.
pub(super) fn explained(text: &str, fault: Fault, lists: &[&str]) -> Fault {
    let line = fault.line.and_then(|line| text.lines().nth(line - 1)).unwrap_or_default();
    let message = if fault.message.ends_with("duplicate key") {
        one_bracket(text, lists).map(|(at, name)| {
            let message =
                format!("write `[[{name}]]`, with two brackets: there may be several `{name}`");
            Fault { line: Some(at), ..Fault::new("", message) }
        })
    } else if !fault.message.starts_with("TOML syntax") {
        None
    } else {
        unquoted(line).map(|written| {
            let message = format!("write `{written}`: a text stands in quotes");
            Fault { line: fault.line, ..Fault::new("", message) }
        })
    };
    message.unwrap_or(fault)
}

/// The first line that begins a table where a list of tables is wanted.
fn one_bracket<'t>(text: &'t str, lists: &[&str]) -> Option<(usize, &'t str)> {
    (1..).zip(text.lines()).find_map(|(at, line)| {
        let name = line.trim().strip_prefix('[')?.split(']').next()?.trim();
        lists.contains(&name).then_some((at, name))
    })
}

/// `key = 20 Mbit/s` with its quotes.
fn unquoted(line: &str) -> Option<String> {
    let (key, value) = line.split('#').next()?.split_once('=')?;
    let (key, value) = (key.trim(), value.trim());
    let plain = |text: &str, more: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || more.contains(c))
    };
    (plain(key, "_.") && plain(value, " _./%+-")).then(|| format!("{key} = \"{value}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained_message(text: &str) -> String {
        let fault = crate::document::Document::from_toml(text).unwrap_err();
        let fault = explained(text, fault, &["flow"]);
        format!("{}: {}", fault.line.unwrap_or_default(), fault.message)
    }

    #[test]
    fn a_list_written_as_one_table_is_told_with_its_brackets() {
        let said = "1: write `[[flow]]`, with two brackets: there may be several `flow`";
        assert_eq!(explained_message("[flow]\na = 1\n[flow]\n"), said);
        assert_eq!(explained_message("[flow]\na = 1\n[[flow]]\n"), said);
        assert!(explained_message("seed = 1\nseed = 2\n").ends_with("duplicate key"));
    }

    #[test]
    fn a_text_without_quotes_is_told_with_them() {
        assert_eq!(
            explained_message("a = 1\nrate = 20 Mbit/s # fast\n"),
            "2: write `rate = \"20 Mbit/s\"`: a text stands in quotes"
        );
        assert_eq!(
            explained_message("variant = cubic+rack\n"),
            "1: write `variant = \"cubic+rack\"`: a text stands in quotes"
        );
        assert!(explained_message("a = \"x\n").contains("TOML syntax"));
    }
}
