//! A rate that follows a measured series: each value holds until the next, and the series begins again at its end.
//!
//! A packet in transmission when the rate changes is sent on at the new rate, and waits through a rate of zero. So the
//! link carries what the series holds, however long one packet takes at its lowest rate.

use std::sync::Arc;

use ackclock_units::random::Stream;
use ackclock_units::written::kinds::ListFile;
use ackclock_units::{Duration, Instant, Rate, RateOrZero};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::Described;
use crate::check::{Refusal, refuse};

/// A measured series of rates: each holds until the next, and what is left of a packet in transmission is sent at
/// the rate that comes. `rate` is used where a limit is written as a multiple of the bandwidth-delay product, and
/// nowhere else.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct RatesConfig {
    /// The values, the first at 0 s. In a scenario file also the name of a file, from the folder of the scenario:
    /// two columns, time in seconds and rate, with `unit` beside it, such as `unit = "Mbit/s"`; or one column of
    /// rates, with `interval` beside it too, such as `interval = "1 s"`.
    pub series: Vec<RateStep>,
    /// The time after which the series begins again. Default: the last value holds as long as the one before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Duration>,
}

/// A value of a series of rates.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// Its beginning, counted from that of the series.
    pub at: Duration,
    /// The rate until the next.
    pub rate: RateOrZero,
}

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// A rate over time, over and over.
#[derive(Clone, Debug)]
pub struct Rates {
    /// The beginning of each value within a period, in nanoseconds, and the value in bit/s.
    steps: Arc<[(u64, u64)]>,
    period: u64,
    /// The bits of a period times 10^9.
    of_period: u128,
    /// Whole periods that have passed, and the value that holds.
    round: u64,
    step: usize,
    /// The departure of the last packet, and what the link could still have sent in that nanosecond, in bits times 10^9.
    last: (Instant, u128),
}

impl Described for Rates {
    type Settings = RatesConfig;

    const KIND: &'static str = "rates";

    const ALSO: &'static [&'static str] =
        &["rate", "series", "csv", "bandwidth", "throughput", "variable"];

    const FILE: Option<ListFile> = Some(ListFile {
        list: "series",
        beside: &[
            ("unit", "The unit of the rates in the file, such as `\"Mbit/s\"`."),
            ("interval", "The time between the rates of a file of one column, such as `\"1 s\"`."),
        ],
    });

    fn make(config: &RatesConfig, _: Rate, _: Stream) -> Result<Self, Refusal> {
        let steps = &config.series[..];
        if steps.first().is_none_or(|step| step.at > Duration::ZERO) {
            return refuse("series", "expected a first value at 0 s");
        }
        if !steps.is_sorted_by(|a, b| a.at < b.at) {
            return refuse("series", "expected times that ascend");
        }
        let period = config.period.unwrap_or(match steps {
            [.., before, last] => last.at + last.at.saturating_sub(before.at),
            _ => Duration::from_secs(1),
        });
        if steps.last().is_some_and(|step| step.at >= period) {
            return refuse("period", "expected a period that ends after the last value begins");
        }
        if steps.iter().all(|step| step.rate.0.is_none()) {
            return refuse("series", "expected a rate above 0 bit/s somewhere");
        }
        let value = |step: &RateStep| (step.at.as_nanos(), step.rate.0.map_or(0, Rate::as_bps));
        let steps: Vec<(u64, u64)> = steps.iter().map(value).collect();
        let period = period.as_nanos();
        let ends = steps.iter().skip(1).map(|(at, _)| *at).chain([period]);
        let of_period = steps
            .iter()
            .zip(ends)
            .map(|((at, rate), end)| u128::from(*rate) * u128::from(end - at))
            .sum();
        Ok(Self {
            steps: steps.into(),
            period,
            of_period,
            round: 0,
            step: 0,
            last: (Instant::START, 0),
        })
    }

    fn time(&mut self, _: Instant, starts: Instant, size: u64) -> Duration {
        let mut at = starts.as_nanos();
        let round = at / self.period;
        if round > self.round {
            (self.round, self.step) = (round, 0);
        }
        while self.value().0 <= at {
            self.advance();
        }
        // Back to back, the nanosecond in which the last packet left is used to its end.
        let spared = if self.last.0 == starts { self.last.1 } else { 0 };
        let mut work = (u128::from(size) * 8 * NANOS_PER_SECOND).saturating_sub(spared);
        loop {
            // A packet may last for many periods.
            if self.step == 0
                && at == self.round.saturating_mul(self.period)
                && work > self.of_period
            {
                let rounds = (work - 1) / self.of_period;
                let rounds = u64::try_from(rounds).unwrap_or(u64::MAX).min(u64::MAX / self.period);
                work -= u128::from(rounds) * self.of_period;
                self.round = self.round.saturating_add(rounds);
                at = self.round.saturating_mul(self.period);
            }
            let (end, rate) = self.value();
            let rate = u128::from(rate);
            let capacity = rate * u128::from(end - at);
            if work <= capacity && rate > 0 {
                let nanos = work.div_ceil(rate);
                at += u64::try_from(nanos).expect("no more than a value lasts");
                // At the end of a value the rate of the next nanosecond is another.
                let spare = if at < end { nanos * rate - work } else { 0 };
                let departs = Instant::from_nanos(at);
                self.last = (departs, spare);
                return departs.since(starts);
            }
            if end >= u64::MAX - self.period {
                // Later than any run.
                return Instant::NEVER.since(starts);
            }
            work -= capacity;
            at = end;
            self.advance();
        }
    }

    fn capacity(&self, now: Instant) -> Option<u128> {
        let (rounds, rest) = (now.as_nanos() / self.period, now.as_nanos() % self.period);
        let ends = self.steps.iter().skip(1).map(|(at, _)| *at).chain([self.period]);
        let begun = self.steps.iter().zip(ends).take_while(|((at, _), _)| *at < rest);
        let of_rest: u128 =
            begun.map(|((at, rate), end)| u128::from(*rate) * u128::from(end.min(rest) - at)).sum();
        Some(u128::from(rounds) * self.of_period + of_rest)
    }
}

