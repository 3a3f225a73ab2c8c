//! Cross-traffic beside the packets of a path, as routers in the kernel are told of it.

use std::sync::Arc;

use crate::base::options::KernelRouters;

/// The bytes of cross-traffic through links whose routers the kernel has: it sees none of it.
#[derive(Debug)]
pub struct Beside {
    routers: Arc<dyn KernelRouters>,
    /// By wire; `None` of links whose routers it does not have.
    bytes: Vec<Option<u64>>,
}

impl Beside {
    /// Nothing yet; `own` are the wires of the kernel's routers.
    pub fn new(routers: Arc<dyn KernelRouters>, own: &[usize], wires: usize) -> Self {
        let of = |wire| own.contains(&wire).then_some(0);
        Self { routers, bytes: (0..wires).map(of).collect() }
    }

    /// A packet of cross-traffic comes to a link.
    pub fn add(&mut self, wire: usize, size: u64) {
        if let Some(bytes) = &mut self.bytes[wire] {
            *bytes += size;
            self.routers.carry_beside(wire, *bytes);
        }
    }
}
