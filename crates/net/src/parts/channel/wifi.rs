//! A wireless LAN as its packets see it: frames leave in bundles (the A-MPDU of IEEE 802.11n), each
//! of which first has to win the air, and the rate of the air changes.
//!
//! Not modelled: frames that are sent again (they lengthen a bundle, as a slower rate does),
//! collisions, and that both directions share the air.

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::Described;
use crate::check::{Refusal, refuse};

/// A wireless LAN: packets leave in bundles, each of which has to win the air, at a rate of the
/// air that changes. `rate` is what full bundles of 1500-byte packets get in the mean.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct WifiConfig {
    /// The most packets of a bundle.
    pub bundle: u32,
    /// The mean cost of a bundle besides its bits; each draws from half to one and a half.
    pub overhead: Duration,
    /// Rates of the air over their mean, in order; the channel steps to a neighbour.
    pub levels: Vec<f64>,
    /// The mean time between two steps.
    pub hold: Duration,
}

impl Default for WifiConfig {
    fn default() -> Self {
        Self {
            // Linux's drivers commonly send as many at once to a busy station.
            bundle: 32,
            // IEEE 802.11n at 5 GHz, best effort: 43 us of waiting, 67.5 us of backoff in the mean, a preamble of
            // 40 us, 16 us and an acknowledgment of 32 us.
            overhead: Duration::from_micros(200),
            levels: vec![0.6, 0.8, 1.0, 1.2, 1.4],
            hold: Duration::from_millis(500),
        }
    }
}

/// A wireless LAN in use.
#[derive(Clone, Debug)]
pub struct Wifi {
    config: WifiConfig,
    random: Stream,
    /// Nanoseconds a byte at a level of one.
    byte_ns: f64,
    level: usize,
    /// When the level changes next.
    changes: Instant,
    /// When the last bundle won the air, and how many packets it has.
    begun: Option<Instant>,
    packets: u32,
}

/// The packets by which the rate is understood.
const FULL: f64 = 1500.0;

/// Each change of the level takes a step, however long the link is silent.
const LEAST_HOLD: Duration = Duration::from_micros(10);

impl Described for Wifi {
    type Settings = WifiConfig;

    const KIND: &'static str = "wifi";

    const ALSO: &'static [&'static str] = &["wlan", "802.11", "wireless"];

    fn make(config: &WifiConfig, rate: Rate, mut random: Stream) -> Result<Self, Refusal> {
        if config.bundle == 0 {
            return refuse("bundle", "expected at least 1 packet in a bundle");
        }
        if config.hold < LEAST_HOLD {
            return refuse("hold", "expected at least 10 us");
        }
        let levels = &config.levels;
        if levels.is_empty() || !levels.iter().all(|level| (0.01..=100.0).contains(level)) {
            return refuse("levels", "expected levels from 0.01 to 100");
        }
        let byte_ns = byte_ns(config, rate)?;
        let level = index(random.uniform(), levels.len());
        let mut wifi = Self {
            config: config.clone(),
            random,
            byte_ns,
            level,
            changes: Instant::START,
            begun: None,
            packets: 0,
        };
        wifi.changes = Instant::START + wifi.holds();
        Ok(wifi)
    }

    fn time(&mut self, now: Instant, starts: Instant, size: u64) -> Duration {
        // What is there when a bundle wins the air goes with it.
        let joins = self.packets < self.config.bundle
            && self.begun.is_some_and(|begun| now <= begun && starts > begun);
        let mut time = Duration::ZERO;
        if joins {
            self.packets += 1;
        } else {
            time = Duration::from_secs_f64(
                self.config.overhead.as_secs_f64() * self.random.uniform_in(0.5, 1.5),
            );
            let begun = starts + time;
            while self.changes <= begun {
                self.step();
            }
            self.begun = Some(begun);
            self.packets = 1;
        }
        let level = self.config.levels[self.level];
        time + Duration::from_secs_f64(size as f64 * self.byte_ns / level * 1e-9)
    }
}

impl Wifi {
    fn holds(&mut self) -> Duration {
        Duration::from_secs_f64(self.random.exponential(self.config.hold.as_secs_f64()))
    }

    /// Steps to a neighbour, up and down alike. At either end half of the steps stay, so that every
    /// level lasts equally long in the mean.
    fn step(&mut self) {
        let top = self.config.levels.len() - 1;
        self.level = if self.random.bernoulli(0.5) {
            (self.level + 1).min(top)
        } else {
            self.level.saturating_sub(1)
        };
        let holds = self.holds();
        self.changes += holds;
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a small number, from 0 to below it"
)]
fn index(share: f64, of: usize) -> usize {
    (share * of as f64) as usize
}

