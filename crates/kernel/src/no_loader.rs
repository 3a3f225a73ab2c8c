//! The loader of a build that has none: every call says so.

use serde::Serialize;

use crate::held::{Loaded, LoadedLaw};
use crate::{Asked, KernelError, Law};

const WHY: &str = "this build has no loader of BPF; apt install libelf-dev zlib1g-dev pkg-config, then `make build`";

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
pub fn hold(_: &Asked) -> Result<LoadedLaw, KernelError> {
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
