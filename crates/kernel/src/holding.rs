//! The way of a law into the kernel for a run: as BPF, or as the part of it that it is.

use crate::{Asked, KernelError, LoadedLaw, built_in, loader};

/// Registers a law for a run.
///
/// # Errors
/// A need of the machine or the process that is not met, or a law that this kernel is without.
pub fn hold(asked: &Asked) -> Result<LoadedLaw, KernelError> {
    if built_in::is_there() { built_in::hold(asked) } else { loader::hold(asked) }
}
