//! The delivery rate of the path: one rate sample an ACK, by the delivery rate estimation of
//! draft-ietf-ccwg-bbr-06 (July 2026) §4.1.2.
//!
//! It keeps a record of every segment in flight, which only a law that models the path needs: a
//! sender without such a law has no tracker. The segments themselves are on the scoreboard, each record's in the same
//! place; where recovery has none the tracker keeps them. Which were SACKed or found lost it learns from
//! the scoreboard's journal; cumulative ACKs it follows itself, before the scoreboard does. Without SACK every duplicate ACK
//! counts as a segment delivered (§4.1.3.5.1), and what is sent again as lost.

use ackclock_laws::data::cache::{Place, ends};
use ackclock_laws::data::ring::Ring;
use ackclock_laws::event::{LostSegment, RateSample};
use ackclock_packet::{Range, Seq};
use ackclock_units::{Bytes, Duration, Instant, Mss};

use crate::data::near::EarlierCount;
use crate::scoreboard::{Change, Scoreboard, Segments, Sent, holding};

/// The number of records that ACKs may soon ask for.
const SOON: usize = 10;

/// The state when a segment was last sent: 24 bytes, as there are as many as packets under way. The rest, which segment
/// it is and when that was, is with the segment itself.
#[derive(Clone, Copy, Debug, Default)]
// In words, and no booleans: what is copied in odd parts is slow to be read.
#[repr(C)]
struct Record {
    /// By how much `P.delivered_time` and `P.first_send_time` were earlier, in nanoseconds, the low bits.
    delivered_before: u32,
    first_sent_before: u32,
    /// `P.delivered`, `P.lost`.
    delivered: EarlierCount,
    /// The count of losses then. The losses while a segment is on its way are no more than what is sent meanwhile,
    /// and after a few windows one
    /// of which nothing is heard is lost itself.
    lost: EarlierCount,
    /// `P.tx_in_flight`, the segment itself included.
    in_flight: u32,
    /// Four notes, and behind them the high bits of the two times.
    notes: u32,
}

/// A bit of [`Record::notes`]: the application limited the rate then.
const APP_LIMITED: u32 = 1;
/// It was not sent for the first time.
const AGAIN: u32 = 2;
/// It was delivered since.
const DELIVERED: u32 = 4;
/// It went out as a probe of a closed window, which nobody measured.
const UNKNOWN: u32 = 8;
const NOTES: u32 = 4;
/// High bits of each time: with the low ones these are 19 hours. A connection that nothing is heard of for so long has ended.
const HIGH: u32 = 14;
const LONGEST: u64 = (1 << (32 + HIGH)) - 1;

impl Record {
    const PROBE: Self = Self {
        delivered_before: 0,
        first_sent_before: 0,
        delivered: EarlierCount::ZERO,
        lost: EarlierCount::ZERO,
        in_flight: 0,
        notes: UNKNOWN,
    };

    #[inline]
    const fn is(&self, note: u32) -> bool {
        self.notes & note != 0
    }

    #[inline]
    fn delivered_before(&self) -> Duration {
        long(self.delivered_before, self.notes >> NOTES & ((1 << HIGH) - 1))
    }

    #[inline]
    fn first_sent_before(&self) -> Duration {
        long(self.first_sent_before, self.notes >> (NOTES + HIGH))
    }

    fn in_flight(&self) -> Bytes {
        Bytes::new(u64::from(self.in_flight))
    }
}

