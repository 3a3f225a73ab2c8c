//! The mailboxes between hosts and the links that they share, where these are advanced in turns.

use std::collections::VecDeque;

use ackclock_units::Instant;

use super::arena::index;
use super::hops::{DELIVER, FUSED, OWN, WANTED, WIRE};
use super::ingress::Entrance;
use crate::fast::wheel::{Rank, Ranked, Wheel};

/// A packet on its way to a host.
#[derive(Clone, Copy, Debug)]
pub struct Arriving {
    /// When it comes to the host, or to the links before it that are the host's own.
    pub at: Instant,
    pub id: u32,
    /// How many left shared links before it, in the order in which these took them.
    pub order: u32,
}

/// A packet on its way from the links that hosts share to a host.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub struct Leaving {
    /// When it comes to the host, or to the links before it that are the host's own.
    pub at: Instant,
    pub id: u32,
    pub order: u32,
    pub host: u32,
}

/// What leaves a shared link, in the order of time.
#[derive(Debug, Default)]
pub struct Outbox {
    pub leaving: VecDeque<Leaving>,
    /// The side of its hosts.
    pub to: usize,
    /// Of every flow whose packets come to the link, to which of its two hosts they go, 0 or 1; `MIXED` if packets must
    /// be looked at.
    pub end: u32,
}

impl Outbox {
    /// The side of the hosts to which packets go, and to which ends of their flows.
    #[inline]
    pub const fn ends(&self) -> (usize, u32) {
        (self.to, self.end)
    }

    pub fn before(&self, until: Instant) -> usize {
        self.leaving.partition_point(|&Leaving { at, .. }| at < until)
    }

    /// So many, in two parts: a loop over a slice takes fewer instructions than one over a ring.
    pub fn first(&self, many: usize) -> [&[Leaving]; 2] {
        let (front, back) = self.leaving.as_slices();
        let split = many.min(front.len());
        [&front[..split], &back[..many - split]]
    }

    /// Takes what leaves before `until`, each with its host.
    pub fn take_before(&mut self, until: Instant, mut take: impl FnMut(u32, Arriving)) {
        let many = self.before(until);
        for part in self.first(many) {
            for &Leaving { at, id, order, host } in part {
                take(host, Arriving { at, id, order });
            }
        }
        self.leaving.drain(..many);
    }
}

/// What happens at a host in a turn.
#[derive(Clone, Copy, Debug)]
pub struct Visit {
    pub host: u32,
    /// Of what leaves shared links in this turn, sorted by hosts, this is for it.
    pub from: u32,
    pub to: u32,
    /// So much waits there that has passed its own links.
    pub kept: u32,
    /// The first step of the host's own on the way in.
    pub hop: u32,
    /// There are none.
    pub at_once: bool,
}

/// The way to a host and from it.
#[derive(Clone, Copy, Debug)]
pub struct Door {
    /// The first step of the host's own on the way in.
    pub hop: u32,
    /// The links there, and the first on the way out; `NONE` if there are none.
    pub way_in: u32,
    pub way_out: u32,
}

pub const NONE: u32 = u32::MAX;

/// What shared links ask of a packet, so that they need not look at the packet itself, which has left the cache.
#[derive(Clone, Copy, Debug, Default)]
pub struct Way {
    /// What made its host send it: of several packets at one instant, the order in which they go.
    pub rank: Rank,
    /// The step of its path at which it is.
    pub hop: u32,
    /// Bytes on the wire; `LOOK` if they must look at the packet all the same.
    pub size: u32,
}

pub const LOOK: u32 = u32::MAX;

/// Where what a host sends goes by links that hosts share, so that it need not be looked up step by step.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The first such link, with the `WAITS` bit if it decides at departure who goes next; `NONE` if packets must be
    /// looked at there.
    pub wire: u32,
    /// Its step of the path.
    pub hop: u32,
    /// The host on the other side, if that link is the only one, and where what leaves the link is put; `NONE` if
    /// it is not.
    pub to: u32,
    pub outbox: u32,
}

/// Of [`Route::wire`].
pub const WAITS: u32 = 1 << 31;

impl Ranked for Way {
    fn rank(&self) -> Rank {
        self.rank
    }
}

