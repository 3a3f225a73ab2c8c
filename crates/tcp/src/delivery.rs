//! How fast the path delivers: one rate sample an ACK, by the delivery rate estimation of
//! draft-ietf-ccwg-bbr-06 (July 2026) §4.1.2.
//!
//! It keeps a record of every segment in flight, which only a law that models the path needs: a
//! sender without such a law has no tracker. Which segments were SACKed or found lost it learns from
//! the scoreboard's journal; cumulative ACKs it follows itself. Without SACK every duplicate ACK
//! counts as a segment delivered (§4.1.3.5.1), and what is sent again as lost.

use ackclock_packet::{Range, Seq};
use ackclock_units::{Bytes, Duration, Instant, Mss};

use crate::event::{LostSegment, RateSample};
use crate::near::{EarlierCount, NearSeq};
use crate::ring::Ring;
use crate::scoreboard::Change;
use crate::sender::{Place, ends};

/// So many records ACKs may soon ask for.
const SOON: usize = 10;

/// What was known when a segment was last sent.
#[derive(Clone, Copy, Debug, Default)]
// In words, and no booleans: what is copied in odd parts is slow to be read.
#[repr(C)]
struct Snapshot {
    at: Instant,
    /// `P.delivered_time`, `P.first_send_time`, `P.delivered`, `P.lost`.
    delivered_at: Instant,
    first_sent_at: Instant,
    delivered: EarlierCount,
    /// What is lost while a segment is on its way is no more than what is sent meanwhile, and after a few windows one
    /// of which nothing is heard is lost itself.
    lost: EarlierCount,
    /// `P.tx_in_flight`, the segment itself included.
    in_flight: u32,
    notes: u32,
}

/// Of [`Snapshot::notes`]: then the application limited the rate.
const APP_LIMITED: u32 = 1;
/// It was not sent for the first time.
const AGAIN: u32 = 2;

impl Snapshot {
    #[inline]
    const fn is_app_limited(&self) -> bool {
        self.notes & APP_LIMITED != 0
    }

    #[inline]
    const fn was_again(&self) -> bool {
        self.notes & AGAIN != 0
    }

    fn in_flight(&self) -> Bytes {
        Bytes::new(u64::from(self.in_flight))
    }
}

/// A segment in flight: 48 bytes, as there are as many of them as packets.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Record {
    start: NearSeq,
    /// Numbers that it covers, of a segment of 16 bits and a FIN, and below that whether it is delivered.
    marked_len: u32,
    sent: Snapshot,
}

impl Record {
    fn new(start: Seq, len: Bytes, sent: Snapshot) -> Self {
        let mut record = Self { start: NearSeq::of(start), marked_len: 0, sent };
        record.set_len(len);
        record
    }

    #[inline]
    fn set_len(&mut self, len: Bytes) {
        let len = u32::try_from(len.get()).ok().and_then(|len| len.checked_mul(2));
        let len = len.expect("a segment of fewer than 2^31 bytes");
        self.marked_len = len | u32::from(self.is_delivered());
    }

    #[inline]
    fn len(&self) -> Bytes {
        Bytes::new(u64::from(self.marked_len >> 1))
    }

    #[inline]
    fn is_delivered(&self) -> bool {
        self.marked_len & 1 != 0
    }

    fn set_delivered(&mut self) {
        self.marked_len |= 1;
    }

    #[inline]
    fn start(&self, near: Seq) -> Seq {
        self.start.get(near)
    }

    #[inline]
    fn end(&self, near: Seq) -> Seq {
        self.start(near) + self.len()
    }
}

/// What was delivered in all, and what one ACK delivered, so far.
#[derive(Clone, Copy, Debug)]
struct Delivering {
    /// `C.delivered`, `C.delivered_time`.
    total: Bytes,
    at: Instant,
    /// Data delivered for the first time.
    data: Bytes,
    /// The segment sent last among those delivered, and the number after it; if there is one.
    newest: Snapshot,
    newest_end: Seq,
    has_newest: bool,
    /// When the last of them that was sent once was sent (Karn's rule).
    rtt_from: Option<Instant>,
    segments: u32,
    /// The last one's length.
    len: Bytes,
}

impl Default for Delivering {
    fn default() -> Self {
        let none = EarlierCount::of(Bytes::ZERO);
        let newest = Snapshot {
            at: Instant::START,
            delivered_at: Instant::START,
            first_sent_at: Instant::START,
            delivered: none,
            lost: none,
            in_flight: 0,
            notes: 0,
        };
        Self {
            total: Bytes::ZERO,
            at: Instant::START,
            data: Bytes::ZERO,
            newest,
            newest_end: Seq::FIRST_BYTE,
            has_newest: false,
            rtt_from: None,
            segments: 0,
            len: Bytes::ZERO,
        }
    }
}

