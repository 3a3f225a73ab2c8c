//! Why bytes are no packet, and why a packet cannot become bytes.

use core::fmt;

use thiserror::Error;

/// A header, as errors name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// The IP header, while its version is not known.
    Ip,
    /// The IPv4 header.
    Ipv4,
    /// The IPv6 header.
    Ipv6,
    /// The IPv6 hop-by-hop options header.
    HopByHop,
    /// The TCP header.
    Tcp,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ip => "IP header",
            Self::Ipv4 => "IPv4 header",
            Self::Ipv6 => "IPv6 header",
            Self::HopByHop => "IPv6 hop-by-hop header",
            Self::Tcp => "TCP header",
        })
    }
}

/// Why bytes are not a packet: what is wrong, at which byte of the packet, and what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ParseError {
    /// The bytes end inside a header.
    #[error("{layer} at byte {offset}: expected at least {expected} bytes, found {found}")]
    Truncated {
        /// The header.
        layer: Layer,
        /// The offset of its first byte.
        offset: usize,
        /// The bytes it needs.
        expected: usize,
        /// The bytes there are.
        found: usize,
    },
    /// Neither IPv4 nor IPv6.
    #[error("IP version at byte 0: expected 4 or 6, found {found}")]
    Version {
        /// The version.
        found: u8,
    },
    /// A header says that it is shorter than its fixed part.
    #[error("{layer} length at byte {offset}: expected at least {expected} words, found {found}")]
    HeaderLength {
        /// The header.
        layer: Layer,
        /// The offset of the length.
        offset: usize,
        /// The least number of 32-bit words (RFC 791 §3.1, RFC 9293 §3.1).
        expected: u8,
        /// The value of the field.
        found: u8,
    },
    /// The length of the packet is not the number of bytes.
    #[error("packet length at byte {offset}: expected {expected}, found {found}")]
    PacketLength {
        /// The offset of the length.
        offset: usize,
        /// The value that agrees with the bytes there are.
        expected: usize,
        /// The value of the field.
        found: usize,
    },
    /// A fragment of a packet.
    #[error("fragment field at byte {offset}: expected a whole packet, found {found:#06x}")]
    Fragment {
        /// The offset of the flags and the fragment offset.
        offset: usize,
        /// Both.
        found: u16,
    },
    /// Something other than TCP.
    #[error("next protocol at byte {offset}: expected 6 (TCP), found {found}")]
    Protocol {
        /// The offset of the protocol or next header.
        offset: usize,
        /// Its number.
        found: u8,
    },
    /// Bytes were changed on the way.
    #[error("{layer} checksum at byte {offset}: expected {expected:#06x}, found {found:#06x}")]
    Checksum {
        /// The header it stands in.
        layer: Layer,
        /// The offset of the field.
        offset: usize,
        /// The checksum of the bytes.
        expected: u16,
        /// The value of the field.
        found: u16,
    },
    /// An option that reaches beyond its header, or that does not have its length.
    #[error(
        "{layer} option {kind} at byte {offset}: expected a length of {expected}, found {found}"
    )]
    OptionLength {
        /// The header.
        layer: Layer,
        /// The option's kind.
        kind: u8,
        /// The offset of the option.
        offset: usize,
        /// The length it may have.
        expected: &'static str,
        /// The length it has.
        found: usize,
    },
    /// An option's value that cannot be.
    #[error("{layer} option {kind} at byte {offset}: expected {expected}, found {found}")]
    OptionValue {
        /// The header.
        layer: Layer,
        /// The option's kind.
        kind: u8,
        /// The offset of the option.
        offset: usize,
        /// The permitted values.
        expected: &'static str,
        /// The value found.
        found: u32,
    },
    /// An option that stands there twice.
    #[error("{layer} option {kind} at byte {offset}: expected at most once, found again")]
    OptionRepeated {
        /// The header.
        layer: Layer,
        /// The option's kind.
        kind: u8,
        /// The offset of the second one.
        offset: usize,
    },
    /// An unknown IPv6 option that asks to be discarded with its packet (RFC 8200 §4.2).
    #[error("{layer} option {kind} at byte {offset}: expected one that is known or may be skipped")]
    OptionUnknown {
        /// The header.
        layer: Layer,
        /// The option's type.
        kind: u8,
        /// The offset of its first byte.
        offset: usize,
    },
    /// Something after the end of the options (RFC 9293 §3.1: padding is zeros).
    #[error("{layer} padding at byte {offset}: expected 0, found {found}")]
    Padding {
        /// The header.
        layer: Layer,
        /// The offset of the byte.
        offset: usize,
        /// The byte.
        found: u8,
    },
}

/// Why a packet cannot become bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// More options than a TCP header holds (RFC 9293 §3.1: 40 bytes).
    #[error("TCP options: expected at most 40 bytes, found {found}")]
    OptionsTooLong {
        /// The bytes they need.
        found: usize,
    },
    /// A packet longer than its length field can say.
    #[error("packet length: expected at most {expected} bytes, found {found}")]
    PacketTooLong {
        /// The longest packet: 65 535 bytes in IPv4, 65 575 in IPv6.
        expected: usize,
        /// The length it would have.
        found: usize,
    },
    /// A buffer that does not hold the packet.
    #[error("buffer: expected at least {expected} bytes, found {found}")]
    BufferTooSmall {
        /// The bytes to write.
        expected: usize,
        /// The bytes it holds.
        found: usize,
    },
}
