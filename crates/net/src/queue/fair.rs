use std::collections::VecDeque;

use ackclock_units::Instant;

use crate::link::Packet;

/// One queue a class, served in turn a packet at a time: with packets of one size, Nagle's fair
/// queueing (RFC 970 §5), the packet form of processor sharing by flow.
#[derive(Clone, Debug, Default)]
pub struct Fair {
    queues: Vec<VecDeque<(Packet, Instant)>>,
    /// Classes with something waiting, in the order of their turns.
    turns: VecDeque<u32>,
    /// The packet being sent, and when it will have left.
    serving: Option<(Packet, Instant)>,
}

impl Fair {
    /// A packet waits.
    pub fn push(&mut self, packet: Packet, now: Instant) {
        let class = packet.class as usize;
        if self.queues.len() <= class {
            self.queues.resize_with(class + 1, VecDeque::new);
        }
        if self.queues[class].is_empty() {
            self.turns.push_back(packet.class);
        }
        self.queues[class].push_back((packet, now));
    }

    /// The packet whose turn it is, and when it came.
    pub fn pop(&mut self) -> Option<(Packet, Instant)> {
        let class = self.turns.pop_front()?;
        let queue = &mut self.queues[class as usize];
        let next = queue.pop_front();
        if !queue.is_empty() {
            self.turns.push_back(class);
        }
        next
    }

    /// The packet being sent, and when it will have left.
    pub const fn serving(&self) -> Option<(Packet, Instant)> {
        self.serving
    }

    /// A packet is being sent until `departs`, or none is.
    pub const fn set_serving(&mut self, serving: Option<(Packet, Instant)>) {
        self.serving = serving;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PacketId;

    #[test]
    fn classes_take_turns_whatever_their_backlog() {
        let mut fair = Fair::default();
        let packet = |id, class| {
            let id = PacketId::new(id);
            Packet { id, size: 100, class, source: None, data: true }
        };
        for (id, class) in [(0, 0), (1, 0), (2, 0), (3, 1), (4, 2), (5, 1)] {
            fair.push(packet(id, class), Instant::START);
        }
        let order: Vec<u32> =
            std::iter::from_fn(|| fair.pop()).map(|(packet, _)| packet.id.get()).collect();
        // Turns: 0, 1, 2, then 0, 1, then 0.
        assert_eq!(order, [0, 3, 4, 1, 5, 2]);
    }
}