impl Delivering {
    #[inline]
    fn count(&mut self, now: Instant, data: Bytes) {
        self.total += data;
        self.at = now;
        self.data += data;
    }

    /// `data` of `record`, which is near `near`, counts for the first time (§4.1.2.3, `UpdateRateSample`). The record is
    /// read where it lies: a copy on the way would be slow to be read.
    #[inline]
    fn deliver(&mut self, now: Instant, near: Seq, record: &Record, data: Bytes) {
        self.count(now, data);
        self.segments += 1;
        self.len = record.len();
        if !record.sent.was_again() {
            self.rtt_from = self.rtt_from.max(Some(record.sent.at));
        }
        let end = record.end(near);
        if !self.has_newest || (record.sent.at, end) > (self.newest.at, self.newest_end) {
            self.has_newest = true;
            self.newest_end = end;
            self.newest = record.sent;
        }
    }
}

/// What an ACK delivered.
#[derive(Clone, Copy, Debug)]
pub struct Delivered {
    /// Data delivered for the first time.
    pub data: Bytes,
    /// The sample, if a segment was delivered.
    pub sample: Option<RateSample>,
    /// The round-trip time of the segment sent last among those sent once.
    pub rtt: Option<Duration>,
    /// Whether the receiver may have kept the ACK back: it is for one segment that is not full and
    /// was alone on its way.
    pub maybe_delayed: bool,
}

/// The estimator.
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    records: Ring<Record>,
    /// `C.first_send_time`, `C.lost`.
    first_sent_at: Instant,
    lost: Bytes,
    /// `C.app_limited`: samples are application-limited until more than this was delivered.
    app_limited: Option<Bytes>,
    /// The window counts as in full use until more than this was delivered.
    cwnd_limited: Option<Bytes>,
    /// Without SACK: data that duplicate ACKs reported and no cumulative ACK has covered yet.
    anonymous: Bytes,
    delivering: Delivering,
}

impl Tracker {
    /// The places of the first records and of the last.
    pub(crate) fn each_end(&self, see: &mut impl FnMut(Place)) {
        ends(&self.records, SOON, see);
    }

    /// Data delivered since the connection began, `C.delivered`.
    pub const fn delivered(&self) -> Bytes {
        self.delivering.total
    }

    /// Data found lost since the connection began, `C.lost`; lost twice, counted twice.
    pub const fn lost(&self) -> Bytes {
        self.lost
    }

    /// Whether the application, and not the path, limits the samples now.
    pub const fn is_app_limited(&self) -> bool {
        self.app_limited.is_some()
    }

