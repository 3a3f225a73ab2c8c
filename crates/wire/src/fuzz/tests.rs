use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::fixtures;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn no_bytes_make_it_panic(data in vec(any::<u8>(), 0..200)) {
        fuzz_parse(&data);
    }

    /// Random bytes hardly ever begin as a packet does: these begin so and have the right length.
    #[test]
    fn no_bytes_behind_a_plausible_header_make_it_panic(
        mut data in vec(any::<u8>(), 40..200),
        v6: bool,
        words in 5..=15_u8,
        tcp_words in 5..=15_u8,
        hop_by_hop: bool,
    ) {
        let len = u16::try_from(data.len()).unwrap();
        let tcp = if v6 {
            data[0] = 0x60;
            data[4..6].copy_from_slice(&(len - 40).to_be_bytes());
            data[6] = if hop_by_hop { 0 } else { 6 };
            if let (true, [next, units, ..]) = (hop_by_hop, &mut data[40..]) {
                (*next, *units) = (6, *units & 3);
            }
            if hop_by_hop { 48 } else { 40 }
        } else {
            data[0] = 0x40 | words;
            data[2..4].copy_from_slice(&len.to_be_bytes());
            data[6..8].fill(0);
            data[9] = 6;
            usize::from(words) * 4
        };
        if let Some(byte) = data.get_mut(tcp + 12) {
            *byte = tcp_words << 4;
        }
        fuzz_parse(&data);
    }

    /// Nor a packet of which some bytes were overwritten.
    #[test]
    fn no_damaged_packet_makes_it_panic(
        headers in fixtures::headers(),
        damage in vec(any::<(prop::sample::Index, u8)>(), 0..4),
        cut: prop::sample::Index,
    ) {
        let mut buffer = [0; MAX_HEADERS + 8];
        let encoded = encode(&headers, Payload::Zeros(8), &mut buffer).unwrap();
        let packet = &mut buffer[..encoded.written];
        for (place, byte) in damage {
            packet[place.index(packet.len())] = byte;
        }
        fuzz_parse(packet);
        fuzz_parse(&packet[..cut.index(packet.len())]);
    }
}

/// The packets that the fuzzer begins with, then the same with bits flipped, bytes overwritten, ends
/// cut off: the same ones in every run.
#[test]
fn no_packet_of_the_corpus_makes_it_panic() {
    const PACKETS: usize = 4_000;
    const DAMAGED: usize = 10;
    let mut random = Stream::new(1, "fuzz corpus");
    let (mut v6, mut refused) = (0, 0);
    for _ in 0..PACKETS {
        let packet = fuzz_packet(&mut random);
        assert!(parse(&packet).is_ok(), "{packet:02x?}");
        v6 += usize::from(packet[0] >> 4 == 6);
        fuzz_parse(&packet);
        for _ in 0..DAMAGED {
            let mut damaged = packet.clone();
            for _ in 0..=below(&mut random, 4) {
                let at = below(&mut random, damaged.len());
                match below(&mut random, 3) {
                    0 => damaged[at] ^= 1 << below(&mut random, 8),
                    1 => damaged[at] = bits(&mut random),
                    _ => damaged[at] = [0, 1, 0x7f, 0x80, 0xff][below(&mut random, 5)],
                }
            }
            if below(&mut random, 8) == 0 {
                damaged.truncate(below(&mut random, damaged.len()) + 1);
            }
            refused += usize::from(parse_unverified(&damaged).is_err());
            fuzz_parse(&damaged);
        }
    }
    // The corpus has both versions, and damage that is noticed without a checksum and damage that is
    // not.
    assert!((PACKETS * 2 / 5..PACKETS * 3 / 5).contains(&v6), "{v6}");
    assert!((PACKETS * DAMAGED / 10..PACKETS * DAMAGED * 9 / 10).contains(&refused), "{refused}");
}
