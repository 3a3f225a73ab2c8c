//! One segment of the scoreboard.

use ackclock_laws::data::ring::Ring;
use ackclock_packet::{Range, Seq};
use ackclock_units::{Bytes, Instant};

use super::{AckFacts, Delivered};
use crate::data::near::NearSeq;

/// A segment that was sent, in 16 bytes: four to a line of the cache, and a lost retransmission makes a
/// board of hundreds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    /// When it was last sent.
    pub(crate) at: Instant,
    /// Its first number.
    pub(super) from: NearSeq,
    /// Numbers that it covers, a FIN's included, and below that its marks.
    pub(super) marked_len: u32,
}

/// Segments in the order of their numbers.
pub(crate) type Segments = Ring<Sent>;

/// Marks of RFC 6675 and RFC 8985 that a segment has or has not.
pub(super) type Mark = u32;
pub(super) const SACKED: Mark = 1;
pub(super) const LOST: Mark = 1 << 1;
/// It was sent again, and that copy is not known to be lost.
pub(super) const RETRANSMITTED: Mark = 1 << 2;
/// It was sent again at some time.
pub(super) const RESENT_EVER: Mark = 1 << 3;
pub(super) const MARK_BITS: u32 = 4;

impl Sent {
    #[inline]
    pub(crate) const fn new(start: Seq, len: u32, at: Instant) -> Self {
        // A segment is an MSS of 16 bits and a FIN at most.
        Self { at, from: NearSeq::of(start), marked_len: len << MARK_BITS }
    }

    #[inline]
    pub(super) const fn is(&self, mark: Mark) -> bool {
        self.marked_len & mark != 0
    }

    #[inline]
    pub(super) const fn mark(&mut self, mark: Mark) {
        self.marked_len |= mark;
    }

    #[inline]
    pub(super) const fn unmark(&mut self, mark: Mark) {
        self.marked_len &= !mark;
    }

    #[inline]
    pub(crate) const fn len(&self) -> u32 {
        self.marked_len >> MARK_BITS
    }

    /// By how much it begins after `near`, which is not far.
    #[inline]
    pub(crate) const fn after(&self, near: Seq) -> i32 {
        self.from.after(near)
    }

    /// Its first number, which is near `near`.
    #[inline]
    pub(crate) const fn start(&self, near: Seq) -> Seq {
        self.from.get(near)
    }

    #[inline]
    pub(crate) fn end(&self, near: Seq) -> Seq {
        self.start(near) + Bytes::new(u64::from(self.len()))
    }

    #[inline]
    pub(crate) fn range(&self, near: Seq) -> Range {
        Range { start: self.start(near), end: self.end(near) }
    }

    /// True if it was last sent before `newest`.
    ///
    /// DEVIATION(rfc8985 §6.2 `RACK_sent_after`): of two segments sent at one instant the RFC takes the one with the
    /// higher number for the later. That is not known of a retransmission. The clock of a stack ticks between two ACKs;
    /// here a hundred of them may arrive at one instant, behind a link that bundles packets, and new data and
    /// retransmissions go out by turns.
    pub(super) fn is_before(&self, newest: Delivered) -> bool {
        self.at < newest.at
            || self.at == newest.at && !self.is(RESENT_EVER) && self.end(newest.end) < newest.end
    }

    /// Its first bytes are acknowledged.
    pub(crate) fn cut(&mut self, acked: u64) {
        let acked = u32::try_from(acked).unwrap_or(u32::MAX).min(self.len());
        self.from = self.from.plus(acked);
        self.marked_len -= acked << MARK_BITS;
    }

    /// It is delivered: for the first time, as it is neither SACKed nor gone.
    pub(super) fn deliver(&self, near: Seq, highest: &mut Seq, told: &mut AckFacts) {
        let Range { start, end } = self.range(near);
        if self.is(RESENT_EVER) {
            if told.now.since(self.at) < told.min_rtt {
                return;
            }
        } else {
            if end < *highest {
                told.reordered_from = Some(told.reordered_from.map_or(start, |low| low.min(start)));
            }
            told.original_end = Some(told.original_end.map_or(end, |low| low.min(end)));
            told.rtt_from = told.rtt_from.max(Some(self.at));
        }
        *highest = (*highest).max(end);
        told.last_sent_at = Some(self.at);
        told.newest = told.newest.max(Some(Delivered { at: self.at, end }));
    }

    /// The bytes that it adds to `pipe` (RFC 6675 §4, `SetPipe`).
    pub(super) fn in_pipe(&self) -> u64 {
        let copies = u64::from(!self.is(LOST)) + u64::from(self.is(RETRANSMITTED));
        if self.is(SACKED) { 0 } else { copies * u64::from(self.len()) }
    }
}

/// The place of the first of `segments` that ends after `seq`.
#[inline]
pub(crate) fn holding(segments: &Segments, seq: Seq) -> usize {
    // Segments are nearly all of one size, so that counting finds nearly all of them.
    if let Some(first) = segments.front()
        && let Some(guess) = first.from.segments_to(seq, first.len())
        && segments.get(guess).is_some_and(|sent| sent.after(seq) <= 0 && seq < sent.end(seq))
    {
        return guess;
    }
    segments.partition_point(|sent| sent.end(seq) <= seq)
}
