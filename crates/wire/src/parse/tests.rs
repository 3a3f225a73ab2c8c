use ackclock_packet::{QuickStartNonce, QuickStartRate, Segment};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::fixtures::{self, V4, V6, direction};
use crate::{MAX_HEADERS, Payload, encode};

const QUICK_START: QuickStart = QuickStart::Request {
    rate: QuickStartRate::MAX,
    ttl: 200,
    nonce: QuickStartNonce::new(0x1234_5678),
};

/// A packet of four bytes of data.
fn packet(addresses: Addresses, quick_start: Option<QuickStart>) -> Vec<u8> {
    let segment = Segment { flags: Flags::ACK, ..Segment::default() };
    let headers = direction(addresses).narrow(&segment, IpMeta::default(), None);
    bytes(&Headers { quick_start, ..headers }, b"data")
}

fn bytes(headers: &Headers, payload: &[u8]) -> Vec<u8> {
    let mut buffer = vec![0; MAX_HEADERS + payload.len()];
    let encoded = encode(headers, Payload::Bytes(payload), &mut buffer).unwrap();
    buffer.truncate(encoded.written);
    buffer
}

/// The error after these bytes were overwritten and the IPv4 header's checksum corrected.
fn refused(mut packet: Vec<u8>, changes: &[(usize, u8)]) -> String {
    for &(at, byte) in changes {
        packet[at] = byte;
    }
    if let (4, Ok((mut header, _))) = (packet[0] >> 4, etherparse::Ipv4Header::from_slice(&packet))
    {
        header.header_checksum = header.calc_header_checksum();
        packet[10..12].copy_from_slice(&header.header_checksum.to_be_bytes());
    }
    parse(&packet).unwrap_err().to_string()
}

#[test]
fn what_is_cut_off_is_named() {
    let cut = |addresses, quick_start, len| {
        parse_unverified(&packet(addresses, quick_start)[..len]).unwrap_err().to_string()
    };
    assert_eq!(cut(V4, None, 0), "IP header at byte 0: expected at least 20 bytes, found 0");
    assert_eq!(cut(V4, None, 19), "IPv4 header at byte 0: expected at least 20 bytes, found 19");
    assert_eq!(
        cut(V4, Some(QUICK_START), 27),
        "IPv4 header at byte 0: expected at least 28 bytes, found 27"
    );
    assert_eq!(cut(V4, None, 43), "packet length at byte 2: expected 43, found 44");
    assert_eq!(cut(V6, None, 39), "IPv6 header at byte 0: expected at least 40 bytes, found 39");
    assert_eq!(cut(V6, None, 60), "packet length at byte 4: expected 20, found 24");
}

#[test]
fn headers_that_contradict_themselves_are_refused() {
    let v4 = || packet(V4, None);
    assert_eq!(refused(v4(), &[(0, 0x55)]), "IP version at byte 0: expected 4 or 6, found 5");
    assert_eq!(
        refused(v4(), &[(0, 0x44)]),
        "IPv4 header length at byte 0: expected at least 5 words, found 4"
    );
    assert_eq!(refused(v4(), &[(3, 40)]), "packet length at byte 2: expected 44, found 40");
    let mut longer = v4();
    longer.push(0);
    assert_eq!(refused(longer, &[]), "packet length at byte 2: expected 45, found 44");
    // More fragments; and an offset of 8 bytes.
    assert_eq!(
        refused(v4(), &[(6, 0x20)]),
        "fragment field at byte 6: expected a whole packet, found 0x2000"
    );
    assert_eq!(
        refused(v4(), &[(7, 1)]),
        "fragment field at byte 6: expected a whole packet, found 0x4001"
    );
    assert_eq!(refused(v4(), &[(9, 17)]), "next protocol at byte 9: expected 6 (TCP), found 17");
    assert_eq!(
        refused(v4(), &[(32, 0x40)]),
        "TCP header length at byte 32: expected at least 5 words, found 4"
    );
    assert_eq!(
        refused(v4(), &[(32, 0xf0)]),
        "TCP header at byte 20: expected at least 60 bytes, found 24"
    );
    assert_eq!(
        refused(v4()[..30].to_vec(), &[(3, 30)]),
        "TCP header at byte 20: expected at least 20 bytes, found 10"
    );
}

