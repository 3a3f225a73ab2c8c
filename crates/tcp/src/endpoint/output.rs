//! The output of an end point: segments, with what stands beside them.

mod polling;

use ackclock_packet::{IpMeta, NearBlocks, Options, Segment};

/// The output of an end point: a segment, what it asks of the network, and options if it has any.
#[derive(Clone, Copy, Debug)]
pub struct Transmit {
    /// The segment.
    pub segment: Segment,
    /// Its requests to the network.
    pub ip: IpMeta,
    /// Options that most segments lack.
    pub options: Option<Options>,
}

impl Transmit {
    fn write(self, out: &mut impl SegmentSink) -> TransmitInfo {
        let Self { segment, ip, options } = self;
        *out.segment() = segment;
        let written = match options {
            Some(options) => {
                *out.options() = options;
                ExtraOptions::Options
            }
            None => ExtraOptions::Nothing,
        };
        TransmitInfo { ip, has_data: segment.len > 0, written, is_last: false }
    }
}

/// The places into which a segment is written: each part of it into its own, as what was just written in parts cannot
/// be copied as
/// a whole before all of it, and what was written before it, has reached the cache.
pub trait SegmentSink {
    /// The place of the segment.
    fn segment(&mut self) -> &mut Segment;
    /// The place of its SACK blocks, if it has no other [options](Self::options) (timestamps are the segment's own).
    fn blocks(&mut self) -> &mut NearBlocks;
    /// The place of its options, if it has others.
    fn options(&mut self) -> &mut Options;
}

/// The options beside a segment that has been written into its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExtraOptions {
    /// Nothing, as beside most.
    #[default]
    Nothing,
    /// [SACK blocks](SegmentSink::blocks), near what the segment acknowledges.
    Blocks,
    /// [Options](SegmentSink::options).
    Options,
}

/// The rest of a segment that has been written into its place.
#[derive(Clone, Copy, Debug, Default)]
pub struct TransmitInfo {
    /// Its requests to the network.
    pub ip: IpMeta,
    /// True if it carries data.
    pub has_data: bool,
    /// The options written beside it.
    pub written: ExtraOptions,
    /// Nothing follows it at this moment, so that there is no need to ask.
    pub is_last: bool,
}

/// Places of one segment's parts.
#[derive(Default)]
pub(super) struct Places {
    pub(super) segment: Segment,
    pub(super) blocks: NearBlocks,
    pub(super) options: Options,
}

impl Places {
    pub(super) fn transmit(self, info: TransmitInfo) -> Transmit {
        let options = match info.written {
            ExtraOptions::Nothing => None,
            ExtraOptions::Blocks => {
                Some(Options { sack: self.blocks.near(self.segment.ack), ..Options::default() })
            }
            ExtraOptions::Options => Some(self.options),
        };
        Transmit { segment: self.segment, ip: info.ip, options }
    }
}

impl SegmentSink for Places {
    fn segment(&mut self) -> &mut Segment {
        &mut self.segment
    }

    fn blocks(&mut self) -> &mut NearBlocks {
        &mut self.blocks
    }

    fn options(&mut self) -> &mut Options {
        &mut self.options
    }
}
