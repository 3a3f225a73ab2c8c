//! Rates of links as they came out, by the clock on the wall.

use ackclock_units::{Duration, Instant};

use crate::base::limits::{MOST_LATENESS, MOST_RATE_ERROR};

/// The rate at which a wire's packets came out of it, by the clock on the wall, while packets queued in front of it.
///
/// Only packets sent back to back tell a rate. What the clock is late at the two ends of a busy period is judged by
/// itself ([`MOST_LATENESS`]), and a short period would tell nothing else: one counts from the length on at which so
/// much is less than the most by which a rate may be missed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RateMeter {
    /// The busy period that lasts.
    period: Option<BusyPeriod>,
    bytes: u64,
    span: Duration,
}

/// Packets that a wire sent back to back.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BusyPeriod {
    /// The ends of the transmissions of its first and last packets in the model, and the real times of their arrivals.
    first: (Instant, Instant),
    last: (Instant, Instant),
    /// Bytes of its packets but the first.
    bytes: u64,
}

impl BusyPeriod {
    /// Its bytes and how long they really took, if it is long enough to tell.
    fn counted(&self) -> Option<(u64, Duration)> {
        let least = Duration::from_secs_f64(MOST_LATENESS.as_secs_f64() / MOST_RATE_ERROR);
        (self.last.0.since(self.first.0) >= least)
            .then(|| (self.bytes, self.last.1.since(self.first.1.min(self.last.1))))
    }
}

impl RateMeter {
    /// A packet whose transmission took from `starts` to `departs` has really arrived at `real`.
    pub fn note(&mut self, (starts, departs): (Instant, Instant), size: u64, real: Instant) {
        match &mut self.period {
            Some(period) if starts == period.last.0 => {
                period.last = (departs, real);
                period.bytes += size;
            }
            _ => {
                self.end_period();
                let first = (departs, real);
                self.period = Some(BusyPeriod { first, last: first, bytes: 0 });
            }
        }
    }

    fn end_period(&mut self) {
        if let Some((bytes, span)) = self.period.take().and_then(|period| period.counted()) {
            self.bytes += bytes;
            self.span += span;
        }
    }

    /// The rate in bits per second; `None` if too little was sent back to back to tell.
    pub fn reached(mut self) -> Option<f64> {
        self.end_period();
        let seconds = self.span.as_secs_f64();
        (seconds > 0.5).then(|| self.bytes as f64 * 8.0 / seconds)
    }
}
