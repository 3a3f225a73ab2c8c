//! Whose an end point is.

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
