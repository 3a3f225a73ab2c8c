//! Round-trip time and the retransmission timeout: RFC 6298.

use ackclock_units::Duration;

use crate::config::RtoConfig;

/// SRTT, RTTVAR and the timeout that follows from them (§2), with back-off (§5.5).
#[derive(Clone, Copy, Debug)]
pub struct RttEstimator {
    config: RtoConfig,
    srtt: Option<Duration>,
    /// The least sample so far.
    min: Option<Duration>,
    rttvar: Duration,
    rto: Duration,
    backoff: u32,
}

impl RttEstimator {
    /// Before the first sample.
    pub fn new(config: RtoConfig) -> Self {
        Self {
            config,
            srtt: None,
            min: None,
            rttvar: Duration::ZERO,
            rto: config.initial,
            backoff: 0,
        }
    }

    /// A sample of a segment that was sent once (Karn's rule is the caller's). Ends the back-off.
    pub fn on_sample(&mut self, rtt: Duration) {
        self.min = Some(self.min.map_or(rtt, |min| min.min(rtt)));
        match self.srtt {
            None => {
                self.srtt = Some(rtt);
                self.rttvar = rtt / 2;
            }
            Some(srtt) => {
                // RTTVAR first, with the old SRTT (§2.3).
                self.rttvar = (self.rttvar * 3 + srtt.abs_diff(rtt)) / 4;
                self.srtt = Some((srtt * 7 + rtt) / 8);
            }
        }
        self.backoff = 0;
        let variation = (self.rttvar * 4).max(self.config.granularity);
        self.rto = self.clamp(self.srtt.unwrap_or_default() + variation);
    }

    fn clamp(&self, rto: Duration) -> Duration {
        rto.round_up_to(self.config.granularity).max(self.config.min).min(self.config.max)
    }

    /// The smoothed round-trip time.
    #[inline]
    pub const fn srtt(&self) -> Option<Duration> {
        self.srtt
    }

    /// The least round-trip time so far; zero before the first sample.
    #[inline]
    pub fn min(&self) -> Duration {
        self.min.unwrap_or_default()
    }

    /// The retransmission timeout now, backed off as it is.
    #[inline]
    pub fn rto(&self) -> Duration {
        if self.backoff == 0 {
            return self.rto;
        }
        // 2^16 seconds is beyond any `max`.
        (self.rto * (1 << self.backoff.min(16))).min(self.config.max)
    }

    /// The timeout doubled so many times more.
    pub fn backed_off(&self, times: u32) -> Duration {
        (self.rto() * (1 << times.min(16))).min(self.config.max)
    }

    /// The timer expired: double the timeout (§5.5).
    pub const fn back_off(&mut self) {
        self.backoff = self.backoff.saturating_add(1);
    }

    /// Data transmission begins after the SYN timed out: the timeout becomes 3 s if it was less
    /// (§5.7).
    pub fn after_syn_timeout(&mut self) {
        self.backoff = 0;
        self.rto = self.rto.max(Duration::from_secs(3)).min(self.config.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn estimator(min: u64, granularity: u64) -> RttEstimator {
        RttEstimator::new(RtoConfig {
            min: MS(min),
            initial: MS(1000),
            max: MS(60_000),
            granularity: MS(granularity),
        })
    }

    #[test]
    fn the_first_samples_follow_the_rfc() {
        let mut rtt = estimator(0, 1);
        assert_eq!(rtt.rto(), MS(1000));
        rtt.on_sample(MS(100));
        // SRTT = 100, RTTVAR = 50, RTO = 100 + 4 * 50 = 300.
        assert_eq!((rtt.srtt(), rtt.rto()), (Some(MS(100)), MS(300)));
        rtt.on_sample(MS(180));
        // RTTVAR = (3 * 50 + 80) / 4 = 57.5; SRTT = (700 + 180) / 8 = 110; RTO = 110 + 230 = 340.
        assert_eq!((rtt.srtt(), rtt.rto()), (Some(MS(110)), MS(340)));
    }

    #[test]
    fn a_coarse_clock_and_the_minimum_bound_the_timeout() {
        let mut coarse = estimator(1000, 500);
        coarse.on_sample(MS(100));
        // 100 + max(500, 200) = 600, up to whole ticks of 500: 1000.
        assert_eq!(coarse.rto(), MS(1000));
        coarse.on_sample(MS(900));
        // RTTVAR = (150 + 800) / 4 = 237.5; SRTT = 200; 200 + 950 = 1150, up to 1500.
        assert_eq!(coarse.rto(), MS(1500));
        let mut fine = estimator(200, 1);
        fine.on_sample(MS(10));
        assert_eq!(fine.rto(), MS(200));
    }

    #[test]
    fn back_off_doubles_to_the_maximum_and_ends_with_a_sample() {
        let mut rtt = estimator(1000, 1);
        rtt.on_sample(MS(100));
        let backed_off: Vec<Duration> = (0..8)
            .map(|_| {
                rtt.back_off();
                rtt.rto()
            })
            .collect();
        let seconds = [2, 4, 8, 16, 32, 60, 60, 60].map(Duration::from_secs);
        assert_eq!(backed_off, seconds);
        rtt.on_sample(MS(100));
        assert_eq!(rtt.rto(), MS(1000));
    }

    #[test]
    fn a_lost_syn_leaves_three_seconds() {
        let mut rtt = estimator(1000, 1);
        rtt.back_off();
        rtt.after_syn_timeout();
        assert_eq!(rtt.rto(), Duration::from_secs(3));
    }
}
