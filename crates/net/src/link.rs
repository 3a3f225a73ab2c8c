//! The plain link: a queue, a wire, a delay, losses and impairments.
//!
//! There is one way to accept a packet and one test to refuse it. A first-in-first-out queue places a packet on the
//! wire as it comes, so that its departure is known at once; any other discipline decides at each departure which
//! packet goes next, and its departures are events of whoever drives the link.

mod change;
mod frames;
mod thinned;

use std::collections::VecDeque;

use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant, Rate};

use crate::ack::Ack;
use crate::counters::{Counters, SourceCounters, Volume};
use crate::fate::Fate;
use crate::header::Header;
use crate::packet::Packet;
use crate::parts::Installed;
use crate::parts::channel::Channel;
use crate::parts::delay::DelayHistogram;
use crate::parts::hazards::Hazards;
use crate::parts::impairments::Arrival;
use crate::parts::loss::Loss;
use crate::parts::thinning::Thinning;
use crate::queue::{
    Admission, Discipline, Effect, OwnQueue, QueueLimit, Reason, Room, Scheduled, Serving, Waiting,
};

use frames::Frames;

pub use change::LinkChange;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// A link's settings in one direction.
#[derive(Clone, Copy, Debug)]
pub struct LinkConfig {
    /// The rate.
    pub rate: Rate,
    /// The propagation delay.
    pub delay: Duration,
    /// The queueing discipline: which packet is dequeued next.
    pub discipline: Discipline,
    /// The most that waits.
    pub limit: QueueLimit,
    /// True if the packet being sent counts against the limit.
    pub counts_in_service: bool,
    /// The backlog at which a packet is to be marked with congestion instead of dropped; `None` never
    /// marks. Only its header tells whether a packet may be marked: see [`Link::is_marking`].
    pub mark: Option<QueueLimit>,
    /// Which packets are lost after they were sent.
    pub loss: Loss,
}

/// A link's settings, and what it draws and sends with.
#[derive(Clone, Debug)]
pub struct LinkParts {
    /// The settings.
    pub config: LinkConfig,
    /// Draws of losses.
    pub losses: Stream,
    /// Draws of the queueing discipline.
    pub queue: Stream,
    /// The parts beyond those.
    pub installed: Installed,
}

impl LinkParts {
    /// A link of a constant rate without impairments, whose losses are drawn from `losses`.
    pub fn new(config: LinkConfig, losses: Stream) -> Self {
        Self { config, losses, queue: Stream::new(0, "queue"), installed: Installed::default() }
    }
}

/// The outcome of offering a packet to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet has its place on the wire.
    Placed {
        /// The start of its transmission.
        starts: Instant,
        /// The end of its transmission; it arrives a propagation delay later.
        departs: Instant,
        /// Loss and impairments on the way: [`Link::arrivals`].
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
    /// Loss and impairments on the way: [`Link::arrivals`].
    pub fate: Fate,
    /// When [`Link::depart`] is to be called again, if something waits.
    pub wake: Option<Instant>,
}

/// A packet on the wire of a first-in-first-out link, or waiting for it.
#[derive(Clone, Copy, Debug)]
struct Placed {
    packet: Packet,
    departs: Instant,
    fate: Fate,
}

#[derive(Clone, Debug)]
enum Queue {
    Fifo(VecDeque<Placed>),
    Scheduled(Box<Scheduled>),
}

/// The wire: a rate or a channel. Packets sent back to back keep the fraction of a nanosecond that the one before
/// left, so that a busy wire neither gains nor loses rate.
#[derive(Clone, Debug)]
struct Wire {
    rate: Rate,
    channel: Option<Box<Channel>>,
    /// The rest of a nanosecond that earlier packets left, in units of 1/rate nanoseconds.
    carry: u64,
    /// When the last packet that was placed will have left.
    free_at: Instant,
}

