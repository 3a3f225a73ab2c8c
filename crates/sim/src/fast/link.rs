//! A link: its own first-in-first-out queue, or a plain link if the discipline is another.

mod changing;
mod fast_path;
mod fifo;
mod reading;

use std::collections::VecDeque;

use ackclock_net::{
    Ack, Arrival, Counters, DelayHistogram, Effect, Fate, Hazards, Header, Installed, LinkParts,
    Packet, QueueLimit, Serializer, SourceCounters, Verdict as PlainVerdict, Volume,
};
use ackclock_units::{Bytes, Duration, Instant, Rate};

use fast_path::{DepartedTotals, FastFifo, Full};
use fifo::{Fifo, Placed};

/// The outcome of an offer.
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
        /// Loss and impairments on the way.
        fate: Fate,
    },
    /// The queue refused it.
    Dropped,
    /// It waits in the queue; if the link was idle, [`Link::depart`] is to be called at `wake`.
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
    /// Loss and impairments on the way: [`Link::arrivals`].
    pub fate: Fate,
    /// When [`Link::depart`] is to be called again, if something waits.
    pub wake: Option<Instant>,
}

#[derive(Clone, Debug)]
enum Queue {
    Fifo(Fifo),
    /// A link of which departures are events, as the discipline decides then which packet is next.
    Plain(Box<ackclock_net::Link>),
}

/// One direction of a link.
///
/// What every packet touches stands here; the rest is boxed, so that the links of a thousand flows
/// stay in the cache.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Link {
    fast: FastFifo,
    /// Packets without a record that had left before the last change of sizes, as far as they are not counted below.
    departed: DepartedTotals,
    /// With this many packets held the queue is full; zero if only the limit itself can tell.
    room: u64,
    serializer: Serializer,
    queue: Queue,
    /// Packets that the queue took, and those of them that have left.
    taken: Volume,
    left: Volume,
    busy: Duration,
    /// `None` where nothing can befall a packet, so that such links ask no more than that.
    hazards: Option<Box<Hazards>>,
    cold: Box<ColdState>,
    /// All that the queue took from this on is of one size.
    alike_from: u64,
}

/// State that only some packets touch.
#[derive(Clone, Debug)]
struct ColdState {
    queue_delay_ns: u128,
    /// Packets that waited at all.
    waited: u64,
    limit: QueueLimit,
    counts_in_service: bool,
    mark: Option<QueueLimit>,
    delays: DelayHistogram,
    /// Until then nobody asks: [`Link::nobody_asks_before`].
    unasked_until: Instant,
    /// For the size for which that was asked last.
    full: Option<Box<Full>>,
    /// `None` where every packet was a flow's, was taken, and arrives as it was.
    more: Option<Box<ColdCounters>>,
}

/// Counters that stay zero at most links.
#[derive(Clone, Debug, Default)]
struct ColdCounters {
    /// All that is not counted in [`Link`] itself.
    counters: Counters,
    sources: Vec<SourceCounters>,
    /// Packets refused after the clock's time: when, and their size.
    refused_ahead: VecDeque<(Instant, u32)>,
}

impl Link {
    /// An idle link.
    pub fn new(parts: LinkParts) -> Self {
        let config = parts.config;
        let plain = (!config.discipline.knows_departures())
            .then(|| Queue::Plain(Box::new(ackclock_net::Link::new(parts.clone()))));
        let LinkParts { losses, installed: Installed { impairments, channel, .. }, .. } = parts;
        let hazards = Hazards::new(config.loss, losses, impairments);
        let serializer = Serializer::new(config.rate);
        Self {
            queue: plain.unwrap_or_else(|| Queue::Fifo(Fifo::new(hazards.any()))),
            serializer: match channel {
                Some(channel) => serializer.over(channel),
                None => serializer,
            },
            fast: FastFifo::new(config.delay),
            departed: DepartedTotals::default(),
            room: config.limit.room(config.counts_in_service).unwrap_or(0),
            taken: Volume::default(),
            left: Volume::default(),
            busy: Duration::ZERO,
            hazards: hazards.any().then(|| Box::new(hazards)),
            cold: Box::new(ColdState {
                queue_delay_ns: 0,
                waited: 0,
                limit: config.limit,
                counts_in_service: config.counts_in_service,
                mark: config.mark,
                delays: DelayHistogram::default(),
                unasked_until: Instant::START,
                full: None,
                more: None,
            }),
            alike_from: 0,
        }
    }

