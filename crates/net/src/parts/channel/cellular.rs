//! A cellular link drawn at random, after the model by which Sprout forecasts one (K. Winstein, A.
//! Sivaraman and H. Balakrishnan, "Stochastic Forecasts Achieve High Throughput and Low Delay over
//! Cellular Networks", NSDI 2013): packets leave as a Poisson process whose rate wanders as a Brownian
//! motion.
//!
//! DEVIATION(winstein2013): the rate is reflected at zero and at twice the mean, so that all rates
//! between are equally likely and the mean is what was asked for; its outages, which last
//! longer than the motion itself makes them, are not modelled.

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, PacketRate, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::Described;
use super::opportunities::{BYTES, MILLI, Opportunities};
use crate::check::{Refusal, refuse};

/// A trace drawn at random: packets leave as a Poisson process whose rate wanders between zero
/// and twice `rate`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct CellularConfig {
    /// The distance that the rate wanders in a second (as the root of the time).
    pub wander: PacketRate,
    /// After how long it begins again.
    pub period: Duration,
}

impl Default for CellularConfig {
    fn default() -> Self {
        // Sprout's authors took this wander for the networks of their time, in packets/s/sqrt(s).
        let wander = PacketRate::from_pps(200.0).expect("a rate");
        Self { wander, period: Duration::from_secs(600) }
    }
}

/// A cellular link in use.
#[derive(Clone, Debug)]
pub struct Cellular(Opportunities);

/// The time between moves of the rate, in milliseconds: a tick of Sprout.
const TICK_MS: u64 = 20;

/// The most opportunities of a period, of 8 bytes each.
const MOST: usize = 20_000_000;
const TOO_MANY: &str = "expected a shorter period, or a lower rate: more than 20000000 packets";

/// The mean number of opportunities in a second.
fn mean_pps(rate: Rate) -> f64 {
    rate.as_bps() as f64 / 8.0 / BYTES as f64
}

impl Described for Cellular {
    type Settings = CellularConfig;

    const KIND: &'static str = "cellular";

    const ALSO: &'static [&'static str] = &["umts", "3g", "markov", "mobile"];
    const SOURCE: &'static str = "Winstein et al. 2013";

    fn entries(config: &CellularConfig, rate: Rate) -> f64 {
        mean_pps(rate) * config.period.as_secs_f64()
    }

    fn make(config: &CellularConfig, rate: Rate, mut random: Stream) -> Result<Self, Refusal> {
        let wander_pps = config.wander.as_pps();
        if !(0.0..=1e6).contains(&wander_pps) {
            return refuse("wander", "expected from 0 to 1000000 packets a second");
        }
        let ticks = config.period.as_nanos() / MILLI / TICK_MS;
        if ticks == 0 || ticks > 50_000_000 {
            return refuse("period", "expected a period from 20 ms to 11 days");
        }
        // The draw itself would find this only after a second or more.
        if Self::entries(config, rate) > MOST as f64 {
            return refuse("period", TOO_MANY);
        }
        let top = 2.0 * mean_pps(rate);
        let tick_s = TICK_MS as f64 * 1e-3;
        let mut rate = random.uniform_in(0.0, top);
        let mut times: Vec<u64> = Vec::new();
        for tick in 0..ticks {
            rate = reflect(rate + wander_pps * libm::sqrt(tick_s) * normal(&mut random), top);
            if rate <= 0.0 {
                continue;
            }
            let mut at = random.exponential(1.0 / rate);
            while at < tick_s {
                times.push(tick * TICK_MS + 1 + whole_ms(at));
                at += random.exponential(1.0 / rate);
                if times.len() > MOST {
                    return refuse("period", TOO_MANY);
                }
            }
        }
        // The period ends with its last opportunity.
        let last = ticks * TICK_MS;
        if times.last().is_none_or(|time| *time < last) {
            times.push(last);
        }
        Opportunities::new(times).map(Self).map_err(|why| ("period", why.to_owned()))
    }

    fn time(&mut self, now: Instant, starts: Instant, size: u64) -> Duration {
        self.0.time(now, starts, size)
    }

    fn capacity(&self, now: Instant) -> Option<u128> {
        Some(self.0.capacity(now))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a part of a tick, positive"
)]
fn whole_ms(seconds: f64) -> u64 {
    (seconds * 1e3) as u64
}

/// A draw of the standard normal distribution (Box and Muller).
fn normal(random: &mut Stream) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - random.uniform()));
    radius * libm::cos(core::f64::consts::TAU * random.uniform())
}

/// `value` folded into 0 to `top`.
fn reflect(value: f64, top: f64) -> f64 {
    let folded = value.rem_euclid(2.0 * top);
    if folded > top { 2.0 * top - folded } else { folded }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawn_trace_has_its_mean_and_wanders() {
        // 8 Mbit/s are 666.7 packets a second. The rate is uniform from 0 to 1333 and crosses that range
        // in some 40 s: over 1000 s the mean is within 20 %, of ten traces within 7 %.
        let config = CellularConfig { period: Duration::from_secs(1000), ..Default::default() };
        let rate = Rate::from_bps(8_000_000);
        let mut rates = Vec::new();
        let mut spreads = Vec::new();
        for seed in 0..10 {
            let Cellular(trace) =
                Cellular::make(&config, rate, Stream::new(seed, "cellular")).unwrap();
            assert_eq!(trace.period_ms, 1_000_000);
            rates.push(trace.times_ms.len() as f64 / 1000.0 / 666.7);
            // Packets of each second: their deviation is 1333/sqrt(12) = 385, and Poisson's 26.
            let mut seconds = vec![0.0_f64; 1000];
            for time in &*trace.times_ms {
                seconds[usize::try_from(time.saturating_sub(1) / 1000).unwrap()] += 1.0;
            }
            let mean = seconds.iter().sum::<f64>() / 1000.0;
            let square = seconds.iter().map(|n| (n - mean) * (n - mean)).sum::<f64>() / 1000.0;
            spreads.push(libm::sqrt(square));
        }
        let mean = rates.iter().sum::<f64>() / 10.0;
        assert!((mean - 1.0).abs() < 0.1, "{rates:?}");
        let spread = spreads.iter().sum::<f64>() / 10.0;
        assert!((spread - 385.0).abs() < 40.0, "{spread}");
    }
}