/// A time by its low bits and its high ones, and the two of a time.
#[inline]
fn long(low: u32, high: u32) -> Duration {
    Duration::from_nanos(u64::from(high) << 32 | u64::from(low))
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low bits, and the high ones of 46")]
fn halves(time: Duration) -> (u32, u32) {
    let nanos = time.as_nanos().min(LONGEST);
    (nanos as u32, (nanos >> 32) as u32)
}

/// The deliveries in all, and those of one ACK, so far.
#[derive(Clone, Copy, Debug, Default)]
struct Delivering {
    /// `C.delivered`, `C.delivered_time`.
    total: Bytes,
    at: Instant,
    /// Data delivered for the first time.
    data: Bytes,
    /// The segment sent last among those delivered, if there is one: its record, when it was sent and the number
    /// after it.
    newest: Record,
    newest_at: Instant,
    newest_end: Seq,
    has_newest: bool,
    /// True if one of them was sent once, and when the last such was (Karn's rule).
    times: bool,
    segments: u32,
    rtt_from: Instant,
    /// The last one's length.
    len: Bytes,
}

impl Delivering {
    #[inline]
    fn count(&mut self, now: Instant, data: Bytes) {
        self.total += data;
        self.at = now;
        self.data += data;
    }

    /// `data` of a segment, which is near `near`, counts for the first time (§4.1.2.3, `UpdateRateSample`). The record is
    /// read where it lies: a copy on the way would be slow to be read.
    #[inline]
    fn deliver(&mut self, now: Instant, near: Seq, sent: &Sent, record: &Record, data: Bytes) {
        self.count(now, data);
        self.segments += 1;
        self.len = Bytes::new(u64::from(sent.len()));
        if !record.is(AGAIN) {
            self.times = true;
            self.rtt_from = self.rtt_from.max(sent.at);
        }
        let end = sent.end(near);
        if !self.has_newest || (sent.at, end) > (self.newest_at, self.newest_end) {
            self.has_newest = true;
            self.newest_at = sent.at;
            self.newest_end = end;
            self.newest = *record;
        }
    }
}

/// The deliveries of one ACK.
#[derive(Clone, Copy, Debug)]
pub struct Delivered {
    /// Data delivered for the first time.
    pub data: Bytes,
    /// The sample, if a segment was delivered.
    pub sample: Option<RateSample>,
    /// The round-trip time of the segment sent last among those sent once.
    pub rtt: Option<Duration>,
    /// True if the receiver may have kept the ACK back: it is for one segment that is not full and
    /// was alone on its way.
    pub maybe_delayed: bool,
}

/// The estimator.
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    /// One record for each segment on the scoreboard, in their order.
    records: Ring<Record>,
    /// The segments themselves, where recovery keeps no scoreboard.
    own: Option<Box<Segments>>,
    /// `C.first_send_time`, `C.lost`.
    first_sent_at: Instant,
    lost: Bytes,
    /// `C.app_limited`: samples are application-limited until so much was delivered; zero if they are not.
    app_limited_to: Bytes,
    /// The window counts as in full use until so much was delivered; it does not if this is zero.
    cwnd_limited_to: Bytes,
    /// Without SACK: data that duplicate ACKs reported and no cumulative ACK has covered yet.
    anonymous: Bytes,
    delivering: Delivering,
}

impl Tracker {
    /// One that keeps the segments itself, for a recovery without a scoreboard: what it is told is told with none.
    pub fn by_itself() -> Self {
        Self { own: Some(Box::default()), ..Self::default() }
    }

    /// Begins anew, in the memory of this one: one `by_itself`, or with a scoreboard.
    pub(crate) fn reset(&mut self, by_itself: bool) {
        let mut records = std::mem::take(&mut self.records);
        records.clear();
        *self = Self { records, ..if by_itself { Self::by_itself() } else { Self::default() } };
    }

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

    /// True if the application, and not the path, limits the samples now.
    pub const fn is_app_limited(&self) -> bool {
        self.app_limited_to.get() > 0
    }

