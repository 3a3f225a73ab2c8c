//! Values that know nothing of the machine.

#[cfg(target_os = "linux")]
pub(crate) mod addresses;
#[cfg(target_os = "linux")]
pub(crate) mod beside;
#[cfg(target_os = "linux")]
pub(crate) mod content;
pub(crate) mod error;
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "live runs give rows"))]
pub(crate) mod feed;
#[cfg(target_os = "linux")]
pub(crate) mod file_name;
#[cfg(target_os = "linux")]
pub(crate) mod header;
#[cfg(target_os = "linux")]
pub(crate) mod limits;
#[cfg(target_os = "linux")]
pub(crate) mod offload;
#[cfg(target_os = "linux")]
pub(crate) mod options;
pub(crate) mod wall_clock;
#[cfg(target_os = "linux")]
pub(crate) mod windows;
