//! What a fuzzer calls.

use crate::encode::{MAX_HEADERS, Payload, encode};
use crate::error::EncodeError;
use crate::parse::{Parsed, parse, parse_unverified};
use crate::tcp_options::TcpOptions;

/// The entry of a fuzzer: any bytes are parsed or refused, never a panic, and what was parsed is
/// parsed again, once encoded, as the same packet.
///
/// As a target of cargo-fuzz:
///
/// ```text
/// #![no_main]
/// libfuzzer_sys::fuzz_target!(|data: &[u8]| ackclock_wire::fuzz_parse(data));
/// ```
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

#[cfg(test)]
mod tests;
