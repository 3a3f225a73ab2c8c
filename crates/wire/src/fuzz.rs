//! The entry of a fuzzer, and its first inputs.

use ackclock_packet::{
    AccurateEcn, Cookie, Ecn, FastOpen, Flags, IpMeta, QuickStart, QuickStartNonce, QuickStartRate,
    QuickStartResponse,
};
use ackclock_units::Mss;
use ackclock_units::random::Stream;

use crate::encode::{MAX_HEADERS, Payload, encode};
use crate::error::EncodeError;
use crate::headers::{Addresses, Headers, Tuple};
use crate::parse::{Parsed, parse, parse_unverified};
use crate::tcp_options::{SackEdges, TcpOptions, Timestamps};

/// The entry of a fuzzer: any bytes are parsed or refused, never a panic, and what was parsed is
/// parsed again, once encoded, as the same packet.
///
/// It is the target `parse` of `fuzz/`.
///
/// A fuzzer hardly ever meets a checksum, so that the bytes are read without looking at checksums
/// too, and as TCP options alone.
///
/// # Panics
///
/// If a packet changes on its way to bytes and back, which would be a fault of this crate.
pub fn fuzz_parse(data: &[u8]) {
    for parsed in [parse(data), parse_unverified(data)].iter().flatten() {
        round_trip(parsed);
    }
    let _ = TcpOptions::parse(data, 0);
}

fn round_trip(parsed: &Parsed<'_>) {
    let mut buffer = vec![0; MAX_HEADERS + parsed.payload.len()];
    match encode(&parsed.headers, Payload::Bytes(parsed.payload), &mut buffer) {
        Ok(encoded) => {
            let again =
                parse(&buffer[..encoded.written]).expect("an encoded packet is well-formed");
            assert_eq!((again.headers, again.payload), (parsed.headers, parsed.payload));
        }
        // Options packed without padding need more room when aligned; so may a packet that had none
        // left.
        Err(EncodeError::OptionsTooLong { .. } | EncodeError::PacketTooLong { .. }) => {}
        Err(error) => panic!("{error}"),
    }
}

/// A packet to begin with: IPv4 or IPv6, any flags, numbers and options that fit, up to 15 bytes of
/// payload. Equal streams give equal packets.
///
/// # Panics
///
/// If options that fit are refused, which would be a fault of this crate.
pub fn fuzz_packet(random: &mut Stream) -> Vec<u8> {
    let options = options(random);
    let flags = ALL_FLAGS
        .into_iter()
        .fold(Flags::NONE, |flags, flag| if coin(random) { flags | flag } else { flags });
    let headers = Headers {
        tuple: Tuple {
            addresses: addresses(random),
            source_port: bits(random),
            destination_port: bits(random),
        },
        ip: IpMeta {
            ecn: [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][below(random, 4)],
            ttl: bits(random),
        },
        quick_start: coin(random).then(|| quick_start(random)),
        seq: bits(random),
        ack: if flags.contains(Flags::ACK) { bits(random) } else { 0 },
        flags,
        window: bits(random),
        options: match options.len() {
            0..=40 => options,
            // Without either the others take 40 at most.
            _ => TcpOptions { sack: SackEdges::default(), fast_open: None, ..options },
        },
    };
    let payload: [u8; 15] = core::array::from_fn(|_| bits(random));
    let payload = &payload[..below(random, payload.len() + 1)];
    let mut buffer = vec![0; MAX_HEADERS + payload.len()];
    let encoded = encode(&headers, Payload::Bytes(payload), &mut buffer)
        .expect("without SACK blocks and Fast Open any options fit");
    buffer.truncate(encoded.written);
    buffer
}

fn addresses(random: &mut Stream) -> Addresses {
    if coin(random) {
        let mut address = || bits::<u32>(random).into();
        return Addresses::V4 { source: address(), destination: address() };
    }
    let mut address =
        || (u128::from(random.next_u64()) << 64 | u128::from(random.next_u64())).into();
    Addresses::V6 { source: address(), destination: address() }
}

fn quick_start(random: &mut Stream) -> QuickStart {
    let (rate, nonce) = (rate(random), QuickStartNonce::new(bits(random)));
    if coin(random) {
        QuickStart::Report { rate, nonce }
    } else {
        QuickStart::Request { rate, ttl: bits(random), nonce }
    }
}

fn options(random: &mut Stream) -> TcpOptions {
    let mut sack = SackEdges::default();
    for _ in 0..below(random, 5) {
        sack.push(bits(random), bits(random));
    }
    TcpOptions {
        mss: coin(random).then(|| Mss::new(bits::<u16>(random).max(1))).flatten(),
        window_scale: coin(random).then(|| bits(random)),
        sack_permitted: coin(random),
        sack,
        timestamps: coin(random).then(|| Timestamps { value: bits(random), echo: bits(random) }),
        quick_start: coin(random).then(|| QuickStartResponse {
            rate: rate(random),
            ttl_diff: bits(random),
            nonce: QuickStartNonce::new(bits(random)),
        }),
        fast_open: coin(random).then(|| fast_open(random)),
        accurate_ecn: if coin(random) { accurate_ecn(random) } else { None },
    }
}

fn fast_open(random: &mut Stream) -> FastOpen {
    let cookie: [u8; 16] = core::array::from_fn(|_| bits(random));
    FastOpen { cookie: Cookie::new(&cookie[..below(random, 17)]), experimental: coin(random) }
}

fn accurate_ecn(random: &mut Stream) -> Option<AccurateEcn> {
    let counters: [u32; 3] = core::array::from_fn(|_| bits::<u32>(random) >> 8);
    AccurateEcn::new(coin(random), &counters[..below(random, 4)])
}

fn rate(random: &mut Stream) -> QuickStartRate {
    QuickStartRate::from_code(bits::<u8>(random) >> 4).unwrap_or_default()
}

fn coin(random: &mut Stream) -> bool {
    random.bernoulli(0.5)
}

/// A number below `end`, which is small.
fn below(random: &mut Stream, end: usize) -> usize {
    usize::from(bits::<u16>(random)) % end
}

/// A whole number, from the upper bits, which are the better ones.
fn bits<T: TryFrom<u64>>(random: &mut Stream) -> T {
    let shift = 64 - 8 * size_of::<T>();
    T::try_from(random.next_u64() >> shift).ok().expect("so many bits fit")
}

const ALL_FLAGS: [Flags; 8] =
    [Flags::FIN, Flags::SYN, Flags::RST, Flags::PSH, Flags::ACK, Flags::ECE, Flags::CWR, Flags::AE];

#[cfg(test)]
mod tests;
