//! Several segments in one call of a TUN device (`IFF_VNET_HDR`): what the kernel gives as one large segment is cut
//! into the packets that a wire would carry, and packets that are released together are given back as one.
//!
//! Queues, losses and marks of the path are of single packets. A call of the device costs several microseconds, more
//! than all that the path does to a packet, so that above some hundred Mbit/s calls decide what a path can carry. The
//! header in front of a packet is `struct virtio_net_hdr` (Virtual I/O Device 1.2 §5.1.6), in the machine's byte order.

use std::collections::BTreeSet;
use std::io;

use crate::base::header::LEAD;

/// Bytes of the header in front of each packet.
pub const VNET: usize = 10;
/// `TCP_MIN_RCVMSS`: the segment size that a kernel assumes of a peer until it has had a larger one.
const FIRST_MSS: usize = 536;
/// The longest packet: what an IPv4 header can say.
const LONGEST: usize = 65_535;

const NEEDS_CHECKSUM: u8 = 1;
const CHECKSUM_IS_VALID: u8 = 2;
const GSO_NONE: u8 = 0;
const GSO_TCP4: u8 = 1;
const GSO_TCP6: u8 = 4;
/// A CWR that is of the first segment alone.
const GSO_ECN: u8 = 0x80;

const TCP: u8 = 6;
const FIN: u8 = 1;
const SYN: u8 = 2;
const PSH: u8 = 8;
const ACK: u8 = 16;
const CWR: u8 = 128;

/// The lengths of the headers of a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    /// Bytes of the IP header.
    ip: usize,
    /// Bytes of both headers.
    both: usize,
    is_ipv6: bool,
}

impl Layout {
    /// Reads the lengths from a packet; `None` unless it is TCP without IP options or extension headers.
    fn of(packet: &[u8]) -> Option<Self> {
        let (ip, is_ipv6) = match packet.first()? {
            0x45 if *packet.get(9)? == TCP => (20, false),
            version if version >> 4 == 6 && *packet.get(6)? == TCP => (40, true),
            _ => return None,
        };
        let tcp = usize::from(packet.get(ip + 12)? >> 4) * 4;
        (tcp >= 20 && packet.len() >= ip + tcp).then_some(Self { ip, both: ip + tcp, is_ipv6 })
    }

    /// The addresses and ports of `packet`.
    fn connection(self, packet: &[u8]) -> Vec<u8> {
        let addresses = if self.is_ipv6 { 8..40 } else { 12..20 };
        [&packet[addresses], &packet[self.ip..self.ip + 4]].concat()
    }

    /// Writes the length of `packet` into its IP header, and adds `number` to the identification of IPv4.
    fn put_len(self, packet: &mut [u8], number: u16) {
        let len = packet.len();
        let short =
            |len: usize| u16::try_from(len).expect("packets are no longer than 65,535 bytes");
        if self.is_ipv6 {
            packet[4..6].copy_from_slice(&short(len - 40).to_be_bytes());
            return;
        }
        packet[2..4].copy_from_slice(&short(len).to_be_bytes());
        let id = u16::from_be_bytes([packet[4], packet[5]]).wrapping_add(number);
        packet[4..6].copy_from_slice(&id.to_be_bytes());
        packet[10..12].fill(0);
        let checksum = !fold(sum(&packet[..20]));
        packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    }

    /// The sum of the pseudo-header of `packet` (RFC 9293 §3.1, RFC 8200 §8.1).
    fn pseudo_header(self, packet: &[u8]) -> u64 {
        let addresses = if self.is_ipv6 { &packet[8..40] } else { &packet[12..20] };
        sum(addresses) + u64::from(TCP) + (packet.len() - self.ip) as u64
    }

    /// Writes the checksum of the segment.
    fn put_checksum(self, packet: &mut [u8]) {
        packet[self.ip + 16..self.ip + 18].fill(0);
        let total = self.pseudo_header(packet) + sum(&packet[self.ip..]);
        let checksum = !fold(total);
        packet[self.ip + 16..self.ip + 18].copy_from_slice(&checksum.to_be_bytes());
    }

    /// Writes the header of a packet that is made of segments with `size` of payload each, and what the packet has to
    /// have then.
    fn put_header(self, bytes: &mut [u8], size: usize) {
        let (header, packet) = bytes.split_first_chunk_mut::<VNET>().expect("a header is in front");
        self.put_len(packet, 0);
        self.put_partial_checksum(packet);
        let word = |value: usize| u16::try_from(value).expect("within a packet").to_ne_bytes();
        header[0] = NEEDS_CHECKSUM;
        header[1] = if self.is_ipv6 { GSO_TCP6 } else { GSO_TCP4 };
        if packet[self.ip + 13] & CWR != 0 {
            header[1] |= GSO_ECN;
        }
        header[2..4].copy_from_slice(&word(self.both));
        header[4..6].copy_from_slice(&word(size));
        header[6..8].copy_from_slice(&word(self.ip));
        header[8..10].copy_from_slice(&word(16));
    }

