//! Between the laboratory's 64-bit numbers and the 32 bits of the wire.

use ackclock_packet::{Flags, IpMeta, Options, Range, Segment, Seq};

use crate::headers::{Headers, Tuple};
use crate::parse::Parsed;
use crate::tcp_options::{TcpOptions, Timestamps};

/// The sequence numbers that one side of a connection sends, as the wire shows them: its initial
/// sequence number plus the laboratory's number, modulo 2^32 (RFC 9293 §3.4).
///
/// ```
/// use ackclock_packet::Seq;
/// use ackclock_wire::Unwrapper;
///
/// let mut numbers = Unwrapper::new(0xffff_fff0);
/// assert_eq!(numbers.narrow(Seq::new(0x20)), 0x10);
/// assert_eq!(numbers.widen(0x10), Seq::new(0x20));
/// // Four gigabytes later the same 32 bits mean another byte.
/// numbers.advance(Seq::new(1 << 32));
/// assert_eq!(numbers.widen(0x10), Seq::new((1 << 32) + 0x20));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unwrapper {
    isn: u32,
    expected: Seq,
}

impl Unwrapper {
    /// The numbers that begin with `isn` on the SYN; the SYN is expected first.
    pub const fn new(isn: u32) -> Self {
        Self { isn, expected: Seq::SYN }
    }

    /// The initial sequence number.
    pub const fn isn(&self) -> u32 {
        self.isn
    }

    /// The number near which others are looked for.
    pub const fn expected(&self) -> Seq {
        self.expected
    }

    /// Expects numbers near `seq` from now on, unless later ones are expected already.
    pub fn advance(&mut self, seq: Seq) {
        self.expected = self.expected.max(seq);
    }

    /// `seq` on the wire.
    #[expect(clippy::cast_possible_truncation, reason = "modulo 2^32 is what the wire has")]
    pub const fn narrow(&self, seq: Seq) -> u32 {
        self.isn.wrapping_add(seq.get() as u32)
    }

    /// The number that `wire` means: of those that look so, the nearest to the expected one.
    ///
    /// If the nearest would lie before the SYN, where there is nothing, it is the next one, which
    /// lies at least 2^31 ahead and so outside of every window (RFC 7323 §2.3).
    pub const fn widen(&self, wire: u32) -> Seq {
        let expected = self.expected.get();
        let ahead = wire.wrapping_sub(self.narrow(self.expected)).cast_signed() as i64;
        match expected.checked_add_signed(ahead) {
            Some(seq) => Seq::new(seq),
            None => Seq::new(expected.wrapping_add_signed(ahead + (1 << 32))),
        }
    }
}

/// One direction of a connection: how its segments become headers, and headers segments.
///
/// The initial sequence number of the other side is known when its SYN has come: it is the
/// [`Headers::seq`] of it, and [`sent`](Self::sent) then begins anew.
///
/// Whoever receives calls [`advance`](Self::advance) with what he has accepted, so that a forged or
/// stray number cannot lead the unwrapping astray; whoever merely watches, as a capture's reader,
/// calls [`follow`](Self::follow).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direction {
    /// Addresses and ports.
    pub tuple: Tuple,
    /// The numbers of the data in this direction.
    pub sent: Unwrapper,
    /// The numbers of the other direction, which this one acknowledges.
    pub acknowledged: Unwrapper,
    /// The shift of the windows announced in this direction (RFC 7323 §2.2), zero until both sides
    /// have offered one.
    pub window_shift: u8,
}

impl Direction {
    /// A direction in which numbers begin at `isn` and acknowledge those that begin at `peer_isn`,
    /// without window scaling.
    pub const fn new(tuple: Tuple, isn: u32, peer_isn: u32) -> Self {
        Self {
            tuple,
            sent: Unwrapper::new(isn),
            acknowledged: Unwrapper::new(peer_isn),
            window_shift: 0,
        }
    }

    /// The same direction with its windows shifted.
    #[must_use]
    pub const fn with_window_shift(mut self, shift: u8) -> Self {
        self.window_shift = shift;
        self
    }

    /// The other direction, its windows not shifted.
    #[must_use]
    pub const fn reversed(&self) -> Self {
        Self {
            tuple: self.tuple.reversed(),
            sent: self.acknowledged,
            acknowledged: self.sent,
            window_shift: 0,
        }
    }

