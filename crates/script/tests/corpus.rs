//! The fuzzer's entry over a corpus that is the same in every run: the scripts of `scripts/`, damaged
//! at random.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use ackclock_script::{fuzz_script, parse};
use ackclock_units::random::Stream;

const INPUTS: usize = 20_000;

/// Texts that replace a number.
const NUMBERS: [&[u8]; 12] = [
    b"0",
    b"1",
    b"-1",
    b"65535",
    b"65536",
    b"2147483648",
    b"4294967295",
    b"4294967296",
    b"9223372036854775807",
    b"18446744073709551616",
    b"1e300",
    b"0.0000000001",
];

/// Texts that are put in anywhere.
const WORDS: [&[u8]; 20] = [
    b"...", b"<", b">", b"(", b")", b"[", b"]", b"{", b"}", b"~", b"*", b"|", b"`", b"%{", b"}%",
    b"\"", b"/*", b"\n", b"\0", b"\xff",
];

fn scripts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            scripts(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "pkt") {
            found.push(path);
        }
    }
}

fn below(random: &mut Stream, end: usize) -> usize {
    usize::try_from(random.next_u64() >> 33).unwrap() % end.max(1)
}

/// A place in `text` at which a line begins.
fn line(random: &mut Stream, text: &[u8]) -> usize {
    let at = below(random, text.len());
    text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}

/// The line that begins at `start`, its end included.
fn line_at(text: &[u8], start: usize) -> &[u8] {
    let rest = &text[start..];
    let len = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| end + 1);
    &rest[..len]
}

fn mutate(random: &mut Stream, text: &mut Vec<u8>, other: &[u8]) {
    if text.is_empty() {
        text.extend_from_slice(other);
    }
    let at = below(random, text.len());
    match below(random, 8) {
        0 => text[at] ^= 1 << below(random, 8),
        1 => text[at] = b" \t0123456789.+-<>()"[below(random, 19)],
        2 => drop(text.splice(at..at, WORDS[below(random, WORDS.len())].iter().copied())),
        3 => {
            let end = (at + below(random, 20)).min(text.len());
            drop(text.drain(at..end));
        }
        4 => {
            let start = line(random, text);
            let len = line_at(text, start).len();
            drop(text.drain(start..start + len));
        }
        5 => {
            let (from, to) = (line(random, text), line(random, text));
            let again = line_at(text, from).to_vec();
            drop(text.splice(to..to, again));
        }
        6 => {
            let (from, to) = (line(random, other), line(random, text));
            drop(text.splice(to..to, line_at(other, from).iter().copied()));
        }
        _ => {
            let digits = |text: &[u8], at: usize| {
                text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count()
            };
            let numbers: Vec<usize> = (0..text.len())
                .filter(|&at| digits(text, at) > 0 && (at == 0 || digits(text, at - 1) == 0))
                .collect();
            if !numbers.is_empty() {
                let at = numbers[below(random, numbers.len())];
                let end = at + digits(text, at);
                let number = NUMBERS[below(random, NUMBERS.len())];
                drop(text.splice(at..end, number.iter().copied()));
            }
        }
    }
}

#[test]
fn no_damaged_script_makes_it_panic() {
    let mut found = Vec::new();
    scripts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts"), &mut found);
    found.sort();
    let originals: Vec<Vec<u8>> = found.iter().map(|path| fs::read(path).unwrap()).collect();
    assert!(originals.len() > 40, "only {} scripts found", originals.len());
    let mut random = Stream::new(1, "fuzz corpus");
    let mut read = 0;
    for n in 0..INPUTS {
        let mut text = originals[n % originals.len()].clone();
        let other = &originals[below(&mut random, originals.len())];
        for _ in 0..=below(&mut random, 5) {
            mutate(&mut random, &mut text, other);
        }
        read += usize::from(parse("corpus.pkt", &String::from_utf8_lossy(&text)).is_ok());
        let ran = catch_unwind(AssertUnwindSafe(|| fuzz_script(&text))).is_ok();
        assert!(ran, "input {n} made it panic:\n{}", String::from_utf8_lossy(&text));
    }
    // Damage that is noticed in reading, and damage that reaches the end point.
    assert!((INPUTS / 10..INPUTS * 9 / 10).contains(&read), "{read} of {INPUTS} could be read");
}
