//! What waits in front of a link, and who goes next.

mod codel;
mod fair;
#[cfg(test)]
mod fixtures;
mod fq_codel;
mod line;
mod pie;
mod red;
mod scheduled;

pub use codel::CoDelConfig;
pub use fq_codel::{Classes, FqCoDelConfig};
pub use line::Waiting;
pub use pie::{DelayEstimate, PieConfig};
pub use red::RedConfig;
pub use scheduled::{Admission, Effect, Reason, Room, Scheduled, Serving};

use crate::counters::Volume;

/// What a queue's limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueUnit {
    /// Packets.
    Packets,
    /// Bytes on the wire.
    Bytes,
}

/// The most that a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimit {
    /// How many.
    pub amount: u64,
    /// Of what.
    pub unit: QueueUnit,
}

impl QueueLimit {
    /// No limit.
    pub const UNLIMITED: Self = Self { amount: u64::MAX, unit: QueueUnit::Packets };

    /// Whether a packet of `size` fits beside what is held, of which `in_service` is being sent
    /// and counts only if `counts_in_service`.
    #[inline]
    pub const fn admits(
        self,
        held: Volume,
        in_service: u32,
        counts_in_service: bool,
        size: u32,
    ) -> bool {
        // An idle link takes any packet: it does not wait.
        if held.packets == 0 {
            return !counts_in_service || self.amount > 0;
        }
        match self.unit {
            QueueUnit::Packets => held.packets - ((!counts_in_service) as u64) < self.amount,
            QueueUnit::Bytes => {
                let excused = if counts_in_service { 0 } else { in_service as u64 };
                held.bytes - excused + size as u64 <= self.amount
            }
        }
    }

    /// What may be held, in packets, when another comes; `None` of a limit in bytes.
    pub const fn room(self, counts_in_service: bool) -> Option<u64> {
        match self.unit {
            QueueUnit::Packets => Some(self.amount.saturating_add(!counts_in_service as u64)),
            QueueUnit::Bytes => None,
        }
    }

    /// Whether what is held is more than this much, counted as in [`admits`](Self::admits).
    pub const fn is_exceeded(self, held: Volume, in_service: u32, counts_in_service: bool) -> bool {
        let more = Self { amount: self.amount.saturating_add(1), unit: self.unit };
        more.is_reached(held, in_service, counts_in_service) && self.amount < u64::MAX
    }

    /// Whether what is held is at least this much, counted as in [`admits`](Self::admits).
    pub const fn is_reached(self, held: Volume, in_service: u32, counts_in_service: bool) -> bool {
        let excused = (held.packets > 0 && !counts_in_service) as u64;
        match self.unit {
            QueueUnit::Packets => held.packets - excused >= self.amount,
            QueueUnit::Bytes => held.bytes - excused * in_service as u64 >= self.amount,
        }
    }
}

/// Who goes next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Discipline {
    /// First in, first out.
    Fifo,
    /// The same with departures that are events, for a link that changes: what was taken keeps its
    /// place, but not the time at which it will leave.
    Line,
    /// One queue a class, served in turn a packet at a time.
    Fair,
    /// Random early detection.
    Red(RedConfig),
    /// Controlled delay.
    CoDel(CoDelConfig),
    /// Controlled delay of each flow, served by deficit round robin.
    FqCoDel(FqCoDelConfig),
    /// The proportional integral controller enhanced.
    Pie(PieConfig),
}

impl Discipline {
    /// Whether it marks packets by itself.
    pub const fn marks(&self) -> bool {
        match self {
            Self::Fifo | Self::Line | Self::Fair => false,
            Self::Red(config) => config.ecn,
            Self::CoDel(config) => config.ecn || config.ce_threshold.is_some(),
            Self::FqCoDel(config) => config.codel.ecn || config.codel.ce_threshold.is_some(),
            Self::Pie(config) => config.ecn,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn held(packets: u64) -> Volume {
        Volume { packets, bytes: packets * 100 }
    }

    #[test]
    fn a_limit_counts_what_waits_unless_told_otherwise() {
        let limit = QueueLimit { amount: 2, unit: QueueUnit::Packets };
        // One in service and one waiting: a second may wait, a third may not.
        assert!(limit.admits(held(2), 100, false, 100));
        assert!(!limit.admits(held(3), 100, false, 100));
        // Counting the one in service, two held are the limit.
        assert!(limit.admits(held(1), 100, true, 100));
        assert!(!limit.admits(held(2), 100, true, 100));
    }

    #[test]
    fn the_room_of_a_limit_in_packets_is_what_it_admits() {
        for amount in [0, 1, 2, 5, u64::MAX] {
            let limit = QueueLimit { amount, unit: QueueUnit::Packets };
            for (counts, packets) in
                [false, true].into_iter().flat_map(|c| (0..8).map(move |n| (c, n)))
            {
                let room = limit.room(counts).unwrap();
                assert_eq!(
                    packets < room,
                    limit.admits(held(packets), 100, counts, 100),
                    "{limit:?}"
                );
            }
        }
    }

    #[test]
    fn a_limit_in_bytes_counts_bytes() {
        let limit = QueueLimit { amount: 250, unit: QueueUnit::Bytes };
        // 100 in service, 100 waiting: 100 + 150 = 250 fits, 100 + 151 does not.
        assert!(limit.admits(held(2), 100, false, 150));
        assert!(!limit.admits(held(2), 100, false, 151));
        assert!(limit.admits(held(1), 100, true, 150));
        assert!(!limit.admits(held(2), 100, true, 100));
    }

    #[test]
    fn a_mark_counts_as_the_limit_does() {
        let mark = QueueLimit { amount: 2, unit: QueueUnit::Packets };
        // One in service and one waiting; then two waiting.
        assert!(!mark.is_reached(held(2), 100, false));
        assert!(mark.is_reached(held(3), 100, false));
        assert!(!mark.is_reached(held(1), 100, true));
        assert!(mark.is_reached(held(2), 100, true));
        assert!(!mark.is_reached(held(0), 0, false));
        // 199 B of 299 wait, 200 of 300: 100 are being sent.
        let mark = QueueLimit { amount: 200, unit: QueueUnit::Bytes };
        let held = |bytes| Volume { packets: 3, bytes };
        assert!(!mark.is_reached(held(299), 100, false));
        assert!(mark.is_reached(held(300), 100, false));
        assert!(!mark.is_reached(held(199), 100, true));
        assert!(mark.is_reached(held(200), 100, true));
    }

    #[test]
    fn an_idle_link_takes_a_packet_larger_than_the_limit() {
        let none = QueueLimit { amount: 0, unit: QueueUnit::Packets };
        assert!(none.admits(held(0), 0, false, 1500));
        assert!(!none.admits(held(1), 100, false, 1500));
    }
}
