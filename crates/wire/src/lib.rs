//! Between bytes and packets: IPv4 and IPv6 with TCP on top, all options and checksums, and pcapng.
//!
//! Steps, each usable alone:
//!
//! * a [`Direction`] of a connection narrows a [`Segment`](ackclock_packet::Segment)'s 64-bit
//!   numbers to the 32 bits of the wire, as [`Headers`], and widens them again;
//! * [`encode`] writes [`Headers`] and a [`Payload`] into a buffer of the caller's, [`parse`] reads
//!   them back and refuses, by name and place, whatever is malformed or does not match its checksum;
//! * [`forward`] and [`forward_quick_start`] send a packet on its way as a router does;
//! * [`encode_datagram`] writes a UDP datagram, which nothing here reads;
//! * [`pcapng::Writer`] puts packets into a capture that Wireshark reads.
//!
//! Nothing here allocates per packet, opens a file or asks the time.
//!
//! ```
//! use core::net::Ipv4Addr;
//!
//! use ackclock_packet::{Flags, IpMeta, Segment, Seq};
//! use ackclock_units::Instant;
//! use ackclock_wire::{
//!     Addresses, Direction, MAX_HEADERS, Payload, Tuple, encode, parse, pcapng,
//! };
//!
//! let direction = Direction::new(
//!     Tuple {
//!         addresses: Addresses::V4 {
//!             source: Ipv4Addr::new(10, 0, 0, 1),
//!             destination: Ipv4Addr::new(10, 0, 0, 2),
//!         },
//!         source_port: 40_000,
//!         destination_port: 80,
//!     },
//!     0x1000,
//!     0x2000,
//! );
//! let segment = Segment {
//!     seq: Seq::FIRST_BYTE,
//!     ack: Seq::FIRST_BYTE,
//!     len: 1460,
//!     window: 65_535,
//!     flags: Flags::ACK,
//!     ..Segment::default()
//! };
//!
//! // To bytes and back.
//! let mut buffer = [0; 1500];
//! let headers = direction.narrow(&segment, IpMeta::default(), None);
//! let encoded = encode(&headers, Payload::Zeros(segment.len), &mut buffer)?;
//! let parsed = parse(&buffer[..encoded.written])?;
//! assert_eq!(direction.widen(&parsed).segment, segment);
//!
//! // Into a capture, without the payload.
//! let mut capture = pcapng::Writer::new(Vec::new(), &pcapng::Section::default())?;
//! let link = capture.add_interface(&pcapng::Interface::named("bottleneck"))?;
//! let mut buffer = [0; MAX_HEADERS];
//! let encoded = encode(&headers, Payload::Omitted(segment.len), &mut buffer)?;
//! let bytes = &buffer[..encoded.written];
//! let about =
//!     pcapng::About { direction: Some(pcapng::PacketDirection::Outbound), comment: None };
//! capture.write(link, Instant::from_nanos(12_345), bytes, encoded.length, &about)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is not supported
//!
//! Fragments, IPv6 extension headers other than hop-by-hop options, jumbograms, and urgent data
//! (RFC 6093; the bit and the pointer are ignored). Bytes are a whole packet beginning with its IP
//! header: no link layer, and nothing after the packet. On parsing, the DSCP, the flow label and
//! the IPv4 identification are passed over; on encoding they are zero, and IPv4 packets say "don't
//! fragment", which makes the identification meaningless (RFC 6864 §4.1).

mod checksum;
mod direction;
mod encode;
mod error;
#[cfg(test)]
mod fixtures;
mod forward;
mod fuzz;
mod headers;
mod ip_options;
mod parse;
pub mod pcapng;
mod tcp_options;

pub use direction::{Direction, Unwrapper, Widened};
pub use encode::{Encoded, MAX_HEADERS, Payload, encode, encode_datagram};
pub use error::{EncodeError, Layer, ParseError};
pub use forward::{OptionFate, Undeliverable, forward, forward_quick_start, ipv4_packet};
pub use fuzz::{fuzz_packet, fuzz_parse};
pub use headers::{Addresses, Headers, Tuple};
pub use parse::{Parsed, parse, parse_unverified};
pub use tcp_options::{SackEdges, TcpOptions, Timestamps};
