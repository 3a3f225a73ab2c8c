//! Bytes to packets.

use ackclock_packet::{Ecn, Flags, IpMeta, QuickStart};
use etherparse::err::{ipv4, ipv6, tcp};
use etherparse::{IpEcn, Ipv4HeaderSlice, Ipv6HeaderSlice, TcpHeaderSlice};

use crate::encode::CHECKSUM as TCP_CHECKSUM;
use crate::error::{Layer, ParseError};
use crate::headers::{Addresses, Headers, Tuple};
use crate::tcp_options::TcpOptions;
use crate::{checksum, ip_options};

/// A packet that [`parse`] has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed<'a> {
    /// Its headers.
    pub headers: Headers,
    /// Bytes of its headers that are options, of IP and TCP together.
    pub options_len: usize,
    /// The payload after them.
    pub payload: &'a [u8],
}

/// Reads a packet: an IPv4 or IPv6 header (RFC 791, RFC 8200), a TCP header (RFC 9293), a payload and
/// nothing after it. Every length and checksum is verified.
///
/// A single flipped bit of an IPv4 packet never passes: the header checksum covers all of the IP
/// header with its options, the TCP checksum the rest. IPv6 has no header checksum, and TCP's
/// pseudo-header covers addresses, length and protocol alone (RFC 8200 §8.1), so that the traffic
/// class (ECN with it), the flow label, the hop limit and hop-by-hop options (Quick-Start) may change
/// unseen.
pub fn parse(bytes: &[u8]) -> Result<Parsed<'_>, ParseError> {
    parse_with(bytes, Verify::Checksums)
}

/// Reads a packet as [`parse`] does but does not look at its checksums: for captures taken where
/// a network card was still to fill them in.
pub fn parse_unverified(bytes: &[u8]) -> Result<Parsed<'_>, ParseError> {
    parse_with(bytes, Verify::Nothing)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verify {
    Checksums,
    Nothing,
}

/// An IP header, read.
struct Ip {
    addresses: Addresses,
    meta: IpMeta,
    quick_start: Option<QuickStart>,
    /// Bytes before TCP.
    len: usize,
    /// Those of them that a header without options has.
    fixed_len: usize,
}

fn parse_with(bytes: &[u8], verify: Verify) -> Result<Parsed<'_>, ParseError> {
    let ip = match bytes.first().map(|byte| byte >> 4) {
        Some(4) => parse_ipv4(bytes, verify)?,
        Some(6) => parse_ipv6(bytes)?,
        Some(found) => return Err(ParseError::Version { found }),
        None => {
            let layer = Layer::Ip;
            return Err(ParseError::Truncated { layer, offset: 0, expected: 20, found: 0 });
        }
    };
    let segment = &bytes[ip.len..];
    let header = TcpHeaderSlice::from_slice(segment).map_err(|error| match error {
        tcp::HeaderSliceError::Len(error) => ParseError::Truncated {
            layer: Layer::Tcp,
            offset: ip.len,
            expected: error.required_len,
            found: error.len,
        },
        tcp::HeaderSliceError::Content(tcp::HeaderError::DataOffsetTooSmall { data_offset }) => {
            ParseError::HeaderLength {
                layer: Layer::Tcp,
                offset: ip.len + TCP_DATA_OFFSET,
                expected: 5,
                found: data_offset,
            }
        }
    })?;
    if verify == Verify::Checksums {
        // Within an IP packet: its length fits into 17 bits.
        let len = u32::try_from(segment.len()).unwrap_or(u32::MAX);
        verified(Layer::Tcp, ip.len, TCP_CHECKSUM, segment, |parts| {
            checksum::tcp(&ip.addresses, len, parts)
        })?;
    }
    let header_len = header.slice().len();
    let options = TcpOptions::parse(&segment[TCP_FIXED..header_len], ip.len + TCP_FIXED)?;
    let flags = flags(&header);
    Ok(Parsed {
        headers: Headers {
            tuple: Tuple {
                addresses: ip.addresses,
                source_port: header.source_port(),
                destination_port: header.destination_port(),
            },
            ip: ip.meta,
            quick_start: ip.quick_start,
            seq: header.sequence_number(),
            ack: if flags.contains(Flags::ACK) { header.acknowledgment_number() } else { 0 },
            flags,
            window: header.window_size(),
            options,
        },
        options_len: ip.len - ip.fixed_len + header_len - TCP_FIXED,
        payload: &segment[header_len..],
    })
}

fn parse_ipv4(bytes: &[u8], verify: Verify) -> Result<Ip, ParseError> {
    let layer = Layer::Ipv4;
    let header = Ipv4HeaderSlice::from_slice(bytes).map_err(|error| match error {
        ipv4::HeaderSliceError::Len(error) => ParseError::Truncated {
            layer,
            offset: 0,
            expected: error.required_len,
            found: error.len,
        },
        ipv4::HeaderSliceError::Content(error) => match error {
            ipv4::HeaderError::UnexpectedVersion { version_number } => {
                ParseError::Version { found: version_number }
            }
            ipv4::HeaderError::HeaderLengthSmallerThanHeader { ihl } => {
                ParseError::HeaderLength { layer, offset: 0, expected: 5, found: ihl }
            }
        },
    })?;
    let len = header.slice().len();
    if verify == Verify::Checksums {
        let bytes = header.slice();
        verified(Layer::Ipv4, 0, IPV4_CHECKSUM, bytes, checksum::of)?;
    }
    packet_length(IPV4_TOTAL_LENGTH, bytes.len(), header.total_len())?;
    if header.is_fragmenting_payload() {
        let found = header.fragments_offset().value()
            | u16::from(header.more_fragments()) << 13
            | u16::from(header.dont_fragment()) << 14;
        return Err(ParseError::Fragment { offset: IPV4_FRAGMENT, found });
    }
    protocol(IPV4_PROTOCOL, header.protocol().0)?;
    Ok(Ip {
        addresses: Addresses::V4 {
            source: header.source_addr(),
            destination: header.destination_addr(),
        },
        meta: IpMeta { ecn: ecn(header.ecn()), ttl: header.ttl() },
        quick_start: ip_options::parse_ipv4(header.options(), IPV4_FIXED)?,
        len,
        fixed_len: IPV4_FIXED,
    })
}

