//! XCP's router: D. Katabi, M. Handley and C. Rohrs, "Congestion Control for High Bandwidth-Delay
//! Product Networks", SIGCOMM 2002, §3.5, in the form of draft-falk-xcp-spec-03 §4.
//!
//! The *efficiency controller* finds how much the flows together should gain or lose in a mean round
//! trip, φ = α (C − y) − β Q/d. The *fairness controller* divides it: a gain in equal parts, a loss in
//! proportion, and some of the traffic, the *shuffled* part, is taken and given back even where φ is
//! none. What is left to give and to take in the interval are the *residues*.

use ackclock_packet::XcpHeader;
use ackclock_units::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Load;
use super::bounds::{A_GAIN, A_SHARE, check_bounds};
use crate::check::{Refusal, refuse};
use crate::parts::contract::Part;

/// The router in front of a link tells every packet of an XCP flow how its sender is to change.
/// Keys that are left out have the numbers of XCP's authors.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "XcpSpec")]
pub struct XcpConfig {
    /// The gain for spare capacity.
    // α.
    pub alpha: f64,
    /// The gain for the standing queue.
    // β.
    pub beta: f64,
    /// The share of the traffic that is taken and given back where nothing is to gain.
    // γ.
    pub shuffle: f64,
    /// The mean round trip before the first packet, up to 1 s.
    pub rtt: Duration,
}

impl Default for XcpConfig {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl XcpConfig {
    /// §3.5 and §4: α = 0.4, β = 0.226 = α²√2, which are stable for any delay, and γ = 0.1; 50 ms at
    /// first, as in the authors' simulator.
    pub const DEFAULT: Self =
        Self { alpha: 0.4, beta: 0.226, shuffle: 0.1, rtt: Duration::from_millis(50) };
}

impl Part for XcpConfig {
    fn check(&self, _: Rate) -> Result<(), Refusal> {
        check_bounds(&[
            ("alpha", self.alpha, 10.0, A_GAIN),
            ("beta", self.beta, 10.0, A_GAIN),
            ("shuffle", self.shuffle, 1.0, A_SHARE),
        ])?;
        if (Duration::from_millis(1)..=Duration::from_secs(1)).contains(&self.rtt) {
            return Ok(());
        }
        refuse("rtt", "expected from 1 ms to 1 s")
    }

    fn keeps_times(&self) -> bool {
        true
    }

    fn is_router(&self) -> bool {
        true
    }
}

/// Bounds of a round trip, and with it of a control interval, in seconds (draft-falk-xcp-spec-03 §4).
const SHORTEST: f64 = 0.001;
const LONGEST: f64 = 1.0;
/// The shortest time over which the least queue is looked for, in seconds (the same).
const LEAST_QUEUE_TIME: f64 = 0.002;

/// The feedback that one interface gives.
#[derive(Clone, Debug)]
pub struct XcpRouter {
    config: XcpConfig,
    /// d, in seconds.
    rtt: f64,
    began: Instant,
    ends: Instant,
    /// The bytes that had come when the control interval began.
    arrived: u64,
    /// Sums over the interval's packets of X, and of X and the round trip, in s and s².
    spacing: f64,
    spacing_rtt: f64,
    /// ξp and ξn: what a packet gains for its X, and loses for its size.
    gain: f64,
    loss: f64,
    /// The residues that may still be given and taken, in bytes per second.
    to_give: f64,
    to_take: f64,
    /// Q: the least that waited in the last such time; and so far in this one.
    standing: u64,
    least: u64,
    least_ends: Instant,
}

impl XcpRouter {
    /// In front of a link that nothing has come to.
    pub fn new(config: XcpConfig) -> Self {
        Self {
            config,
            rtt: config.rtt.as_secs_f64().clamp(SHORTEST, LONGEST),
            began: Instant::START,
            ends: Instant::START + config.rtt,
            arrived: 0,
            spacing: 0.0,
            spacing_rtt: 0.0,
            gain: 0.0,
            loss: 0.0,
            to_give: 0.0,
            to_take: 0.0,
            standing: 0,
            least: 0,
            least_ends: Instant::START,
        }
    }

    /// The residues that may still be given and taken in this interval, in bytes per second.
    pub const fn residues(&self) -> (f64, f64) {
        (self.to_give, self.to_take)
    }

    /// The mean round-trip time of the flows, d, in seconds.
    pub const fn rtt(&self) -> f64 {
        self.rtt
    }

