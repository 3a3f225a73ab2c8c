//! The fate of a packet on its way.

/// The fate of a packet on its way, drawn when it gets its place on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate(u8);

impl Fate {
    /// It arrives once, in time, as it was sent.
    pub const INTACT: Self = Self(0);
    /// It does not arrive.
    pub const LOST: Self = Self(1);
    pub(crate) const LATE: Self = Self(1 << 1);
    pub(crate) const CORRUPTED: Self = Self(1 << 2);
    pub(crate) const COPIED: Self = Self(1 << 3);
    pub(crate) const COPY_LATE: Self = Self(1 << 4);
    pub(crate) const COPY_CORRUPTED: Self = Self(1 << 5);
    pub(crate) const JITTERED: Self = Self(1 << 6);

    /// As bits, to be kept.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// From [`bits`](Self::bits).
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    pub(crate) const fn has(self, what: Self) -> bool {
        self.0 & what.0 != 0
    }

    pub(crate) const fn add_if(&mut self, befalls: bool, what: Self) {
        if befalls {
            self.0 |= what.0;
        }
    }

    /// True if it does not arrive.
    pub const fn is_lost(self) -> bool {
        self.has(Self::LOST)
    }

    /// True if it arrives twice.
    pub const fn is_copied(self) -> bool {
        self.has(Self::COPIED)
    }

    /// The number of its arrivals, none to two, that are late.
    pub const fn late(self) -> u64 {
        self.has(Self::LATE) as u64 + self.has(Self::COPY_LATE) as u64
    }

    /// In how many of its arrivals, none to two, a bit is flipped.
    pub const fn corrupted(self) -> u64 {
        self.has(Self::CORRUPTED) as u64 + self.has(Self::COPY_CORRUPTED) as u64
    }
}
