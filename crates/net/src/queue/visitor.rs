//! Queues of visitors: a program's own discipline in front of a link, watched, as links rely on what the house's keep to.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::panic::resume_unwind;

use ackclock_units::{Instant, Rate};

use super::contract::{Admission, Effect, Log, Queueing, Room};
use super::fifo::Waiting;
use crate::header::Header;
use crate::packet::{Packet, PacketId};

/// A queueing discipline of a visitor: any that can be copied and shown.
pub trait OwnQueue: Queueing + Debug + Send {
    /// A copy in the same state.
    fn copied(&self) -> Box<dyn OwnQueue>;
}

impl<Q: Queueing + Clone + Debug + Send + 'static> OwnQueue for Q {
    fn copied(&self) -> Box<dyn OwnQueue> {
        Box::new(self.clone())
    }
}

/// The end of a run in which a visitor's queue broke a rule: the payload of the unwinding that leaves the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueFailed {
    /// The time and the fault.
    pub what: String,
}

/// A visitor's queue, of which each packet is accounted for.
#[derive(Debug)]
pub struct Visitor {
    queue: Box<dyn OwnQueue>,
    /// The packets that it holds: those of cross-traffic share a number.
    held: BTreeMap<PacketId, u32>,
}

impl Clone for Visitor {
    fn clone(&self) -> Self {
        Self { queue: self.queue.copied(), held: self.held.clone() }
    }
}

impl Visitor {
    pub fn new(queue: Box<dyn OwnQueue>) -> Self {
        Self { queue, held: BTreeMap::new() }
    }

    /// Lets a packet go that the queue has given back.
    fn release(&mut self, now: Instant, how: &str, packet: Packet) {
        match self.held.get_mut(&packet.id) {
            Some(count) if *count > 1 => *count -= 1,
            Some(_) => drop(self.held.remove(&packet.id)),
            None => fail(now, &format!("it {how} a packet that it did not hold")),
        }
    }

    /// Follows the effects that the queue has noted since `before` of them were there.
    fn follow(&mut self, now: Instant, log: &Log, before: usize) {
        for effect in log.since(before) {
            match *effect {
                Effect::Dropped(packet, _) => self.release(now, "dropped", packet),
                Effect::Marked(packet) if !packet.asks_for_ecn() => {
                    fail(now, "it marked a packet that does not ask for ECN");
                }
                Effect::Marked(_) => {}
            }
        }
    }
}

#[cold]
fn fail(now: Instant, fault: &str) -> ! {
    let what = format!("at {:.6} s: {fault}", now.as_secs_f64());
    // No panic: its hook would print where the engine stands, which is of no use to the queue's author.
    resume_unwind(Box::new(QueueFailed { what }))
}

impl Queueing for Visitor {
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, log: &mut Log) -> Admission {
        let before = log.len();
        let admission = self.queue.offer(now, packet, room, log);
        if admission == Admission::Taken {
            *self.held.entry(packet.id).or_default() += 1;
        }
        self.follow(now, log, before);
        admission
    }

    fn next(&mut self, now: Instant, log: &mut Log) -> Option<Waiting> {
        let before = log.len();
        let next = self.queue.next(now, log);
        self.follow(now, log, before);
        match next {
            Some(waiting) if waiting.came > now => fail(now, "it gave a packet that comes later"),
            Some(waiting) => self.release(now, "gave", waiting.packet),
            None if !self.held.is_empty() => {
                let waiting: u32 = self.held.values().sum();
                fail(now, &format!("it gave none of {waiting} packets that wait"));
            }
            None => {}
        }
        next
    }

    fn pop_last(&mut self) -> Option<Packet> {
        let last = self.queue.pop_last();
        if let Some(packet) = last {
            self.release(Instant::START, "gave up", packet);
        }
        last
    }

    fn set_rate(&mut self, rate: Rate) {
        self.queue.set_rate(rate);
    }

    fn describe(&mut self, class: u32, header: Header) {
        self.queue.describe(class, header);
    }

    fn holds_until(&self) -> Instant {
        self.queue.holds_until()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::super::Reason;
    use super::super::drop_tail::DropTail;
    use super::super::fixtures::{ROOM, millis, packet};
    use super::*;

    /// A queue that gives the packet that came last first, and does one thing wrong.
    #[derive(Clone, Debug, Default)]
    struct Stack {
        waiting: Vec<Waiting>,
        wrong: &'static str,
    }

    impl Queueing for Stack {
        fn offer(&mut self, now: Instant, packet: Packet, _: &Room, log: &mut Log) -> Admission {
            self.waiting.push(Waiting { packet, came: now });
            match self.wrong {
                "mark" => log.mark(packet),
                "drop" => log.drop(Packet { id: PacketId::new(99), ..packet }, Reason::Early),
                _ => {}
            }
            Admission::Taken
        }

        fn next(&mut self, _: Instant, _: &mut Log) -> Option<Waiting> {
            match self.wrong {
                "none" => None,
                "twice" => self.waiting.last().copied(),
                _ => self.waiting.pop(),
            }
        }

        fn pop_last(&mut self) -> Option<Packet> {
            self.waiting.pop().map(|waiting| waiting.packet)
        }
    }

    fn told(wrong: &'static str) -> Result<Vec<u32>, String> {
        let run = catch_unwind(AssertUnwindSafe(|| {
            let mut queue = Visitor::new(Box::new(Stack { wrong, ..Stack::default() }));
            let mut log = Log::default();
            for id in 0..3 {
                assert_eq!(
                    queue.offer(millis(1), packet(id, 1500, 0), &ROOM, &mut log),
                    Admission::Taken
                );
            }
            let next = || queue.next(millis(2), &mut log).map(|next| next.packet.id.get());
            std::iter::from_fn(next).collect()
        }));
        run.map_err(|payload| payload.downcast::<QueueFailed>().unwrap().what)
    }

    #[test]
    fn a_queue_that_keeps_to_the_rules_is_let_alone() {
        assert_eq!(told(""), Ok(vec![2, 1, 0]));
        let mut copy = Visitor::new(Box::new(DropTail::default()));
        let mut log = Log::default();
        copy.offer(millis(1), packet(7, 100, 0), &ROOM, &mut log);
        assert_eq!(copy.clone().pop_last().unwrap().id, copy.pop_last().unwrap().id);
    }

    #[test]
    fn a_queue_that_breaks_a_rule_ends_the_run() {
        let said = |wrong| told(wrong).unwrap_err();
        assert_eq!(said("mark"), "at 0.001000 s: it marked a packet that does not ask for ECN");
        assert_eq!(said("drop"), "at 0.001000 s: it dropped a packet that it did not hold");
        assert_eq!(said("none"), "at 0.002000 s: it gave none of 3 packets that wait");
        assert_eq!(said("twice"), "at 0.002000 s: it gave a packet that it did not hold");
    }
}
