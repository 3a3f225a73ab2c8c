//! Parts of a link beyond its rate, its delay and its queue, and routers beside it.

pub(crate) mod aggregation;
pub(crate) mod channel;
pub(crate) mod delay;
pub(crate) mod feedback;
pub(crate) mod hazards;
pub(crate) mod impairments;
pub(crate) mod jitter;
pub(crate) mod loss;
pub(crate) mod quick_start;
pub(crate) mod thinning;
