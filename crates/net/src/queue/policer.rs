//! A policer: packets for which a token bucket has no tokens are dropped, and the others never wait for tokens.

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::{Admission, Described, Limits, Log, Queueing, Reason, Room};
use super::fifo::{FifoQueue, Waiting};
use crate::bucket::{Bucket, burst};
use crate::check::{Refusal, refuse};
use crate::limit::Limit;
use crate::packet::Packet;

/// A policer (RFC 2697, RFC 2698) in front of a first-in-first-out queue. Packets for which there are no tokens are
/// dropped.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct PolicerConfig {
    /// The rate at which tokens come, a byte of a packet each (the committed information rate); default: the link's
    /// at the start of the run, which an event that changes the link's rate leaves as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// The most tokens (the committed burst size), in bytes ("64 kB") or as the time in which they come ("50 ms"). The
    /// bucket begins full.
    pub burst: Limit,
    /// The size of a second bucket, which takes what the first has no room for (the excess burst size of RFC 2697).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excess: Option<Limit>,
    /// The rate of a second bucket that every packet needs, too (the peak information rate of RFC 2698).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak: Option<Rate>,
    /// The size of that second bucket (the peak burst size); default: `burst`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_burst: Option<Limit>,
    /// True if a packet that the first bucket has no tokens for, and the second has, is marked with congestion (ECN) if it
    /// asks for that, and dropped otherwise. False lets it pass.
    pub marks: bool,
    /// The most that waits behind the policer.
    pub limit: Limit,
}

impl Default for PolicerConfig {
    fn default() -> Self {
        Self {
            rate: None,
            burst: Limit::bytes(64_000),
            excess: None,
            peak: None,
            peak_burst: None,
            marks: false,
            limit: Limit::UNLIMITED,
        }
    }
}

/// The second bucket of a meter.
#[derive(Clone, Copy, Debug)]
enum Second {
    None,
    /// RFC 2697: what the first has no room for comes here.
    Excess(Bucket),
    /// RFC 2698: it fills by itself, and every packet needs it.
    Peak(Bucket),
}

/// The colour of a packet (RFC 2697 §3, RFC 2698 §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Colour {
    Green,
    Yellow,
    Red,
}

/// A meter that is blind to the colours that packets had.
#[derive(Clone, Copy, Debug)]
struct Meter {
    committed: Bucket,
    second: Second,
}

impl Meter {
    fn colour(&mut self, now: Instant, bytes: u64) -> Colour {
        let over = self.committed.fill(now);
        match &mut self.second {
            Second::None => {}
            Second::Excess(bucket) => drop(bucket.add(over)),
            Second::Peak(bucket) => drop(bucket.fill(now)),
        }
        match &mut self.second {
            Second::Peak(peak) if !peak.holds(bytes) => return Colour::Red,
            Second::Peak(peak) => peak.take(bytes),
            Second::Excess(excess) if !self.committed.holds(bytes) => {
                if !excess.holds(bytes) {
                    return Colour::Red;
                }
                excess.take(bytes);
                return Colour::Yellow;
            }
            Second::None if !self.committed.holds(bytes) => return Colour::Red,
            Second::None | Second::Excess(_) => {}
        }
        if !self.committed.holds(bytes) {
            return Colour::Yellow;
        }
        self.committed.take(bytes);
        Colour::Green
    }
}

/// The policer and the queue behind it.
#[derive(Clone, Debug)]
pub struct Policer {
    meter: Meter,
    marks: bool,
    queue: FifoQueue,
}

/// The buckets in front of a link of `link`.
fn meter(config: &PolicerConfig, link: Rate) -> Result<Meter, Refusal> {
    let rate = config.rate.unwrap_or(link);
    let committed = Bucket::new(rate, burst("burst", config.burst, rate)?);
    let second = match (config.excess, config.peak) {
        (None, None) => Second::None,
        (Some(_), Some(_)) => {
            return refuse("excess", "expected `excess` (RFC 2697) or `peak` (RFC 2698), not both");
        }
        (Some(excess), None) => Second::Excess(Bucket::new(rate, burst("excess", excess, rate)?)),
        (None, Some(peak)) if peak < rate => {
            return refuse("peak", "expected at least `rate`");
        }
        (None, Some(peak)) => {
            let size = config.peak_burst.unwrap_or(config.burst);
            Second::Peak(Bucket::new(peak, burst("peak_burst", size, peak)?))
        }
    };
    if config.peak.is_none() && config.peak_burst.is_some() {
        return refuse("peak_burst", "expected `peak` beside it");
    }
    if config.marks && matches!(second, Second::None) {
        return refuse(
            "marks",
            "expected `excess` or `peak`: a packet between two buckets is marked",
        );
    }
    Ok(Meter { committed, second })
}

