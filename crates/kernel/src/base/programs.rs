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

/// The FNV-1a hash of an object (64 bits).
pub fn hash(object: &[u8]) -> String {
    let hash = object.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

impl Program {
    /// The hash of the object, which tells one build's from another's.
    pub fn hash(&self) -> String {
        hash(self.object)
    }

    /// The refusal of something about it.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "an error or a text that its caller has no more use for"
    )]
    pub(crate) fn refused(&self, why: impl ToString) -> KernelError {
        KernelError::Refused { name: self.name.replace('_', " "), why: why.to_string() }
    }
}