/// What hosts and the links that they share have for one another; nothing where events go by the clock.
#[derive(Debug, Default)]
pub struct Inboxes {
    /// For each host what has passed its own links, or needs not, in the order of time.
    pub of: Vec<VecDeque<Arriving>>,
    pub doors: Vec<Door>,
    /// For each host a moment before which nothing happens there but what leaves shared links.
    pub wakes: Vec<Instant>,
    /// What leaves shared links, and where each link's is.
    pub outboxes: Vec<Outbox>,
    pub outbox_of: Vec<u32>,
    /// What has been put there.
    pub left: u32,
    /// Shared links that decide at departure who goes next, and how many packets have left them.
    pub departing: Vec<Departing>,
    pub departed: u64,
    /// Of each host.
    pub routes: Vec<Route>,
    /// Some link that decides at departure who goes next must look at what comes to it.
    pub looks: bool,
    /// What was dropped on them and is not given back yet.
    pub dropped: VecDeque<u32>,
    /// The host that is served.
    pub serving: u32,
    /// What leaves them in this turn, sorted by hosts, and of each host first the number, then the place.
    pub mail: Vec<Arriving>,
    pub counts: Vec<u32>,
    /// What hosts send to shared links.
    pub entrance: Entrance,
    /// The hosts of each side, in the order in which they are served, and the side whose turn it is.
    pub sides: Vec<Vec<u32>>,
    /// Whether they are served in the opposite order this time.
    pub backwards: bool,
    pub side: usize,
    /// The clock of the other one, and the same as of this one.
    pub other_wheel: Option<Wheel>,
    pub other_clock: (Instant, u64),
    /// Of what had been [added](crate::fast::wheel::Wheel::added) to the clock by then nothing comes before this.
    pub clock_from: Instant,
    pub clock_read: u64,
    /// For each packet that comes to shared links by the clock, what they ask of it.
    pub ways: Vec<Way>,
    /// The rank of what is happening now.
    pub rank: Rank,
    /// By what each host's timer was set.
    pub set: Vec<Setting>,
}

/// By what a timer was set, so that of timers that are due at one instant that which was set first comes first.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub since: Instant,
    pub by: u32,
}

/// Of what happens at hosts at one instant, timers come last.
pub const TIMER: u64 = 1 << 63;
/// The same among what set timers.
pub const BY_TIMER: u32 = 1 << 31;

impl Inboxes {
    /// Whether hosts and shared links take turns.
    #[inline]
    pub const fn in_use(&self) -> bool {
        !self.of.is_empty()
    }

    /// Where what a host sends goes by shared links, on a path that begins at step `first`.
    pub fn route(&self, path: &[u32], first: u32) -> Route {
        let ours = path.iter().take_while(|hop| **hop & (DELIVER | OWN) == OWN).count();
        let mut route = Route { wire: NONE, hop: first + index(ours), to: NONE, outbox: NONE };
        if let &[step, next, ..] = &path[ours..]
            && step & DELIVER == 0
            && next & FUSED == 0
            && let Some(wire) = self.unwatched(step)
        {
            route.wire = wire;
            if next & (OWN | DELIVER) != 0 {
                let host = path.iter().find(|hop| **hop & DELIVER != 0);
                route.to = host.expect("a path ends at a host") & !DELIVER;
                route.outbox = self.outbox_of[(step & WIRE) as usize];
            }
        }
        route
    }

    #[inline]
    pub fn put_out(&mut self, outbox: u32, at: Instant, id: u32, host: u32) {
        let Self { outboxes, left, .. } = self;
        let Outbox { leaving, .. } = &mut outboxes[outbox as usize];
        debug_assert!(
            leaving.back().is_none_or(|&Leaving { at: last, .. }| last <= at),
            "in order"
        );
        *left = left.wrapping_add(1);
        if leaving.len() == leaving.capacity() {
            // As other arenas do: one that doubles is half empty at its peak.
            leaving.reserve_exact(leaving.len() / 4 + 16);
        }
        leaving.push_back(Leaving { at, id, order: *left, host });
    }
}

/// Such a link.
#[derive(Clone, Copy, Debug)]
pub struct Departing {
    pub wire: u32,
    /// The side of the hosts that send to it.
    pub side: usize,
    /// Packets need not be looked at, unless to see whether they ask for ECN.
    pub at_once: bool,
}

/// What [`Outbox::end`](super::mailboxes::Outbox::end) is where packets must be looked at.
pub const MIXED: u32 = u32::MAX;

impl Inboxes {
    /// The link of a step, if packets that hosts send there need not be looked at: its number, with the `WAITS` bit if it
    /// decides at departure who goes next.
    pub fn unwatched(&self, step: u32) -> Option<u32> {
        let wire = step & WIRE;
        match self.departing.iter().find(|departing| departing.wire == wire) {
            Some(departing) => departing.at_once.then_some(wire | WAITS),
            None => (step & WANTED == 0).then_some(wire),
        }
    }
}
