//! The loader of a build that has none: every call says so.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Serialize;

use crate::base::record::Record;
use crate::{Asked, KernelError, Law};

const WHY: &str = "this build has no loader of BPF; apt install libelf-dev zlib1g-dev pkg-config, then `make build`";

/// A law that was loaded to stay: there is none.
#[derive(Clone, Debug, Serialize)]
pub struct Loaded {
    /// The name in the kernel.
    pub name: String,
    /// The object.
    pub object: &'static str,
    /// Its hash.
    pub hash: String,
    /// Bytes of the verifier's log.
    pub log_bytes: usize,
    /// Instructions that the verifier followed.
    pub instructions: u64,
}

/// A law of ours in the kernel: there is none.
#[derive(Clone, Debug, Serialize)]
pub struct Registered {
    /// The name in the kernel.
    pub name: String,
    /// True if a process holds it, with which it goes.
    pub held: bool,
    /// The process that holds it.
    pub owner: Option<u32>,
    /// True if it was removed, and connections still use it.
    pub leaving: bool,
    /// The kernel's number of its map.
    pub map: u32,
}

/// A law that is loaded for a run: there is none.
#[derive(Debug)]
pub struct Held(Infallible);

impl Held {
    /// Never called.
    pub const fn loaded(&self) -> &Loaded {
        match self.0 {}
    }

    /// Never called.
    pub fn records(&self) -> Records {
        match self.0 {}
    }

    /// Never called.
    pub fn finish(self) -> Vec<Record> {
        match self.0 {}
    }
}

/// The records of a law so far: there are none.
pub type Records = Arc<Mutex<Vec<Record>>>;
/// The time after which records would be looked for.
pub const LOOK_EVERY: Duration = Duration::from_millis(20);

pub(crate) fn none<T>() -> Result<T, KernelError> {
    Err(KernelError::Lacks(WHY.to_owned()))
}

/// The reason why nothing can be loaded.
#[expect(clippy::unnecessary_wraps, reason = "the loader's signature")]
pub fn lacks() -> Option<String> {
    Some(WHY.to_owned())
}

/// Refuses.
///
/// # Errors
/// Always.
pub fn verify(_: &'static Law) -> Result<(), KernelError> {
    none()
}

/// Refuses.
///
/// # Errors
/// Always.
pub fn load(_: &Asked) -> Result<Loaded, KernelError> {
    none()
}

/// Refuses.
///
/// # Errors
/// Always.
pub fn hold(_: &Asked) -> Result<Held, KernelError> {
    none()
}

/// Refuses.
///
/// # Errors
/// Always.
pub fn registered() -> Result<Vec<Registered>, KernelError> {
    none()
}

/// Refuses.
///
/// # Errors
/// Always.
pub fn unload(_: &str) -> Result<(), KernelError> {
    none()
}
