//! Events of a path, in the order of their times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ackclock_units::Instant;

/// Events in the order of time, those of one instant by class, and those of one class as they were added.
#[derive(Clone, Debug, Default)]
pub struct Agenda<C: Ord> {
    events: BinaryHeap<Reverse<(Instant, C, u64, u32)>>,
    added: u64,
}

impl<C: Ord + Copy> Agenda<C> {
    /// An empty one.
    pub const fn new() -> Self {
        Self { events: BinaryHeap::new(), added: 0 }
    }

    /// Adds an event that happens at `at` to the thing numbered `subject`.
    pub fn add(&mut self, at: Instant, class: C, subject: u32) {
        self.events.push(Reverse((at, class, self.added, subject)));
        self.added += 1;
    }

    /// The time of the next event.
    pub fn next_at(&self) -> Option<Instant> {
        self.events.peek().map(|Reverse((at, ..))| *at)
    }

    /// Takes the next event if it is due by `now`: its time, its class, its subject.
    pub fn take_due(&mut self, now: Instant) -> Option<(Instant, C, u32)> {
        self.next_at().filter(|at| *at <= now)?;
        self.events.pop().map(|Reverse((at, class, _, subject))| (at, class, subject))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_class_and_order_of_addition() {
        let at = Instant::from_nanos;
        let mut agenda = Agenda::new();
        for (time, class, subject) in [(7, 1, 0), (5, 2, 1), (5, 1, 2), (5, 1, 3), (9, 0, 4)] {
            agenda.add(at(time), class, subject);
        }
        let mut order = Vec::new();
        while let Some((_, _, subject)) = agenda.take_due(at(8)) {
            order.push(subject);
        }
        assert_eq!((order, agenda.next_at()), (vec![2, 3, 1, 0], Some(at(9))));
    }
}
