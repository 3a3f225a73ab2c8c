use ackclock_wire as wire;

use super::*;

const ADDRESSES: [u8; 8] = [10, 0, 0, 1, 10, 128, 0, 1];

/// A segment of IPv4 with `payload` bytes that count from their place in the stream.
fn segment(seq: u32, payload: usize, flags: u8) -> Vec<u8> {
    let mut packet = vec![0; 52 + payload];
    packet[0] = 0x45;
    packet[4..6].copy_from_slice(&7_u16.to_be_bytes());
    packet[6] = 0x40;
    packet[8] = 64;
    packet[9] = TCP;
    packet[12..20].copy_from_slice(&ADDRESSES);
    packet[20..24].copy_from_slice(&[0xc0, 0, 0, 9]);
    packet[24..28].copy_from_slice(&seq.to_be_bytes());
    packet[28..32].copy_from_slice(&99_u32.to_be_bytes());
    packet[32] = 0x80;
    packet[33] = flags;
    packet[34..36].copy_from_slice(&500_u16.to_be_bytes());
    packet[40..52].copy_from_slice(&[1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6]);
    for (n, byte) in packet[52..].iter_mut().enumerate() {
        *byte = seq.wrapping_add(u32::try_from(n).unwrap()).to_be_bytes()[3];
    }
    let layout = Layout::of(&packet).unwrap();
    layout.put_len(&mut packet, 0);
    layout.put_checksum(&mut packet);
    packet
}

/// The packets that the kernel means by a large one.
fn cut(header: [u8; VNET], packet: &[u8]) -> Vec<Vec<u8>> {
    let mut incoming = Incoming::new();
    incoming.room()[..VNET].copy_from_slice(&header);
    incoming.room()[VNET..VNET + packet.len()].copy_from_slice(packet);
    incoming.fill(VNET + packet.len()).unwrap();
    let mut buffer = vec![0; LEAD + 1500];
    std::iter::from_fn(|| {
        let len = incoming.next(&mut buffer)?;
        Some(buffer[LEAD..LEAD + len].to_vec())
    })
    .collect()
}

fn header(kind: u8, size: u16) -> [u8; VNET] {
    let [a, b] = size.to_ne_bytes();
    let [start, _] = 20_u16.to_ne_bytes();
    [NEEDS_CHECKSUM, kind, 52, 0, a, b, start, 0, 16, 0]
}

#[test]
fn checksums_are_those_of_another_implementation() {
    // `wire` reads with etherparse's sums, and refuses a wrong one.
    for payload in [0, 1, 2, 3, 4, 5, 1447, 1448] {
        let packet = segment(1000, payload, ACK);
        let parsed = wire::parse(&packet).unwrap();
        assert_eq!(parsed.payload.len(), payload);
        let mut flipped = packet.clone();
        *flipped.last_mut().unwrap() ^= 1;
        assert!(wire::parse(&flipped).is_err());
    }
}

#[test]
fn a_large_segment_is_cut_as_a_card_would() {
    // 3000 bytes by 1448: 1448, 1448, 104. CWR is of the first alone, PSH and FIN of the last (Linux
    // tcp_gso_segment); identifications count.
    let whole = segment(u32::MAX - 1447, 3000, ACK | PSH | FIN | CWR);
    let parts = cut(header(GSO_TCP4 | GSO_ECN, 1448), &whole);
    let seen: Vec<_> = parts
        .iter()
        .map(|part| {
            assert!(wire::parse(part).is_ok());
            let seq = u32::from_be_bytes(part[24..28].try_into().unwrap());
            (part.len() - 52, seq, part[33], part[5])
        })
        .collect();
    let last = ACK | PSH | FIN;
    assert_eq!(
        seen,
        [(1448, u32::MAX - 1447, ACK | CWR, 7), (1448, 0, ACK, 8), (104, 1448, last, 9)]
    );
    let stream: Vec<u8> = parts.iter().flat_map(|part| part[52..].to_vec()).collect();
    assert_eq!(stream, whole[52..]);
}

#[test]
fn a_packet_that_is_said_to_be_of_segments_is_cut_into_them() {
    // 2500 bytes by 1000, with CWR on the first alone.
    let whole = segment(1, 2500, ACK | CWR);
    let mut bytes = [vec![0; VNET], whole.clone()].concat();
    assert!(join(&mut bytes, 1000));
    let (header, packet) = bytes.split_first_chunk::<VNET>().unwrap();
    let parts = cut(*header, packet);
    let seen: Vec<_> = parts.iter().map(|part| (part.len() - 52, part[33])).collect();
    assert_eq!(seen, [(1000, ACK | CWR), (1000, ACK), (500, ACK)]);
    assert!(parts.iter().all(|part| wire::parse(part).is_ok()));
    // A packet without TCP has no segments.
    assert!(!join(&mut [0; VNET + 28], 1000));
}

