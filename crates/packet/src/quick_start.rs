//! Quick-Start (RFC 4782) in packets: the IP option that a sender and the routers write on, and the
//! TCP option with which the receiver answers.

use ackclock_units::Rate;

/// A rate as Quick-Start counts it (RFC 4782 §3.1): a code N of four bits that stands for
/// 40 000 · 2^N bit/s, and 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuickStartRate(u8);

impl QuickStartRate {
    /// Code 0: nothing is asked for, or nothing was approved.
    pub const NONE: Self = Self(0);
    /// Code 15, 1.31072 Gbit/s.
    pub const MAX: Self = Self(15);
    /// Code 7, 5.12 Mbit/s: the rate by which words and messages show how one is written.
    pub const EXAMPLE: Self = Self(7);

    /// The rate of this code; `None` above 15.
    pub const fn from_code(code: u8) -> Option<Self> {
        if code <= Self::MAX.0 { Some(Self(code)) } else { None }
    }

    /// The largest rate that has a code and is at most `rate`; [`NONE`](Self::NONE) below 80 kbit/s.
    pub const fn at_most(rate: Rate) -> Self {
        // The code is the whole binary logarithm of the rate in units; below two units it is none.
        let units = rate.as_bps() / UNIT_BPS;
        if units >> Self::MAX.0 > 0 {
            Self::MAX
        } else {
            Self((units | 1).ilog2().to_le_bytes()[0])
        }
    }

    /// Checks that Quick-Start knows a rate as low as this.
    ///
    /// # Errors
    /// The rates that were expected.
    pub fn check(rate: Option<Rate>) -> Result<(), &'static str> {
        if rate.is_some_and(|rate| Self::at_most(rate) == Self::NONE) {
            return Err("expected at least 80 kbit/s, the least rate that Quick-Start knows");
        }
        Ok(())
    }

    /// The code.
    pub const fn code(self) -> u8 {
        self.0
    }

    /// The rate, IP and TCP headers included; `None` for code 0.
    pub const fn rate(self) -> Option<Rate> {
        if self.0 == 0 { None } else { Some(Rate::from_bps(UNIT_BPS << self.0)) }
    }
}

/// The nonce of a Quick-Start request: fifteen fields of two bits (RFC 4782 §3.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct QuickStartNonce(u32);

impl QuickStartNonce {
    /// The lower 30 bits of `bits`.
    pub const fn new(bits: u32) -> Self {
        Self(bits & (u32::MAX >> 2))
    }

    /// Its 30 bits, right-aligned.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The nonce after a router has lowered the rate `from` → `to`: the field of each step between
    /// the two is taken from `random` (RFC 4782 §3.4). The leftmost field belongs to the step 15 → 14,
    /// the rightmost to 1 → 0, so that 2 K bits from the right are what a rate of code K may show.
    #[must_use]
    pub const fn lowered(self, from: QuickStartRate, to: QuickStartRate, random: u32) -> Self {
        let steps = field_mask(from) & !field_mask(to);
        Self((self.0 & !steps) | (random & steps))
    }

    /// True if the fields agree with those of `sent` below the rate `approved`: nobody on the way had
    /// lowered the rate further than that. A rate raised by n steps agrees with probability 4^-n.
    pub const fn proves(self, sent: Self, approved: QuickStartRate) -> bool {
        (self.0 ^ sent.0) & field_mask(approved) == 0
    }
}

/// The 2 K bits of the steps from the code K of `rate` down to 0.
const fn field_mask(rate: QuickStartRate) -> u32 {
    (1 << (2 * rate.code())) - 1
}

/// The Quick-Start option of an IP header (RFC 4782 §3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuickStart {
    /// A Rate Request, which routers may lower or deny.
    Request {
        /// The rate asked for, or approved so far.
        rate: QuickStartRate,
        /// The QS TTL, which only routers that approve count down.
        ttl: u8,
        /// The nonce.
        nonce: QuickStartNonce,
    },
    /// A Report of Approved Rate, which routers may read and must not change.
    Report {
        /// The rate that the sender will use.
        rate: QuickStartRate,
        /// The nonce of the request.
        nonce: QuickStartNonce,
    },
}

/// The Quick-Start Response of a TCP header (RFC 4782 §4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuickStartResponse {
    /// The approved rate.
    pub rate: QuickStartRate,
    /// IP TTL minus QS TTL, modulo 256, as the request arrived.
    pub ttl_diff: u8,
    /// The nonce as it arrived.
    pub nonce: QuickStartNonce,
}

const UNIT_BPS: u64 = 40_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_powers_of_two_of_40_kbit_s() {
        // RFC 4782 §3.1: 80 kbit/s for 1, 1.31072 Gbit/s for 15; 10 is 40.96 and 11 is 81.92 Mbit/s.
        let rate = |code| QuickStartRate::from_code(code).and_then(QuickStartRate::rate);
        assert_eq!(rate(0), None);
        assert_eq!(rate(1), Some(Rate::from_bps(80_000)));
        assert_eq!(rate(11), Some(Rate::from_bps(81_920_000)));
        assert_eq!(rate(15), Some(Rate::from_bps(1_310_720_000)));
        assert_eq!(QuickStartRate::from_code(16), None);
    }

    fn code(code: u8) -> QuickStartRate {
        QuickStartRate::from_code(code).unwrap()
    }

    #[test]
    fn lowering_a_rate_touches_the_fields_of_its_steps_alone() {
        // RFC 4782 §3.4: bits 0-1, the leftmost, are the step 15 -> 14; bits 28-29 the step 1 -> 0.
        let sent = QuickStartNonce::new(0);
        let all = u32::MAX;
        assert_eq!(sent.lowered(code(15), code(14), all).bits(), 0b11 << 28);
        assert_eq!(sent.lowered(code(1), code(0), all).bits(), 0b11);
        // 11 -> 10: the fields of ten steps lie below it, 20 bits.
        assert_eq!(sent.lowered(code(11), code(10), all).bits(), 0b11 << 20);
        assert_eq!(sent.lowered(code(15), code(0), all).bits(), (1 << 30) - 1);
        assert_eq!(sent.lowered(code(7), code(7), all), sent);
    }

    #[test]
    fn the_fields_below_the_approved_rate_are_the_proof() {
        let sent = QuickStartNonce::new(0x2a5a_5a5a);
        let lowered = sent.lowered(code(11), code(10), !sent.bits());
        assert!(lowered.proves(sent, code(10)));
        assert!(!lowered.proves(sent, code(11)));
        assert!(lowered.proves(sent, code(0)));
    }

    #[test]
    fn a_rate_is_rounded_down_to_a_code() {
        let code = |bps| QuickStartRate::at_most(Rate::from_bps(bps)).code();
        assert_eq!(code(79_999), 0);
        assert_eq!(code(80_000), 1);
        assert_eq!(code(81_919_999), 10);
        assert_eq!(code(81_920_000), 11);
        assert_eq!(code(0), 0);
        assert_eq!(code(u64::MAX), 15);
    }
}
