//! Forwarding: a router checks the header of an IP packet, counts the TTL down and, if it takes
//! part in Quick-Start (RFC 4782 §3.3), changes that option, all in place.
//!
//! A packet without IP options costs a router that takes part no more than one that does not: both
//! have to look at the length of the header.

use ackclock_packet::QuickStart;

use crate::ip_options;

/// Why a packet does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undeliverable {
    /// It is not an IP packet, or shorter than its header says (RFC 1812 §5.2.2).
    #[error("not an IP packet of the length that its header says")]
    Malformed,
    /// The header's checksum is wrong.
    #[error("wrong header checksum")]
    Checksum,
    /// Its time to live is over (RFC 1812 §5.3.1).
    #[error("time to live exceeded")]
    Expired,
}

/// The fate of a Quick-Start option at a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionFate {
    /// It is written back, changed or not.
    Written,
    /// It is taken out: no-operations take its place (RFC 4782 §3.3 lets a router delete it).
    Deleted,
}

/// Sends `packet`, which begins with its IP header, on its way, by a router that does not know
/// Quick-Start.
///
/// # Errors
/// Why it is to be dropped; the packet is then as it was.
#[inline]
pub fn forward(packet: &mut [u8]) -> Result<(), Undeliverable> {
    forward_with(packet, |_| OptionFate::Written, false)
}

/// Forwarding by a router that takes part in Quick-Start: `change` sees the option and returns its
/// fate. An option that is malformed, or that stands behind one of another kind than padding, is
/// passed on as it is: such a request fails, and costs the router nothing.
///
/// # Errors
/// Why it is to be dropped; the packet is then as it was.
#[inline]
pub fn forward_quick_start(
    packet: &mut [u8],
    change: impl FnOnce(&mut QuickStart) -> OptionFate,
) -> Result<(), Undeliverable> {
    forward_with(packet, change, true)
}

