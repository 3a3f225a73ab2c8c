//! Folders for what programs read, print and write: the run's own, into which no other user gets.
//!
//! The holder is made as `mkdtemp(3)` does, and is root's; each flow has a folder in it, which is handed to the
//! programs' user once all that the run puts there is there. Everything is opened by descriptor, new, and never through
//! a link, as whoever may write into a folder may put a link or a FIFO where a file is expected.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::base::file_name::file_name;
use crate::programs::rights::{self, NOBODY};
use crate::sys::{self, Directory, Rights, User, acting_user, give_to};

/// A folder that holds those of flows. One that nobody asked for is gone with the run; where a run was killed,
/// with the next that makes one.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    held: Directory,
    /// The user who runs the programs.
    user: User,
    /// Locked as long as the run lasts, if the folder is to be gone.
    lock: Option<File>,
    /// The names of flows' folders.
    taken: Vec<String>,
}

/// The first part of the names of temporary folders.
const PREFIX: &str = "ackclock-programs-";
const LOCK: &str = ".lock";
/// The most attempts to make a folder, when another run removes each new one as a leftover.
const TRIES: usize = 8;

/// Mode bits with which others may write.
const OTHERS_WRITE: u32 = 0o022;
const ALL_WRITE: u32 = 0o002;
/// The sticky bit: names in such a folder are changed by their owners alone.
const STICKY: u32 = 0o1000;

impl Folder {
    /// The one that was asked for, or a new one where temporary files are; `rights` are those of programs.
    ///
    /// # Errors
    /// It cannot be made, or others could change what is in it.
    pub fn new(asked: Option<&Path>, rights: Rights) -> io::Result<Self> {
        let user = match rights {
            Rights::Ordinary(Some(user)) => user,
            Rights::Ordinary(None) | Rights::All => acting_user(),
        };
        if let Some(path) = asked {
            return Self::asked(path, user);
        }
        let temporary = std::env::temp_dir();
        Self::temporary(&temporary, user).map_err(|error| {
            let reason = format!("TMPDIR, {}: {error}", temporary.display());
            io::Error::new(error.kind(), reason)
        })
    }

    fn asked(path: &Path, user: User) -> io::Result<Self> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        fs::create_dir_all(parent)?;
        let parent = parent.canonicalize()?;
        if user == acting_user() {
            refuse_any_open(&parent, user)?;
        }
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| io::Error::other("expected a folder with a name"))?;
        let outer = Directory::open(&parent)?;
        let held = enter_or_make(&outer, name, 0o755)?;
        let path = parent.join(name);
        refuse_open(&held.about()?, &path, user)?;
        Ok(Self { path, held, user, lock: None, taken: Vec::new() })
    }

    fn temporary(temporary: &Path, user: User) -> io::Result<Self> {
        let temporary = temporary.canonicalize()?;
        refuse_any_open(&temporary, user)?;
        remove_left(&temporary);
        for _ in 0..TRIES {
            let path = sys::new_private_directory(&temporary.join(PREFIX))?;
            let held = Directory::open(&path)?;
            let lock = held.create(LOCK, 0o600)?;
            // Another run may have looked just now for what was left.
            if lock.try_lock().is_ok() && lock.metadata()?.nlink() > 0 {
                if user != acting_user() {
                    // Programs have to come through it, and see nothing of it.
                    held.give_to(User { uid: acting_user().uid, gid: user.gid })?;
                    held.set_mode(0o710)?;
                }
                return Ok(Self { path, held, user, lock: Some(lock), taken: Vec::new() });
            }
        }
        Err(io::Error::other("other runs remove what is made"))
    }

    /// A folder in it for a flow's programs, the run's until it is [handed over](FlowFolder::hand_over).
    ///
    /// # Errors
    /// It cannot be made, or is another user's.
    pub fn of_flow(&mut self, flow: &str) -> io::Result<FlowFolder> {
        let name = file_name(flow, &mut self.taken);
        let held = enter_or_make(&self.held, &name, 0o700)?;
        let path = self.path.join(&name);
        let owner = held.about()?.uid();
        if owner != acting_user().uid && owner != self.user.uid {
            return Err(belongs_to(&path, owner));
        }
        // Whoever had it may have put something into it meanwhile: what the run needs is made anew.
        held.give_to(acting_user())?;
        held.set_mode(0o700)?;
        Ok(FlowFolder { path, held, user: self.user })
    }
}

