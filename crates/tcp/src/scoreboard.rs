//! The scoreboard of RFC 6675 §3: what was sent and not yet acknowledged, segment by segment.
//!
//! Every question costs O(1) an ACK, amortized: segments lie in a ring in the order of their numbers;
//! which are lost is a pointer that only moves forward; `pipe` is kept as a sum; and of a SACK block
//! that repeats the last one only the new part is looked at.

mod by_time;
mod sent;

use ackclock_packet::{Range, Seq};
use ackclock_units::{Bytes, Duration, Instant};

use ackclock_laws::data::cache::{Place, ends};
use by_time::ByTime;
use sent::{LOST, MARK_BITS, RESENT_EVER, RETRANSMITTED, SACKED};

pub(crate) use sent::{Segments, Sent, holding};

/// SACKed segments above a hole that mean it is lost (RFC 6675 §2, `DupThresh`).
const DUP_THRESH: u64 = 3;

/// Sums over the segments in the ring.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    pipe: u64,
    /// Segments that are lost, and those whose retransmission is out; neither SACKed.
    lost: u64,
    resent: u64,
}

impl Sums {
    #[inline]
    fn add(&mut self, sent: &Sent) {
        self.pipe += sent.in_pipe();
        if !sent.is(SACKED) {
            self.lost += u64::from(sent.is(LOST));
            self.resent += u64::from(sent.is(RETRANSMITTED));
        }
    }

    #[inline]
    fn take(&mut self, sent: &Sent) {
        self.pipe -= sent.in_pipe();
        if !sent.is(SACKED) {
            self.lost -= u64::from(sent.is(LOST));
            self.resent -= u64::from(sent.is(RETRANSMITTED));
        }
    }
}

/// The segment sent last among those that an ACK delivered (RFC 8985 §5.2, `RACK.segment`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Delivered {
    /// When it was last sent.
    pub at: Instant,
    /// The number after it: of segments sent at one instant the later one counts.
    pub end: Seq,
}

/// The fate of a segment, for one who keeps a record of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was SACKed.
    Sacked(Range),
    /// It was found lost: its last transmission, if it was sent more than once.
    Lost(Range),
}

/// The facts of an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckFacts {
    /// When it arrived.
    pub now: Instant,
    /// The least round-trip time so far: a retransmission that seems to have been faster was not
    /// what was delivered (RFC 8985 §6.2 step 2).
    pub min_rtt: Duration,
    /// The segment sent last among those delivered.
    pub newest: Option<Delivered>,
    /// When the last of those delivered, in the order in which they are looked at, was sent.
    pub last_sent_at: Option<Instant>,
    /// When the last of the delivered segments that were sent once was sent (Karn's rule).
    pub rtt_from: Option<Instant>,
    /// The lowest number of a segment sent once that was delivered after one with a higher number.
    pub reordered_from: Option<Seq>,
    /// The lowest end of a segment delivered that was sent once.
    pub original_end: Option<Seq>,
    /// Data SACKed for the first time.
    pub newly_sacked: Bytes,
    /// The data among what the ACK acknowledged cumulatively that had been SACKed before.
    pub acked_after_sack: Bytes,
    /// Data found lost.
    pub newly_lost: Bytes,
}

impl AckFacts {
    /// Nothing yet, of an ACK that arrives at `now`.
    #[inline]
    pub fn at(now: Instant, min_rtt: Duration) -> Self {
        Self { now, min_rtt, ..Self::default() }
    }

    /// `DeliveredData` (RFC 9937 §6) of an ACK that acknowledges `newly_acked` more.
    pub fn delivered(&self, newly_acked: Bytes) -> Bytes {
        newly_acked.saturating_sub(self.acked_after_sack) + self.newly_sacked
    }
}

/// The number of segments that ACKs may soon ask for, with SACK blocks or without: six lines of the cache.
const SOON: usize = 24;

