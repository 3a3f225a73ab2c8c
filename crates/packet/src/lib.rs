//! Packets in fields: a [`Segment`] is what one end point says to the other, an [`IpMeta`] what it
//! asks of the network. Encoding to bytes is another crate's work.
//!
//! Sequence numbers are 64 bits wide inside the laboratory and never wrap: 0 is the SYN, the first
//! byte of data is 1. The encoder narrows them to the 32 bits of RFC 9293.

mod accurate_ecn;
mod congestion;
mod fast_open;
mod quick_start;
mod segment;

pub use accurate_ecn::AccurateEcn;
pub use congestion::{CongestionHeader, RcpHeader, XcpHeader};
pub use fast_open::{Cookie, FastOpen};
pub use quick_start::{QuickStart, QuickStartNonce, QuickStartRate, QuickStartResponse};
pub use segment::{Ecn, Flags, IpMeta, NearBlocks, Options, Range, SackBlocks, Segment, Seq};

use ackclock_units::Bytes;

/// Bytes of an IPv4 header without options plus a TCP header without options.
pub const HEADERS: Bytes = Bytes::new(40);
