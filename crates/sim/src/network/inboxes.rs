//! Packets between hosts and the links that they share, where the two take turns:
//! `docs/decisions/0025-hosts-and-links-take-turns.md`.

use std::collections::VecDeque;

use ackclock_units::Instant;

use super::queues::{Coming, NOTHING, Queue, Queues};
use super::{DELIVER, FUSED, LANED, LINK_LINES, Network, OWN, WANTED, WIRE};
use crate::prefetch::{prefetch, prefetch_lines};
use crate::turns::Turns;
use crate::wheel::Ranked;

/// What comes to a host.
#[derive(Debug)]
pub(super) struct Inbox {
    /// The first that comes to the host itself; `NOTHING` until it is looked for.
    next: Coming,
    /// What comes from shared links to the host's own, in the order of time.
    coming: Queue,
    /// The first of those links; `DELIVER` if there is none.
    way_in: u32,
    /// What has passed them, and comes after the next.
    arriving: VecDeque<Coming>,
}

impl Default for Inbox {
    fn default() -> Self {
        let (coming, arriving) = (Queue::default(), VecDeque::new());
        Self { next: NOTHING, coming, way_in: DELIVER, arriving }
    }
}

/// What shared links ask of a packet, so that they need not look at the packet itself, which has left the cache.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Way {
    /// What made its host send it: of several packets at one instant, the order in which they go.
    rank: u64,
    /// The step of its path at which it is.
    hop: u32,
    /// Bytes on the wire; `LOOK` if they must look at the packet all the same.
    size: u32,
}

const LOOK: u32 = u32::MAX;

impl Ranked for Way {
    fn rank(&self) -> u64 {
        self.rank
    }
}

/// What hosts and the links that they share have for one another; nothing where events go by the clock.
#[derive(Debug, Default)]
pub(super) struct Inboxes {
    of: Vec<Inbox>,
    queues: Queues,
    /// For each host a moment before which nothing happens there.
    wakes: Vec<Instant>,
    /// For each packet on its way to a shared link, or over such, what that asks of it.
    ways: Vec<Way>,
    /// The same of what is happening now.
    rank: u64,
    /// Packets that have come from shared links.
    order: u32,
}

impl Inboxes {
    /// Whether hosts and shared links take turns.
    #[inline]
    pub(super) const fn in_use(&self) -> bool {
        !self.of.is_empty()
    }
}

/// What is next at a host.
#[derive(Clone, Copy, Debug)]
pub struct Arriving {
    pub at: Instant,
    pub id: u32,
    pub order: u32,
}

impl Network {
    /// From now on `hosts` hosts and the links that they share take `turns`.
    pub fn take_turns(&mut self, hosts: usize, turns: &Turns) {
        self.inboxes.of.resize_with(hosts, Inbox::default);
        self.inboxes.wakes = vec![Instant::NEVER; hosts];
        let mut shared = false;
        let mut way_in = DELIVER;
        for hop in &mut self.hops {
            if *hop & DELIVER != 0 {
                self.inboxes.of[(*hop & !DELIVER) as usize].way_in = way_in;
                (shared, way_in) = (false, DELIVER);
                continue;
            }
            let wire = (*hop & WIRE) as usize;
            *hop &= !(LANED | FUSED);
            *hop |= if turns.fused[wire] { FUSED } else { 0 };
            if turns.own[wire] {
                *hop |= OWN;
                if std::mem::take(&mut shared) {
                    // There a packet changes sides.
                    *hop &= !FUSED;
                    way_in = *hop & WIRE;
                }
            } else {
                shared = true;
            }
        }
    }

    /// Something happens at a host at `at`.
    pub fn wake_host(&mut self, host: usize, at: Instant) {
        let wakes = &mut self.inboxes.wakes[host];
        *wakes = (*wakes).min(at);
    }

    /// For each host a moment before which nothing happens there.
    pub fn wakes(&self) -> &[Instant] {
        &self.inboxes.wakes
    }

    /// Nothing happens at hosts or at what they share before this.
    pub fn next_at(&self) -> Instant {
        let hosts = self.inboxes.wakes.iter().copied().min();
        hosts.into_iter().chain(self.wheel.next_at()).min().unwrap_or(Instant::NEVER)
    }

