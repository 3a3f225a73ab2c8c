use core::net::{Ipv4Addr, Ipv6Addr};

use ackclock_packet::{
    Flags, IpMeta, Options, QuickStartNonce, QuickStartRate, QuickStartResponse, Segment, Seq,
};
use ackclock_units::random::Stream;

use super::*;
use crate::{Addresses, Direction, Payload, Tuple, checksum, encode, parse};

/// The header of a much printed example of the IPv4 header checksum: 172.16.10.99 to 172.16.10.12, TTL
/// 64, TCP, checksum b1e6.
const KNOWN: [u8; 20] = [
    0x45, 0x00, 0x00, 0x3c, 0x1c, 0x46, 0x40, 0x00, 0x40, 0x06, 0xb1, 0xe6, 0xac, 0x10, 0x0a, 0x63,
    0xac, 0x10, 0x0a, 0x0c,
];

fn code(code: u8) -> QuickStartRate {
    QuickStartRate::from_code(code).unwrap()
}

fn request(rate: u8, ttl: u8, nonce: u32) -> QuickStart {
    QuickStart::Request { rate: code(rate), ttl, nonce: QuickStartNonce::new(nonce) }
}

fn direction(v6: bool) -> Direction {
    let addresses = if v6 {
        Addresses::V6 { source: Ipv6Addr::LOCALHOST, destination: Ipv6Addr::LOCALHOST }
    } else {
        Addresses::V4 {
            source: Ipv4Addr::new(10, 0, 0, 1),
            destination: Ipv4Addr::new(10, 0, 0, 2),
        }
    };
    Direction::new(Tuple { addresses, source_port: 1, destination_port: 2 }, 7, 9)
}

/// A SYN with `option`.
fn packet(v6: bool, option: Option<QuickStart>, ttl: u8) -> Vec<u8> {
    let segment = Segment { seq: Seq::SYN, flags: Flags::SYN, ..Segment::default() };
    let options = Options { quick_start: option, ..Options::default() };
    let ip = IpMeta { ttl, ..IpMeta::default() };
    let mut buffer = vec![0; 200];
    let headers = direction(v6).narrow(&segment, ip, Some(&options));
    let encoded = encode(&headers, Payload::Zeros(0), &mut buffer).unwrap();
    buffer.truncate(encoded.written);
    buffer
}

/// The TTL and the option that arrive after one router. The parser checks every checksum.
fn read(packet: &[u8]) -> (u8, Option<QuickStart>) {
    let parsed = parse(packet).unwrap();
    (parsed.headers.ip.ttl, parsed.headers.quick_start)
}

#[test]
fn the_checksum_follows_the_ttl() {
    let mut packet = vec![0; 60];
    packet[..20].copy_from_slice(&KNOWN);
    forward(&mut packet).unwrap();
    assert_eq!(packet[8], 63);
    // One less in the upper byte of a word: the checksum is 0x0100 more.
    assert_eq!(packet[10..12], [0xb2, 0xe6]);
    assert_eq!(checksum::of(&[&packet[..20]]), 0);
}

#[test]
fn what_cannot_go_on_is_refused_as_it_was() {
    let mut good = vec![0; 60];
    good[..20].copy_from_slice(&KNOWN);
    let refused = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut packet = good.clone();
        change(&mut packet);
        let before = packet.clone();
        let error = forward(&mut packet).unwrap_err();
        assert_eq!(packet, before);
        error
    };
    assert_eq!(refused(&|p| p[19] ^= 1), Undeliverable::Checksum);
    assert_eq!(refused(&|p| p.truncate(59)), Undeliverable::Malformed);
    assert_eq!(refused(&|p| p[0] = 0x44), Undeliverable::Malformed);
    assert_eq!(refused(&|p| p[0] = 0x55), Undeliverable::Malformed);
    assert_eq!(refused(&|p| p.clear()), Undeliverable::Malformed);
    // TTL 1 in place of 64: 0x3f00 more in the checksum, 0xb1e6 + 0x3f00 = 0xf0e6.
    let expired = |p: &mut Vec<u8>| {
        p[8] = 1;
        p[10] = 0xf0;
    };
    assert_eq!(refused(&expired), Undeliverable::Expired);
}

#[test]
fn a_router_that_takes_no_part_leaves_the_option() {
    for v6 in [false, true] {
        let option = request(11, 200, 0x1234_5678);
        let mut packet = packet(v6, Some(option), 64);
        forward(&mut packet).unwrap();
        assert_eq!(read(&packet), (63, Some(option)));
    }
}

#[test]
fn a_router_that_takes_part_changes_it() {
    for v6 in [false, true] {
        let mut packet = packet(v6, Some(request(11, 200, 0x1234_5678)), 64);
        let changed = request(10, 199, 0x0fed_cba9);
        let fate = |option: &mut QuickStart| {
            assert_eq!(*option, request(11, 200, 0x1234_5678));
            *option = changed;
            OptionFate::Written
        };
        forward_quick_start(&mut packet, fate).unwrap();
        assert_eq!(read(&packet), (63, Some(changed)));
    }
}

