//! A link: a queue, a rate, a delay, a loss model, impairments.

use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant, Rate};

use crate::channel::Channel;
use crate::counters::{Counters, SourceCounters};
use crate::delay::DelayHistogram;
use crate::impairments::{Arrival, Fate, Impairments};
use crate::loss::{Loss, Losses};
use crate::queue::{
    Admission, Discipline, Effect, Fifo, Placed, QueueLimit, Reason, Room, Scheduled, Serving,
};
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
    /// Whether it asks for ECN (RFC 3168 §5); looked at where [`Link::marks`].
    pub ecn: bool,
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
    /// What waits when a packet is to be marked with congestion instead of dropped; `None` never
    /// marks. Whether a packet may be marked only its header tells: see [`Link::is_marking`].
    pub mark: Option<QueueLimit>,
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
    /// It will be sent, and something else befalls it on the way: [`Link::arrivals`].
    Impaired {
        /// The start of transmission.
        starts: Instant,
        /// When it would arrive if nothing befell it.
        at: Instant,
        /// What befalls it.
        fate: Fate,
    },
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
    /// When it arrives at the link's end if nothing befalls it; `None` if it is lost on the way.
    pub arrives: Option<Instant>,
    /// What befalls it: [`Link::arrivals`].
    pub fate: Fate,
    /// When [`Link::depart`] is to be called again, if something waits.
    pub wake: Option<Instant>,
}

#[derive(Clone, Debug)]
enum Queue {
    Fifo(Fifo),
    Scheduled(Box<Scheduled>),
}

/// What befalls packets behind the queue.
#[derive(Clone, Debug)]
struct Hazards {
    losses: Losses,
    random: Stream,
    impairments: Option<Impairments>,
}

impl Hazards {
    fn any(&self) -> bool {
        self.losses.any() || self.impairments.is_some()
    }

    /// What befalls the next packet, which carries a flow's `data` or not; nothing more can befall one
    /// that is lost.
    #[cold]
    fn draw(&mut self, data: bool) -> Fate {
        let lost = self.losses.strike(data, &mut self.random);
        match &mut self.impairments {
            _ if lost => Fate::LOST,
            Some(impairments) => impairments.draw(),
            None => Fate::INTACT,
        }
    }
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct Link {
    queue: Queue,
    serializer: Serializer,
    delay: Duration,
    limit: QueueLimit,
    counts_in_service: bool,
    mark: Option<QueueLimit>,
    /// Whether the discipline marks packets by itself.
    discipline_marks: bool,
    /// `None` where nothing can befall a packet, so that such links ask no more than that.
    hazards: Option<Box<Hazards>>,
    counters: Counters,
    delays: DelayHistogram,
    sources: Vec<SourceCounters>,
}

impl Link {
    /// An idle link whose losses are drawn from `random`.
    ///
    /// Where the discipline draws too, it is to be given a stream of its own:
    /// [`with_queue_draws`](Self::with_queue_draws).
    pub fn new(config: &LinkConfig, random: Stream) -> Self {
        Self::with_hazards(
            config,
            Hazards { losses: Losses::new(config.loss), random, impairments: None },
        )
    }

    /// The same with `impairments`.
    pub fn impaired(config: &LinkConfig, random: Stream, impairments: Impairments) -> Self {
        let impairments = Some(impairments);
        Self::with_hazards(
            config,
            Hazards { losses: Losses::new(config.loss), random, impairments },
        )
    }

    /// The same over `channel`, whose mean rate is the link's.
    #[must_use]
    pub fn over(mut self, channel: Channel) -> Self {
        self.serializer = self.serializer.over(channel);
        self
    }

    /// The same, whose discipline draws from `random`.
    #[must_use]
    pub fn with_queue_draws(mut self, discipline: &Discipline, random: Stream) -> Self {
        let rate = self.serializer.rate();
        self.queue = match Scheduled::new(discipline, rate, random) {
            Some(scheduled) => Queue::Scheduled(Box::new(scheduled)),
            None => Queue::Fifo(Fifo::default()),
        };
        self
    }

    fn with_hazards(config: &LinkConfig, hazards: Hazards) -> Self {
        let link = Self {
            queue: Queue::Fifo(Fifo::default()),
            serializer: Serializer::new(config.rate),
            delay: config.delay,
            limit: config.limit,
            counts_in_service: config.counts_in_service,
            mark: config.mark,
            discipline_marks: config.discipline.marks(),
            hazards: hazards.any().then(|| Box::new(hazards)),
            counters: Counters::default(),
            delays: DelayHistogram::default(),
            sources: Vec::new(),
        };
        link.with_queue_draws(&config.discipline, Stream::new(0, "queue"))
    }