    /// A packet of `size` bytes comes.
    pub fn process(&mut self, now: Instant, header: &mut XcpHeader, size: u32, load: &Load) {
        self.watch_queue(now, load);
        if now >= self.ends {
            self.end_interval(now, load);
        }
        if header.rtt_us == 0 || header.spacing_ns == 0 {
            header.delta = 0;
            return;
        }
        let spacing = f64::from(header.spacing_ns) / 1e9;
        self.spacing += spacing;
        self.spacing_rtt += spacing * (f64::from(header.rtt_us) / 1e6).min(LONGEST);
        self.give(header, spacing, f64::from(size));
    }

    /// The queue that does not drain within a round trip.
    fn watch_queue(&mut self, now: Instant, load: &Load) {
        self.least = self.least.min(load.queued);
        if now >= self.least_ends {
            self.standing = self.least;
            self.least = load.queued;
            let waits = load.queued as f64 * 8.0 / load.capacity.as_bps() as f64;
            let time = ((self.rtt - waits) / 2.0).max(LEAST_QUEUE_TIME);
            self.least_ends = now + Duration::from_secs_f64(time);
        }
    }

    /// The controllers, once a mean round trip.
    #[cold]
    fn end_interval(&mut self, now: Instant, load: &Load) {
        let lasted = now.since(self.began).as_secs_f64();
        let bytes = (load.arrived - self.arrived) as f64;
        let input = bytes / lasted;
        if self.spacing > 0.0 {
            self.rtt = (self.spacing_rtt / self.spacing).clamp(SHORTEST, LONGEST);
        }
        (self.to_give, self.to_take) = (0.0, 0.0);
        (self.gain, self.loss) = (0.0, 0.0);
        if bytes > 0.0 {
            let capacity = load.capacity.as_bps() as f64 / 8.0;
            let phi = self.config.alpha * (capacity - input)
                - self.config.beta * self.standing as f64 / self.rtt;
            let shuffled = (self.config.shuffle * input - phi.abs()).max(0.0);
            self.to_give = phi.max(0.0) + shuffled;
            self.to_take = (-phi).max(0.0) + shuffled;
            self.loss = self.to_take / bytes;
        }
        if self.spacing > 0.0 {
            self.gain = self.to_give / self.spacing;
        }
        (self.spacing, self.spacing_rtt) = (0.0, 0.0);
        self.arrived = load.arrived;
        self.began = now;
        self.ends = now + Duration::from_secs_f64(self.rtt);
    }

    /// A packet's part of it.
    fn give(&mut self, header: &mut XcpHeader, spacing: f64, size: f64) {
        let mut gain = (self.gain * spacing).min(self.to_give);
        let mut loss = (self.loss * size).min(self.to_take);
        let asked = f64::from(header.delta);
        if asked >= gain - loss {
            header.delta = whole(gain - loss);
        } else {
            // Another router, or the sender, wants less: what is not given here stays to be given.
            loss = self.to_take.min(loss + (gain - loss - asked));
            gain = asked + loss;
        }
        self.to_give = (self.to_give - gain).max(0.0);
        self.to_take = (self.to_take - loss).max(0.0);
    }
}

/// In bytes per second.
#[expect(clippy::cast_possible_truncation, reason = "saturates")]
fn whole(delta: f64) -> i32 {
    delta.round() as i32
}

#[cfg(test)]
mod tests {
    use ackclock_units::Rate;

    use super::*;

    /// 8 Mbit/s: a million bytes per second.
    const CAPACITY: Rate = Rate::from_bps(8_000_000);

