use ackclock_packet::{
    Ecn, Flags, IpMeta, Options, QuickStart, QuickStartNonce, QuickStartRate, Range, Segment, Seq,
};
use ackclock_units::{Bytes, Mss};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::fixtures::{self, V4, V6, direction};
use crate::{Direction, SackEdges, Timestamps, parse};

/// The bytes of a packet. It must also be read back as itself, and take as many bytes as the
/// laboratory says.
fn bytes(
    direction: &Direction,
    segment: &Segment,
    ip: IpMeta,
    options: Option<&Options>,
    payload: &[u8],
) -> Vec<u8> {
    let mut buffer = [0xaa; 200];
    let headers = direction.narrow(segment, ip, options);
    let encoded = encode(&headers, Payload::Bytes(payload), &mut buffer).unwrap();
    assert_eq!(encoded.written, encoded.length);
    assert!(buffer[encoded.written..].iter().all(|&byte| byte == 0xaa), "nothing after the packet");
    let bytes = buffer[..encoded.written].to_vec();
    let parsed = parse(&bytes).unwrap();
    assert_eq!(parsed.payload, payload);
    let widened = direction.widen(&parsed);
    assert_eq!((&widened.segment, widened.options.as_ref()), (segment, options));
    assert_eq!(widened.ip, ip);
    if matches!(direction.tuple.addresses, Addresses::V4 { .. }) {
        assert_eq!(segment.wire_size(), Bytes::new(bytes.len() as u64));
    }
    bytes
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| u8::try_from(pair[0] << 4 | pair[1]).unwrap()).collect()
}

fn syn() -> Segment {
    Segment { seq: Seq::SYN, window: 65_535, flags: Flags::SYN, ..Segment::default() }
}

const QUICK_START: QuickStart = QuickStart::Request {
    rate: match QuickStartRate::from_code(11) {
        Some(rate) => rate,
        None => QuickStartRate::NONE,
    },
    ttl: 0x50,
    nonce: QuickStartNonce::new(0x1234_5678),
};

#[test]
fn a_syn_as_linux_sends_it() {
    let options = Options {
        mss: Mss::new(1460),
        window_scale: Some(7),
        sack_permitted: true,
        ..Options::default()
    };
    let segment = Segment {
        timestamps: true,
        ts_val: 1000,
        options_len: options.wire_len_with_timestamps(),
        ..syn()
    };
    // IPv4: version 4, 5 words; length 60 = 3c; don't fragment; TTL 64, TCP.
    //   4500 + 003c + 4000 + 4006 + 0a00 + 0001 + 0a00 + 0002 = d945, complement 26ba.
    // TCP: 10 words (20 + 20 of options), SYN, window ffff. MSS 05b4; SACK-permitted; timestamps
    // 3e8 and 0; NOP, window scale 7.
    //   Pseudo-header 0a00 + 0001 + 0a00 + 0002 + 0006 + 0028 = 1431.
    //   9c40 + 0050 + 1000 + a002 + ffff + 0204 + 05b4 + 0402 + 080a + 03e8 + 0103 + 0307 + 1431
    //   = 27c78, folded 7c7a, complement 8385.
    let expected = hex("4500003c 00004000 400626ba 0a000001 0a000002 \
         9c400050 10000000 00000000 a002ffff 83850000 \
         020405b4 0402080a 000003e8 00000000 01030307");
    assert_eq!(bytes(&direction(V4), &segment, IpMeta::default(), Some(&options), &[]), expected);
}

#[test]
fn a_segment_of_data_that_is_ecn_capable() {
    let segment = Segment {
        seq: Seq::FIRST_BYTE,
        ack: Seq::FIRST_BYTE,
        len: 8,
        window: 65_536,
        flags: Flags::ACK | Flags::PSH,
        ..Segment::default()
    };
    // ECT(0) is 10 in binary. 4502 + 0030 + 4000 + 4006 + 1403 = d93b, complement 26c4.
    // 65536 >> 7 = 512 = 0200. Payload 6163 6b63 6c6f 636b. Pseudo-header 1403 + 6 + 1c = 1425.
    //   9c40 + 0050 + 1000 + 0001 + 2000 + 0001 + 5018 + 0200 + 6163 + 6b63 + 6c6f + 636b + 1425
    //   = 2cf6f, folded cf71, complement 308e.
    let expected = hex("45020030 00004000 400626c4 0a000001 0a000002 \
         9c400050 10000001 20000001 50180200 308e0000 61636b63 6c6f636b");
    let ip = IpMeta { ecn: Ecn::Ect0, ttl: 64 };
    assert_eq!(bytes(&direction(V4), &segment, ip, None, b"ackclock"), expected);
}

