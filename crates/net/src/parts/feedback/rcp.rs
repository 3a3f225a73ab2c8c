//! RCP's router: N. Dukkipati, M. Kobayashi, R. Zhang-Shen and N. `McKeown`, "Processor Sharing Flows in
//! the Internet", 2005, §2: one rate for all flows, from the spare capacity and the queue.

use ackclock_packet::RcpHeader;
use ackclock_units::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Load;
use super::bounds::{A_GAIN, A_SHARE, check_bounds};
use crate::check::{Refusal, refuse};
use crate::parts::contract::Part;

/// The router in front of a link offers every RCP flow one rate. It is found from the link's spare
/// capacity and its queue; keys that are left out have the numbers of RCP's authors.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "RcpSpec")]
pub struct RcpConfig {
    /// The gain for spare capacity.
    // α.
    pub alpha: f64,
    /// The gain for the queue.
    // β.
    pub beta: f64,
    /// The share of the link's rate that is aimed at.
    // η.
    pub target: f64,
    /// The longest time between updates; a shorter mean round trip takes its place.
    // T.
    pub interval: Duration,
    /// The mean round trip before the first packet.
    // d₀.
    pub rtt: Duration,
    /// The first rate, as a share of the rate that is aimed at.
    pub initial: f64,
}

impl Default for RcpConfig {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl RcpConfig {
    /// The numbers of the authors' simulations of flow completion times (2006): α = 0.1, β = 1, T = 10
    /// ms, and 5 % of the link at first; η = 0.95 and 200 ms as in their router.
    pub const DEFAULT: Self = Self {
        alpha: 0.1,
        beta: 1.0,
        target: 0.95,
        interval: Duration::from_millis(10),
        rtt: Duration::from_millis(200),
        initial: 0.05,
    };
}

impl Part for RcpConfig {
    fn check(&self, _: Rate) -> Result<(), Refusal> {
        check_bounds(&[
            ("alpha", self.alpha, 10.0, A_GAIN),
            ("beta", self.beta, 10.0, A_GAIN),
            ("target", self.target, 1.0, A_SHARE),
            ("initial", self.initial, 1.0, A_SHARE),
        ])?;
        for (key, time) in [("interval", self.interval), ("rtt", self.rtt)] {
            if time < Duration::from_micros(1) {
                return refuse(key, "expected at least 1 us");
            }
        }
        Ok(())
    }

    fn keeps_times(&self) -> bool {
        true
    }

    fn is_router(&self) -> bool {
        true
    }
}

/// The least rate: a hundredth of a packet of 1000 bytes a round trip, as the authors' router has it. A
/// thousand flows on a path of a few packets still go.
const LEAST_BITS: f64 = 80.0;
/// Updates made for intervals that nobody saw; the rate is at a bound long before.
const MOST_UPDATES: u64 = 100_000;

/// The rate that one interface offers to every flow.
#[derive(Clone, Debug)]
pub struct RcpRouter {
    config: RcpConfig,
    /// R, in bit/s.
    rate: f64,
    /// d₀, in seconds.
    rtt: f64,
    began: Instant,
    ends: Instant,
    /// The bytes that had come when the interval began.
    arrived: u64,
    /// Bytes with a round-trip time since, and the sum of those times weighed with them.
    bytes: f64,
    rtt_bytes: f64,
}

impl RcpRouter {
    /// In front of a link of `capacity` that nothing has come to.
    pub fn new(config: RcpConfig, capacity: Rate) -> Self {
        let rate = config.initial * config.target * capacity.as_bps() as f64;
        let mut router = Self {
            config,
            rate,
            rtt: config.rtt.as_secs_f64(),
            began: Instant::START,
            ends: Instant::START,
            arrived: 0,
            bytes: 0.0,
            rtt_bytes: 0.0,
        };
        router.ends = router.next_end();
        router
    }

    /// The rate offered, in bit/s.
    pub const fn rate(&self) -> f64 {
        self.rate
    }

    /// The mean round-trip time of the flows, d₀, in seconds.
    pub const fn rtt(&self) -> f64 {
        self.rtt
    }

    /// T: the shorter of the interval and the mean round trip.
    fn next_end(&self) -> Instant {
        let rtt = Duration::from_secs_f64(self.rtt);
        self.began + self.config.interval.min(rtt).max(Duration::from_micros(1))
    }

