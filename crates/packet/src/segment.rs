//! Segments in fields: what one end point says to the other.

use std::fmt;
use std::ops::{Add, BitOr, Sub};

use ackclock_units::{Bytes, Mss};

use crate::{AccurateEcn, CongestionHeader, FastOpen, HEADERS, QuickStart, QuickStartResponse};

/// A sequence number: an offset into the stream of one direction, never wrapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(u64);

impl Seq {
    /// The SYN's own number.
    pub const SYN: Self = Self(0);
    /// The first byte of data.
    pub const FIRST_BYTE: Self = Self(1);

    /// Sequence number `n`.
    pub const fn new(n: u64) -> Self {
        Self(n)
    }

    /// The number itself.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Bytes from `earlier` to `self`, zero if `self` comes first.
    pub const fn since(self, earlier: Self) -> Bytes {
        Bytes::new(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Bytes> for Seq {
    type Output = Self;
    fn add(self, rhs: Bytes) -> Self {
        Self(self.0 + rhs.get())
    }
}

impl Sub<Seq> for Seq {
    type Output = Bytes;
    fn sub(self, rhs: Self) -> Bytes {
        Bytes::new(self.0 - rhs.0)
    }
}

/// A half-open range of sequence numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// The first number in the range.
    pub start: Seq,
    /// The first number after it.
    pub end: Seq,
}

impl Range {
    /// The volume it covers.
    pub const fn len(self) -> Bytes {
        self.end.since(self.start)
    }

    /// True if it covers nothing.
    pub const fn is_empty(self) -> bool {
        self.end.0 <= self.start.0
    }
}

/// The control bits of a TCP header (RFC 9293 §3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u16);

impl Flags {
    /// No bit set.
    pub const NONE: Self = Self(0);
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgment field is significant.
    pub const ACK: Self = Self(0x10);
    /// ECN echo (RFC 3168).
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Self = Self(0x80);
    /// Accurate ECN (RFC 9768), the bit before those of the byte.
    pub const AE: Self = Self(0x100);

    /// True if every bit of `other` is set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The bits that are not in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The bits as they stand in the header.
    pub const fn bits(self) -> u16 {
        self.0
    }
}

impl BitOr for Flags {
    type Output = Self;
    fn bitor(self, rhs: Self) -> Self {
        Self(self.0 | rhs.0)
    }
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (bit, letter) in [
            (Self::SYN, 'S'),
            (Self::FIN, 'F'),
            (Self::RST, 'R'),
            (Self::PSH, 'P'),
            (Self::ACK, '.'),
            (Self::ECE, 'E'),
            (Self::CWR, 'W'),
            (Self::AE, 'A'),
        ] {
            if self.contains(bit) {
                write!(f, "{letter}")?;
            }
        }
        Ok(())
    }
}

/// One TCP segment: the fields that every segment has. Options that most segments lack travel
/// beside it, as [`Options`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Number of the first byte of payload, or of the SYN or FIN.
    pub seq: Seq,
    /// The next number expected from the other side; meaningful with [`Flags::ACK`].
    pub ack: Seq,
    /// Payload, in bytes.
    pub len: u32,
    /// Receive window in bytes, already scaled (at most 2^30: RFC 7323 §2.3).
    pub window: u32,
    /// Timestamp value (RFC 7323 §3); meaningful with [`timestamps`](Self::timestamps).
    pub ts_val: u32,
    /// Timestamp echo reply.
    pub ts_ecr: u32,
    /// Control bits.
    pub flags: Flags,
    /// Bytes that options take in the IP and TCP headers: [`Options::wire_len`], with the timestamps.
    pub options_len: u8,
    /// True if the segment carries the timestamps option.
    pub timestamps: bool,
}

impl Segment {
    /// The payload as a volume.
    pub const fn payload(&self) -> Bytes {
        Bytes::new(self.len as u64)
    }

    /// Sequence space used: payload, plus one each for SYN and FIN.
    pub const fn seq_len(&self) -> Bytes {
        Bytes::new(
            self.len as u64
                + self.flags.contains(Flags::SYN) as u64
                + self.flags.contains(Flags::FIN) as u64,
        )
    }

    /// The first number after this segment.
    pub const fn end(&self) -> Seq {
        Seq(self.seq.0 + self.seq_len().get())
    }

    /// Size on the wire: IPv4 and TCP headers, options, payload.
    pub const fn wire_size(&self) -> Bytes {
        Bytes::new(HEADERS.get() + self.options_len as u64 + self.len as u64)
    }
}

