//! What was sent and may be lost: sequence numbers, recovery, round-trip times and timers.

use ackclock_packet::Seq;
use ackclock_units::Instant;

use super::hold::Patience;
use crate::config::Config;
use crate::recovery::{AnyRecovery, SendSpace};
use crate::rtt::RttEstimator;

/// The data under way.
#[derive(Debug)]
// In the order of use.
#[repr(C)]
pub(super) struct Flight {
    pub(super) space: SendSpace,
    /// When the retransmission timer expires, and recovery's own; `NEVER` while they do not run.
    pub(super) timer: Instant,
    pub(super) alarm: Instant,
    /// From when recovery's timer is to count, where it has not been set since; else `NEVER`. An ACK sets it, and
    /// each segment that is sent for it does.
    pub(super) alarm_from: Instant,
    /// When to look again whether a segment may leave, `NEVER` unless the pacer holds something back.
    pub(super) paced_at: Instant,
    /// `NEVER` until something was sent, and until all of it was acknowledged.
    pub(super) last_send: Instant,
    pub(super) all_acked_at: Instant,
    /// The segment being timed, by the number after it, and when it left (one at a time; RFC 6298
    /// §3 asks for at least one sample a round trip).
    pub(super) timed: Option<(Seq, Instant)>,
    /// Timeouts in a row.
    pub(super) consecutive_timeouts: u32,
    pub(super) recovery: AnyRecovery,
    pub(super) rtt: RttEstimator,
    pub(super) patience: Patience,
}

impl Flight {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            space: SendSpace::UNUSED,
            timer: Instant::NEVER,
            alarm: Instant::NEVER,
            alarm_from: Instant::NEVER,
            paced_at: Instant::NEVER,
            last_send: Instant::NEVER,
            all_acked_at: Instant::NEVER,
            timed: None,
            consecutive_timeouts: 0,
            recovery: AnyRecovery::new(config.parts.recovery, config.recovery),
            rtt: RttEstimator::new(config.rto),
            patience: Patience::new(config),
        }
    }

    /// Begins anew, in the memory of this one.
    pub(super) fn reset(&mut self, config: &Config) {
        let Self {
            space,
            timer,
            alarm,
            alarm_from,
            paced_at,
            last_send,
            all_acked_at,
            timed,
            consecutive_timeouts,
            recovery,
            rtt,
            patience,
        } = self;
        *space = SendSpace::UNUSED;
        *timer = Instant::NEVER;
        *alarm = Instant::NEVER;
        *alarm_from = Instant::NEVER;
        *paced_at = Instant::NEVER;
        *last_send = Instant::NEVER;
        *all_acked_at = Instant::NEVER;
        *timed = None;
        *consecutive_timeouts = 0;
        recovery.reset(config.parts.recovery, config.recovery);
        *rtt = RttEstimator::new(config.rto);
        *patience = Patience::new(config);
    }
}
