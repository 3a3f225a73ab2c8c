//! A link: a queue, a rate, a delay, a loss model.

use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant, Rate};

use crate::counters::{Counters, SourceCounters};
use crate::delay::DelayHistogram;
use crate::loss::{Loss, Losses};
use crate::queue::{Discipline, Fair, Fifo, Placed, QueueLimit};
use crate::serializer::Serializer;

/// A packet's place in the arena of whoever owns the packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketId(u32);

impl PacketId {
    /// The packet at `index`.
    pub const fn new(index: u32) -> Self {
        Self(index)
    }

    /// The index.
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// What a link knows of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Which.
    pub id: PacketId,
    /// Bytes on the wire.
    pub size: u32,
    /// The class by which a fair queue takes turns: one a flow, one a cross-traffic source.
    pub class: u32,
    /// The cross-traffic source, by its number at this link; `None` for a flow's packet.
    pub source: Option<u16>,
    /// Whether it carries a flow's data.
    pub data: bool,
}

/// A link's settings in one direction.
#[derive(Clone, Copy, Debug)]
pub struct LinkConfig {
    /// The rate.
    pub rate: Rate,
    /// The propagation delay.
    pub delay: Duration,
    /// Who goes next.
    pub discipline: Discipline,
    /// The most that waits.
    pub limit: QueueLimit,
    /// Whether the packet being sent counts against the limit.
    pub counts_in_service: bool,
    /// Which packets are lost after they were sent.
    pub loss: Loss,
}

/// What became of a packet that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It will arrive at the link's end; when its first bit leaves and when its last arrives.
    Arrives {
        /// The start of transmission.
        starts: Instant,
        /// The arrival.
        at: Instant,
    },
    /// It will be sent, and lost on the way.
    Lost,
    /// The queue refused it.
    Dropped,
    /// It waits for its turn; if the link was idle, [`Link::depart`] is to be called at `wake`.
    Waits {
        /// When the link is to be woken, if it was idle.
        wake: Option<Instant>,
    },
}

/// A packet that left a link whose departures are events.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// The packet.
    pub packet: Packet,
    /// When its transmission began.
    pub started: Instant,
    /// When it arrives at the link's end; `None` if it is lost on the way.
    pub arrives: Option<Instant>,
    /// When [`Link::depart`] is to be called again, if something waits.
    pub wake: Option<Instant>,
}

#[derive(Clone, Debug)]
enum Queue {
    Fifo(Fifo),
    Fair(Fair),
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct Link {
    queue: Queue,
    serializer: Serializer,
    delay: Duration,
    limit: QueueLimit,
    counts_in_service: bool,
    loss: Losses,
    random: Stream,
    counters: Counters,
    delays: DelayHistogram,
    sources: Vec<SourceCounters>,
}

impl Link {
    /// An idle link whose losses are drawn from `random`.
    pub fn new(config: &LinkConfig, random: Stream) -> Self {
        Self {
            queue: match config.discipline {
                Discipline::Fifo => Queue::Fifo(Fifo::default()),
                Discipline::Fair => Queue::Fair(Fair::default()),
            },
            serializer: Serializer::new(config.rate),
            delay: config.delay,
            limit: config.limit,
            counts_in_service: config.counts_in_service,
            loss: Losses::new(config.loss),
            random,
            counters: Counters::default(),
            delays: DelayHistogram::default(),
            sources: Vec::new(),
        }
    }

    /// Adds a cross-traffic source and returns its number at this link.
    ///
    /// # Panics
    /// With more than 65,536 sources at one link.
    pub fn add_source(&mut self) -> u16 {
        self.sources.push(SourceCounters::default());
        u16::try_from(self.sources.len() - 1).expect("a link has fewer than 65,536 sources")
    }

    /// A packet comes to the queue.
    #[inline]
    pub fn offer(&mut self, now: Instant, packet: Packet) -> Verdict {
        self.advance(now);
        self.counters.offered.count(packet.size);
        if let Some(source) = packet.source {
            self.sources[usize::from(source)].offered.count(packet.size);
        }
        let in_service = match &self.queue {
            Queue::Fifo(fifo) => fifo.in_service(),
            Queue::Fair(fair) => fair.serving().map_or(0, |(packet, _)| packet.size),
        };
        let admitted = self.limit.admits(
            self.counters.queued,
            in_service,
            self.counts_in_service,
            packet.size,
        );
        if !admitted {
            self.counters.dropped.count(packet.size);
            if let Some(source) = packet.source {
                self.sources[usize::from(source)].dropped.count(packet.size);
            }
            return Verdict::Dropped;
        }
        self.counters.queued.count(packet.size);
        match &mut self.queue {
            Queue::Fifo(_) => self.place(now, packet),
            Queue::Fair(fair) => {
                fair.push(packet, now);
                let wake =
                    if fair.serving().is_none() { self.serve_next(now, false) } else { None };
                Verdict::Waits { wake }
            }
        }
    }

