//! Ports of the path: the devices through which packets come and go.

pub(crate) mod devices;
pub(crate) mod port;
pub(crate) mod userspace_host;

#[cfg(test)]
mod tests;
