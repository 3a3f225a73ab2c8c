//! The few fields of an IP packet that a path looks at, and changes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Bytes before a packet in its buffer: room for an Ethernet header.
pub const LEAD: usize = 14;

const HOP_BY_HOP: u8 = 0;
const TCP: u8 = 6;
const FIN: u8 = 1;
const SYN: u8 = 2;
const ACK: u8 = 16;

/// The headers of a packet, as far as the path looks at them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of the headers, and none excludes another"
)]
pub struct HeaderView {
    /// The sender's address.
    pub source: IpAddr,
    /// True if it is a TCP segment with payload.
    pub data: bool,
    /// The kind of a segment with SYN: true of a SYN-ACK, false of a SYN; `None` of other segments.
    pub syn_ack: Option<bool>,
    /// True of a segment with FIN.
    pub fin: bool,
    /// True if its IP header has options that routers look at.
    pub options: bool,
    /// True if its sender understands marks (RFC 3168 §5).
    pub ecn: bool,
}

impl HeaderView {
    /// Reads the headers of a packet; `None` unless it is a whole IP packet.
    pub fn read(packet: &[u8]) -> Option<Self> {
        let (source, header, transport, fixed, ecn) = match packet.first()? >> 4 {
            4 => {
                let header = ipv4_header_len(packet)?;
                let total = usize::from(u16::from_be_bytes([packet[2], packet[3]]));
                if total != packet.len() {
                    return None;
                }
                let source = Ipv4Addr::from([packet[12], packet[13], packet[14], packet[15]]);
                (source.into(), header, packet[9], 20, packet[1] & 3)
            }
            6 => {
                let fixed = packet.first_chunk::<IPV6_HEADER>()?;
                let payload = usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
                if IPV6_HEADER + payload != packet.len() {
                    return None;
                }
                let source: [u8; 16] = fixed[8..24].try_into().ok()?;
                let (header, transport) = match fixed[6] {
                    // RFC 8200 section 4.3: options for every node come first.
                    HOP_BY_HOP => {
                        let [next, units] = *packet.get(IPV6_HEADER..)?.first_chunk()?;
                        (IPV6_HEADER + 8 * (1 + usize::from(units)), next)
                    }
                    next => (IPV6_HEADER, next),
                };
                let source = Ipv6Addr::from(source).into();
                (source, header, transport, IPV6_HEADER, fixed[1] >> 4 & 3)
            }
            _ => return None,
        };
        let segment = packet.get(header..).filter(|_| transport == TCP);
        let data = segment.is_some_and(|segment| {
            let offset = segment.get(12).map_or(0, |word| usize::from(word >> 4) * 4);
            segment.len() > offset
        });
        let flags = segment.and_then(|segment| segment.get(13)).copied().unwrap_or(0);
        let syn_ack = (flags & SYN != 0).then_some(flags & ACK != 0);
        let fin = flags & FIN != 0;
        Some(Self { source, data, syn_ack, fin, options: header > fixed, ecn: ecn != 0 })
    }
}

/// RFC 8200 section 3.
const IPV6_HEADER: usize = 40;

fn ipv4_header_len(packet: &[u8]) -> Option<usize> {
    let first = *packet.first()?;
    let len = usize::from(first & 15) * 4;
    (first >> 4 == 4 && len >= 20 && packet.len() >= len).then_some(len)
}

/// Marks a packet with congestion: CE in its IP header, whose checksum follows where it has one.
pub fn mark(packet: &mut [u8]) {
    let Some(len) = ipv4_header_len(packet) else {
        if packet.len() >= IPV6_HEADER && packet[0] >> 4 == 6 {
            // The last two bits of the traffic class, which lies across two bytes.
            packet[1] |= 0x30;
        }
        return;
    };
    packet[1] |= 3;
    packet[10..12].fill(0);
    let sum: u32 = packet[..len]
        .chunks_exact(2)
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])))
        .sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    let folded = (sum & 0xffff) + (sum >> 16);
    // Below 2^16 after two folds.
    let checksum = !u16::try_from(folded).unwrap_or(0);
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
}

/// Flips a bit that the checksum of TCP covers.
pub fn corrupt(packet: &mut [u8]) {
    if let Some(last) = packet.last_mut() {
        *last ^= 1;
    }
}

#[cfg(test)]
mod tests {
    use ackclock_sim::scenario::NetworkSpec;

