//! Packets of one size that pass a link one after another, without a trace of each.
//!
//! While all packets in a FIFO queue have one size, its state is one departure time: it says how many wait and when
//! each leaves. So no record is written of each packet. When something else happens, the records of packets that are
//! still in the queue are written after all.

use ackclock_net::{Fate, Serializer};
use ackclock_units::{Duration, Instant};

use super::fifo::Placed;
use super::{Link, Queue};

/// After so many packets a link that is never free looks whether all that it holds is of one size.
const OFTEN: u64 = 1024;

/// The state that the fast path touches: one line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct FastFifo {
    /// The size of the last packet, zero if the next must leave its trace, and its transmission time in nanoseconds.
    pub(super) size: u32,
    nanos: u32,
    /// When the last packet came, and when it has left.
    comes: Instant,
    pub(super) departs: Instant,
    /// A packet that would wait longer finds the queue full, in nanoseconds. Negative at a rate at which one that waits
    /// may take a nanosecond more than another of its size: [`uneven`] says what it is then.
    longest: i64,
    /// The link's propagation delay.
    pub(super) delay: Duration,
    /// The wait of the last packet that waited, in nanoseconds, and how many waited as long one after another.
    wait: u64,
    waits: u64,
    /// The number of packets without a record.
    unrecorded: u64,
}

/// The value of [`FastFifo::longest`] if the last packet owes so much of a nanosecond, in units of 1/rate nanoseconds.
#[expect(clippy::cast_possible_wrap, reason = "less than a rate, which is less than 2^63")]
const fn uneven(owed: u64) -> i64 {
    owed as i64 | i64::MIN
}

/// Its value if the last packet found the wire free: it owes as much as every such packet of its size.
const RESTED: i64 = -1;

/// When a queue is full of packets of one size of which each takes some nanoseconds and a fraction of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Full {
    size: u32,
    /// A packet that would wait longer finds the queue full, in nanoseconds and 1/rate nanoseconds.
    longest: u64,
    rest: u64,
}

/// Packets that left without a record and are not counted yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DepartedTotals {
    packets: u64,
    bytes: u64,
    /// Their transmission times, and the nanoseconds by which later packets took longer than the first.
    busy: Duration,
}