/// The scoreboard.
#[derive(Clone, Debug, Default)]
// What every ACK touches comes first.
#[repr(C)]
pub struct Scoreboard {
    segments: Segments,
    /// The number of the first segment in the ring, counted from the start of the connection.
    base: u64,
    sums: Sums,
    /// Segments and bytes that duplicate ACKs without SACK say have arrived, whichever they are.
    emulated: u64,
    emulated_bytes: u64,
    /// SACKed segments in the ring, and those of them before `lost_to`.
    sacked: u64,
    /// Every segment before this one is SACKed or lost.
    lost_to: u64,
    sacked_before_lost_to: u64,
    /// No segment before this one, nor from the other on, waits to be sent again.
    resend_from: u64,
    resend_to: u64,
    /// No segment from this one on was ever sent again.
    once_from: u64,
    /// The number after the highest that was delivered (RFC 8985 §5.2, `RACK.fack`).
    highest_delivered: Seq,
    /// Transmissions in the order of time, if time decides what is lost.
    by_time: Option<ByTime>,
    /// The changes that nobody has read, if somebody asks for them; emptied by whoever does.
    journal: Option<Vec<Change>>,
    sacked_bytes: u64,
    /// The blocks of the last ACK that had any.
    last_blocks: [Range; 4],
}

/// The memory of a scoreboard, empty, to be used again.
#[derive(Debug, Default)]
pub struct Memory {
    segments: Segments,
    by_time: ByTime,
}

impl Scoreboard {
    /// A scoreboard on which time decides what is lost (RFC 8985), not the count of SACKs.
    pub fn by_time() -> Self {
        Self { by_time: Some(ByTime::default()), ..Self::default() }
    }

    /// Begins anew as a board on which SACKs are counted and of which no journal is kept, in the memory of
    /// this one.
    pub fn reset(&mut self) {
        let Self {
            segments,
            base,
            sums,
            emulated,
            emulated_bytes,
            sacked_bytes,
            sacked,
            sacked_before_lost_to,
            lost_to,
            resend_from,
            resend_to,
            by_time,
            once_from,
            highest_delivered,
            last_blocks,
            journal,
        } = self;
        segments.clear();
        *base = 0;
        *sums = Sums::default();
        *emulated = 0;
        *emulated_bytes = 0;
        *sacked_bytes = 0;
        *sacked = 0;
        *sacked_before_lost_to = 0;
        *lost_to = 0;
        *resend_from = 0;
        *resend_to = 0;
        *by_time = None;
        *once_from = 0;
        *highest_delivered = Seq::default();
        *last_blocks = <[Range; 4]>::default();
        *journal = None;
    }

    /// The places of the first and the last entries.
    pub(crate) fn each_end(&self, see: &mut impl FnMut(Place)) {
        ends(&self.segments, SOON, see);
        if let Some(by_time) = &self.by_time {
            by_time.each_end(see);
        }
    }

    /// Takes the memory of what is on the board, which is then of no more use.
    pub fn take_memory(&mut self) -> Memory {
        let mut segments = std::mem::take(&mut self.segments);
        segments.clear();
        let by_time = self.by_time.take().unwrap_or_default().cleared();
        Memory { segments, by_time }
    }

    /// Uses memory that another board left; this one is empty.
    pub fn use_memory(&mut self, memory: Memory) {
        self.segments = memory.segments;
        if let Some(by_time) = &mut self.by_time {
            *by_time = memory.by_time;
        }
    }

    /// The segments in the order of their numbers.
    pub(crate) const fn segments(&self) -> &Segments {
        &self.segments
    }

    /// Ends the journal.
    pub fn keep_no_journal(&mut self) {
        self.journal = None;
    }

    /// Begins a journal of what is SACKed and found lost.
    pub fn keep_journal(&mut self) {
        self.journal = Some(Vec::new());
    }

    /// The journal, if one is kept; the caller empties it.
    pub const fn journal(&mut self) -> Option<&mut Vec<Change>> {
        self.journal.as_mut()
    }

    /// New data goes out.
    #[inline]
    pub fn on_sent(&mut self, start: Seq, len: Bytes, now: Instant) {
        let range = Range { start, end: start + len };
        let len = u32::try_from(len.get()).unwrap_or(u32::MAX >> MARK_BITS);
        self.sums.pipe += u64::from(len);
        self.segments.push_range(Sent::new(start, len, now), range);
    }

