//! Numbers of a connection by their low bits, where a record of each segment keeps them.
//!
//! What is on its way at once lies within a window, of 2^30 bytes at most (RFC 7323 §2.3), so that any such number near
//! tells the others. A record of half the size is half as many lines of the cache.

use ackclock_packet::Seq;
use ackclock_units::Bytes;

/// A sequence number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NearSeq(u32);

impl NearSeq {
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the low bits")]
    pub const fn of(seq: Seq) -> Self {
        Self(seq.get() as u32)
    }

    /// By how much it comes after `near`, which is not far.
    #[inline]
    pub const fn after(self, near: Seq) -> i32 {
        self.0.wrapping_sub(Self::of(near).0).cast_signed()
    }

    /// The number itself, which is near `near`.
    #[inline]
    pub const fn get(self, near: Seq) -> Seq {
        Seq::new(near.get().wrapping_add_signed(self.after(near) as i64))
    }

    /// The number of segments of `len` between it, where one of them begins, and `seq`; `None` if that comes before.
    #[inline]
    pub fn segments_to(self, seq: Seq, len: u32) -> Option<usize> {
        let before = u32::try_from(-i64::from(self.after(seq))).ok()?;
        before.checked_div(len).map(|segments| segments as usize)
    }

    /// The one `len` after it.
    #[inline]
    pub const fn plus(self, len: u32) -> Self {
        Self(self.0.wrapping_add(len))
    }
}

/// A counter of bytes as it was not long ago.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EarlierCount(u32);

impl EarlierCount {
    /// The counter at its beginning.
    pub const ZERO: Self = Self(0);

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the low bits")]
    pub const fn of(count: Bytes) -> Self {
        Self(count.get() as u32)
    }

    /// By how much it has grown, to `count`, since.
    #[inline]
    pub const fn until(self, count: Bytes) -> Bytes {
        Bytes::new(Self::of(count).0.wrapping_sub(self.0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2^32.
    const ROUND: u64 = 1 << 32;

    #[test]
    fn a_number_is_found_on_either_side_of_one_near() {
        for n in [5, ROUND - 1, ROUND, ROUND + 7, 9 * ROUND] {
            let number = NearSeq::of(Seq::new(n));
            assert_eq!(number.get(Seq::new(n + (1 << 30))), Seq::new(n));
            assert_eq!(number.get(Seq::new(n.saturating_sub(1 << 30))), Seq::new(n));
            assert_eq!(number.plus(1460).get(Seq::new(n)), Seq::new(n + 1460));
        }
        assert_eq!(NearSeq::of(Seq::new(ROUND)).after(Seq::new(ROUND - 3)), 3);
        assert_eq!(NearSeq::of(Seq::new(ROUND - 3)).after(Seq::new(ROUND)), -3);
    }

    #[test]
    fn segments_of_one_size_are_counted() {
        let first = NearSeq::of(Seq::new(ROUND - 1000));
        assert_eq!(first.segments_to(Seq::new(ROUND + 1999), 1000), Some(2));
        assert_eq!(first.segments_to(Seq::new(ROUND + 2000), 1000), Some(3));
        assert_eq!(first.segments_to(Seq::new(ROUND - 1001), 1000), None);
        assert_eq!(first.segments_to(Seq::new(ROUND), 0), None);
    }

    #[test]
    fn a_counter_has_grown_by_less_than_it_holds() {
        let before = EarlierCount::of(Bytes::new(ROUND - 1));
        assert_eq!(before.until(Bytes::new(ROUND + 1)), Bytes::new(2));
        assert_eq!(before.until(Bytes::new(ROUND - 1)), Bytes::ZERO);
    }
}
