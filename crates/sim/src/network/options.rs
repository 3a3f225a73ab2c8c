//! Options of packets under way.

use ackclock_packet::{Options, Range, SackBlocks, Segment};
use ackclock_tcp::Outlet;

use super::places::Places;
use super::{NO_OPTIONS, index, make_room};
use crate::prefetch::prefetch;

/// Of options that are kept whole, and not of [`Blocks`].
const WHOLE: u32 = 1 << 31;

/// Blocks of SACK and no other option, as most packets have that have any: one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Blocks([Range; 4]);

/// Options beside packets, which know their numbers.
#[derive(Debug, Default)]
pub(super) struct Kept {
    blocks: Vec<Blocks>,
    free_blocks: Places,
    whole: Vec<Options>,
    free_whole: Vec<u32>,
    /// Those of which only blocks were kept, when they were asked for last.
    unpacked: Options,
    /// Those that a host wrote last, if they were not blocks alone.
    pub(super) written: Options,
}

/// Where a host writes what it sends next.
pub struct Vacancy<'n> {
    pub(super) segment: &'n mut Segment,
    pub(super) kept: &'n mut Kept,
}

impl Outlet for Vacancy<'_> {
    #[inline]
    fn segment(&mut self) -> &mut Segment {
        self.segment
    }

    #[inline]
    fn blocks(&mut self) -> &mut [Range; 4] {
        self.kept.vacancy()
    }

    #[inline]
    fn options(&mut self) -> &mut Options {
        &mut self.kept.written
    }
}

impl Kept {
    /// Keeps options; their number.
    #[inline]
    pub(super) fn keep(&mut self, options: &Options) -> u32 {
        let Options {
            mss: None,
            window_scale: None,
            sack_permitted: false,
            sack,
            quick_start: None,
            quick_start_response: None,
            congestion: None,
        } = options
        else {
            return self.keep_whole(options);
        };
        *self.vacancy() = sack.to_array();
        self.keep_blocks()
    }

    /// The place of the blocks of the next packet that has blocks alone.
    #[inline]
    fn vacancy(&mut self) -> &mut [Range; 4] {
        let at = self.free_blocks.next().unwrap_or_else(|| self.add_blocks());
        &mut self.blocks[at as usize].0
    }

    /// Keeps the blocks that were written there; their number.
    #[inline]
    pub(super) fn keep_blocks(&mut self) -> u32 {
        let at = self.free_blocks.take().expect("the vacancy was asked for");
        if let Some(soon) = self.free_blocks.upcoming(0) {
            prefetch(&self.blocks[soon as usize]);
        }
        at
    }

    /// Keeps what was [written](Self::written); its number.
    #[inline(never)]
    pub(super) fn keep_written(&mut self) -> u32 {
        let written = self.written;
        self.keep(&written)
    }

    #[cold]
    fn add_blocks(&mut self) -> u32 {
        for _ in 0..self.free_blocks.add(index(self.blocks.len())) {
            make_room(&mut self.blocks);
            self.blocks.push(Blocks::default());
        }
        self.free_blocks.next().expect("some are free now")
    }

    /// From now on so many hosts are served in turns.
    pub(super) fn of_hosts(&mut self, hosts: usize) {
        self.free_blocks.of_hosts(hosts);
    }