impl Wire {
    /// The transmission time of a packet of `size` bytes that came at `came` and is sent at `starts`, with the wire
    /// idle before that or not.
    fn time(&mut self, came: Instant, starts: Instant, size: u32, was_idle: bool) -> Duration {
        if let Some(channel) = &mut self.channel {
            return channel.time(came, starts, u64::from(size));
        }
        let owed = if was_idle { 0 } else { self.carry };
        // 2^64 are 2.3 * 10^9 bytes, more than a packet has.
        let scaled = u64::from(size) * 8 * NANOS_PER_SECOND + owed;
        self.carry = scaled % self.rate.as_bps();
        Duration::from_nanos(scaled / self.rate.as_bps())
    }
}

/// The most that a policer, and the rate behind it, let pass.
#[derive(Clone, Copy, Debug)]
struct Passable {
    policed: Rate,
    /// By `since`, in bits times 10^9; and the rate from then on, in bits per second.
    so_far: u128,
    since: Instant,
    bps: u64,
}

impl Passable {
    fn by(&self, now: Instant) -> u128 {
        self.so_far + u128::from(now.since(self.since).as_nanos()) * u128::from(self.bps)
    }

    /// The wire has another rate from now on, or none.
    fn set_rate(&mut self, now: Instant, rate: Option<Rate>) {
        let bps = rate.map_or(0, |rate| rate.min(self.policed).as_bps());
        *self = Self { so_far: self.by(now), since: now, bps, ..*self };
    }
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct Link {
    delay: Duration,
    limit: QueueLimit,
    counts_in_service: bool,
    mark: Option<QueueLimit>,
    /// True if the discipline marks packets by itself.
    discipline_marks: bool,
    filters_acks: bool,
    wire: Wire,
    queue: Queue,
    frames: Option<Box<Frames>>,
    thinning: Option<Box<Thinning>>,
    /// The fields of the packet that comes, where ACKs are thinned.
    noted: Option<Ack>,
    hazards: Hazards,
    /// Packets that the queue took, and those of them that have left.
    taken: Volume,
    left: Volume,
    /// All other counts.
    counted: Counters,
    delays: DelayHistogram,
    sources: Vec<SourceCounters>,
    /// The rest of the packet whose transmission a rate of zero interrupted, in bits times 10^9.
    halted: Option<u128>,
    passable: Option<Box<Passable>>,
}

impl Link {
    /// An idle link.
    pub fn new(parts: LinkParts) -> Self {
        let LinkParts { config, losses, queue, installed } = parts;
        let Installed { impairments, channel, aggregation, thinning } = installed;
        debug_assert!(
            (aggregation.is_none() && thinning.is_none()) || !config.discipline.knows_departures(),
            "packets that wait for others have no departure that is known as they come"
        );
        let queue = Scheduled::new(&config.discipline, config.rate, queue);
        let passable = config.discipline.passes().map(|policed| {
            // A channel has a capacity of its own.
            let bps = if channel.is_some() { policed } else { policed.min(config.rate) }.as_bps();
            Box::new(Passable { policed, so_far: 0, since: Instant::START, bps })
        });
        Self {
            delay: config.delay,
            limit: config.limit,
            counts_in_service: config.counts_in_service,
            mark: config.mark,
            discipline_marks: config.discipline.marks(),
            filters_acks: config.discipline.filters_acks(),
            wire: Wire {
                rate: config.rate,
                channel: channel.map(Box::new),
                carry: 0,
                free_at: Instant::START,
            },
            queue: queue
                .map_or_else(|| Queue::Fifo(VecDeque::new()), |q| Queue::Scheduled(Box::new(q))),
            frames: aggregation.map(|aggregation| Box::new(Frames::new(aggregation))),
            thinning: thinning.map(Box::new),
            noted: None,
            hazards: Hazards::new(config.loss, losses, impairments),
            taken: Volume::default(),
            left: Volume::default(),
            counted: Counters::default(),
            delays: DelayHistogram::default(),
            sources: Vec::new(),
            halted: None,
            passable,
        }
    }

