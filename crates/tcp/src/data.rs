//! Data structures that know nothing of TCP.

pub(crate) mod cache;
pub(crate) mod clock;
pub(crate) mod cookie;
pub(crate) mod delays;
pub(crate) mod near;
pub(crate) mod ring;