    /// A packet of `size` bytes comes.
    pub fn process(&mut self, now: Instant, header: &mut RcpHeader, size: u32, load: &Load) {
        if now >= self.ends {
            self.end_intervals(now, load);
        }
        if header.rate_kbps == 0 {
            return;
        }
        if header.rtt_us > 0 {
            self.bytes += f64::from(size);
            self.rtt_bytes += f64::from(size) * f64::from(header.rtt_us) / 1e6;
        }
        header.rate_kbps = header.rate_kbps.min(kbps(self.rate));
    }

    #[cold]
    fn end_intervals(&mut self, now: Instant, load: &Load) {
        let (planned, lasted) = (self.ends.since(self.began), now.since(self.began));
        let input = (load.arrived - self.arrived) as f64 * 8.0 / lasted.as_secs_f64();
        // Less than two intervals are one that lasted longer; more are as many, of the same traffic.
        let (updates, interval) = match lasted.as_nanos() / planned.as_nanos() {
            0 | 1 => (1, lasted.as_secs_f64()),
            several => (several, planned.as_secs_f64()),
        };
        let lasted = lasted.as_secs_f64();
        for _ in 0..updates.min(MOST_UPDATES) {
            let before = self.rate;
            self.update(interval, input, load);
            if self.rate.to_bits() == before.to_bits() {
                break;
            }
        }
        if self.bytes > 0.0 {
            let gain = (lasted / self.rtt).min(1.0);
            self.rtt += gain * (self.rtt_bytes / self.bytes - self.rtt);
        }
        (self.bytes, self.rtt_bytes) = (0.0, 0.0);
        self.arrived = load.arrived;
        self.began = now;
        self.ends = self.next_end();
    }

