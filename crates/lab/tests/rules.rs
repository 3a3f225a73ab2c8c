//! The version of the engine's rules is one of the sources, and of nothing else.

#[path = "../build.rs"]
#[expect(dead_code, reason = "what Cargo calls when it builds the crate")]
mod build;

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A copy of the sources in another folder, as another's clone has them.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() && name != "target" {
            copy(&path, &to.join(name));
        } else if path.is_file() {
            fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

#[test]
fn two_builds_of_one_source_have_the_same_rules_and_an_edit_has_others() {
    let own = u64::from_str_radix(ackclock_lab::rules(), 16).unwrap();
    // Cargo built the crate in one profile; this is a second build of the same text, in another.
    assert_eq!(build::rules(&root()), own);
    let clone = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("rules");
    let _ = fs::remove_dir_all(&clone);
    copy(&root().join("crates"), &clone.join("crates"));
    fs::copy(root().join("Cargo.lock"), clone.join("Cargo.lock")).unwrap();
    assert_eq!(build::rules(&clone), own, "another folder, written at another time");
    // A build in the folder, a test and a comment decide nothing.
    fs::create_dir_all(clone.join("target/debug")).unwrap();
    fs::write(clone.join("target/debug/made.rs"), "fn main() {}").unwrap();
    fs::write(clone.join("crates/laws/src/idle/tests.rs"), "").unwrap();
    let edit = |path: &str, from: &str, to: &str| {
        let path = clone.join(path);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{from}");
        fs::write(path, text.replacen(from, to, 1)).unwrap();
    };
    let reno = "crates/laws/src/growth/reno.rs";
    edit(reno, "//!", "//! Edited.");
    assert_eq!(build::rules(&clone), own);
    // A law, a file that comes, how Python's laws are called, the functions of mathematics: each of them decides.
    let mut seen = vec![own];
    let mut expect_new = |what: &str| {
        let found = build::rules(&clone);
        assert!(!seen.contains(&found), "{what}");
        seen.push(found);
    };
    edit(reno, "fn ", "fn  ");
    expect_new("a law");
    fs::write(clone.join("crates/net/src/new.rs"), "").unwrap();
    expect_new("a file that comes");
    edit("crates/python/src/law.rs", "fn ", "fn  ");
    expect_new("laws in Python");
    edit("Cargo.lock", "name = \"libm\"\nversion = \"", "name = \"libm\"\nversion = \"9");
    expect_new("mathematics");
    fs::remove_dir_all(&clone).unwrap();
}
