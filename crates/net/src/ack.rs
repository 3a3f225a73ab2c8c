//! The fields of an acknowledgment that a filter of ACKs reads.

use ackclock_packet::{Flags, Options, Segment};

/// The fields of a segment with ACK and without SYN. Numbers are of 32 bits and wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// True if it carries nothing but an acknowledgment: no data, no other bit, no option but SACK and timestamps.
    pub is_pure: bool,
    /// The acknowledgment number.
    pub number: u32,
    /// The bits ECE and CWR.
    pub ecn: u16,
    /// The timestamp and its echo.
    pub timestamps: Option<[u32; 2]>,
    /// The blocks of SACK, of which so many are used.
    pub sack: [[u32; 2]; 4],
    /// The number of blocks.
    pub blocks: u8,
}

/// True if `a` is before `b` on a circle of 2^32.
const fn is_before(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) > u32::MAX / 2
}

impl Ack {
    /// The fields of a segment and of its options; `None` without ACK, or with SYN.
    #[expect(clippy::cast_possible_truncation, reason = "numbers on the wire have 32 bits")]
    pub fn of(segment: &Segment, options: Option<&Options>) -> Option<Self> {
        let flags = segment.flags;
        if !flags.contains(Flags::ACK) || flags.contains(Flags::SYN) {
            return None;
        }
        let marks = Flags::ECE | Flags::CWR;
        let more = options.is_some_and(|options| {
            Options { sack: options.sack, ..Options::default() } != *options
        });
        let mut ack = Self {
            is_pure: segment.len == 0 && flags.without(marks) == Flags::ACK && !more,
            number: segment.ack.get() as u32,
            ecn: flags.bits() & marks.bits(),
            timestamps: segment.timestamps.then_some([segment.ts_val, segment.ts_ecr]),
            ..Self::default()
        };
        for block in options.iter().flat_map(|options| options.sack.as_slice()) {
            ack.sack[usize::from(ack.blocks)] = [block.start.get() as u32, block.end.get() as u32];
            ack.blocks += 1;
        }
        Some(ack)
    }

    /// True if it says nothing but a higher number than `last`, a number and the bits of ECN.
    pub fn only_advances(&self, (number, ecn): (u32, u16)) -> bool {
        self.is_pure && self.blocks == 0 && self.ecn == ecn && is_before(number, self.number)
    }

    fn blocks(&self) -> &[[u32; 2]] {
        &self.sack[..usize::from(self.blocks)]
    }

    /// True if its first block tells of a duplicate (RFC 2883).
    fn has_dsack(&self) -> bool {
        let [first, second] = [0, 1].map(|n| self.blocks().get(n));
        first.is_some_and(|[start, end]| {
            let inside =
                second.is_some_and(|[from, to]| !is_before(*start, *from) && !is_before(*to, *end));
            is_before(*start, self.number) || inside
        })
    }

    /// True if every block lies in what `newer` acknowledges or has blocks for.
    fn is_covered_by(&self, newer: &Self) -> bool {
        self.blocks().iter().all(|[start, end]| {
            !is_before(newer.number, *end)
                || newer
                    .blocks()
                    .iter()
                    .any(|[from, to]| !is_before(*start, *from) && !is_before(*to, *end))
        })
    }

    /// True if `newer` says all that this one says, so that this one may go.
    pub fn is_superseded_by(&self, newer: &Self) -> bool {
        let stale = match (self.timestamps, newer.timestamps) {
            (Some([value, echo]), Some([newer_value, newer_echo])) => {
                is_before(newer_value, value) || is_before(newer_echo, echo)
            }
            _ => false,
        };
        // A copy of the same is a duplicate ACK, which the sender counts.
        let duplicate = self.number == newer.number && self.blocks() == newer.blocks();
        self.is_pure
            && !stale
            && !is_before(newer.number, self.number)
            && !self.has_dsack()
            && self.is_covered_by(newer)
            && !duplicate
    }
}

#[cfg(test)]
mod tests {
    use ackclock_packet::{Range, Seq};

    use super::*;

    fn ack(number: u32, blocks: &[[u32; 2]]) -> Ack {
        let mut ack = Ack { is_pure: true, number, ..Ack::default() };
        for block in blocks {
            ack.sack[usize::from(ack.blocks)] = *block;
            ack.blocks += 1;
        }
        ack
    }

    #[test]
    fn an_ack_goes_if_a_newer_one_says_as_much() {
        let goes = |older: Ack, newer: Ack| older.is_superseded_by(&newer);
        assert!(goes(ack(100, &[]), ack(200, &[])));
        assert!(!goes(ack(200, &[]), ack(100, &[])));
        // Across the end of the numbers.
        assert!(goes(ack(u32::MAX - 9, &[]), ack(5, &[])));
        // Duplicates are counted; one with a block more says more.
        assert!(!goes(ack(100, &[]), ack(100, &[])));
        assert!(!goes(ack(100, &[[200, 300]]), ack(100, &[[200, 300]])));
        assert!(goes(ack(100, &[[200, 300]]), ack(100, &[[200, 400]])));
        // A block that the newer one has neither as a block nor below its number.
        assert!(!goes(ack(100, &[[200, 300]]), ack(150, &[])));
        assert!(goes(ack(100, &[[200, 300]]), ack(300, &[])));
        // Duplicates of data (RFC 2883): below the number, or inside the second block.
        assert!(!goes(ack(100, &[[50, 60]]), ack(300, &[])));
        assert!(!goes(ack(100, &[[210, 220], [200, 300]]), ack(300, &[])));
        assert!(!goes(Ack { is_pure: false, ..ack(100, &[]) }, ack(200, &[])));
        let timed =
            |number, value, echo| Ack { timestamps: Some([value, echo]), ..ack(number, &[]) };
        assert!(goes(timed(100, 7, 3), timed(200, 7, 4)));
        assert!(!goes(timed(100, 7, 5), timed(200, 8, 4)));
    }

    #[test]
    fn a_segment_becomes_what_the_filter_reads() {
        let segment = Segment { ack: Seq::new(1000), flags: Flags::ACK, ..Segment::default() };
        let mut options = Options::default();
        options.sack.push(Range { start: Seq::new(2000), end: Seq::new(3000) });
        assert_eq!(Ack::of(&segment, None), Some(ack(1000, &[])));
        assert_eq!(Ack::of(&segment, Some(&options)), Some(ack(1000, &[[2000, 3000]])));
        let echoes = Segment { flags: Flags::ACK | Flags::ECE, ..segment };
        assert_eq!(Ack::of(&echoes, None), Some(Ack { ecn: 0x40, ..ack(1000, &[]) }));
        for other in [
            Segment { len: 1, ..segment },
            Segment { flags: Flags::ACK | Flags::FIN, ..segment },
            Segment { flags: Flags::ACK | Flags::PSH, ..segment },
        ] {
            assert!(!Ack::of(&other, None).unwrap().is_pure);
        }
        let unknown = Options { window_scale: Some(7), ..options };
        assert!(!Ack::of(&segment, Some(&unknown)).unwrap().is_pure);
        assert_eq!(Ack::of(&Segment { flags: Flags::ACK | Flags::SYN, ..segment }, None), None);
        assert_eq!(Ack::of(&Segment { flags: Flags::RST, ..segment }, None), None);
    }
}
