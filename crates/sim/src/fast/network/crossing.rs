//! Packets between hosts and the links that they share: from hosts to the ingress, across the links, and to hosts.

use std::collections::VecDeque;

use ackclock_units::Instant;

use super::arena::index;
use super::hops::{DELIVER, FUSED, LANED, OWN, WANTED, WIRE};
use super::ingress::{Cause, Entering};
use super::mailboxes::{
    Arriving, BY_TIMER, Door, Inboxes, LOOK, MIXED, NONE, Outbox, Route, Setting, TIMER, Visit,
    WAITS, Way,
};
use super::{Network, Passed};
use crate::class::Class;
use crate::fast::lookahead::Turns;
use crate::fast::prefetch::{prefetch, prefetch_lines, prefetch_place};
use crate::fast::wheel::{Event, Rank, Until, Wheel};

/// So many packets ahead each is fetched, and its options.
const PACKETS_AHEAD: usize = 12;
const OPTIONS_AHEAD: usize = 6;
/// So many packets ahead the route of each is fetched.
const ROUTES_AHEAD: usize = 8;
/// So many packets that were dropped wait, each fetched meanwhile, until their places are given back.
const MOST_DROPPED: usize = 16;

impl Network {
    /// From now on hosts, of which each sends on a path that begins at one of `first_hops`, and the links that
    /// they share take `turns`.
    pub fn take_turns(&mut self, first_hops: impl ExactSizeIterator<Item = u32>, turns: &Turns) {
        let Self { hops, inboxes, links, wheel, .. } = self;
        let hosts = first_hops.len();
        inboxes.of.resize_with(hosts, VecDeque::new);
        inboxes.wakes = vec![Instant::NEVER; hosts];
        inboxes.counts = vec![0; hosts];
        // What opens connections was set in the order of hosts.
        let since = Instant::START;
        inboxes.set =
            (0..index(hosts)).map(|host| Setting { since, by: BY_TIMER | host }).collect();
        inboxes.doors = vec![Door { hop: 0, way_in: NONE, way_out: NONE }; hosts];
        inboxes.outbox_of = vec![NONE; links.len()];
        inboxes.sides = turns.sides.iter().map(|side| side.hosts.clone()).collect();
        inboxes.other_wheel = (inboxes.sides.len() > 1).then(|| wheel.like());
        let mut side_of = vec![0; hosts];
        for host in inboxes.sides.iter().skip(1).flatten() {
            side_of[*host as usize] = 1;
        }
        let mut first = 0;
        for path in hops.split_inclusive_mut(|hop| *hop & DELIVER != 0) {
            let Some((host, steps)) = path.split_last_mut() else { continue };
            for hop in &mut *steps {
                let wire = (*hop & WIRE) as usize;
                *hop &= !(LANED | FUSED);
                *hop |= if turns.fused[wire] { FUSED } else { 0 };
                *hop |= if turns.own[wire] { OWN } else { 0 };
            }
            let host = (*host & !DELIVER) as usize;
            let door = &mut inboxes.doors[host];
            let ends = first + steps.len();
            (door.hop, first) = (index(ends), ends + 1);
            let Some(last) = steps.iter().rposition(|hop| *hop & OWN == 0) else { continue };
            let outbox = &mut inboxes.outbox_of[(steps[last] & WIRE) as usize];
            let apart = last > 0 && steps[..last].iter().all(|hop| *hop & OWN != 0);
            let end = if apart { index(host % 2) } else { MIXED };
            if *outbox == NONE {
                *outbox = index(inboxes.outboxes.len());
                let to = side_of[host];
                inboxes.outboxes.push(Outbox { to, end, ..Outbox::default() });
            }
            let outbox = &mut inboxes.outboxes[*outbox as usize];
            if outbox.end != end {
                outbox.end = MIXED;
            }
            if let Some(hop) = steps.get_mut(last + 1) {
                // There a packet changes sides.
                *hop &= !FUSED;
                door.way_in = *hop & WIRE;
                door.hop = index(ends - steps[last + 1..].len());
            }
        }
        self.find_departing();
        for (host, first) in first_hops.enumerate() {
            let path = &self.hops[first as usize..];
            if path[0] & (DELIVER | OWN) == OWN {
                self.inboxes.doors[host].way_out = path[0] & WIRE;
            }
            let route = self.inboxes.route(path, first);
            self.inboxes.routes.push(route);
        }
    }

