//! Measures, probes and observers of a run.

pub(crate) mod measure;
pub(crate) mod meter;
pub(crate) mod observe;
pub(crate) mod probe;
