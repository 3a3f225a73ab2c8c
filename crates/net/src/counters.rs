//! Counters of what links did with packets: numbers and volumes.

use ackclock_units::{Bytes, Duration};

use crate::fate::Fate;

/// Packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// Packets.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
}

impl Volume {
    /// Adds one packet.
    #[inline]
    pub const fn count(&mut self, size: u32) {
        self.packets += 1;
        self.bytes += size as u64;
    }

    /// Takes one back.
    #[inline]
    pub const fn uncount(&mut self, size: u32) {
        self.packets -= 1;
        self.bytes -= size as u64;
    }

    /// The volume that was added since `earlier`.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self { packets: self.packets - earlier.packets, bytes: self.bytes - earlier.bytes }
    }
}

/// The counts of a link since it was made. At any moment `offered = delivered + dropped + queued`, in packets and
/// bytes; and `delivered - lost + duplicated` have arrived at its end or are on their way there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that came to the queue.
    pub offered: Volume,
    /// Packets that were sent to the last bit.
    pub delivered: Volume,
    /// Packets that the queue refused, or dropped after it had taken them.
    pub dropped: Volume,
    /// Packets held, the one being sent included.
    pub queued: Volume,
    /// Delivered packets that were lost at random on the way.
    pub lost: Volume,
    /// Delivered packets of cross-traffic.
    pub delivered_cross: Volume,
    /// Time spent sending.
    pub busy: Duration,
    /// The sum over packets of the time from arrival to the start of transmission, in nanoseconds. In
    /// 64 bits it would end at 584 years, which a queue of 10,000 packets reaches in three weeks.
    pub queue_delay_ns: u128,
    // Last, so that what every packet counts stays together in the cache.
    /// Packets held back on the way, copies included.
    pub reordered: Volume,
    /// The copies that were made on the way.
    pub duplicated: Volume,
    /// Packets with a bit flipped on the way, copies included.
    pub corrupted: Volume,
    /// Packets that came to the queue, were taken, and marked with congestion.
    pub marked: Volume,
    /// Dropped packets that the discipline dropped although there was room.
    pub dropped_early: Volume,
    /// All that a channel could have sent, in bits times 10^9; `None` of a constant rate, which is used while it sends.
    pub capacity: Option<u128>,
    /// The most that a policer, and the rate behind it, could have let pass, in bits times 10^9; `None` without one.
    pub passable: Option<u128>,
}

impl Counters {
    /// True if nothing was made or lost: offered = delivered + dropped + queued.
    pub const fn conserved(&self) -> bool {
        self.offered.packets == self.delivered.packets + self.dropped.packets + self.queued.packets
            && self.offered.bytes == self.delivered.bytes + self.dropped.bytes + self.queued.bytes
    }

    /// Counts the fate of a packet that was sent.
    #[cold]
    pub fn count_fate(&mut self, fate: Fate, size: u32) {
        if fate.is_lost() {
            self.lost.count(size);
        }
        if fate.is_copied() {
            self.duplicated.count(size);
        }
        (0..fate.late()).for_each(|_| self.reordered.count(size));
        (0..fate.corrupted()).for_each(|_| self.corrupted.count(size));
    }

    /// Bytes held.
    pub const fn backlog(&self) -> Bytes {
        Bytes::new(self.queued.bytes)
    }
}

/// The counts of one cross-traffic source at a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceCounters {
    /// Packets that came to the queue.
    pub offered: Volume,
    /// Packets that were sent to the last bit.
    pub delivered: Volume,
    /// Packets that the queue refused, or dropped after it had taken them.
    pub dropped: Volume,
}