impl FastFifo {
    pub(super) const fn new(delay: Duration) -> Self {
        let (comes, departs) = (Instant::START, Instant::START);
        let (wait, waits, unrecorded) = (0, 0, 0);
        Self { size: 0, nanos: 0, comes, departs, longest: 0, delay, wait, waits, unrecorded }
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
    /// The packets that the wire sent, of which the last will have left at `departs` and owes so much of a nanosecond.
    fn new(wire: &Serializer, owed: u64, departs: Instant) -> Self {
        let (time, unit) = wire.fractions();
        Self {
            last: u128::from(departs.as_nanos()) * u128::from(unit) + u128::from(owed),
            time,
            unit,
        }
    }

    /// The number of packets that leave later than this.
    fn left_after(&self, at: Instant) -> u64 {
        let next = (u128::from(at.as_nanos()) + 1) * u128::from(self.unit);
        let many = self.last.checked_sub(next).map_or(0, |later| over(later, self.time) + 1);
        u64::try_from(many).unwrap_or(u64::MAX)
    }

    /// Returns when the packet leaves that has so many behind it.
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
    /// Places a packet of a flow, of `size` bytes, that comes at `comes`, without a trace; returns when it is sent and
    /// when it arrives. Returns `None`, and changes nothing, if it has to leave a trace. Nobody may ask any more of
    /// what was before `comes`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "two callers move nearly all packets")]
    pub fn try_fast_path(&mut self, comes: Instant, size: u32) -> Option<(Instant, Instant)> {
        if size != self.fast.size {
            return self.pass_resized(comes, size);
        }
        let (wait, longest) =
            (self.fast.departs.as_nanos().wrapping_sub(comes.as_nanos()), self.fast.longest);
        // Where two of a size may differ none may come even as the one before leaves.
        let idle = wait.wrapping_neg().cast_signed() >= i64::from(longest < 0);
        let starts = if idle {
            // Without a branch: `RESTED` where two may differ.
            self.fast.longest = longest | longest >> 63;
            comes
        } else {
            if wait.wrapping_sub(1).cast_signed() >= longest {
                return self.pass_unevenly(comes, wait);
            }
            if wait != self.fast.wait {
                self.count_waits(wait);
            }
            self.fast.waits += 1;
            self.fast.departs
        };
        let fast = &mut self.fast;
        fast.unrecorded += 1;
        fast.comes = comes;
        fast.departs = starts + Duration::from_nanos(u64::from(fast.nanos));
        Some((starts, fast.departs + fast.delay))
    }

    /// True if a packet of this size surely finds the queue full.
    #[inline]
    pub(super) fn is_surely_full(&mut self, comes: Instant, size: u32) -> bool {
        let FastFifo { size: last, departs, longest, .. } = self.fast;
        let wait = departs.as_nanos().saturating_sub(comes.as_nanos());
        size == last
            && if longest >= 0 { wait.cast_signed() > longest } else { self.is_unevenly_full(wait) }
    }

    /// True if a packet that takes fractions of a nanosecond, and would wait so many nanoseconds, finds the queue full.
    #[inline]
    fn is_unevenly_full(&mut self, wait: u64) -> bool {
        // Each of the others that find room takes as much at least.
        let surely_not = (self.room - 1).saturating_mul(u64::from(self.fast.nanos));
        wait > surely_not && self.is_full(wait)
    }

    #[inline(never)]
    fn is_full(&mut self, wait: u64) -> bool {
        let Full { longest, rest, .. } = self.when_full();
        // One that would have to wait for `room` others finds the queue full: of the last of these a nanosecond is
        // left at least, and what the last of all leaves of one.
        wait.checked_sub(1).is_some_and(|all_but_one| (all_but_one, self.owed()) >= (longest, rest))
    }

    /// The fraction of a nanosecond that the last packet left, in 1/rate nanoseconds.
    #[inline]
    fn owed(&self) -> u64 {
        match self.fast.longest {
            0.. => 0,
            RESTED => self.serializer.owed_after_rest(),
            longest => (longest ^ i64::MIN).cast_unsigned(),
        }
    }

    /// The time that the other packets take that find room.
    fn when_full(&mut self) -> Full {
        let FastFifo { size, .. } = self.fast;
        if let Some(full) = &self.cold.full
            && full.size == size
        {
            return **full;
        }
        let (time, rate) = self.serializer.fractions();
        let (longest, rate) = (u128::from(self.room - 1).saturating_mul(time), u128::from(rate));
        let full = Full {
            size,
            longest: u64::try_from(longest / rate).unwrap_or(u64::MAX),
            rest: u64::try_from(longest % rate).expect("less than a rate"),
        };
        self.cold.full = Some(Box::new(full));
        full
    }

    /// Places a packet of the last size that comes before the wire has rested, at a rate at which it may take a
    /// nanosecond more than the last did; returns what [`try_fast_path`](Self::try_fast_path) does.
    #[inline(never)]
    fn pass_unevenly(&mut self, comes: Instant, wait: u64) -> Option<(Instant, Instant)> {
        let FastFifo { nanos, departs: starts, longest, .. } = self.fast;
        if longest >= 0 || self.is_unevenly_full(wait) {
            return None;
        }
        let (owed, more) = self.serializer.owed_after(self.owed());
        if wait > 0 {
            if wait != self.fast.wait {
                self.count_waits(wait);
            }
            self.fast.waits += 1;
        }
        self.departed.busy += Duration::from_nanos(more);
        let fast = &mut self.fast;
        fast.unrecorded += 1;
        fast.comes = comes;
        fast.longest = uneven(owed);
        fast.departs = starts + Duration::from_nanos(u64::from(nanos) + more);
        Some((starts, fast.departs + fast.delay))
    }

    /// [`try_fast_path`](Self::try_fast_path) for the first packet of another size, if those before it have left.
    /// Acknowledgments with and without SACK blocks alternate: departed packets are counted when somebody asks.
    fn pass_resized(&mut self, comes: Instant, size: u32) -> Option<(Instant, Instant)> {
        let FastFifo { size: before, nanos: took, departs, longest, unrecorded, .. } = self.fast;
        // Where sizes take fractions of a nanosecond the wire must have rested.
        if before == 0 || departs.as_nanos() + u64::from(longest < 0) > comes.as_nanos() {
            return None;
        }
        // One that takes seconds leaves its trace.
        let nanos = self.serializer.nanos_after_rest(size)?;
        self.departed.packets += unrecorded;
        self.departed.bytes += unrecorded * u64::from(before);
        self.departed.busy += Duration::from_nanos(unrecorded * u64::from(took));
        let fast = &mut self.fast;
        (fast.size, fast.nanos, fast.unrecorded) = (size, nanos, 1);
        fast.longest = if longest < 0 { RESTED } else { longest_wait(self.room, nanos) };
        fast.comes = comes;
        fast.departs = comes + Duration::from_nanos(u64::from(nanos));
        Some((comes, fast.departs + fast.delay))
    }

    /// Counts those that waited as long as the last, before one that waits so long.
    fn count_waits(&mut self, next: u64) {
        let (wait, waits) = (self.fast.wait, self.fast.waits);
        (self.fast.wait, self.fast.waits) = (next, 0);
        if waits > 0 {
            self.cold.waited += waits;
            self.cold.queue_delay_ns += u128::from(wait) * u128::from(waits);
            self.cold.delays.record_positive(wait, waits);
        }
    }

    /// Gives traces to packets that have left none and are still here; the next packet leaves one, too.
    #[inline]
    pub(super) fn materialise(&mut self) {
        if self.fast.unrecorded > 0 {
            self.materialise_packets();
        }
        self.fast.size = 0;
    }

    #[inline(never)]
    fn materialise_packets(&mut self) {
        self.count_waits(0);
        let FastFifo { comes, departs, size, nanos, unrecorded: all, .. } = self.fast;
        self.fast.unrecorded = 0;
        let before = std::mem::take(&mut self.departed);
        self.busy += before.busy + Duration::from_nanos(all * u64::from(nanos));
        self.taken.packets += before.packets;
        self.taken.bytes += before.bytes;
        self.serializer.has_sent(size, self.owed());
        let train = Train::new(&self.serializer, self.owed(), departs);
        let Queue::Fifo(fifo) = &mut self.queue else { return };
        // What is here now has left one after another.
        let here = train.left_after(comes).min(all);
        let departed = all - here;
        self.taken.packets += departed;
        self.taken.bytes += departed * u64::from(size);
        if departed + before.packets > 0 {
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

    /// Lets the next packet leave no trace, after one that came at `comes` to an empty queue and will have left at
    /// `departs`.
    #[inline]
    pub(super) fn enter_fast_path(&mut self, comes: Instant, departs: Instant) {
        let Some((size, nanos, owed)) = self.serializer.last() else { return };
        let longest = owed.map_or_else(|| longest_wait(self.room, nanos), uneven);
        self.fast = FastFifo { size, nanos, comes, departs, longest, ..self.fast };
    }

    /// [`enter_fast_path`](Self::enter_fast_path) after a packet that came to a queue that is not empty, if all packets
    /// in it have one size.
    #[inline]
    pub(super) fn reenter_fast_path(&mut self, comes: Instant, departs: Instant) {
        if self.taken.packets.is_multiple_of(OFTEN) && self.left.packets >= self.alike_from {
            self.enter_fast_path(comes, departs);
        }
    }
}

/// The longest wait of a packet where `room` others that take so many nanoseconds each fill the queue.
#[inline]
fn longest_wait(room: u64, nanos: u32) -> i64 {
    i64::try_from((room - 1).saturating_mul(u64::from(nanos))).unwrap_or(i64::MAX)
}
