//! Strict priority: a band is served only while those before it are empty.

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::check_limit;
use super::contract::{Admission, Described, Limits, Log, Queueing, Reason, Room};
use super::fifo::{FifoQueue, Waiting};
use super::tins::Diffserv;
use crate::check::Refusal;
use crate::header::{Header, Headers};
use crate::limit::Limit;
use crate::packet::Packet;

/// Strict priority by DSCP. A band is served only while those before it are empty; within a band packets leave in the
/// order in which they came, and one that finds it full is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct PrioConfig {
    /// The most that waits in each band.
    pub limit: Limit,
    /// The bands. Voice goes before video, best effort and bulk; of `precedence` and `diffserv8` the last tin goes first.
    pub bands: Diffserv,
}

impl Described for Prio {
    type Settings = PrioConfig;

    const KIND: &'static str = "prio";

    const ALSO: &'static [&'static str] = &["priority", "strict_priority", "strict", "pq"];
    const SOURCE: &'static str = "tc-prio(8)";

    fn limits(_: &PrioConfig) -> Limits {
        Limit::UNLIMITED.into()
    }

    fn queues(config: &PrioConfig) -> u32 {
        u32::try_from(config.bands.tins()).unwrap_or(u32::MAX) - 1
    }

    fn check(config: &PrioConfig) -> Result<(), Refusal> {
        check_limit(config.limit)
    }

    fn resolve(config: PrioConfig, rate: Rate, rtt: Duration) -> Result<PrioConfig, String> {
        Ok(PrioConfig { limit: Limit::Fixed(config.limit.resolve(rate, rtt)), ..config })
    }

    fn make(config: &PrioConfig, rate: Rate, _: Stream) -> Self {
        let limit = config.limit.resolve(rate, Duration::ZERO);
        Self {
            config: *config,
            band: Room { fits: true, limit },
            bands: vec![FifoQueue::default(); config.bands.tins()],
            headers: Headers::default(),
        }
    }
}

/// Bands in the order of their priority.
#[derive(Clone, Debug)]
pub struct Prio {
    config: PrioConfig,
    /// The limit of each band.
    band: Room,
    bands: Vec<FifoQueue>,
    headers: Headers,
}

impl Queueing for Prio {
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, _: &mut Log) -> Admission {
        let tin = self.config.bands.tin(self.headers.of(packet.class).dscp);
        let mut held = self.bands[tin].volume();
        held.count(packet.size);
        if !room.fits || self.band.is_exceeded(&held) {
            return Admission::Refused(Reason::Full);
        }
        self.bands[tin].push(now, packet);
        Admission::Taken
    }

    fn next(&mut self, _: Instant, _: &mut Log) -> Option<Waiting> {
        self.config.bands.by_priority().iter().find_map(|tin| self.bands[*tin].pop())
    }

    fn pop_last(&mut self) -> Option<Packet> {
        let order = self.config.bands.by_priority().iter().rev();
        order.clone().find_map(|tin| self.bands[*tin].pop_last())
    }

    fn describe(&mut self, class: u32, header: Header) {
        self.headers.set(class, header);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{ROOM, millis, next, packet};
    use super::*;

    fn prio(config: PrioConfig) -> Prio {
        let mut queue = Prio::make(&config, Rate::from_bps(1_000_000), Stream::new(1, "queue"));
        for (class, dscp) in (0..).zip(["DF", "CS1", "EF", "AF41"]) {
            queue.describe(class, Header { dscp: dscp.parse().unwrap(), hosts: [0, 1] });
        }
        queue
    }

    fn order(config: PrioConfig) -> Vec<u32> {
        let mut queue = prio(config);
        // One of each class, then one of each again; class 4 has no header, which is DF.
        for id in 0..10 {
            let packet = packet(id, 1000, id % 5);
            assert_eq!(
                queue.offer(millis(0), packet, &ROOM, &mut Log::default()),
                Admission::Taken
            );
        }
        std::iter::from_fn(|| next(&mut queue, millis(1)).0).collect()
    }

    #[test]
    fn a_band_waits_for_all_before_it() {
        // EF, then all of best effort, then CS1.
        let bands = Diffserv::Diffserv3;
        assert_eq!(
            order(PrioConfig { bands, ..PrioConfig::default() }),
            [2, 7, 0, 3, 4, 5, 8, 9, 1, 6]
        );
        // AF41 is video, behind voice.
        let bands = Diffserv::Diffserv4;
        assert_eq!(
            order(PrioConfig { bands, ..PrioConfig::default() }),
            [2, 7, 3, 8, 0, 4, 5, 9, 1, 6]
        );
    }

    #[test]
    fn a_full_band_leaves_the_others_alone() {
        let mut queue = prio(PrioConfig { limit: Limit::packets(2), ..PrioConfig::default() });
        let mut offer =
            |class| queue.offer(millis(0), packet(0, 100, class), &ROOM, &mut Log::default());
        let full = Admission::Refused(Reason::Full);
        assert_eq!([0, 3, 4].map(&mut offer), [Admission::Taken, Admission::Taken, full]);
        assert_eq!([2, 2, 2].map(&mut offer), [Admission::Taken, Admission::Taken, full]);
        // If the room shrinks, the lowest band gives up its last.
        assert_eq!(queue.pop_last().unwrap().class, 3);
    }
}
