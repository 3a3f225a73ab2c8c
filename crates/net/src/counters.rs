use ackclock_units::{Bytes, Duration};

use crate::impairments::Fate;

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

    /// What was added since `earlier`.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self { packets: self.packets - earlier.packets, bytes: self.bytes - earlier.bytes }
    }
}

/// What a link counted since it was made. At any moment `offered = delivered + dropped + queued`,
/// in packets and bytes; and `delivered - lost + duplicated` have arrived at its end or are on their
/// way there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// What came to the queue.
    pub offered: Volume,
    /// What was sent to the last bit.
    pub delivered: Volume,
    /// What the queue refused, or dropped after it had taken it.
    pub dropped: Volume,
    /// What is held, the packet being sent included.
    pub queued: Volume,
    /// Of the delivered, what was lost at random on the way.
    pub lost: Volume,
    /// Of the delivered, what belonged to cross-traffic.
    pub delivered_cross: Volume,
    /// Time spent sending.
    pub busy: Duration,
    /// The sum over packets of the time from arrival to the start of transmission, in nanoseconds. In
    /// 64 bits it would end at 584 years, which a queue of 10,000 packets reaches in three weeks.
    pub queue_delay_ns: u128,
    // Last, so that what every packet counts stays together in the cache.
    /// What was held back on the way, copies included.
    pub reordered: Volume,
    /// The copies that were made on the way.
    pub duplicated: Volume,
    /// What had a bit flipped on the way, copies included.
    pub corrupted: Volume,
    /// What came to the queue, was taken, and marked with congestion.
    pub marked: Volume,
    /// Of the dropped, what the discipline dropped although there was room.
    pub dropped_early: Volume,
}

impl Counters {
    /// Whether nothing was made or lost: offered = delivered + dropped + queued.
    pub const fn conserved(&self) -> bool {
        self.offered.packets == self.delivered.packets + self.dropped.packets + self.queued.packets
            && self.offered.bytes == self.delivered.bytes + self.dropped.bytes + self.queued.bytes
    }

    /// What befell a packet that was sent.
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

/// What one cross-traffic source met at a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceCounters {
    /// What came to the queue.
    pub offered: Volume,
    /// What was sent to the last bit.
    pub delivered: Volume,
    /// What the queue refused, or dropped after it had taken it.
    pub dropped: Volume,
}
