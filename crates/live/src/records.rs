//! Records of what end points saw and did.

pub(crate) mod app_log;
pub(crate) mod observed;
pub(crate) mod own_results;
