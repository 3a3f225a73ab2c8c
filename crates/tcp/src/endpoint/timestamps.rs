//! Timestamps: RFC 7323 §3 to §5.

use ackclock_packet::{Flags, Options, Segment, Seq};
use ackclock_units::{Duration, Instant};

use crate::config::SegmentRules;
use crate::data::clock::timestamp_clock;

/// The state of both directions' timestamps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timestamps {
    /// Both ends offered them.
    pub(super) used: bool,
    /// TS.Recent: what is to be echoed.
    pub(super) recent: u32,
    /// RCV.NXT when the last ACK was sent, Last.ACK.sent.
    pub(super) last_ack_sent: Seq,
    /// The time of the last renewal of TS.Recent.
    pub(super) renewed_at: Instant,
}

impl Timestamps {
    /// Bytes that the option takes of a segment's payload, padding included.
    pub(super) const LEN: u8 = 12;

    /// True if a segment is older than what has been seen (§5.3, R1).
    pub(super) const fn is_old(self, segment: &Segment) -> bool {
        self.used
            && segment.timestamps
            && segment.ts_val.wrapping_sub(self.recent) > u32::MAX / 2
            && !segment.flags.contains(Flags::RST)
    }

    /// True if a segment has a timestamp that is not old, or needs none.
    #[inline]
    pub(super) const fn are_current(self, segment: &Segment) -> bool {
        !self.used || (segment.timestamps && !self.is_old(segment))
    }

    /// True if a segment is older than the peer's SYN, whose timestamp is the only one so far.
    #[cold]
    pub(super) const fn is_before_syn(self, segment: &Segment) -> bool {
        Self { used: true, ..self }.is_old(segment)
    }

    /// True if a segment that [is old](Self::is_old) is rejected. It is not once TS.Recent does not count any more, as
    /// the peer's clock may have gone half its round (§5.5).
    #[cold]
    pub(super) fn rejects(self, now: Instant, segment: &Segment, rules: SegmentRules) -> bool {
        if rules == SegmentRules::Linux && self.is_next_to(segment) {
            // TCP_PAWS_WINDOW: what is older by one tick may have been sent at the same time.
            return false;
        }
        let life = match rules {
            SegmentRules::Rfc => Duration::from_secs(24 * 24 * 60 * 60),
            // TCP_PAWS_WRAP: for clocks of microseconds.
            SegmentRules::Linux => Duration::from_secs(2147),
        };
        now.since(self.renewed_at) <= life
    }

    /// True if a segment is older than TS.Recent by one tick.
    #[inline]
    const fn is_next_to(self, segment: &Segment) -> bool {
        self.recent.wrapping_sub(segment.ts_val) == 1
    }

    /// TS.Recent of the peer's SYN.
    pub(super) const fn begin(&mut self, now: Instant, ts_val: u32) {
        self.recent = ts_val;
        self.renewed_at = now;
    }

    /// Takes what a segment carries (§4.3 (2)).
    #[inline]
    pub(super) fn take(&mut self, now: Instant, segment: &Segment) {
        if segment.timestamps && segment.seq <= self.last_ack_sent && !self.is_next_to(segment) {
            self.recent = segment.ts_val;
            self.renewed_at = now;
        }
    }

    /// Takes what a segment carries that is not acceptable, as it has come before: the ACK of it echoes the
    /// timestamp of this copy (§4.3 (2)), from which the peer learns the round-trip time of now.
    ///
    /// DEVIATION(rfc7323 §5.3): R2 would have a segment outside of the window rejected before R3 looks at its
    /// timestamp. §4.3 does not, and Linux does not if the segment ends at Last.ACK.sent or later.
    pub(super) fn take_repeated(&mut self, now: Instant, segment: &Segment, rules: SegmentRules) {
        let counts = rules == SegmentRules::Rfc || segment.end() >= self.last_ack_sent;
        if self.used && counts && segment.flags.contains(Flags::ACK) {
            self.take(now, segment);
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

    /// Stamps a segment all of whose options, this one included, take so many bytes.
    pub(super) fn stamp_beside(self, now: Instant, segment: &mut Segment, options_len: u8) {
        segment.options_len = options_len;
        if self.used {
            segment.timestamps = true;
            segment.ts_val = timestamp_clock(now);
            segment.ts_ecr = self.recent;
        }
    }
}
