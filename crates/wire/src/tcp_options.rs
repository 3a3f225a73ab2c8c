//! TCP options (RFC 9293 §3.2, RFC 2018, RFC 7323, RFC 4782 §4.2, RFC 7413 §4.1.1, RFC 9768 §3.2.3).

use ackclock_packet::{AccurateEcn, Cookie, FastOpen, QuickStartResponse};
use ackclock_units::Mss;

use crate::error::{EncodeError, Layer, ParseError};
use crate::ip_options::{keep, nonce_word, padding, read_nonce, read_rate, take};

/// The timestamps option (RFC 7323 §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's clock.
    pub value: u32,
    /// The other side's, echoed.
    pub echo: u32,
}

/// The blocks of a SACK option (RFC 2018 §3) as they stand on the wire: left and right edge, at most
/// four.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackEdges {
    blocks: [(u32, u32); 4],
    count: u8,
}

impl SackEdges {
    /// Adds a block; ignored when four are present.
    pub const fn push(&mut self, left: u32, right: u32) {
        if (self.count as usize) < self.blocks.len() {
            self.blocks[self.count as usize] = (left, right);
            self.count += 1;
        }
    }

    /// The blocks present.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// The options of a TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// Maximum segment size, kind 2 (RFC 9293 §3.7.1).
    pub mss: Option<Mss>,
    /// Window scale, kind 3 (RFC 7323 §2), as it stands in the option: it may exceed 14.
    pub window_scale: Option<u8>,
    /// SACK permitted, kind 4 (RFC 2018 §2).
    pub sack_permitted: bool,
    /// Selective acknowledgments, kind 5 (RFC 2018 §3, RFC 2883).
    pub sack: SackEdges,
    /// Timestamps, kind 8 (RFC 7323 §3).
    pub timestamps: Option<Timestamps>,
    /// Quick-Start Response, kind 27 (RFC 4782 §4.2).
    pub quick_start: Option<QuickStartResponse>,
    /// Fast Open, kind 34 (RFC 7413 §4.1.1), or kind 254 with 0xF989 for experiments.
    pub fast_open: Option<FastOpen>,
    /// Accurate ECN, kinds 172 and 174 (RFC 9768 §3.2.3).
    pub accurate_ecn: Option<AccurateEcn>,
}

