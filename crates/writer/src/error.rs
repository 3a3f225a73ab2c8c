//! Why a file is not written, in words.

use std::io;
use std::path::Path;

/// Why a result could not be kept: one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot write {path}: {problem}")]
pub struct WriteError {
    path: String,
    problem: String,
}

/// The longest path in a message.
const MOST_CHARS: usize = 500;

impl WriteError {
    /// The path, and what is wrong with it.
    pub fn new(path: &Path, problem: &str) -> Self {
        Self { path: shown(&path.display().to_string()), problem: shown(problem) }
    }

    /// The path, and what the system said.
    pub fn io(path: &Path, error: &io::Error) -> Self {
        Self::new(path, &in_words(error))
    }
}

/// The text of the system's error, in words and by the name that manuals have for it.
pub fn in_words(error: &io::Error) -> String {
    let code = error.raw_os_error();
    let known = TABLE.iter().find(|(number, kind, ..)| match code {
        Some(code) => *number == code,
        None => *kind == Some(error.kind()),
    });
    match known {
        Some((_, _, name, words)) => format!("{words} ({name})"),
        None => error.to_string(),
    }
}

type Row = (libc::c_int, Option<io::ErrorKind>, &'static str, &'static str);

/// The errors of open(2), mkdir(2), write(2), fsync(2) and rename(2).
const TABLE: [Row; 17] = [
    (libc::ENOSPC, Some(io::ErrorKind::StorageFull), "ENOSPC", "the disk is full"),
    (libc::EDQUOT, Some(io::ErrorKind::QuotaExceeded), "EDQUOT", "the quota is used up"),
    (libc::EROFS, Some(io::ErrorKind::ReadOnlyFilesystem), "EROFS", "the file system is read-only"),
    (libc::EACCES, Some(io::ErrorKind::PermissionDenied), "EACCES", "no permission"),
    (libc::EPERM, None, "EPERM", "not permitted"),
    (libc::ENOENT, Some(io::ErrorKind::NotFound), "ENOENT", "no such folder"),
    (libc::ENOTDIR, Some(io::ErrorKind::NotADirectory), "ENOTDIR", "is a file, expected a folder"),
    (libc::EISDIR, Some(io::ErrorKind::IsADirectory), "EISDIR", "is a folder, expected a file"),
    (
        libc::ENAMETOOLONG,
        Some(io::ErrorKind::InvalidFilename),
        "ENAMETOOLONG",
        "the name is too long",
    ),
    (libc::EFBIG, Some(io::ErrorKind::FileTooLarge), "EFBIG", "the file is larger than is allowed"),
    (libc::ELOOP, None, "ELOOP", "the links lead in a circle"),
    (libc::EIO, None, "EIO", "the disk does not work"),
    (libc::EMFILE, None, "EMFILE", "too many open files"),
    (libc::ENFILE, None, "ENFILE", "too many open files on this machine"),
    (libc::EINVAL, Some(io::ErrorKind::InvalidInput), "EINVAL", "no name for a file"),
    (
        libc::ESTALE,
        Some(io::ErrorKind::StaleNetworkFileHandle),
        "ESTALE",
        "the folder is gone from its server",
    ),
    (libc::EINTR, Some(io::ErrorKind::Interrupted), "EINTR", "interrupted"),
];

/// On one line, with what could disturb a terminal made visible.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    for (i, char) in text.chars().enumerate() {
        match char {
            _ if i == MOST_CHARS => {
                shown.push('…');
                break;
            }
            '\'' | '"' | '\\' => shown.push(char),
            _ => shown.extend(char.escape_debug()),
        }
    }
    shown
}