#[test]
fn an_ack_with_three_sack_blocks_and_timestamps() {
    let mut options = Options::default();
    // Segments 3, 5 and 7 of 1460 bytes: 2921 = b69 to 4381 = 111d, 5841 = 16d1 to 7301 = 1c85,
    // 8761 = 2239 to 10221 = 27ed.
    for (start, end) in [(2921, 4381), (5841, 7301), (8761, 10_221)] {
        options.sack.push(Range { start: Seq::new(start), end: Seq::new(end) });
    }
    let segment = Segment {
        seq: Seq::FIRST_BYTE,
        ack: Seq::new(1461),
        window: 65_536,
        flags: Flags::ACK,
        timestamps: true,
        ts_val: 2000,
        ts_ecr: 1000,
        options_len: options.wire_len_with_timestamps(),
        ..Segment::default()
    };
    // 80 = 50 bytes: 4500 + 0050 + 4000 + 4006 + 1403 = d959, complement 26a6.
    // TCP: all 15 words. 1461 = 5b5; timestamps 7d0 and 3e8; SACK of 2 + 24 = 1a bytes.
    //   Pseudo-header 1403 + 6 + 3c = 1445.
    //   0050 + 9c40 + 2000 + 0001 + 1000 + 05b5 + f010 + 0200 + 0101 + 080a + 07d0 + 03e8 + 0101
    //   + 051a + 6 * 1000 + 0b69 + 111d + 16d1 + 1c85 + 2239 + 27ed + 1445
    //   = 2ed7b, folded ed7d, complement 1282.
    let expected = hex("45000050 00004000 400626a6 0a000002 0a000001 \
         00509c40 20000001 100005b5 f0100200 12820000 \
         0101080a 000007d0 000003e8 \
         0101051a 10000b69 1000111d 100016d1 10001c85 10002239 100027ed");
    let back = direction(V4).reversed().with_window_shift(7);
    assert_eq!(bytes(&back, &segment, IpMeta::default(), Some(&options), &[]), expected);
}

#[test]
fn a_quick_start_request_on_a_syn_over_ipv4() {
    let options =
        Options { mss: Mss::new(1460), quick_start: Some(QUICK_START), ..Options::default() };
    let segment = Segment { options_len: options.wire_len(), ..syn() };
    // Seven words of IPv4. Type 19, length 8; function 0, rate 11 = b; QS TTL 50; the nonce shifted
    // by two bits, 12345678 * 4 = 48d159e0.
    //   4700 + 0034 + 4000 + 4006 + 1403 + 1908 + 0b50 + 48d1 + 59e0 = 1a246, folded a247,
    //   complement 5db8.
    // TCP: six words. Pseudo-header 1403 + 6 + 18 = 1421.
    //   9c40 + 0050 + 1000 + 6002 + ffff + 0204 + 05b4 + 1421 = 2286a, folded 286c, complement d793.
    let expected = hex("47000034 00004000 40065db8 0a000001 0a000002 19080b50 48d159e0 \
         9c400050 10000000 00000000 6002ffff d7930000 020405b4");
    assert_eq!(bytes(&direction(V4), &segment, IpMeta::default(), Some(&options), &[]), expected);
}

#[test]
fn a_quick_start_request_on_a_syn_over_ipv6() {
    let options =
        Options { mss: Mss::new(1460), quick_start: Some(QUICK_START), ..Options::default() };
    // 16 bytes of hop-by-hop options, 4 of TCP.
    let segment = Segment { options_len: 20, ..syn() };
    // Payload of 16 + 24 = 28 bytes, hop-by-hop options next, hop limit 64. Then: TCP next, one unit
    // of 8 bytes more; PadN of 0; type 26, length 6, as in IPv4; PadN of 2.
    // TCP as in IPv4, but pseudo-header fd00 + 0001 + fd00 + 0002 + 0018 + 0006 = 1fa21.
    //   9c40 + 0050 + 1000 + 6002 + ffff + 0204 + 05b4 + 1fa21 = 40e6a, folded 0e6e, complement f191.
    let expected = hex("60000000 00280040 \
         fd000000 00000000 00000000 00000001 fd000000 00000000 00000000 00000002 \
         06010100 26060b50 48d159e0 01020000 \
         9c400050 10000000 00000000 6002ffff f1910000 020405b4");
    assert_eq!(bytes(&direction(V6), &segment, IpMeta::default(), Some(&options), &[]), expected);
}