#[test]
fn a_deleted_option_leaves_a_packet_that_reads_well() {
    for v6 in [false, true] {
        let mut packet = packet(v6, Some(request(11, 200, 1)), 64);
        forward_quick_start(&mut packet, |_| OptionFate::Deleted).unwrap();
        assert_eq!(read(&packet), (63, None));
    }
}

#[test]
fn an_option_at_an_odd_place_keeps_the_checksum() {
    // Three no-operations before it, one after it: 12 bytes of options.
    let mut packet = packet(false, Some(request(11, 200, 0x2bcd_ef01)), 64);
    let option: Vec<u8> = packet.splice(20..28, []).collect();
    packet.splice(20..20, [[1_u8; 3].as_slice(), &option, &[1]].concat());
    packet[0] = 0x48;
    let length = u16::try_from(packet.len()).unwrap();
    packet[2..4].copy_from_slice(&length.to_be_bytes());
    packet[10..12].fill(0);
    let sum = checksum::of(&[&packet[..32]]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    let changed = request(3, 199, 0x3fff_ffff);
    let fate = |option: &mut QuickStart| {
        *option = changed;
        OptionFate::Written
    };
    forward_quick_start(&mut packet, fate).unwrap();
    assert_eq!(read(&packet), (63, Some(changed)));
}

#[test]
fn any_change_of_any_option_keeps_the_checksum() {
    let mut random = Stream::new(3, "forward");
    let mut any = || {
        let bits = random.next_u64();
        let [rate, ttl, ..] = bits.to_le_bytes();
        request(rate % 16, ttl, u32::try_from(bits >> 34).unwrap())
    };
    for ttl in (2..=255).cycle().take(2000) {
        let (before, after) = (any(), any());
        let mut packet = packet(false, Some(before), ttl);
        let fate = |option: &mut QuickStart| {
            *option = after;
            OptionFate::Written
        };
        forward_quick_start(&mut packet, fate).unwrap();
        assert_eq!(read(&packet), (ttl - 1, Some(after)));
    }
}

#[test]
fn nothing_of_a_hostile_packet_is_read_beyond_its_end() {
    let mut random = Stream::new(4, "hostile");
    for _ in 0..20_000 {
        let len = usize::try_from(random.next_u64() % 80).unwrap();
        let mut packet: Vec<u8> = (0..len).map(|_| random.next_u64().to_le_bytes()[0]).collect();
        if let Some(first) = packet.first_mut() {
            *first = if random.bernoulli(0.5) { 0x40 | (*first & 0x0f) } else { 0x60 };
        }
        if packet.len() >= 40 && packet[0] == 0x60 {
            packet[4..6].fill(0);
            packet[6] = 0;
        }
        let _ = forward_quick_start(&mut packet, |_| OptionFate::Written);
    }
}

#[test]
fn both_options_byte_by_byte() {
    // RFC 4782 §3.1: option 25, length 8, function 0 and rate 11, QS TTL 80, the nonce in 30 bits:
    // 0x12345678 shifted by 2 is 0x48d159e0.
    let bytes = packet(false, Some(request(11, 80, 0x1234_5678)), 64);
    assert_eq!(bytes[20..28], [0x19, 0x08, 0x0b, 0x50, 0x48, 0xd1, 0x59, 0xe0]);
    let report = QuickStart::Report { rate: code(11), nonce: QuickStartNonce::new(0x1234_5678) };
    let bytes = packet(false, Some(report), 64);
    assert_eq!(bytes[20..28], [0x19, 0x08, 0x8b, 0x00, 0x48, 0xd1, 0x59, 0xe0]);
    // IPv6: a hop-by-hop header of 16 bytes behind 40, the option at its natural place, type 0x26 and
    // length 6.
    let bytes = packet(true, Some(request(11, 80, 0x1234_5678)), 64);
    assert_eq!(bytes[44..52], [0x26, 0x06, 0x0b, 0x50, 0x48, 0xd1, 0x59, 0xe0]);
    // §4.2: TCP option 27, length 8, rate 11, TTL difference 240.
    let response = QuickStartResponse {
        rate: code(11),
        ttl_diff: 240,
        nonce: QuickStartNonce::new(0x1234_5678),
    };
    let segment = Segment { seq: Seq::SYN, flags: Flags::SYN, ..Segment::default() };
    let options = Options { quick_start_response: Some(response), ..Options::default() };
    let mut buffer = vec![0; 200];
    let headers = direction(false).narrow(&segment, IpMeta::default(), Some(&options));
    let written = encode(&headers, Payload::Zeros(0), &mut buffer).unwrap().written;
    let expected = [0x1b, 0x08, 0x0b, 0xf0, 0x48, 0xd1, 0x59, 0xe0];
    assert!(buffer[40..written].windows(8).any(|bytes| bytes == expected), "{buffer:02x?}");
}
