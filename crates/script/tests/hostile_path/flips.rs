//! Single bits flipped in packets, and what notices them.

/// Flips bit `bit` of a packet, counted from the first, most significant one.
pub fn flip(bytes: &mut [u8], bit: usize) {
    bytes[bit / 8] ^= 0x80 >> (bit % 8);
}

/// True if a flip of this bit must be noticed: everywhere but in the three fields of an IPv6 header
/// that no checksum covers (RFC 8200 §8.1), its traffic class, flow label and hop limit.
pub fn is_seen(flipped: &[u8], bit: usize) -> bool {
    let mut bytes = [flipped[0]];
    if bit < 8 {
        flip(&mut bytes, bit);
    }
    !(bytes[0] >> 4 == 6 && ((4..32).contains(&bit) || (56..64).contains(&bit)))
}

mod tests {
    use core::net::{Ipv4Addr, Ipv6Addr};
    use std::collections::BTreeSet;

    use ackclock_packet::{Flags, IpMeta, Options, Range, SackBlocks, Segment, Seq};
    use ackclock_wire::{
        Addresses, Direction, Layer, MAX_HEADERS, ParseError, Payload, Tuple, encode, parse,
    };

    use super::*;

    /// Four bytes of data with timestamps and a SACK block: 44 bytes of TCP header.
    fn packet(addresses: Addresses) -> Vec<u8> {
        let tuple = Tuple { addresses, source_port: 40_000, destination_port: 80 };
        let segment = Segment {
            seq: Seq::new(1000),
            ack: Seq::new(2000),
            len: 4,
            window: 0x1234,
            ts_val: 77,
            ts_ecr: 66,
            flags: Flags::ACK,
            timestamps: true,
            ..Segment::default()
        };
        let mut sack = SackBlocks::default();
        sack.push(Range { start: Seq::new(3000), end: Seq::new(4000) });
        let options = Options { sack, ..Options::default() };
        let direction = Direction::new(tuple, 0x1234_5678, 0x8765_4321);
        let headers = direction.narrow(&segment, IpMeta::default(), Some(&options));
        let mut bytes = vec![0; MAX_HEADERS + 4];
        let encoded = encode(&headers, Payload::Bytes(b"data"), &mut bytes).unwrap();
        bytes.truncate(encoded.written);
        bytes
    }

    fn v4() -> Vec<u8> {
        packet(Addresses::V4 {
            source: Ipv4Addr::new(192, 0, 2, 1),
            destination: Ipv4Addr::new(192, 0, 2, 2),
        })
    }

    fn v6() -> Vec<u8> {
        packet(Addresses::V6 {
            source: Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
            destination: Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2),
        })
    }

    /// The checks that notice a flip of each of these bits, each word once.
    fn noticed(packet: &[u8], bits: std::ops::Range<usize>) -> Vec<&'static str> {
        let found = bits.map(|bit| {
            let mut bytes = packet.to_vec();
            flip(&mut bytes, bit);
            let result = parse(&bytes);
            assert_eq!(result.is_err(), is_seen(&bytes, bit), "bit {bit}");
            match result {
                Ok(_) => "nothing",
                Err(ParseError::Version { .. }) => "version",
                Err(ParseError::HeaderLength { .. } | ParseError::Truncated { .. }) => {
                    "header length"
                }
                Err(ParseError::PacketLength { .. }) => "packet length",
                Err(ParseError::Protocol { .. }) => "protocol",
                Err(ParseError::Checksum { layer: Layer::Ipv4, .. }) => "IPv4 checksum",
                Err(ParseError::Checksum { layer: Layer::Tcp, .. }) => "TCP checksum",
                Err(other) => panic!("bit {bit}: {other}"),
            }
        });
        found.collect::<BTreeSet<_>>().into_iter().collect()
    }

    #[test]
    fn what_notices_a_flipped_bit_in_each_field() {
        let v4 = v4();
        assert_eq!(v4.len(), 20 + 44 + 4);
        // Version 4 becomes 0, 5, 12, or 6: then the length of IPv6 does not fit.
        assert_eq!(noticed(&v4, 0..4), ["packet length", "version"]);
        // Five words become 4, 1, 7 or 13: the sum of more words is wrong.
        assert_eq!(noticed(&v4, 4..8), ["IPv4 checksum", "header length"]);
        // TOS to destination address, the checksum itself among them.
        assert_eq!(noticed(&v4, 8..160), ["IPv4 checksum"]);
        let v6 = v6();
        assert_eq!(v6.len(), 40 + 44 + 4);
        // Version 6 becomes 7, 2, 14, or 4: then the header has no words.
        assert_eq!(noticed(&v6, 0..4), ["header length", "version"]);
        // Traffic class and flow label.
        assert_eq!(noticed(&v6, 4..32), ["nothing"]);
        assert_eq!(noticed(&v6, 32..48), ["packet length"]);
        assert_eq!(noticed(&v6, 48..56), ["protocol"]);
        // Hop limit.
        assert_eq!(noticed(&v6, 56..64), ["nothing"]);
        // Addresses, by the pseudo-header.
        assert_eq!(noticed(&v6, 64..320), ["TCP checksum"]);
        for (packet, tcp) in [(v4, 160), (v6, 320)] {
            // Ports, numbers.
            assert_eq!(noticed(&packet, tcp..tcp + 96), ["TCP checksum"]);
            // Eleven words become 10, 9, 15 (more than there are) or 3 (less than a header).
            assert_eq!(noticed(&packet, tcp + 96..tcp + 100), ["TCP checksum", "header length"]);
            // Reserved bits, flags, window, checksum, urgent pointer, options, data.
            assert_eq!(noticed(&packet, tcp + 100..8 * packet.len()), ["TCP checksum"]);
        }
    }
}
