//! A run as both engines know it: its plan, its state and its events.

pub(crate) mod class;
pub(crate) mod events;
pub mod paths;
pub mod plan;
pub(crate) mod setup;
pub(crate) mod state;