/// The time of a byte at a level of one with which full bundles have the rate in the mean.
fn byte_ns(config: &WifiConfig, rate: Rate) -> Result<f64, Refusal> {
    let bytes = f64::from(config.bundle) * FULL;
    let overhead_ns = config.overhead.as_nanos() as f64;
    let reached = |byte_ns: f64| {
        let of = |level: &f64| 8e9 * bytes / (overhead_ns + bytes * byte_ns / level);
        config.levels.iter().map(of).sum::<f64>() / config.levels.len() as f64
    };
    let wanted = rate.as_bps() as f64;
    // From a bit in 1e-6 ns to one in 1e9: the rate falls with the time of a byte.
    let (mut fast, mut slow) = (1e-6, 1e10);
    if reached(fast) < wanted {
        return refuse("overhead", "bundles of this size and overhead never reach the rate");
    }
    for _ in 0..200 {
        let middle = libm::sqrt(fast * slow);
        if reached(middle) > wanted {
            fast = middle;
        } else {
            slow = middle;
        }
    }
    Ok(libm::sqrt(fast * slow))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> WifiConfig {
        WifiConfig {
            bundle: 16,
            overhead: Duration::from_micros(200),
            levels: vec![1.0],
            hold: Duration::from_secs(1),
        }
    }

    /// A channel in place of 32 Mbit/s.
    fn made(config: &WifiConfig) -> Result<Wifi, Refusal> {
        Wifi::make(config, Rate::from_bps(32_000_000), Stream::new(1, "wifi"))
    }

    /// When each of `n` packets of 1500 bytes leaves that are all there at the start.
    fn backlog(config: &WifiConfig, n: usize) -> Vec<Instant> {
        let mut wifi = made(config).unwrap();
        let mut free = Instant::START;
        (0..n)
            .map(|_| {
                free += wifi.time(Instant::START, free, 1500);
                free
            })
            .collect()
    }

    #[test]
    fn a_bundle_pays_once() {
        // 16 packets of 1500 B at 32 Mbit/s are 6 ms a bundle, of which 0.2 ms are overhead: 362.5 us
        // a packet, and the first of each bundle 100 to 300 us more.
        let left = backlog(&config(), 65);
        let gaps: Vec<u64> =
            left.windows(2).map(|pair| pair[1].since(pair[0]).as_nanos() / 100).collect();
        let begins = gaps.iter().filter(|gap| **gap > 4000).count();
        assert!(gaps.iter().all(|gap| *gap == 3625 || (4625..=6625).contains(gap)), "{gaps:?}");
        // Packet 0 begins a bundle, as do 16, 32, 48 and 64.
        assert_eq!(begins, 4);
    }

    #[test]
    fn a_backlog_has_the_rate_whatever_the_levels() {
        // 40,000 packets of 1500 B at 32 Mbit/s: 15 s, in which levels that hold 10 ms change 1500
        // times. Bundles of two, because one that begins on a slow level stays on it to its end.
        for levels in [vec![1.0], vec![0.5, 1.0, 1.5], vec![0.25, 0.5, 1.0, 2.0]] {
            let hold = Duration::from_millis(10);
            let config = WifiConfig { levels, hold, bundle: 2, ..config() };
            let left = backlog(&config, 40_000);
            let rate = 40_000.0 * 12_000.0 / left[39_999].as_secs_f64() / 32e6;
            assert!((rate - 1.0).abs() < 0.05, "{:?} {rate}", config.levels);
        }
    }

    #[test]
    fn a_lone_packet_waits_for_the_air_itself() {
        // 100 ms apart: each pays 100 to 300 us and 362.5 us for its bits.
        let mut wifi = made(&config()).unwrap();
        for n in 0..50 {
            let now = Instant::START + Duration::from_millis(100 * n);
            let time = wifi.time(now, now, 1500).as_nanos() / 100;
            assert!((4625..=6625).contains(&time), "{time}");
        }
    }

    #[test]
    fn impossible_settings_are_refused() {
        let refused = |config: WifiConfig| made(&config).unwrap_err();
        assert_eq!(refused(WifiConfig { bundle: 0, ..config() }).0, "bundle");
        assert_eq!(refused(WifiConfig { levels: vec![], ..config() }).0, "levels");
        assert_eq!(refused(WifiConfig { levels: vec![f64::NAN], ..config() }).0, "levels");
        assert_eq!(refused(WifiConfig { hold: Duration::ZERO, ..config() }).0, "hold");
        // One packet a bundle and 0.5 ms each: 24 Mbit/s at most.
        let slow = WifiConfig { bundle: 1, overhead: Duration::from_micros(500), ..config() };
        let (key, why) = refused(slow);
        assert!(key == "overhead" && why.contains("never reach"), "{key}: {why}");
    }
}
