//! Laws held against the rules of growth laws, and against recorded traces.

pub mod law_check;
pub mod law_trace;
