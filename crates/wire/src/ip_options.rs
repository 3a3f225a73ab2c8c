//! Quick-Start in IP headers (RFC 4782 §3.1): IPv4 option 25, IPv6 hop-by-hop option 0x26.
//!
//! ```text
//!  IPv4: type 0x19, length 8;  IPv6: type 0x26, length 6;  then in both
//! +--------+--------+----------------------------------+--+
//! |Func|Rat| QS TTL |           QS Nonce (30 bits)     | R|
//! +--------+--------+----------------------------------+--+
//! ```

use ackclock_packet::{QuickStart, QuickStartNonce, QuickStartRate};

use crate::ParseError;
use crate::error::Layer;

/// The Quick-Start option as an IPv4 option.
pub fn ipv4(option: QuickStart) -> [u8; 8] {
    let [a, b, c, d, e, f] = body(option);
    [IPV4_QUICK_START, 8, a, b, c, d, e, f]
}

/// The option of an IPv4 header that these bytes are, if they are a Quick-Start option.
pub fn read_ipv4(option: &[u8]) -> Option<QuickStart> {
    match *option {
        [IPV4_QUICK_START, 8, a, b, c, d, e, f] => read([a, b, c, d, e, f]),
        _ => None,
    }
}

/// The Quick-Start option as an option of a hop-by-hop header.
pub fn ipv6(option: QuickStart) -> [u8; IPV6_LEN] {
    let [a, b, c, d, e, f] = body(option);
    [IPV6_QUICK_START, 6, a, b, c, d, e, f]
}

/// The option of a hop-by-hop header that these bytes are, if they are a Quick-Start option.
pub fn read_ipv6(option: &[u8]) -> Option<QuickStart> {
    match *option {
        [IPV6_QUICK_START, 6, a, b, c, d, e, f] => read([a, b, c, d, e, f]),
        _ => None,
    }
}

/// A hop-by-hop options header with the Quick-Start option, before a TCP header.
///
/// RFC 8200 appendix A: fields on their natural boundaries, so the option begins at byte 4 and its
/// nonce at byte 8; `PadN` fills the two bytes before it and the four after it.
pub fn hop_by_hop(option: QuickStart) -> [u8; HOP_BY_HOP_LEN] {
    let [a, b, c, d, e, f] = body(option);
    [TCP, 1, PADN, 0, IPV6_QUICK_START, 6, a, b, c, d, e, f, PADN, 2, 0, 0]
}

/// The Quick-Start option among the options of an IPv4 header, which begin at byte `offset` of the
/// packet. Others are skipped by length.
pub fn parse_ipv4(options: &[u8], offset: usize) -> Result<Option<QuickStart>, ParseError> {
    let layer = Layer::Ipv4;
    let mut quick_start = None;
    let mut rest = options;
    while let Some((&kind, tail)) = rest.split_first() {
        let offset = offset + options.len() - rest.len();
        match kind {
            IPV4_END => return padding(layer, tail, offset + 1).map(|()| quick_start),
            IPV4_NOP => rest = tail,
            _ => {
                let (body, after) = take(layer, rest, offset)?;
                rest = after;
                if kind != IPV4_QUICK_START {
                    continue;
                }
                let body = body.try_into().map_err(|_| ParseError::OptionLength {
                    layer,
                    kind,
                    offset,
                    expected: "8",
                    found: body.len() + 2,
                })?;
                keep(&mut quick_start, read(body), layer, kind, offset)?;
            }
        }
    }
    Ok(quick_start)
}

/// The Quick-Start option among the options of a hop-by-hop header, which begin at byte `offset` of
/// the packet. Unknown ones are skipped if their type allows it (RFC 8200 §4.2).
pub fn parse_hop_by_hop(options: &[u8], offset: usize) -> Result<Option<QuickStart>, ParseError> {
    let layer = Layer::HopByHop;
    let mut quick_start = None;
    let mut rest = options;
    while let Some((&kind, tail)) = rest.split_first() {
        let offset = offset + options.len() - rest.len();
        if kind == PAD1 {
            rest = tail;
            continue;
        }
        let error = |found| ParseError::OptionLength {
            layer,
            kind,
            offset,
            expected: "its header's at most",
            found,
        };
        let (&len, tail) = tail.split_first().ok_or(error(0))?;
        let (body, after) = tail.split_at_checked(len.into()).ok_or(error(len.into()))?;
        rest = after;
        match kind {
            PADN => padding(layer, body, offset + 2)?,
            IPV6_QUICK_START => {
                let body = body.try_into().map_err(|_| ParseError::OptionLength {
                    layer,
                    kind,
                    offset,
                    expected: "6",
                    found: body.len(),
                })?;
                keep(&mut quick_start, read(body), layer, kind, offset)?;
            }
            _ if kind & IPV6_ACTION == 0 => {}
            _ => return Err(ParseError::OptionUnknown { layer, kind, offset }),
        }
    }
    Ok(quick_start)
}

