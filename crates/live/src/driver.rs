//! The path, driven by the machine's clock.

pub(crate) mod path_driver;
pub(crate) mod pcap_tap;
