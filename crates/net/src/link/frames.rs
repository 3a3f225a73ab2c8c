//! Packets that leave in frames: when a frame begins, and which packets are in it.

use std::collections::VecDeque;

use ackclock_units::{Duration, Instant};

use super::{Link, Queue};
use crate::parts::aggregation::{Aggregation, Frame};
use crate::queue::{Scheduled, Waiting};

/// The frames of a link.
#[derive(Clone, Debug)]
pub(super) struct Frames {
    aggregation: Aggregation,
    /// The packets of the frame behind the one that is being sent.
    frame: VecDeque<Waiting>,
    /// When the frame began.
    begun: Instant,
    /// The packet that did not fit into the last frame, and is the first of the next.
    spilt: Option<Waiting>,
    /// When the first of those came that wait for the next frame.
    since: Option<Instant>,
    /// When the link is woken next for a frame.
    wakes: Instant,
}

impl Frames {
    pub fn new(aggregation: Aggregation) -> Self {
        Self {
            aggregation,
            frame: VecDeque::new(),
            begun: Instant::START,
            spilt: None,
            since: None,
            wakes: Instant::NEVER,
        }
    }

    /// The packets that are in a frame.
    pub fn placed(&self) -> u64 {
        self.frame.len() as u64
    }

    /// A packet comes to wait behind `others`.
    pub fn comes(&mut self, now: Instant, others: u64) {
        if others == 0 {
            self.since = None;
        }
        self.since.get_or_insert(now);
        self.aggregation.comes(now, others);
    }

    /// Dequeues the packets of a frame that begins at `now`.
    fn fill(&mut self, now: Instant, limit: Frame, queue: &mut Scheduled) {
        let mut bytes = 0;
        while self.placed() < limit.packets.max(1) {
            let Some(next) = self.spilt.take().or_else(|| queue.next(now)) else { break };
            bytes += u64::from(next.packet.size);
            if bytes > limit.bytes && !self.frame.is_empty() {
                self.spilt = Some(next);
                break;
            }
            self.frame.push_back(next);
            if queue.holds_until() > now {
                // A discipline that shapes dequeues no other before that.
                break;
            }
        }
    }
}

impl Link {
    /// The packets that wait and are in no frame.
    pub(super) fn unframed(&self) -> u64 {
        let serving = match &self.queue {
            Queue::Scheduled(queue) => u64::from(queue.serving().is_some()),
            Queue::Fifo(_) => 0,
        };
        let held = self.thinning.as_ref().map_or(0, |thinning| thinning.held());
        let placed = self.frames.as_ref().map_or(0, |frames| frames.placed());
        self.held().packets.saturating_sub(serving + placed + held)
    }

    /// Starts sending the next packet of a frame, or waits for the moment at which one begins; returns when the link is
    /// to be woken, if that is news.
    #[cold]
    pub(super) fn serve_frame(&mut self, now: Instant, mut was_idle: bool) -> Option<Instant> {
        if let Queue::Scheduled(queue) = &mut self.queue {
            queue.rest();
        }
        let mut in_one = None;
        if self.frames.as_ref().is_some_and(|frames| frames.frame.is_empty()) {
            let waiting = self.unframed();
            if self.halted.is_some() || waiting == 0 {
                return None;
            }
            let frames = self.frames.as_mut()?;
            let since = *frames.since.get_or_insert(now);
            let opens = frames.aggregation.opens(now, waiting, since);
            if opens > now {
                return (std::mem::replace(&mut frames.wakes, opens) != opens).then_some(opens);
            }
            frames.wakes = Instant::NEVER;
            in_one = self.begin_frame(now, waiting, was_idle);
            was_idle = true;
        }
        let frames = self.frames.as_mut()?;
        let (next, begun) = (frames.frame.pop_front()?, frames.begun);
        let is_in_one = frames.aggregation.is_in_one();
        let Queue::Scheduled(queue) = &mut self.queue else { return None };
        let time = match in_one {
            Some(time) => time,
            // All of the frame has left with the one before.
            None if is_in_one => Duration::ZERO,
            None => self.wire.time(next.came, now, next.packet.size, was_idle),
        };
        let held = if is_in_one && in_one.is_none() { now } else { queue.holds_until() };
        let time = time.max(held.since(now));
        queue.serve(next.packet, if is_in_one { begun } else { now }, now + time);
        if !is_in_one {
            self.count_transmission(now.since(next.came), time);
        }
        Some(now + time)
    }

    /// Begins a frame; returns the time that it takes, if all of it leaves at its end.
    fn begin_frame(&mut self, now: Instant, waiting: u64, was_idle: bool) -> Option<Duration> {
        let rate = self.wire.rate;
        let frames = self.frames.as_mut()?;
        let Queue::Scheduled(queue) = &mut self.queue else { return None };
        let limit = frames.aggregation.begin(now, waiting, rate);
        frames.fill(now, limit, queue);
        frames.begun = now;
        self.count_effects();
        let behind = self.unframed();
        let frames = self.frames.as_mut()?;
        frames.since = (behind > 0).then_some(now);
        frames.aggregation.leaves(now, behind);
        if !frames.aggregation.is_in_one() {
            return None;
        }
        let mut whole = Duration::ZERO;
        for Waiting { packet, came } in frames.frame.clone() {
            let first = whole == Duration::ZERO;
            let time = self.wire.time(came, now + whole, packet.size, was_idle && first);
            whole += time;
            self.count_transmission(now.since(came), time);
        }
        Some(whole)
    }
}