    /// Adds a cross-traffic source and returns its number at this link.
    ///
    /// # Panics
    /// With more than 65,536 sources at one link.
    pub fn add_source(&mut self) -> u16 {
        if let Queue::Plain(link) = &mut self.queue {
            return link.add_source();
        }
        let sources = &mut self.cold.more().sources;
        sources.push(SourceCounters::default());
        u16::try_from(sources.len() - 1).expect("a link has fewer than 65,536 sources")
    }

    /// True if the queue wants to know what packets acknowledge: [`note_ack`](Self::note_ack).
    pub fn filters_acks(&self) -> bool {
        matches!(&self.queue, Queue::Plain(link) if link.filters_acks())
    }

    /// Tells the queue what the packet that is [offered](Self::offer) next acknowledges.
    pub fn note_ack(&mut self, ack: Option<Ack>) {
        if let Queue::Plain(link) = &mut self.queue {
            link.note_ack(ack);
        }
    }

    /// Returns true if the link is to be [woken](Self::wake) at moments at which no packet leaves.
    #[inline]
    pub fn has_alarms(&self) -> bool {
        matches!(&self.queue, Queue::Plain(link) if link.has_alarms())
    }

    /// Begins a frame that is due, and lets ACKs go on that were held. Returns the moment of the next call, if it has
    /// changed.
    pub fn wake(&mut self, now: Instant) -> Option<Instant> {
        match &mut self.queue {
            Queue::Plain(link) => link.wake(now),
            Queue::Fifo(_) => None,
        }
    }

    /// Tells the queue of the header that the packets of `class` have here; a FIFO has no use for it.
    pub fn describe(&mut self, class: u32, header: Header) {
        if let Queue::Plain(link) = &mut self.queue {
            link.describe(class, header);
        }
    }

    /// Nobody will ask what was [counted](Self::counters) by a moment before `asked`, or what the
    /// [delays](Self::delays) were: what was [offered ahead](Self::offer_ahead) and has left by then need not
    /// be remembered until the clock comes to it.
    pub fn nobody_asks_before(&mut self, asked: Instant) {
        self.cold.unasked_until = asked;
    }

    /// True if packets may overtake one another on it.
    pub fn reorders(&self) -> bool {
        self.hazards.as_ref().is_some_and(|hazards| hazards.reorder())
    }

    /// True if packets are ever marked here.
    pub fn marks(&self) -> bool {
        match &self.queue {
            Queue::Plain(link) => link.marks(),
            Queue::Fifo(_) => self.cold.mark.is_some(),
        }
    }

    /// True if a packet that comes now finds so much waiting that it is to be marked with congestion (RFC 3168 §5), if
    /// it may be and is not [dropped](Self::offer). To be asked before it is offered;
    /// [`count_marked`](Self::count_marked) afterwards. The two stand beside `offer` so that links without marks, most
    /// of them, pay nothing.
    pub fn is_marking(&mut self, now: Instant) -> bool {
        if let Queue::Plain(link) = &mut self.queue {
            return link.is_marking(now);
        }
        self.advance(now);
        let counts = self.cold.counts_in_service;
        self.cold.mark.is_some_and(|mark| mark.is_reached(self.held(), self.in_service(), counts))
    }

    /// Counts a packet of `size` bytes that was taken as marked.
    pub fn count_marked(&mut self, size: u32) {
        match &mut self.queue {
            Queue::Plain(link) => link.count_marked(size),
            Queue::Fifo(_) => self.cold.more().counters.marked.count(size),
        }
    }

    /// The packets held, the one being sent included.
    const fn held(&self) -> Volume {
        self.taken.since(self.left)
    }

    /// Bytes of the packet being sent.
    fn in_service(&self) -> u32 {
        match &self.queue {
            Queue::Fifo(_) if self.left.packets == self.taken.packets => 0,
            Queue::Fifo(fifo) => fifo.get(self.left.packets).size,
            Queue::Plain(_) => 0,
        }
    }