    /// Adds a cross-traffic source and returns its number at this link.
    ///
    /// # Panics
    /// With more than 65,536 sources at one link.
    pub fn add_source(&mut self) -> u16 {
        self.sources.push(SourceCounters::default());
        u16::try_from(self.sources.len() - 1).expect("a link has fewer than 65,536 sources")
    }

    /// Whether packets that it sends may arrive in another order.
    pub fn reorders(&self) -> bool {
        self.hazards.as_ref().is_some_and(|hazards| hazards.impairments.is_some())
    }

    /// Whether packets are ever marked here.
    pub const fn marks(&self) -> bool {
        self.mark.is_some() || self.discipline_marks
    }

    /// Whether a packet that comes now finds so much waiting that it is to be marked with congestion
    /// (RFC 3168 §5), if it may be and is not [dropped](Self::offer). To be asked before it is
    /// offered; [`count_marked`](Self::count_marked) afterwards. The two stand beside `offer` so that
    /// links without marks, most of them, pay nothing.
    pub fn is_marking(&mut self, now: Instant) -> bool {
        self.advance(now);
        let (queued, in_service) = (self.counters.queued, self.in_service());
        self.mark.is_some_and(|mark| mark.is_reached(queued, in_service, self.counts_in_service))
    }

    /// A packet of `size` bytes that was taken was marked.
    pub const fn count_marked(&mut self, size: u32) {
        self.counters.marked.count(size);
    }

    /// Bytes of the packet being sent.
    #[inline]
    fn in_service(&self) -> u32 {
        match &self.queue {
            Queue::Fifo(fifo) => fifo.in_service(),
            Queue::Scheduled(queue) => queue.serving.map_or(0, |serving| serving.packet.size),
        }
    }

    /// A packet comes to the queue.
    #[inline]
    pub fn offer(&mut self, now: Instant, packet: Packet) -> Verdict {
        self.advance(now);
        self.counters.offered.count(packet.size);
        if let Some(source) = packet.source {
            self.sources[usize::from(source)].offered.count(packet.size);
        }
        if let Queue::Scheduled(_) = self.queue {
            return self.schedule(now, packet);
        }
        if !self.admits(packet.size) {
            count_dropped(&mut self.counters, &mut self.sources, packet, Reason::Full);
            return Verdict::Dropped;
        }
        self.counters.queued.count(packet.size);
        self.place(now, packet)
    }

    #[inline]
    fn admits(&self, size: u32) -> bool {
        self.limit.admits(self.counters.queued, self.in_service(), self.counts_in_service, size)
    }

    /// A packet comes to a scheduled queue.
    #[inline(never)]
    fn schedule(&mut self, now: Instant, packet: Packet) -> Verdict {
        let room = Room { fits: self.admits(packet.size), limit: self.limit };
        let Queue::Scheduled(queue) = &mut self.queue else {
            unreachable!("a FIFO places what comes")
        };
        if let Admission::Refused(reason) = queue.offer(now, packet, &room) {
            count_dropped(&mut self.counters, &mut self.sources, packet, reason);
            return Verdict::Dropped;
        }
        let idle = queue.serving.is_none();
        self.counters.queued.count(packet.size);
        self.settle();
        Verdict::Waits { wake: if idle { self.serve_next(now, false) } else { None } }
    }

    /// Counts what the discipline has done.
    #[inline]
    fn settle(&mut self) {
        let Queue::Scheduled(queue) = &mut self.queue else { return };
        count_effects(queue.log.uncounted(), &mut self.counters, &mut self.sources);
    }