    /// Something happens at a host at `at`.
    pub fn wake_host(&mut self, host: usize, at: Instant) {
        let wakes = &mut self.inboxes.wakes[host];
        *wakes = (*wakes).min(at);
    }

    /// It is this side's turn: its hosts', and then that of the links to which they send.
    pub const fn turn_to(&mut self, side: usize) {
        let Self { inboxes, wheel, .. } = self;
        let Inboxes { entrance, other_wheel, other_clock, clock_from, clock_read, .. } = inboxes;
        if let Some(other_wheel) = other_wheel
            && side != inboxes.side
        {
            entrance.change_sides();
            std::mem::swap(wheel, other_wheel);
            (*clock_from, *clock_read, *other_clock) =
                (other_clock.0, other_clock.1, (*clock_from, *clock_read));
            inboxes.side = side;
        }
    }

    /// Nothing happens at hosts or at what they share before this.
    pub fn next_at(&self) -> Instant {
        let departs = self.next_departure();
        let Inboxes { wakes, outboxes, entrance, other_wheel, .. } = &self.inboxes;
        let leave = outboxes.iter().filter_map(|outbox| Some(outbox.leaving.front()?.at));
        let clocks = [Some(&self.wheel), other_wheel.as_ref()].into_iter().flatten();
        let others = leave.chain(entrance.next_at()).chain(clocks.filter_map(Wheel::next_at));
        let others = others.chain(departs);
        wakes.iter().copied().chain(others).min().unwrap_or(Instant::NEVER)
    }

    /// What happens at a host from now on does because this has arrived.
    #[inline]
    pub fn begin_arrival(&mut self, arriving: &Arriving) {
        let by = arriving.order & !BY_TIMER;
        self.inboxes.rank = Rank { what: u64::from(arriving.order), by, n: 0 };
    }

    /// What happens at a host from now on does because its timer is due. Of two timers that were set at one instant
    /// by others the host's number decides, where the clock has the order in which they were set: it is the same for
    /// hosts that do the same things from the start.
    #[inline]
    pub fn begin_timer(&mut self, host: u32) {
        let Setting { since, by } = self.inboxes.set[host as usize];
        self.inboxes.rank = Rank { what: TIMER | since.as_nanos(), by, n: 0 };
    }

    /// A host sets its timer.
    #[inline]
    pub fn set_timer(&mut self, now: Instant, host: usize) {
        let Rank { what, by, .. } = self.inboxes.rank;
        let by = if what & TIMER == 0 { by } else { BY_TIMER | index(host) };
        self.inboxes.set[host] = Setting { since: now, by };
    }

    /// The order of what is happening among what happens at one instant.
    pub const fn current_rank(&self) -> Rank {
        self.inboxes.rank
    }

    /// All that hosts send so that it comes to shared links before `until` has been sent.
    pub fn close_entrance(&mut self, until: Instant) {
        self.inboxes.entrance.close(until);
    }

    /// All of that has come: how many packets.
    pub fn open_entrance(&mut self) -> u64 {
        while let Some(id) = self.inboxes.dropped.pop_front() {
            self.discard(id);
        }
        self.inboxes.entrance.open()
    }