    /// Expects data near `sent` and acknowledgments near `acknowledged`: RCV.NXT and SND.UNA of the
    /// side that receives.
    pub fn advance(&mut self, sent: Seq, acknowledged: Seq) {
        self.sent.advance(sent);
        self.acknowledged.advance(acknowledged);
    }

    /// Expects what follows `segment`, which is believed.
    pub fn follow(&mut self, segment: &Segment) {
        self.advance(segment.end(), segment.ack);
    }

    /// The headers of `segment`.
    ///
    /// The window is shifted and rounded down, except on a SYN (RFC 7323 §2.2); what exceeds its 16
    /// bits then is cut to 65 535. [`Segment::options_len`] is not looked at.
    pub fn narrow(&self, segment: &Segment, ip: IpMeta, options: Option<&Options>) -> Headers {
        let options = options.copied().unwrap_or_default();
        let mut narrowed = TcpOptions {
            mss: options.mss,
            window_scale: options.window_scale,
            sack_permitted: options.sack_permitted,
            timestamps: segment
                .timestamps
                .then_some(Timestamps { value: segment.ts_val, echo: segment.ts_ecr }),
            quick_start: options.quick_start_response,
            fast_open: options.fast_open,
            accurate_ecn: options.accurate_ecn,
            ..TcpOptions::default()
        };
        for block in options.sack.as_slice() {
            let edge = |seq| self.acknowledged.narrow(seq);
            narrowed.sack.push(edge(block.start), edge(block.end));
        }
        let window = segment.window >> self.shift(segment.flags);
        Headers {
            tuple: self.tuple,
            ip,
            quick_start: options.quick_start,
            seq: self.sent.narrow(segment.seq),
            ack: if segment.flags.contains(Flags::ACK) {
                self.acknowledged.narrow(segment.ack)
            } else {
                0
            },
            flags: segment.flags,
            window: u16::try_from(window).unwrap_or(u16::MAX),
            options: narrowed,
        }
    }

    /// The segment that `parsed` is.
    ///
    /// A window scale above 14 means 14 (RFC 7323 §2.3).
    pub fn widen(&self, parsed: &Parsed<'_>) -> Widened {
        let headers = &parsed.headers;
        let timestamps = headers.options.timestamps.unwrap_or_default();
        let segment = Segment {
            seq: self.sent.widen(headers.seq),
            ack: if headers.flags.contains(Flags::ACK) {
                self.acknowledged.widen(headers.ack)
            } else {
                Seq::default()
            },
            // An IP packet is shorter than 2^17 bytes.
            len: u32::try_from(parsed.payload.len()).unwrap_or(u32::MAX),
            window: u32::from(headers.window) << self.shift(headers.flags),
            ts_val: timestamps.value,
            ts_ecr: timestamps.echo,
            flags: headers.flags,
            // Longer only with hop-by-hop options of many hundred bytes.
            options_len: u8::try_from(parsed.options_len).unwrap_or(u8::MAX),
            timestamps: headers.options.timestamps.is_some(),
        };
        let mut options = Options {
            mss: headers.options.mss,
            window_scale: headers.options.window_scale.map(|shift| shift.min(MAX_SHIFT)),
            sack_permitted: headers.options.sack_permitted,
            quick_start: headers.quick_start,
            quick_start_response: headers.options.quick_start,
            fast_open: headers.options.fast_open,
            accurate_ecn: headers.options.accurate_ecn,
            ..Options::default()
        };
        for &(left, right) in headers.options.sack.as_slice() {
            let edge = |wire| self.acknowledged.widen(wire);
            options.sack.push(Range { start: edge(left), end: edge(right) });
        }
        let options = (options != Options::default()).then_some(options);
        Widened { segment, ip: headers.ip, options }
    }

    fn shift(&self, flags: Flags) -> u8 {
        if flags.contains(Flags::SYN) { 0 } else { self.window_shift.min(MAX_SHIFT) }
    }
}

/// A packet as the laboratory knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widened {
    /// The segment.
    pub segment: Segment,
    /// Its ECN field and TTL.
    pub ip: IpMeta,
    /// Its options, if it has any but timestamps.
    pub options: Option<Options>,
}

/// RFC 7323 §2.3.
const MAX_SHIFT: u8 = 14;

#[cfg(test)]
mod tests;