#[test]
fn every_combination_of_options_comes_back() {
    let quick_starts = [
        None,
        Some(QUICK_START),
        Some(QuickStart::Report {
            rate: QuickStartRate::NONE,
            nonce: QuickStartNonce::new(u32::MAX),
        }),
    ];
    let response = ackclock_packet::QuickStartResponse {
        rate: QuickStartRate::MAX,
        ttl_diff: 0xf0,
        nonce: QuickStartNonce::new(0x2aaa_aaaa),
    };
    let (mut fitting, mut too_long) = (0, 0);
    for (addresses, quick_start) in
        [V4, V6].into_iter().flat_map(|ip| quick_starts.map(|option| (ip, option)))
    {
        for (present, blocks) in (0..32_u8).flat_map(|present| (0..=4).map(move |n| (present, n))) {
            let has = |bit: u8| present >> bit & 1 == 1;
            let mut options = Options {
                mss: has(0).then(Mss::default),
                window_scale: has(1).then_some(14),
                sack_permitted: has(2),
                quick_start,
                quick_start_response: has(3).then_some(response),
                ..Options::default()
            };
            for n in 0..blocks {
                let start = Seq::new(10_000 * (n + 1));
                options.sack.push(Range { start, end: start + Bytes::new(1460) });
            }
            let timestamps = has(4);
            let said =
                if timestamps { options.wire_len_with_timestamps() } else { options.wire_len() };
            let segment = Segment {
                seq: Seq::new(7),
                ack: Seq::new(9),
                len: 3,
                window: 1280,
                flags: Flags::ACK,
                timestamps,
                ts_val: if timestamps { 5 } else { 0 },
                ts_ecr: if timestamps { 6 } else { 0 },
                options_len: said,
            };
            let headers = direction(addresses).narrow(&segment, IpMeta::default(), Some(&options));
            let ip_options = if quick_start.is_some() { 8 } else { 0 };
            assert_eq!(headers.options.len(), usize::from(said) - ip_options);
            assert_eq!(headers.options.is_empty(), usize::from(said) == ip_options);
            let mut buffer = [0; 200];
            let Ok(encoded) = encode(&headers, Payload::Bytes(b"abc"), &mut buffer) else {
                assert!(headers.options.len() > 40);
                too_long += 1;
                continue;
            };
            fitting += 1;
            let parsed = parse(&buffer[..encoded.written]).unwrap();
            assert_eq!((parsed.headers, parsed.payload), (headers, &b"abc"[..]));
            let widened = direction(addresses).widen(&parsed);
            assert_eq!(widened.options.unwrap_or_default(), options);
            // The hop-by-hop header is longer than what the laboratory, whose sizes are IPv4's,
            // counts for the option.
            if addresses == V4 || quick_start.is_none() {
                assert_eq!(widened.segment, segment);
            }
        }
    }
    assert_eq!(fitting + too_long, 2 * 3 * 32 * 5);
    // By hand, the bytes beside 4 + 8n of SACK: n = 1 leaves 28, n = 2 leaves 20, n = 3 leaves 12 and
    // n = 4 leaves 4. MSS and window scale take 4 each, Quick-Start 8, SACK-permitted 4, or 12 with
    // timestamps or with both. Too long of the 32 are, for n = 0: none, of at most 28; n = 1: none;
    // n = 2: those of 24 and 28; n = 3: those above 12; n = 4: those above 4.
    let long = |room: usize| {
        (0..32_usize)
            .filter(|set| {
                let has = |bit: usize| set >> bit & 1;
                let last = [0, 4, 12, 12][has(3) + 2 * has(4)];
                4 * has(0) + 4 * has(1) + 8 * has(2) + last > room
            })
            .count()
    };
    assert_eq!(too_long, 6 * (long(20) + long(12) + long(4)));
}

#[test]
fn zeros_and_omitted_zeros_have_one_checksum() {
    for addresses in [V4, V6] {
        let segment = Segment { len: 1461, flags: Flags::ACK, ..Segment::default() };
        let headers = direction(addresses).narrow(&segment, IpMeta::default(), None);
        let mut whole = [0xaa; 1600];
        let zeros = encode(&headers, Payload::Zeros(1461), &mut whole).unwrap();
        let mut short = [0xaa; MAX_HEADERS];
        let omitted = encode(&headers, Payload::Omitted(1461), &mut short).unwrap();
        assert_eq!(zeros.length, omitted.length);
        assert_eq!(zeros.written, omitted.written + 1461);
        assert_eq!(whole[..omitted.written], short[..omitted.written]);
        assert_eq!(parse(&whole[..zeros.written]).unwrap().payload, [0; 1461]);
    }
}