    /// Whether the window was in full use within the last round trip, `C.is_cwnd_limited`.
    pub const fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited.is_some()
    }

    /// The sender has run dry with `in_flight` under way (§4.1.2.4, `MarkConnectionAppLimited`).
    pub fn mark_app_limited(&mut self, in_flight: Bytes) {
        self.app_limited = Some(self.delivering.total + in_flight);
    }

    /// The window is full with `in_flight` under way.
    pub fn mark_cwnd_limited(&mut self, in_flight: Bytes) {
        self.cwnd_limited = Some(self.delivering.total + in_flight);
    }

    /// A segment goes out, with which `in_flight` is under way (§4.1.2.2).
    ///
    /// # Panics
    /// If it has 2^31 bytes.
    #[inline]
    pub fn on_sent(&mut self, now: Instant, range: Range, in_flight: Bytes) {
        if in_flight <= range.len() {
            self.first_sent_at = now;
            self.delivering.at = now;
        }
        let known = self.records.back().map_or(range.start, |last| last.end(range.start));
        if range.end > known {
            let start = range.start.max(known);
            let sent = self.snapshot(now, in_flight);
            let record = Record::new(start, range.end.since(start), sent);
            self.records.push_range(record, Range { start, end: range.end });
        }
        if range.start < known {
            self.send_again(now, range, known, in_flight);
        }
    }

    /// What a segment that goes out now takes along. Made where it is written to, as a copy of what was just written in
    /// parts would have to wait.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is kept where it is made")]
    fn snapshot(&self, now: Instant, in_flight: Bytes) -> Snapshot {
        Snapshot {
            at: now,
            delivered_at: self.delivering.at,
            first_sent_at: self.first_sent_at,
            delivered: EarlierCount::of(self.delivering.total),
            lost: EarlierCount::of(self.lost),
            in_flight: u32::try_from(in_flight.get()).unwrap_or(u32::MAX),
            notes: if self.is_app_limited() { APP_LIMITED } else { 0 },
        }
    }

    /// What is in the records of a range is sent again.
    #[inline(never)]
    fn send_again(&mut self, now: Instant, range: Range, known: Seq, in_flight: Bytes) {
        let mut sent = self.snapshot(now, in_flight);
        sent.notes |= AGAIN;
        let from = self.position(range.start);
        for record in self.records.iter_mut_from(from) {
            if record.start(known) >= range.end.min(known) {
                break;
            }
            if !record.is_delivered() {
                record.sent = sent;
            }
        }
    }

    /// The first record that ends after `seq`.
    #[inline]
    fn position(&self, seq: Seq) -> usize {
        // Segments are nearly all of one size, so that counting finds nearly all of them.
        if let Some(first) = self.records.front()
            && let Some(guess) = first.start.segments_to(seq, first.marked_len >> 1)
            && self
                .records
                .get(guess)
                .is_some_and(|record| record.start(seq) <= seq && seq < record.end(seq))
        {
            return guess;
        }
        self.records.partition_point(|record| record.end(seq) <= seq)
    }

    /// What the scoreboard noted; for a loss, what the law is to be told.
    pub fn on_change(&mut self, now: Instant, change: Change) -> Option<LostSegment> {
        match change {
            Change::Sacked(range) => {
                let at = self.position(range.start);
                if let Some(record) = self.records.get_mut(at)
                    && !record.is_delivered()
                {
                    record.set_delivered();
                    self.delivering.deliver(now, range.start, record, record.len());
                }
                None
            }
            Change::Lost(range) => self.lose(now, range.start),
        }
    }

    /// The segment at `seq` is found lost.
    pub fn lose(&mut self, now: Instant, seq: Seq) -> Option<LostSegment> {
        let record = self.records.get(self.position(seq))?;
        self.lost += record.len();
        Some(LostSegment {
            now,
            start: record.start(seq),
            end: record.end(seq),
            tx_in_flight: record.sent.in_flight(),
            lost: record.sent.lost.until(self.lost),
            delivered: self.delivering.total,
            is_app_limited: record.sent.is_app_limited(),
        })
    }

    /// Everything before `una` is acknowledged.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller, for every ACK")]
    pub fn on_cumulative_ack(&mut self, now: Instant, una: Seq) {
        let mut missing = true;
        while let Some(first) = self.records.front_mut() {
            if first.start.after(una) >= 0 {
                break;
            }
            let end = first.end(una);
            if end > una {
                let part = una.since(first.start(una));
                first.start = NearSeq::of(una);
                first.set_len(end.since(una));
                if !first.is_delivered() {
                    self.delivering.count(now, part);
                }
                break;
            }
            if !first.is_delivered() {
                let len = first.len();
                // The first was missing: no duplicate ACK was for it.
                let known = if missing { Bytes::ZERO } else { self.anonymous.min(len) };
                self.anonymous -= known;
                self.delivering.deliver(now, una, first, len - known);
            }
            self.records.pop_front();
            missing = false;
        }
        if self.records.is_empty() {
            self.anonymous = Bytes::ZERO;
        }
    }

    /// A duplicate ACK, of `una`, of a receiver that does not say which segment arrived.
    pub fn on_anonymous(&mut self, now: Instant, una: Seq, mss: Mss) {
        let (Some(first), Some(last)) = (self.records.front(), self.records.back()) else { return };
        let beyond_first = last.end(una).since(first.end(una));
        let data = mss.bytes().min(beyond_first.saturating_sub(self.anonymous));
        self.anonymous += data;
        self.delivering.count(now, data);
    }

    /// The ACK is done with: the sample it makes (§4.1.2.3, `GenerateRateSample`). `min_rtt` is the
    /// least round-trip time of the connection.
    pub fn finish(&mut self, now: Instant, min_rtt: Duration, mss: Mss) -> Delivered {
        let passed = |mark: &Bytes| self.delivering.total > *mark;
        if self.app_limited.as_ref().is_some_and(passed) {
            self.app_limited = None;
        }
        if self.cwnd_limited.as_ref().is_some_and(passed) {
            self.cwnd_limited = None;
        }
        let delivering = &mut self.delivering;
        let sample = std::mem::take(&mut delivering.has_newest).then(|| {
            let sent = &delivering.newest;
            self.first_sent_at = sent.at;
            let send_elapsed = sent.at.since(sent.first_sent_at);
            let ack_elapsed = now.since(sent.delivered_at);
            let interval = send_elapsed.max(ack_elapsed);
            let delivered = sent.delivered.until(delivering.total);
            RateSample {
                delivered,
                interval: (interval > Duration::ZERO && interval >= min_rtt).then_some(interval),
                prior_delivered: delivering.total - delivered,
                is_app_limited: sent.is_app_limited(),
                tx_in_flight: sent.in_flight(),
                lost: sent.lost.until(self.lost),
            }
        });
        let alone = sample.as_ref().is_some_and(|sample| sample.delivered == delivering.len);
        Delivered {
            data: std::mem::take(&mut delivering.data),
            sample,
            rtt: delivering.rtt_from.take().map(|at| now.since(at)),
            maybe_delayed: std::mem::take(&mut delivering.segments) == 1
                && delivering.len < mss.bytes()
                && alone,
        }
    }
}

#[cfg(test)]
mod tests;