impl Described for Policer {
    type Settings = PolicerConfig;

    const KIND: &'static str = "policer";

    const SOURCE: &'static str = "RFC 2697, RFC 2698";

    const ALSO: &'static [&'static str] =
        &["police", "srtcm", "trtcm", "meter", "rate_limit", "ratelimit", "rate_limiter"];

    fn limits(config: &PolicerConfig) -> Limits {
        config.limit.into()
    }

    fn marks(config: &PolicerConfig) -> bool {
        config.marks
    }

    /// Yellow packets pass, too, so that two rates let the peak pass.
    fn passes(config: &PolicerConfig) -> Option<Rate> {
        config.peak.or(config.rate)
    }

    fn check(config: &PolicerConfig) -> Result<(), Refusal> {
        // Without a rate of its own, a burst in time is known only in front of its link.
        config.rate.map_or(Ok(()), |rate| meter(config, rate).map(drop))
    }

    fn resolve(config: PolicerConfig, rate: Rate, _: Duration) -> Result<PolicerConfig, String> {
        match meter(&config, rate) {
            Ok(_) => Ok(PolicerConfig { rate: config.rate.or(Some(rate)), ..config }),
            Err((key, why)) => Err(format!("queue.{key}: {why}")),
        }
    }

    /// # Panics
    /// Never: the settings are checked.
    fn make(config: &PolicerConfig, rate: Rate, _: Stream) -> Self {
        let meter = meter(config, rate).expect("the settings are checked");
        Self { meter, marks: config.marks, queue: FifoQueue::default() }
    }
}

