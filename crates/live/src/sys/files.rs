//! Files by descriptor: no path is looked up twice, no link is followed, nothing is opened blindly.

use std::ffi::{CString, OsStr};
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::check;
use super::rights::User;

/// A folder that is held open, so that nobody can put another in its place.
#[derive(Debug)]
pub struct Directory(File);

const OF_DIRECTORY: libc::c_int = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;

fn text(name: &OsStr) -> io::Result<CString> {
    Ok(CString::new(name.as_bytes())?)
}

fn file(answer: libc::c_int) -> io::Result<File> {
    let number = check(answer)?;
    // SAFETY: the call just made it, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) }.into())
}

impl Directory {
    /// The folder at `path`, a link to one included.
    ///
    /// # Errors
    /// There is none, or this user may not.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = text(path.as_os_str())?;
        // SAFETY: text that ends in zero.
        file(unsafe { libc::open(path.as_ptr(), OF_DIRECTORY) }).map(Self)
    }

    fn at(&self, name: &str, flags: libc::c_int, mode: libc::mode_t) -> io::Result<File> {
        let name = text(name.as_ref())?;
        let flags = flags | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        // SAFETY: text that ends in zero.
        file(unsafe { libc::openat(self.0.as_raw_fd(), name.as_ptr(), flags, mode) })
    }

    /// The folder `name` in it, which is no link.
    ///
    /// # Errors
    /// There is no such folder.
    pub fn enter(&self, name: &str) -> io::Result<Self> {
        self.at(name, OF_DIRECTORY, 0).map(Self)
    }

    /// Makes the folder `name`.
    ///
    /// # Errors
    /// Something is there.
    pub fn make(&self, name: &str, mode: libc::mode_t) -> io::Result<()> {
        let name = text(name.as_ref())?;
        // SAFETY: text that ends in zero.
        check(unsafe { libc::mkdirat(self.0.as_raw_fd(), name.as_ptr(), mode) }).map(drop)
    }

    /// A new file `name`, to be read and written.
    ///
    /// # Errors
    /// Something is there, be it a link to nowhere.
    pub fn create(&self, name: &str, mode: libc::mode_t) -> io::Result<File> {
        self.at(name, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL, mode)
    }

    /// A new file `name` in the place of one that is there.
    ///
    /// # Errors
    /// A folder is there.
    pub fn replace(&self, name: &str, mode: libc::mode_t) -> io::Result<File> {
        match self.remove(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => self.create(name, mode),
        }
    }

    /// The file `name`, to be read and written, if it is a plain one of this process's user. A FIFO does not
    /// keep the caller waiting.
    ///
    /// # Errors
    /// It is a link, no plain file, or another user's.
    pub fn plain(&self, name: &str) -> io::Result<File> {
        let file = self.at(name, libc::O_RDWR | libc::O_NONBLOCK | libc::O_NOCTTY, 0)?;
        let about = file.metadata()?;
        if !about.is_file() {
            return Err(io::Error::other("is no plain file"));
        }
        if about.uid() != super::rights::acting_user().uid {
            return Err(io::Error::other(format!("belongs to user {}", about.uid())));
        }
        Ok(file)
    }

    /// Removes the file or link `name`.
    ///
    /// # Errors
    /// There is none, or it is a folder.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        let name = text(name.as_ref())?;
        // SAFETY: text that ends in zero.
        check(unsafe { libc::unlinkat(self.0.as_raw_fd(), name.as_ptr(), 0) }).map(drop)
    }

    /// Whose it is, and who may do what.
    ///
    /// # Errors
    /// The file system's.
    pub fn about(&self) -> io::Result<Metadata> {
        self.0.metadata()
    }

    /// Has these rights from now on.
    ///
    /// # Errors
    /// It is another user's.
    pub fn set_mode(&self, mode: libc::mode_t) -> io::Result<()> {
        // SAFETY: takes no pointer.
        check(unsafe { libc::fchmod(self.0.as_raw_fd(), mode) }).map(drop)
    }

    /// Hands it to a user and that user's group.
    ///
    /// # Errors
    /// This user may not.
    pub fn give_to(&self, user: User) -> io::Result<()> {
        give_to(&self.0, user)
    }
}

/// Hands a file to a user and that user's group.
///
/// # Errors
/// This user may not.
pub fn give_to(file: &File, user: User) -> io::Result<()> {
    std::os::unix::fs::fchown(file, Some(user.uid), Some(user.gid))
}

/// A new folder for this user alone (mode 0700), whose path begins with `prefix` and ends in what nobody guesses.
///
/// # Errors
/// It cannot be made there.
pub fn new_private_directory(prefix: &Path) -> io::Result<PathBuf> {
    let mut template = prefix.as_os_str().to_owned();
    template.push("XXXXXX");
    let mut template = text(&template)?.into_bytes_with_nul();
    // SAFETY: text that ends in zero, of which mkdtemp(3) writes the last six characters before that.
    let made = unsafe { libc::mkdtemp(template.as_mut_ptr().cast()) };
    if made.is_null() {
        return Err(io::Error::last_os_error());
    }
    template.pop();
    Ok(PathBuf::from(std::ffi::OsString::from_vec(template)))
}

/// True if the calling thread may use `path` so: `libc::X_OK` to enter or execute, `libc::W_OK`, `libc::R_OK`.
pub fn may(path: &Path, how: libc::c_int) -> bool {
    let Ok(path) = text(path.as_os_str()) else { return false };
    // SAFETY: text that ends in zero.
    unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), how, libc::AT_EACCESS) == 0 }
}
