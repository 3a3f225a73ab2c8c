//! Packets of one size that pass a link one after another, without a trace of each.
//!
//! As long as all that is in a queue is of one size, the moment at
//! which the last packet will have left says how many wait and when each leaves. Then a packet is one more, and the
//! queue's ring is not written; when something else happens, what is still there is put into it
//! (`docs/decisions/0026-links-of-one-size-leave-no-trace.md`).

use ackclock_units::{Bytes, Duration, Instant};

use super::{Link, Queue};
use crate::impairments::Fate;
use crate::queue::Placed;
use crate::serializer::Serializer;

/// After so many packets a link that is never free looks whether all that it holds is of one size.
const OFTEN: u64 = 1024;

/// What such a packet touches of a link, and no more than that: one line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Quiet {
    /// The size of the last packet, zero if the next must leave its trace, and its transmission time in nanoseconds.
    pub(super) size: u32,
    nanos: u32,
    /// When the last packet came, and when it has left.
    comes: Instant,
    departs: Instant,
    /// A packet that would wait longer finds the queue full, in nanoseconds. Zero at a rate at which one that waits may
    /// take a nanosecond more than another of its size, which [`Uneven`] is about.
    longest: u64,
    /// The link's propagation delay.
    pub(super) delay: Duration,
    /// How long the last that waited did, in nanoseconds, and how many did so one after another.
    wait: u64,
    waits: u64,
    /// How many packets have left no trace.
    traceless: u64,
}

/// What else packets touch that wait and of which each takes some nanoseconds and a fraction of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Uneven {
    /// When the last of those will have left: what it leaves of a nanosecond the serializer knows.
    departs: Instant,
    /// So many nanoseconds more than without fractions they took that left no trace.
    more: u64,
    /// The size for which this is known: a packet that would wait longer finds the queue full, in nanoseconds and
    /// 1/rate nanoseconds.
    size: u32,
    longest: u64,
    rest: u64,
}

impl Quiet {
    pub(super) const fn new(delay: Duration) -> Self {
        let (comes, departs) = (Instant::START, Instant::START);
        let (wait, waits, traceless) = (0, 0, 0);
        Self { size: 0, nanos: 0, comes, departs, longest: 0, delay, wait, waits, traceless }
    }
}

/// Packets of one size that leave one after another.
struct Train {
    /// When the last will have left, and what each takes, in a unit of which `unit` are a nanosecond.
    last: u128,
    time: u128,
    unit: u64,
}

impl Train {
    /// What the wire sent, of which the last packet will have left at `departs`.
    fn new(wire: &Serializer, departs: Instant) -> Self {
        let (time, carry, unit) = wire.fractions();
        Self {
            last: u128::from(departs.as_nanos()) * u128::from(unit) + u128::from(carry),
            time,
            unit,
        }
    }

    /// How many leave later than this.
    fn left_after(&self, at: Instant) -> u64 {
        let next = (u128::from(at.as_nanos()) + 1) * u128::from(self.unit);
        let many = self.last.checked_sub(next).map_or(0, |later| over(later, self.time) + 1);
        u64::try_from(many).unwrap_or(u64::MAX)
    }

    /// When one leaves that so many come behind.
    fn leaves(&self, behind: u64) -> Instant {
        let at = over(self.last - u128::from(behind) * self.time, u128::from(self.unit));
        Instant::from_nanos(u64::try_from(at).expect("no later than the last"))
    }
}

/// `a` divided by `b`, as a rule both short: a processor divides no longer ones itself.
fn over(a: u128, b: u128) -> u128 {
    match (u64::try_from(a), u64::try_from(b)) {
        (Ok(a), Ok(b)) => u128::from(a / b),
        _ => a / b,
    }
}

impl Link {
    /// A flow's packet of `size` bytes comes, at `comes`; when it is sent and when it arrives, if it need not leave a
    /// trace. Otherwise `None`, and nothing is done. Of what was before `comes` nobody may ask any more.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "two callers move nearly all packets")]
    pub fn pass_quietly(&mut self, comes: Instant, size: u32) -> Option<(Instant, Instant)> {
        if size != self.quiet.size {
            return self.pass_resized(comes, size);
        }
        let wait = self.quiet.departs.as_nanos().wrapping_sub(comes.as_nanos());
        // Where two of a size may differ none may come even as the one before leaves.
        let idle = wait.wrapping_neg().cast_signed() >= i64::from(self.quiet.longest == 0);
        let starts = if idle {
            comes
        } else {
            if wait.wrapping_sub(1) >= self.quiet.longest {
                return None;
            }
            if wait != self.quiet.wait {
                self.count_waits(wait);
            }
            self.quiet.waits += 1;
            self.quiet.departs
        };
        let quiet = &mut self.quiet;
        quiet.traceless += 1;
        quiet.comes = comes;
        quiet.departs = starts + Duration::from_nanos(u64::from(quiet.nanos));
        Some((starts, quiet.departs + quiet.delay))
    }

