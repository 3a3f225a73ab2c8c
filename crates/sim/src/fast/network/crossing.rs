//! Packets between hosts and the links that they share: from hosts to the ingress, across the links, and to hosts.

use std::collections::VecDeque;

use ackclock_units::Instant;

use super::arena::index;
use super::hops::{DELIVER, ELIDED, HOOKED, LANED, OWN, WIRE};
use super::ingress::{Entering, SendCause};
use super::mailboxes::{
    Arriving, BY_TIMER, HostAccess, HostBatch, LOOK, LinkOutput, MIXED, Mailboxes, NONE, Route,
    Setting, TIMER, WAITS, Way,
};
use super::{Network, Passed};
use crate::fast::lookahead::Lookahead;
use crate::fast::prefetch::{prefetch, prefetch_lines, prefetch_place};
use crate::fast::wheel::{Event, TieBreak, Until, Wheel};
use crate::run::class::Class;

/// The distance at which each packet is fetched, and its options.
const PACKETS_AHEAD: usize = 12;
const OPTIONS_AHEAD: usize = 6;
/// The distance at which the route of each packet is fetched.
const ROUTES_AHEAD: usize = 8;
/// The number of dropped packets that wait, each fetched meanwhile, until their places are given back.
const MOST_DROPPED: usize = 16;

impl Network {
    /// Begins to advance hosts, each of which sends on a path that begins at one of `first_hops`, and the links that
    /// they share in windows.
    pub fn begin_lookahead(
        &mut self,
        first_hops: impl ExactSizeIterator<Item = u32>,
        lookahead: &Lookahead,
    ) {
        let Self { hops, mailboxes, links, wheel, .. } = self;
        let hosts = first_hops.len();
        mailboxes.of.resize_with(hosts, VecDeque::new);
        mailboxes.wakes = vec![Instant::NEVER; hosts];
        mailboxes.counts = vec![0; hosts];
        // What opens connections was set in the order of hosts.
        let since = Instant::START;
        mailboxes.set =
            (0..index(hosts)).map(|host| Setting { since, by: BY_TIMER | host }).collect();
        mailboxes.access = vec![HostAccess { hop: 0, way_in: NONE, way_out: NONE }; hosts];
        mailboxes.output_of = vec![NONE; links.len()];
        mailboxes.partitions =
            lookahead.partitions.iter().map(|partition| partition.hosts.clone()).collect();
        mailboxes.other_wheel = (mailboxes.partitions.len() > 1).then(|| wheel.like());
        let mut partition_of = vec![0; hosts];
        for host in mailboxes.partitions.iter().skip(1).flatten() {
            partition_of[*host as usize] = 1;
        }
        let mut first = 0;
        for path in hops.split_inclusive_mut(|hop| *hop & DELIVER != 0) {
            let Some((host, steps)) = path.split_last_mut() else { continue };
            for hop in &mut *steps {
                let wire = (*hop & WIRE) as usize;
                *hop &= !(LANED | ELIDED);
                *hop |= if lookahead.elided[wire] { ELIDED } else { 0 };
                *hop |= if lookahead.own[wire] { OWN } else { 0 };
            }
            let host = (*host & !DELIVER) as usize;
            let access = &mut mailboxes.access[host];
            let ends = first + steps.len();
            (access.hop, first) = (index(ends), ends + 1);
            let Some(last) = steps.iter().rposition(|hop| *hop & OWN == 0) else { continue };
            let output = &mut mailboxes.output_of[(steps[last] & WIRE) as usize];
            let apart = last > 0 && steps[..last].iter().all(|hop| *hop & OWN != 0);
            let end = if apart { index(host % 2) } else { MIXED };
            if *output == NONE {
                *output = index(mailboxes.outputs.len());
                let to = partition_of[host];
                mailboxes.outputs.push(LinkOutput { to, end, ..LinkOutput::default() });
            }
            let output = &mut mailboxes.outputs[*output as usize];
            if output.end != end {
                output.end = MIXED;
            }
            if let Some(hop) = steps.get_mut(last + 1) {
                // There a packet changes sides.
                *hop &= !ELIDED;
                access.way_in = *hop & WIRE;
                access.hop = index(ends - steps[last + 1..].len());
            }
        }
        self.find_departing();
        for (host, first) in first_hops.enumerate() {
            let path = &self.hops[first as usize..];
            if path[0] & (DELIVER | OWN) == OWN {
                self.mailboxes.access[host].way_out = path[0] & WIRE;
            }
            let route = self.mailboxes.route(path, first);
            self.mailboxes.routes.push(route);
        }
    }

