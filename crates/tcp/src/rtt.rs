//! Round-trip time and the retransmission timeout: RFC 6298.

use ackclock_packet::Seq;
use ackclock_units::Duration;

use crate::config::{RtoConfig, Variation};

/// The values that Linux keeps beside it (`tcp_rtt_estimator` of Linux 6).
#[derive(Clone, Copy, Debug, Default)]
struct LinuxVariation {
    /// Four times the smoothed deviation.
    deviation: Duration,
    /// The largest of it since `round` began.
    largest: Duration,
    /// SND.NXT when the round began.
    round: Seq,
}

impl LinuxVariation {
    /// The next deviation: it follows a delay that grows as RFC 6298 has it, and one that falls
    /// eight times more slowly, so that a queue that drains does not lengthen the timeout.
    fn next(self, srtt: Duration, rtt: Duration) -> Duration {
        let (old, off) = (self.deviation, srtt.abs_diff(rtt));
        let quarter = old / 4;
        if off <= quarter {
            old.saturating_sub(quarter.saturating_sub(off))
        } else if rtt < srtt {
            old + off.saturating_sub(quarter) / 8
        } else {
            old + off.saturating_sub(quarter)
        }
    }
}

/// SRTT, RTTVAR and the timeout that follows from them (§2), with back-off (§5.5).
#[derive(Clone, Copy, Debug)]
// What every sample touches comes first.
#[repr(C)]
pub struct RttEstimator {
    /// SRTT; `MAX` before the first sample. A number alone, as two that were just written cannot be read at once.
    smoothed: Duration,
    /// The least sample so far.
    min: Option<Duration>,
    /// The value that stands for 4 * RTTVAR in the timeout.
    variation: Duration,
    rto: Duration,
    backoff: u32,
    config: RtoConfig,
    linux: LinuxVariation,
}

impl RttEstimator {
    /// Before the first sample.
    pub fn new(config: RtoConfig) -> Self {
        Self {
            config,
            smoothed: Duration::MAX,
            min: None,
            variation: Duration::ZERO,
            linux: LinuxVariation::default(),
            rto: config.initial,
            backoff: 0,
        }
    }

    /// The timer's settings.
    pub(crate) const fn config(&self) -> &RtoConfig {
        &self.config
    }

    /// A sample of a segment that was sent once (Karn's rule is the caller's), when SND.UNA was `una`
    /// and SND.NXT `nxt`. Ends the back-off.
    #[inline]
    pub fn on_sample(&mut self, rtt: Duration, una: Seq, nxt: Seq) {
        self.min = Some(self.min.map_or(rtt, |min| min.min(rtt)));
        let srtt = self.srtt();
        match self.config.variation {
            Variation::Rfc6298 => {
                // RTTVAR first, with the old SRTT (§2.3); kept four times as large.
                self.variation = match srtt {
                    None => rtt * 2,
                    Some(srtt) => self.variation * 3 / 4 + srtt.abs_diff(rtt),
                };
            }
            Variation::Linux => self.vary_as_linux(rtt, una, nxt),
        }
        self.smoothed = srtt.map_or(rtt, |srtt| (srtt * 7 + rtt) / 8);
        self.backoff = 0;
        let variation = self.variation.max(self.config.granularity);
        self.rto = self.clamp(self.smoothed + variation);
    }

    fn vary_as_linux(&mut self, rtt: Duration, una: Seq, nxt: Seq) {
        let Some(srtt) = self.srtt() else {
            self.linux.deviation = rtt * 2;
            self.variation = self.linux.deviation.max(self.config.min);
            self.linux.largest = self.variation;
            self.linux.round = nxt;
            return;
        };
        let linux = &mut self.linux;
        linux.deviation = linux.next(srtt, rtt);
        linux.largest = linux.largest.max(linux.deviation);
        self.variation = self.variation.max(linux.largest);
        if una > linux.round {
            self.variation =
                self.variation.saturating_sub(self.variation.saturating_sub(linux.largest) / 4);
            linux.round = nxt;
            linux.largest = self.config.min;
        }
    }

    #[inline]
    fn clamp(&self, rto: Duration) -> Duration {
        if rto + self.config.granularity <= self.config.min {
            // The least, without the division that rounding takes.
            return self.config.min.min(self.config.max);
        }
        rto.round_up_to(self.config.granularity).max(self.config.min).min(self.config.max)
    }

    /// The timeout by the round-trip times alone, without minimum, maximum and back-off;
    /// the initial timeout before the first sample.
    pub fn unclamped_rto(&self) -> Duration {
        let Some(srtt) = self.srtt() else { return self.config.initial };
        let variation = match self.config.variation {
            Variation::Rfc6298 => self.variation,
            Variation::Linux => self.linux.deviation,
        };
        (srtt + variation.max(self.config.granularity)).round_up_to(self.config.granularity)
    }

    /// The smoothed round-trip time.
    #[inline]
    pub const fn srtt(&self) -> Option<Duration> {
        if self.smoothed.as_nanos() == Duration::MAX.as_nanos() {
            None
        } else {
            Some(self.smoothed)
        }
    }

    /// The least round-trip time so far; zero before the first sample.
    #[inline]
    pub fn min(&self) -> Duration {
        self.min.unwrap_or_default()
    }

    /// The mean deviation, RTTVAR.
    #[inline]
    pub fn rttvar(&self) -> Duration {
        self.variation / 4
    }

