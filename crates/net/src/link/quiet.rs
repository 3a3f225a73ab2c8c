//! Packets of one size that pass a link one after another, without a trace of each.
//!
//! As long as all that is in a queue is of one size, and a byte takes a whole number of nanoseconds, the moment at
//! which the last packet will have left says how many wait and when each leaves. Then a packet is one more, and the
//! queue's ring is not written; when something else happens, what is still there is put into it
//! (`docs/decisions/0026-links-of-one-size-leave-no-trace.md`).

use ackclock_units::{Bytes, Duration, Instant};

use super::{Link, Queue};
use crate::impairments::Fate;
use crate::queue::Placed;

/// After so many packets a link that is never free looks whether all that it holds is of one size.
const OFTEN: u64 = 1024;

/// What such a packet touches of a link, and no more than that: one line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Quiet {
    /// The size of the last packet, zero if the next must leave its trace, and its transmission time in nanoseconds.
    size: u32,
    nanos: u32,
    /// When the last packet came, and when it has left.
    comes: Instant,
    departs: Instant,
    /// A packet that would wait longer finds the queue full, in nanoseconds. Zero where none may wait: at a rate at
    /// which one that waits may take a nanosecond more than another of its size.
    longest: u64,
    /// The link's propagation delay.
    pub(super) delay: Duration,
    /// How long the last that waited did, in nanoseconds, and how many did so one after another.
    wait: u64,
    waits: u64,
    /// How many packets have left no trace.
    traceless: u64,
}

impl Quiet {
    pub(super) const fn new(delay: Duration) -> Self {
        let (comes, departs) = (Instant::START, Instant::START);
        let (wait, waits, traceless) = (0, 0, 0);
        Self { size: 0, nanos: 0, comes, departs, longest: 0, delay, wait, waits, traceless }
    }

    /// Whether a packet of this size surely finds the queue full.
    #[inline]
    pub(super) fn is_full(&self, comes: Instant, size: u32) -> bool {
        size == self.size
            && self.longest > 0
            && self.departs.as_nanos().saturating_sub(comes.as_nanos()) > self.longest
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

    /// The same of the first packet of another size: if those before it have left.
    #[inline(never)]
    fn pass_resized(&mut self, comes: Instant, size: u32) -> Option<(Instant, Instant)> {
        let Quiet { size: before, nanos, departs, longest, traceless, .. } = self.quiet;
        if before == 0 || longest == 0 || departs > comes {
            return None;
        }
        let Queue::Fifo(fifo) = &mut self.queue else { return None };
        let left = comes + self.serializer.next(Bytes::new(u64::from(size)));
        // A packet that takes seconds leaves its trace.
        self.serializer.last()?;
        self.busy += Duration::from_nanos(traceless * u64::from(nanos));
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
        let Quiet { comes, departs, size, nanos, traceless, .. } = self.quiet;
        self.quiet.traceless = 0;
        let Queue::Fifo(fifo) = &mut self.queue else { return };
        let (all, nanos) = (traceless, u64::from(nanos));
        self.busy += Duration::from_nanos(all * nanos);
        self.serializer.sent_again();
        // What is here now has left one after another.
        let here = departs.since(comes).as_nanos().div_ceil(nanos).min(all);
        let gone = all - here;
        self.taken.packets += gone;
        self.taken.bytes += gone * u64::from(size);
        if gone > 0 {
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
            let leaves = Instant::from_nanos(departs.as_nanos() - behind * nanos);
            // When each came nobody asks any more, only whether it was before now.
            let placed = Placed::new(comes, leaves, size, None, Fate::INTACT);
            fifo.place(self.taken.packets, placed, self.left.packets, || comes);
            self.taken.count(size);
        }
    }

    /// A packet that came at `comes` to an empty queue has been placed, and will have left at `departs`: the next may
    /// leave no trace.
    #[inline]
    pub(super) fn be_quiet(&mut self, comes: Instant, departs: Instant) {
        let Some((size, nanos, even)) = self.serializer.last() else { return };
        let longest = if even { (self.room - 1).saturating_mul(u64::from(nanos)) } else { 0 };
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
        if let Some((size, _, true)) = self.serializer.last()
            && here.all(|n| fifo.get(n).size == size)
        {
            self.be_quiet(comes, departs);
        }
    }
}
