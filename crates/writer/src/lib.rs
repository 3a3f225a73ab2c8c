//! The one writer of everything that the product leaves on disk.
//!
//! A [`Place`] is a folder that a run writes into. It is tried before the run begins, it is locked as long as the run lasts,
//! and it is cleared of the unfinished files of runs that were killed. A file is [staged](Place::create) under another name in the same
//! folder and gets its own when all of it is on disk; files that belong together get theirs [together](Place::commit). A file
//! by itself is written by [`write_file`].

mod error;
mod staged;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

pub use error::{WriteError, in_words};
pub use staged::Staged;

/// Bytes that are written to try a place: the smallest result takes about as many.
const TRIAL_BYTES: usize = 1 << 16;

/// A folder that a run writes into; clones are the same folder.
#[derive(Clone, Debug)]
pub struct Place(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    /// Device and inode: a folder has several paths.
    id: (u64, u64),
    /// The folder itself, locked; nothing is left of such a lock when the process ends, however it does.
    lock: File,
    /// True if other steps of this process share the lock.
    shared: bool,
    /// Folders that were made for this, the outermost first.
    made: Mutex<Vec<PathBuf>>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Nobody waits for the results any more.
    abandoned: bool,
    /// Files that have not got their names yet.
    unfinished: Vec<PathBuf>,
    /// Folders that were cleared of what killed runs left.
    cleared: Vec<PathBuf>,
}

