//! Linux's laws, event by event: traces of the kernel's own modules are given to senders under the profile `linux`, whose
//! windows, thresholds and states are the kernel's after each event.
//!
//! `crates/tcp/tests/data/linux-laws` says what the files are. A folder with more of them is given in
//! `ACKCLOCK_LAW_TRACES`.

use std::path::{Path, PathBuf};

use ackclock_input::read_law_trace;
use ackclock_tcp::judge::law_trace::{Comparison, Plan, compare};
use ackclock_tcp::variant::Variant;
use ackclock_tcp::{Config, Profile};

/// The laws whose files do not begin with the name of their sender.
const SENDERS: [(&str, &str); 4] = [
    ("cubic_nohystart", "cubic+abc(unlimited)"),
    ("cdg_nohystart", "cdg(nohystart)"),
    ("lp_hz1000", "lp(ms)"),
    ("lp_off5e6", "lp"),
];

fn sender(law: &str) -> &str {
    SENDERS.iter().find(|(known, _)| *known == law).map_or(law, |(_, sender)| sender)
}

fn compared(law: &str, file: &Path) -> Option<Comparison> {
    let parts = sender(law).parse::<Variant>().ok()?.resolve(Profile::Linux).ok()?;
    if !parts.growth.about().is_linux() {
        // The papers' form.
        return None;
    }
    let stamp_offset = if law == "lp_off5e6" { 5_000_000 } else { 0 };
    let rows = read_law_trace(file).unwrap();
    let plan = Plan { stamp_offset, ..Plan::default() };
    Some(compare(&Config::new(parts, Profile::Linux), plan, rows))
}

/// The number of traces in `folder`; all agree.
fn compare_all(folder: &Path) -> usize {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.to_string_lossy().ends_with(".csv.gz"));
    files.sort();
    let mut wrong = Vec::new();
    let mut count = 0;
    for file in &files {
        let name = file.file_name().unwrap().to_string_lossy();
        let law = name.split('.').next().unwrap_or_default();
        let Some(found) = compared(law, file) else { continue };
        count += 1;
        println!("{name}: {} of {} equal", found.equal, found.compared);
        let counts = [found.ssthresh_equal, found.state_equal];
        if found.equal != found.compared || counts != [found.events; 2] {
            wrong.push(format!("{name}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), files.len(), wrong.join("\n"));
    println!("{count} traces compared, {} of laws that are not here left out", files.len() - count);
    count
}

#[test]
fn the_laws_of_linux_move_as_the_kernels_do() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tcp/tests/data/linux-laws");
    assert_eq!(compare_all(Path::new(folder)), 33);
}

#[test]
fn so_they_do_in_every_trace_at_hand() {
    let Some(folder) = std::env::var_os("ACKCLOCK_LAW_TRACES") else {
        println!("skipped: ACKCLOCK_LAW_TRACES names no folder of traces");
        return;
    };
    compare_all(Path::new(&folder));
}