    /// Whether a packet of this size surely finds the queue full.
    #[inline]
    pub(super) fn is_quietly_full(&mut self, comes: Instant, size: u32) -> bool {
        let Quiet { size: last, departs, longest, .. } = self.quiet;
        let wait = departs.as_nanos().saturating_sub(comes.as_nanos());
        size == last && if longest > 0 { wait > longest } else { self.is_unevenly_full(wait) }
    }

    /// The same where it takes fractions of a nanosecond and would wait so long, in nanoseconds.
    #[inline(never)]
    fn is_unevenly_full(&mut self, wait: u64) -> bool {
        let (longest, rest) = self.longest_uneven_wait();
        // One that would have to wait for `room` others finds the queue full: of the last of these a nanosecond is
        // left at least, and what the last of all leaves of one.
        wait.checked_sub(1).is_some_and(|all_but_one| {
            (all_but_one, self.serializer.fractions().1) >= (longest, rest)
        })
    }

    /// What the other packets that find room take, in nanoseconds and 1/rate nanoseconds. From here on the serializer
    /// knows what the last packet left of a nanosecond.
    fn longest_uneven_wait(&mut self) -> (u64, u64) {
        let Quiet { size, departs, traceless, .. } = self.quiet;
        let rare = &mut *self.rare;
        let uneven = rare.uneven.get_or_insert_with(|| {
            // If packets have passed without a trace since one was placed, the last of them had a rest.
            let departs = if traceless == 0 { departs } else { Instant::START };
            Box::new(Uneven { departs, more: 0, size: 0, longest: 0, rest: 0 })
        });
        if uneven.departs != departs {
            uneven.departs = departs;
            self.serializer.sent_again();
        }
        if uneven.size != size {
            let (time, _, rate) = self.serializer.fractions();
            let longest = u128::from(self.room - 1).saturating_mul(time);
            let rate = u128::from(rate);
            uneven.size = size;
            uneven.longest = u64::try_from(longest / rate).unwrap_or(u64::MAX);
            uneven.rest = u64::try_from(longest % rate).expect("less than a rate");
        }
        (uneven.longest, uneven.rest)
    }

    /// A packet of the last size, which does not find the queue [full](Self::is_quietly_full), comes before the wire has
    /// rested, at a rate at which it may take a nanosecond more than the last did: the same as
    /// [`pass_quietly`](Self::pass_quietly).
    pub(super) fn pass_unevenly(&mut self, comes: Instant) -> Option<(Instant, Instant)> {
        let Quiet { size, nanos, departs: starts, longest, .. } = self.quiet;
        if longest > 0 || starts < comes {
            return None;
        }
        let wait = starts.since(comes).as_nanos();
        let time = self.serializer.again(size, false)?;
        if wait > 0 {
            if wait != self.quiet.wait {
                self.count_waits(wait);
            }
            self.quiet.waits += 1;
        }
        let quiet = &mut self.quiet;
        quiet.traceless += 1;
        quiet.comes = comes;
        quiet.departs = starts + time;
        let uneven = self.rare.uneven.as_mut()?;
        uneven.departs = quiet.departs;
        uneven.more += time.as_nanos() - u64::from(nanos);
        Some((starts, quiet.departs + quiet.delay))
    }

    /// The same of the first packet of another size: if those before it have left.
    #[inline(never)]
    fn pass_resized(&mut self, comes: Instant, size: u32) -> Option<(Instant, Instant)> {
        let Quiet { size: before, nanos, departs, longest, traceless, .. } = self.quiet;
        // Acknowledgments with and without SACK blocks change places: where every size takes whole nanoseconds, what
        // went by is counted when somebody asks.
        if before > 0
            && longest > 0
            && departs <= comes
            && let Ok(nanos) = u32::try_from(self.serializer.even_nanos(u64::from(size)))
            && nanos > 0
        {
            self.gone.packets += traceless;
            self.gone.bytes += traceless * u64::from(before);
            let quiet = &mut self.quiet;
            (quiet.size, quiet.nanos, quiet.traceless) = (size, nanos, 1);
            quiet.longest = (self.room - 1).saturating_mul(u64::from(nanos));
            quiet.comes = comes;
            quiet.departs = comes + Duration::from_nanos(u64::from(nanos));
            return Some((comes, quiet.departs + quiet.delay));
        }
        // Where sizes take fractions of a nanosecond the wire must have rested. A packet that takes seconds leaves its
        // trace.
        if before == 0
            || departs > comes
            || (departs == comes && !self.serializer.is_even())
            || !self.serializer.is_short(size)
        {
            return None;
        }
        self.busy += Duration::from_nanos(traceless * u64::from(nanos));
        self.count_more();
        let Queue::Fifo(fifo) = &mut self.queue else { return None };
        self.serializer.rest();
        let left = comes + self.serializer.next(Bytes::new(u64::from(size)));
        self.taken.packets += traceless;
        self.taken.bytes += traceless * u64::from(before);
        self.left = self.taken;
        fifo.forget_all(self.taken.packets, comes);
        self.be_quiet(comes, left);
        self.quiet.traceless = 1;
        Some((comes, left + self.quiet.delay))
    }