    #[inline]
    fn place(&mut self, now: Instant, packet: Packet) -> Verdict {
        let Queue::Fifo(fifo) = &mut self.queue else { unreachable!("only a FIFO places") };
        let free = fifo.busy_until();
        let starts = if free > now {
            free
        } else {
            // Back to back (free = now) the fraction is kept.
            if free < now {
                self.serializer.rest();
            }
            now
        };
        let time = self.serializer.next(Bytes::new(u64::from(packet.size)));
        let departs = starts + time;
        let lost = self.loss.strike(packet.data, &mut self.random);
        fifo.place(Placed { departs, size: packet.size, source: packet.source, lost });
        let waited = starts.since(now);
        self.counters.busy += time;
        self.counters.queue_delay += waited;
        self.delays.record(waited);
        if lost { Verdict::Lost } else { Verdict::Arrives { starts, at: departs + self.delay } }
    }

    /// Counts as delivered what has left by `now`. Ties: a packet that leaves at `now` makes room
    /// for one that arrives at `now`.
    #[inline]
    pub fn advance(&mut self, now: Instant) {
        if let Queue::Fifo(fifo) = &mut self.queue {
            while let Some(placed) = fifo.pop_departed(now) {
                let Placed { size, source, lost, .. } = placed;
                count_delivered(&mut self.counters, &mut self.sources, size, source, lost);
            }
        }
    }

    /// Starts sending the next packet of a scheduled queue; returns when it will have left.
    fn serve_next(&mut self, now: Instant, back_to_back: bool) -> Option<Instant> {
        let Queue::Fair(fair) = &mut self.queue else { return None };
        let next = fair.pop();
        let Some((packet, came)) = next else {
            fair.set_serving(None);
            return None;
        };
        if !back_to_back {
            self.serializer.rest();
        }
        let time = self.serializer.next(Bytes::new(u64::from(packet.size)));
        let departs = now + time;
        fair.set_serving(Some((packet, departs)));
        let waited = now.since(came);
        self.counters.busy += time;
        self.counters.queue_delay += waited;
        self.delays.record(waited);
        Some(departs)
    }

    /// The packet being sent by a scheduled queue leaves; `None` if there is none.
    pub fn depart(&mut self, now: Instant) -> Option<Departure> {
        let Queue::Fair(fair) = &self.queue else { return None };
        let (packet, departs) = fair.serving()?;
        debug_assert_eq!(departs, now, "a departure event comes at the departure");
        let lost = self.loss.strike(packet.data, &mut self.random);
        count_delivered(&mut self.counters, &mut self.sources, packet.size, packet.source, lost);
        let mut rate = self.serializer.clone();
        rate.rest();
        let started = Instant::from_nanos(
            now.as_nanos() - rate.next(Bytes::new(u64::from(packet.size))).as_nanos(),
        );
        let wake = self.serve_next(now, true);
        Some(Departure { packet, started, arrives: (!lost).then_some(now + self.delay), wake })
    }

    /// What was counted by `now`.
    pub fn counters(&mut self, now: Instant) -> Counters {
        self.advance(now);
        let unsent = match &self.queue {
            Queue::Fifo(fifo) => fifo.busy_until().since(now),
            Queue::Fair(fair) => {
                fair.serving().map_or(Duration::ZERO, |(_, departs)| departs.since(now))
            }
        };
        Counters { busy: self.counters.busy.saturating_sub(unsent), ..self.counters }
    }

    /// What each cross-traffic source met, as of the last call of [`advance`](Self::advance).
    pub fn sources(&self) -> &[SourceCounters] {
        &self.sources
    }

    /// The delays in the queue so far.
    pub const fn delays(&self) -> &DelayHistogram {
        &self.delays
    }

    /// The rate.
    pub const fn rate(&self) -> Rate {
        self.serializer.rate()
    }

    /// The propagation delay.
    pub const fn delay(&self) -> Duration {
        self.delay
    }
}

#[inline]
fn count_delivered(
    counters: &mut Counters,
    sources: &mut [SourceCounters],
    size: u32,
    source: Option<u16>,
    lost: bool,
) {
    counters.queued.packets -= 1;
    counters.queued.bytes -= u64::from(size);
    counters.delivered.count(size);
    if lost {
        counters.lost.count(size);
    }
    if let Some(source) = source {
        counters.delivered_cross.count(size);
        sources[usize::from(source)].delivered.count(size);
    }
}

#[cfg(test)]
mod tests;
