//! Delivery opportunities: moments at which up to 1500 bytes may leave, as the link emulator mahimahi
//! has them (R. Netravali et al., "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015).
//! What nobody uses is lost.

use std::sync::Arc;

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate};

/// Bytes that leave at one opportunity.
const BYTES: u64 = 1500;
const MILLI: u64 = 1_000_000;

/// Opportunities, at whole milliseconds, over and over.
#[derive(Clone, Debug)]
pub struct Opportunities {
    /// Within a period, in the order of time.
    times_ms: Arc<[u64]>,
    period_ms: u64,
    /// Whole periods that have passed, the next opportunity, and what of it is used.
    rounds: u64,
    next: usize,
    used: u64,
}

impl Opportunities {
    /// Opportunities at `times_ms`, repeated from the last of them on, as mahimahi does.
    ///
    /// # Errors
    /// A line that says what is wrong: none, not in order, or all at 0.
    pub fn new(times_ms: Vec<u64>) -> Result<Self, &'static str> {
        let Some(period_ms) = times_ms.last().copied().filter(|last| *last > 0) else {
            return Err("expected a time of more than 0 ms");
        };
        if !times_ms.is_sorted() {
            return Err("expected times in order");
        }
        // A century.
        if period_ms > 100 * 365 * 86_400_000 {
            return Err("expected times of less than a century");
        }
        Ok(Self { times_ms: times_ms.into(), period_ms, rounds: 0, next: 0, used: 0 })
    }

    fn at(&self) -> Instant {
        Instant::from_nanos((self.rounds * self.period_ms + self.times_ms[self.next]) * MILLI)
    }

    fn advance(&mut self) {
        self.used = 0;
        self.next += 1;
        if self.next == self.times_ms.len() {
            self.next = 0;
            self.rounds += 1;
        }
    }

    /// Passes over what comes before `now`.
    fn skip_to(&mut self, now: Instant) {
        let whole = now.as_nanos() / MILLI / self.period_ms;
        if whole > self.rounds + 1 {
            // Nothing of the rounds between is of use.
            (self.rounds, self.next, self.used) = (whole - 1, 0, 0);
        }
        while self.at() < now {
            self.advance();
        }
    }

    /// The time that a packet of `size` bytes spends on the channel: it came at `now`, behind others that leave by
    /// `starts`.
    pub(super) fn time(&mut self, now: Instant, starts: Instant, size: u64) -> Duration {
        self.skip_to(now);
        let mut left = size;
        loop {
            let taken = left.min(BYTES - self.used);
            left -= taken;
            self.used += taken;
            if left == 0 {
                break;
            }
            self.advance();
        }
        let departs = self.at();
        if self.used == BYTES {
            self.advance();
        }
        departs.since(starts)
    }
}

/// A cellular link drawn at random, after the model by which Sprout forecasts one (K. Winstein, A.
/// Sivaraman and H. Balakrishnan, "Stochastic Forecasts Achieve High Throughput and Low Delay over
/// Cellular Networks", NSDI 2013): packets leave as a Poisson process whose rate wanders as a Brownian
/// motion.
///
/// DEVIATION(winstein2013): the rate is reflected at zero and at twice the mean, so that all rates
/// between are equally likely and the mean is what was asked for; its outages, which last
/// longer than the motion itself makes them, are not modelled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cellular {
    /// The mean rate.
    pub mean: Rate,
    /// The wander of the rate: its deviation after a second, in packets of 1500 bytes a second.
    pub wander_pps: f64,
    /// After how long it begins again.
    pub period: Duration,
}

/// The time between moves of the rate, in milliseconds: a tick of Sprout.
const TICK_MS: u64 = 20;

/// The most opportunities of a period, of 8 bytes each.
const MOST: usize = 20_000_000;
const TOO_MANY: &str = "expected a shorter period, or a lower rate: more than 20000000 packets";

impl Cellular {
    /// The wander that Sprout's authors took for the networks of their time, in packets/s/sqrt(s).
    pub const SPROUT_WANDER_PPS: f64 = 200.0;

