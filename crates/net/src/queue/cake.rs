//! CAKE: T. Høiland-Jørgensen, D. Täht and J. Morton, "Piece of CAKE: A Comprehensive Queue Management Solution for Home
//! Gateways", LANMAN 2018, as Linux's `sch_cake` has it.

mod filter;
mod hosts;
mod set;
mod shaper;
mod tin;

use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::check_limit;
use super::cobalt::Taken;
use super::contract::{Admission, Described, Limits, Log, Queueing, Reason, Room};
use super::fifo::Waiting;
use super::tins::Diffserv;
use crate::ack::Ack;
use crate::check::{Refusal, check_time, refuse};
use crate::header::{Header, Headers};
use crate::limit::{Limit, QueueUnit};
use crate::packet::Packet;

pub use filter::AckFilter;
pub use hosts::Isolation;
pub use shaper::{Framing, LinkLayer};

use hosts::hash;
use shaper::{Lengths, Shaper};
use tin::{Tin, Turn};

/// Bytes of a full packet, as `sch_cake` counts on Ethernet.
const MTU: u64 = 1514;
/// Packets of that size that the buffer holds at most, if nothing is said.
const MOST_PACKETS: u64 = 10_240;
/// The least buffer of a shaper.
const LEAST_BUFFER: u64 = 4 << 20;

/// CAKE (Høiland-Jørgensen, Täht and Morton 2018). A shaper, classes by DSCP, fairness between hosts and between their
/// flows, and COBALT in each flow queue.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct CakeConfig {
    /// The rate of the shaper; default: none, and the link sets the pace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Rate>,
    /// The classes of packets, by their DSCP.
    pub tins: Diffserv,
    /// The fairness: between flows, hosts, or flows of hosts.
    pub isolation: Isolation,
    /// The round-trip time for which it is set: COBALT's interval.
    pub rtt: Duration,
    /// COBALT's target; default: a twentieth of `rtt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Duration>,
    /// The link layer whose headers and cells the shaper counts.
    pub link_layer: LinkLayer,
    /// Bytes that the shaper counts besides each packet; default: those of `link_layer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Bytes>,
    /// The least bytes that the shaper counts for a packet; default: those of `link_layer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mpu: Option<Bytes>,
    /// The cells in which the link layer sends; default: those of `link_layer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub framing: Option<Framing>,
    /// The most that waits, in bytes or time; default: what the shaper sends in four times `rtt`, at least 4 MiB and at most
    /// 10,240 full packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// The filter that drops ACKs which later ones of the flow make needless.
    pub ack_filter: AckFilter,
    /// True if packets have no DSCP any more behind it.
    pub wash: bool,
    /// True if dropped packets are charged, too, for a shaper behind the bottleneck.
    pub ingress: bool,
}

impl Default for CakeConfig {
    fn default() -> Self {
        Self {
            bandwidth: None,
            tins: Diffserv::default(),
            isolation: Isolation::default(),
            rtt: Duration::from_millis(100),
            target: None,
            link_layer: LinkLayer::default(),
            overhead: None,
            mpu: None,
            framing: None,
            limit: None,
            ack_filter: AckFilter::Off,
            wash: false,
            ingress: false,
        }
    }
}

/// A share of a rate, at least 1 bit/s.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive, and no more than the rate"
)]
fn scaled(rate: Rate, share: f64) -> Rate {
    Rate::from_bps(((rate.as_bps() as f64 * share) as u64).max(1))
}

impl CakeConfig {
    /// The most that waits if nothing is said.
    fn default_limit(&self) -> u64 {
        let most = MOST_PACKETS * MTU;
        self.bandwidth
            .map_or(most, |rate| rate.volume_in(self.rtt * 4).get().max(LEAST_BUFFER).min(most))
    }
}

impl Described for Cake {
    type Settings = CakeConfig;

    const KIND: &'static str = "cake";

    const SOURCE: &'static str = "Høiland-Jørgensen, Täht and Morton 2018";

    fn limits(config: &CakeConfig) -> Limits {
        config.limit.unwrap_or_else(|| Limit::bytes(config.default_limit())).into()
    }

    fn marks(_: &CakeConfig) -> bool {
        true
    }

    fn queues(config: &CakeConfig) -> u32 {
        u32::try_from(config.tins.tins() * set::QUEUES).unwrap_or(u32::MAX)
    }

    fn filters_acks(config: &CakeConfig) -> bool {
        config.ack_filter != AckFilter::Off
    }

    fn shapes(config: &CakeConfig) -> bool {
        config.bandwidth.is_some()
    }

    fn washes(config: &CakeConfig) -> bool {
        config.wash
    }

    fn check(config: &CakeConfig) -> Result<(), Refusal> {
        check_time("rtt", config.rtt)?;
        if let Some(target) = config.target {
            check_time("target", target)?;
        }
        for (key, bytes) in [("overhead", config.overhead), ("mpu", config.mpu)] {
            if bytes.is_some_and(|bytes| bytes.get() > 256) {
                return refuse(key, "expected at most 256 B");
            }
        }
        let Some(limit) = config.limit else { return Ok(()) };
        if limit.unit() == QueueUnit::Packets {
            return refuse("limit", "expected a volume or a time, as \"4 MiB\" or \"400 ms\"");
        }
        check_limit(limit)
    }

    fn make(config: &CakeConfig, _: Rate, mut random: Stream) -> Self {
        let interval = config.rtt;
        let target = config.target.unwrap_or(interval / 20);
        let tins = config.tins.shares().into_iter().map(|(share, weight)| {
            let rate = config.bandwidth.map(|rate| scaled(rate, share));
            Tin::new(rate, weight, target, interval).with(config.isolation, config.ack_filter)
        });
        Self {
            config: *config,
            lengths: Lengths::new(config.link_layer, config.overhead, config.mpu, config.framing),
            shaper: Shaper::new(config.bandwidth),
            tins: tins.collect(),
            current: 0,
            salt: random.next_u64(),
            headers: Headers::default(),
            comes: None,
            bytes: 0,
            packets: 0,
            random,
        }
    }
}

