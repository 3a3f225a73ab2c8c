//! The headers of a packet as they stand on the wire, in fields.

use core::net::{Ipv4Addr, Ipv6Addr};

use ackclock_packet::{Flags, IpMeta, QuickStart};

use crate::TcpOptions;

/// The addresses of a packet, source and destination: IPv4 (RFC 791) or IPv6 (RFC 8200).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Addresses {
    /// IPv4.
    V4 {
        /// The sender.
        source: Ipv4Addr,
        /// The receiver.
        destination: Ipv4Addr,
    },
    /// IPv6.
    V6 {
        /// The sender.
        source: Ipv6Addr,
        /// The receiver.
        destination: Ipv6Addr,
    },
}

impl Addresses {
    /// The addresses of the answer.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::V4 { source, destination } => {
                Self::V4 { source: destination, destination: source }
            }
            Self::V6 { source, destination } => {
                Self::V6 { source: destination, destination: source }
            }
        }
    }
}

/// The addresses and ports that name one direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tuple {
    /// The addresses.
    pub addresses: Addresses,
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
}

impl Tuple {
    /// The other direction.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self {
            addresses: self.addresses.reversed(),
            source_port: self.destination_port,
            destination_port: self.source_port,
        }
    }
}

/// The IP and TCP headers of a packet, its numbers as wide as the wire has them: what
/// [`encode`](crate::encode) writes and [`parse`](crate::parse) reads. Lengths and checksums are not
/// here because they follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// Addresses and ports.
    pub tuple: Tuple,
    /// ECN field and TTL (hop limit).
    pub ip: IpMeta,
    /// The Quick-Start option: in IPv4, option 25; in IPv6, hop-by-hop option 0x26 (RFC 4782 §3.1).
    pub quick_start: Option<QuickStart>,
    /// The sequence number.
    pub seq: u32,
    /// The acknowledgment number, zero without [`Flags::ACK`].
    pub ack: u32,
    /// Control bits.
    pub flags: Flags,
    /// The window as it stands in the header, not scaled.
    pub window: u16,
    /// TCP options.
    pub options: TcpOptions,
}