    /// Bytes that wait, the packet being sent not among them; of a link that nothing was
    /// [offered ahead](Self::offer_ahead).
    pub fn waiting(&mut self, now: Instant) -> Bytes {
        if let Queue::Plain(link) = &mut self.queue {
            return link.waiting(now);
        }
        self.advance(now);
        Bytes::new(self.held().bytes.saturating_sub(u64::from(self.in_service())))
    }

    /// Offers a packet to the queue; returns whether it is taken, and when it will be sent and arrive where that is
    /// known.
    pub fn offer(&mut self, now: Instant, packet: Packet) -> Verdict {
        self.offer_ahead(now, packet, now)
    }

    /// A packet comes to the queue at `comes`, which is known at `clock` already because the only
    /// link that leads here has sent it. Nothing may have been offered for later.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller moves nearly all packets")]
    pub fn offer_ahead(&mut self, comes: Instant, packet: Packet, clock: Instant) -> Verdict {
        if self.is_surely_full(comes, packet.size) {
            self.refuse(comes, packet, clock);
            return Verdict::Dropped;
        }
        self.advance(comes);
        if let Queue::Plain(link) = &mut self.queue {
            return match link.offer(comes, packet) {
                PlainVerdict::Waits { wake } => Verdict::Waits { wake },
                _ => Verdict::Dropped,
            };
        }
        let held = self.taken.packets - self.left.packets;
        if held >= self.room && !self.admits(packet.size) {
            self.refuse(comes, packet, clock);
            return Verdict::Dropped;
        }
        self.place(comes, packet, clock)
    }

    /// [`admit`](Self::admit), by the fast path if that is possible. Nobody may ask any more of what was before `comes`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "nearly all packets go here")]
    pub fn pass(
        &mut self,
        comes: Instant,
        size: u32,
        clock: Instant,
    ) -> Option<(Instant, Instant)> {
        match self.try_fast_path(comes, size) {
            None => self.admit(comes, size, clock),
            passed => passed,
        }
    }

    /// [`offer_ahead`](Self::offer_ahead) of a flow's packet of `size` bytes that is taken and that nothing can befall,
    /// as on most links: when it is sent and when it arrives. `None`, and nothing is done, if it is not as simple as
    /// that.
    #[inline(never)]
    pub fn admit(
        &mut self,
        comes: Instant,
        size: u32,
        clock: Instant,
    ) -> Option<(Instant, Instant)> {
        if self.is_surely_full(comes, size) {
            return None;
        }
        self.materialise();
        let Queue::Fifo(fifo) = &mut self.queue else { return None };
        if !fifo.is_plain() || self.room == 0 {
            return None;
        }
        if fifo.busy_until() > comes {
            self.pass_busy(comes, size, clock)
        } else {
            self.pass_idle(comes, size, clock)
        }
    }

    /// The same where it finds the wire free.
    #[inline]
    fn pass_idle(
        &mut self,
        comes: Instant,
        size: u32,
        clock: Instant,
    ) -> Option<(Instant, Instant)> {
        let Queue::Fifo(fifo) = &mut self.queue else { return None };
        let time = self.serializer.at_rate(size, fifo.busy_until() < comes)?;
        let departs = comes + time;
        self.left = self.taken;
        let known = || self.cold.known(clock);
        fifo.place_plain(self.taken.packets, comes, departs, size, known);
        self.taken.count(size);
        self.busy += time;
        self.enter_fast_path(comes, departs);
        Some((comes, departs + self.fast.delay))
    }

    /// The same where it finds the wire busy.
    #[inline]
    fn pass_busy(
        &mut self,
        comes: Instant,
        size: u32,
        clock: Instant,
    ) -> Option<(Instant, Instant)> {
        let Queue::Fifo(fifo) = &mut self.queue else { return None };
        let starts = fifo.busy_until();
        while self.left.packets < self.taken.packets {
            let placed = fifo.get(self.left.packets);
            if placed.departs > comes {
                break;
            }
            self.left.count(placed.size);
        }
        if self.taken.packets - self.left.packets >= self.room {
            return None;
        }
        if size != self.serializer.last_size() {
            self.alike_from = self.taken.packets;
        }
        let time = self.serializer.at_rate(size, false)?;
        let waited = starts.since(comes);
        self.cold.queue_delay_ns += u128::from(waited.as_nanos());
        self.cold.waited += 1;
        self.cold.delays.record_positive(waited.as_nanos(), 1);
        let departs = starts + time;
        let placed = Placed::new(comes, departs, size, None, Fate::INTACT);
        let known = || self.cold.known(clock);
        fifo.place(self.taken.packets, placed, self.left.packets, known);
        self.taken.count(size);
        self.busy += time;
        self.reenter_fast_path(comes, departs);
        Some((starts, departs + self.fast.delay))
    }

