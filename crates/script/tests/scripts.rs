//! The scripts of `scripts/`, each against our own end point.

use std::fs;
use std::path::{Path, PathBuf};

use ackclock_script::{Settings, drill};

/// Scripts that the end point fails today, each with the reason. One that passes must leave.
const EXPECTED_TO_FAIL: &[(&str, &str)] = &[];

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

#[test]
fn our_scripts_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut found = Vec::new();
    scripts(&folder, &mut found);
    found.sort();
    assert!(found.len() > 40, "only {} scripts found", found.len());
    let settings = Settings { strict_end: true, ..Settings::default() };
    let mut wrong = Vec::new();
    for path in &found {
        let name = path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/");
        let text = fs::read_to_string(path).unwrap();
        assert!(text.starts_with("// "), "{name} does not begin with its arithmetic");
        // Ours hold to the millisecond.
        let text = format!("--tolerance_percent=0 {text}");
        let expected = EXPECTED_TO_FAIL.iter().find(|(known, _)| *known == name);
        match (drill(&name, &text, &settings).result, expected) {
            (Ok(_), None) | (Err(_), Some(_)) => {}
            (Err(failure), None) => wrong.push(failure.to_string()),
            (Ok(_), Some((_, why))) => wrong.push(format!("{name}: passes now; it failed: {why}")),
        }
    }
    for (name, _) in EXPECTED_TO_FAIL {
        assert!(folder.join(name).exists(), "{name} is expected to fail and is not there");
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