    /// Draws the opportunities of a period.
    ///
    /// # Errors
    /// A line that says which setting is impossible.
    pub fn draw(&self, random: &mut Stream) -> Result<Opportunities, &'static str> {
        if !(0.0..=1e6).contains(&self.wander_pps) {
            return Err("expected from 0 to 1000000 packets a second");
        }
        let ticks = self.period.as_nanos() / MILLI / TICK_MS;
        if ticks == 0 || ticks > 50_000_000 {
            return Err("expected a period from 20 ms to 11 days");
        }
        let mean_pps = self.mean.as_bps() as f64 / 8.0 / BYTES as f64;
        // Of most draws it would be found after a second or more.
        if mean_pps * self.period.as_secs_f64() > MOST as f64 {
            return Err(TOO_MANY);
        }
        let top = 2.0 * mean_pps;
        let tick_s = TICK_MS as f64 * 1e-3;
        let mut rate = random.uniform_in(0.0, top);
        let mut times: Vec<u64> = Vec::new();
        for tick in 0..ticks {
            rate = reflect(rate + self.wander_pps * libm::sqrt(tick_s) * normal(random), top);
            if rate <= 0.0 {
                continue;
            }
            let mut at = random.exponential(1.0 / rate);
            while at < tick_s {
                times.push(tick * TICK_MS + 1 + whole_ms(at));
                at += random.exponential(1.0 / rate);
                if times.len() > MOST {
                    return Err(TOO_MANY);
                }
            }
        }
        // The period ends with its last opportunity.
        let last = ticks * TICK_MS;
        if times.last().is_none_or(|time| *time < last) {
            times.push(last);
        }
        Opportunities::new(times)
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

    const fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * MILLI)
    }

    /// When packets of these (ms of arrival, bytes) leave, in ms.
    fn departures(times_ms: &[u64], packets: &[(u64, u64)]) -> Vec<u64> {
        let mut channel = Opportunities::new(times_ms.to_vec()).unwrap();
        let mut free = Instant::START;
        packets
            .iter()
            .map(|(came, size)| {
                let starts = free.max(at(*came));
                free = starts + channel.time(at(*came), starts, *size);
                free.as_nanos() / MILLI
            })
            .collect()
    }

    #[test]
    fn each_opportunity_carries_1500_bytes() {
        // Three full packets at 0: at 5, 10 and 12.
        assert_eq!(departures(&[5, 10, 12, 20], &[(0, 1500); 3]), [5, 10, 12]);
        // Two of 750 share one; a third of 1000 and a fourth of 1000 lie across two.
        let packets = [(0, 750), (0, 750), (0, 1000), (0, 1000)];
        assert_eq!(departures(&[5, 10, 12, 20], &packets), [5, 5, 10, 12]);
    }

    #[test]
    fn what_nobody_uses_is_lost() {
        // The one at 5 has passed when the packet comes at 6; one that comes at 10 uses 10's.
        assert_eq!(departures(&[5, 10, 12, 20], &[(6, 1500)]), [10]);
        assert_eq!(departures(&[5, 10, 12, 20], &[(10, 1500)]), [10]);
        // 500 of 10's 1500 bytes used: the rest has passed at 11.
        assert_eq!(departures(&[5, 10, 12, 20], &[(10, 500), (11, 1500)]), [10, 12]);
    }

    #[test]
    fn the_trace_begins_again() {
        // A period of 20: 25 and 30 follow. Long after: 1000 periods of 20 ms and 5.
        assert_eq!(departures(&[5, 10, 12, 20], &[(21, 1500), (21, 1500)]), [25, 30]);
        assert_eq!(departures(&[5, 10, 12, 20], &[(0, 1500), (20_001, 1500)]), [5, 20_005]);
        // Twice in one millisecond.
        assert_eq!(departures(&[3, 3, 4], &[(0, 1500); 3]), [3, 3, 4]);
    }

    #[test]
    fn impossible_traces_are_refused() {
        for times in [vec![], vec![0], vec![5, 4], vec![1, 1 << 62]] {
            assert!(Opportunities::new(times).is_err());
        }
    }

    #[test]
    fn a_drawn_trace_has_its_mean_and_wanders() {
        // 8 Mbit/s are 666.7 packets a second. The rate is uniform from 0 to 1333 and crosses that range
        // in some 40 s: over 1000 s the mean is within 20 %, of ten traces within 7 %.
        let cellular = Cellular {
            mean: Rate::from_bps(8_000_000),
            wander_pps: Cellular::SPROUT_WANDER_PPS,
            period: Duration::from_secs(1000),
        };
        let mut rates = Vec::new();
        let mut spreads = Vec::new();
        for seed in 0..10 {
            let trace = cellular.draw(&mut Stream::new(seed, "cellular")).unwrap();
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
