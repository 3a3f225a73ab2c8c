//! Links and the paths across them, their headers, outages and changes.

pub(crate) mod changes;
pub(crate) mod headers;
pub(crate) mod links;
pub(crate) mod outages;
pub(crate) mod topology;