#[test]
fn a_small_packet_gets_the_checksum_that_the_kernel_left_to_the_card() {
    let right = segment(5, 100, ACK);
    let mut left = right.clone();
    Layout::of(&left).unwrap().put_partial_checksum(&mut left);
    assert_ne!(left, right);
    assert_eq!(cut(header(GSO_NONE, 0), &left), std::slice::from_ref(&right));
    // And one that is whole stays as it is.
    assert_eq!(cut([0; VNET], &right), [right]);
}

/// The packets that were given, in calls: of each its packets as the kernel would cut them.
fn joined(packets: &[(Vec<u8>, bool)]) -> Vec<Vec<Vec<u8>>> {
    let mut outgoing = Outgoing::new();
    let mut calls = Vec::new();
    let mut flush = |outgoing: &mut Outgoing| {
        if let Some((bytes, segments)) = outgoing.take() {
            let (header, packet) = bytes.split_first_chunk::<VNET>().unwrap();
            let parts =
                if header[1] == GSO_NONE { vec![packet.to_vec()] } else { cut(*header, packet) };
            assert_eq!(parts.len(), segments);
            calls.push(parts);
        }
    };
    for (packet, intact) in packets {
        if !(*intact && outgoing.takes(packet)) {
            flush(&mut outgoing);
        }
        outgoing.add(packet, *intact);
        if !intact {
            flush(&mut outgoing);
        }
    }
    flush(&mut outgoing);
    calls
}

#[test]
fn segments_that_follow_one_another_go_together_and_come_out_as_they_were() {
    let mut third = segment(2901, 500, ACK | PSH);
    // The kernel counts identifications from the first; those of others are other.
    third[4..6].copy_from_slice(&9_u16.to_be_bytes());
    Layout::of(&third).unwrap().put_len(&mut third, 0);
    let mut second = segment(1453, 1448, ACK);
    second[4..6].copy_from_slice(&8_u16.to_be_bytes());
    Layout::of(&second).unwrap().put_len(&mut second, 0);
    let train = [segment(5, 1448, ACK), second, third];
    let calls = joined(&train.clone().map(|packet| (packet, true)));
    assert_eq!(calls, [train.to_vec()]);
}

#[test]
fn what_may_not_be_joined_goes_alone() {
    let first = segment(5, 1000, ACK);
    let other_ack = {
        let mut packet = segment(1005, 1000, ACK);
        packet[31] = 100;
        Layout::of(&packet).unwrap().put_checksum(&mut packet);
        packet
    };
    let marked = {
        let mut packet = segment(1005, 1000, ACK);
        packet[1] = 3;
        Layout::of(&packet).unwrap().put_len(&mut packet, 0);
        packet
    };
    let behind = [
        // A gap, a FIN, another acknowledgment, a mark of congestion, a longer one, an ACK alone.
        segment(1006, 1000, ACK),
        segment(1005, 1000, ACK | FIN),
        other_ack,
        marked,
        segment(1005, 1001, ACK),
        segment(1005, 0, ACK),
    ];
    for packet in behind {
        let calls = joined(&[(first.clone(), true), (packet.clone(), true)]);
        assert_eq!(calls, [vec![first.clone()], vec![packet]]);
    }
    // Nothing follows a PSH, or one shorter than those before it.
    for closing in [segment(1005, 1000, ACK | PSH), segment(1005, 999, ACK)] {
        let after = segment(if closing.len() == 1052 { 2005 } else { 2004 }, 10, ACK);
        let calls = joined(&[(first.clone(), true), (closing, true), (after, true)]);
        assert_eq!(calls.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
    }
}

#[test]
fn what_is_damaged_is_left_to_the_kernel_to_refuse() {
    let mut damaged = segment(1005, 1000, ACK);
    *damaged.last_mut().unwrap() ^= 1;
    let calls = joined(&[
        (segment(5, 1000, ACK), true),
        (damaged.clone(), false),
        (segment(2005, 10, ACK), true),
    ]);
    assert_eq!(calls.len(), 3);
    assert_eq!(calls[1], [damaged]);
}

#[test]
fn the_first_large_segment_of_a_connection_goes_alone() {
    // The kernel (tcp_measure_rcv_mss) looks at the memory of the first segment of more than 536 bytes, whatever goes before
    // it. The SYN
    // has no payload here, and the others follow one another from 5 on.
    let train = [segment(5, 500, ACK), segment(505, 1448, ACK)];
    let behind = [segment(1953, 1448, ACK), segment(3401, 1448, ACK)];
    let packets = [&[segment(4, 0, SYN)][..], &train, &behind].concat();
    let calls = joined(&packets.into_iter().map(|packet| (packet, true)).collect::<Vec<_>>());
    assert_eq!(calls.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1, 2]);
}
