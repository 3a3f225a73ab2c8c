//! Workloads by which simulators and routers are compared.

pub mod bench;
pub(crate) mod routing;
