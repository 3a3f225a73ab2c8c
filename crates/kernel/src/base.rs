//! Laws, settings and records that know nothing of the machine.

pub(crate) mod ends_settings;
pub(crate) mod error;
pub(crate) mod laws;
pub(crate) mod parts;
#[cfg_attr(
    not(all(target_os = "linux", feature = "loader")),
    expect(dead_code, reason = "a build without a loader loads no program")
)]
pub(crate) mod programs;
pub(crate) mod record;
pub(crate) mod router_settings;
