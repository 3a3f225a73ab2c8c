//! Packets in the order in which they came: the data structure of most disciplines.

use std::collections::VecDeque;

use ackclock_units::Instant;

use crate::counters::Volume;
use crate::packet::Packet;

/// A packet that waits, and its arrival.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// The packet.
    pub packet: Packet,
    /// The time of its arrival.
    pub came: Instant,
}

/// Packets that wait, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct FifoQueue {
    waiting: VecDeque<Waiting>,
    bytes: u64,
}

impl FifoQueue {
    /// Takes a packet that comes at `now`.
    #[inline]
    pub fn push(&mut self, now: Instant, packet: Packet) {
        self.bytes += u64::from(packet.size);
        self.waiting.push_back(Waiting { packet, came: now });
    }

    /// Takes out the packet that came first.
    #[inline]
    pub fn pop(&mut self) -> Option<Waiting> {
        let first = self.waiting.pop_front()?;
        self.bytes -= u64::from(first.packet.size);
        Some(first)
    }

    /// The packet that came first.
    pub fn first(&self) -> Option<&Waiting> {
        self.waiting.front()
    }

    /// Takes out the packet at `place`, counted from the first.
    pub fn remove(&mut self, place: usize) -> Option<Packet> {
        let packet = self.waiting.remove(place)?.packet;
        self.bytes -= u64::from(packet.size);
        Some(packet)
    }

    /// Takes out the packet that came last.
    pub fn pop_last(&mut self) -> Option<Packet> {
        let last = self.waiting.pop_back()?.packet;
        self.bytes -= u64::from(last.size);
        Some(last)
    }

    /// Packets that wait.
    pub fn packets(&self) -> usize {
        self.waiting.len()
    }

    /// The packets and bytes that wait.
    pub fn volume(&self) -> Volume {
        Volume { packets: self.waiting.len() as u64, bytes: self.bytes }
    }

    /// Their bytes on the wire.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}