    /// An idle link behind a visitor's queue, whose room is that of the settings.
    pub fn behind(queue: Box<dyn OwnQueue>, parts: LinkParts) -> Self {
        let queue = Queue::Scheduled(Box::new(Scheduled::visiting(queue)));
        Self {
            queue,
            discipline_marks: true,
            filters_acks: false,
            passable: None,
            ..Self::new(parts)
        }
    }

    /// True if departures are known as packets come: [`offer`](Self::offer) never says that a packet waits.
    pub const fn knows_departures(&self) -> bool {
        matches!(self.queue, Queue::Fifo(_))
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
    pub fn offer(&mut self, now: Instant, packet: Packet) -> Verdict {
        self.advance(now);
        if let Some(source) = packet.source() {
            self.sources[usize::from(source)].offered.count(packet.size);
        }
        let fits =
            self.limit.admits(self.held(), self.in_service(), self.counts_in_service, packet.size);
        if self.thinning.is_some() {
            return self.offer_thinned(now, packet, fits);
        }
        let admission = match &mut self.queue {
            Queue::Fifo(_) if fits => Admission::Taken,
            Queue::Fifo(_) => Admission::Refused(Reason::Full),
            Queue::Scheduled(queue) => queue.offer(now, packet, &Room { fits, limit: self.limit }),
        };
        if let Admission::Refused(reason) = admission {
            self.count_dropped(packet, reason);
            return Verdict::Dropped;
        }
        if self.frames.is_some() {
            self.comes_to_frames(now);
        }
        self.taken.count(packet.size);
        if let Queue::Scheduled(queue) = &self.queue {
            let idle = queue.serving().is_none();
            self.count_effects();
            return Verdict::Waits { wake: if idle { self.serve_next(now, true) } else { None } };
        }
        self.place(now, packet)
    }

    /// A packet that was taken, and not counted yet, waits for a frame.
    #[cold]
    fn comes_to_frames(&mut self, now: Instant) {
        let others = self.unframed();
        if let Some(frames) = &mut self.frames {
            frames.comes(now, others);
        }
    }

    /// True if the link is to be [woken](Self::wake) at moments at which no packet leaves.
    #[inline]
    pub const fn has_alarms(&self) -> bool {
        self.frames.is_some() || self.thinning.is_some()
    }

    /// The link is woken at `now`: a frame may begin, and ACKs that were held go on. Returns when it is to be woken next,
    /// if that is news.
    pub fn wake(&mut self, now: Instant) -> Option<Instant> {
        self.release_thinned(now);
        match &self.queue {
            Queue::Scheduled(queue) if queue.serving().is_none() => self.serve_next(now, true),
            _ => None,
        }
    }

    /// Places a packet on the wire behind all others.
    fn place(&mut self, now: Instant, packet: Packet) -> Verdict {
        let starts = self.wire.free_at.max(now);
        let time = self.wire.time(now, starts, packet.size, self.wire.free_at < now);
        self.count_transmission(starts.since(now), time);
        let departs = starts + time;
        self.wire.free_at = departs;
        let fate = self.hazards.draw(packet.has_data());
        if let Queue::Fifo(placed) = &mut self.queue {
            placed.push_back(Placed { packet, departs, fate });
        }
        Verdict::Placed { starts, departs, fate }
    }

    /// Starts sending the next packet of a queue whose departures are events; returns when it will have left.
    fn serve_next(&mut self, now: Instant, was_idle: bool) -> Option<Instant> {
        if self.frames.is_some() {
            return self.serve_frame(now, was_idle);
        }
        let Queue::Scheduled(queue) = &mut self.queue else { return None };
        let next = if self.halted.is_some() { None } else { queue.next(now) };
        let Some(Waiting { packet, came }) = next else {
            queue.rest();
            self.count_effects();
            return None;
        };
        let time = self.wire.time(came, now, packet.size, was_idle);
        let time = time.max(queue.holds_until().since(now));
        queue.serve(packet, now, now + time);
        self.count_transmission(now.since(came), time);
        self.count_effects();
        Some(now + time)
    }

    /// The packet being sent by a queue whose departures are events leaves; `None` if there is none that does, as after
    /// a [change of the rate](Self::change), which moves departures.
    pub fn depart(&mut self, now: Instant) -> Option<Departure> {
        let Queue::Scheduled(queue) = &self.queue else { return None };
        let Serving { packet, started, departs } = *queue.serving()?;
        debug_assert!(departs >= now, "a departure event comes no later than the departure");
        if departs != now {
            return None;
        }
        let fate = self.hazards.draw(packet.has_data());
        self.left.count(packet.size);
        self.count_delivered(packet, fate);
        let wake = self.serve_next(now, false);
        Some(Departure { packet, started, fate, wake })
    }

    /// Counts as delivered what has left a first-in-first-out link by `now`. A packet that leaves at `now` makes room
    /// for one that comes at `now`.
    fn advance(&mut self, now: Instant) {
        while let Queue::Fifo(placed) = &mut self.queue
            && let Some(first) = placed.front().copied()
            && first.departs <= now
        {
            placed.pop_front();
            self.left.count(first.packet.size);
            self.count_delivered(first.packet, first.fate);
        }
    }

    /// An effect of the discipline on a packet that it had taken: to be asked until there is no more, whenever a packet
    /// [waits](Verdict::Waits), has [left](Self::depart), or the link has [changed](Self::change). The counters
    /// know it already.
    #[inline]
    pub fn take_effect(&mut self) -> Option<Effect> {
        match &mut self.queue {
            Queue::Fifo(_) => None,
            Queue::Scheduled(queue) => queue.log.take(),
        }
    }

    /// True if there is an effect to [take](Self::take_effect).
    #[inline]
    pub fn has_effects(&self) -> bool {
        matches!(&self.queue, Queue::Scheduled(queue) if !queue.log.is_empty())
    }

    /// The packet that a queue whose departures are events is sending.
    #[inline]
    pub fn serving(&self) -> Option<&Serving> {
        match &self.queue {
            Queue::Fifo(_) => None,
            Queue::Scheduled(queue) => queue.serving(),
        }
    }

    /// True if the queue wants to know what packets acknowledge: [`note_ack`](Self::note_ack).
    #[inline]
    pub const fn filters_acks(&self) -> bool {
        self.filters_acks || self.thinning.is_some()
    }

    /// Tells the queue what the packet that is [offered](Self::offer) next acknowledges.
    pub fn note_ack(&mut self, ack: Option<Ack>) {
        self.noted = ack;
        if let Queue::Scheduled(queue) = &mut self.queue {
            queue.note_ack(ack);
        }
    }

    /// Tells the queue of the header that the packets of `class` have here, before any of them comes.
    pub fn describe(&mut self, class: u32, header: Header) {
        if let Queue::Scheduled(queue) = &mut self.queue {
            queue.describe(class, header);
        }
    }

    /// True if packets may overtake one another on it.
    pub const fn reorders(&self) -> bool {
        self.hazards.reorder()
    }

    /// True if packets are ever marked here.
    pub const fn marks(&self) -> bool {
        self.mark.is_some() || self.discipline_marks
    }

    /// True if a packet that comes now finds so much waiting that it is to be marked with congestion (RFC 3168 §5), if
    /// it may be and is not dropped. To be asked before it is [offered](Self::offer);
    /// [`count_marked`](Self::count_marked) afterwards.
    pub fn is_marking(&mut self, now: Instant) -> bool {
        self.advance(now);
        let (held, in_service) = (self.held(), self.in_service());
        self.mark.is_some_and(|mark| mark.is_reached(held, in_service, self.counts_in_service))
    }

    /// A packet of `size` bytes that was taken was marked.
    pub const fn count_marked(&mut self, size: u32) {
        self.counted.marked.count(size);
    }

    /// The packets held, the one being sent included.
    const fn held(&self) -> Volume {
        self.taken.since(self.left)
    }

    /// Bytes of the packet being sent.
    fn in_service(&self) -> u32 {
        match &self.queue {
            Queue::Fifo(placed) => placed.front().map_or(0, |first| first.packet.size),
            Queue::Scheduled(queue) => queue.serving().map_or(0, |serving| serving.packet.size),
        }
    }

    /// Bytes that wait, the packet being sent not among them.
    pub fn waiting(&mut self, now: Instant) -> Bytes {
        self.advance(now);
        Bytes::new(self.held().bytes.saturating_sub(u64::from(self.in_service())))
    }

    /// The arrivals of a packet of `fate` that left at `departs`: its own, and its copy's if there is one.
    pub fn arrivals(&mut self, departs: Instant, fate: Fate) -> (Arrival, Option<Arrival>) {
        self.hazards.arrivals(departs + self.delay, fate)
    }

    /// The rate.
    pub const fn rate(&self) -> Rate {
        self.wire.rate
    }

    /// The counts by `now`.
    pub fn counters(&mut self, now: Instant) -> Counters {
        self.advance(now);
        // The time of an interrupted packet that is not sent is not counted as busy.
        let busy_until = match &self.queue {
            Queue::Fifo(_) => self.wire.free_at,
            Queue::Scheduled(_) if self.halted.is_some() => now,
            Queue::Scheduled(queue) => queue.serving().map_or(now, |serving| serving.departs),
        };
        let counted = self.counted;
        Counters {
            offered: Volume {
                packets: self.taken.packets + counted.dropped.packets,
                bytes: self.taken.bytes + counted.dropped.bytes,
            },
            delivered: self.left,
            queued: self.held(),
            busy: counted.busy.saturating_sub(busy_until.since(now)),
            capacity: self.wire.channel.as_ref().and_then(|channel| channel.capacity(now)),
            passable: self.passable.as_ref().map(|passable| passable.by(now)),
            ..counted
        }
    }

    /// The delays in the queue by `now`.
    pub const fn delays(&self) -> &DelayHistogram {
        &self.delays
    }

    /// The counts of each cross-traffic source, as of the last call of [`counters`](Self::counters).
    pub fn sources(&self) -> &[SourceCounters] {
        &self.sources
    }

    fn count_transmission(&mut self, waited: Duration, time: Duration) {
        self.counted.busy += time;
        self.counted.queue_delay_ns += u128::from(waited.as_nanos());
        self.delays.record(waited);
    }

    /// Counts what the discipline has done.
    fn count_effects(&mut self) {
        let Queue::Scheduled(queue) = &mut self.queue else { return };
        if queue.log.is_empty() {
            return;
        }
        for effect in queue.log.uncounted().to_vec() {
            match effect {
                Effect::Marked(packet) => self.counted.marked.count(packet.size),
                Effect::Dropped(packet, reason) => {
                    self.taken.uncount(packet.size);
                    self.count_dropped(packet, reason);
                }
            }
        }
    }

    fn count_dropped(&mut self, packet: Packet, reason: Reason) {
        self.counted.dropped.count(packet.size);
        if reason == Reason::Early {
            self.counted.dropped_early.count(packet.size);
        }
        if let Some(source) = packet.source() {
            self.sources[usize::from(source)].dropped.count(packet.size);
        }
    }

    fn count_delivered(&mut self, packet: Packet, fate: Fate) {
        if fate != Fate::INTACT {
            self.counted.count_fate(fate, packet.size);
        }
        if let Some(source) = packet.source() {
            self.counted.delivered_cross.count(packet.size);
            self.sources[usize::from(source)].delivered.count(packet.size);
        }
    }
}

#[cfg(test)]
mod tests;