    use super::*;
    use crate::base::addresses::address;

    /// 20 bytes of IPv4 from 10.0.0.1 to 10.128.0.1, DF, TTL 64, 20 of TCP, and `payload`.
    fn packet(payload: usize, tos: u8) -> Vec<u8> {
        let total = u8::try_from(40 + payload).unwrap();
        let mut packet = vec![0x45, tos, 0, total, 0, 0, 0x40, 0, 64, 6, 0, 0];
        packet.extend([10, 0, 0, 1, 10, 128, 0, 1]);
        packet.extend([0; 12]);
        packet.extend([0x50, 0x10, 0, 0, 0, 0, 0, 0]);
        packet.resize(40 + payload, 0);
        packet
    }

    #[test]
    fn data_is_what_has_payload() {
        let headers = HeaderView::read(&packet(1, 0)).unwrap();
        let source = address(NetworkSpec::Ipv4, 0, 0);
        let expected = HeaderView {
            source,
            data: true,
            syn_ack: None,
            fin: false,
            options: false,
            ecn: false,
        };
        assert_eq!(headers, expected);
        let mut syn_ack = packet(0, 0);
        syn_ack[33] = 0x12;
        assert_eq!(HeaderView::read(&syn_ack).unwrap().syn_ack, Some(true));
        let mut fin = packet(0, 0);
        fin[33] = 0x11;
        assert!(HeaderView::read(&fin).unwrap().fin);
        assert!(!HeaderView::read(&packet(0, 0)).unwrap().data);
        assert!(HeaderView::read(&packet(0, 2)).unwrap().ecn);
        assert_eq!(HeaderView::read(&packet(0, 0)[..39]), None);
        // IPv6 whose payload is not as long as it says.
        assert_eq!(HeaderView::read(&[0x60; 40]), None);
    }

    /// 40 bytes of IPv6 from `fd00:0:0:1::1` to `fd00:0:0:2::1`, `extra` before 20 bytes of TCP, and `payload`.
    fn ipv6(extra: &[u8], payload: usize) -> Vec<u8> {
        let len = u8::try_from(extra.len() + 20 + payload).unwrap();
        let next = if extra.is_empty() { 6 } else { 0 };
        let mut packet = vec![0x60, 0x20, 0, 0, 0, len, next, 64];
        for subnet in [1, 2] {
            packet.extend([0xfd, 0, 0, 0, 0, 0, 0, subnet, 0, 0, 0, 0, 0, 0, 0, 1]);
        }
        packet.extend(extra);
        packet.extend([0; 12]);
        packet.extend([0x50, 0x12, 0, 0, 0, 0, 0, 0]);
        packet.resize(packet.len() + payload, 0);
        packet
    }

    #[test]
    fn ipv6_is_seen_through_options_for_every_node() {
        let source = address(NetworkSpec::Ipv6, 0, 0);
        // The traffic class 0x02 lies across the first two bytes.
        let expected = HeaderView {
            source,
            data: false,
            syn_ack: Some(true),
            fin: false,
            options: false,
            ecn: true,
        };
        assert_eq!(HeaderView::read(&ipv6(&[], 0)), Some(expected));
        assert!(HeaderView::read(&ipv6(&[], 1)).unwrap().data);
        // RFC 8200 section 4.3: TCP follows, no more units of 8 bytes; PadN of 6 bytes.
        let options = [6, 0, 1, 4, 0, 0, 0, 0];
        assert_eq!(
            HeaderView::read(&ipv6(&options, 0)),
            Some(HeaderView { options: true, ..expected })
        );
        assert_eq!(HeaderView::read(&ipv6(&[], 0)[..59]), None);
        let mut marked = ipv6(&[], 0);
        mark(&mut marked);
        assert_eq!(marked[..2], [0x60, 0x30]);
    }

    #[test]
    fn a_mark_leaves_a_valid_header() {
        let mut packet = packet(0, 2);
        mark(&mut packet);
        assert_eq!(packet[1] & 3, 3);
        // RFC 1071: the one's complement sum over a header with its checksum is all ones. By hand:
        // 4503 + 0028 + 0000 + 4000 + 4006 + 0a00 + 0001 + 0a80 + 0001 = d9b3, so that the checksum
        // is 264c.
        assert_eq!(packet[10..12], [0x26, 0x4c]);
    }
}
