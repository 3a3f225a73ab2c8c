//! Network namespaces without a name.
//!
//! A namespace here is held by a file of this process alone. When the process ends, however it does,
//! the kernel closes the file, and the namespace goes with every device, address, route, rule and
//! setting in it (decision 0015).

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use crate::sys;

/// A network namespace.
#[derive(Debug)]
pub struct NetNs {
    file: OwnedFd,
}

impl NetNs {
    /// A new one, with a loopback device that is switched on.
    ///
    /// # Errors
    /// The calling user may not make one.
    pub fn new() -> io::Result<Self> {
        let file = sys::on_new_thread(|| {
            sys::new_network()?;
            File::open("/proc/thread-self/ns/net")
        })?;
        let namespace = Self { file: file.into() };
        namespace.within(|| {
            let mut netlink = crate::machine::netlink::Netlink::open()?;
            let loopback = netlink.device("lo")?;
            netlink.switch_on(loopback)?;
            // Unless a host is to speak IPv6, its solicitations would be packets on the path.
            match set_sysctl("net.ipv6.conf.all.disable_ipv6", "1") {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                answer => answer,
            }
        })?;
        Ok(namespace)
    }

    /// Runs `work` in this namespace. Sockets and devices that it opens belong there for good.
    ///
    /// # Errors
    /// Those of `work`.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        sys::on_new_thread(|| {
            sys::enter_network(&self.file)?;
            work()
        })
    }

    /// The file that holds it.
    pub const fn file(&self) -> &OwnedFd {
        &self.file
    }
}

fn sysctl_path(name: &str) -> String {
    format!("/proc/sys/{}", name.replace('.', "/"))
}

/// Changes a setting of the calling thread's network namespace.
///
/// # Errors
/// There is no such setting, or not this value of it.
pub fn set_sysctl(name: &str, value: &str) -> io::Result<()> {
    assert!(name.starts_with("net."), "only settings of a network belong to its namespace");
    fs::write(sysctl_path(name), value)
        .map_err(|error| io::Error::new(error.kind(), format!("{name} = {value}: {error}")))
}

/// A setting of the calling thread's network namespace, its blanks each one space.
///
/// # Errors
/// There is no such setting.
pub fn sysctl(name: &str) -> io::Result<String> {
    let text = fs::read_to_string(Path::new(&sysctl_path(name)))?;
    Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
}