/// Up to four blocks of data received out of order (RFC 2018 §3), most recent first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [Range; 4],
    count: u8,
}

impl SackBlocks {
    /// Adds a block; ignored when four are present.
    pub const fn push(&mut self, block: Range) {
        if (self.count as usize) < self.blocks.len() {
            self.blocks[self.count as usize] = block;
            self.count += 1;
        }
    }

    /// The number of blocks.
    pub const fn count(&self) -> u8 {
        self.count
    }

    /// The blocks present.
    pub fn as_slice(&self) -> &[Range] {
        &self.blocks[..usize::from(self.count)]
    }

    /// Bytes that so many blocks take in the headers of a segment that has no other options but, perhaps, timestamps.
    pub const fn wire_len(count: u8, timestamps: bool) -> u8 {
        let len = if timestamps { 12 } else { 0 };
        if count > 0 { len + 4 + 8 * count } else { len }
    }
}

/// Up to four blocks near an acknowledgment, in half a cache line: the low bits of their first numbers, as on the wire, and
/// their lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(32))]
pub struct NearBlocks([[u32; 2]; 4]);

impl NearBlocks {
    /// These blocks, of a segment that acknowledges `ack`; `None` if one is [not near](Self::hold).
    pub fn of(sack: &SackBlocks, ack: Seq) -> Option<Self> {
        let mut all = Self::default();
        for (n, block) in sack.as_slice().iter().enumerate() {
            if !Self::hold(*block, ack) {
                return None;
            }
            all.set(n, *block);
        }
        Some(all)
    }

    /// True if a block can be kept here: a window of 2^30 bytes (RFC 7323 §2.3) holds no others, but what comes again
    /// after two of them is reported as well (RFC 2883).
    #[inline]
    pub fn hold(block: Range, ack: Seq) -> bool {
        let after = block.start.0.wrapping_sub(ack.0).cast_signed();
        i32::try_from(after).is_ok() && u32::try_from(block.len().get()).is_ok()
    }

    /// Writes block `n`, which is near.
    ///
    /// # Panics
    /// If there are but `n` places.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the low bits")]
    pub const fn set(&mut self, n: usize, block: Range) {
        self.0[n] = [block.start.0 as u32, (block.end.0 - block.start.0) as u32];
    }

    /// The blocks of a segment that acknowledges `ack`.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the low bits")]
    pub fn near(&self, ack: Seq) -> SackBlocks {
        let mut count = 0;
        let blocks = self.0.map(|[low, len]| {
            count += u8::from(len > 0);
            let after = i64::from(low.wrapping_sub(ack.0 as u32).cast_signed());
            // Without a branch, as how many there are is hard to foretell.
            let start =
                std::hint::select_unpredictable(len > 0, ack.0.wrapping_add_signed(after), 0);
            Range { start: Seq(start), end: Seq(start + u64::from(len)) }
        });
        SackBlocks { blocks, count }
    }
}

/// TCP options that only some segments carry: the cold part of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size (on a SYN; RFC 9293 §3.7.1).
    pub mss: Option<Mss>,
    /// Window scale shift (on a SYN; RFC 7323 §2).
    pub window_scale: Option<u8>,
    /// SACK permitted (on a SYN; RFC 2018 §2).
    pub sack_permitted: bool,
    /// Selective acknowledgments.
    pub sack: SackBlocks,
    /// The Quick-Start option of the IP header (RFC 4782 §3.1). It is here and not in [`IpMeta`]
    /// because hardly a packet has one.
    pub quick_start: Option<QuickStart>,
    /// The Quick-Start Response (RFC 4782 §4.2).
    pub quick_start_response: Option<QuickStartResponse>,
    /// The header that routers read and write on every packet of RCP or XCP: in the IP header too.
    pub congestion: Option<CongestionHeader>,
    /// TCP Fast Open (on a SYN; RFC 7413 §4.1.1).
    pub fast_open: Option<FastOpen>,
    /// Counters of accurate ECN (RFC 9768 §3.2.3).
    pub accurate_ecn: Option<AccurateEcn>,
}

impl Options {
    /// Bytes the options take in the headers of a segment without timestamps; each option begins
    /// where the field's stacks align it (RFC 7323 appendix A), padded to whole 32-bit words.
    pub const fn wire_len(&self) -> u8 {
        self.len(false)
    }

