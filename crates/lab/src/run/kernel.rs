//! Laws of ours in the kernel: for a command, and for a live run.

#[cfg(target_os = "linux")]
mod held;
#[cfg(target_os = "linux")]
mod quick_start;
#[cfg(target_os = "linux")]
mod routers;
#[cfg(target_os = "linux")]
mod samples;
mod trial;

#[cfg(target_os = "linux")]
pub(crate) use held::HeldLaws;
#[cfg(target_os = "linux")]
pub(crate) use quick_start::quick_start;
#[cfg(target_os = "linux")]
pub(crate) use routers::routers;

use std::collections::BTreeMap;

use ackclock_kernel::{Asked, KernelError, Loaded};
use serde::Serialize;

use crate::{BadInput, SweepError};

/// A request of the command `ackclock kernel`.
#[derive(Clone, Debug)]
pub enum KernelRequest {
    /// Every law, and why the kernel cannot take it.
    List,
    /// Loads these to stay.
    Load(Vec<String>),
    /// Removes these, or all.
    Unload(Vec<String>),
    /// The laws of ours in the kernel.
    Status,
    /// The reason why none can be loaded; null if they can.
    Needs,
    /// Loads each of these, or each that there is, sends for so many seconds through it, and removes it.
    Test(Vec<String>, f64),
    /// The sources of the laws as parts of a kernel that is built: the text of each file by its name.
    Sources,
}

impl KernelRequest {
    /// The request of a `word` and its `names`.
    ///
    /// # Errors
    /// No request has this word.
    pub fn read(word: &str, names: Vec<String>, seconds: f64) -> Result<Self, BadInput> {
        Ok(match word {
            "list" => Self::List,
            "load" => Self::Load(names),
            "unload" => Self::Unload(names),
            "status" => Self::Status,
            "needs" => Self::Needs,
            "test" => Self::Test(names, seconds),
            "sources" => Self::Sources,
            other => return Err(BadInput::new(format_args!("unknown request `{other}`"))),
        })
    }
}

/// Does what is asked of laws in the kernel, and answers with JSON text.
///
/// # Errors
/// A need that is not met, a law that nobody knows, one that is there already or not there: then nothing was changed. A
/// cancellation.
pub fn kernel(request: &KernelRequest, cancelled: impl Fn() -> bool) -> Result<String, SweepError> {
    match request {
        KernelRequest::List => text(&ackclock_kernel::examine()),
        KernelRequest::Load(names) => text(&load_all(names)?),
        KernelRequest::Unload(names) => text(&unload_all(names)?),
        KernelRequest::Status => text(&ackclock_kernel::registered().map_err(refused)?),
        KernelRequest::Needs => text(&ackclock_kernel::needs()),
        KernelRequest::Sources => text(&ackclock_kernel::sources().collect::<BTreeMap<_, _>>()),
        KernelRequest::Test(names, seconds) => {
            text(&trial::try_all(&asked(names)?, *seconds, &cancelled)?)
        }
    }
}

fn text(answer: &impl Serialize) -> Result<String, SweepError> {
    serde_json::to_string(answer).map_err(|error| SweepError::Internal(error.to_string()))
}

pub(crate) fn refused(error: KernelError) -> SweepError {
    BadInput::new(error).into()
}

/// The laws of `names`; every law if none is named.
fn asked(names: &[String]) -> Result<Vec<Asked>, SweepError> {
    let every = || ackclock_kernel::laws().iter().flat_map(|law| law.words.iter().chain(law.wraps));
    let every = || every().map(|name| (*name).to_owned()).collect();
    let names: Vec<String> = if names.is_empty() { every() } else { names.to_vec() };
    names.iter().map(|name| ackclock_kernel::find(name).map_err(refused)).collect()
}

/// Loads all or none; a name that stands twice is loaded once.
fn load_all(names: &[String]) -> Result<Vec<Loaded>, SweepError> {
    let once = names.iter().enumerate().filter(|(n, name)| !names[..*n].contains(name));
    let asked = once.map(|(_, name)| {
        let law = ackclock_kernel::find(name)?;
        // A name that is too long is told before anything is loaded.
        law.kernel_name()?;
        Ok(law)
    });
    let asked = asked.collect::<Result<Vec<_>, _>>().map_err(refused)?;
    let mut loaded: Vec<Loaded> = Vec::new();
    for law in &asked {
        match ackclock_kernel::load(law) {
            Ok(law) => loaded.push(law),
            Err(error) => {
                for law in &loaded {
                    ackclock_kernel::unload(&law.name).map_err(refused)?;
                }
                return Err(refused(error));
            }
        }
    }
    Ok(loaded)
}

/// Removes these, or all that were loaded to stay.
fn unload_all(names: &[String]) -> Result<Vec<String>, SweepError> {
    let there = ackclock_kernel::registered().map_err(refused)?;
    let staying = there.into_iter().filter(|law| !law.held && !law.leaving);
    let names: Vec<String> =
        if names.is_empty() { staying.map(|law| law.name).collect() } else { names.to_vec() };
    for name in &names {
        ackclock_kernel::unload(name).map_err(refused)?;
    }
    Ok(names)
}
