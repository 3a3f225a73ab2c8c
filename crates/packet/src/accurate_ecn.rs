//! The option of accurate ECN (RFC 9768 §3.2.3).

use std::fmt;

/// Counters of bytes by their ECN field, the low 24 bits of each: up to three, in one of two orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccurateEcn {
    /// True if ECT(1) comes first and ECT(0) last (`AccECN1`, kind 174); false the other way round (`AccECN0`, kind 172).
    pub ect1_first: bool,
    counters: [u32; 3],
    count: u8,
}

impl AccurateEcn {
    /// These counters in their order; `None` if there are more than three, or one of more than 24 bits.
    pub fn new(ect1_first: bool, counters: &[u32]) -> Option<Self> {
        let count = u8::try_from(counters.len()).ok().filter(|count| *count <= 3)?;
        if counters.iter().any(|counter| *counter >> 24 > 0) {
            return None;
        }
        let mut all = [0; 3];
        all[..counters.len()].copy_from_slice(counters);
        Some(Self { ect1_first, counters: all, count })
    }

    /// The counters that are there.
    pub fn counters(&self) -> &[u32] {
        &self.counters[..usize::from(self.count)]
    }

    /// The names of the counters in their order, as packetdrill has them.
    pub const fn names(ect1_first: bool) -> [&'static str; 3] {
        if ect1_first { ["e1b", "ceb", "e0b"] } else { ["e0b", "ceb", "e1b"] }
    }

    /// Bytes of the option, without padding.
    pub const fn len(&self) -> u8 {
        2 + 3 * self.count
    }

    /// False: the option is at least its kind and its length.
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// Bytes of the option in whole 32-bit words.
    pub const fn padded_len(&self) -> u8 {
        self.len().next_multiple_of(4)
    }
}

/// In packetdrill's notation: `ECN e1b 1 ceb 0 e0b 1`.
impl fmt::Display for AccurateEcn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ECN")?;
        let named = Self::names(self.ect1_first).into_iter().zip(self.counters());
        named.into_iter().try_for_each(|(name, counter)| write!(f, " {name} {counter}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_has_three_counters_of_24_bits_at_most() {
        assert_eq!(AccurateEcn::new(true, &[1 << 24]), None);
        assert_eq!(AccurateEcn::new(true, &[0; 4]), None);
        // Kind and length, and three bytes a counter (RFC 9768 figure 4).
        let lengths = [0, 1, 2, 3].map(|count| {
            let option = AccurateEcn::new(false, &[1, 0, 5][..count]).unwrap();
            (option.len(), option.padded_len())
        });
        assert_eq!(lengths, [(2, 4), (5, 8), (8, 8), (11, 12)]);
        let shown = |first| AccurateEcn::new(first, &[1, 0, 5]).unwrap().to_string();
        assert_eq!(shown(true), "ECN e1b 1 ceb 0 e0b 5");
        assert_eq!(shown(false), "ECN e0b 1 ceb 0 e1b 5");
    }
}