    /// Refuses a flow's packet of `size` bytes, which comes at the clock's time, if a FIFO queue is full. Otherwise
    /// nothing is done.
    pub fn refuse_at_once(&mut self, now: Instant, size: u32) -> bool {
        let full = self.is_surely_full(now, size) || self.is_full_fifo(now, size);
        if full {
            self.cold.more().counters.dropped.count(size);
        }
        full
    }

    fn is_full_fifo(&mut self, now: Instant, size: u32) -> bool {
        if matches!(self.queue, Queue::Plain(_)) {
            return false;
        }
        self.advance(now);
        self.taken.packets - self.left.packets >= self.room && !self.admits(size)
    }

    /// True if there is an effect to [take](Self::take_effect).
    #[inline]
    pub fn has_effects(&self) -> bool {
        matches!(&self.queue, Queue::Plain(link) if link.has_effects())
    }

    /// The next effect of the discipline on a packet besides refusing it as it came: to be asked until there is no
    /// more, whenever a packet [waits](Verdict::Waits), has [left](Self::depart), or the [limit](Self::set_limit) has
    /// changed. The counters know it already.
    #[inline]
    pub fn take_effect(&mut self) -> Option<Effect> {
        match &mut self.queue {
            Queue::Fifo(_) => None,
            Queue::Plain(link) => link.take_effect(),
        }
    }

    /// True if the queue is not full after all, which `room` does not say.
    #[cold]
    fn admits(&self, size: u32) -> bool {
        let ColdState { limit, counts_in_service, .. } = &*self.cold;
        limit.admits(self.held(), self.in_service(), *counts_in_service, size)
    }

    #[cold]
    fn refuse(&mut self, comes: Instant, packet: Packet, clock: Instant) {
        let known = self.cold.known(clock);
        self.cold.count_offered(packet);
        self.cold.count_dropped(packet);
        if comes > known {
            let refused = &mut self.cold.more().refused_ahead;
            while refused.front().is_some_and(|(at, _)| *at <= known) {
                refused.pop_front();
            }
            refused.push_back((comes, packet.size));
        }
    }

    #[inline]
    fn place(&mut self, comes: Instant, packet: Packet, clock: Instant) -> Verdict {
        let Queue::Fifo(fifo) = &mut self.queue else { unreachable!("only a FIFO places") };
        let free = fifo.busy_until();
        let starts = if free > comes {
            let waited = free.since(comes);
            self.cold.queue_delay_ns += u128::from(waited.as_nanos());
            self.cold.waited += 1;
            self.cold.delays.record_positive(waited.as_nanos(), 1);
            free
        } else {
            // Back to back (free = comes) the fraction is kept.
            if free < comes {
                self.serializer.rest();
            }
            comes
        };
        if packet.size != self.serializer.last_size() {
            self.alike_from = self.taken.packets;
        }
        let time = self.serializer.send(comes, starts, Bytes::new(u64::from(packet.size)));
        let departs = starts + time;
        let fate =
            self.hazards.as_mut().map_or(Fate::INTACT, |hazards| hazards.draw(packet.has_data()));
        let placed = Placed::new(comes, departs, packet.size, packet.source(), fate);
        if !placed.is_plain() {
            self.cold.count_offered(packet);
        }
        let known = || self.cold.known(clock);
        fifo.place(self.taken.packets, placed, self.left.packets, known);
        self.taken.count(packet.size);
        self.busy += time;
        let at = departs + self.fast.delay;
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
        self.materialise();
        if let Queue::Fifo(fifo) = &mut self.queue {
            if fifo.is_plain() && fifo.busy_until() <= now {
                self.left = self.taken;
                return;
            }
            while self.left.packets < self.taken.packets {
                let placed = fifo.get(self.left.packets);
                if placed.departs > now {
                    break;
                }
                self.left.count(placed.size);
                if !placed.is_plain() {
                    self.cold.count_delivered(placed.size, placed.source(), placed.fate());
                }
            }
        }
    }

