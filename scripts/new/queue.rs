//! Probe: TODO the document, and what it says, by section.

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::check_limit;
use super::contract::{Admission, Described, Limits, Log, Queueing, Reason, Room};
use super::fifo::{FifoQueue, Waiting};
use crate::check::{Refusal, check_time};
use crate::limit::Limit;
use crate::packet::Packet;

/// TODO one sentence that says what it is, as the reference and Python have it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct ProbeConfig {
    /// The most that waits.
    pub limit: Limit,
    /// The delay beyond which packets are dropped, unless none waits behind.
    pub target: Duration,
    /// True if packets that ask for ECN are marked instead of dropped.
    pub ecn: bool,
}

impl Default for ProbeConfig {
    fn default() -> Self {
        Self { limit: Limit::UNLIMITED, target: Duration::from_millis(20), ecn: false }
    }
}

/// The state of the discipline.
#[derive(Clone, Debug)]
pub struct Probe {
    config: ProbeConfig,
    queue: FifoQueue,
}

impl Described for Probe {
    type Settings = ProbeConfig;

    const KIND: &'static str = "probe";
    const SOURCE: &'static str = "TODO the document";

    fn limits(config: &ProbeConfig) -> Limits {
        config.limit.into()
    }

    fn marks(config: &ProbeConfig) -> bool {
        config.ecn
    }

    fn check(config: &ProbeConfig) -> Result<(), Refusal> {
        check_time("target", config.target)?;
        check_limit(config.limit)
    }

    fn make(config: &ProbeConfig, _: Rate, _: Stream) -> Self {
        Self { config: *config, queue: FifoQueue::default() }
    }
}

impl Queueing for Probe {
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, _: &mut Log) -> Admission {
        if !room.fits {
            return Admission::Refused(Reason::Full);
        }
        self.queue.push(now, packet);
        Admission::Taken
    }

    fn next(&mut self, now: Instant, log: &mut Log) -> Option<Waiting> {
        loop {
            let first = self.queue.pop()?;
            if now.since(first.came) <= self.config.target || self.queue.packets() == 0 {
                return Some(first);
            }
            if self.config.ecn && first.packet.asks_for_ecn() {
                log.mark(first.packet);
                return Some(first);
            }
            log.drop(first.packet, Reason::Early);
        }
    }

    fn pop_last(&mut self) -> Option<Packet> {
        self.queue.pop_last()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{ROOM, asking_for_ecn, millis, next, packet};
    use super::*;

    fn made(config: ProbeConfig) -> Probe {
        Probe::make(&config, Rate::from_bps(1_000_000), Stream::new(1, "queue"))
    }

    #[test]
    fn probe_drops_packets_that_have_waited_longer_than_its_target() {
        // TODO the new discipline's arithmetic. At 21 ms those of 0 ms have waited 1 ms too long;
        // the one of 10 ms has not.
        let mut queue = made(ProbeConfig::default());
        for (id, came) in [(1, 0), (2, 0), (3, 10)] {
            queue.offer(millis(came), packet(id, 1500, 0), &ROOM, &mut Log::default());
        }
        assert_eq!(next(&mut queue, millis(21)), (Some(3), vec![1, 2], vec![]));
    }

    #[test]
    fn probe_marks_packets_that_ask_for_ecn() {
        let mut queue = made(ProbeConfig { ecn: true, ..ProbeConfig::default() });
        for id in [1, 2] {
            let asks = asking_for_ecn(packet(id, 1500, 0));
            queue.offer(millis(0), asks, &ROOM, &mut Log::default());
        }
        assert_eq!(next(&mut queue, millis(21)), (Some(1), vec![], vec![1]));
    }
}
