//! Answers of this machine to requests, which the same core in WebAssembly has to give too, to the last bit:
//! `answers FOLDER` writes `N.json` and `N.bin` for random scenarios and for the examples.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../sim/src/tests/dice.rs"]
mod dice;

use dice::Dice;
use serde_json::{Value, json};

/// The random scenarios that can be run.
const SCENARIOS: usize = 200;

fn main() {
    let folder = std::env::args().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    fs::create_dir_all(&folder).expect("a folder");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<PathBuf> = fs::read_dir(examples)
        .expect("the examples")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    files.sort();
    let mut requests: Vec<(String, Value)> = Vec::new();
    for path in &files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(path).expect("an example");
        let text = json!({ "file": name, "text": text });
        requests.push((name, json!({ "do": "run", "text": text, "watch": false })));
    }
    requests.push(("words".to_owned(), json!({ "do": "about" })));
    let mut seed = 0;
    let mut runnable = 0;
    while runnable < SCENARIOS {
        let tree = Dice::new(seed).scenario(seed);
        let text = json!({ "file": format!("{seed}.json"), "text": tree.to_string() });
        let request = json!({ "do": "run", "text": text, "watch": seed.is_multiple_of(2) });
        // A scenario that cannot be run is refused in the same line.
        runnable += usize::from(!ackclock_web::answer(&request.to_string()).starts_with_error());
        requests.push((format!("scenario {seed}"), request));
        if seed.is_multiple_of(20) {
            let text = request_text(&requests);
            let segments = json!({ "do": "segments", "text": text, "from_s": 0.1, "until_s": 1.5 });
            requests.push((format!("segments {seed}"), segments));
            let capture = json!({ "do": "capture", "text": text, "link": null });
            requests.push((format!("capture {seed}"), capture));
        }
        seed += 1;
    }
    for (n, (_, request)) in requests.iter().enumerate() {
        let request = request.to_string();
        fs::write(folder.join(format!("{n}.bin")), ackclock_web::answer(&request)).expect("a file");
        fs::write(folder.join(format!("{n}.json")), request).expect("a file");
    }
    println!("{} requests, {runnable} random runs, {} examples", requests.len(), files.len());
}

fn request_text(requests: &[(String, Value)]) -> Value {
    requests[requests.len() - 1].1["text"].clone()
}

/// A header that tells an error.
trait Header {
    fn starts_with_error(&self) -> bool;
}

impl Header for Vec<u8> {
    fn starts_with_error(&self) -> bool {
        self[4..].starts_with(br#"{"error":"#)
    }
}