    /// The answer of [`on_cumulative_ack`](Self::on_cumulative_ack) where nothing is amiss: no segment is
    /// SACKed, lost or was sent again. Returns when the last segment delivered was sent, of which the
    /// rest of what an ACK tells follows; `None`, and nothing is done, if something is amiss.
    #[inline]
    pub fn on_plain_ack(&mut self, una: Seq) -> Option<Option<Instant>> {
        let amiss = self.sacked | self.emulated | self.sums.lost;
        if amiss != 0 || self.base < self.once_from {
            return None;
        }
        let mut last = None;
        while let Some(first) = self.segments.front_mut() {
            if first.after(una) >= 0 {
                break;
            }
            let end = first.end(una);
            if end > una {
                let acked = una.since(first.start(una)).get();
                first.cut(acked);
                self.sums.pipe -= acked;
                break;
            }
            self.sums.pipe -= u64::from(first.len());
            self.highest_delivered = end;
            last = Some(first.at);
            self.segments.pop_front();
            self.base += 1;
        }
        self.lost_to = self.lost_to.max(self.base);
        self.resend_from = self.resend_from.max(self.base);
        Some(last)
    }

    /// True if the first segment on the board was sent after `newest`, or there is none.
    #[inline]
    pub fn begins_after(&self, newest: Delivered) -> bool {
        self.segments.front().is_none_or(|first| !first.is_before(newest))
    }

    /// Everything before `una` is acknowledged.
    #[inline]
    pub fn on_cumulative_ack(&mut self, una: Seq, told: &mut AckFacts) {
        let mut acked = 0;
        let mut again = false;
        while let Some(first) = self.segments.front_mut() {
            if first.after(una) >= 0 {
                break;
            }
            self.sums.take(first);
            if first.end(una) > una {
                // Acknowledged in part: the rest stays.
                let acked = una.since(first.start(una)).get();
                first.cut(acked);
                self.sums.add(first);
                if first.is(SACKED) {
                    self.sacked_bytes -= acked;
                    told.acked_after_sack += Bytes::new(acked);
                }
                break;
            }
            if first.is(SACKED) {
                let len = u64::from(first.len());
                self.sacked_bytes -= len;
                told.acked_after_sack += Bytes::new(len);
                self.sacked -= 1;
                if self.base < self.lost_to {
                    self.sacked_before_lost_to -= 1;
                }
            } else {
                again |= first.is(RESENT_EVER);
                first.deliver(una, &mut self.highest_delivered, told);
            }
            self.segments.pop_front();
            self.base += 1;
            acked += 1;
        }
        if again {
            // What was sent once may have waited at the receiver for what was sent again, as long as
            // the repair took.
            told.rtt_from = None;
        }
        if self.emulated > 0 {
            self.forget_emulated(acked, told);
        }
        self.lost_to = self.lost_to.max(self.base);
        self.resend_from = self.resend_from.max(self.base);
    }

    /// A duplicate ACK without SACK: one more segment of `mss` has arrived, though not the first
    /// (RFC 9937 §6 counts it as delivered). What is lost has not.
    pub fn on_duplicate(&mut self, mss: Bytes, told: &mut AckFacts) {
        let holes = self.sums.lost.max(1);
        if self.emulated + holes < self.segments.len() as u64 {
            self.emulated += 1;
            self.emulated_bytes += mss.get();
            told.newly_sacked += mss;
        }
    }

    /// Forgets duplicate ACKs: of `acked` segments all but the first, which was missing, are those that duplicate
    /// ACKs told
    /// of.
    fn forget_emulated(&mut self, acked: u64, told: &mut AckFacts) {
        let known = acked.saturating_sub(1).min(self.emulated);
        let bytes = self.emulated_bytes * known / self.emulated.max(1);
        told.acked_after_sack += Bytes::new(bytes);
        self.emulated -= known;
        self.emulated_bytes -= bytes;
    }

    /// The SACK blocks of an ACK.
    pub fn on_sack(&mut self, blocks: &[Range], told: &mut AckFacts) {
        if blocks.is_empty() {
            return;
        }
        // From the lowest, so that what one ACK tells at once does not look reordered.
        let these = ascending(blocks);
        for block in &these[..blocks.len()] {
            self.mark_new_part(*block, told);
        }
        self.last_blocks = these;
        if self.by_time.is_none() {
            self.find_lost(told);
        }
    }

    /// Marks a block, less what the last ACK's blocks told already.
    fn mark_new_part(&mut self, block: Range, told: &mut AckFacts) {
        let known =
            self.last_blocks.iter().copied().find(|known| {
                !known.is_empty() && known.start < block.end && block.start < known.end
            });
        let (before, after) = match known {
            None => (block, Range::default()),
            Some(known) => (
                Range { start: block.start, end: known.start },
                Range { start: known.end, end: block.end },
            ),
        };
        for part in [before, after] {
            if !part.is_empty() {
                self.mark(part, told);
            }
        }
    }