    /// Notes that something happens at a host at `at`.
    pub fn wake_host(&mut self, host: usize, at: Instant) {
        let wakes = &mut self.mailboxes.wakes[host];
        *wakes = (*wakes).min(at);
    }

    /// Makes the next window that of this partition: of its hosts, and then of the links to which they send.
    pub const fn switch_to(&mut self, partition: usize) {
        let Self { mailboxes, wheel, .. } = self;
        let Mailboxes { ingress, other_wheel, other_clock, clock_from, clock_read, .. } = mailboxes;
        if let Some(other_wheel) = other_wheel
            && partition != mailboxes.partition
        {
            ingress.change_sides();
            std::mem::swap(wheel, other_wheel);
            (*clock_from, *clock_read, *other_clock) =
                (other_clock.0, other_clock.1, (*clock_from, *clock_read));
            mailboxes.partition = partition;
        }
    }

    /// Returns a moment before which nothing happens at hosts or at what they share.
    pub fn next_at(&self) -> Instant {
        let departs = self.next_departure();
        let Mailboxes { wakes, outputs, ingress, other_wheel, .. } = &self.mailboxes;
        let leave = outputs.iter().filter_map(|output| Some(output.leaving.front()?.at));
        let clocks = [Some(&self.wheel), other_wheel.as_ref()].into_iter().flatten();
        let others = leave.chain(ingress.next_at()).chain(clocks.filter_map(Wheel::next_at));
        let others = others.chain(departs);
        wakes.iter().copied().chain(others).min().unwrap_or(Instant::NEVER)
    }

    /// Makes this arrival the cause of the events at a host from now on.
    #[inline]
    pub fn begin_arrival(&mut self, arriving: &Arriving) {
        let by = arriving.order & !BY_TIMER;
        self.mailboxes.tie_break = TieBreak { what: u64::from(arriving.order), by, n: 0 };
    }

    /// Makes a host's timer the cause of its events from now on. Of two timers that were set at one instant by others
    /// the host's number decides, where the clock has the order in which they were set: it is the same for hosts that
    /// do the same things from the start.
    #[inline]
    pub fn begin_timer(&mut self, host: u32) {
        let Setting { since, by } = self.mailboxes.set[host as usize];
        self.mailboxes.tie_break = TieBreak { what: TIMER | since.as_nanos(), by, n: 0 };
    }

    /// Sets a host's timer.
    #[inline]
    pub fn set_timer(&mut self, now: Instant, host: usize) {
        let TieBreak { what, by, .. } = self.mailboxes.tie_break;
        let by = if what & TIMER == 0 { by } else { BY_TIMER | index(host) };
        self.mailboxes.set[host] = Setting { since: now, by };
    }

    /// Returns the place of the current event among those of the same instant.
    pub const fn current_tie_break(&self) -> TieBreak {
        self.mailboxes.tie_break
    }

    /// Closes the ingress at `until`: all that hosts send so that it comes to shared links before that has been sent.
    pub fn close_ingress(&mut self, until: Instant) {
        self.mailboxes.ingress.close(until);
    }

    /// Opens the ingress again, when all before its end has come; returns the number of packets.
    pub fn open_ingress(&mut self) -> u64 {
        while let Some(id) = self.mailboxes.dropped.pop_front() {
            self.discard(id);
        }
        self.mailboxes.ingress.open()
    }