    /// The packet that a scheduled queue is sending.
    #[inline]
    pub fn serving(&self) -> Option<Packet> {
        match &self.queue {
            Queue::Plain(link) => Some(link.serving()?.packet),
            Queue::Fifo(_) => None,
        }
    }

    /// True if departures are events here, as the discipline decides then which packet is next.
    pub const fn is_scheduled(&self) -> bool {
        matches!(self.queue, Queue::Plain(_))
    }

    /// When the packet that a scheduled queue is sending will have left.
    #[inline]
    pub fn departs_at(&self) -> Option<Instant> {
        match &self.queue {
            Queue::Plain(link) => Some(link.serving()?.departs),
            Queue::Fifo(_) => None,
        }
    }

    /// The moment by which all packets in the queue will have left; later ones leave later. The start of the run where
    /// that is not known, as of a scheduled queue.
    #[inline]
    pub fn busy_until(&self) -> Instant {
        match &self.queue {
            Queue::Fifo(_) if self.fast.size > 0 => self.fast.departs,
            Queue::Fifo(fifo) => fifo.busy_until(),
            Queue::Plain(_) => Instant::START,
        }
    }

    /// True of a scheduled queue if the discipline alone marks packets, and nothing befalls them after they left.
    pub fn is_simple(&self) -> bool {
        self.cold.mark.is_none() && self.hazards.is_none()
    }

    /// Lets the packet that a scheduled queue is sending leave, as [`depart`](Self::depart) does; returns `None` if it
    /// has not left by `at`.
    #[inline]
    pub fn depart_by(&mut self, at: Instant) -> Option<Departure> {
        let departs = self.departs_at().filter(|departs| *departs <= at)?;
        self.depart(departs)
    }

    /// Lets the packet that a scheduled queue is sending leave, and returns it; `None` if none leaves, as after a
    /// [change of the rate](Self::set_rate), which moves departures.
    pub fn depart(&mut self, now: Instant) -> Option<Departure> {
        let Queue::Plain(link) = &mut self.queue else { return None };
        let ackclock_net::Departure { packet, started, fate, wake } = link.depart(now)?;
        let arrives = (!fate.is_lost()).then_some(now + self.fast.delay);
        Some(Departure { packet, started, arrives, fate, wake })
    }

    /// The arrivals of a packet of `fate` that would have come at `at`: its own, and its copy's if
    /// there is one.
    pub fn arrivals(&mut self, at: Instant, fate: Fate) -> (Arrival, Option<Arrival>) {
        match &mut self.hazards {
            Some(hazards) => hazards.arrivals(at, fate),
            None => (Arrival { at, corrupted: false }, None),
        }
    }

    /// The rate.
    pub fn rate(&self) -> Rate {
        match &self.queue {
            Queue::Plain(link) => link.rate(),
            Queue::Fifo(_) => self.serializer.rate(),
        }
    }
}

impl ColdState {
    fn more(&mut self) -> &mut ColdCounters {
        self.more.get_or_insert_default()
    }

    /// Returns the moment before which nobody can ask any more, with the clock where it is.
    fn known(&self, clock: Instant) -> Instant {
        clock.max(self.unasked_until)
    }

    /// Counts a packet that comes and may be cross-traffic.
    #[cold]
    fn count_offered(&mut self, packet: Packet) {
        if let Some(source) = packet.source() {
            self.more().sources[usize::from(source)].offered.count(packet.size);
        }
    }

    fn count_dropped(&mut self, packet: Packet) {
        let ColdCounters { counters, sources, .. } = self.more();
        counters.dropped.count(packet.size);
        if let Some(source) = packet.source() {
            sources[usize::from(source)].dropped.count(packet.size);
        }
    }

    /// Counts a packet that left and is cross-traffic, or that something befalls.
    #[cold]
    fn count_delivered(&mut self, size: u32, source: Option<u16>, fate: Fate) {
        if fate == Fate::INTACT && source.is_none() {
            return;
        }
        let ColdCounters { counters, sources, .. } = self.more();
        if fate != Fate::INTACT {
            counters.count_fate(fate, size);
        }
        if let Some(source) = source {
            counters.delivered_cross.count(size);
            sources[usize::from(source)].delivered.count(size);
        }
    }
}

#[cfg(test)]
mod tests;