    /// The number of segments that begin before `seq`.
    #[inline]
    fn position(&self, seq: Seq) -> usize {
        // Segments are nearly all of one size, so that counting finds nearly all of them.
        if let Some(first) = self.segments.front()
            && let Some(at) = first.from.segments_to(seq, first.len())
            && self.segments.get(at).is_some_and(|sent| sent.after(seq) == 0)
        {
            return at;
        }
        self.segments.partition_point(|sent| sent.after(seq) < 0)
    }

    /// Marks every segment that lies wholly in `range`.
    fn mark(&mut self, range: Range, told: &mut AckFacts) {
        let from = self.position(range.start);
        for offset in from..self.segments.len() {
            let sent = &mut self.segments[offset];
            if sent.end(range.end) > range.end {
                break;
            }
            if sent.is(SACKED) {
                continue;
            }
            self.sums.take(sent);
            sent.deliver(range.end, &mut self.highest_delivered, told);
            sent.mark(SACKED);
            if let Some(journal) = &mut self.journal {
                journal.push(Change::Sacked(sent.range(range.end)));
            }
            let len = u64::from(sent.len());
            self.sacked_bytes += len;
            told.newly_sacked += Bytes::new(len);
            self.sacked += 1;
            if self.base + (offset as u64) < self.lost_to {
                self.sacked_before_lost_to += 1;
            }
        }
    }

    /// Moves the lost pointer as far as the SACKed segments above it allow.
    ///
    /// DEVIATION(rfc6675 §4 `IsLost`): counts SACKed segments above, three of which mean a loss,
    /// and neither discontiguous ranges nor bytes. For full segments the three agree.
    fn find_lost(&mut self, told: &mut AckFacts) {
        while self.lost_to < self.base + self.segments.len() as u64 {
            let sent = &mut self.segments[offset(self.lost_to, self.base)];
            let before_next = self.sacked_before_lost_to + u64::from(sent.is(SACKED));
            if self.sacked - before_next < DUP_THRESH {
                break;
            }
            if sent.is(SACKED) {
                self.sacked_before_lost_to += 1;
            } else {
                self.sums.take(sent);
                sent.mark(LOST);
                self.sums.add(sent);
                told.newly_lost += Bytes::new(u64::from(sent.len()));
                if let Some(journal) = &mut self.journal {
                    journal.push(Change::Lost(sent.range(self.highest_delivered)));
                }
            }
            self.lost_to += 1;
        }
        self.resend_to = self.resend_to.max(self.lost_to);
    }

    /// The first unacknowledged segment is lost, whatever the SACKs say (the third duplicate ACK, or
    /// none of its data can be in the network any more).
    pub fn first_is_lost(&mut self) {
        if self.lost_to == self.base
            && let Some(first) = self.segments.front_mut()
            && !first.is(SACKED)
        {
            self.sums.take(first);
            first.mark(LOST);
            self.sums.add(first);
            if let Some(journal) = &mut self.journal {
                journal.push(Change::Lost(first.range(self.highest_delivered)));
            }
            self.lost_to += 1;
            self.resend_from = self.base;
            self.resend_to = self.resend_to.max(self.lost_to);
        }
    }

    /// The timer expired: everything that is not SACKed is lost, and nothing of it is under way.
    pub fn all_is_lost(&mut self) {
        for sent in self.segments.iter_mut_from(0).filter(|sent| !sent.is(SACKED)) {
            if let Some(journal) = &mut self.journal
                && (sent.is(RETRANSMITTED) || !sent.is(LOST))
            {
                journal.push(Change::Lost(sent.range(self.highest_delivered)));
            }
            sent.mark(LOST);
            sent.unmark(RETRANSMITTED);
        }
        self.sums = Sums { lost: self.segments.len() as u64 - self.sacked, ..Sums::default() };
        self.forget_duplicates();
        self.lost_to = self.base + self.segments.len() as u64;
        self.sacked_before_lost_to = self.sacked;
        self.resend_from = self.base;
        self.resend_to = self.lost_to;
    }

    /// True if the first segment is SACKed, although an ACK up to it says that it is missing: the receiver has
    /// dropped it again (RFC 2018 §8).
    #[inline]
    pub fn has_reneged(&self) -> bool {
        self.sacked > 0 && self.segments.front().is_some_and(|first| first.is(SACKED))
    }

