//! When to give up (RFC 9293 §3.8.3).

use ackclock_units::{Duration, Instant};

use crate::config::{Config, RtoConfig};

/// The timer after which a peer that does not answer is given up.
#[derive(Clone, Copy, Debug)]
pub(super) struct GiveUpTimer {
    /// As long as so many retransmissions take; never if `None`.
    retries: Option<u32>,
    user_timeout: Option<Duration>,
    /// When the first timer in a row expired.
    since: Option<Instant>,
    gone: bool,
}

impl GiveUpTimer {
    pub(super) const fn new(config: &Config) -> Self {
        Self { retries: config.retries.data, user_timeout: None, since: None, gone: false }
    }

    pub(super) const fn set_user_timeout(&mut self, timeout: Option<Duration>) {
        self.user_timeout = timeout;
    }

    pub(super) const fn gone(&self) -> bool {
        self.gone
    }

    /// A timer expired whose settings are `rto`, `again` if nothing was heard since the last one. False if
    /// the peer is given up.
    pub(super) fn lasts(&mut self, now: Instant, again: bool, rto: &RtoConfig) -> bool {
        let Some(since) = self.since.filter(|_| again) else {
            self.since = Some(now);
            return true;
        };
        let by_count = || self.retries.map(|retries| time_of(retries, rto));
        let limit = self.user_timeout.or_else(by_count);
        self.gone = limit.is_some_and(|limit| now.since(since) >= limit);
        !self.gone
    }

    pub(super) const fn on_answer(&mut self, now: Instant) {
        if self.since.is_some() {
            self.since = Some(now);
        }
    }

    /// `wait`, or what is left until the user's timeout.
    pub(super) fn at_most(&self, now: Instant, wait: Duration) -> Duration {
        match (self.user_timeout, self.since) {
            (Some(timeout), Some(since)) => {
                let left = (since + timeout).since(now).max(Duration::from_millis(1));
                wait.min(left)
            }
            _ => wait,
        }
    }
}

/// The time that `retries` retransmissions and the wait after the last take when the timeout is at
/// its least to begin with, doubles each time and stops growing at its largest.
fn time_of(retries: u32, rto: &RtoConfig) -> Duration {
    let least = rto.min.max(rto.granularity);
    (0..=retries).fold(Duration::ZERO, |sum, n| sum + (least * (1 << n.min(16))).min(rto.max))
}