    /// What comes to shared links before `until`, at which the entrance was closed, crosses them, as far as an event
    /// of another kind that comes first. Each packet is one of `events`.
    pub fn cross_links(&mut self, until: Instant, events: &mut u64) -> Option<Event> {
        loop {
            let Inboxes { entrance, clock_from, clock_read, ways, routes, looks, .. } =
                &mut self.inboxes;
            let first = entrance.first().copied();
            let unread = self.wheel.added() != *clock_read;
            if unread || *clock_from <= first.map_or(until, |first| first.at) {
                let until = first.map_or(Until::moment(until), |first| {
                    let Cause { ago, rank } = *entrance.cause(&first);
                    Until::arrival(first.at, u64::from(ago), rank)
                });
                // Of other events the subject is no packet.
                let fetch = |id: u32| ways.get(id as usize).map_or((), prefetch);
                if let Some(event) = self.wheel.pop_before(until, ways, fetch) {
                    *clock_from = Instant::START;
                    *events += 1;
                    if event.class() != Class::Arrival {
                        return Some(event);
                    }
                    self.cross_by_clock(event.at(), event.subject());
                    continue;
                }
                *clock_from = self.wheel.next_at().unwrap_or(Instant::NEVER);
                *clock_read = self.wheel.added();
            }
            let first = first?;
            if let Some(soon) = entrance.ahead(ROUTES_AHEAD) {
                prefetch(&routes[soon.host as usize]);
                if *looks {
                    prefetch(&self.packets[soon.id as usize]);
                }
            }
            entrance.next();
            *events += 1;
            self.cross(&first);
        }
    }

    /// A packet leaves its host, of whose path this is the first step: it passes the links that are the host's own.
    #[inline]
    pub(super) fn leave(&mut self, now: Instant, id: u32, first: u32) {
        if first & (OWN | DELIVER) == 0 {
            // What hosts share begins at the host.
            self.enter(now, now, id, LOOK);
            return;
        }
        let Some(Passed { comes, next, size, untimed, .. }) = self.travel(now, id) else { return };
        if next & DELIVER != 0 {
            let host = (next & !DELIVER) as usize;
            self.inboxes.of[host].push_back(Arriving { at: comes, id, order: 0 });
            self.wake_host(host, comes);
        } else {
            self.enter(now, comes, id, if untimed { LOOK } else { size });
        }
    }

    /// A packet comes to the links that hosts share.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller has nearly all packets")]
    fn enter(&mut self, now: Instant, comes: Instant, id: u32, size: u32) {
        let Inboxes { entrance, serving, rank: next, .. } = &mut self.inboxes;
        let rank = *next;
        // A host may send several at once.
        next.n += 1;
        if let Ok(ago) = u32::try_from(comes.since(now).as_nanos()) {
            entrance.push(comes, id, *serving, size, Cause { ago, rank });
        } else {
            let hop = self.packets[id as usize].hop;
            self.enter_by_clock(now, comes, id, Way { rank, hop, size });
        }
    }

    /// A packet is to come to a shared link by the clock.
    #[cold]
    fn enter_by_clock(&mut self, now: Instant, comes: Instant, id: u32, way: Way) {
        let Inboxes { ways, .. } = &mut self.inboxes;
        if ways.len() < self.packets.len() {
            ways.reserve_exact(self.packets.capacity() - ways.len());
            ways.resize(self.packets.len(), Way::default());
        }
        ways[id as usize] = way;
        self.wheel.push_arrival(comes, now, id);
    }

    /// A packet has come to the first link that hosts share.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "nearly all packets go here")]
    fn cross(&mut self, entering: &Entering) {
        let &Entering { at, id, host, size, .. } = entering;
        let Route { wire, hop, to, outbox } = self.inboxes.routes[host as usize];
        if size != LOOK
            && let Some(link) = self.links.get_mut(wire as usize)
        {
            let passed = match link.pass_quietly(at, size) {
                None => link.pass_slowly(at, size, at),
                passed => passed,
            };
            if let Some((_, comes)) = passed {
                if to == NONE {
                    let rank = self.inboxes.entrance.cause(entering).rank;
                    self.enter_by_clock(at, comes, id, Way { rank, hop: hop + 1, size });
                } else {
                    self.inboxes.put_out(outbox, comes, id, to);
                }
                return;
            }
            if link.refuse_at_once(at, size) {
                self.drop_soon(id);
                return;
            }
        } else if wire & WAITS != 0 && wire != NONE && size != LOOK {
            self.cross_to_wait(entering, wire & WIRE);
            return;
        }
        let rank = self.inboxes.entrance.cause(entering).rank;
        self.look_across(at, id, Way { rank, hop, size });
    }