    /// Lets packets that come to shared links before `until`, at which the ingress was closed, cross them; returns the
    /// first event of another kind that comes before, or `None`. Each packet is one of `events`.
    pub fn cross_links(&mut self, until: Instant, events: &mut u64) -> Option<Event> {
        loop {
            let Mailboxes { ingress, clock_from, clock_read, ways, routes, looks, .. } =
                &mut self.mailboxes;
            let first = ingress.first().copied();
            let unread = self.wheel.added() != *clock_read;
            if unread || *clock_from <= first.map_or(until, |first| first.at) {
                let until = first.map_or(Until::moment(until), |first| {
                    let SendCause { ago, tie_break } = *ingress.cause(&first);
                    Until::arrival(first.at, u64::from(ago), tie_break)
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
            if let Some(soon) = ingress.ahead(ROUTES_AHEAD) {
                prefetch(&routes[soon.host as usize]);
                if *looks {
                    prefetch(&self.packets[soon.id as usize]);
                }
            }
            ingress.next();
            *events += 1;
            self.cross(&first);
        }
    }

    /// Lets a packet leave its host, of whose path this is the first step: it passes the links that are the host's own.
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
            self.mailboxes.of[host].push_back(Arriving { at: comes, id, order: 0 });
            self.wake_host(host, comes);
        } else {
            self.enter(now, comes, id, if untimed { LOOK } else { size });
        }
    }

    /// Adds a packet to those that come to the links that hosts share.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller has nearly all packets")]
    fn enter(&mut self, now: Instant, comes: Instant, id: u32, size: u32) {
        let Mailboxes { ingress, serving, tie_break: next, .. } = &mut self.mailboxes;
        let tie_break = *next;
        // A host may send several at once.
        next.n += 1;
        if let Ok(ago) = u32::try_from(comes.since(now).as_nanos()) {
            ingress.push(comes, id, *serving, size, SendCause { ago, tie_break });
        } else {
            let hop = self.packets[id as usize].hop;
            self.enter_by_clock(now, comes, id, Way { tie_break, hop, size });
        }
    }

    /// Puts the coming of a packet to a shared link on the clock.
    #[cold]
    fn enter_by_clock(&mut self, now: Instant, comes: Instant, id: u32, way: Way) {
        let Mailboxes { ways, .. } = &mut self.mailboxes;
        if ways.len() < self.packets.len() {
            ways.reserve_exact(self.packets.capacity() - ways.len());
            ways.resize(self.packets.len(), Way::default());
        }
        ways[id as usize] = way;
        self.wheel.push_arrival(comes, now, id);
    }

    /// Handles the coming of a packet to the first link that hosts share.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "nearly all packets go here")]
    fn cross(&mut self, entering: &Entering) {
        let &Entering { at, id, host, size, .. } = entering;
        let Route { wire, hop, to, output } = self.mailboxes.routes[host as usize];
        if size != LOOK
            && let Some(link) = self.links.get_mut(wire as usize)
        {
            let passed = link.pass(at, size, at);
            if let Some((_, comes)) = passed {
                if to == NONE {
                    let tie_break = self.mailboxes.ingress.cause(entering).tie_break;
                    self.enter_by_clock(at, comes, id, Way { tie_break, hop: hop + 1, size });
                } else {
                    self.mailboxes.put_out(output, comes, id, to);
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
        let tie_break = self.mailboxes.ingress.cause(entering).tie_break;
        self.look_across(at, id, Way { tie_break, hop, size });
    }

    /// Discards a packet: in windows only after some others, as it has left the cache since it was sent.
    #[inline(never)]
    pub(super) fn drop_soon(&mut self, id: u32) {
        if !self.mailboxes.in_use() {
            self.discard(id);
            return;
        }
        prefetch(&self.packets[id as usize]);
        self.mailboxes.dropped.push_back(id);
        if self.mailboxes.dropped.len() > MOST_DROPPED
            && let Some(first) = self.mailboxes.dropped.pop_front()
        {
            self.discard(first);
        }
    }

    /// Handles the coming of a packet to another link by the clock.
    fn cross_by_clock(&mut self, now: Instant, id: u32) {
        let Way { tie_break, hop, size } = self.mailboxes.ways[id as usize];
        let &[step, next] = self.hops[hop as usize..].first_chunk().expect("a path ends at a host");
        if step & HOOKED == 0 && next & ELIDED == 0 && size != LOOK {
            let link = &mut self.links[(step & WIRE) as usize];
            let passed = link.pass(now, size, now);
            if let Some((_, comes)) = passed {
                self.crossed(now, comes, id, Way { tie_break, hop: hop + 1, size });
                return;
            }
        }
        self.look_across(now, id, Way { tie_break, hop, size });
    }

    /// Handles the coming of a packet to a link that must look at it.
    fn look_across(&mut self, now: Instant, id: u32, way: Way) {
        self.packets[id as usize].hop = way.hop;
        if let Some(Passed { comes, .. }) = self.travel(now, id) {
            let hop = self.packets[id as usize].hop;
            self.crossed(now, comes, id, Way { hop, ..way });
        }
    }

    /// Handles the coming of a packet, at `comes`, to a step of its way.
    #[inline]
    fn crossed(&mut self, now: Instant, comes: Instant, id: u32, way: Way) {
        if self.hops[way.hop as usize] & (OWN | DELIVER) != 0 {
            self.hand_over(comes, id, way.hop);
        } else {
            // Links that hosts share lead there; it is still what its host did by which it came here.
            self.enter_by_clock(now, comes, id, way);
        }
    }

    /// Hands a packet from the links that hosts share over to `hop` of its path, its host's own.
    pub(super) fn hand_over(&mut self, comes: Instant, id: u32, hop: u32) {
        let mut hop = hop as usize;
        let wire = self.hops[hop - 1] & WIRE;
        while self.hops[hop] & DELIVER == 0 {
            hop += 1;
        }
        let host = self.hops[hop] & !DELIVER;
        let output = self.mailboxes.output_of[wire as usize];
        self.mailboxes.put_out(output, comes, id, host);
    }

    /// Fills `batches` with the hosts of this side to which something comes, or at which something happens, before
    /// `until`.
    pub fn batch(&mut self, until: Instant, batches: &mut Vec<HostBatch>) {
        let Mailboxes {
            of,
            access,
            wakes,
            outputs,
            arrivals_by_host,
            counts,
            partitions,
            partition,
            backwards,
            ..
        } = &mut self.mailboxes;
        let for_them = |output: &&mut LinkOutput| output.to == *partition;
        for output in outputs.iter_mut().filter(for_them) {
            for part in output.first(output.before(until)) {
                for leaving in part {
                    counts[leaving.host as usize] += 1;
                }
            }
        }
        batches.clear();
        // There and back: the host that was served last is still in the cache.
        *backwards ^= *partition == 0;
        let hosts = &partitions[*partition];
        let mut from = 0;
        for n in 0..hosts.len() {
            let host = hosts[if *backwards { hosts.len() - 1 - n } else { n }];
            let h = host as usize;
            let to = from + std::mem::replace(&mut counts[h], from);
            if wakes[h] < until || from < to {
                let hop = access[h].hop;
                let at_once = self.hops[hop as usize] & DELIVER != 0;
                batches.push(HostBatch { host, from, to, kept: index(of[h].len()), hop, at_once });
            }
            from = to;
        }
        arrivals_by_host
            .resize(from as usize, Arriving { at: Instant::NEVER, id: u32::MAX, order: 0 });
        for output in outputs.iter_mut().filter(for_them) {
            output.take_before(until, |host, arriving| {
                let place = &mut counts[host as usize];
                arrivals_by_host[*place as usize] = arriving;
                *place += 1;
            });
        }
        counts.fill(0);
    }

    /// Lets packets that come to hosts' own links before `until` pass them.
    pub fn admit(&mut self, until: Instant) {
        for n in 0..self.mailboxes.outputs.len() {
            let mut output = std::mem::take(&mut self.mailboxes.outputs[n]);
            output.take_before(until, |host, arriving| self.admit_one(host, arriving));
            self.mailboxes.outputs[n] = output;
        }
    }

    fn admit_one(&mut self, host: u32, arriving: Arriving) {
        let hop = self.mailboxes.access[host as usize].hop;
        let at_once = self.hops[hop as usize] & DELIVER != 0;
        if let Some(arriving) = self.pass_in(hop, at_once, arriving) {
            self.mailboxes.of[host as usize].push_back(arriving);
            self.wake_host(host as usize, arriving.at);
        }
    }

    /// Lets a packet pass its host's own links; returns `None` if it is lost.
    #[inline]
    fn pass_in(&mut self, hop: u32, at_once: bool, arriving: Arriving) -> Option<Arriving> {
        if at_once {
            return Some(arriving);
        }
        self.packets[arriving.id as usize].hop = hop;
        let Passed { comes: at, .. } = self.travel(arriving.at, arriving.id)?;
        Some(Arriving { at, ..arriving })
    }

    /// Makes the host of `batch` the one that is served, and sends, from now on.
    #[inline]
    pub fn begin_batch(&mut self, batch: &HostBatch) {
        self.mailboxes.serving = batch.host;
    }

    /// Takes the next packet for the host of `batch`; `None` if there is no more.
    #[inline]
    pub fn arriving(&mut self, batch: &mut HostBatch) -> Option<Arriving> {
        let mut next = None;
        if batch.kept > 0 {
            batch.kept -= 1;
            next = self.mailboxes.of[batch.host as usize].pop_front();
        }
        while next.is_none() && batch.from < batch.to {
            let at = batch.from;
            batch.from += 1;
            self.prefetch_arrivals(at as usize);
            next = self.pass_in(
                batch.hop,
                batch.at_once,
                self.mailboxes.arrivals_by_host[at as usize],
            );
        }
        next
    }

    /// Prefetches packets some places after the one at `at`: first the packet, then its options, if it has any.
    #[inline]
    fn prefetch_arrivals(&self, at: usize) {
        if let Some(soon) = self.mailboxes.arrivals_by_host.get(at + PACKETS_AHEAD) {
            // An address need not be one of a packet to be fetched.
            let packet = self.packets.as_ptr().wrapping_add(soon.id as usize);
            prefetch_place((packet.cast(), 1));
        }
        if let Some(next) = self.mailboxes.arrivals_by_host.get(at + OPTIONS_AHEAD) {
            // Without a branch, as whether it has options is hard to foretell: otherwise the packet itself once more, as
            // an address that is nobody's would be looked up each time, in vain.
            let packet = &self.packets[next.id as usize];
            let otherwise = std::ptr::from_ref(packet).cast();
            prefetch_place((self.options.place(packet.options, otherwise), 1));
        }
    }

    /// Ends a visit to a host: what it leaves behind, what is `next` first, comes later, and the host wakes up at
    /// `timer` if nothing comes before that.
    #[inline]
    pub fn leave_host(&mut self, batch: &mut HostBatch, next: Option<Arriving>, timer: Instant) {
        let host = batch.host as usize;
        self.mailboxes.wakes[host] = timer;
        if let Some(next) = next {
            self.mailboxes.of[host].push_front(next);
        }
        for at in batch.from..batch.to {
            self.admit_one(batch.host, self.mailboxes.arrivals_by_host[at as usize]);
        }
        if let Some(first) = self.mailboxes.of[host].front() {
            self.wake_host(host, first.at);
        }
    }

    /// Prefetches the links of a host that will be visited soon.
    #[inline]
    pub fn prefetch_links_of(&self, host: usize) {
        let HostAccess { way_in, way_out, .. } = self.mailboxes.access[host];
        for wire in [way_in, way_out] {
            if let Some(link) = self.links.get(wire as usize) {
                prefetch_lines(link, 0..2);
            }
        }
    }
}
