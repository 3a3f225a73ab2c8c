//! The output of a sender: ranges of data, new or sent again.

mod polling;

use ackclock_packet::Seq;
use ackclock_units::Bytes;

/// Data that is to go out now, in one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataRange {
    /// Its first number.
    pub seq: Seq,
    /// Its payload.
    pub len: Bytes,
    /// True if the FIN follows the payload.
    pub fin: bool,
    /// True if the peer's application is to have it soon, as with what empties the buffer (RFC 9293 §3.9.1.2).
    pub push: bool,
    /// True if it is sent for the first time, and is no probe.
    pub new: bool,
    /// The segment after it, if there is one.
    pub follows: Follows,
}

/// The segment right after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// Another one may.
    Perhaps,
    /// Nothing does, so that there is no need to ask.
    Nothing,
}
