//! Selective acknowledgments: the ranges that arrived out of order, and the duplicates to report (RFC
//! 2018 §4, RFC 2883 §4).

use ackclock_laws::data::cache::{Place, place};
use ackclock_packet::{NearBlocks, Range, SackBlocks, Seq};
use ackclock_units::Bytes;

use super::Receiver;
use crate::data::near::NearSeq;

/// A range ahead of RCV.NXT, or none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recent {
    start: NearSeq,
    /// Zero if there is none.
    len: u32,
}

impl Recent {
    pub(super) const NONE: Self = Self { start: NearSeq::of(Seq::SYN), len: 0 };

    fn of(range: Range) -> Self {
        let len = u32::try_from(range.len().get()).expect("no more than a window is ahead");
        Self { start: NearSeq::of(range.start), len }
    }

    #[inline]
    fn begins_in(self, range: Range) -> bool {
        self.len > 0 && self.start.after(range.start) >= 0 && self.start.after(range.end) < 0
    }

    /// The range, if it is still ahead of `nxt`.
    #[inline]
    fn ahead_of(self, nxt: Seq) -> Option<Range> {
        let start = self.start.get(nxt);
        let is_ahead = self.len > 0 && start > nxt;
        is_ahead.then(|| Range { start, end: start + Bytes::new(u64::from(self.len)) })
    }
}

/// The most blocks that fit into 40 bytes of options (RFC 2018 §3), a DSACK counted: four, and three beside
/// timestamps.
const fn room(timestamps: bool) -> usize {
    if timestamps { 3 } else { 4 }
}

impl Receiver {
    /// True if the next ACK has SACK blocks.
    #[inline]
    pub(crate) fn has_sack(&self) -> bool {
        self.sack && (self.duplicate.is_some() || !self.ahead.is_empty())
    }

    /// The number of blocks that the next segment reports.
    #[cold]
    pub(crate) fn blocks_to_report(&self, timestamps: bool) -> u8 {
        let mut count = 0;
        self.each_block(timestamps, |_| count += 1);
        count
    }

    /// Writes the SACK blocks of the next ACK, which [has some](Self::has_sack), into `blocks`; returns how
    /// many they are, or `None` if one is not near.
    pub(crate) fn report(&self, timestamps: bool, blocks: &mut NearBlocks) -> Option<u8> {
        *blocks = NearBlocks::default();
        let mut count = 0;
        self.each_block(timestamps, |block| {
            blocks.set(usize::from(count), block);
            count += 1;
        });
        // What is ahead is within the window.
        let near = self.duplicate.is_none_or(|block| NearBlocks::hold(block, self.nxt));
        near.then_some(count)
    }

    /// The SACK blocks of the next ACK, near or not.
    #[cold]
    pub(crate) fn report_far(&self, timestamps: bool) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        self.each_block(timestamps, |block| blocks.push(block));
        blocks
    }

    #[inline]
    fn each_block(&self, timestamps: bool, mut push: impl FnMut(Range)) {
        let mut room = room(timestamps);
        if let Some(duplicate) = self.duplicate {
            push(duplicate);
            room -= 1;
        }
        for range in self.recent[..room].iter().filter_map(|recent| recent.ahead_of(self.nxt)) {
            debug_assert!(self.ahead.contains(&range), "what is not joined to it stays as it is");
            push(range);
        }
    }

    /// The number of ranges ahead that start no later than `seq`: all of them, as a rule.
    #[inline]
    pub(super) fn place_ahead(&self, seq: Seq) -> usize {
        if self.ahead.back().is_none_or(|last| last.start <= seq) {
            return self.ahead.len();
        }
        self.ahead.partition_point(|range| range.start <= seq)
    }

    /// Joins `new` to the ranges held, of which `at` start no later; returns the range that it is now in.
    pub(super) fn keep_ahead(&mut self, at: usize, new: Range) -> Range {
        let mut joined = new;
        let mut from = at;
        if at > 0 && self.ahead[at - 1].end >= new.start {
            from = at - 1;
            joined.start = self.ahead[from].start;
            joined.end = joined.end.max(self.ahead[from].end);
        }
        let mut to = at;
        while to < self.ahead.len() && self.ahead[to].start <= joined.end {
            joined.end = joined.end.max(self.ahead[to].end);
            to += 1;
        }
        let held = self.ahead.range(from..to).fold(Bytes::ZERO, |sum, range| sum + range.len());
        self.ahead_len = self.ahead_len + joined.len() - held;
        if from == to {
            self.ahead.insert(from, joined);
        } else {
            self.ahead[from] = joined;
            self.ahead.drain(from + 1..to);
        }
        joined
    }

    /// The range `joined` holds what arrived last.
    pub(super) fn remember(&mut self, joined: Range) {
        // One that is not ahead any more keeps its turn, but is none: its number may come near again.
        let still = |old: Recent| if old.start.after(self.nxt) > 0 { old } else { Recent::NONE };
        let [a, b, c, d] = self.recent;
        let [has_a, has_b, has_c, has_d] = [a, b, c, d].map(|old| old.begins_in(joined));
        // Those that `joined` has swallowed are left out, and the others move up.
        let last = if has_d { Recent::NONE } else { d };
        let (third, fourth) = if has_c { (last, Recent::NONE) } else { (c, last) };
        let (second, third, fourth) =
            if has_b { (third, fourth, Recent::NONE) } else { (b, third, fourth) };
        let (first, second, third) =
            if has_a { (second, third, fourth) } else { (a, second, third) };
        self.recent = [Recent::of(joined), still(first), still(second), still(third)];
    }

    /// The place of what is farthest ahead.
    pub(crate) fn farthest(&self) -> Option<Place> {
        self.ahead.back().map(place)
    }

    /// Takes what `new` repeats of the ranges ahead for a duplicate; `at` of them start no later. RFC 2883 §4
    /// reports but one contiguous duplicate of a segment, and the first is what Linux reports
    /// (`tcp_data_queue_ofo`, `tcp_ofo_queue`).
    pub(super) fn note_overlap(&mut self, at: usize, new: Range) {
        if at > 0 && self.ahead[at - 1].end > new.start {
            let end = new.end.min(self.ahead[at - 1].end);
            self.duplicate = Some(Range { start: new.start, end });
        } else if let Some(next) = self.ahead.get(at)
            && next.start < new.end
        {
            self.duplicate = Some(Range { start: next.start, end: next.end.min(new.end) });
        }
    }

    /// Numbers from `seq` to `end` came, of which those below RCV.NXT are known: they are reported, and the
    /// peer should hear of each segment for a while. An ACK is not demanded here.
    pub(crate) fn on_repeated(&mut self, seq: Seq, end: Seq) {
        let end = end.min(self.nxt);
        if seq < end {
            self.duplicate = Some(Range { start: seq, end });
            self.alert();
        }
    }
}