fn parse_ipv6(bytes: &[u8]) -> Result<Ip, ParseError> {
    let header = Ipv6HeaderSlice::from_slice(bytes).map_err(|error| match error {
        ipv6::HeaderSliceError::Len(error) => ParseError::Truncated {
            layer: Layer::Ipv6,
            offset: 0,
            expected: error.required_len,
            found: error.len,
        },
        ipv6::HeaderSliceError::Content(ipv6::HeaderError::UnexpectedVersion {
            version_number,
        }) => ParseError::Version { found: version_number },
    })?;
    packet_length(IPV6_LENGTH, bytes.len() - IPV6_FIXED, header.payload_length())?;
    let mut ip = Ip {
        addresses: Addresses::V6 {
            source: header.source_addr(),
            destination: header.destination_addr(),
        },
        meta: IpMeta { ecn: ecn(header.ecn()), ttl: header.hop_limit() },
        quick_start: None,
        len: IPV6_FIXED,
        fixed_len: IPV6_FIXED,
    };
    let mut next = (IPV6_NEXT_HEADER, header.next_header().0);
    if next.1 == HOP_BY_HOP {
        let rest = &bytes[IPV6_FIXED..];
        let truncated = |expected| ParseError::Truncated {
            layer: Layer::HopByHop,
            offset: IPV6_FIXED,
            expected,
            found: rest.len(),
        };
        // RFC 8200 §4.3: the next header, the length in units of 8 bytes after the first, options.
        let &[following, units, ..] = rest else { return Err(truncated(8)) };
        let len = 8 + 8 * usize::from(units);
        let extension = rest.get(..len).ok_or(truncated(len))?;
        ip.quick_start = ip_options::parse_hop_by_hop(&extension[2..], IPV6_FIXED + 2)?;
        ip.len += len;
        next = (IPV6_FIXED, following);
    }
    protocol(next.0, next.1)?;
    Ok(ip)
}

fn packet_length(offset: usize, expected: usize, found: u16) -> Result<(), ParseError> {
    let found = usize::from(found);
    if found == expected {
        Ok(())
    } else {
        Err(ParseError::PacketLength { offset, expected, found })
    }
}

fn protocol(offset: usize, found: u8) -> Result<(), ParseError> {
    if found == TCP { Ok(()) } else { Err(ParseError::Protocol { offset, found }) }
}

/// Checks the checksum at byte `at` of `bytes`, which begin at byte `offset` of the packet. All of
/// the bytes are summed, those included that have no meaning yet.
fn verified(
    layer: Layer,
    offset: usize,
    at: usize,
    bytes: &[u8],
    sum: impl Fn(&[&[u8]]) -> u16,
) -> Result<(), ParseError> {
    if sum(&[bytes]) == 0 {
        return Ok(());
    }
    let (before, rest) = bytes.split_at(at);
    let (found, after) = rest.split_at(2);
    Err(ParseError::Checksum {
        layer,
        offset: offset + at,
        expected: sum(&[before, after]),
        found: u16::from_be_bytes([found[0], found[1]]),
    })
}

fn flags(header: &TcpHeaderSlice<'_>) -> Flags {
    [
        (header.fin(), Flags::FIN),
        (header.syn(), Flags::SYN),
        (header.rst(), Flags::RST),
        (header.psh(), Flags::PSH),
        (header.ack(), Flags::ACK),
        (header.ece(), Flags::ECE),
        (header.cwr(), Flags::CWR),
        (header.ns(), Flags::AE),
    ]
    .iter()
    .fold(Flags::NONE, |flags, &(set, flag)| if set { flags | flag } else { flags })
}

const fn ecn(ecn: IpEcn) -> Ecn {
    match ecn {
        IpEcn::ZERO => Ecn::NotEct,
        IpEcn::ONE => Ecn::Ect1,
        IpEcn::TWO => Ecn::Ect0,
        IpEcn::THREE => Ecn::Ce,
    }
}

const TCP: u8 = 6;
const HOP_BY_HOP: u8 = 0;

/// Bytes of each header without options.
const IPV4_FIXED: usize = 20;
const IPV6_FIXED: usize = 40;
const TCP_FIXED: usize = 20;

/// The offsets of fields in their headers.
const IPV4_TOTAL_LENGTH: usize = 2;
const IPV4_FRAGMENT: usize = 6;
const IPV4_PROTOCOL: usize = 9;
const IPV4_CHECKSUM: usize = 10;
const IPV6_LENGTH: usize = 4;
const IPV6_NEXT_HEADER: usize = 6;
const TCP_DATA_OFFSET: usize = 12;

#[cfg(test)]
mod tests;