    /// The number of times that the timeout is doubled.
    pub const fn backoff(&self) -> u32 {
        self.backoff
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
            variation: Variation::Rfc6298,
        })
    }

    impl RttEstimator {
        fn sample(&mut self, rtt: Duration) {
            self.on_sample(rtt, Seq::FIRST_BYTE, Seq::FIRST_BYTE);
        }
    }

    #[test]
    fn the_first_samples_follow_the_rfc() {
        let mut rtt = estimator(0, 1);
        assert_eq!(rtt.rto(), MS(1000));
        rtt.sample(MS(100));
        // SRTT = 100, RTTVAR = 50, RTO = 100 + 4 * 50 = 300.
        assert_eq!((rtt.srtt(), rtt.rto()), (Some(MS(100)), MS(300)));
        rtt.sample(MS(180));
        // RTTVAR = (3 * 50 + 80) / 4 = 57.5; SRTT = (700 + 180) / 8 = 110; RTO = 110 + 230 = 340.
        assert_eq!((rtt.srtt(), rtt.rto()), (Some(MS(110)), MS(340)));
        assert_eq!((rtt.rttvar(), rtt.min()), (Duration::from_micros(57_500), MS(100)));
    }

    #[test]
    fn without_its_minimum_the_timeout_is_what_was_measured() {
        let mut rtt = estimator(1000, 10);
        assert_eq!(rtt.unclamped_rto(), MS(1000));
        rtt.sample(MS(200));
        // 200 + 4 * 100 = 600 while the timeout is 1000.
        assert_eq!((rtt.unclamped_rto(), rtt.rto()), (MS(600), MS(1000)));
        for _ in 0..40 {
            rtt.sample(MS(204));
        }
        // The variation has died away: the clock's 10 ms remain, 204 + 10, up to 220.
        assert_eq!(rtt.unclamped_rto(), MS(220));
    }

    #[test]
    fn a_coarse_clock_and_the_minimum_bound_the_timeout() {
        let mut coarse = estimator(1000, 500);
        coarse.sample(MS(100));
        // 100 + max(500, 200) = 600, up to whole ticks of 500: 1000.
        assert_eq!(coarse.rto(), MS(1000));
        coarse.sample(MS(900));
        // RTTVAR = (150 + 800) / 4 = 237.5; SRTT = 200; 200 + 950 = 1150, up to 1500.
        assert_eq!(coarse.rto(), MS(1500));
        let mut fine = estimator(200, 1);
        fine.sample(MS(10));
        assert_eq!(fine.rto(), MS(200));
    }

    #[test]
    fn back_off_doubles_to_the_maximum_and_ends_with_a_sample() {
        let mut rtt = estimator(1000, 1);
        rtt.sample(MS(100));
        let backed_off: Vec<Duration> = (0..8)
            .map(|_| {
                rtt.back_off();
                rtt.rto()
            })
            .collect();
        let seconds = [2, 4, 8, 16, 32, 60, 60, 60].map(Duration::from_secs);
        assert_eq!((backed_off, rtt.backoff()), (seconds.to_vec(), 8));
        rtt.sample(MS(100));
        assert_eq!((rtt.rto(), rtt.backoff()), (MS(1000), 0));
    }

    #[test]
    fn linux_keeps_its_minimum_above_srtt_and_follows_a_falling_delay_slowly() {
        let config = RtoConfig { variation: Variation::Linux, ..estimator(200, 1).config };
        let mut rtt = RttEstimator::new(config);
        rtt.sample(MS(100));
        // 4 * RTTVAR = 2 * 100, which is the minimum: 100 + 200.
        assert_eq!(rtt.rto(), MS(300));
        rtt.sample(MS(100));
        // The deviation falls to 150, but the variation is held for a round, and never below 200.
        assert_eq!(rtt.rto(), MS(300));
        rtt.sample(MS(300));
        // 150 + (200 - 37.5) = 312.5; srtt (700 + 300) / 8 = 125: 437.5, up to 438.
        assert_eq!(rtt.rto(), MS(438));
        rtt.sample(MS(45));
        // The delay fell by 80, 312.5 / 4 = 78.125: 312.5 + 1.875 / 8 = 312.734375; srtt 115.
        assert_eq!(rtt.rto(), MS(428));
        // A round later the variation goes a quarter of the way to the largest deviation of it.
        let (una, nxt) = (Seq::new(2), Seq::new(9));
        rtt.on_sample(MS(115), una, nxt);
        assert_eq!(rtt.rto(), MS(428));
        rtt.on_sample(MS(115), Seq::new(10), Seq::new(20));
        // Deviations since: 312.734 * 3/4 = 234.55, * 3/4 = 175.9; largest 200 (the minimum).
        // 312.734375 - 112.734375 / 4 = 284.55; 115 + 284.55 = 399.55.
        assert_eq!(rtt.rto(), MS(400));
    }

    /// `tcp_rtt_estimator`: a deviation that falls counts an eighth.
    #[test]
    fn linux_counts_an_eighth_of_a_delay_that_falls() {
        let config = RtoConfig { variation: Variation::Linux, ..estimator(200, 1).config };
        let mut rtt = RttEstimator::new(config);
        rtt.sample(MS(400));
        // 400 + 4 * 200.
        assert_eq!(rtt.rto(), MS(1200));
        rtt.sample(MS(40));
        // It fell by 360, of which 800 / 4 = 200 are expected: 800 + 160 / 8 = 820; srtt (7 * 400 + 40) / 8 = 355. Had it
        // risen, 160 would count whole.
        assert_eq!(rtt.rto(), MS(1175));
    }

    #[test]
    fn a_lost_syn_leaves_three_seconds() {
        let mut rtt = estimator(1000, 1);
        rtt.back_off();
        rtt.after_syn_timeout();
        assert_eq!(rtt.rto(), Duration::from_secs(3));
    }
}