#[test]
fn ipv6_extensions_other_than_hop_by_hop_options_are_refused() {
    let v6 = || packet(V6, Some(QUICK_START));
    assert_eq!(
        refused(packet(V6, None), &[(6, 44)]),
        "next protocol at byte 6: expected 6 (TCP), found 44"
    );
    // After a hop-by-hop header; a second one is not allowed (RFC 8200 §4.1).
    assert_eq!(refused(v6(), &[(40, 0)]), "next protocol at byte 40: expected 6 (TCP), found 0");
    assert_eq!(
        refused(v6(), &[(41, 9)]),
        "IPv6 hop-by-hop header at byte 40: expected at least 80 bytes, found 40"
    );
    let mut short = v6();
    short.truncate(41);
    assert_eq!(
        refused(short, &[(5, 1)]),
        "IPv6 hop-by-hop header at byte 40: expected at least 8 bytes, found 1"
    );
}

#[test]
fn hop_by_hop_options_are_read_strictly() {
    let v6 = || packet(V6, Some(QUICK_START));
    // Type 0x27 would be skipped by those who do not know it, 0x66 discarded (RFC 8200 §4.2).
    let mut unknown = v6();
    unknown[44] = 0x27;
    assert_eq!(parse(&unknown).unwrap().headers.quick_start, None);
    assert_eq!(
        refused(v6(), &[(44, 0x66)]),
        "IPv6 hop-by-hop header option 102 at byte 44: expected one that is known or may be skipped"
    );
    assert_eq!(
        refused(v6(), &[(45, 5), (51, 0)]),
        "IPv6 hop-by-hop header option 38 at byte 44: expected a length of 6, found 5"
    );
    assert_eq!(
        refused(v6(), &[(45, 11)]),
        "IPv6 hop-by-hop header option 38 at byte 44: expected a length of its header's at most, \
         found 11"
    );
    assert_eq!(
        refused(v6(), &[(54, 9)]),
        "IPv6 hop-by-hop header padding at byte 54: expected 0, found 9"
    );
    // Pad1 and a lone type byte at the end.
    assert_eq!(
        refused(v6(), &[(52, 0), (53, 0), (55, 5)]),
        "IPv6 hop-by-hop header option 5 at byte 55: expected a length of its header's at most, \
         found 0"
    );
}

#[test]
fn ipv4_options_are_read_strictly() {
    let v4 = || packet(V4, Some(QUICK_START));
    let unknown = |mut packet: Vec<u8>, kind: u8| {
        packet[20] = kind;
        parse_unverified(&packet).unwrap().headers.quick_start
    };
    assert_eq!(unknown(v4(), 0x19), Some(QUICK_START));
    assert_eq!(unknown(v4(), 0x44), None);
    assert_eq!(
        refused(v4(), &[(21, 1)]),
        "IPv4 header option 25 at byte 20: expected a length of at least 2 and its header's at \
         most, found 1"
    );
    assert_eq!(
        refused(v4(), &[(21, 7)]),
        "IPv4 header option 25 at byte 20: expected a length of 8, found 7"
    );
    assert_eq!(
        refused(v4(), &[(20, 1), (21, 0), (22, 3)]),
        "IPv4 header padding at byte 22: expected 0, found 3"
    );
}

#[test]
fn functions_that_rfc_4782_does_not_define_are_passed_over() {
    let mut packet = packet(V6, Some(QUICK_START));
    packet[46] = 0x4f;
    assert_eq!(parse(&packet).unwrap().headers.quick_start, None);
}

