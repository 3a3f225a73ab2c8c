//! The few fields of an IPv4 packet that a path looks at, and changes.

use std::net::Ipv4Addr;

/// Bytes before a packet in its buffer: room for an Ethernet header.
pub const LEAD: usize = 14;

const TCP: u8 = 6;
const SYN: u8 = 2;
const ACK: u8 = 16;

/// What a path wants to know of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sight {
    /// Who sends it.
    pub source: Ipv4Addr,
    /// Whether it is a TCP segment with payload.
    pub data: bool,
    /// Of a TCP segment with SYN, whether it is the answer to one.
    pub opening: Option<bool>,
    /// Whether its IP header has options.
    pub options: bool,
    /// Whether its sender understands marks (RFC 3168 §5).
    pub ecn: bool,
}

/// Looks at a packet; `None` of what is not a whole IPv4 packet.
pub fn look(packet: &[u8]) -> Option<Sight> {
    let header = header_len(packet)?;
    let total = usize::from(u16::from_be_bytes([packet[2], packet[3]]));
    if total != packet.len() {
        return None;
    }
    let source = Ipv4Addr::new(packet[12], packet[13], packet[14], packet[15]);
    let segment = packet.get(header..).filter(|_| packet[9] == TCP);
    let data = segment.is_some_and(|segment| {
        let offset = segment.get(12).map_or(0, |word| usize::from(word >> 4) * 4);
        segment.len() > offset
    });
    let flags = segment.and_then(|segment| segment.get(13)).copied().unwrap_or(0);
    let opening = (flags & SYN != 0).then_some(flags & ACK != 0);
    Some(Sight { source, data, opening, options: header > 20, ecn: packet[1] & 3 != 0 })
}

fn header_len(packet: &[u8]) -> Option<usize> {
    let first = *packet.first()?;
    let len = usize::from(first & 15) * 4;
    (first >> 4 == 4 && len >= 20 && packet.len() >= len).then_some(len)
}

/// Marks a packet with congestion: CE in its IP header, whose checksum follows.
pub fn mark(packet: &mut [u8]) {
    let Some(len) = header_len(packet) else { return };
    packet[1] |= 3;
    packet[10..12].fill(0);
    let sum: u32 = packet[..len]
        .chunks_exact(2)
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])))
        .sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    let folded = (sum & 0xffff) + (sum >> 16);
    // Below 2^16 after two folds.
    let checksum = !u16::try_from(folded).unwrap_or(0);
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
}

/// Flips a bit that the checksum of TCP covers.
pub fn corrupt(packet: &mut [u8]) {
    if let Some(last) = packet.last_mut() {
        *last ^= 1;
    }
}

/// The address of the sender of flow number `flow`, from 0: 10.0.0.1 and on.
pub fn sender_address(flow: usize) -> Ipv4Addr {
    nth(SENDERS, flow)
}

/// The address of its receiver: 10.128.0.1 and on.
pub fn receiver_address(flow: usize) -> Ipv4Addr {
    nth(RECEIVERS, flow)
}

/// The addresses of all senders, as a network.
pub const SENDERS: (Ipv4Addr, u8) = (Ipv4Addr::new(10, 0, 0, 0), 9);
/// The addresses of all receivers.
pub const RECEIVERS: (Ipv4Addr, u8) = (Ipv4Addr::new(10, 128, 0, 0), 9);

fn nth((network, _): (Ipv4Addr, u8), flow: usize) -> Ipv4Addr {
    let flow = u32::try_from(flow).expect("fewer than 2^23 flows");
    Ipv4Addr::from(u32::from(network) + 1 + flow)
}

/// The flow whose end has this address, and the way of what that end sends: 0 from the sender, 1 back.
pub fn flow_of(source: Ipv4Addr) -> Option<(usize, usize)> {
    let bits = u32::from(source);
    let way = [SENDERS, RECEIVERS].iter().position(|(network, prefix)| {
        (bits ^ u32::from(*network)) >> (32 - u32::from(*prefix)) == 0
    })?;
    let number = bits & 0x007f_ffff;
    Some((usize::try_from(number.checked_sub(1)?).ok()?, way))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 20 bytes of IPv4 from 10.0.0.1 to 10.128.0.1, DF, TTL 64, 20 of TCP, and `payload`.
    fn packet(payload: usize, tos: u8) -> Vec<u8> {
        let total = u8::try_from(40 + payload).unwrap();
        let mut packet = vec![0x45, tos, 0, total, 0, 0, 0x40, 0, 64, 6, 0, 0];
        packet.extend([10, 0, 0, 1, 10, 128, 0, 1]);
        packet.extend([0; 12]);
        packet.extend([0x50, 0x10, 0, 0, 0, 0, 0, 0]);
        packet.resize(40 + payload, 0);
        packet
    }

    #[test]
    fn data_is_what_has_payload() {
        let sight = look(&packet(1, 0)).unwrap();
        let source = sender_address(0);
        let expected = Sight { source, data: true, opening: None, options: false, ecn: false };
        assert_eq!(sight, expected);
        let mut syn_ack = packet(0, 0);
        syn_ack[33] = 0x12;
        assert_eq!(look(&syn_ack).unwrap().opening, Some(true));
        assert!(!look(&packet(0, 0)).unwrap().data);
        assert!(look(&packet(0, 2)).unwrap().ecn);
        assert_eq!(look(&packet(0, 0)[..39]), None);
        assert_eq!(look(&[0x60; 40]), None);
    }

    #[test]
    fn a_mark_leaves_a_valid_header() {
        let mut packet = packet(0, 2);
        mark(&mut packet);
        assert_eq!(packet[1] & 3, 3);
        // RFC 1071: the one's complement sum over a header with its checksum is all ones. By hand:
        // 4503 + 0028 + 0000 + 4000 + 4006 + 0a00 + 0001 + 0a80 + 0001 = d9b3, so that the checksum
        // is 264c.
        assert_eq!(packet[10..12], [0x26, 0x4c]);
    }

    #[test]
    fn addresses_tell_flows_and_ways() {
        assert_eq!(flow_of(Ipv4Addr::new(10, 0, 0, 1)), Some((0, 0)));
        assert_eq!(flow_of(Ipv4Addr::new(10, 128, 1, 44)), Some((299, 1)));
        assert_eq!(receiver_address(299), Ipv4Addr::new(10, 128, 1, 44));
        assert_eq!(flow_of(Ipv4Addr::new(10, 0, 0, 0)), None);
        assert_eq!(flow_of(Ipv4Addr::new(11, 0, 0, 1)), None);
    }
}