    /// True if the window was in full use within the last round trip, `C.is_cwnd_limited`.
    pub const fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited_to.get() > 0
    }

    /// The sender has run dry with `in_flight` under way (§4.1.2.4, `MarkConnectionAppLimited`).
    pub fn mark_app_limited(&mut self, in_flight: Bytes) {
        self.app_limited_to = self.more_than(in_flight);
    }

    /// The first count of what was delivered that is of more than that and of what is under way.
    fn more_than(&self, in_flight: Bytes) -> Bytes {
        self.delivering.total + in_flight + Bytes::new(1)
    }

    /// The window is full with `in_flight` under way.
    pub fn mark_cwnd_limited(&mut self, in_flight: Bytes) {
        self.cwnd_limited_to = self.more_than(in_flight);
    }

    /// A segment goes out, with which `in_flight` is under way (§4.1.2.2), and is on the `board` already.
    #[inline]
    pub fn on_sent(
        &mut self,
        now: Instant,
        range: Range,
        in_flight: Bytes,
        board: Option<&Scoreboard>,
    ) {
        if in_flight <= range.len() {
            self.first_sent_at = now;
            self.delivering.at = now;
        }
        let Some(board) = board else {
            self.on_sent_by_itself(now, range, in_flight);
            return;
        };
        if self.records.len() < board.len() {
            let record = self.record(now, in_flight);
            self.records.push_range(record, range);
        } else {
            self.send_again(now, board.segments(), range, in_flight);
        }
    }

    /// A transmission without a scoreboard, where what goes out again may be of other stretches than before.
    #[cold]
    fn on_sent_by_itself(&mut self, now: Instant, range: Range, in_flight: Bytes) {
        let Some(mut own) = self.own.take() else { return };
        let known = own.back().map_or(range.start, |last| last.end(range.start));
        if range.end > known {
            let start = range.start.max(known);
            let new = Range { start, end: range.end };
            let len = u32::try_from(new.len().get()).ok().filter(|len| *len < 1 << 28);
            let len = len.expect("a segment of fewer than 2^28 bytes");
            own.push_range(Sent::new(start, len, now), new);
            let record = self.record(now, in_flight);
            self.records.push_range(record, new);
        }
        let old = Range { start: range.start, end: range.end.min(known) };
        if old.start < old.end {
            self.send_again(now, &own, old, in_flight);
            let from = holding(&own, old.start);
            let records = self.records.iter_from(from);
            for (sent, record) in own.iter_mut_from(from).zip(records) {
                if sent.after(old.end) >= 0 {
                    break;
                }
                if !record.is(DELIVERED) {
                    sent.at = now;
                }
            }
        }
        self.own = Some(own);
    }

    /// The record that a segment takes along. Made where it is written to, as a copy of what was just written in
    /// parts would have to wait.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is kept where it is made")]
    fn record(&self, now: Instant, in_flight: Bytes) -> Record {
        let (delivered_before, high) = halves(now.since(self.delivering.at));
        let (first_sent_before, higher) = halves(now.since(self.first_sent_at));
        let limited = if self.is_app_limited() { APP_LIMITED } else { 0 };
        Record {
            delivered_before,
            first_sent_before,
            delivered: EarlierCount::of(self.delivering.total),
            lost: EarlierCount::of(self.lost),
            in_flight: u32::try_from(in_flight.get()).unwrap_or(u32::MAX),
            notes: limited | high << NOTES | higher << (NOTES + HIGH),
        }
    }

    /// The data in the records of a range is sent again.
    #[inline(never)]
    fn send_again(&mut self, now: Instant, segments: &Segments, range: Range, in_flight: Bytes) {
        let mut again = self.record(now, in_flight);
        again.notes |= AGAIN;
        let from = holding(segments, range.start);
        for (sent, record) in segments.iter_from(from).zip(self.records.iter_mut_from(from)) {
            if sent.after(range.end) >= 0 {
                break;
            }
            if !record.is(DELIVERED | UNKNOWN) {
                *record = again;
            }
        }
    }

    /// A segment on the board was cut in two, and the second part is at place `rest`.
    #[cold]
    pub fn cut(&mut self, rest: usize) {
        if let Some(record) = rest.checked_sub(1).and_then(|cut| self.records.get(cut)) {
            let record = *record;
            self.records.insert(rest, record);
        }
    }

    /// A probe of a closed window was taken for a segment, which may be on the board now: it measured nothing.
    #[cold]
    pub fn on_probe(&mut self, board: Option<&Scoreboard>) {
        while board.is_some_and(|board| self.records.len() < board.len()) {
            self.records.push(Record::PROBE);
        }
    }

    /// Takes in a change of the scoreboard; for a loss, answers with what the law is to be told.
    pub fn on_change(
        &mut self,
        now: Instant,
        change: Change,
        board: Option<&Scoreboard>,
    ) -> Option<LostSegment> {
        match change {
            Change::Sacked(range) => {
                let segments = board.map(Scoreboard::segments).or(self.own.as_deref())?;
                let at = holding(segments, range.start);
                let (sent, record) = (segments.get(at)?, self.records.get_mut(at)?);
                if !record.is(DELIVERED | UNKNOWN) {
                    record.notes |= DELIVERED;
                    let len = Bytes::new(u64::from(sent.len()));
                    self.delivering.deliver(now, range.start, sent, record, len);
                }
                None
            }
            Change::Lost(range) => self.lose(now, range.start, board),
        }
    }

    /// The segment at `seq` is found lost.
    pub fn lose(
        &mut self,
        now: Instant,
        seq: Seq,
        board: Option<&Scoreboard>,
    ) -> Option<LostSegment> {
        let segments = board.map(Scoreboard::segments).or(self.own.as_deref())?;
        let at = holding(segments, seq);
        let (sent, record) = (segments.get(at)?, self.records.get(at)?);
        if record.is(UNKNOWN) {
            return None;
        }
        self.lost += Bytes::new(u64::from(sent.len()));
        Some(LostSegment {
            now,
            start: sent.start(seq),
            end: sent.end(seq),
            tx_in_flight: record.in_flight(),
            lost: record.lost.until(self.lost),
            delivered: self.delivering.total,
            is_app_limited: record.is(APP_LIMITED),
        })
    }

    /// Everything before `una` is acknowledged, and still on the `board`.
    #[inline]
    pub fn on_cumulative_ack(&mut self, now: Instant, una: Seq, board: Option<&Scoreboard>) {
        if let Some(board) = board {
            self.acknowledge(now, una, board.segments());
        } else {
            self.acknowledge_by_itself(now, una);
        }
    }

    #[cold]
    fn acknowledge_by_itself(&mut self, now: Instant, una: Seq) {
        let Some(mut own) = self.own.take() else { return };
        self.acknowledge(now, una, &own);
        while own.len() > self.records.len() {
            own.pop_front();
        }
        if let Some(first) = own.front_mut().filter(|first| first.after(una) < 0) {
            first.cut(una.since(first.start(una)).get());
        }
        self.own = Some(own);
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "of two callers one is rare")]
    fn acknowledge(&mut self, now: Instant, una: Seq, segments: &Segments) {
        let mut n = 0;
        while let Some(sent) = segments.get(n)
            && sent.after(una) < 0
            && let Some(record) = self.records.front()
        {
            let counts = !record.is(DELIVERED | UNKNOWN);
            if sent.end(una) > una {
                if counts {
                    self.delivering.count(now, una.since(sent.start(una)));
                }
                break;
            }
            if counts {
                let len = Bytes::new(u64::from(sent.len()));
                // The first was missing: no duplicate ACK was for it.
                let known = if n == 0 { Bytes::ZERO } else { self.anonymous.min(len) };
                self.anonymous -= known;
                self.delivering.deliver(now, una, sent, record, len - known);
            }
            self.records.pop_front();
            n += 1;
        }
        if self.records.is_empty() {
            self.anonymous = Bytes::ZERO;
        }
    }

    /// A duplicate ACK, of `una`, of a receiver that does not say which segment arrived.
    pub fn on_anonymous(&mut self, now: Instant, una: Seq, mss: Mss, board: Option<&Scoreboard>) {
        let Some(segments) = board.map(Scoreboard::segments).or(self.own.as_deref()) else {
            return;
        };
        let (Some(first), Some(last)) = (segments.front(), segments.back()) else { return };
        let beyond_first = last.end(una).since(first.end(una));
        let data = mss.bytes().min(beyond_first.saturating_sub(self.anonymous));
        self.anonymous += data;
        self.delivering.count(now, data);
    }

    /// The ACK is done with: the sample it makes (§4.1.2.3, `GenerateRateSample`). `min_rtt` is the
    /// least round-trip time of the connection.
    pub fn finish(&mut self, now: Instant, min_rtt: Duration, mss: Mss) -> Delivered {
        for limited_to in [&mut self.app_limited_to, &mut self.cwnd_limited_to] {
            if self.delivering.total >= *limited_to {
                *limited_to = Bytes::ZERO;
            }
        }
        let delivering = &mut self.delivering;
        let sample = std::mem::take(&mut delivering.has_newest).then(|| {
            let sent = &delivering.newest;
            self.first_sent_at = delivering.newest_at;
            let send_elapsed = sent.first_sent_before();
            let ack_elapsed = now.since(delivering.newest_at) + sent.delivered_before();
            let interval = send_elapsed.max(ack_elapsed);
            let delivered = sent.delivered.until(delivering.total);
            RateSample {
                delivered,
                interval: (interval > Duration::ZERO && interval >= min_rtt).then_some(interval),
                prior_delivered: delivering.total - delivered,
                is_app_limited: sent.is(APP_LIMITED),
                tx_in_flight: sent.in_flight(),
                lost: sent.lost.until(self.lost),
            }
        });
        let alone = sample.as_ref().is_some_and(|sample| sample.delivered == delivering.len);
        Delivered {
            data: std::mem::take(&mut delivering.data),
            sample,
            rtt: std::mem::take(&mut delivering.times)
                .then(|| now.since(std::mem::replace(&mut delivering.rtt_from, Instant::START))),
            maybe_delayed: std::mem::take(&mut delivering.segments) == 1
                && delivering.len < mss.bytes()
                && alone,
        }
    }
}

#[cfg(test)]
mod tests;