/// Splits a type-length-value option, whose length counts itself and the type, off `rest`; gives its
/// value and what follows.
pub fn take(layer: Layer, rest: &[u8], offset: usize) -> Result<(&[u8], &[u8]), ParseError> {
    let kind = rest.first().copied().unwrap_or_default();
    let len = usize::from(rest.get(1).copied().unwrap_or_default());
    let split = if len < 2 { None } else { rest.split_at_checked(len) };
    let (option, after) = split.ok_or(ParseError::OptionLength {
        layer,
        kind,
        offset,
        expected: "at least 2 and its header's at most",
        found: len,
    })?;
    Ok((&option[2..], after))
}

/// Checks that everything after the end of the options is zero.
pub fn padding(layer: Layer, bytes: &[u8], offset: usize) -> Result<(), ParseError> {
    match bytes.iter().position(|&byte| byte != 0) {
        Some(at) => Err(ParseError::Padding { layer, offset: offset + at, found: bytes[at] }),
        None => Ok(()),
    }
}

/// Stores the value of an option that stands there at most once.
pub fn keep<T>(
    slot: &mut Option<T>,
    value: Option<T>,
    layer: Layer,
    kind: u8,
    offset: usize,
) -> Result<(), ParseError> {
    if slot.is_some() && value.is_some() {
        return Err(ParseError::OptionRepeated { layer, kind, offset });
    }
    *slot = slot.take().or(value);
    Ok(())
}

/// The nonce with its two reserved bits, zero when sent and ignored when received.
pub fn nonce_word(nonce: QuickStartNonce) -> [u8; 4] {
    (nonce.bits() << 2).to_be_bytes()
}

/// The nonce in its four bytes.
pub fn read_nonce(word: [u8; 4]) -> QuickStartNonce {
    QuickStartNonce::new(u32::from_be_bytes(word) >> 2)
}

/// The rate in the lower four bits of a byte.
pub fn read_rate(byte: u8) -> QuickStartRate {
    QuickStartRate::from_code(byte & 0x0f).unwrap_or_default()
}

fn body(option: QuickStart) -> [u8; 6] {
    let (function, rate, ttl, nonce) = match option {
        QuickStart::Request { rate, ttl, nonce } => (REQUEST, rate, ttl, nonce),
        QuickStart::Report { rate, nonce } => (REPORT, rate, 0, nonce),
    };
    let [a, b, c, d] = nonce_word(nonce);
    [function << 4 | rate.code(), ttl, a, b, c, d]
}

/// `None` for a function that RFC 4782 does not define.
fn read([first, ttl, a, b, c, d]: [u8; 6]) -> Option<QuickStart> {
    let (rate, nonce) = (read_rate(first), read_nonce([a, b, c, d]));
    match first >> 4 {
        REQUEST => Some(QuickStart::Request { rate, ttl, nonce }),
        REPORT => Some(QuickStart::Report { rate, nonce }),
        _ => None,
    }
}

/// Bytes of the option in either header.
pub const IPV4_LEN: usize = 8;
pub const IPV6_LEN: usize = 8;

/// Bytes of the hop-by-hop header that [`hop_by_hop`] writes.
pub const HOP_BY_HOP_LEN: usize = 16;

const TCP: u8 = 6;

/// RFC 791 §3.1.
const IPV4_END: u8 = 0;
pub const IPV4_NOP: u8 = 1;
/// RFC 4782 §3.1: not copied on fragmentation, class control, number 25.
const IPV4_QUICK_START: u8 = 25;

/// RFC 8200 §4.2.
pub const PAD1: u8 = 0;
pub const PADN: u8 = 1;
/// The bits that tell a node what to do with an option that it does not know; zero: skip it.
const IPV6_ACTION: u8 = 0xc0;
/// RFC 4782 §3.1: skipped by those who do not know it, may change on the way, number 6.
const IPV6_QUICK_START: u8 = 0x26;

/// RFC 4782 §3.1: the functions.
const REQUEST: u8 = 0;
const REPORT: u8 = 8;