    /// The length of the options on a segment with timestamps. With
    /// [`sack_permitted`](Self::sack_permitted) they share their padding.
    pub const fn wire_len_with_timestamps(&self) -> u8 {
        self.len(true)
    }

    const fn len(&self, timestamps: bool) -> u8 {
        let mut len = 0;
        if self.mss.is_some() {
            len += 4;
        }
        // Two bytes of padding or of SACK-permitted, then ten of timestamps.
        if timestamps {
            len += 12;
        } else if self.sack_permitted {
            len += 4;
        }
        if self.window_scale.is_some() {
            len += 4;
        }
        len += SackBlocks::wire_len(self.sack.count, false);
        if self.quick_start.is_some() {
            len += 8;
        }
        if self.quick_start_response.is_some() {
            len += 8;
        }
        if self.congestion.is_some() {
            len += CongestionHeader::LEN;
        }
        if let Some(option) = &self.fast_open {
            len += option.padded_len();
        }
        if let Some(option) = &self.accurate_ecn {
            len += option.padded_len();
        }
        len
    }
}

/// The ECN field of an IP header (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct,
    /// ECN-capable, ECT(0).
    Ect0,
    /// ECN-capable, ECT(1).
    Ect1,
    /// Congestion experienced.
    Ce,
}

/// The requests of a segment to the network, and the network's marks on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpMeta {
    /// The ECN field.
    pub ecn: Ecn,
    /// Time to live.
    pub ttl: u8,
}

impl Default for IpMeta {
    fn default() -> Self {
        Self { ecn: Ecn::NotEct, ttl: 64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_at_most_a_cache_line() {
        assert!(size_of::<Segment>() <= 64);
    }

    #[test]
    fn syn_and_fin_take_one_number_each() {
        let fin = Segment { len: 100, flags: Flags::FIN | Flags::ACK, ..Segment::default() };
        assert_eq!(fin.seq_len(), Bytes::new(101));
        assert_eq!(fin.wire_size(), Bytes::new(140));
    }

    #[test]
    fn option_bytes_are_padded_to_words() {
        // MSS 4 + window scale 3 = 7, padded to 8; one SACK block 2 + 8 = 10, padded to 12.
        let syn = Options { mss: Mss::new(1460), window_scale: Some(7), ..Options::default() };
        assert_eq!(syn.wire_len(), 8);
        let mut ack = Options::default();
        ack.sack.push(Range { start: Seq::new(10), end: Seq::new(20) });
        assert_eq!(ack.wire_len(), 12);
        // NOP NOP timestamps, 12, before it.
        assert_eq!(ack.wire_len_with_timestamps(), 24);
        // Four take 4 + 32 of the 40 that there are, and beside timestamps there is room for three (RFC 2018 §3).
        assert_eq!([0, 1, 4].map(|count| SackBlocks::wire_len(count, false)), [0, 12, 36]);
        assert_eq!([0, 1, 3].map(|count| SackBlocks::wire_len(count, true)), [12, 24, 40]);
        // As Linux opens: MSS 4, SACK-permitted 2, timestamps 10, NOP and window scale 4.
        let syn = Options { sack_permitted: true, ..syn };
        assert_eq!(syn.wire_len(), 12);
        assert_eq!(syn.wire_len_with_timestamps(), 20);
    }

    #[test]
    fn blocks_near_an_acknowledgment_are_kept_in_half() {
        const ROUND: u64 = 1 << 32;
        let block = |start, end| Range { start: Seq(start), end: Seq(end) };
        for ack in [1001, ROUND - 1, ROUND, 5 * ROUND + 7] {
            let mut sack = SackBlocks::default();
            // A duplicate below it, and what is ahead of it across a multiple of 2^32.
            for [start, len] in [[ack - 1000, 300], [ack + 10, 1460], [ack + (1 << 30), 1]] {
                sack.push(block(start, start + len));
                assert_eq!(NearBlocks::of(&sack, Seq(ack)).unwrap().near(Seq(ack)), sack);
            }
            assert_eq!(NearBlocks::default().near(Seq(ack)), SackBlocks::default());
            sack.push(block(ack + ROUND / 2, ack + ROUND / 2 + 1));
            assert_eq!(NearBlocks::of(&sack, Seq(ack)), None);
        }
        // What comes again after 2^31 bytes and one.
        assert!(NearBlocks::hold(block(4, 5), Seq(4 + ROUND / 2)));
        assert!(!NearBlocks::hold(block(3, 4), Seq(4 + ROUND / 2)));
    }
}