    /// Forgets every SACK if the receiver [has reneged](Self::has_reneged); whether it has.
    pub fn forget_sacks_if_reneged(&mut self) -> bool {
        if !self.has_reneged() {
            return false;
        }
        let sums = &mut self.sums;
        for sent in self.segments.iter_mut_from(0).filter(|sent| sent.is(SACKED)) {
            sent.unmark(SACKED);
            sums.add(sent);
        }
        self.sacked = 0;
        self.sacked_bytes = 0;
        self.sacked_before_lost_to = 0;
        self.last_blocks = <[Range; 4]>::default();
        true
    }

    /// Nothing is lost after all: what was marked so is under way again.
    pub fn nothing_is_lost(&mut self) {
        let sums = &mut self.sums;
        for sent in self.segments.iter_mut_from(0).filter(|sent| sent.is(LOST)) {
            sums.take(sent);
            sent.unmark(LOST);
            sums.add(sent);
        }
        self.lost_to = self.base;
        self.sacked_before_lost_to = 0;
        self.resend_from = self.base;
        self.resend_to = self.base;
        self.begin_by_time_anew();
    }

    /// The duplicate ACKs without SACK are not counted any more.
    const fn forget_duplicates(&mut self) {
        self.emulated = 0;
        self.emulated_bytes = 0;
    }

    /// True if the first unacknowledged segment is lost.
    pub fn is_first_lost(&self) -> bool {
        self.segments.front().is_some_and(|first| first.is(LOST))
    }

    /// The first lost segment that was not sent again.
    #[inline]
    pub fn next_lost(&mut self) -> Option<Range> {
        while self.resend_from < self.resend_to {
            let sent = &self.segments[offset(self.resend_from, self.base)];
            if sent.is(LOST) && !sent.is(SACKED) && !sent.is(RETRANSMITTED) {
                return Some(sent.range(self.highest_delivered));
            }
            self.resend_from += 1;
        }
        None
    }

    /// The first segment below the highest SACKed one that is neither SACKed nor sent again (RFC
    /// 6675 §4 `NextSeg` rule 3), on a scoreboard of which no lost segment waits to be sent again.
    pub fn next_doubtful(&self) -> Option<Range> {
        // What comes before `lost_to` was SACKed or sent again, and what comes after that has less than three SACKed
        // segments above, most often none: with a long window this is asked for every ACK.
        let mut above = self.sacked - self.sacked_before_lost_to;
        if above == 0 {
            return None;
        }
        for sent in self.segments.iter_from(offset(self.lost_to, self.base)) {
            if sent.is(SACKED) {
                above -= 1;
                if above == 0 {
                    return None;
                }
            } else if !sent.is(RETRANSMITTED) {
                return Some(sent.range(self.highest_delivered));
            }
        }
        None
    }

    /// The last segment sent, unless it was SACKed or sent again.
    pub fn last_unsacked(&self) -> Option<Range> {
        self.segments
            .back()
            .filter(|sent| !sent.is(SACKED) && !sent.is(RETRANSMITTED))
            .map(|sent| sent.range(self.highest_delivered))
    }

    /// A segment goes out again.
    pub fn on_resent(&mut self, start: Seq, now: Instant) {
        let at = self.position(start);
        if let Some(sent) = self.segments.get_mut(at).filter(|sent| sent.after(start) == 0) {
            self.sums.take(sent);
            sent.mark(RETRANSMITTED | RESENT_EVER);
            sent.at = now;
            self.sums.add(sent);
            self.once_from = self.once_from.max(self.base + at as u64 + 1);
            if let Some(by_time) = &mut self.by_time {
                let next = self.base + self.segments.len() as u64;
                by_time.on_resent(now, self.base + at as u64, next);
            }
        }
    }