    /// This host is being served.
    #[inline]
    pub(super) fn serve(&mut self, host: u32) {
        self.free_blocks.serve(host);
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

    /// Options once more, for another packet.
    pub(super) fn copy(&mut self, number: u32) -> u32 {
        match self.read(number) {
            Some(options) => self.keep(&options),
            None => NO_OPTIONS,
        }
    }

    /// The options of a packet, whose number this is.
    #[inline]
    pub(super) fn get(&mut self, number: u32) -> Option<&Options> {
        if number == NO_OPTIONS {
            None
        } else if number & WHOLE == 0 {
            self.unpacked.sack = SackBlocks::from_array(self.blocks[number as usize].0);
            Some(&self.unpacked)
        } else {
            self.whole.get((number & !WHOLE) as usize)
        }
    }

    /// The same, copied.
    pub(super) fn read(&self, number: u32) -> Option<Options> {
        if number != NO_OPTIONS && number & WHOLE == 0 {
            let sack = SackBlocks::from_array(self.blocks[number as usize].0);
            return Some(Options { sack, ..Options::default() });
        }
        self.whole.get((number & !WHOLE) as usize).copied()
    }

    /// The same, to be changed, unless they are blocks of SACK alone.
    pub(super) fn whole_mut(&mut self, number: u32) -> Option<&mut Options> {
        (number & WHOLE != 0).then(|| self.whole.get_mut((number & !WHOLE) as usize)).flatten()
    }

    /// The packet has been lost, whoever is served.
    pub(super) fn give_back(&mut self, number: u32) {
        if number & WHOLE == 0 {
            self.free_blocks.give_back(number);
        } else {
            self.free(number);
        }
    }

    /// The packet has come to the host that is served.
    #[inline]
    pub(super) fn free(&mut self, number: u32) {
        if number & WHOLE == 0 {
            self.free_blocks.give(number);
        } else if number != NO_OPTIONS {
            self.free_whole.push(number & !WHOLE);
        }
    }

    /// Where the blocks are, if these are blocks alone; `otherwise` if not.
    #[inline]
    pub(super) const fn place(&self, number: u32, otherwise: *const u8) -> *const u8 {
        let place: *const u8 = self.blocks.as_ptr().wrapping_add(number as usize).cast();
        if number & WHOLE == 0 { place } else { otherwise }
    }
}

#[cfg(test)]
mod tests {
    use ackclock_packet::Seq;
    use ackclock_units::Mss;

    use super::*;

    #[test]
    fn blocks_alone_are_one_cache_line() {
        assert_eq!(size_of::<Blocks>(), 64);
    }

    #[test]
    fn options_come_out_as_they_went_in() {
        let block = |start: u64| Range { start: Seq::new(start), end: Seq::new(start + 10) };
        let mut kept = Kept::default();
        let mut all = Vec::new();
        for count in 0..5 {
            let mut options = Options::default();
            for n in 0..count {
                options.sack.push(block(1000 - 20 * n));
            }
            all.push((kept.keep(&options), options));
            // The larger of two would leave its blocks behind.
            options.mss = Mss::new(1460);
            all.push((kept.keep(&options), options));
        }
        for (number, options) in all.iter().rev() {
            assert_eq!(kept.get(*number), Some(options));
            assert_eq!(kept.read(*number), Some(*options));
            assert_eq!(kept.whole_mut(*number).copied(), options.mss.and(Some(*options)));
            let copy = kept.copy(*number);
            assert_ne!(copy, *number);
            assert_eq!(kept.read(copy), Some(*options));
            kept.free(copy);
        }
        // What a host writes into a place that another packet had.
        let (number, whole) = all[4];
        kept.free(number);
        let written = [block(7), block(3), Range::default(), Range::default()];
        *kept.vacancy() = written;
        let again = kept.keep_blocks();
        let sack = SackBlocks::from_array(written);
        assert_eq!((again, sack.as_slice()), (number, &written[..2]));
        assert_eq!(kept.get(again), Some(&Options { sack, ..Options::default() }));
        kept.written = all[5].1;
        let other = kept.keep_written();
        assert_eq!(kept.get(other), Some(&all[5].1));
        assert!(
            whole.mss.is_none() && kept.get(other).is_some_and(|options| options.mss.is_some())
        );
        kept.free(other);
        assert_eq!(kept.get(NO_OPTIONS), None);
        assert_eq!(kept.read(NO_OPTIONS), None);
        assert_eq!(kept.whole_mut(NO_OPTIONS), None);
        assert_eq!((kept.blocks.len(), kept.whole.len()), (6, 6));
    }
}
