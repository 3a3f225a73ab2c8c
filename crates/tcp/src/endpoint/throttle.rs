//! The limit on answers to segments that are not acceptable.

use ackclock_units::{Duration, Instant};

use crate::config::SegmentRules;

/// A limit on ACKs that answer segments without data that are not acceptable. Without one two ends, each of which
/// finds the other's ACKs unacceptable, would answer each other for ever (RFC 5961 §7).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Throttle {
    /// The beginning of the interval, and the answers in it.
    since: Option<Instant>,
    answers: u32,
}

impl Throttle {
    /// Linux's `tcp_invalid_ratelimit`.
    const LINUX: (u32, Duration) = (1, Duration::from_millis(500));
    /// RFC 5961 §7: "no more than 10 ACKs in any 5 second period" is its example.
    const RFC: (u32, Duration) = (10, Duration::from_secs(5));

    pub(super) fn permits(&mut self, now: Instant, rules: SegmentRules) -> bool {
        let (most, interval) = match rules {
            SegmentRules::Linux => Self::LINUX,
            SegmentRules::Rfc => Self::RFC,
        };
        if self.since.is_none_or(|since| now.since(since) >= interval) {
            *self = Self { since: Some(now), answers: 0 };
        }
        self.answers += 1;
        self.answers <= most
    }
}
