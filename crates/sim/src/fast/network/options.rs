//! Options of packets under way.

use ackclock_packet::{NearBlocks, Options, Segment, Seq};
use ackclock_tcp::simulator::SegmentSink;

use super::arena::{index, make_room};
use crate::fast::prefetch::prefetch;

/// The number of the options of a packet that has none.
pub const NO_OPTIONS: u32 = u32::MAX;

/// A bit of the number of options that are kept whole, and not as blocks of SACK alone.
const WHOLE: u32 = 1 << 31;

/// Options beside packets, which know their numbers.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Blocks of SACK and no other option, as most packets have that have any.
    blocks: Vec<NearBlocks>,
    free_blocks: Vec<u32>,
    whole: Vec<Options>,
    free_whole: Vec<u32>,
    /// Those of which only blocks were kept, when they were asked for last.
    unpacked: Options,
    /// Those that a host wrote last, if they were not blocks alone.
    pub(super) written: Options,
}

/// The place into which a host writes its next segment.
pub struct Vacancy<'n> {
    pub(super) segment: &'n mut Segment,
    pub(super) kept: &'n mut Kept,
}

impl SegmentSink for Vacancy<'_> {
    #[inline]
    fn segment(&mut self) -> &mut Segment {
        self.segment
    }

    #[inline]
    fn blocks(&mut self) -> &mut NearBlocks {
        self.kept.vacancy()
    }

    #[inline]
    fn options(&mut self) -> &mut Options {
        &mut self.kept.written
    }
}

impl Kept {
    /// Keeps options of a segment that acknowledges `ack`; returns their number.
    #[inline]
    pub(super) fn keep(&mut self, options: &Options, ack: Seq) -> u32 {
        let Options {
            mss: None,
            window_scale: None,
            sack_permitted: false,
            sack,
            quick_start: None,
            quick_start_response: None,
            congestion: None,
            fast_open: None,
            accurate_ecn: None,
        } = options
        else {
            return self.keep_whole(options);
        };
        let Some(near) = NearBlocks::of(sack, ack) else { return self.keep_whole(options) };
        *self.vacancy() = near;
        self.keep_blocks()
    }

    /// The place of the blocks of the next packet that has blocks alone.
    #[inline]
    fn vacancy(&mut self) -> &mut NearBlocks {
        let at = self.free_blocks.last().copied().unwrap_or_else(|| self.add_blocks());
        &mut self.blocks[at as usize]
    }

    /// Keeps the blocks that were written there; returns their number.
    #[inline]
    pub(super) fn keep_blocks(&mut self) -> u32 {
        let at = self.free_blocks.pop().expect("the vacancy was asked for");
        if let Some(soon) = self.free_blocks.last() {
            prefetch(&self.blocks[*soon as usize]);
        }
        at
    }

    /// Keeps what was [written](Self::written) beside a segment that acknowledges `ack`; its number.
    #[inline(never)]
    pub(super) fn keep_written(&mut self, ack: Seq) -> u32 {
        let written = self.written;
        self.keep(&written, ack)
    }

    #[cold]
    fn add_blocks(&mut self) -> u32 {
        let at = index(self.blocks.len());
        make_room(&mut self.blocks);
        self.blocks.push(NearBlocks::default());
        self.free_blocks.push(at);
        at
    }

    #[inline(never)]
    fn keep_whole(&mut self, options: &Options) -> u32 {
        if let Some(at) = self.free_whole.pop() {
            self.whole[at as usize] = *options;
            return at | WHOLE;
        }
        make_room(&mut self.whole);
        self.whole.push(*options);
        index(self.whole.len() - 1) | WHOLE
    }

    /// Keeps options once more, for another packet; returns their number.
    pub(super) fn copy(&mut self, number: u32, ack: Seq) -> u32 {
        match self.read(number, ack) {
            Some(options) => self.keep(&options, ack),
            None => NO_OPTIONS,
        }
    }

    /// The options of a packet, whose number this is, and whose segment acknowledges `ack`.
    #[inline]
    pub(super) fn get(&mut self, number: u32, ack: Seq) -> Option<&Options> {
        if number == NO_OPTIONS {
            None
        } else if number & WHOLE == 0 {
            self.unpacked.sack = self.blocks[number as usize].near(ack);
            Some(&self.unpacked)
        } else {
            self.whole.get((number & !WHOLE) as usize)
        }
    }

