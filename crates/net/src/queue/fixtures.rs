//! Helpers for the tests of several disciplines.

use ackclock_units::Instant;

use super::contract::{Effect, Log, Queueing, Reason, Room};
use super::{QueueLimit, QueueUnit};
use crate::packet::Packet;
use crate::{PacketId, PacketKind};

pub const ROOM: Room = Room { fits: true, limit: QueueLimit::UNLIMITED };

pub const fn full(packets: u64) -> Room {
    Room { fits: false, limit: QueueLimit { amount: packets, unit: QueueUnit::Packets } }
}

pub const fn packet(id: u32, size: u32, class: u32) -> Packet {
    Packet { id: PacketId::new(id), size, class, kind: PacketKind::flow(true) }
}

pub const fn asking_for_ecn(packet: Packet) -> Packet {
    Packet { kind: packet.kind.with_ecn(true), ..packet }
}

pub const fn millis(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

/// The packet that is sent next, and the packets that were dropped and marked before.
pub fn next(queue: &mut impl Queueing, now: Instant) -> (Option<u32>, Vec<u32>, Vec<u32>) {
    let mut log = Log::default();
    let sent = queue.next(now, &mut log).map(|next| next.packet.id.get());
    let (dropped, marked) = told(&mut log);
    (sent, dropped, marked)
}

/// The packets that were dropped and marked, in this order.
pub fn told(log: &mut Log) -> (Vec<u32>, Vec<u32>) {
    let (mut dropped, mut marked) = (Vec::new(), Vec::new());
    for effect in log.uncounted() {
        match effect {
            Effect::Dropped(packet, Reason::Early | Reason::Full) => dropped.push(packet.id.get()),
            Effect::Marked(packet) => marked.push(packet.id.get()),
        }
    }
    (dropped, marked)
}
