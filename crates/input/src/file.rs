//! Files: read to their end within bounds, and why one is not read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::document::line_at;
use crate::{Fault, did_you_mean};

/// The largest file that is read. A scenario of ten thousand links is a tenth of it.
pub const MAX_FILE_BYTES: u64 = 16 << 20;

/// The text of a file; `expected` is the end of the message if there is none.
pub fn read(path: &Path, expected: &str) -> Result<String, Fault> {
    let fault = |problem: String| Fault::new("", format!("{problem}, {expected}"));
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| fault(problem(&error) + &near_file(path, &error)))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(fault(format!("is larger than {} MiB", MAX_FILE_BYTES >> 20)));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Fault {
            line: Some(line_at(error.as_bytes(), at)),
            ..fault(format!("byte {} is not UTF-8 text", at + 1))
        }
    })
}

/// Opens a file that is read where no interrupt reaches the reader: a pipe or a terminal would keep it waiting.
///
/// # Errors
/// There is none, or it is something else.
pub fn open(path: &Path) -> io::Result<File> {
    let about = path.metadata()?;
    if about.is_file() || about.is_dir() {
        File::open(path)
    } else {
        Err(io::ErrorKind::InvalidInput.into())
    }
}

/// Why a file or a folder is not read.
pub fn problem(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::IsADirectory => "is a folder".to_owned(),
        io::ErrorKind::InvalidInput => "is no plain file".to_owned(),
        kind => format!("cannot be read ({kind})"),
    }
}

/// The most names of a folder among which the nearest is looked for.
const MOST_NAMES: usize = 10_000;

/// ` (did you mean ...?)` if there is no file at `path` and one of a near name beside it; or nothing.
fn near_file(path: &Path, error: &io::Error) -> String {
    let name = path.file_name().and_then(|name| name.to_str());
    let (io::ErrorKind::NotFound, Some(name)) = (error.kind(), name) else { return String::new() };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = folder.unwrap_or(Path::new(".")).read_dir() else { return String::new() };
    let mut names: Vec<String> = entries
        .take(MOST_NAMES)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    // Folders list their names in no order.
    names.sort_unstable();
    did_you_mean(name, names.iter().map(String::as_str))
}
