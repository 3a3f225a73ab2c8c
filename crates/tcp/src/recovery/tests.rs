//! The quick way of ACKs by which nothing is amiss does what the general way does.

use std::collections::BTreeSet;

use ackclock_units::Duration;
use ackclock_units::random::Stream;
use proptest::prelude::*;

use super::repair::Repair;
use super::*;
use crate::config::{Config, Profile};
use crate::variant::Variant;

const LEN: u64 = 1000;

fn at(segment: u64) -> Seq {
    Seq::new(1 + segment * LEN)
}

/// The segment that begins, or ends, at `seq`.
fn segment(seq: Seq) -> u64 {
    (seq.get() - 1) / LEN
}

/// A recovery with a way that is not quick.
trait Twin: Recovery {
    fn generally(&mut self, ack: &AckSeen<'_>, send: &SendSpace) -> Outcome;

    /// The question leaves no trace in it.
    fn tidy(&mut self);
}

impl Twin for Sack {
    fn generally(&mut self, ack: &AckSeen<'_>, send: &SendSpace) -> Outcome {
        self.on_any(ack, send)
    }

    fn tidy(&mut self) {
        self.repair.board.tidy();
    }
}

impl Twin for Rack {
    fn generally(&mut self, ack: &AckSeen<'_>, send: &SendSpace) -> Outcome {
        self.on_any(ack, send)
    }

