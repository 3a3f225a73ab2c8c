//! Data structures that know nothing of TCP.

pub mod cache;
pub mod delays;
pub mod ring;
