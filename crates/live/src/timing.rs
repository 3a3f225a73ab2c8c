//! The machine's clock, and how the path is woken by it.

pub(crate) mod clock;
pub(crate) mod wake_policy;
