//! A wireless LAN as its packets see it: frames leave in bundles (the A-MPDU of IEEE 802.11n), each
//! of which first has to win the air, and the rate of the air changes.
//!
//! Not modelled: frames that are sent again (they lengthen a bundle, as a slower rate does),
//! collisions, and that both directions share the air.

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate};

/// A wireless LAN.
#[derive(Clone, Debug, PartialEq)]
pub struct WifiConfig {
    /// The mean rate of a flow that always has packets of 1500 bytes.
    pub rate: Rate,
    /// The most packets of a bundle.
    pub bundle: u32,
    /// The mean cost of a bundle besides its bits: contention, preamble, acknowledgment. Each draws from half to one
    /// and a half of it.
    pub overhead: Duration,
    /// Rates of the air over their mean, in order; the channel steps to a neighbour.
    pub levels: Vec<f64>,
    /// The mean time between two steps, without memory.
    pub hold: Duration,
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

impl Wifi {
    /// An idle channel that draws from `random`.
    ///
    /// # Errors
    /// A line that says which setting is impossible.
    pub fn new(config: WifiConfig, mut random: Stream) -> Result<Self, &'static str> {
        if config.bundle == 0 {
            return Err("expected at least 1 packet in a bundle");
        }
        if config.hold == Duration::ZERO {
            return Err("expected more than 0 s between steps");
        }
        if config.levels.is_empty()
            || !config.levels.iter().all(|level| (0.01..=100.0).contains(level))
        {
            return Err("expected levels from 0.01 to 100");
        }
        let byte_ns = byte_ns(&config)?;
        let level = index(random.uniform(), config.levels.len());
        let mut wifi = Self {
            config,
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

    /// The time that a packet of `size` bytes spends on the channel: it came at `now`, behind others that leave by
    /// `starts`.
    pub(super) fn time(&mut self, now: Instant, starts: Instant, size: u64) -> Duration {
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

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a small number, from 0 to below it"
)]
fn index(share: f64, of: usize) -> usize {
    (share * of as f64) as usize
}

/// The time of a byte at a level of one with which full bundles have the rate in the mean.
fn byte_ns(config: &WifiConfig) -> Result<f64, &'static str> {
    let bytes = f64::from(config.bundle) * FULL;
    let overhead_ns = config.overhead.as_nanos() as f64;
    let rate = |byte_ns: f64| {
        let of = |level: &f64| 8e9 * bytes / (overhead_ns + bytes * byte_ns / level);
        config.levels.iter().map(of).sum::<f64>() / config.levels.len() as f64
    };
    let wanted = config.rate.as_bps() as f64;
    // From a bit in 1e-6 ns to one in 1e9: the rate falls with the time of a byte.
    let (mut fast, mut slow) = (1e-6, 1e10);
    if rate(fast) < wanted {
        return Err("bundles of this size and overhead never reach the rate");
    }
    for _ in 0..200 {
        let middle = libm::sqrt(fast * slow);
        if rate(middle) > wanted {
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
            rate: Rate::from_bps(32_000_000),
            bundle: 16,
            overhead: Duration::from_micros(200),
            levels: vec![1.0],
            hold: Duration::from_secs(1),
        }
    }

    /// When each of `n` packets of 1500 bytes leaves that are all there at the start.
    fn backlog(config: WifiConfig, n: usize) -> Vec<Instant> {
        let mut wifi = Wifi::new(config, Stream::new(1, "wifi")).unwrap();
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
        let left = backlog(config(), 65);
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
            let left = backlog(config.clone(), 40_000);
            let rate = 40_000.0 * 12_000.0 / left[39_999].as_secs_f64() / 32e6;
            assert!((rate - 1.0).abs() < 0.05, "{:?} {rate}", config.levels);
        }
    }

    #[test]
    fn a_lone_packet_waits_for_the_air_itself() {
        // 100 ms apart: each pays 100 to 300 us and 362.5 us for its bits.
        let mut wifi = Wifi::new(config(), Stream::new(1, "wifi")).unwrap();
        for n in 0..50 {
            let now = Instant::START + Duration::from_millis(100 * n);
            let time = wifi.time(now, now, 1500).as_nanos() / 100;
            assert!((4625..=6625).contains(&time), "{time}");
        }
    }

    #[test]
    fn impossible_settings_are_refused() {
        let refused = |config| Wifi::new(config, Stream::new(1, "wifi")).unwrap_err();
        assert!(refused(WifiConfig { bundle: 0, ..config() }).contains("1 packet"));
        assert!(refused(WifiConfig { levels: vec![], ..config() }).contains("levels"));
        assert!(refused(WifiConfig { levels: vec![f64::NAN], ..config() }).contains("levels"));
        assert!(refused(WifiConfig { hold: Duration::ZERO, ..config() }).contains("steps"));
        // One packet a bundle and 0.5 ms each: 24 Mbit/s at most.
        let slow = WifiConfig { bundle: 1, overhead: Duration::from_micros(500), ..config() };
        assert!(refused(slow).contains("never reach"));
    }
}