impl Rates {
    /// The end of the value that holds, and its rate in bit/s.
    fn value(&self) -> (u64, u64) {
        let end = self.steps.get(self.step + 1).map_or(self.period, |(at, _)| *at);
        (self.round.saturating_mul(self.period).saturating_add(end), self.steps[self.step].1)
    }

    fn advance(&mut self) {
        self.step += 1;
        if self.step == self.steps.len() {
            self.step = 0;
            self.round += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn made(steps: &[(Duration, Option<Rate>)], period: Duration) -> Result<Rates, Refusal> {
        let step =
            |(at, rate): &(Duration, Option<Rate>)| RateStep { at: *at, rate: RateOrZero(*rate) };
        let config = RatesConfig { series: steps.iter().map(step).collect(), period: Some(period) };
        Rates::make(&config, Rate::from_bps(1), Stream::new(1, "rates"))
    }

    /// The time on the channel of a packet that comes as it can be sent.
    fn sent(channel: &mut Rates, at: Instant, size: u64) -> Duration {
        channel.time(at, at, size)
    }

    fn series(steps: &[(u64, u64)], period_ms: u64) -> Rates {
        let steps: Vec<_> = steps
            .iter()
            .map(|(at, bps)| {
                (Duration::from_millis(*at), (*bps > 0).then_some(Rate::from_bps(*bps)))
            })
            .collect();
        made(&steps, Duration::from_millis(period_ms)).unwrap()
    }

    #[test]
    fn a_packet_is_sent_on_at_the_rate_that_comes() {
        // 1500 bytes are 12,000 bits. From 5 ms at 1 Mbit/s 5000 bits by 10 ms, nothing until 20 ms, then 7000 bits
        // at 2 Mbit/s: 3.5 ms.
        let mut wire = series(&[(0, 1_000_000), (10, 0), (20, 2_000_000)], 30);
        assert_eq!(sent(&mut wire, ms(5), 1500), Duration::from_micros(18_500));
        // The next: 6.5 ms of 2 Mbit/s are 13,000 bits, so 6 ms.
        assert_eq!(
            sent(&mut wire, Instant::from_nanos(23_500_000), 1500),
            Duration::from_millis(6)
        );
        // From 29.5 ms on: 1000 bits, then the series begins again: 10,000 bits by 40 ms, 1000 bits at 50 ms: 0.5 ms.
        assert_eq!(
            sent(&mut wire, Instant::from_nanos(29_500_000), 1500),
            Duration::from_millis(21)
        );
    }

    #[test]
    fn what_the_series_holds_is_counted_whoever_comes() {
        // 10 ms of 1 Mbit/s are 10,000 bits, 10 ms of nothing none, 10 ms of 2 Mbit/s 20,000: 30,000 in a period.
        let wire = series(&[(0, 1_000_000), (10, 0), (20, 2_000_000)], 30);
        let bits = |at: u64| wire.capacity(ms(at)).unwrap() / NANOS_PER_SECOND;
        assert_eq!(
            [0, 5, 10, 15, 20, 25, 30, 95].map(bits),
            [0, 5_000, 10_000, 10_000, 10_000, 20_000, 30_000, 95_000]
        );
    }

    #[test]
    fn a_packet_that_comes_at_a_rate_of_zero_waits_for_the_next_value() {
        // They come at 15 ms; the series begins again at 1 s. 10 ms of it are enough for the first; the second needs 2 of
        // the next round besides.
        for (size, takes_ms) in [(1250, 985 + 10), (1500, 985 + 1000 + 2)] {
            let mut wire = series(&[(0, 1_000_000), (10, 0)], 1000);
            assert_eq!(sent(&mut wire, ms(15), size), Duration::from_millis(takes_ms));
        }
    }

    #[test]
    fn a_busy_link_carries_what_the_series_holds() {
        // 7 Mbit/s for 1 s, 0 for 1 s: 583 packets of 12,000 bits in the first second, at 12,000/7 us each without a
        // nanosecond lost, and the 584th is a third sent: 7,000,000 - 583 * 12,000 = 4000 bits.
        let mut wire = series(&[(0, 7_000_000), (1000, 0)], 2000);
        let mut at = Instant::START;
        for _ in 0..583 {
            at += sent(&mut wire, at, 1500);
        }
        // 583 * 12,000 / 7 us = 999,428,571.43 ns, and the last nanosecond begun counts.
        assert_eq!(at, Instant::from_nanos(999_428_572));
        // 8000 bits at 7 Mbit/s: 1,142,857.14 ns from 2 s on.
        at += sent(&mut wire, at, 1500);
        assert_eq!(at, Instant::from_nanos(2_001_142_858));
    }

    #[test]
    fn a_packet_may_last_for_many_periods() {
        // 1 and 3 bit/s in turns of 1 ns: 2 bit/s, so that 12,000 bits take 6,000 s, from the middle of a period on too: one ns at
        // 3, 2,999,999,999,999 periods, one ns at 1. And 5 bit/s of 1 ms of each year, of
        // which 5 10^-3 bits a year never carry a bit before time ends.
        let steps = [
            (Duration::ZERO, Some(Rate::from_bps(1))),
            (Duration::from_nanos(1), Some(Rate::from_bps(3))),
        ];
        let mut series = made(&steps, Duration::from_nanos(2)).unwrap();
        assert_eq!(sent(&mut series, Instant::START, 1500), Duration::from_secs(6000));
        assert_eq!(
            sent(&mut series, Instant::from_nanos(6_000_000_000_001), 1500),
            Duration::from_secs(6000)
        );
        let year = Duration::from_secs(365 * 86_400);
        let steps = [(Duration::ZERO, Some(Rate::from_bps(5))), (Duration::from_millis(1), None)];
        let mut series = made(&steps, year).unwrap();
        assert_eq!(sent(&mut series, Instant::START, 1500), Instant::NEVER.since(Instant::START));
    }

    #[test]
    fn long_silence_is_passed_over_at_once() {
        let mut wire = series(&[(0, 1_000_000), (1, 2_000_000)], 2);
        // 10^9 periods of 2 ms later; 1 ms at 1 Mbit/s are 1000 bits, the rest at 2 Mbit/s.
        assert_eq!(sent(&mut wire, ms(2_000_000_000), 250), Duration::from_micros(1500));
    }

    #[test]
    fn impossible_series_are_refused() {
        let step =
            |at, bps: u64| (Duration::from_millis(at), (bps > 0).then(|| Rate::from_bps(bps)));
        for (steps, period) in [
            (vec![], 10),
            (vec![step(1, 5)], 10),
            (vec![step(0, 5), step(0, 6)], 10),
            (vec![step(0, 5), step(10, 6)], 10),
            (vec![step(0, 0), step(5, 0)], 10),
        ] {
            assert!(made(&steps, Duration::from_millis(period)).is_err(), "{steps:?}");
        }
    }
}