impl Queueing for Policer {
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, log: &mut Log) -> Admission {
        let colour = self.meter.colour(now, u64::from(packet.size));
        let to_mark = self.marks && colour == Colour::Yellow;
        if colour == Colour::Red || to_mark && !packet.asks_for_ecn() {
            return Admission::Refused(Reason::Early);
        }
        if !room.fits {
            return Admission::Refused(Reason::Full);
        }
        if to_mark {
            log.mark(packet);
        }
        self.queue.push(now, packet);
        Admission::Taken
    }

    fn next(&mut self, _: Instant, _: &mut Log) -> Option<Waiting> {
        self.queue.pop()
    }

    fn pop_last(&mut self) -> Option<Packet> {
        self.queue.pop_last()
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::Effect;
    use super::super::fixtures::{ROOM, asking_for_ecn, full, millis, packet};
    use super::*;

    #[expect(clippy::unnecessary_wraps, reason = "as the settings have it")]
    const fn bytes_per_s(bytes: u64) -> Option<Rate> {
        Some(Rate::from_bps(8 * bytes))
    }

    fn meter_of(second: Second) -> Meter {
        Meter { committed: Bucket::new(Rate::from_bps(8000), 2000), second }
    }

    fn colours(mut meter: Meter, packets: usize) -> String {
        let colour = |_| match meter.colour(millis(0), 500) {
            Colour::Green => 'G',
            Colour::Yellow => 'Y',
            Colour::Red => 'R',
        };
        (0..packets).map(colour).collect()
    }

    #[test]
    fn a_single_rate_has_three_colours() {
        // RFC 2697 §3, by hand: 2000 bytes in C, 1000 in E; packets of 500 at once.
        let excess = Second::Excess(Bucket::new(Rate::from_bps(8000), 1000));
        assert_eq!(colours(meter_of(excess), 7), "GGGGYYR");
        assert_eq!(colours(meter_of(Second::None), 5), "GGGGR");
    }

    #[test]
    fn two_rates_have_three_colours() {
        // RFC 2698 §3, by hand: 2000 bytes in P, 1000 in C; packets of 500 at once.
        let meter = Meter {
            committed: Bucket::new(Rate::from_bps(8000), 1000),
            second: Second::Peak(Bucket::new(Rate::from_bps(16_000), 2000)),
        };
        assert_eq!(colours(meter, 5), "GGYYR");
    }

    #[test]
    fn tokens_that_the_first_bucket_has_no_room_for_fill_the_second() {
        // RFC 2697 §3: a second brings 1000 tokens. After six packets both are empty; they go to C.
        let excess = Second::Excess(Bucket::new(Rate::from_bps(8000), 1000));
        let mut meter = meter_of(excess);
        for _ in 0..6 {
            meter.colour(millis(0), 500);
        }
        let later: Vec<Colour> = (0..3).map(|_| meter.colour(millis(1000), 500)).collect();
        assert_eq!(later, [Colour::Green, Colour::Green, Colour::Red]);
        // Two and a half seconds bring 2500: 2000 for C, 500 for E.
        let later: Vec<Colour> = (0..6).map(|_| meter.colour(millis(3500), 500)).collect();
        assert_eq!(later[..4], [Colour::Green; 4]);
        assert_eq!(later[4..], [Colour::Yellow, Colour::Red]);
    }

    fn policer(config: PolicerConfig) -> Policer {
        Policer::check(&config).unwrap();
        Policer::make(&config, Rate::from_bps(1_000_000_000), Stream::new(1, "queue"))
    }

    #[test]
    fn a_refused_packet_costs_nothing() {
        // 1 Mbit/s are 125 bytes a millisecond; 10,000 bytes of tokens; a packet of 1000 bytes each millisecond. After k
        // of them 10,000 + 125 (k - 1) - 1000 k are left, which is not negative up to k = 11. 250 bytes are left then,
        // and the next 750 take 6 ms: packets 17, 25, 33, one in eight.
        let rate = bytes_per_s(125_000);
        let mut policer = policer(PolicerConfig {
            rate,
            burst: Limit::bytes(10_000),
            ..PolicerConfig::default()
        });
        let mut log = Log::default();
        let passed: Vec<u64> = (1..=33)
            .filter(|k| {
                let offer = policer.offer(millis(k - 1), packet(1, 1000, 0), &ROOM, &mut log);
                offer == Admission::Taken
            })
            .collect();
        let first: Vec<u64> = (1..=11).collect();
        assert_eq!(passed, [&first[..], &[17, 25, 33]].concat());
        assert!(log.take().is_none());
    }

    #[test]
    fn yellow_packets_are_marked_or_dropped() {
        let config = PolicerConfig {
            rate: bytes_per_s(1000),
            burst: Limit::bytes(1500),
            excess: Some(Limit::bytes(3000)),
            marks: true,
            ..PolicerConfig::default()
        };
        let mut policer = policer(config);
        let mut log = Log::default();
        let mut offer = |packet| policer.offer(millis(0), packet, &ROOM, &mut log);
        assert_eq!(offer(packet(1, 1500, 0)), Admission::Taken);
        assert_eq!(offer(packet(2, 1500, 0)), Admission::Refused(Reason::Early));
        assert_eq!(offer(asking_for_ecn(packet(3, 1500, 0))), Admission::Taken);
        assert!(matches!(log.take(), Some(Effect::Marked(packet)) if packet.id.get() == 3));
        let refused = policer.offer(millis(5000), packet(4, 1500, 0), &full(2), &mut log);
        assert_eq!(refused, Admission::Refused(Reason::Full));
    }

    #[test]
    fn settings_that_cannot_be_are_refused() {
        let good = PolicerConfig { rate: bytes_per_s(125_000), ..PolicerConfig::default() };
        let key = |config: PolicerConfig| Policer::check(&config).unwrap_err().0;
        assert_eq!(key(PolicerConfig { burst: Limit::packets(10), ..good }), "burst");
        assert_eq!(key(PolicerConfig { marks: true, ..good }), "marks");
        assert_eq!(key(PolicerConfig { peak: bytes_per_s(100_000), ..good }), "peak");
        assert_eq!(
            key(PolicerConfig { peak_burst: Some(Limit::bytes(3000)), ..good }),
            "peak_burst"
        );
        let both = PolicerConfig { excess: Some(good.burst), peak: bytes_per_s(200_000), ..good };
        assert_eq!(key(both), "excess");
        let resolve = |burst: &str, rate| {
            let config =
                PolicerConfig { burst: burst.parse().unwrap(), ..PolicerConfig::default() };
            Policer::resolve(config, Rate::from_bps(rate), Duration::ZERO)
        };
        // 1 ms at the link's rate is 1000 bytes at 8 Mbit/s, and 10,000 at 80 Mbit/s.
        assert!(
            resolve("1 ms", 8_000_000).unwrap_err().starts_with("queue.burst: expected at least")
        );
        assert_eq!(resolve("1 ms", 80_000_000).unwrap().rate, bytes_per_s(10_000_000));
    }
}
