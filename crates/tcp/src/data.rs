//! Data structures that know nothing of TCP.

pub(crate) mod clock;
pub(crate) mod cookie;
pub(crate) mod near;
