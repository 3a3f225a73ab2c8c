//! Reports of live runs, and their rows.

pub(crate) mod report;
pub(crate) mod rows;
