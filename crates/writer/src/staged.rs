//! Files that have not got their names yet.
//!
//! Each is locked by its writer as long as it is open, so that a file of a run that was killed is told from one of a run that
//! goes on.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::Place;

const BEGIN: &str = ".ackclock-";
const END: &str = ".part";

/// A file under another name until all of it is there; one that is dropped before goes.
#[derive(Debug)]
pub struct Staged {
    pub(crate) path: PathBuf,
    pub(crate) temporary: PathBuf,
    pub(crate) file: File,
    pub(crate) place: Option<Place>,
}

impl Staged {
    /// The final path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // After the rename there is nothing left to remove.
        let _ = fs::remove_file(&self.temporary);
        if let Some(place) = &self.place {
            place.forget(&self.temporary);
        }
    }
}

/// A new file in `folder`, locked.
pub(crate) fn make(folder: &Path) -> io::Result<(File, PathBuf)> {
    // Two writers of one folder must not share a file.
    static WRITERS: AtomicU32 = AtomicU32::new(0);
    loop {
        let writer = WRITERS.fetch_add(1, Ordering::Relaxed);
        // Short: a name that a folder can have is not too long by what is added.
        let path = folder.join(format!("{BEGIN}{}-{writer}{END}", process::id()));
        // Neither a link nor a file that somebody put there is written to.
        let made = OpenOptions::new()
            .write(true)
            .create_new(true)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&path);
        let file = match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            made => made?,
        };
        // Before it was locked another run may have taken it for one that was left.
        match file.try_lock() {
            Err(fs::TryLockError::WouldBlock) => {}
            Ok(()) if file.metadata()?.nlink() == 0 => {}
            Ok(()) | Err(fs::TryLockError::Error(_)) => return Ok((file, path)),
        }
    }
}

/// Removes the files of runs that were killed: those whose locks nobody holds.
pub(crate) fn remove_left(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|name| name.starts_with(BEGIN) && name.ends_with(END));
        if !ours {
            continue;
        }
        // It may be another user's, or no file.
        let Ok(file) = crate::open_regular(&entry.path()) else { continue };
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(entry.path());
        }
    }
}