    /// What the discipline has done to a packet besides refusing it as it came: to be asked until
    /// there is no more, whenever a packet [waits](Verdict::Waits), has [left](Self::depart), or the
    /// [limit](Self::set_limit) has changed. The counters know it already.
    #[inline]
    pub fn take_effect(&mut self) -> Option<Effect> {
        match &mut self.queue {
            Queue::Fifo(_) => None,
            Queue::Scheduled(queue) => queue.log.take(),
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
        let time = self.serializer.send(now, starts, Bytes::new(u64::from(packet.size)));
        let departs = starts + time;
        let fate = self.hazards.as_mut().map_or(Fate::INTACT, |hazards| hazards.draw(packet.data));
        fifo.place(Placed { departs, size: packet.size, source: packet.source, fate });
        let waited = starts.since(now);
        self.counters.busy += time;
        self.counters.queue_delay += waited;
        self.delays.record(waited);
        let at = departs + self.delay;
        match fate {
            Fate::INTACT => Verdict::Arrives { starts, at },
            Fate::LOST => Verdict::Lost,
            _ => Verdict::Impaired { starts, at, fate },
        }
    }

    /// Counts as delivered what has left by `now`. Ties: a packet that leaves at `now` makes room
    /// for one that arrives at `now`.
    #[inline]
    pub fn advance(&mut self, now: Instant) {
        if let Queue::Fifo(fifo) = &mut self.queue {
            while let Some(placed) = fifo.pop_departed(now) {
                let Placed { size, source, fate, .. } = placed;
                count_delivered(&mut self.counters, &mut self.sources, size, source, fate);
            }
        }
    }

    /// Starts sending the next packet of a scheduled queue; returns when it will have left.
    fn serve_next(&mut self, now: Instant, back_to_back: bool) -> Option<Instant> {
        let Queue::Scheduled(queue) = &mut self.queue else { return None };
        let next = queue.next(now);
        let departs = next.map(|next| {
            if !back_to_back {
                self.serializer.rest();
            }
            let size = Bytes::new(u64::from(next.packet.size));
            let time = self.serializer.send(next.came, now, size);
            let waited = now.since(next.came);
            self.counters.busy += time;
            self.counters.queue_delay += waited;
            self.delays.record(waited);
            now + time
        });
        queue.serving = next.zip(departs).map(|(next, departs)| Serving {
            packet: next.packet,
            started: now,
            departs,
        });
        self.settle();
        departs
    }

    /// The packet being sent by a scheduled queue leaves; `None` if there is none.
    pub fn depart(&mut self, now: Instant) -> Option<Departure> {
        let Queue::Scheduled(queue) = &self.queue else { return None };
        let Serving { packet, started, departs } = queue.serving?;
        debug_assert_eq!(departs, now, "a departure event comes at the departure");
        let fate = self.hazards.as_mut().map_or(Fate::INTACT, |hazards| hazards.draw(packet.data));
        count_delivered(&mut self.counters, &mut self.sources, packet.size, packet.source, fate);
        let wake = self.serve_next(now, true);
        let arrives = (!fate.is_lost()).then_some(now + self.delay);
        Some(Departure { packet, started, arrives, fate, wake })
    }

    /// A scheduled queue has another limit from now on; what is too much is dropped from its tail.
    pub fn set_limit(&mut self, limit: QueueLimit) {
        self.limit = limit;
        let Queue::Scheduled(queue) = &mut self.queue else { return };
        loop {
            let held = self.counters.queued;
            let serving = queue.serving.map_or(0, |serving| serving.packet.size);
            if !limit.is_exceeded(held, serving, self.counts_in_service) || !queue.drop_last() {
                break;
            }
            count_effects(queue.log.uncounted(), &mut self.counters, &mut self.sources);
        }
    }

    /// A scheduled queue's link has another rate from the next packet on.
    pub fn set_rate(&mut self, rate: Rate) {
        self.serializer.set_rate(rate);
        if let Queue::Scheduled(queue) = &mut self.queue {
            queue.set_rate(rate);
        }
    }

    /// The arrivals of a packet of `fate` that would have come at `at`: its own, and its copy's if
    /// there is one.
    pub fn arrivals(&self, at: Instant, fate: Fate) -> (Arrival, Option<Arrival>) {
        match self.hazards.as_ref().and_then(|hazards| hazards.impairments.as_ref()) {
            Some(impairments) => impairments.arrivals(at, fate),
            None => (Arrival { at, corrupted: false }, None),
        }
    }

    /// What was counted by `now`.
    pub fn counters(&mut self, now: Instant) -> Counters {
        self.advance(now);
        let unsent = match &self.queue {
            Queue::Fifo(fifo) => fifo.busy_until().since(now),
            Queue::Scheduled(queue) => {
                queue.serving.map_or(Duration::ZERO, |serving| serving.departs.since(now))
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
    fate: Fate,
) {
    counters.queued.packets -= 1;
    counters.queued.bytes -= u64::from(size);
    counters.delivered.count(size);
    if fate != Fate::INTACT {
        counters.count_fate(fate, size);
    }
    if let Some(source) = source {
        counters.delivered_cross.count(size);
        sources[usize::from(source)].delivered.count(size);
    }
}

fn count_dropped(
    counters: &mut Counters,
    sources: &mut [SourceCounters],
    packet: Packet,
    reason: Reason,
) {
    counters.dropped.count(packet.size);
    if reason == Reason::Early {
        counters.dropped_early.count(packet.size);
    }
    if let Some(source) = packet.source {
        sources[usize::from(source)].dropped.count(packet.size);
    }
}

/// Counts what a discipline has done to packets that it had taken.
#[inline]
fn count_effects(effects: &[Effect], counters: &mut Counters, sources: &mut [SourceCounters]) {
    for effect in effects {
        match *effect {
            Effect::Marked(packet) => counters.marked.count(packet.size),
            Effect::Dropped(packet, reason) => {
                counters.queued.uncount(packet.size);
                count_dropped(counters, sources, packet, reason);
            }
        }
    }
}

#[cfg(test)]
mod tests;
