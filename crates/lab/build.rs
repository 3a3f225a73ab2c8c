//! The version of the engine's rules: a hash of the sources that decide numbers.
//!
//! Builds of one source have the same, whatever their profile, place and time, and whoever keeps results under it neither
//! runs them again after `make` nor believes them after an edit. A line that is a comment decides nothing.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The crates whose sources decide no number of a run, and so do not count.
const NOT: [&str; 3] = ["python", "web", "writer"];

/// Sources in them that do: a law in Python is called there.
const STILL: [&str; 1] = ["crates/python/src/law.rs"];

/// Other people's crates that decide numbers, by their entries in the lock file: the functions of mathematics.
const FOREIGN: [&str; 1] = ["libm"];

fn main() {
    let root =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("Cargo sets it")).join("../..");
    let files = STILL.iter().chain(&["Cargo.lock"]).map(|file| (*file).to_owned());
    for name in crates(&root).into_iter().chain(files) {
        println!("cargo:rerun-if-changed={}", root.join(name).display());
    }
    println!("cargo:rustc-env=ACKCLOCK_RULES={:016x}", rules(&root));
}

/// The hash of the sources of the workspace at `root`, each with its path in it.
///
/// # Panics
/// A source that is no text.
pub fn rules(root: &Path) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325;
    for source in sources(root) {
        let text = fs::read_to_string(&source).expect("a source is text");
        let path = source.strip_prefix(root).expect("it is found there");
        let path: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
        state = hashed(state, &path.join("/"));
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
            state = hashed(state, line);
        }
    }
    let lock = fs::read_to_string(root.join("Cargo.lock")).unwrap_or_default();
    for entry in lock.split("\n\n") {
        if FOREIGN.iter().any(|name| entry.contains(&format!("name = \"{name}\"\n"))) {
            state = hashed(state, entry.trim());
        }
    }
    state
}

/// FNV-1a of `state` and a text with its end.
fn hashed(state: u64, text: &str) -> u64 {
    text.bytes()
        .chain([0])
        .fold(state, |state, byte| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The folders of sources, in the order of their names.
fn crates(root: &Path) -> Vec<String> {
    let mut found: Vec<String> = listed(&root.join("crates"))
        .iter()
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .filter(|name| !NOT.contains(&&**name))
        .flat_map(|name| [format!("crates/{name}/src"), format!("crates/{name}/bpf")])
        .filter(|folder| root.join(folder).is_dir())
        .collect();
    found.sort();
    found
}

/// The sources, tests in files of their own left out.
fn sources(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = STILL.iter().map(|path| root.join(path)).collect();
    let mut open: Vec<PathBuf> = crates(root).iter().map(|folder| root.join(folder)).collect();
    while let Some(folder) = open.pop() {
        for path in listed(&folder) {
            let is_test = path.file_stem().is_some_and(|name| name == "tests");
            let is_source =
                path.extension().is_some_and(|end| end == "rs" || end == "c" || end == "h");
            if path.is_dir() && !is_test {
                open.push(path);
            } else if is_source && !is_test {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}
