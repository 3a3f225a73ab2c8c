use ackclock_packet::{Ecn, QuickStart, QuickStartNonce, QuickStartRate, QuickStartResponse};
use ackclock_units::Mss;
use proptest::prelude::*;

use super::*;
use crate::fixtures::{self, V4, direction};
use crate::{MAX_HEADERS, Payload, encode, parse};

fn through_the_wire(
    direction: &Direction,
    segment: &Segment,
    ip: IpMeta,
    options: Option<&Options>,
) -> Widened {
    let mut buffer = [0; MAX_HEADERS + 1500];
    let headers = direction.narrow(segment, ip, options);
    let encoded = encode(&headers, Payload::Zeros(segment.len), &mut buffer).unwrap();
    direction.widen(&parse(&buffer[..encoded.written]).unwrap())
}

#[test]
fn numbers_before_the_syn_do_not_exist() {
    // 1000 before the SYN is the same 32 bits as 2^32 - 1000 after it.
    let numbers = Unwrapper::new(5000);
    assert_eq!(numbers.widen(4000), Seq::new((1 << 32) - 1000));
    let mut later = numbers;
    later.advance(Seq::new(1000));
    assert_eq!(later.widen(5000), Seq::SYN);
    assert_eq!(later.widen(4999), Seq::new((1 << 32) - 1));
}

#[test]
fn expectations_do_not_go_back() {
    let mut numbers = Unwrapper::new(0);
    numbers.advance(Seq::new(5000));
    numbers.advance(Seq::new(4000));
    assert_eq!(numbers.expected(), Seq::new(5000));
}

#[test]
fn the_window_of_a_syn_is_not_scaled() {
    let direction = direction(V4);
    let window = |window, flags| {
        let segment = Segment { window, flags, ..Segment::default() };
        let narrowed = direction.narrow(&segment, IpMeta::default(), None).window;
        let widened = through_the_wire(&direction, &segment, IpMeta::default(), None);
        (narrowed, widened.segment.window)
    };
    assert_eq!(window(65_535, Flags::SYN), (65_535, 65_535));
    assert_eq!(window(65_535, Flags::SYN | Flags::ACK), (65_535, 65_535));
    // 65535 >> 7 = 511, and 511 << 7 = 65408: a window is rounded down.
    assert_eq!(window(65_535, Flags::ACK), (511, 65_408));
    // RFC 7323 §2.3: at most 65535 << 7 = 8388480.
    assert_eq!(window(1 << 30, Flags::ACK), (65_535, 8_388_480));
    assert_eq!(window(1 << 30, Flags::SYN), (65_535, 65_535));
}

#[test]
fn shifts_above_14_mean_14() {
    let segment = Segment { window: 1 << 20, flags: Flags::ACK, ..Segment::default() };
    let fifteen = direction(V4).with_window_shift(15);
    assert_eq!(through_the_wire(&fifteen, &segment, IpMeta::default(), None).segment, segment);
    let options = Options { window_scale: Some(200), ..Options::default() };
    let syn = Segment { flags: Flags::SYN, ..Segment::default() };
    let widened = through_the_wire(&direction(V4), &syn, IpMeta::default(), Some(&options));
    assert_eq!(widened.options.unwrap().window_scale, Some(14));
}

#[test]
fn an_acknowledgment_counts_only_with_its_flag() {
    let segment = Segment { ack: Seq::new(77), flags: Flags::RST, ..Segment::default() };
    let headers = direction(V4).narrow(&segment, IpMeta::default(), None);
    assert_eq!(headers.ack, 0);
    let widened = through_the_wire(&direction(V4), &segment, IpMeta::default(), None);
    assert_eq!(widened.segment.ack, Seq::default());
}