    /// Writes what the kernel expects in the place of a checksum that it is to finish.
    fn put_partial_checksum(self, packet: &mut [u8]) {
        let partial = fold(self.pseudo_header(packet));
        packet[self.ip + 16..self.ip + 18].copy_from_slice(&partial.to_be_bytes());
    }
}

/// The sum of the 16-bit words of `bytes` (RFC 1071), not folded. Words of 32 bits are added, which a compiler makes
/// into vectors: congruent modulo 2^16 - 1.
fn sum(bytes: &[u8]) -> u64 {
    let mut words = bytes.chunks_exact(4);
    let whole: u64 = words
        .by_ref()
        .map(|word| u64::from(u32::from_be_bytes([word[0], word[1], word[2], word[3]])))
        .sum();
    let rest = match *words.remainder() {
        [a] => u64::from(a) << 8,
        [a, b] => u64::from(u16::from_be_bytes([a, b])),
        [a, b, c] => u64::from(u16::from_be_bytes([a, b])) + (u64::from(c) << 8),
        _ => 0,
    };
    (whole >> 16) + (whole & 0xffff) + rest
}

fn fold(mut sum: u64) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    u16::try_from(sum).expect("folded to 16 bits")
}

/// The bytes of one read of the device, of which segments are taken one by one.
#[derive(Debug)]
pub struct Incoming {
    /// The header and the packet.
    bytes: Vec<u8>,
    /// Bytes of the packet, and of its payload that are taken.
    len: usize,
    taken: usize,
    /// The payload of each segment, and how many were taken.
    size: usize,
    number: u16,
    layout: Layout,
}

impl Incoming {
    /// Nothing.
    pub fn new() -> Self {
        let layout = Layout { ip: 0, both: 0, is_ipv6: false };
        Self { bytes: vec![0; VNET + LONGEST], len: 0, taken: 0, size: 0, number: 0, layout }
    }

    /// No segment is left.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Room for what the device gives.
    pub fn room(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// The device gave `len` bytes: a header and a packet.
    ///
    /// # Errors
    /// A packet that is not as the header says.
    pub fn fill(&mut self, len: usize) -> io::Result<()> {
        let bad = || {
            io::Error::new(io::ErrorKind::InvalidData, "a packet that is not as its header says")
        };
        let Some((header, packet)) = self.bytes[..len].split_first_chunk_mut::<VNET>() else {
            return Err(bad());
        };
        let word = |at: usize| usize::from(u16::from_ne_bytes([header[at], header[at + 1]]));
        let kind = header[1] & !GSO_ECN;
        self.len = packet.len();
        (self.taken, self.number) = (0, 0);
        if kind == GSO_NONE {
            if header[0] & NEEDS_CHECKSUM != 0 {
                let (start, place) = (word(6), word(6) + word(8));
                if place + 2 > packet.len() {
                    return Err(bad());
                }
                // The sum of the pseudo-header is in the place of the checksum.
                let checksum = !fold(sum(&packet[start..]));
                packet[place..place + 2].copy_from_slice(&checksum.to_be_bytes());
            }
            self.layout = Layout { ip: 0, both: 0, is_ipv6: false };
            self.size = self.len;
            return Ok(());
        }
        self.layout = Layout::of(packet)
            .filter(|layout| kind == if layout.is_ipv6 { GSO_TCP6 } else { GSO_TCP4 })
            .ok_or_else(bad)?;
        self.size = word(4);
        if self.size == 0 { Err(bad()) } else { Ok(()) }
    }

    /// Writes the next segment into `buffer`, behind its [`LEAD`] bytes; returns its length.
    pub fn next(&mut self, buffer: &mut [u8]) -> Option<usize> {
        if self.is_empty() {
            return None;
        }
        let packet = &self.bytes[VNET..VNET + self.len];
        let Layout { ip, both, .. } = self.layout;
        let payload = &packet[both + self.taken..];
        let size = payload.len().min(self.size);
        let len = both + size;
        let to = &mut buffer[LEAD..LEAD + len];
        to[..both].copy_from_slice(&packet[..both]);
        to[both..].copy_from_slice(&payload[..size]);
        let is_last = size == payload.len();
        if both > 0 {
            let seq = u32::from_be_bytes([to[ip + 4], to[ip + 5], to[ip + 6], to[ip + 7]]);
            let offset = u32::try_from(self.taken).expect("within a packet");
            to[ip + 4..ip + 8].copy_from_slice(&seq.wrapping_add(offset).to_be_bytes());
            let flags = &mut to[ip + 13];
            if !is_last {
                *flags &= !(FIN | PSH);
            }
            if self.taken > 0 {
                *flags &= !CWR;
            }
            self.layout.put_len(to, self.number);
            self.layout.put_checksum(to);
        }
        self.taken += size;
        self.number = self.number.wrapping_add(1);
        if is_last {
            self.len = 0;
        }
        Some(len)
    }
}

/// Packets that are given to the device in one call: segments of one flow that follow one another.
#[derive(Debug)]
pub struct Outgoing {
    /// The header and the packet.
    bytes: Vec<u8>,
    /// Segments, the payload of each but the last, and whether no other may follow.
    segments: usize,
    size: usize,
    is_closed: bool,
    layout: Option<Layout>,
    next_seq: u32,
    /// Connections that have had no large segment yet. The kernel takes the part of its receive buffer that is payload from
    /// the first one, for good (`tcp_measure_rcv_mss`), and a joined one has another part than those of a wire.
    fresh: BTreeSet<Vec<u8>>,
}

impl Outgoing {
    /// Nothing.
    pub fn new() -> Self {
        Self {
            bytes: Vec::with_capacity(VNET + LONGEST),
            segments: 0,
            size: 0,
            is_closed: false,
            layout: None,
            next_seq: 0,
            fresh: BTreeSet::new(),
        }
    }

