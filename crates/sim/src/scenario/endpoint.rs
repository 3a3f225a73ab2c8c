//! The owner of an end point, and its network protocol.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The owner of a connection's ends in a live run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndpointSpec {
    /// The machine's own TCP; the default.
    Kernel,
    /// Our own transport, in real bytes.
    Ackclock,
}

/// The protocol below TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NetworkSpec {
    /// IPv4: 40 bytes of headers with TCP's.
    #[default]
    Ipv4,
    /// IPv6: 60 bytes.
    Ipv6,
}