    /// A packet was dropped, which has left the cache since it was sent.
    #[inline(never)]
    pub(super) fn drop_soon(&mut self, id: u32) {
        if !self.inboxes.in_use() {
            self.discard(id);
            return;
        }
        prefetch(&self.packets[id as usize]);
        self.inboxes.dropped.push_back(id);
        if self.inboxes.dropped.len() > MOST_DROPPED
            && let Some(first) = self.inboxes.dropped.pop_front()
        {
            self.discard(first);
        }
    }

    /// A packet has come to another by the clock.
    fn cross_by_clock(&mut self, now: Instant, id: u32) {
        let Way { rank, hop, size } = self.inboxes.ways[id as usize];
        let &[step, next] = self.hops[hop as usize..].first_chunk().expect("a path ends at a host");
        if step & WANTED == 0 && next & FUSED == 0 && size != LOOK {
            let link = &mut self.links[(step & WIRE) as usize];
            let passed = match link.pass_quietly(now, size) {
                None => link.pass_slowly(now, size, now),
                passed => passed,
            };
            if let Some((_, comes)) = passed {
                self.crossed(now, comes, id, Way { rank, hop: hop + 1, size });
                return;
            }
        }
        self.look_across(now, id, Way { rank, hop, size });
    }

    /// A packet has come to a link that must look at it.
    fn look_across(&mut self, now: Instant, id: u32, way: Way) {
        self.packets[id as usize].hop = way.hop;
        if let Some(Passed { comes, .. }) = self.travel(now, id) {
            let hop = self.packets[id as usize].hop;
            self.crossed(now, comes, id, Way { hop, ..way });
        }
    }

    /// A packet comes, at `comes`, to a step of its way.
    #[inline]
    fn crossed(&mut self, now: Instant, comes: Instant, id: u32, way: Way) {
        if self.hops[way.hop as usize] & (OWN | DELIVER) != 0 {
            self.hand_over(comes, id, way.hop);
        } else {
            // Links that hosts share lead there; it is still what its host did by which it came here.
            self.enter_by_clock(now, comes, id, way);
        }
    }

    /// A packet comes from the links that hosts share to `hop` of its path, its host's own.
    pub(super) fn hand_over(&mut self, comes: Instant, id: u32, hop: u32) {
        let mut hop = hop as usize;
        let wire = self.hops[hop - 1] & WIRE;
        while self.hops[hop] & DELIVER == 0 {
            hop += 1;
        }
        let host = self.hops[hop] & !DELIVER;
        let outbox = self.inboxes.outbox_of[wire as usize];
        self.inboxes.put_out(outbox, comes, id, host);
    }

    /// To whom of this side something comes, or to whom something happens, before `until`.
    pub fn visit(&mut self, until: Instant, visits: &mut Vec<Visit>) {
        let Inboxes { of, doors, wakes, outboxes, mail, counts, sides, side, backwards, .. } =
            &mut self.inboxes;
        let for_them = |outbox: &&mut Outbox| outbox.to == *side;
        for outbox in outboxes.iter_mut().filter(for_them) {
            for part in outbox.first(outbox.before(until)) {
                for leaving in part {
                    counts[leaving.host as usize] += 1;
                }
            }
        }
        visits.clear();
        // There and back: whose turn came last is still in the cache.
        *backwards ^= *side == 0;
        let hosts = &sides[*side];
        let mut from = 0;
        for n in 0..hosts.len() {
            let host = hosts[if *backwards { hosts.len() - 1 - n } else { n }];
            let h = host as usize;
            let to = from + std::mem::replace(&mut counts[h], from);
            if wakes[h] < until || from < to {
                let hop = doors[h].hop;
                let at_once = self.hops[hop as usize] & DELIVER != 0;
                visits.push(Visit { host, from, to, kept: index(of[h].len()), hop, at_once });
            }
            from = to;
        }
        mail.resize(from as usize, Arriving { at: Instant::NEVER, id: u32::MAX, order: 0 });
        for outbox in outboxes.iter_mut().filter(for_them) {
            outbox.take_before(until, |host, arriving| {
                let place = &mut counts[host as usize];
                mail[*place as usize] = arriving;
                *place += 1;
            });
        }
        counts.fill(0);
    }

