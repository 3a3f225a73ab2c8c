//! Checks of a scenario beyond reading it, and what its run will take.

pub mod budget;
pub(crate) mod check;
