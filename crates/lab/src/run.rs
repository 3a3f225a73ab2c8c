//! Runs over the machine's cores and on real packets, and work beside the caller.

pub(crate) mod allowed;
pub(crate) mod background;
pub(crate) mod departures;
pub(crate) mod kernel;
pub(crate) mod live;
pub(crate) mod load;
pub(crate) mod sweep;
