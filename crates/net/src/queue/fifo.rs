use std::collections::VecDeque;

use ackclock_units::Instant;

use crate::link::Packet;

/// A packet that was given its place on the wire.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// When its last bit leaves.
    pub departs: Instant,
    /// The packet.
    pub packet: Packet,
    /// Whether it is lost after that.
    pub lost: bool,
}

/// First in, first out, without departure events: a packet's departure is known when it comes, so
/// that the ring only remembers what has not left yet.
#[derive(Clone, Debug, Default)]
pub struct Fifo {
    ring: VecDeque<Placed>,
    /// When the last packet placed will have left.
    busy_until: Instant,
}

impl Fifo {
    /// When the wire is free.
    #[inline]
    pub const fn busy_until(&self) -> Instant {
        self.busy_until
    }

    /// Places a packet last.
    #[inline]
    pub fn place(&mut self, placed: Placed) {
        self.busy_until = placed.departs;
        self.ring.push_back(placed);
    }

    /// The next packet that has left by `now`.
    #[inline]
    pub fn pop_departed(&mut self, now: Instant) -> Option<Placed> {
        match self.ring.front() {
            Some(first) if first.departs <= now => self.ring.pop_front(),
            _ => None,
        }
    }

    /// Size of the packet being sent; zero on an idle link.
    #[inline]
    pub fn in_service(&self) -> u32 {
        self.ring.front().map_or(0, |placed| placed.packet.size)
    }
}