/// The folder of a flow's programs.
#[derive(Debug)]
pub struct FlowFolder {
    path: PathBuf,
    held: Directory,
    user: User,
}

impl FlowFolder {
    /// The path by which programs find it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A new file in it, which the programs' user may read and write; what had its name is gone.
    ///
    /// # Errors
    /// A folder has the name, or the disk is full.
    pub fn file(&self, name: &str) -> io::Result<File> {
        let file = self.held.replace(name, 0o644)?;
        if self.user != acting_user() {
            give_to(&file, self.user)?;
        }
        Ok(file)
    }

    /// Hands it to the programs' user, who has to be able to reach it.
    ///
    /// # Errors
    /// One of the folders above it is closed to that user.
    pub fn hand_over(self) -> io::Result<()> {
        if self.user == acting_user() {
            return Ok(());
        }
        self.held.give_to(self.user)?;
        let path = self.path;
        let reached = sys::as_user(Some(self.user), || Ok(sys::may(&path, libc::X_OK)))?;
        if reached {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "{} is closed to user {}, who runs the programs; expected a folder that is open to that user \
             (--out, or TMPDIR), or --as-root",
            path.display(),
            self.user.uid
        )))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.lock.is_some() {
            // Without the right to that it is left for the next run.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

fn enter_or_make(outer: &Directory, name: &str, mode: libc::mode_t) -> io::Result<Directory> {
    match outer.make(name, mode) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => outer.enter(name).map_err(|error| match error.raw_os_error() {
            Some(libc::ENOTDIR | libc::ELOOP) => {
                io::Error::other(format!("{name}: is a link or a file, expected a folder"))
            }
            _ => error,
        }),
    }
}

fn belongs_to(path: &Path, owner: u32) -> io::Error {
    io::Error::other(format!("{} belongs to user {owner}", path.display()))
}

/// Refuses a folder in which somebody else could put another file in the place of one of ours.
fn refuse_open(about: &Metadata, path: &Path, user: User) -> io::Result<()> {
    if about.mode() & ALL_WRITE != 0 && about.mode() & STICKY == 0 {
        let path = path.display();
        return Err(io::Error::other(format!(
            "every user may change what is in {path} (chmod o-w, or +t)"
        )));
    }
    // The owner may, whatever the mode.
    let trusted = [0, acting_user().uid, user.uid].contains(&about.uid());
    // A user namespace shows the machine's root as the overflow user.
    let is_roots = about.uid() == NOBODY.uid && !rights::sees_every_user();
    if trusted || is_roots { Ok(()) } else { Err(belongs_to(path, about.uid())) }
}

/// Refuses a folder if it, or any folder above it, is open to others: programs find theirs by its path.
fn refuse_any_open(path: &Path, user: User) -> io::Result<()> {
    path.ancestors().try_for_each(|path| refuse_open(&fs::metadata(path)?, path, user))
}

/// Removes the folders of runs that were killed: those of this user whose locks nobody holds. What others have
/// put there under such a name is left alone.
fn remove_left(temporary: &Path) {
    let (Ok(entries), Ok(held)) = (fs::read_dir(temporary), Directory::open(temporary)) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else { continue };
        let Ok(folder) = held.enter(name) else { continue };
        let own =
            |about: Metadata| about.uid() == acting_user().uid && about.mode() & OTHERS_WRITE == 0;
        if !folder.about().is_ok_and(own) {
            continue;
        }
        if folder.plain(LOCK).is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests;