    /// A copy of the options of a packet.
    pub(super) fn read(&self, number: u32, ack: Seq) -> Option<Options> {
        if number != NO_OPTIONS && number & WHOLE == 0 {
            let sack = self.blocks[number as usize].near(ack);
            return Some(Options { sack, ..Options::default() });
        }
        self.whole.get((number & !WHOLE) as usize).copied()
    }

    /// The options of a packet, to be changed, unless they are blocks of SACK alone.
    pub(super) fn whole_mut(&mut self, number: u32) -> Option<&mut Options> {
        (number & WHOLE != 0).then(|| self.whole.get_mut((number & !WHOLE) as usize)).flatten()
    }

    /// Frees the options of a packet that has come to its host, or has been lost.
    #[inline]
    pub(super) fn free(&mut self, number: u32) {
        if number & WHOLE == 0 {
            self.free_blocks.push(number);
        } else if number != NO_OPTIONS {
            self.free_whole.push(number & !WHOLE);
        }
    }

    /// The address of the blocks, if these are blocks alone; `otherwise` if not.
    #[inline]
    pub(super) const fn place(&self, number: u32, otherwise: *const u8) -> *const u8 {
        let place: *const u8 = self.blocks.as_ptr().wrapping_add(number as usize).cast();
        if number & WHOLE == 0 { place } else { otherwise }
    }
}

#[cfg(test)]
mod tests {
    use ackclock_packet::{Range, SackBlocks};
    use ackclock_units::Mss;

    use super::*;

    const ACK: Seq = Seq::new(1 << 40);

    #[test]
    fn blocks_alone_are_half_a_cache_line() {
        assert_eq!(size_of::<NearBlocks>(), 32);
    }

    #[test]
    fn options_come_out_as_they_went_in() {
        let block = |after: u64| {
            let start = Seq::new(ACK.get() + after);
            Range { start, end: Seq::new(start.get() + 10) }
        };
        let mut kept = Kept::default();
        let mut all = Vec::new();
        for count in 0..5 {
            let mut options = Options::default();
            for n in 0..count {
                options.sack.push(block(1000 - 20 * n));
            }
            all.push((kept.keep(&options, ACK), options));
            // The larger of two would leave its blocks behind.
            options.mss = Mss::new(1460);
            all.push((kept.keep(&options, ACK), options));
        }
        for (number, options) in all.iter().rev() {
            assert_eq!(kept.get(*number, ACK), Some(options));
            assert_eq!(kept.read(*number, ACK), Some(*options));
            assert_eq!(kept.whole_mut(*number).copied(), options.mss.and(Some(*options)));
            let copy = kept.copy(*number, ACK);
            assert_ne!(copy, *number);
            assert_eq!(kept.read(copy, ACK), Some(*options));
            kept.free(copy);
        }
        // What a host writes into a place that another packet had.
        let (number, whole) = all[4];
        kept.free(number);
        let mut sack = SackBlocks::default();
        sack.push(block(7));
        sack.push(block(3));
        *kept.vacancy() = NearBlocks::of(&sack, ACK).expect("both are near");
        let again = kept.keep_blocks();
        assert_eq!(again, number);
        assert_eq!(kept.get(again, ACK), Some(&Options { sack, ..Options::default() }));
        kept.written = all[5].1;
        let other = kept.keep_written(ACK);
        assert_eq!(kept.get(other, ACK), Some(&all[5].1));
        assert!(
            whole.mss.is_none()
                && kept.get(other, ACK).is_some_and(|options| options.mss.is_some())
        );
        kept.free(other);
        assert_eq!(kept.get(NO_OPTIONS, ACK), None);
        assert_eq!(kept.read(NO_OPTIONS, ACK), None);
        assert_eq!(kept.whole_mut(NO_OPTIONS), None);
        assert_eq!((kept.blocks.len(), kept.whole.len()), (6, 6));
        // Of what comes again long after.
        let mut far = Options::default();
        far.sack.push(block(1 << 31));
        let number = kept.keep(&far, ACK);
        assert_eq!(kept.get(number, ACK), Some(&far));
        assert_eq!(kept.blocks.len(), 6);
    }
}
