//! Packets to bytes.

use ackclock_packet::{Ecn, Flags, IpMeta, QuickStart};
use etherparse::{
    IpEcn, IpNumber, Ipv4Header, Ipv4Options, Ipv6Header, TcpHeader, TcpOptions, UdpHeader,
};

use crate::error::EncodeError;
use crate::headers::{Addresses, Headers, Tuple};
use crate::{checksum, ip_options, tcp_options};

/// The longest headers that [`encode`] writes: IPv6 with Quick-Start, TCP with 40 bytes of options.
pub const MAX_HEADERS: usize = Ipv6Header::LEN + ip_options::HOP_BY_HOP_LEN + TcpHeader::MAX_LEN;

/// The payload after the headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// This number of zeros.
    Zeros(u32),
    /// This number of zeros, which lengths and checksums count and which are not written: for a
    /// capture of headers alone.
    Omitted(u32),
}

impl Payload<'_> {
    /// Its length in bytes.
    pub const fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Zeros(len) | Self::Omitted(len) => *len as usize,
        }
    }

    /// True if there is none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The result of [`encode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// Bytes written into the buffer.
    pub written: usize,
    /// Bytes of the packet: more than were written if its payload was omitted.
    pub length: usize,
}

/// Writes a packet into the beginning of `buffer`, with its lengths and checksums (RFC 791, RFC 8200,
/// RFC 9293 §3.1). Allocates nothing.
pub fn encode(
    headers: &Headers,
    payload: Payload<'_>,
    buffer: &mut [u8],
) -> Result<Encoded, EncodeError> {
    let mut options = [0; tcp_options::MAX_LEN];
    let options = headers.options.write(&mut options)?;
    let tcp_len = TcpHeader::MIN_LEN + options.len() + payload.len();

    let addresses = &headers.tuple.addresses;
    let ip = IpBytes::new(addresses, headers.ip, headers.quick_start, IpNumber::TCP, tcp_len)?;
    let header = tcp_header(headers, options).to_bytes();
    let (encoded, tcp, content) = assemble(&ip, &header, payload, buffer)?;
    // Lengths were checked above: this one fits into 17 bits.
    let len = u32::try_from(tcp_len).unwrap_or(u32::MAX);
    let checksum = checksum::tcp(addresses, len, &[tcp, content]);
    tcp[CHECKSUM..CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
    Ok(encoded)
}

/// Writes a UDP datagram (RFC 768) into the beginning of `buffer`, with its lengths and checksums:
/// what stands in a capture for traffic that no end point controls. Allocates nothing.
pub fn encode_datagram(
    tuple: &Tuple,
    ip: IpMeta,
    payload: Payload<'_>,
    buffer: &mut [u8],
) -> Result<Encoded, EncodeError> {
    let udp_len = UdpHeader::LEN + payload.len();
    let ip = IpBytes::new(&tuple.addresses, ip, None, IpNumber::UDP, udp_len)?;
    let length = u16::try_from(udp_len).map_err(|_| EncodeError::PacketTooLong {
        expected: MAX_IPV6,
        found: Ipv6Header::LEN + udp_len,
    })?;
    let header = UdpHeader {
        source_port: tuple.source_port,
        destination_port: tuple.destination_port,
        length,
        checksum: 0,
    };
    let (encoded, udp, content) = assemble(&ip, &header.to_bytes(), payload, buffer)?;
    let checksum = match checksum::udp(&tuple.addresses, u32::from(length), &[udp, content]) {
        // Zero says that there is no checksum.
        0 => u16::MAX,
        checksum => checksum,
    };
    udp[UDP_CHECKSUM..UDP_CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
    Ok(encoded)
}

/// Writes the headers and what is to be written of the payload; returns where the transport's header
/// stands, and what of the payload is not zero.
fn assemble<'a, 'p>(
    ip: &IpBytes,
    transport: &[u8],
    payload: Payload<'p>,
    buffer: &'a mut [u8],
) -> Result<(Encoded, &'a mut [u8], &'p [u8]), EncodeError> {
    let ip = ip.as_slice();
    let headers_end = ip.len() + transport.len();
    let length = headers_end + payload.len();
    let written = match payload {
        Payload::Bytes(_) | Payload::Zeros(_) => length,
        Payload::Omitted(_) => headers_end,
    };
    let available = buffer.len();
    let buffer = buffer
        .get_mut(..written)
        .ok_or(EncodeError::BufferTooSmall { expected: written, found: available })?;

    let (header, rest) = buffer.split_at_mut(headers_end);
    let content = match payload {
        Payload::Bytes(bytes) => {
            rest.copy_from_slice(bytes);
            bytes
        }
        Payload::Zeros(_) | Payload::Omitted(_) => {
            rest.fill(0);
            &[]
        }
    };
    let (before, after) = header.split_at_mut(ip.len());
    before.copy_from_slice(ip);
    after.copy_from_slice(transport);
    Ok((Encoded { written, length }, after, content))
}

/// An IP header with whatever stands between it and the transport's.
struct IpBytes {
    bytes: [u8; Ipv4Header::MAX_LEN],
    len: usize,
}

impl IpBytes {
    fn new(
        addresses: &Addresses,
        ip: IpMeta,
        quick_start: Option<QuickStart>,
        protocol: IpNumber,
        content_len: usize,
    ) -> Result<Self, EncodeError> {
        let mut this = Self { bytes: [0; Ipv4Header::MAX_LEN], len: 0 };
        match *addresses {
            Addresses::V4 { source, destination } => {
                let options = match quick_start {
                    Some(option) => Ipv4Options::from(ip_options::ipv4(option)),
                    None => Ipv4Options::new(),
                };
                let found = Ipv4Header::MIN_LEN + options.len() + content_len;
                let total_len = u16::try_from(found)
                    .map_err(|_| EncodeError::PacketTooLong { expected: MAX_IPV4, found })?;
                let mut header = Ipv4Header {
                    ecn: ecn(ip.ecn),
                    total_len,
                    dont_fragment: true,
                    time_to_live: ip.ttl,
                    protocol,
                    source: source.octets(),
                    destination: destination.octets(),
                    options,
                    ..Ipv4Header::default()
                };
                header.header_checksum = header.calc_header_checksum();
                this.put(&header.to_bytes());
            }
            Addresses::V6 { source, destination } => {
                let extension = quick_start.map(ip_options::hop_by_hop);
                let extension_len =
                    if extension.is_some() { ip_options::HOP_BY_HOP_LEN } else { 0 };
                let found = extension_len + content_len;
                let payload_length =
                    u16::try_from(found).map_err(|_| EncodeError::PacketTooLong {
                        expected: MAX_IPV6,
                        found: Ipv6Header::LEN + found,
                    })?;
                let header = Ipv6Header {
                    traffic_class: ecn(ip.ecn).value(),
                    payload_length,
                    next_header: match extension {
                        Some(_) => IpNumber::IPV6_HEADER_HOP_BY_HOP,
                        None => protocol,
                    },
                    hop_limit: ip.ttl,
                    source: source.octets(),
                    destination: destination.octets(),
                    ..Ipv6Header::default()
                };
                this.put(&header.to_bytes());
                this.put(extension.as_ref().map_or(&[], <[u8; _]>::as_slice));
            }
        }
        Ok(this)
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

fn tcp_header(headers: &Headers, options: &[u8]) -> TcpHeader {
    let has = |flag| headers.flags.contains(flag);
    TcpHeader {
        source_port: headers.tuple.source_port,
        destination_port: headers.tuple.destination_port,
        sequence_number: headers.seq,
        acknowledgment_number: headers.ack,
        fin: has(Flags::FIN),
        syn: has(Flags::SYN),
        rst: has(Flags::RST),
        psh: has(Flags::PSH),
        ack: has(Flags::ACK),
        ece: has(Flags::ECE),
        cwr: has(Flags::CWR),
        ns: has(Flags::AE),
        window_size: headers.window,
        // For the data offset; at most 40 bytes, so they fit.
        options: TcpOptions::try_from_slice(options).unwrap_or_default(),
        ..TcpHeader::default()
    }
}

const fn ecn(ecn: Ecn) -> IpEcn {
    match ecn {
        Ecn::NotEct => IpEcn::ZERO,
        Ecn::Ect1 => IpEcn::ONE,
        Ecn::Ect0 => IpEcn::TWO,
        Ecn::Ce => IpEcn::THREE,
    }
}

const MAX_IPV4: usize = 65_535;
const MAX_IPV6: usize = Ipv6Header::LEN + 65_535;

/// The offset of the checksum in a TCP header.
pub const CHECKSUM: usize = 16;
/// The offset of the checksum in a UDP header.
const UDP_CHECKSUM: usize = 6;

#[cfg(test)]
mod tests;
