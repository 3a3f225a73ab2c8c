//! Timestamps: RFC 7323 §3 to §5.

use ackclock_packet::{Flags, Options, Segment, Seq};
use ackclock_units::Instant;

/// The clock: milliseconds, from 1 so that an echo of zero stays what it is before any segment has
/// arrived.
#[expect(clippy::cast_possible_truncation, reason = "the clock wraps, as RFC 7323 §5.2 has it")]
pub(crate) const fn clock(now: Instant) -> u32 {
    (now.as_nanos() / 1_000_000 + 1) as u32
}

/// What both directions' timestamps need.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timestamps {
    /// Both ends offered them.
    pub(super) used: bool,
    /// TS.Recent: what is to be echoed.
    pub(super) recent: u32,
    /// RCV.NXT when the last ACK was sent, Last.ACK.sent.
    pub(super) last_ack_sent: Seq,
}

impl Timestamps {
    /// Bytes that the option takes of a segment's payload, padding included.
    pub(super) const LEN: u8 = 12;

    /// Whether a segment is older than what has been seen (§5.3, R1).
    pub(super) const fn is_old(self, segment: &Segment) -> bool {
        self.used
            && segment.timestamps
            && segment.ts_val.wrapping_sub(self.recent) > u32::MAX / 2
            && !segment.flags.contains(Flags::RST)
    }

    /// Takes what a segment carries (§4.3 (2)).
    pub(super) fn take(&mut self, segment: &Segment) {
        if segment.timestamps && segment.seq <= self.last_ack_sent {
            self.recent = segment.ts_val;
        }
    }

    /// Writes the option on a segment whose other options are `options`.
    pub(super) fn stamp(self, now: Instant, segment: &mut Segment, options: Option<&Options>) {
        let len = match (options, self.used) {
            (None, false) => 0,
            (None, true) => Self::LEN,
            (Some(options), false) => options.wire_len(),
            (Some(options), true) => options.wire_len_with_timestamps(),
        };
        self.stamp_beside(now, segment, len);
    }

    /// The same on a segment all of whose options, this one included, take so many bytes.
    pub(super) fn stamp_beside(self, now: Instant, segment: &mut Segment, options_len: u8) {
        segment.options_len = options_len;
        if self.used {
            segment.timestamps = true;
            segment.ts_val = clock(now);
            segment.ts_ecr = self.recent;
        }
    }
}
