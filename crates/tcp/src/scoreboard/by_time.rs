//! Losses by time (RFC 8985): transmissions in the order in which they went out.

use ackclock_units::{Bytes, Duration, Instant};

use ackclock_laws::data::cache::{Place, place};
use ackclock_laws::data::ring::Ring;

use super::{
    Change, Delivered, LOST, RESENT_EVER, RETRANSMITTED, SACKED, Scoreboard, Sent, offset,
};

/// Every transmission in the order of time. Those of segments that went out once are in the order of their numbers,
/// so that the ring of segments has them, and only the others are kept here.
#[derive(Clone, Debug, Default)]
pub(super) struct ByTime {
    /// The number of segments that went out once those before this one are lost, or were delivered.
    once: u64,
    /// Transmissions of segments that went out again. Those of segments that were delivered since, or went out once
    /// more, are skipped when met.
    again: Ring<Again>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Again {
    at: Instant,
    n: u64,
    /// The first segment that went out once, and after this.
    before: u64,
}

impl ByTime {
    /// Segment `n` went out again, and `next` is the number of the next new one.
    pub(super) fn on_resent(&mut self, at: Instant, n: u64, next: u64) {
        self.again.push(Again { at, n, before: next });
    }

    /// The place of the first that went out again.
    pub(super) fn each_end(&self, see: &mut impl FnMut(Place)) {
        if let Some(first) = self.again.front() {
            see(place(first));
        }
    }

    /// The same memory, empty.
    pub(super) fn cleared(mut self) -> Self {
        self.again.clear();
        Self { once: 0, again: self.again }
    }

    /// The earliest transmission of which not all is known, if there are segments from `base` to `next`: when the
    /// segment went out again if it did, and its number.
    fn first(&self, base: u64, next: u64) -> Option<(Option<Instant>, u64)> {
        let once = self.once.max(base);
        match self.again.front() {
            Some(again) if again.before <= once || once >= next => Some((Some(again.at), again.n)),
            _ => (once < next).then_some((None, once)),
        }
    }

    /// All is known of that transmission.
    fn pass(&mut self, (again, n): (Option<Instant>, u64)) {
        if again.is_some() {
            self.again.pop_front();
        } else {
            self.once = n + 1;
        }
    }
}

impl Scoreboard {
    /// Marks as lost what was sent `wait` or longer ago, before the segment `newest` that was
    /// delivered (RFC 8985 §6.2 step 5). Returns when the next one will be, if it is not delivered
    /// until then.
    pub fn find_lost_by_time(
        &mut self,
        newest: Delivered,
        wait: Duration,
        now: Instant,
        newly_lost: &mut Bytes,
    ) -> Option<Instant> {
        while let Some(first) = self.first_by_time() {
            let (_, n) = first;
            let sent = &mut self.segments[offset(n, self.base)];
            let at = sent.at;
            if !sent.is_before(newest) {
                return None;
            }
            let deadline = at + wait;
            if deadline > now {
                return Some(deadline);
            }
            self.sums.take(sent);
            sent.mark(LOST);
            // Of a retransmission: it was lost in its turn, and goes out once more.
            sent.unmark(RETRANSMITTED);
            self.sums.add(sent);
            *newly_lost += Bytes::new(u64::from(sent.len()));
            if let Some(journal) = &mut self.journal {
                journal.push(Change::Lost(sent.range(newest.end)));
            }
            self.resend_from = self.resend_from.min(n);
            self.resend_to = self.resend_to.max(n + 1);
            self.by_time.as_mut()?.pass(first);
        }
        None
    }

    /// Between which moments losses will be found if nothing more is delivered, at the cost of all segments: of what
    /// [`find_lost_by_time`](Self::find_lost_by_time) looks at, the first and the last deadline.
    pub fn deadlines(&self, newest: Delivered, wait: Duration) -> Option<(Instant, Instant)> {
        let late = |sent: &&Sent| {
            let open = !sent.is(SACKED) && (sent.is(RETRANSMITTED) || !sent.is(LOST));
            open && sent.is_before(newest)
        };
        let deadlines = || self.segments.iter().filter(late).map(|sent| sent.at + wait);
        Some((deadlines().min()?, deadlines().max()?))
    }

    /// The earliest transmission of which nothing is known yet, and that is the last of its segment.
    pub(super) fn first_by_time(&mut self) -> Option<(Option<Instant>, u64)> {
        let by_time = self.by_time.as_mut()?;
        let next = self.base + self.segments.len() as u64;
        while let Some(first) = by_time.first(self.base, next) {
            let (again, n) = first;
            let open = |sent: &Sent| {
                let last = again.map_or(!sent.is(RESENT_EVER), |at| sent.at == at);
                last && !sent.is(SACKED) && (sent.is(RETRANSMITTED) || !sent.is(LOST))
            };
            if n >= self.base && open(&self.segments[offset(n, self.base)]) {
                return Some(first);
            }
            // Delivered, sent again since, or known to be lost.
            by_time.pass(first);
        }
        None
    }

    /// Passes by what would be passed by at the next question, so that boards of which one was asked more often are
    /// equal.
    #[cfg(test)]
    pub fn tidy(&mut self) {
        self.first_by_time();
        if let Some(by_time) = &mut self.by_time {
            by_time.once = by_time.once.max(self.base);
        }
    }

    /// The timer expired, on a scoreboard by time: the first segment is lost, and what was sent
    /// `wait` or longer ago (RFC 8985 §6.3).
    pub fn on_timeout_by_time(&mut self, wait: Duration, now: Instant) {
        self.forget_duplicates();
        let sums = &mut self.sums;
        for (n, sent) in
            self.segments.iter_mut_from(0).enumerate().filter(|(_, sent)| !sent.is(SACKED))
        {
            if n == 0 || sent.at + wait <= now {
                sums.take(sent);
                sent.mark(LOST);
                sent.unmark(RETRANSMITTED);
                sums.add(sent);
            }
        }
        self.resend_from = self.base;
        self.resend_to = self.base + self.segments.len() as u64;
    }

    /// The order in time begins anew: of no transmission anything is known but of those that were delivered.
    pub(super) fn begin_by_time_anew(&mut self) {
        let Some(ByTime { once, again }) = &mut self.by_time else { return };
        *once = self.base;
        again.clear();
        let segments = || (self.base..).zip(self.segments.iter());
        let resent = segments().filter(|(_, sent)| sent.is(RESENT_EVER) && !sent.is(SACKED));
        for (n, sent) in resent {
            again.push(Again { at: sent.at, n, before: 0 });
        }
        // In one part, as the ring was empty.
        let [again, _] = again.parts_mut();
        again.sort_unstable_by_key(|again| (again.at, again.n));
        let next = self.base + self.segments.len() as u64;
        let mut once = segments().filter(|(_, sent)| !sent.is(RESENT_EVER)).peekable();
        for Again { at, n, before } in again {
            while once.next_if(|(other, sent)| (sent.at, *other) < (*at, *n)).is_some() {}
            *before = once.peek().map_or(next, |(other, _)| *other);
        }
    }
}