#[test]
fn five_gigabytes_pass_with_every_number_kept() {
    // The sender's view and the receiver's, on a connection whose first number is near its wrap.
    let tuple = direction(V4).tuple;
    let sender = Direction::new(tuple, 0xffff_ff00, 0x7fff_ffff);
    let mut receiver = sender;
    let step = 1 << 28;
    for n in 0..20_u64 {
        let seq = Seq::new(1 + n * step);
        let segment = Segment { seq, len: 1460, flags: Flags::ACK, ..Segment::default() };
        let widened =
            through_the_wire(&receiver_of(&sender, &receiver), &segment, IpMeta::default(), None);
        assert_eq!(widened.segment.seq, seq);
        receiver.follow(&widened.segment);
    }
    assert_eq!(receiver.sent.expected(), Seq::new(1 + 19 * step + 1460));
}

/// Narrowing does not depend on what is expected, so that the receiver's view serves for both.
fn receiver_of(sender: &Direction, receiver: &Direction) -> Direction {
    assert_eq!(sender.sent.narrow(Seq::new(1 << 40)), receiver.sent.narrow(Seq::new(1 << 40)));
    *receiver
}

#[test]
fn the_options_of_the_laboratory_come_back() {
    let rate = QuickStartRate::MAX;
    let nonce = QuickStartNonce::new(99);
    let mut options = Options {
        mss: Mss::new(1448),
        quick_start: Some(QuickStart::Report { rate, nonce }),
        quick_start_response: Some(QuickStartResponse { rate, ttl_diff: 200, nonce }),
        ..Options::default()
    };
    // A duplicate, below the acknowledgment (RFC 2883 §4.1), and an inverted block.
    options.sack.push(Range { start: Seq::new(10), end: Seq::new(20) });
    options.sack.push(Range { start: Seq::new(9000), end: Seq::new(8000) });
    let segment = Segment {
        seq: Seq::new(3),
        ack: Seq::new(5000),
        flags: Flags::ACK | Flags::CWR,
        options_len: options.wire_len(),
        ..Segment::default()
    };
    let ip = IpMeta { ecn: Ecn::Ce, ttl: 1 };
    let widened = through_the_wire(&direction(V4), &segment, ip, Some(&options));
    assert_eq!(widened, Widened { segment, ip, options: Some(options) });
}

proptest! {
    #[test]
    fn numbers_within_two_gigabytes_of_the_expected_come_back(
        isn: u32,
        expected in 0..1_u64 << 40,
        ahead in -(1_i64 << 31)..1 << 31,
    ) {
        let mut numbers = Unwrapper::new(isn);
        numbers.advance(Seq::new(expected));
        if let Some(seq) = expected.checked_add_signed(ahead) {
            prop_assert_eq!(numbers.widen(numbers.narrow(Seq::new(seq))), Seq::new(seq));
        }
    }

    #[test]
    fn any_32_bits_have_a_number_that_looks_so(isn: u32, expected: u64, wire: u32) {
        let mut numbers = Unwrapper::new(isn);
        numbers.advance(Seq::new(expected));
        prop_assert_eq!(numbers.narrow(numbers.widen(wire)), wire);
    }

    #[test]
    fn a_segment_comes_back(
        isns: (u32, u32),
        numbers in (1_u64..1 << 40, 1_u64..1 << 40),
        window in 0..=0xffff_u32,
        shift in 0..=14_u8,
        timestamps in proptest::option::of(any::<(u32, u32)>()),
        len in 0..1500_u32,
        flags in fixtures::flags(),
        ip in fixtures::ip_metas(),
        tuple in fixtures::tuples(),
    ) {
        let mut direction = Direction::new(tuple, isns.0, isns.1).with_window_shift(shift);
        let (seq, ack) = (Seq::new(numbers.0), Seq::new(numbers.1));
        direction.advance(seq, ack);
        let (ts_val, ts_ecr) = timestamps.unwrap_or_default();
        let segment = Segment {
            seq,
            ack: if flags.contains(Flags::ACK) { ack } else { Seq::default() },
            len,
            window: if flags.contains(Flags::SYN) { window } else { window << shift },
            ts_val,
            ts_ecr,
            flags,
            options_len: if timestamps.is_some() { 12 } else { 0 },
            timestamps: timestamps.is_some(),
        };
        let widened = through_the_wire(&direction, &segment, ip, None);
        prop_assert_eq!(widened, Widened { segment, ip, options: None });
    }
}