    /// What happens at a host from now on happens in this order among hosts.
    #[inline]
    pub const fn rank(&mut self, rank: u64) {
        self.inboxes.rank = rank;
    }

    /// The same of what is happening.
    pub const fn current_rank(&self) -> u64 {
        self.inboxes.rank
    }

    /// A shared link's next event before `until`.
    #[inline]
    pub fn pop_before(&mut self, until: Instant) -> Option<crate::wheel::Event> {
        let ways = &self.inboxes.ways;
        // Of other events the subject is no packet.
        let fetch = |id: u32| ways.get(id as usize).map_or((), prefetch);
        self.wheel.pop_before(until, ways, fetch)
    }

    /// A packet leaves its host: it passes the links that are the host's own.
    #[inline]
    pub(super) fn leave(&mut self, now: Instant, id: u32) {
        let first = self.hops[self.packets[id as usize].hop as usize];
        if first & (OWN | DELIVER) == 0 {
            // What hosts share begins at the host.
            self.enter(now, now, id);
            return;
        }
        let Some((comes, _, next)) = self.travel(now, id) else { return };
        if next & DELIVER != 0 {
            let host = (next & !DELIVER) as usize;
            let coming = Coming { at: comes, id, order: 0 };
            let inbox = &mut self.inboxes.of[host];
            inbox.arriving.push_back(coming);
            self.wake_host(host, comes);
        } else {
            self.enter(now, comes, id);
        }
    }

    /// A packet comes to the links that hosts share.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller has nearly all packets")]
    fn enter(&mut self, now: Instant, comes: Instant, id: u32) {
        let packet = &mut self.packets[id as usize];
        let hop = packet.hop;
        let timed = packet.segment.len == 0 || packet.first_sent != Instant::NEVER;
        let size = u32::try_from(packet.segment.wire_size().get()).unwrap_or(LOOK);
        // Where it will be when the host that it is for sees it.
        while self.hops[packet.hop as usize] & (OWN | DELIVER) == 0 {
            packet.hop += 1;
        }
        let Inboxes { ways, rank, .. } = &mut self.inboxes;
        if ways.len() < self.packets.len() {
            ways.reserve_exact(self.packets.capacity() - ways.len());
            ways.resize(self.packets.len(), Way::default());
        }
        ways[id as usize] = Way { rank: *rank, hop, size: if timed { size } else { LOOK } };
        // A host may send several at once.
        *rank += 1;
        self.wheel.push_arrival(comes, now, id);
    }

    /// A packet has come to a link that hosts share.
    #[inline]
    pub fn cross(&mut self, now: Instant, id: u32) {
        let Way { hop, size, .. } = self.inboxes.ways[id as usize];
        let &[step, next] = self.hops[hop as usize..].first_chunk().expect("a path ends at a host");
        if step & WANTED == 0 && next & FUSED == 0 && size != LOOK {
            let link = &mut self.links[(step & WIRE) as usize];
            let passed = match link.pass_busy(now, size, now) {
                None => link.pass_idle(now, size, now),
                passed => passed,
            };
            if let Some((_, comes)) = passed {
                self.crossed(now, comes, id, hop + 1);
                return;
            }
        }
        self.packets[id as usize].hop = hop;
        if let Some((comes, _, _)) = self.travel(now, id) {
            self.crossed(now, comes, id, self.packets[id as usize].hop);
        }
    }

    /// A packet comes, at `comes`, to `hop` of its path.
    #[inline]
    fn crossed(&mut self, now: Instant, comes: Instant, id: u32, hop: u32) {
        if self.hops[hop as usize] & (OWN | DELIVER) != 0 {
            self.hand_over(comes, id, hop);
        } else {
            // Links that hosts share lead there; it is still what its host did by which it came here.
            self.inboxes.ways[id as usize].hop = hop;
            self.wheel.push_arrival(comes, now, id);
        }
    }