    /// A packet, whose checksum is right, may be added.
    pub fn takes(&self, packet: &[u8]) -> bool {
        if self.segments == 0 {
            return true;
        }
        let (Some(layout), false) = (self.layout, self.is_closed) else { return false };
        let Layout { ip, both, is_ipv6 } = layout;
        let held = &self.bytes[VNET..];
        let payload = packet.len().saturating_sub(both);
        if Layout::of(packet) != Some(layout)
            || !(1..=self.size).contains(&payload)
            || held.len() + payload > LONGEST
        {
            return false;
        }
        // But for lengths, identification and checksum the IP headers are the same.
        let same_ip = if is_ipv6 {
            held[..4] == packet[..4] && held[6..40] == packet[6..40]
        } else {
            held[..2] == packet[..2]
                && held[6..10] == packet[6..10]
                && held[12..20] == packet[12..20]
        };
        let tcp = |at: usize| (held[ip + at..both].iter(), packet[ip + at..both].iter());
        let seq =
            u32::from_be_bytes([packet[ip + 4], packet[ip + 5], packet[ip + 6], packet[ip + 7]]);
        let (window, other_window) = tcp(14);
        // Ports, ACK and header length; flags but PSH; window, and options behind the checksum.
        !(payload > FIRST_MSS && self.fresh.contains(&layout.connection(packet)))
            && same_ip
            && seq == self.next_seq
            && held[ip..ip + 4] == packet[ip..ip + 4]
            && held[ip + 8..ip + 13] == packet[ip + 8..ip + 13]
            && packet[ip + 13] & !PSH == ACK
            && window.take(2).eq(other_window.take(2))
            && held[ip + 18..both] == packet[ip + 18..both]
    }

    /// True if `packet` is the first large segment of its connection, whose SYN passed here.
    fn is_first(&mut self, layout: Layout, packet: &[u8], payload: usize) -> bool {
        if packet[layout.ip + 13] & SYN != 0 {
            self.fresh.insert(layout.connection(packet));
            return false;
        }
        payload > FIRST_MSS
            && !self.fresh.is_empty()
            && self.fresh.remove(&layout.connection(packet))
    }

    /// Adds `packet`, which it [takes](Self::takes) and whose checksum is right or, if not `intact`, to be refused by
    /// the kernel.
    pub fn add(&mut self, packet: &[u8], intact: bool) {
        let found = Layout::of(packet).filter(|_| intact);
        let (ip, both) = found.map_or((0, packet.len()), |layout| (layout.ip, layout.both));
        let payload = packet.len() - both;
        let alone = found.is_some_and(|layout| self.is_first(layout, packet, payload));
        if self.segments == 0 {
            self.bytes.clear();
            self.bytes.extend([0; VNET]);
            self.bytes[0] = if intact { CHECKSUM_IS_VALID } else { 0 };
            self.bytes.extend(packet);
            // A segment with other flags than ACK and PSH goes alone.
            let joins = payload > 0 && !alone && packet[ip + 13] & !PSH == ACK;
            self.layout = found.filter(|_| joins);
            self.size = payload;
            self.is_closed = false;
        } else {
            self.bytes.extend(&packet[both..]);
        }
        self.segments += 1;
        if let Some(Layout { ip, .. }) = self.layout {
            let seq = u32::from_be_bytes([
                packet[ip + 4],
                packet[ip + 5],
                packet[ip + 6],
                packet[ip + 7],
            ]);
            self.next_seq = seq.wrapping_add(u32::try_from(payload).expect("within a packet"));
            let pushed = packet[ip + 13] & PSH;
            self.bytes[VNET + ip + 13] |= pushed;
            self.is_closed = pushed != 0 || payload < self.size;
        }
    }

    /// The bytes to be written to the device, and the number of packets that they stand for; nothing is left then.
    pub fn take(&mut self) -> Option<(&[u8], usize)> {
        let segments = std::mem::take(&mut self.segments);
        if segments == 0 {
            return None;
        }
        if let (Some(layout), true) = (self.layout, segments > 1) {
            layout.put_header(&mut self.bytes, self.size);
        }
        Some((&self.bytes, segments))
    }
}

/// Says in the header in front of a packet that it is made of segments with `size` of payload each; false if it is no
/// packet of TCP.
pub fn join(bytes: &mut [u8], size: usize) -> bool {
    let layout = Layout::of(&bytes[VNET..]);
    if let Some(layout) = layout {
        layout.put_header(bytes, size);
    }
    layout.is_some()
}

#[cfg(test)]
mod tests;
