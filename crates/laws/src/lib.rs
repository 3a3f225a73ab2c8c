//! The laws of a sender, each a file, and the events that they hear.
//!
//! A law is told of events ([`event`]) and answers with a window and a rate: [`growth`] of the window, its [`start`] and
//! its worth after silence ([`idle`]). A word names it ([`words`]). The transport that tells the events is
//! another crate; a law knows no segment, no timer and no network.

pub mod data;
pub mod event;
pub mod growth;
pub mod idle;
mod profile;
pub mod start;
pub mod words;

pub use profile::Profile;
