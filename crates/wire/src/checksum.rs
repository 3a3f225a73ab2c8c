//! The Internet checksum (RFC 1071), of bytes alone and of TCP or UDP with its pseudo-header (RFC 9293
//! §3.1, RFC 768, RFC 8200 §8.1). Over bytes with their checksum in place it is zero.

use etherparse::checksum::Sum16BitWords;

use crate::headers::Addresses::{self, V4, V6};

const TCP: u8 = 6;
const UDP: u8 = 17;

/// The checksum of `parts`, one after another, each but the last of an even length.
pub fn of(parts: &[&[u8]]) -> u16 {
    finish(Sum16BitWords::new(), parts)
}

/// The checksum of a segment of `len` bytes of which `parts` are not zero, each but the last of an
/// even length.
pub fn tcp(addresses: &Addresses, len: u32, parts: &[&[u8]]) -> u16 {
    transport(addresses, TCP, len, parts)
}

/// The checksum of a datagram; zero where UDP says 0xffff.
pub fn udp(addresses: &Addresses, len: u32, parts: &[&[u8]]) -> u16 {
    transport(addresses, UDP, len, parts)
}

fn transport(addresses: &Addresses, protocol: u8, len: u32, parts: &[&[u8]]) -> u16 {
    let sum = Sum16BitWords::new();
    let sum = match addresses {
        V4 { source, destination } => {
            sum.add_slice(&source.octets()).add_slice(&destination.octets())
        }
        V6 { source, destination } => {
            sum.add_slice(&source.octets()).add_slice(&destination.octets())
        }
    };
    finish(sum.add_2bytes([0, protocol]).add_slice(&len.to_be_bytes()), parts)
}

fn finish(sum: Sum16BitWords, parts: &[&[u8]]) -> u16 {
    let sum = parts.iter().fold(sum, |sum, part| sum.add_slice(part));
    // It sums words in the machine's order.
    sum.ones_complement().to_be()
}