impl TcpOptions {
    /// Bytes they take in the header, in whole 32-bit words. More than 40 cannot be encoded.
    ///
    /// The same as [`Options::wire_len`](ackclock_packet::Options::wire_len) says of them.
    pub fn len(&self) -> usize {
        let sack = self.sack.as_slice().len();
        let timestamps = self.timestamps.is_some();
        let fast_open = self.fast_open.map_or(0, |option| usize::from(option.padded_len()));
        let accurate = self.accurate_ecn.map_or(0, |option| usize::from(option.padded_len()));
        [
            (self.mss.is_some(), 4),
            (timestamps, 12),
            (self.sack_permitted && !timestamps, 4),
            (self.window_scale.is_some(), 4),
            (self.quick_start.is_some(), 8),
            (self.fast_open.is_some(), fast_open),
            (self.accurate_ecn.is_some(), accurate),
            (sack > 0, 4 + 8 * sack),
        ]
        .iter()
        .map(|&(present, bytes)| if present { bytes } else { 0 })
        .sum()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the options, each beginning where stacks align it (RFC 7323 appendix A), and in the
    /// order of Linux.
    pub(crate) fn write<'a>(&self, space: &'a mut [u8; MAX_LEN]) -> Result<&'a [u8], EncodeError> {
        let len = self.len();
        if len > MAX_LEN {
            return Err(EncodeError::OptionsTooLong { found: len });
        }
        let mut cursor = Cursor { space, len: 0 };
        if let Some(mss) = self.mss {
            cursor.put(&[MSS, 4]);
            cursor.put(&mss.get().to_be_bytes());
        }
        if self.sack_permitted {
            // Before the timestamps it takes the place of their padding.
            if self.timestamps.is_none() {
                cursor.put(&[NOP, NOP]);
            }
            cursor.put(&[SACK_PERMITTED, 2]);
        }
        if let Some(timestamps) = self.timestamps {
            if !self.sack_permitted {
                cursor.put(&[NOP, NOP]);
            }
            cursor.put(&[TIMESTAMPS, 10]);
            cursor.put(&timestamps.value.to_be_bytes());
            cursor.put(&timestamps.echo.to_be_bytes());
        }
        if let Some(shift) = self.window_scale {
            cursor.put(&[NOP, WINDOW_SCALE, 3, shift]);
        }
        if let Some(response) = self.quick_start {
            cursor.put(&[QUICK_START_RESPONSE, 8, response.rate.code(), response.ttl_diff]);
            cursor.put(&nonce_word(response.nonce));
        }
        if self.sack.count > 0 {
            cursor.put(&[NOP, NOP, SACK, 2 + 8 * self.sack.count]);
            for (left, right) in self.sack.as_slice() {
                cursor.put(&left.to_be_bytes());
                cursor.put(&right.to_be_bytes());
            }
        }
        if let Some(option) = self.fast_open {
            if option.experimental {
                cursor.put(&[EXPERIMENT, option.len()]);
                cursor.put(&FAST_OPEN_EXPERIMENT);
            } else {
                cursor.put(&[FAST_OPEN, option.len()]);
            }
            cursor.put(option.cookie.as_ref().map_or(&[], Cookie::as_slice));
            cursor.put(&[NOP; 3][..usize::from(option.padded_len() - option.len())]);
        }
        if let Some(option) = self.accurate_ecn {
            let kind = if option.ect1_first { ACCURATE_ECN_1 } else { ACCURATE_ECN_0 };
            cursor.put(&[kind, option.len()]);
            for counter in option.counters() {
                cursor.put(&counter.to_be_bytes()[1..]);
            }
            cursor.put(&[NOP; 3][..usize::from(option.padded_len() - option.len())]);
        }
        debug_assert_eq!(cursor.len, len, "the length said is the length written");
        Ok(&space[..len])
    }

    /// Reads the options, which begin at byte `offset` of the packet. Those of an unknown kind are
    /// skipped by length (RFC 9293 MUST-6); a length that cannot be is refused (MUST-7).
    pub(crate) fn parse(bytes: &[u8], offset: usize) -> Result<Self, ParseError> {
        let layer = Layer::Tcp;
        let mut options = Self::default();
        let mut rest = bytes;
        while let Some((&kind, tail)) = rest.split_first() {
            let offset = offset + bytes.len() - rest.len();
            match kind {
                END => {
                    padding(layer, tail, offset + 1)?;
                    break;
                }
                NOP => rest = tail,
                _ => {
                    let (value, after) = take(layer, rest, offset)?;
                    options.read(kind, value, offset)?;
                    rest = after;
                }
            }
        }
        Ok(options)
    }

    fn read(&mut self, kind: u8, value: &[u8], offset: usize) -> Result<(), ParseError> {
        let layer = Layer::Tcp;
        let wrong = |expected| ParseError::OptionLength {
            layer,
            kind,
            offset,
            expected,
            found: value.len() + 2,
        };
        match kind {
            MSS => {
                let &bytes = value.as_array::<2>().ok_or(wrong("4"))?;
                let mss = Mss::new(u16::from_be_bytes(bytes)).ok_or(ParseError::OptionValue {
                    layer,
                    kind,
                    offset,
                    expected: "a segment size of at least 1",
                    found: 0,
                })?;
                keep(&mut self.mss, Some(mss), layer, kind, offset)
            }
            WINDOW_SCALE => {
                let &[shift] = value.as_array::<1>().ok_or(wrong("3"))?;
                keep(&mut self.window_scale, Some(shift), layer, kind, offset)
            }
            SACK_PERMITTED => {
                value.is_empty().then_some(()).ok_or(wrong("2"))?;
                let mut slot = self.sack_permitted.then_some(());
                keep(&mut slot, Some(()), layer, kind, offset)?;
                self.sack_permitted = true;
                Ok(())
            }
            SACK => {
                let (blocks, odd) = value.as_chunks::<8>();
                if !odd.is_empty() || blocks.is_empty() || blocks.len() > self.sack.blocks.len() {
                    return Err(wrong("10, 18, 26 or 34"));
                }
                let mut sack = SackEdges::default();
                for &[a, b, c, d, e, f, g, h] in blocks {
                    sack.push(u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
                }
                let mut slot = (self.sack.count > 0).then_some(self.sack);
                keep(&mut slot, Some(sack), layer, kind, offset)?;
                self.sack = sack;
                Ok(())
            }
            TIMESTAMPS => {
                let &[a, b, c, d, e, f, g, h] = value.as_array::<8>().ok_or(wrong("10"))?;
                let timestamps = Timestamps {
                    value: u32::from_be_bytes([a, b, c, d]),
                    echo: u32::from_be_bytes([e, f, g, h]),
                };
                keep(&mut self.timestamps, Some(timestamps), layer, kind, offset)
            }
            QUICK_START_RESPONSE => {
                let &[rate, ttl_diff, a, b, c, d] = value.as_array::<6>().ok_or(wrong("8"))?;
                let response = QuickStartResponse {
                    rate: read_rate(rate),
                    ttl_diff,
                    nonce: read_nonce([a, b, c, d]),
                };
                keep(&mut self.quick_start, Some(response), layer, kind, offset)
            }
            FAST_OPEN => self.read_fast_open(value, false, offset),
            EXPERIMENT => match value.strip_prefix(&FAST_OPEN_EXPERIMENT) {
                Some(cookie) => self.read_fast_open(cookie, true, offset),
                None => Ok(()),
            },
            ACCURATE_ECN_0 | ACCURATE_ECN_1 => {
                let (counters, odd) = value.as_chunks::<3>();
                let mut numbers = [0; 3];
                for (number, &[a, b, c]) in numbers.iter_mut().zip(counters) {
                    *number = u32::from_be_bytes([0, a, b, c]);
                }
                // An option of another length is ignored.
                let numbers = numbers.get(..counters.len()).filter(|_| odd.is_empty());
                match numbers.and_then(|it| AccurateEcn::new(kind == ACCURATE_ECN_1, it)) {
                    Some(option) => keep(&mut self.accurate_ecn, Some(option), layer, kind, offset),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// A cookie of a length that cannot be makes the option one of an unknown kind.
    fn read_fast_open(
        &mut self,
        value: &[u8],
        experimental: bool,
        offset: usize,
    ) -> Result<(), ParseError> {
        let cookie = Cookie::new(value);
        if cookie.is_none() && !value.is_empty() {
            return Ok(());
        }
        let kind = if experimental { EXPERIMENT } else { FAST_OPEN };
        let option = FastOpen { cookie, experimental };
        keep(&mut self.fast_open, Some(option), Layer::Tcp, kind, offset)
    }
}

struct Cursor<'a> {
    space: &'a mut [u8; MAX_LEN],
    len: usize,
}

impl Cursor<'_> {
    fn put(&mut self, bytes: &[u8]) {
        self.space[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }
}

/// The most bytes of options that a TCP header holds.
pub const MAX_LEN: usize = 40;

const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
const QUICK_START_RESPONSE: u8 = 27;
const FAST_OPEN: u8 = 34;
const ACCURATE_ECN_0: u8 = 172;
const ACCURATE_ECN_1: u8 = 174;
/// For experiments, told apart by two bytes that follow (RFC 6994), and those of Fast Open.
const EXPERIMENT: u8 = 254;
const FAST_OPEN_EXPERIMENT: [u8; 2] = [0xf9, 0x89];

#[cfg(test)]
mod tests;
