//! Programs for packets and sockets: their objects, and the way into the kernel.

use crate::KernelError;

include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// An object with programs that are no law.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// An ELF file. Empty if the build could not compile it.
    pub object: &'static [u8],
}

impl Program {
    /// The refusal of something about it.
    pub(crate) fn refused(&self, why: impl ToString) -> KernelError {
        KernelError::Refused { name: self.name.replace('_', " "), why: why.to_string() }
    }
}