    /// A packet comes from the links that hosts share to `hop` of its path, its host's own.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller has nearly all packets")]
    pub(super) fn hand_over(&mut self, comes: Instant, id: u32, hop: u32) {
        let mut hop = hop as usize;
        let arrives = self.hops[hop] & DELIVER != 0;
        while self.hops[hop] & DELIVER == 0 {
            hop += 1;
        }
        let host = (self.hops[hop] & !DELIVER) as usize;
        let Inboxes { of, queues, wakes, order, .. } = &mut self.inboxes;
        *order = order.wrapping_add(1);
        let coming = Coming { at: comes, id, order: *order };
        if arrives {
            of[host].arriving.push_back(coming);
        } else {
            queues.push(&mut of[host].coming, coming);
        }
        wakes[host] = wakes[host].min(comes);
    }

    /// What came to a host's own links before `until` passes them.
    pub fn admit(&mut self, host: usize, until: Instant) {
        while self.comes_before(host, until) {
            if let Some(coming) = self.admit_next(host) {
                self.inboxes.of[host].arriving.push_back(coming);
            }
        }
    }

    #[inline]
    fn comes_before(&self, host: usize, until: Instant) -> bool {
        let Inboxes { of, queues, .. } = &self.inboxes;
        queues.first(&of[host].coming).is_some_and(|first| first.at < until)
    }

    /// The first of what comes to a host's own links, which there is, passes them; `None` if it is lost.
    #[inline]
    fn admit_next(&mut self, host: usize) -> Option<Coming> {
        let Inboxes { of, queues, .. } = &mut self.inboxes;
        let coming = &mut of[host].coming;
        let Coming { at, id, order } = queues.first(coming)?;
        queues.pop(coming);
        let Inboxes { of, queues, .. } = &self.inboxes;
        for soon in queues.next_ids(&of[host].coming) {
            self.prefetch_if_any(soon);
        }
        let (at, _, _) = self.travel(at, id)?;
        Some(Coming { at, id, order })
    }

    /// What comes next to a host, of what comes to its own links before `until`.
    #[inline]
    pub fn arriving(&mut self, host: usize, until: Instant) -> Option<Arriving> {
        if self.inboxes.of[host].next.at == Instant::NEVER {
            let mut next = self.inboxes.of[host].arriving.pop_front();
            while next.is_none() && self.comes_before(host, until) {
                next = self.admit_next(host);
            }
            self.inboxes.of[host].next = next?;
        }
        let Coming { at, id, order } = self.inboxes.of[host].next;
        Some(Arriving { at, id, order })
    }

    /// It has come.
    #[inline]
    pub fn take_arriving(&mut self, host: usize) {
        self.inboxes.of[host].next = NOTHING;
    }

    /// A host is served until now, and wakes up at `timer` if nothing comes before that.
    #[inline]
    pub fn rest(&mut self, host: usize, timer: Instant) {
        let Inboxes { of, queues, wakes, .. } = &mut self.inboxes;
        let inbox = &of[host];
        let arrives = inbox.arriving.front().map_or(Instant::NEVER, |second| second.at);
        let arrives = arrives.min(inbox.next.at);
        let comes = queues.first(&inbox.coming).map_or(Instant::NEVER, |next| next.at);
        wakes[host] = arrives.min(comes).min(timer);
    }

    /// A host that will be served soon needs its links, and knows what comes.
    #[inline]
    pub fn prefetch_links_of(&self, host: usize, first_hop: u32) {
        self.prefetch_link(first_hop);
        let inbox = &self.inboxes.of[host];
        if inbox.way_in & DELIVER == 0 {
            prefetch_lines(&self.links[inbox.way_in as usize], 0..LINK_LINES);
        }
        if let Some(place) = self.inboxes.queues.place(&inbox.coming) {
            prefetch_lines(place, 0..2);
        }
    }

    #[inline]
    fn prefetch_if_any(&self, id: u32) {
        if let Some(packet) = self.packets.get(id as usize) {
            prefetch(packet);
        }
    }

    /// A host that will be served next needs what comes.
    #[inline]
    pub fn prefetch_packets_of(&self, host: usize) {
        for id in self.inboxes.queues.first_ids(&self.inboxes.of[host].coming) {
            self.prefetch_if_any(id);
        }
    }
}