#[test]
fn the_longest_headers_are_as_long_as_is_said() {
    let mut sack = SackEdges::default();
    for n in 0..3 {
        sack.push(n, n + 1);
    }
    let options =
        crate::TcpOptions { sack, timestamps: Some(Timestamps::default()), ..Default::default() };
    let headers = direction(V6).narrow(&Segment::default(), IpMeta::default(), None);
    let headers = Headers { quick_start: Some(QUICK_START), options, ..headers };
    let encoded = encode(&headers, Payload::Omitted(0), &mut [0; MAX_HEADERS]).unwrap();
    assert_eq!(encoded.length, MAX_HEADERS);
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let segment = Segment { flags: Flags::ACK, ..Segment::default() };
    let v4 = direction(V4).narrow(&segment, IpMeta::default(), None);
    let v6 = direction(V6).narrow(&segment, IpMeta::default(), None);
    let refused = |headers: &Headers, payload, buffer: &mut [u8]| {
        encode(headers, payload, buffer).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&v4, Payload::Zeros(10), &mut [0; 49]),
        "buffer: expected at least 50 bytes, found 49"
    );
    assert_eq!(
        refused(&v4, Payload::Omitted(65_496), &mut [0; 100]),
        "packet length: expected at most 65535 bytes, found 65536"
    );
    assert!(encode(&v4, Payload::Omitted(65_495), &mut [0; 100]).is_ok());
    assert_eq!(
        refused(&v6, Payload::Omitted(65_516), &mut [0; 100]),
        "packet length: expected at most 65575 bytes, found 65576"
    );
    let mut crowded = v4;
    crowded.options.timestamps = Some(Timestamps::default());
    for n in 0..4 {
        crowded.options.sack.push(n, n);
    }
    assert_eq!(
        refused(&crowded, Payload::Zeros(0), &mut [0; 100]),
        "TCP options: expected at most 40 bytes, found 48"
    );
}

proptest! {
    #[test]
    fn headers_and_payload_come_back(
        headers in fixtures::headers(),
        payload in vec(any::<u8>(), 0..64),
    ) {
        let mut buffer = [0; MAX_HEADERS + 64];
        let encoded = encode(&headers, Payload::Bytes(&payload), &mut buffer).unwrap();
        let parsed = parse(&buffer[..encoded.written]).unwrap();
        prop_assert_eq!(parsed.headers, headers);
        prop_assert_eq!(parsed.payload, payload);
    }
}

#[test]
fn a_datagram_has_its_lengths_and_checksums() {
    for addresses in [V4, V6] {
        let tuple = Tuple { addresses, source_port: 49_152, destination_port: 9 };
        for len in [0, 1, 7, 472, 65_000] {
            let mut buffer = vec![0; 65_600];
            let ip = IpMeta::default();
            let whole = encode_datagram(&tuple, ip, Payload::Zeros(len), &mut buffer).unwrap();
            let bytes = buffer[..whole.written].to_vec();
            let headers = match addresses {
                Addresses::V4 { .. } => 28,
                Addresses::V6 { .. } => 48,
            };
            assert_eq!((whole.written, whole.length), (headers + len as usize, whole.written));
            let udp = &bytes[headers - 8..];
            assert_eq!(udp[4..6], u16::try_from(8 + len).unwrap().to_be_bytes());
            assert_ne!(udp[6..8], [0, 0]);
            assert_eq!(checksum::udp(&addresses, 8 + len, &[udp]), 0);
            if headers == 28 {
                assert_eq!(checksum::of(&[&bytes[..20]]), 0);
            }
            // Without the payload, the same headers.
            let mut short = [0; 48];
            let omitted = encode_datagram(&tuple, ip, Payload::Omitted(len), &mut short).unwrap();
            assert_eq!((omitted.written, omitted.length), (headers, whole.length));
            assert_eq!(short[..headers], bytes[..headers]);
        }
        let too_long =
            encode_datagram(&tuple, IpMeta::default(), Payload::Omitted(65_530), &mut []);
        assert!(matches!(too_long, Err(EncodeError::PacketTooLong { .. })));
    }
}
