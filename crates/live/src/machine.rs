//! Namespaces, devices, tracepoints and settings of the kernel.

pub(crate) mod diag;
pub(crate) mod kernel;
pub(crate) mod net_ns;
pub(crate) mod netlink;
pub(crate) mod trace_ring;
pub(crate) mod tracepoint;