/// CAKE's queues.
#[derive(Clone, Debug)]
pub struct Cake {
    config: CakeConfig,
    lengths: Lengths,
    shaper: Shaper,
    tins: Vec<Tin>,
    /// The tin that is served, where nothing shapes.
    current: usize,
    salt: u64,
    headers: Headers,
    /// The fields of the packet that comes.
    comes: Option<Ack>,
    bytes: u64,
    packets: u64,
    random: Stream,
}

impl Cake {
    /// Drops the packet at the head of the longest flow queue.
    #[cold]
    fn drop_head(&mut self, now: Instant, log: &mut Log) {
        let Some((tin, flow)) = self.longest() else { return };
        let Some(first) = self.tins[tin].drop_head(now, flow) else { return };
        log.drop(first, Reason::Full);
        self.forget(first);
        if self.config.ingress {
            self.charge(now, tin, first.size, true);
        }
    }

    /// The flow queue of most bytes, and its tin.
    fn longest(&self) -> Option<(usize, usize)> {
        let tins = self.tins.iter().enumerate();
        let longest =
            tins.filter_map(|(n, tin)| tin.longest().map(|(flow, bytes)| (bytes, n, flow)));
        longest
            .max_by_key(|(bytes, tin, _)| (*bytes, std::cmp::Reverse(*tin)))
            .map(|(_, n, f)| (n, f))
    }

    fn forget(&mut self, packet: Packet) {
        self.bytes -= u64::from(packet.size);
        self.packets -= 1;
    }

    /// Charges a packet to the shaper and to its tin; returns the bytes that it counts for.
    fn charge(&mut self, now: Instant, tin: usize, size: u32, dropped: bool) -> i64 {
        let length = self.lengths.of(size);
        self.shaper.charge(length, dropped);
        self.tins[tin].charge(now, length);
        i64::try_from(length).unwrap_or(i64::MAX)
    }

    /// The tin that is served next, of those that have flows with packets.
    fn choose_tin(&mut self, now: Instant) -> usize {
        if self.config.bandwidth.is_some() {
            // The last that is due by its own rate, or else the one that is due first.
            let mut best: Option<(Instant, usize)> = None;
            for (n, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.is_active()) {
                let due = tin.due();
                if due <= now || best.is_none_or(|(at, _)| due <= at) {
                    best = Some((due, n));
                }
            }
            return best.map_or(0, |(_, n)| n);
        }
        while !self.tins[self.current].has_turn() {
            self.tins[self.current].refill();
            self.current = (self.current + 1) % self.tins.len();
        }
        self.current
    }

    /// Serves the flow queue of `tin` whose turn it is; `None` if that had nothing, or a drop calls for another choice.
    fn serve(&mut self, now: Instant, n: usize, first: bool, log: &mut Log) -> Option<Waiting> {
        let flow = match self.tins[n].turn(first, &mut self.random) {
            Turn::Flow(flow) => flow,
            Turn::Again => return None,
        };
        loop {
            let ingress = self.config.ingress;
            match self.tins[n].take(now, flow, ingress, &mut self.random, log) {
                None => {
                    self.tins[n].rest(now, flow);
                    return None;
                }
                Some(Taken::Dropped(Waiting { packet, .. })) => {
                    self.forget(packet);
                    if ingress {
                        let length = self.charge(now, n, packet.size, true);
                        self.tins[n].spend(flow, length);
                        return None;
                    }
                }
                Some(Taken::Sent(next)) => {
                    self.forget(next.packet);
                    let length = self.charge(now, n, next.packet.size, false);
                    self.tins[n].spend(flow, length);
                    return Some(next);
                }
            }
        }
    }
}

impl Queueing for Cake {
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, log: &mut Log) -> Admission {
        if !room.fits && !room.is_for(packet.size) {
            return Admission::Refused(Reason::Full);
        }
        let header = self.headers.of(packet.class);
        let n = self.config.tins.tin(header.dscp);
        if self.packets == 0 {
            self.shaper.begin(now);
        }
        let hash = hash(self.config.isolation, packet.class, header.hosts, self.salt);
        let flow = (hash, header.hosts);
        let place = self.tins[n].push(now, (packet, self.comes), flow, &mut self.random);
        self.bytes += u64::from(packet.size);
        self.packets += 1;
        if let Some(needless) = self.tins[n].filter(place) {
            log.drop(needless, Reason::Early);
            self.forget(needless);
            if self.config.ingress {
                self.charge(now, n, needless.size, true);
            }
        }
        while !room.fits && self.bytes > room.limit.amount {
            self.drop_head(now, log);
        }
        Admission::Taken
    }

    fn next(&mut self, now: Instant, log: &mut Log) -> Option<Waiting> {
        let mut first = true;
        while self.packets > 0 {
            let tin = self.choose_tin(now);
            if let Some(next) = self.serve(now, tin, first, log) {
                return Some(next);
            }
            first = false;
        }
        None
    }

    fn pop_last(&mut self) -> Option<Packet> {
        let (tin, flow) = self.longest()?;
        let last = self.tins[tin].pop_last(flow)?;
        self.forget(last);
        Some(last)
    }

    fn describe(&mut self, class: u32, header: Header) {
        self.headers.set(class, header);
    }

    fn note_ack(&mut self, ack: Option<Ack>) {
        self.comes = ack;
    }

    fn holds_until(&self) -> Instant {
        self.shaper.holds_until()
    }
}

#[cfg(test)]
mod tests;