/// The places that this process holds.
static HELD: Mutex<Vec<Weak<Inner>>> = Mutex::new(Vec::new());

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves lists of paths as they were.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Place {
    /// The folder at `path` for one run, made if it is not there; a [reserved](Self::reserve) one is joined.
    ///
    /// # Errors
    /// The folder cannot be made or written to, the disk is full, or another run has the use of it.
    pub fn open(path: &Path) -> Result<Self, WriteError> {
        Self::take(path, false)
    }

    /// Reserves a place for several steps of this process that are one run: each of them [opens](Self::open)
    /// it again.
    ///
    /// # Errors
    /// As those of [`open`](Self::open).
    pub fn reserve(path: &Path) -> Result<Self, WriteError> {
        Self::take(path, true)
    }

    fn take(path: &Path, shared: bool) -> Result<Self, WriteError> {
        if path.as_os_str().is_empty() {
            return Err(WriteError::new(path, "the name is empty, expected a folder"));
        }
        let mut made = Vec::new();
        let place = make_folder(path, &mut made)
            .map_err(|error| WriteError::io(path, &error))
            .and_then(|()| Self::lock(path, shared, &mut made));
        let tried = place.and_then(|place| place.try_it().map(|()| place));
        if tried.is_err() {
            remove_folders(&made);
        }
        tried
    }

    fn lock(path: &Path, shared: bool, made: &mut Vec<PathBuf>) -> Result<Self, WriteError> {
        let fault = |error: io::Error| WriteError::io(path, &error);
        let busy = || WriteError::new(path, "another run is writing into this folder");
        let folder = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_DIRECTORY | libc::O_NONBLOCK)
            .open(path)
            .map_err(fault)?;
        let about = folder.metadata().map_err(fault)?;
        let id = (about.dev(), about.ino());
        let mut held = locked(&HELD);
        held.retain(|place| place.strong_count() > 0);
        let same = |place: &Arc<Inner>| place.id == id && !locked(&place.state).abandoned;
        if let Some(other) = held.iter().filter_map(Weak::upgrade).find(same) {
            return if other.shared { Ok(Self(other)) } else { Err(busy()) };
        }
        match folder.try_lock() {
            Err(fs::TryLockError::WouldBlock) => return Err(busy()),
            // There are file systems without locks; there runs are not kept apart.
            Ok(()) | Err(fs::TryLockError::Error(_)) => {}
        }
        let inner = Arc::new(Inner {
            path: path.to_owned(),
            id,
            lock: folder,
            shared,
            made: Mutex::new(std::mem::take(made)),
            state: Mutex::default(),
        });
        held.push(Arc::downgrade(&inner));
        Ok(Self(inner))
    }

    /// Writes a file that goes again.
    fn try_it(&self) -> Result<(), WriteError> {
        let fault = |error: io::Error| WriteError::io(self.path(), &error);
        self.clear(self.path());
        let (mut file, staged) = self.begin(self.path()).map_err(fault)?;
        let done = file.write_all(&vec![0; TRIAL_BYTES]).and_then(|()| file.flush());
        drop(staged);
        done.map_err(fault)
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Tries what files in it may be called, before work begins; `names` may lie in folders below.
    ///
    /// # Errors
    /// Where a file is to be there is a folder, a name is too long, or a folder below cannot be made.
    pub fn expect<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<(), WriteError> {
        for name in names {
            let path = self.path().join(name);
            match fs::symlink_metadata(&path) {
                Ok(about) if about.is_dir() => {
                    let error = io::Error::from_raw_os_error(libc::EISDIR);
                    return Err(WriteError::io(&path, &error));
                }
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(WriteError::io(&path, &error));
                }
                Ok(_) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// A new file that is to be called `name`, which may lie in folders below. It gets its name by
    /// [`commit`](Self::commit), and goes if it is dropped before.
    ///
    /// # Errors
    /// It cannot be made, or the place was [abandoned](Self::abandon).
    pub fn create(&self, name: &str) -> Result<(File, Staged), WriteError> {
        let path = self.path().join(name);
        let folder = path.parent().unwrap_or(self.path()).to_owned();
        let made = if folder == *self.path() {
            Ok(())
        } else {
            make_folder(&folder, &mut locked(&self.0.made))
        };
        let begun = made.and_then(|()| {
            self.clear(&folder);
            self.begin(&folder)
        });
        let (file, mut staged) = begun.map_err(|error| WriteError::io(&path, &error))?;
        path.clone_into(&mut staged.path);
        Ok((file, staged))
    }

    /// A file that is to be called `name`, with what `fill` writes into it.
    ///
    /// # Errors
    /// As those of [`create`](Self::create), or `fill`'s.
    pub fn stage(
        &self,
        name: &str,
        fill: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<Staged, WriteError> {
        let (mut file, staged) = self.create(name)?;
        fill(&mut file)
            .and_then(|()| file.flush())
            .map_err(|error| WriteError::io(&staged.path, &error))?;
        Ok(staged)
    }

    /// Gives files that belong together their names, once all of them are on disk.
    ///
    /// Files of those names, and of `gone`, which the set may have and this one has not, go first: of a process that is killed
    /// meanwhile some files are there, and none of them is of another run. A file by itself takes the place of the former at once.
    ///
    /// # Errors
    /// A file cannot be kept, and then, unless it is by giving it its name, none is touched; or the place was
    /// [abandoned](Self::abandon).
    #[expect(clippy::needless_pass_by_value, reason = "what has got its name is used up")]
    pub fn commit(&self, files: Vec<Staged>, gone: &[&str]) -> Result<(), WriteError> {
        for staged in &files {
            staged.file.sync_all().map_err(|error| WriteError::io(&staged.path, &error))?;
        }
        let mut state = locked(&self.0.state);
        if state.abandoned {
            return Err(WriteError::new(self.path(), "interrupted"));
        }
        let mut first: Vec<PathBuf> = gone.iter().map(|name| self.path().join(name)).collect();
        if files.len() > 1 {
            first.extend(files.iter().map(|staged| staged.path.clone()));
        }
        for path in first {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(WriteError::io(&path, &error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        let mut folders: Vec<PathBuf> = Vec::new();
        for staged in &files {
            fs::rename(&staged.temporary, &staged.path)
                .map_err(|error| WriteError::io(&staged.path, &error))?;
            state.unfinished.retain(|path| *path != staged.temporary);
            let folder = staged.path.parent().unwrap_or(self.path());
            if folders.iter().all(|known| known != folder) {
                folders.push(folder.to_owned());
            }
        }
        drop(state);
        // What is written stays.
        locked(&self.0.made).clear();
        for folder in folders {
            sync_folder(&folder);
        }
        Ok(())
    }

    /// Says that nobody waits for the results any more: unfinished files go at once, none gets a name from here on, and another run may
    /// have the folder.
    pub fn abandon(&self) {
        let mut state = locked(&self.0.state);
        state.abandoned = true;
        for path in state.unfinished.drain(..) {
            let _ = fs::remove_file(path);
        }
        drop(state);
        remove_folders(&std::mem::take(&mut *locked(&self.0.made)));
        let _ = self.0.lock.unlock();
    }

    /// A new file in `folder`, without a name to be.
    fn begin(&self, folder: &Path) -> io::Result<(File, Staged)> {
        let mut state = locked(&self.0.state);
        if state.abandoned {
            return Err(io::Error::from(io::ErrorKind::Interrupted));
        }
        let (file, temporary) = staged::make(folder)?;
        state.unfinished.push(temporary.clone());
        drop(state);
        let kept = file.try_clone()?;
        let place = Some(self.clone());
        Ok((file, Staged { path: PathBuf::new(), temporary, file: kept, place }))
    }

    /// Removes what killed runs left in `folder`, once.
    fn clear(&self, folder: &Path) {
        let mut state = locked(&self.0.state);
        if state.cleared.iter().all(|known| known != folder) {
            state.cleared.push(folder.to_owned());
            drop(state);
            staged::remove_left(folder);
        }
    }

    fn forget(&self, temporary: &Path) {
        locked(&self.0.state).unfinished.retain(|path| path != temporary);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // A folder that was made for nothing; one with anything in it stays.
        remove_folders(&std::mem::take(&mut *locked(&self.made)));
    }
}

/// Writes a file by itself by `fill`, whole or not at all; its folder has to be there, and is not locked.
///
/// # Errors
/// `fill`'s error, or the file system's; whatever stood at `path` then still stands there.
pub fn write_file(
    path: &Path,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), WriteError> {
    let fault = |error: io::Error| WriteError::io(path, &error);
    let (mut file, staged) = begin_file(path)?;
    fill(&mut file).and_then(|()| file.flush()).map_err(fault)?;
    staged.file.sync_all().map_err(fault)?;
    fs::rename(&staged.temporary, path).map_err(fault)?;
    sync_folder(folder_of(path));
    Ok(())
}

/// Tries whether a file by itself can be written, before work begins.
///
/// # Errors
/// As those of [`write_file`].
pub fn try_file(path: &Path) -> Result<(), WriteError> {
    let (mut file, _staged) = begin_file(path)?;
    let done = file.write_all(&vec![0; TRIAL_BYTES]).and_then(|()| file.flush());
    done.map_err(|error| WriteError::io(path, &error))
}

/// A new file that is to stand at `path`.
fn begin_file(path: &Path) -> Result<(File, Staged), WriteError> {
    let fault = |error: io::Error| WriteError::io(path, &error);
    if path.file_name().is_none() {
        return Err(WriteError::new(path, "no name of a file"));
    }
    match fs::symlink_metadata(path) {
        Ok(about) if about.is_dir() => return Err(fault(io::ErrorKind::IsADirectory.into())),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(fault(error)),
        Ok(_) | Err(_) => {}
    }
    let folder = folder_of(path);
    staged::remove_left(folder);
    let (file, temporary) = staged::make(folder).map_err(fault)?;
    let staged = Staged { path: path.to_owned(), temporary, file, place: None };
    let file = staged.file.try_clone().map_err(fault)?;
    Ok((file, staged))
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Copies another file to `path`, with its rights, whole or not at all.
///
/// # Errors
/// As those of [`write_file`]; the other file cannot be read.
pub fn copy_file(source: &Path, path: &Path) -> Result<(), WriteError> {
    write_file(path, |file| {
        let mut source = File::open(source)?;
        io::copy(&mut source, file)?;
        file.set_permissions(source.metadata()?.permissions())
    })
}

/// Opens a file to be read that somebody else may have put there: no link is followed, and nothing but a file of bytes is
/// waited for.
///
/// # Errors
/// There is none, or it is something else.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Makes a folder and those above it, and notes each that was not there.
fn make_folder(path: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut result = fs::create_dir(path);
    if result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        let above = path.parent().filter(|above| !above.as_os_str().is_empty());
        if let Some(above) = above {
            make_folder(above, made)?;
            result = fs::create_dir(path);
        }
    }
    match result {
        Ok(()) => {
            made.push(path.to_owned());
            Ok(())
        }
        // Of a folder that is there, a file system that cannot be written to says that, or that it cannot be written to.
        Err(_) if fs::metadata(path).is_ok_and(|about| about.is_dir()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(io::ErrorKind::NotADirectory.into())
        }
        Err(error) => Err(error),
    }
}

/// Removes folders that were made for nothing, the innermost first.
fn remove_folders(made: &[PathBuf]) {
    made.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
}

/// Has the names of a folder's files on disk, where a file system can do that.
fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests;