    fn at(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    fn load(arrived: u64, queued: u64) -> Load {
        Load { arrived, queued, capacity: CAPACITY }
    }

    /// A packet of a flow with a round trip of 100 ms that sends one each `spacing_ms`.
    fn asked(spacing_ms: u32, delta: i32) -> XcpHeader {
        XcpHeader { rtt_us: 100_000, spacing_ns: spacing_ms * 1_000_000, delta, reverse: 0 }
    }

    fn given(router: &mut XcpRouter, now: Instant, spacing_ms: u32, load: &Load) -> i32 {
        let mut header = asked(spacing_ms, i32::MAX);
        router.process(now, &mut header, 1000, load);
        header.delta
    }

    /// After an interval in which a fast flow sent nine packets, one each 10 ms, and a slow one one:
    /// its X is 90 ms. 10,000 B in 100 ms.
    fn after_an_interval(queued: u64) -> XcpRouter {
        let mut router =
            XcpRouter::new(XcpConfig { rtt: Duration::from_millis(100), ..XcpConfig::DEFAULT });
        for packet in 0..9 {
            assert_eq!(given(&mut router, at(packet * 10), 10, &load(packet * 1000, queued)), 0);
        }
        assert_eq!(given(&mut router, at(95), 90, &load(9_000, queued)), 0);
        router
    }

    #[test]
    fn spare_capacity_is_given_to_flows_in_equal_parts() {
        // y = 100 kB/s: φ = 0.4 (1000 − 100) = 360 kB/s; γ y = 10 kB/s is less, so that nothing is
        // shuffled. Σ X = 9 · 10 + 90 = 180 ms: ξp = 360/0.18 = 2000 kB/s a second. A packet of the
        // fast flow gains 20 kB/s, of which nine come to 180; the one of the slow flow 180 at once.
        let mut router = after_an_interval(0);
        assert_eq!(given(&mut router, at(100), 10, &load(10_000, 0)), 20_000);
        assert_eq!(given(&mut router, at(101), 90, &load(11_000, 0)), 180_000);
        // 160 kB/s are left, of which a packet with an X of 90 ms would get 180.
        assert!((router.residues().0 - 160_000.0).abs() < 1e-6);
        assert_eq!(given(&mut router, at(102), 90, &load(12_000, 0)), 160_000);
        assert_eq!(given(&mut router, at(103), 10, &load(13_000, 0)), 0);
    }

    #[test]
    fn a_standing_queue_takes_from_each_packet_alike() {
        // 200,000 B have stood all the time: φ = 0.4 · 900 − 0.226 · 200/0.1 = 360 − 452 = −92 kB/s.
        // ξn = 92,000/10,000 = 9.2 for a byte: each packet of 1000 B loses 9.2 kB/s, whosever it is.
        let mut router = after_an_interval(200_000);
        assert_eq!(given(&mut router, at(100), 10, &load(10_000, 200_000)), -9_200);
        assert_eq!(given(&mut router, at(101), 90, &load(11_000, 200_000)), -9_200);
        assert!((router.residues().1 - 73_600.0).abs() < 1e-6);
    }

    #[test]
    fn a_queue_that_drains_is_none() {
        // It is empty once in the interval.
        let mut router = after_an_interval(200_000);
        router.least = 0;
        router.least_ends = at(100);
        assert_eq!(given(&mut router, at(100), 10, &load(10_000, 200_000)), 20_000);
    }

    #[test]
    fn where_nothing_is_to_gain_a_tenth_is_shuffled() {
        // The link is full: 100,000 B in 100 ms. φ = 0, shuffled 100 kB/s: ξp = 100/0.18 = 555.6, ξn =
        // 100,000/100,000 = 1. The fast flow's packet: 5,556 − 1,000 B/s; the slow one's 50,000 − 1,000.
        let mut router = after_an_interval(0);
        assert_eq!(given(&mut router, at(100), 10, &load(100_000, 0)), 4_556);
        assert_eq!(given(&mut router, at(101), 90, &load(101_000, 0)), 49_000);
    }

    #[test]
    fn what_another_router_gives_is_not_exceeded() {
        // 20 kB/s would be given, 5 are wanted. Nothing is to be taken (ξn = 0), so that only 5 are
        // given: 355 are left. One that loses 7 elsewhere leaves them to the others here: 362.
        let mut router = after_an_interval(0);
        let mut modest = asked(10, 5_000);
        router.process(at(100), &mut modest, 1000, &load(10_000, 0));
        assert_eq!(modest.delta, 5_000);
        assert!((router.residues().0 - 355_000.0).abs() < 1e-6);
        let mut losing = asked(10, -7_000);
        router.process(at(101), &mut losing, 1000, &load(11_000, 0));
        assert_eq!(losing.delta, -7_000);
        assert!((router.residues().0 - 362_000.0).abs() < 1e-6, "{:?}", router.residues());
    }

    #[test]
    fn who_knows_no_round_trip_gets_nothing() {
        let mut router = after_an_interval(0);
        let mut first = XcpHeader { delta: 9, ..XcpHeader::default() };
        router.process(at(100), &mut first, 1000, &load(10_000, 0));
        assert_eq!(first.delta, 0);
    }

    #[test]
    fn the_mean_round_trip_weighs_what_flows_carry() {
        // Packets of a flow come 1/X times a second, so that Σ X d/Σ X is the mean over flows: nine
        // packets of 100 ms with X = 10 ms and one of 300 ms with X = 90 ms: 200 ms.
        let mut router =
            XcpRouter::new(XcpConfig { rtt: Duration::from_millis(100), ..XcpConfig::DEFAULT });
        for packet in 0..9 {
            given(&mut router, at(packet * 10), 10, &load(packet * 1000, 0));
        }
        let mut slow = XcpHeader { rtt_us: 300_000, ..asked(90, 0) };
        router.process(at(95), &mut slow, 1000, &load(9_000, 0));
        given(&mut router, at(100), 10, &load(10_000, 0));
        assert!((router.rtt() - 0.2).abs() < 1e-12);
    }
}
