//! Closed forms and draws, for those who have JSON.

pub mod calculator;
pub(crate) mod closed_form;
pub(crate) mod packmime;
pub(crate) mod quantity;
