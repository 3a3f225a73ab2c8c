use super::*;

fn outcome(text: &str) -> Result<(), String> {
    outcomes(&[text])
}

/// The outcome of the blocks of one script, one after the other.
fn outcomes(texts: &[&str]) -> Result<(), String> {
    let info = TcpInfo { snd_cwnd: Some(10), ca_state: Some(3), ..TcpInfo::default() };
    let (mut known, mut variables) = (BTreeSet::new(), Variables::default());
    texts.iter().try_for_each(|text| {
        let block = Block { span: Span { line: 5, column: 3 }, text: (*text).to_owned() };
        Program::read(&block, &mut known)
            .and_then(|program| program.run(&info, &mut variables))
            .map_err(|fault| format!("{}: {}", fault.span, fault.message))
    })
}

#[test]
fn names_keep_their_values_from_block_to_block() {
    let first = "w = tcpi_snd_cwnd; LIMIT = 0x7fffffff";
    let second = "w += 2; w -= 1; w *= 2; w //= 3; assert w == 7 and LIMIT > w, w";
    assert_eq!(outcomes(&[first, second]), Ok(()));
    for (text, expected) in [
        ("w += 1", "5:3: unknown name `w`"),
        ("tcpi_snd_cwnd = 9", "5:3: `tcpi_snd_cwnd` has a meaning"),
        ("max = 1", "5:3: `max` has a meaning"),
        ("pair = (1, 2)", "5:3: `pair` can keep a number or a short text only"),
        ("t = 'x'\nt = '%s%s%s%s' % (t, t, t, t)\nassert len(t) == 4", ""),
    ] {
        let error = outcome(text).err().unwrap_or_default();
        assert!(error.starts_with(expected) && error.is_empty() == expected.is_empty(), "{error}");
    }
    // A text that doubles in every statement stays short.
    let doubling = format!("t = 'x'{}", "\nt += t".repeat(40));
    assert!(outcome(&doubling).unwrap_err().contains("a short text"));
}

#[test]
fn what_holds_passes() {
    for text in [
        "",
        "assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd",
        "\n  assert 5 < tcpi_snd_cwnd <= 10  # chained\n  print('%d' % tcpi_snd_cwnd)\n",
        "assert tcpi_ca_state == TCP_CA_Recovery; assert not tcpi_snd_cwnd != 10",
        "assert tcpi_snd_cwnd in (9, 10) and tcpi_snd_cwnd not in [1, 2]",
        "assert (tcpi_snd_cwnd * 3\n  - 1) // 2 == 14",
        "assert -7 // 2 == -4 and -7 % 2 == 1 and 7 // -2 == -4 and 7 % -2 == -1",
        "assert max(1, tcpi_snd_cwnd, 3) == 10 and abs(-2) == 2 and 7 / 2 == 3.5",
        "assert 1 << 4 | 1 == 17 or 0x10",
    ] {
        assert_eq!(outcome(text), Ok(()), "{text}");
    }
}

#[test]
fn what_does_not_is_told_with_its_values_and_its_place() {
    assert_eq!(
        outcome("assert 1\nassert tcpi_snd_cwnd == 9, 'cwnd=%d' % tcpi_snd_cwnd"),
        Err("6:1: assertion failed: tcpi_snd_cwnd == 9; tcpi_snd_cwnd is 10 (\"cwnd=10\")"
            .to_owned())
    );
}

#[test]
fn what_is_not_known_is_refused_by_name() {
    let starts = |text: &str, expected: &str| {
        let error = outcome(text).unwrap_err();
        assert!(error.starts_with(expected), "{text}: {error}");
    };
    starts("import os", "5:3: `import` is refused");
    starts("assert tcpi_snd_cwmd == 1", "5:10: unknown name `tcpi_snd_cwmd` (did you mean");
    starts("assert open('x')", "5:10: unknown name `open`");
    starts("assert tcpi_rtt > 1", "5:3: `tcpi_rtt` is not given");
    starts("x.y = 1", "5:4: `.` is refused");
    starts("assert (lambda: 1)", "5:17: `:` is refused in an assertion");
    starts("assert tcpi_rtt.x", "5:18: `.` is refused");
    starts("assert 1 +", "5:13: expected a number, a name or a text, found the end of the block");
    starts("assert 1 // 0", "5:3: cannot compute 1 // 0");
}
