//! The owner of an end point, and its network protocol.

use ackclock_tcp::{Config, Profile, TcpSpec, Variant};
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

/// The settings of the connections of a sender. Both ends answer if its application `asks` the routers for a rate.
///
/// # Errors
/// One line saying which choices do not go together.
pub(super) fn config(
    variant: &Variant,
    profile: Profile,
    tcp: &TcpSpec,
    asks: bool,
) -> Result<Config, String> {
    let parts = variant.resolve(profile).map_err(|e| e.to_string())?;
    let mut config = tcp.over(Config::new(parts, profile));
    if asks {
        if let Some(why) = parts.owns_jump() {
            return Err(format!("{why}; expected another variant with `app.quick_start`"));
        }
        config.quick_start.answers = true;
    }
    Ok(config)
}