    /// Counts those that waited as long as the last, before one that waits so long.
    #[inline(never)]
    fn count_waits(&mut self, next: u64) {
        let (wait, waits) = (self.quiet.wait, self.quiet.waits);
        (self.quiet.wait, self.quiet.waits) = (next, 0);
        if waits > 0 {
            self.rare.waited += waits;
            self.rare.queue_delay += Duration::from_nanos(wait * waits);
            self.rare.delays.record_positive(wait, waits);
        }
    }

    /// The next packet leaves a trace again, and so do those that have left none and are still here.
    #[inline]
    pub(super) fn trace(&mut self) {
        if self.quiet.traceless > 0 {
            self.trace_back();
        }
        self.quiet.size = 0;
    }

    #[inline(never)]
    fn trace_back(&mut self) {
        self.count_waits(0);
        let Quiet { comes, departs, size, nanos, traceless: all, .. } = self.quiet;
        self.quiet.traceless = 0;
        let before = std::mem::take(&mut self.gone);
        self.busy += Duration::from_nanos(self.serializer.even_nanos(before.bytes));
        self.taken.packets += before.packets;
        self.taken.bytes += before.bytes;
        if self.serializer.is_even() {
            self.serializer.next(Bytes::new(u64::from(size)));
        }
        if self.rare.uneven.as_ref().is_none_or(|uneven| uneven.departs != departs) {
            self.serializer.sent_again();
        }
        self.busy += Duration::from_nanos(all * u64::from(nanos));
        self.count_more();
        let train = Train::new(&self.serializer, departs);
        let Queue::Fifo(fifo) = &mut self.queue else { return };
        // What is here now has left one after another.
        let here = train.left_after(comes).min(all);
        let gone = all - here;
        self.taken.packets += gone;
        self.taken.bytes += gone * u64::from(size);
        if gone + before.packets > 0 {
            self.left = self.taken;
            fifo.forget_all(self.taken.packets, comes);
        } else {
            while self.left.packets < self.taken.packets {
                let placed = fifo.get(self.left.packets);
                if placed.departs > comes {
                    break;
                }
                self.left.count(placed.size);
            }
        }
        for behind in (0..here).rev() {
            let leaves = train.leaves(behind);
            // When each came nobody asks any more, only whether it was before now.
            let placed = Placed::new(comes, leaves, size, None, Fate::INTACT);
            fifo.place(self.taken.packets, placed, self.left.packets, || comes);
            self.taken.count(size);
        }
    }

    /// Counts the nanoseconds that fractions made of what left no trace.
    fn count_more(&mut self) {
        if let Some(uneven) = &mut self.rare.uneven {
            self.busy += Duration::from_nanos(std::mem::take(&mut uneven.more));
        }
    }

    /// A packet that came at `comes` to an empty queue has been placed, and will have left at `departs`: the next may
    /// leave no trace.
    #[inline]
    pub(super) fn be_quiet(&mut self, comes: Instant, departs: Instant) {
        let Some((size, nanos, even)) = self.serializer.last() else { return };
        let longest = if even { (self.room - 1).saturating_mul(u64::from(nanos)) } else { 0 };
        if !even && let Some(uneven) = &mut self.rare.uneven {
            uneven.departs = departs;
        }
        self.quiet = Quiet { size, nanos, comes, departs, longest, ..self.quiet };
    }

    /// The same of one that came to a queue that is not empty, if all that is there is of one size.
    #[inline]
    pub(super) fn be_quiet_again(&mut self, comes: Instant, departs: Instant) {
        if self.taken.packets.is_multiple_of(OFTEN) {
            self.look_through(comes, departs);
        }
    }

    #[inline(never)]
    fn look_through(&mut self, comes: Instant, departs: Instant) {
        let Queue::Fifo(fifo) = &self.queue else { return };
        let mut here = self.left.packets..self.taken.packets;
        if let Some((size, ..)) = self.serializer.last()
            && here.all(|n| fifo.get(n).size == size)
        {
            self.be_quiet(comes, departs);
        }
    }
}