#[test]
fn two_quick_start_options_are_refused() {
    let mut options = [0; 16];
    options[..8].copy_from_slice(&[25, 8, 1, 0, 0, 0, 0, 0]);
    options[8..].copy_from_slice(&[25, 8, 1, 0, 0, 0, 0, 0]);
    assert_eq!(
        ip_options::parse_ipv4(&options, 20),
        Err(ParseError::OptionRepeated { layer: Layer::Ipv4, kind: 25, offset: 28 })
    );
}

#[test]
fn reserved_bits_and_urgent_data_are_ignored() {
    // RFC 9293 §3.1 MUST: reserved bits are ignored. Here the three that RFC 9768 leaves, and URG.
    let plain = packet(V4, None);
    let mut odd = plain.clone();
    odd[32] |= 0x0e;
    odd[33] |= 0x20;
    odd[39] = 4;
    let (plain, odd) = (parse(&plain).unwrap(), parse_unverified(&odd).unwrap());
    assert_eq!(odd.headers, plain.headers);
    assert_eq!(odd.payload, plain.payload);
}

#[test]
fn the_bit_before_the_byte_of_flags_is_that_of_accurate_ecn() {
    let mut packet = packet(V4, None);
    let before = parse(&packet).unwrap().headers.flags;
    packet[32] |= 0x01;
    assert_eq!(parse_unverified(&packet).unwrap().headers.flags, before | Flags::AE);
}

#[test]
fn a_wrong_checksum_says_what_it_should_be() {
    let mut packet = packet(V4, None);
    let sum = u16::from_be_bytes([packet[36], packet[37]]);
    packet[36] ^= 0x80;
    let found = sum ^ 0x8000;
    assert_eq!(
        parse(&packet).unwrap_err().to_string(),
        format!("TCP header checksum at byte 36: expected {sum:#06x}, found {found:#06x}")
    );
    assert!(parse_unverified(&packet).is_ok());
    packet[8] = 63;
    let error = parse(&packet).unwrap_err();
    assert!(matches!(error, ParseError::Checksum { layer: Layer::Ipv4, offset: 10, .. }));
}

/// Bits of an IPv6 packet that nothing covers: traffic class and flow label, hop limit, and a
/// hop-by-hop header but for its first byte.
fn uncovered(packet: &[u8], bit: usize) -> bool {
    let byte = bit / 8;
    packet[0] >> 4 == 6
        && (bit >= 4 && byte < 4 || byte == 7 || packet[6] == 0 && (41..56).contains(&byte))
}

/// Before this test the checksum was made of the fields that were read, and the bit between the
/// identification and "don't fragment" is none of them.
#[test]
fn the_reserved_bit_of_the_ipv4_flags_is_summed() {
    let mut packet = packet(V4, None);
    packet[6] |= 0x80;
    let error = parse(&packet).unwrap_err();
    assert!(matches!(error, ParseError::Checksum { layer: Layer::Ipv4, .. }));
    assert!(parse_unverified(&packet).is_ok());
}

proptest! {
    #[test]
    fn any_single_flipped_bit_is_refused(
        headers in fixtures::headers(),
        payload in vec(any::<u8>(), 0..40),
    ) {
        let mut packet = bytes(&headers, &payload);
        for bit in 0..packet.len() * 8 {
            if uncovered(&packet, bit) {
                continue;
            }
            packet[bit / 8] ^= 0x80 >> (bit % 8);
            prop_assert!(parse(&packet).is_err(), "bit {} of byte {}", bit % 8, bit / 8);
            packet[bit / 8] ^= 0x80 >> (bit % 8);
        }
        prop_assert!(parse(&packet).is_ok());
    }

    #[test]
    fn what_is_cut_off_is_always_noticed(headers in fixtures::headers()) {
        let packet = bytes(&headers, b"payload");
        for len in 0..packet.len() {
            prop_assert!(parse(&packet[..len]).is_err());
        }
    }
}
