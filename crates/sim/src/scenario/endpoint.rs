//! Whose an end point is, and what it speaks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose the ends of a connection are in a live run.
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

impl NetworkSpec {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) const fn is_ipv4(&self) -> bool {
        matches!(self, Self::Ipv4)
    }
}