    /// What comes to hosts' own links before `until` passes them.
    pub fn admit(&mut self, until: Instant) {
        for n in 0..self.inboxes.outboxes.len() {
            let mut outbox = std::mem::take(&mut self.inboxes.outboxes[n]);
            outbox.take_before(until, |host, arriving| self.admit_one(host, arriving));
            self.inboxes.outboxes[n] = outbox;
        }
    }

    fn admit_one(&mut self, host: u32, arriving: Arriving) {
        let hop = self.inboxes.doors[host as usize].hop;
        let at_once = self.hops[hop as usize] & DELIVER != 0;
        if let Some(arriving) = self.pass_in(hop, at_once, arriving) {
            self.inboxes.of[host as usize].push_back(arriving);
            self.wake_host(host as usize, arriving.at);
        }
    }

    /// A packet passes its host's own links; `None` if it is lost.
    #[inline]
    fn pass_in(&mut self, hop: u32, at_once: bool, arriving: Arriving) -> Option<Arriving> {
        if at_once {
            return Some(arriving);
        }
        self.packets[arriving.id as usize].hop = hop;
        let Passed { comes: at, .. } = self.travel(arriving.at, arriving.id)?;
        Some(Arriving { at, ..arriving })
    }

    /// What hosts send from now on is this one's.
    #[inline]
    pub fn begin_visit(&mut self, visit: &Visit) {
        self.inboxes.serving = visit.host;
    }

    /// What comes next to a host that is visited.
    #[inline]
    pub fn arriving(&mut self, visit: &mut Visit) -> Option<Arriving> {
        let mut next = None;
        if visit.kept > 0 {
            visit.kept -= 1;
            next = self.inboxes.of[visit.host as usize].pop_front();
        }
        while next.is_none() && visit.from < visit.to {
            let at = visit.from;
            visit.from += 1;
            self.prefetch_mail(at as usize);
            next = self.pass_in(visit.hop, visit.at_once, self.inboxes.mail[at as usize]);
        }
        next
    }

    /// What comes soon after that at `at` will be wanted: first the packet, then its options, if it has any.
    #[inline]
    fn prefetch_mail(&self, at: usize) {
        if let Some(soon) = self.inboxes.mail.get(at + PACKETS_AHEAD) {
            // An address need not be one of a packet to be fetched.
            let packet = self.packets.as_ptr().wrapping_add(soon.id as usize);
            prefetch_place((packet.cast(), 1));
        }
        if let Some(next) = self.inboxes.mail.get(at + OPTIONS_AHEAD) {
            // Without a branch, as whether it has options is hard to foretell: otherwise the packet itself once more, as
            // an address that is nobody's would be looked up each time, in vain.
            let packet = &self.packets[next.id as usize];
            let otherwise = std::ptr::from_ref(packet).cast();
            prefetch_place((self.options.place(packet.options, otherwise), 1));
        }
    }

    /// A visit is over: what it leaves behind, what is `next` first, comes later, and the host wakes up at `timer` if
    /// nothing comes before that.
    #[inline]
    pub fn leave_host(&mut self, visit: &mut Visit, next: Option<Arriving>, timer: Instant) {
        let host = visit.host as usize;
        self.inboxes.wakes[host] = timer;
        if let Some(next) = next {
            self.inboxes.of[host].push_front(next);
        }
        for at in visit.from..visit.to {
            self.admit_one(visit.host, self.inboxes.mail[at as usize]);
        }
        if let Some(first) = self.inboxes.of[host].front() {
            self.wake_host(host, first.at);
        }
    }

    /// A host that will be visited soon needs its links.
    #[inline]
    pub fn prefetch_links_of(&self, host: usize) {
        let Door { way_in, way_out, .. } = self.inboxes.doors[host];
        for wire in [way_in, way_out] {
            if let Some(link) = self.links.get(wire as usize) {
                prefetch_lines(link, 0..2);
            }
        }
    }
}
