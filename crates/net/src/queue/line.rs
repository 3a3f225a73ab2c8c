use std::collections::VecDeque;

use ackclock_units::Instant;

use super::scheduled::{Admission, Log, Queueing, Reason, Room};
use crate::packet::Packet;

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// The packet.
    pub packet: Packet,
    /// When it came.
    pub came: Instant,
}

/// Packets that wait, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct Line {
    waiting: VecDeque<Waiting>,
    bytes: u64,
}

impl Line {
    /// A packet comes.
    #[inline]
    pub fn push(&mut self, now: Instant, packet: Packet) {
        self.bytes += u64::from(packet.size);
        self.waiting.push_back(Waiting { packet, came: now });
    }

    /// The packet that came first.
    #[inline]
    pub fn pop(&mut self) -> Option<Waiting> {
        let first = self.waiting.pop_front()?;
        self.bytes -= u64::from(first.packet.size);
        Some(first)
    }

    /// The packet that came last.
    pub fn pop_last(&mut self) -> Option<Packet> {
        let last = self.waiting.pop_back()?.packet;
        self.bytes -= u64::from(last.size);
        Some(last)
    }

    /// Packets that wait.
    pub fn packets(&self) -> usize {
        self.waiting.len()
    }

    /// Their bytes on the wire.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Queueing for Line {
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, _: &mut Log) -> Admission {
        if !room.fits {
            return Admission::Refused(Reason::Full);
        }
        self.push(now, packet);
        Admission::Taken
    }

    fn next(&mut self, _: Instant, _: &mut Log) -> Option<Waiting> {
        self.pop()
    }

    fn pop_last(&mut self) -> Option<Packet> {
        Self::pop_last(self)
    }
}
