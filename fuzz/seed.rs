//! Writes what the fuzzers begin with into `fuzz/corpus`: packets of every kind, and the scripts of
//! `crates/script/scripts`.

use std::path::{Path, PathBuf};
use std::{fs, io};

use ackclock_units::random::Stream;

const PACKETS: u32 = 500;

fn main() -> io::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let packets = here.join("corpus/parse");
    fs::create_dir_all(&packets)?;
    let mut random = Stream::new(1, "fuzz seeds");
    for n in 0..PACKETS {
        fs::write(packets.join(format!("seed-{n}")), ackclock_wire::fuzz_packet(&mut random))?;
    }
    let scripts = here.join("corpus/script");
    fs::create_dir_all(&scripts)?;
    let mut found = Vec::new();
    find(&here.join("../crates/script/scripts"), &mut found)?;
    for path in &found {
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
        let name = path.file_name().unwrap_or_default();
        let name = format!("seed-{}-{}", folder.display(), name.display());
        fs::copy(path, scripts.join(name))?;
    }
    println!("{PACKETS} packets and {} scripts in {}", found.len(), here.join("corpus").display());
    Ok(())
}

fn find(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "pkt") {
            found.push(path);
        }
    }
    Ok(())
}
