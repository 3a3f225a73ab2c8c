//! The reasons why the kernel did not get or give up a law.

/// A law that was not loaded or removed; nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// No law has this name.
    #[error("`{name}` is no law for the kernel, expected one of {known}")]
    Unknown {
        /// The name that was given.
        name: String,
        /// The laws that there are.
        known: String,
    },
    /// The law does not take a part of the name.
    #[error(
        "`{name}` is no law for the kernel: one as Linux has it, such as `reno` or `cubic`, takes `iw<N>`, `cwv`, `newcwv`, \
         `tsl(IW,SSTHRESH)` and `synloss(...)`, and no other part"
    )]
    Parts {
        /// The name that was given.
        name: String,
    },
    /// The word is not one of a sender, or its numbers are not those of the law in the kernel.
    #[error("{0}")]
    Word(String),
    /// The law's own name would be too long; nobody asked the kernel.
    #[error(
        "`{word}` would be `{name}`, and names in the kernel have at most {longest} letters; a run with such a sender \
         loads it under a short name"
    )]
    TooLong {
        /// The word.
        word: String,
        /// The name.
        name: String,
        /// The letters that a name may have.
        longest: usize,
    },
    /// This machine, user or build lacks something.
    #[error("{0}")]
    Lacks(String),
    /// The kernel has a law of this name already.
    #[error("`{0}` is loaded already; `ackclock kernel status` lists what is")]
    Loaded(String),
    /// The kernel has no such law of ours.
    #[error("`{0}` is not loaded")]
    NotLoaded(String),
    /// The kernel refused it.
    #[error("the kernel refused `{name}`: {why}")]
    Refused {
        /// The law.
        name: String,
        /// Its words.
        why: String,
    },
}