    /// The segment that begins at `start` and is not SACKed keeps its first `len` bytes, and what is behind them
    /// becomes a segment of its own (Linux's `tcp_fragment`). Returns the place of that; `None` if there was nothing to cut.
    #[cold]
    pub fn cut(&mut self, start: Seq, len: Bytes) -> Option<usize> {
        let at = self.position(start);
        let sent = self.segments.get_mut(at)?;
        let cuts = sent.after(start) == 0 && u64::from(sent.len()) > len.get() && !sent.is(SACKED);
        if !cuts {
            return None;
        }
        let mut rest = *sent;
        rest.cut(len.get());
        sent.marked_len -= rest.len() << MARK_BITS;
        self.sums.lost += u64::from(rest.is(LOST));
        self.sums.resent += u64::from(rest.is(RETRANSMITTED));
        self.segments.insert(at + 1, rest);
        let n = self.base + at as u64 + 1;
        let Self { lost_to, resend_from, resend_to, once_from, .. } = self;
        for place in [lost_to, resend_from, resend_to, once_from] {
            if *place >= n {
                *place += 1;
            }
        }
        self.begin_by_time_anew();
        Some(at + 1)
    }

    /// When the first segment was last sent.
    pub fn first_sent_at(&self) -> Option<Instant> {
        self.segments.front().map(|first| first.at)
    }

    /// True if the first segment begins at `seq`.
    pub fn begins_at(&self, seq: Seq) -> bool {
        self.segments.front().is_some_and(|first| first.after(seq) == 0)
    }

    /// Segments SACKed and not yet acknowledged cumulatively.
    pub const fn sacked_segments(&self) -> u64 {
        self.sacked + self.emulated
    }

    /// Segments that are lost, and not SACKed.
    pub const fn lost_segments(&self) -> u64 {
        self.sums.lost
    }

    /// Segments whose retransmission is out, and that are not SACKed.
    pub const fn resent_segments(&self) -> u64 {
        self.sums.resent
    }

    /// The first number of a segment on the board that begins where `duplicate` does, was sent again and is SACKed.
    pub fn repeated_after_delivery(&self, duplicate: Range) -> Option<Seq> {
        let sent = self.segments.get(self.position(duplicate.start))?;
        let repeated = sent.is(SACKED) && sent.is(RESENT_EVER) && sent.after(duplicate.start) == 0;
        repeated.then_some(duplicate.start)
    }

    /// True if a retransmission is under way, or the first segment was ever sent again (Linux's
    /// `tcp_any_retrans_done`).
    pub fn awaits_retransmission(&self) -> bool {
        self.sums.resent > 0 || self.segments.front().is_some_and(|first| first.is(RESENT_EVER))
    }

    /// The number after the highest that was delivered.
    pub const fn highest_delivered(&self) -> Seq {
        self.highest_delivered
    }

    /// Segments sent and not acknowledged cumulatively.
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// True if everything sent is acknowledged.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// The last segment sent.
    pub fn last(&self) -> Option<Range> {
        self.segments.back().map(|sent| sent.range(self.highest_delivered))
    }

    /// Data believed to be in the network.
    #[inline]
    pub const fn pipe(&self) -> Bytes {
        Bytes::new(self.sums.pipe.saturating_sub(self.emulated_bytes))
    }

    /// Segments believed to be in the network, two of one that was sent again and is not lost (Linux's
    /// `tcp_packets_in_flight`).
    pub fn pipe_segments(&self) -> u64 {
        let gone = self.sacked_segments() + self.sums.lost;
        (self.segments.len() as u64 + self.sums.resent).saturating_sub(gone)
    }

    /// Data SACKed and not yet acknowledged cumulatively.
    pub const fn sacked(&self) -> Bytes {
        Bytes::new(self.sacked_bytes + self.emulated_bytes)
    }
}

/// Up to four blocks in the order of their numbers, and empty ones behind them.
///
/// Which of two comes first nobody can foresee, a branch predictor neither: so without branches, by the
/// five comparisons that sort any four.
#[inline]
fn ascending(blocks: &[Range]) -> [Range; 4] {
    let none = Range { start: Seq::new(u64::MAX), end: Seq::new(u64::MAX) };
    let mut all = [none; 4];
    for (to, from) in all.iter_mut().zip(blocks) {
        *to = *from;
    }
    if blocks.len() > 1 {
        for (low, high) in [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)] {
            let (a, b) = (all[low], all[high]);
            let swapped = b.start < a.start;
            all[low] = std::hint::select_unpredictable(swapped, b, a);
            all[high] = std::hint::select_unpredictable(swapped, a, b);
        }
    }
    all
}

/// The place in the ring of segment number `n`.
fn offset(n: u64, base: u64) -> usize {
    usize::try_from(n - base).expect("the ring is in memory")
}

#[cfg(test)]
mod tests;
