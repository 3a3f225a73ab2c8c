//! An ACK as the sender takes it in.

use ackclock_packet::{Range, Seq};
use ackclock_units::Bytes;

/// An ACK that arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived<'a> {
    /// The number before which it acknowledges all.
    pub(crate) ack: Seq,
    /// The window that it advertises.
    pub(crate) window: Bytes,
    /// True if the segment carried nothing else, as a duplicate ACK must (RFC 5681 §2).
    pub(crate) pure: bool,
    /// The timestamp that it echoes, if there is one.
    pub(crate) echo: Option<u32>,
    /// Its own timestamp, if there is one.
    pub(crate) stamp: u32,
    /// Its SACK blocks.
    pub(crate) sack: &'a [Range],
}
