//! What a sender gives to be sent: stretches of data, new or again.

mod polling;

use ackclock_packet::Seq;
use ackclock_units::Bytes;

/// A stretch of data that is to go out now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Its first number.
    pub seq: Seq,
    /// Its payload.
    pub len: Bytes,
    /// Whether the FIN follows the payload.
    pub fin: bool,
    /// Whether it empties the buffer (RFC 9293 §3.9.1.2).
    pub push: bool,
    /// Whether it is sent for the first time, and is no probe.
    pub new: bool,
    /// What follows it.
    pub follows: Follows,
}

/// What goes out right after a stretch of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// Another one may.
    Perhaps,
    /// Nothing does, so that there is no need to ask.
    Nothing,
}