/// Fills `packet`, of at least 28 bytes, with an IPv4 packet of no known protocol (253, RFC 3692) from
/// `source` to `destination`: for what measures routers.
///
/// # Panics
/// If `packet` is shorter.
pub fn ipv4_packet(
    source: [u8; 4],
    destination: [u8; 4],
    ttl: u8,
    quick_start: Option<QuickStart>,
    packet: &mut [u8],
) {
    packet.fill(0);
    let options = quick_start.map(ip_options::ipv4);
    let header_len = IPV4_HEADER + options.map_or(0, |option| option.len());
    // A header has at most 15 words of four bytes, and a packet 65,535 bytes.
    packet[0] = 0x40 | u8::try_from(header_len / 4).unwrap_or_default();
    let total_len = u16::try_from(packet.len()).unwrap_or(u16::MAX);
    packet[2..4].copy_from_slice(&total_len.to_be_bytes());
    packet[IPV4_TTL] = ttl;
    packet[9] = 253;
    packet[12..16].copy_from_slice(&source);
    packet[16..20].copy_from_slice(&destination);
    if let Some(option) = options {
        packet[IPV4_HEADER..header_len].copy_from_slice(&option);
    }
    let checksum = !folded(sum(&packet[..header_len]));
    packet[IPV4_CHECKSUM..IPV4_CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
}

#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "so that a router that does not take part has no trace of it"
)]
fn forward_with(
    packet: &mut [u8],
    change: impl FnOnce(&mut QuickStart) -> OptionFate,
    takes_part: bool,
) -> Result<(), Undeliverable> {
    let Some(&first) = packet.first() else { return Err(Undeliverable::Malformed) };
    match first >> 4 {
        4 => forward_ipv4(packet, change, takes_part),
        6 => forward_ipv6(packet, change, takes_part),
        _ => Err(Undeliverable::Malformed),
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "as above")]
fn forward_ipv4(
    packet: &mut [u8],
    change: impl FnOnce(&mut QuickStart) -> OptionFate,
    takes_part: bool,
) -> Result<(), Undeliverable> {
    let header_len = 4 * usize::from(packet[0] & 0x0f);
    let total_len = match packet.get(2..4) {
        Some(bytes) => usize::from(u16::from_be_bytes([bytes[0], bytes[1]])),
        None => return Err(Undeliverable::Malformed),
    };
    if header_len < IPV4_HEADER || total_len < header_len || total_len > packet.len() {
        return Err(Undeliverable::Malformed);
    }
    let header = &mut packet[..header_len];
    if folded(sum(header)) != 0xffff {
        return Err(Undeliverable::Checksum);
    }
    if header[IPV4_TTL] <= 1 {
        return Err(Undeliverable::Expired);
    }
    let old = word(header, IPV4_TTL);
    header[IPV4_TTL] -= 1;
    let mut delta = difference(old, word(header, IPV4_TTL));
    if takes_part && header_len > IPV4_HEADER {
        delta += change_ipv4(header, change);
    }
    // RFC 1624 equation 3.
    let kept = u32::from(!word(header, IPV4_CHECKSUM));
    let checksum = !folded(u64::from(kept) + delta);
    header[IPV4_CHECKSUM..IPV4_CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
    Ok(())
}

/// Changes the Quick-Start option of a header that has options; the difference for its checksum.
#[inline]
fn change_ipv4(header: &mut [u8], change: impl FnOnce(&mut QuickStart) -> OptionFate) -> u64 {
    let mut at = IPV4_HEADER;
    while header.get(at) == Some(&ip_options::IPV4_NOP) {
        at += 1;
    }
    let Some(old) = header.get(at..at + ip_options::IPV4_LEN) else { return 0 };
    let Some(mut option) = ip_options::read_ipv4(old) else { return 0 };
    // The words of the checksum that the option touches; a header's length is even.
    let touched = at & !1..(at + ip_options::IPV4_LEN).next_multiple_of(2);
    let before = sum(&header[touched.clone()]);
    let came = option;
    let new = match change(&mut option) {
        // A Report is not to be changed (RFC 4782 §3.1): nor its bits without a meaning.
        OptionFate::Written if option == came => return 0,
        OptionFate::Written => ip_options::ipv4(option),
        OptionFate::Deleted => [ip_options::IPV4_NOP; ip_options::IPV4_LEN],
    };
    header[at..at + ip_options::IPV4_LEN].copy_from_slice(&new);
    sum(&header[touched]) + u64::from(!folded(before))
}

#[inline]
fn forward_ipv6(
    packet: &mut [u8],
    change: impl FnOnce(&mut QuickStart) -> OptionFate,
    takes_part: bool,
) -> Result<(), Undeliverable> {
    let Some(header) = packet.first_chunk::<IPV6_HEADER>() else {
        return Err(Undeliverable::Malformed);
    };
    if IPV6_HEADER + usize::from(u16::from_be_bytes([header[4], header[5]])) > packet.len() {
        return Err(Undeliverable::Malformed);
    }
    if header[IPV6_HOP_LIMIT] <= 1 {
        return Err(Undeliverable::Expired);
    }
    let hop_by_hop = header[IPV6_NEXT] == HOP_BY_HOP;
    packet[IPV6_HOP_LIMIT] -= 1;
    if takes_part && hop_by_hop {
        change_ipv6(packet, change);
    }
    Ok(())
}

/// Changes the Quick-Start option of the hop-by-hop header behind an IPv6 header.
fn change_ipv6(packet: &mut [u8], change: impl FnOnce(&mut QuickStart) -> OptionFate) {
    let Some(&units) = packet.get(IPV6_HEADER + 1) else { return };
    let end = (IPV6_HEADER + 8 * (1 + usize::from(units))).min(packet.len());
    let mut at = IPV6_HEADER + 2;
    loop {
        match packet[..end].get(at..) {
            Some([ip_options::PAD1, ..]) => at += 1,
            Some([ip_options::PADN, len, ..]) => at += 2 + usize::from(*len),
            _ => break,
        }
    }
    let Some(option) = packet[..end].get_mut(at..at + ip_options::IPV6_LEN) else { return };
    let Some(mut quick_start) = ip_options::read_ipv6(option) else { return };
    let came = quick_start;
    match change(&mut quick_start) {
        OptionFate::Written if quick_start == came => {}
        OptionFate::Written => option.copy_from_slice(&ip_options::ipv6(quick_start)),
        OptionFate::Deleted => {
            option.fill(0);
            // Its type and length stand outside of its length.
            option[..2].copy_from_slice(&[ip_options::PADN, 6]);
        }
    }
}

/// The sum of the 16-bit words of `bytes`, which are an even number.
#[inline]
fn sum(bytes: &[u8]) -> u64 {
    let (quads, rest) = bytes.as_chunks::<4>();
    let quads: u64 = quads.iter().map(|quad| u64::from(u32::from_be_bytes(*quad))).sum();
    let rest = rest.first_chunk().map_or(0, |pair| u64::from(u16::from_be_bytes(*pair)));
    quads + rest
}

/// The ones' complement sum in 16 bits of a sum of 16-bit or 32-bit words.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "folded to 16 bits by then")]
const fn folded(sum: u64) -> u16 {
    let sum = (sum >> 32) + (sum & 0xffff_ffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    sum as u16
}

#[inline]
fn word(header: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([header[at], header[at + 1]])
}

/// ~m + m' of RFC 1624.
const fn difference(old: u16, new: u16) -> u64 {
    !old as u64 + new as u64
}

/// RFC 791 §3.1.
const IPV4_HEADER: usize = 20;
const IPV4_TTL: usize = 8;
const IPV4_CHECKSUM: usize = 10;
/// RFC 8200 §3, §4.3.
const IPV6_HEADER: usize = 40;
const IPV6_NEXT: usize = 6;
const IPV6_HOP_LIMIT: usize = 7;
const HOP_BY_HOP: u8 = 0;

#[cfg(test)]
mod tests;