    fn tidy(&mut self) {
        self.repair.board.tidy();
    }
}

/// A receiver of whole segments.
#[derive(Default)]
struct Receiver {
    next: u64,
    ahead: BTreeSet<u64>,
}

impl Receiver {
    /// Takes a segment; its SACK blocks, the one with that segment first (RFC 2018 §4), or a DSACK.
    fn take(&mut self, n: u64) -> Vec<Range> {
        let mut blocks = Vec::new();
        if n < self.next || !self.ahead.insert(n) {
            blocks.push(Range { start: at(n), end: at(n + 1) });
        }
        while self.ahead.remove(&self.next) {
            self.next += 1;
        }
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for m in &self.ahead {
            match runs.last_mut() {
                Some((_, end)) if *end == *m => *end += 1,
                _ => runs.push((*m, *m + 1)),
            }
        }
        runs.sort_by_key(|(start, end)| !(*start <= n && n < *end));
        blocks.extend(runs.iter().map(|(start, end)| Range { start: at(*start), end: at(*end) }));
        blocks.truncate(3);
        blocks
    }
}

/// One life of both twins: a window of 20 segments, a path of 20 to 35 ms that loses and delays, an
/// application that pauses; returns how many ACKs came, and how many losses were found.
fn live<R: Twin>(make: impl Fn() -> R, seed: u64, loss: f64, late: f64) -> (u32, u32) {
    let mut random = Stream::new(seed, "twins");
    let (mut quick, mut general) = (make(), make());
    let mss = Mss::new(1000).expect("not zero");
    let cwnd = mss.times(20);
    let mut send = SendSpace { una: at(0), nxt: at(0), max: at(0) };
    let mut receiver = Receiver::default();
    // What is on its way: when it arrives, and which.
    let mut path: Vec<(u64, u64)> = Vec::new();
    let (mut now, mut drift, mut pauses) = (1_000_000, 0_u64, false);
    let (mut acks, mut losses) = (0, 0);
    for _ in 0..600 {
        // What the window lets go, what is lost first; nothing while the application pauses.
        drift = if random.bernoulli(0.5) {
            (drift + 700_000).min(15_000_000)
        } else {
            drift.saturating_sub(700_000)
        };
        pauses = if pauses { random.bernoulli(0.95) } else { random.bernoulli(0.02) };
        for _ in 0..if pauses { 0 } else { 6 } {
            let again = quick.next_again(cwnd);
            assert_eq!(again, general.next_again(cwnd));
            let new = Range { start: send.nxt, end: send.nxt + mss.bytes() };
            let range = match again {
                Some(range) => range,
                None if !quick.allows(cwnd, mss.bytes(), &send) => break,
                None => new,
            };
            let sent = SentSegment {
                now: Instant::from_nanos(now),
                start: range.start,
                len: range.end.since(range.start),
                again: again.is_some(),
            };
            quick.on_sent(&sent);
            general.on_sent(&sent);
            send.nxt = send.nxt.max(range.end);
            send.max = send.max.max(range.end);
            if !random.bernoulli(loss) {
                let detour = if random.bernoulli(late) { 9_000_000 } else { 0 };
                path.push((now + 20_000_000 + drift + detour, segment(range.start)));
            }
            // Some segments leave at one instant.
            now += if random.bernoulli(0.5) { 0 } else { 300_000 };
        }
        let clocks = Clocks {
            rto: Duration::from_secs(1),
            now: Instant::from_nanos(now),
            srtt: Some(Duration::from_millis(20)),
            rto_at: Some(Instant::from_nanos(now + 200_000_000)),
        };
        quick.arm(&clocks);
        general.arm(&clocks);
        let next = path.iter().enumerate().min_by_key(|(_, arrives)| **arrives);
        let next = next.map(|(n, (arrives, _))| (n, *arrives));
        let alarm = quick.timer().map(Instant::as_nanos);
        match (next, alarm) {
            (arrives, Some(alarm)) if arrives.is_none_or(|(_, arrives)| alarm < arrives) => {
                now = now.max(alarm);
                let then = Instant::from_nanos(now);
                let found = quick.on_alarm(then, cwnd, &mut send.clone());
                assert_eq!(found, general.on_alarm(then, cwnd, &mut send.clone()));
                losses += u32::from(found == Alarm::LossFound);
            }
            (Some((n, arrives)), _) => {
                now = now.max(arrives);
                let (_, which) = path.remove(n);
                let sack = receiver.take(which);
                if random.bernoulli(0.1) {
                    // Its ACK is lost.
                    continue;
                }
                let una = at(receiver.next);
                let newly_acked = una.since(send.una);
                send.una = una;
                let ack = AckSeen {
                    now: Instant::from_nanos(now),
                    min_rtt: Duration::from_millis(20),
                    srtt: Some(Duration::from_millis(21)),
                    duplicate: newly_acked == Bytes::ZERO,
                    newly_acked,
                    mss,
                    cwnd,
                    echo: None,
                    sack: &sack,
                };
                let outcome = quick.on_ack(&ack, &mut send.clone());
                assert_eq!(outcome, general.generally(&ack, &send));
                acks += 1;
                losses += u32::from(outcome == Outcome::LossFound);
            }
            (None, _) => {
                now += 300_000_000;
                let then = Instant::from_nanos(now);
                quick.on_timeout(then, &mut send.clone());
                general.on_timeout(then, &mut send.clone());
            }
        }
        quick.tidy();
        general.tidy();
        assert_eq!(format!("{quick:?}"), format!("{general:?}"));
    }
    (acks, losses)
}

fn config() -> RecoveryConfig {
    let parts = "newreno".parse::<Variant>().and_then(|it| it.resolve(Profile::Rfc));
    Config::new(parts.expect("a variant"), Profile::Rfc).recovery
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn the_quick_way_is_the_general_way(
        seed in any::<u64>(),
        loss in prop_oneof![Just(0.0), Just(0.01), Just(0.1)],
        late in prop_oneof![Just(0.0), Just(0.02)],
    ) {
        live(|| Rack::new(config()), seed, loss, late);
        live(|| Sack::new(Reduction::Proportional, config()), seed, loss, late);
        live(|| Sack::new(Reduction::None, config()), seed, loss, late);
    }
}

#[test]
fn the_twins_live_through_losses() {
    let mut total = (0, 0);
    for seed in 0..20 {
        let (acks, losses) = live(|| Rack::new(config()), seed, 0.01, 0.02);
        total = (total.0 + acks, total.1 + losses);
    }
    // Of 20 lives of some 500 ACKs each, with a loss in a hundred segments.
    assert!(total.0 > 5_000 && total.1 > 20, "{total:?}");
}

#[test]
fn timers_expire_as_the_wheel_of_linux_has_it() {
    // A wait is rounded up to ticks, and a tick comes on top: at 986.8 ms 4.64 ms are 986 + 5 + 1. From 63 ticks on it is the
    // next multiple of 8, from 504 on of 64. At 250 Hz 986.8 ms lie in tick 246, and 4.64 ms are 2: (246 + 2 + 1) * 4.
    let at = |micros| Instant::START + Duration::from_micros(micros);
    for (tick, now, wait, expiry) in [
        (1, 986_800, 4640, 992_000),
        (1, 0, 62_000, 63_000),
        (1, 0, 62_001, 64_000),
        (1, 0, 100_000, 104_000),
        (1, 0, 504_000, 512_000),
        (1, 0, 576_000, 640_000),
        (4, 986_800, 4640, 996_000),
        (0, 986_800, 4640, 991_440),
    ] {
        let config = RecoveryConfig { timer_tick: Duration::from_millis(tick), ..config() };
        let repair = Repair::new(Scoreboard::by_time(), None, config);
        assert_eq!(repair.expiry(at(now), Duration::from_micros(wait)), at(expiry), "{wait}");
    }
}