    /// Equation 2: R ← R (1 + T/d₀ · (α (ηC − y) − β q/d₀)/(ηC)).
    fn update(&mut self, interval: f64, input: f64, load: &Load) {
        let target = self.config.target * load.capacity.as_bps() as f64;
        let spare = self.config.alpha * (target - input);
        let drain = self.config.beta * load.queued as f64 * 8.0 / self.rtt;
        let step = interval / self.rtt * (spare - drain) / target;
        let least = (LEAST_BITS / self.rtt).min(target);
        self.rate = (self.rate * (1.0 + step)).clamp(least, target);
    }
}

/// In kbit/s, at least one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive rate, which saturates below the mark of no limit"
)]
fn kbps(rate: f64) -> u32 {
    ((rate / 1000.0).round() as u32).clamp(1, RcpHeader::UNLIMITED - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 Mbit/s of which all is aimed at, α = 0.4, β = 0.5, updates every 10 ms, d₀ = 100 ms, half
    /// of the link at first.
    const CONFIG: RcpConfig = RcpConfig {
        alpha: 0.4,
        beta: 0.5,
        target: 1.0,
        interval: Duration::from_millis(10),
        rtt: Duration::from_millis(100),
        initial: 0.5,
    };
    const CAPACITY: Rate = Rate::from_bps(10_000_000);

    fn at(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    fn load(arrived: u64, queued: u64) -> Load {
        Load { arrived, queued, capacity: CAPACITY }
    }

    fn asked(rtt_us: u32) -> RcpHeader {
        RcpHeader { rate_kbps: RcpHeader::UNLIMITED, rtt_us, reverse_kbps: 0 }
    }

    /// The rate that is offered to a packet of 1000 bytes, in kbit/s.
    fn offered(router: &mut RcpRouter, now: Instant, load: &Load) -> u32 {
        let mut header = asked(100_000);
        router.process(now, &mut header, 1000, load);
        header.rate_kbps
    }

    #[test]
    fn the_rate_follows_spare_capacity_and_queue() {
        let mut router = RcpRouter::new(CONFIG, CAPACITY);
        assert_eq!(offered(&mut router, at(0), &load(0, 0)), 5000);
        // 6,250 B in 10 ms are 5 Mbit/s: 5 Mbit/s (1 + 0.1 · 0.4 · (10 − 5)/10) = 5.1 Mbit/s.
        assert_eq!(offered(&mut router, at(10), &load(6_250, 0)), 5100);
        // 15,000 B in 10 ms are 12 Mbit/s, and 12,500 B wait, 1 Mbit/s over a round trip:
        // 0.4 (10 − 12) − 0.5 · 1 = −1.3 Mbit/s: 5.1 (1 − 0.1 · 0.13) = 5.0337 Mbit/s.
        assert_eq!(offered(&mut router, at(20), &load(21_250, 12_500)), 5034);
        // Not before the interval is over.
        assert_eq!(offered(&mut router, at(29), &load(50_000, 50_000)), 5034);
    }

    #[test]
    fn an_interval_that_ends_late_counts_as_long_as_it_was() {
        // 6,250 B in 15 ms are 10/3 Mbit/s: 5 (1 + 0.15 · 0.4 · (10 − 10/3)/10) = 5.2 Mbit/s.
        let mut router = RcpRouter::new(CONFIG, CAPACITY);
        assert_eq!(offered(&mut router, at(15), &load(6_250, 0)), 5200);
        // Silence of five intervals: each 1 + 0.1 · 0.4 = 1.04: 5.2 · 1.04^5 = 6.3266 Mbit/s.
        let mut router = RcpRouter { rate: 5.2e6, ..RcpRouter::new(CONFIG, CAPACITY) };
        assert_eq!(offered(&mut router, at(50), &load(0, 0)), 6327);
    }

    #[test]
    fn the_rate_stays_between_a_trickle_and_the_link() {
        let mut router = RcpRouter::new(CONFIG, CAPACITY);
        assert_eq!(offered(&mut router, at(3_600_000), &load(0, 0)), 10_000);
        // A queue of 10 s: at once down to a hundredth of 1000 B in 100 ms, 800 bit/s, rounded to the
        // header's least.
        offered(&mut router, at(3_600_010), &load(12_500_000, 12_500_000));
        assert!((router.rate() - 800.0).abs() < 1e-6, "{}", router.rate());
        assert_eq!(offered(&mut router, at(3_600_011), &load(12_500_000, 12_500_000)), 1);
    }

    #[test]
    fn the_least_rate_on_the_way_is_kept() {
        let mut router = RcpRouter::new(CONFIG, CAPACITY);
        let mut lower = RcpHeader { rate_kbps: 2000, ..asked(0) };
        router.process(at(1), &mut lower, 1000, &load(0, 0));
        assert_eq!(lower.rate_kbps, 2000);
        // An ACK asks for nothing.
        let mut ack = RcpHeader { reverse_kbps: 7, ..RcpHeader::default() };
        router.process(at(2), &mut ack, 60, &load(0, 0));
        assert_eq!(ack, RcpHeader { reverse_kbps: 7, ..RcpHeader::default() });
    }

    #[test]
    fn the_mean_round_trip_weighs_bytes() {
        // 3000 B with 50 ms and 1000 B with 90 ms: 60 ms, of which a tenth, 10 ms of 100, counts:
        // 100 − 0.1 · 40 = 96 ms.
        let mut router = RcpRouter::new(CONFIG, CAPACITY);
        router.process(at(1), &mut asked(50_000), 3000, &load(0, 0));
        router.process(at(2), &mut asked(90_000), 1000, &load(3000, 0));
        router.process(at(3), &mut asked(0), 1000, &load(4000, 0));
        offered(&mut router, at(10), &load(5000, 0));
        assert!((router.rtt() - 0.096).abs() < 1e-12, "{}", router.rtt());
    }

    #[test]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole bytes of a fluid"
    )]
    fn n_flows_that_send_what_they_are_offered_share_the_target() {
        // A fluid: n flows send at R of a round trip ago, so that y = n R; the fixed point is R = ηC/n
        // with no queue. With η = 0.95 of 10 Mbit/s and 4 flows 2.375 Mbit/s.
        let config = RcpConfig { target: 0.95, ..CONFIG };
        for n in [1, 4, 20] {
            let mut router = RcpRouter::new(config, CAPACITY);
            let (mut arrived, mut queued, mut sent) = (0.0_f64, 0.0_f64, vec![0.0; 10]);
            for step in 1..=6000_usize {
                let input = f64::from(n) * sent[step % 10] * 0.01 / 8.0;
                arrived += input;
                queued = (queued + input - 12_500.0).max(0.0);
                sent[step % 10] = router.rate();
                let load = load(arrived as u64, queued as u64);
                offered(&mut router, at(10 * step as u64), &load);
            }
            let share = 9.5e6 / f64::from(n);
            let off = router.rate() / share - 1.0;
            assert!(off.abs() < 0.005, "{n} flows: {} for {share}", router.rate());
            assert!(queued < 1.0, "{queued}");
        }
    }
}
