//! Opening a library, and its law.

use std::path::{Path, PathBuf};

use ackclock_laws::growth::Growth;
use libloading::Library;

use crate::abi::Callbacks;
use crate::ending::{inside, watch};
use crate::law::{Callable, ForeignLaw};

/// The function that a library exports.
const ENTRY: &str = "ackclock_law_v1";

/// Why a library is no law.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The system does not load it.
    #[error("{}: cannot be loaded: {why}", path.display())]
    NotLoaded {
        /// The file.
        path: PathBuf,
        /// The system's words.
        why: String,
    },
    /// It does not export the function.
    #[error("{}: it exports no function `{ENTRY}`; see include/ackclock_law.h", path.display())]
    NoLaw {
        /// The file.
        path: PathBuf,
    },
    /// Its table cannot be used.
    #[error("{}: {why}", path.display())]
    BadTable {
        /// The file.
        path: PathBuf,
        /// The fault.
        why: String,
    },
}

/// A function that makes a law for each connection.
pub trait LawMaker: Fn() -> Box<dyn Growth> + Send + Sync + 'static {}

impl<F: Fn() -> Box<dyn Growth> + Send + Sync + 'static> LawMaker for F {}

/// Loads a library; returns the maker of its law, which says `name` when it fails. The library stays for as long as the
/// process runs.
///
/// The library's code runs in this process, with all that it may do.
///
/// # Errors
/// The file is no library, has no law in it, or one of another version.
pub fn load(name: &str, path: &Path) -> Result<impl LawMaker, LoadError> {
    let at = || path.to_owned();
    // The loader looks for a bare name elsewhere than in the current folder.
    let found = path.canonicalize();
    let found = found.map_err(|why| LoadError::NotLoaded { path: at(), why: why.to_string() })?;
    if !found.is_file() {
        // The system's loader would wait for a pipe, and no interrupt would reach it.
        return Err(LoadError::NotLoaded { path: at(), why: "is no plain file".to_owned() });
    }
    watch();
    let named = name.to_owned().leak();
    // SAFETY: what a library does as it is loaded is its author's; whoever names it on the command line trusts it.
    let library = inside(named, || unsafe { Library::new(&found) });
    let library =
        library.map_err(|why| LoadError::NotLoaded { path: at(), why: one_line(&why) })?;
    // It stays for as long as the process: connections call it, and whoever else asks for it.
    let library: &'static Library = Box::leak(Box::new(library));
    // SAFETY: the header gives the function this type.
    let entry = unsafe { library.get::<unsafe extern "C" fn() -> *const Callbacks>(ENTRY) };
    let entry = entry.map_err(|_| LoadError::NoLaw { path: at() })?;
    // SAFETY: the function takes nothing; what it returns is checked before it is used.
    let table = inside(named, || unsafe { entry() });
    // SAFETY: the header says that the table lives for as long as the library, which is never unloaded.
    let table = unsafe { table.as_ref() };
    let bad = |why: String| LoadError::BadTable { path: at(), why };
    let table = table.ok_or_else(|| bad(format!("`{ENTRY}` returned NULL")))?;
    Ok(maker(named, Callable::new(table).map_err(bad)?))
}

/// Returns the maker of the law whose table is at an address of this process, as a compiler in it made it.
///
/// # Errors
/// The address is none, or the table cannot be used.
///
/// # Safety
/// At `address` is a table for as long as the process runs, whose functions keep to the header.
pub unsafe fn load_at(name: &str, address: usize) -> Result<impl LawMaker, LoadError> {
    let bad =
        |why: String| LoadError::BadTable { path: PathBuf::from(format!("{address:#x}")), why };
    // SAFETY: the caller's.
    let table = unsafe { std::ptr::with_exposed_provenance::<Callbacks>(address).as_ref() };
    let table = table.ok_or_else(|| bad("there is no table at this address".to_owned()))?;
    watch();
    Ok(maker(name.to_owned().leak(), Callable::new(table).map_err(bad)?))
}

fn maker(named: &'static str, calls: Callable) -> impl LawMaker {
    move || Box::new(ForeignLaw::new(named, calls)) as Box<dyn Growth>
}

fn one_line(error: &libloading::Error) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}
