//! Flow queues under PIE, as Linux's and ns-3's FQ-PIE.

use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{check_flow_queues, check_limit, check_size, size};
use super::contract::{Admission, Described, Limits, Log, Queueing, Room};
use super::fifo::Waiting;
use super::fq_codel::{Classify, DEFAULT_QUEUES};
use super::pie::{Pie, PieConfig};
use super::turns::{Places, Turns};
use crate::check::Refusal;
use crate::limit::Limit;
use crate::packet::Packet;

/// Flow queues under PIE, served by deficit round robin as in RFC 8290. An arrival is dropped or marked with the
/// probability of its own flow queue.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct FqPieConfig {
    /// The most that waits, in all flow queues together.
    pub limit: Limit,
    /// The delay that is aimed at (`QDELAY_REF`).
    pub target: Duration,
    /// The interval at which the probabilities are computed (`T_UPDATE`).
    pub update: Duration,
    /// The weight in the probability of a second of delay beyond the target.
    pub alpha: f64,
    /// The weight of a second by which the delay has grown.
    pub beta: f64,
    /// The time for which nothing is dropped as congestion of a flow begins (`MAX_BURST`).
    pub burst: Duration,
    /// True if smaller packets are dropped with a smaller probability.
    pub byte_mode: bool,
    /// True if packets that ask for ECN are marked instead of dropped, while the probability is below `mark_below`.
    pub ecn: bool,
    /// The probability from which packets that ask for ECN are dropped, too.
    #[serde(deserialize_with = "ackclock_units::share::read")]
    #[schemars(with = "ackclock_units::share::Share")]
    pub mark_below: f64,
    /// The bytes that a flow queue sends in its turn.
    pub quantum: Bytes,
    /// The way to a packet's flow queue.
    pub classify: Classify,
    /// The number of flow queues that a hash leads to, with `classify = "hash"` alone; 1024 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<u32>,
}

impl Default for FqPieConfig {
    fn default() -> Self {
        let PieConfig { target, update, alpha, beta, burst, mark_below, .. } = PieConfig::default();
        Self {
            limit: Limit::packets(10_240),
            target,
            update,
            alpha,
            beta,
            burst,
            byte_mode: false,
            ecn: false,
            mark_below,
            quantum: Bytes::new(1514),
            classify: Classify::Hash,
            queues: None,
        }
    }
}

impl FqPieConfig {
    /// The settings of each flow queue.
    fn pie(&self) -> PieConfig {
        let Self { target, update, alpha, beta, burst, byte_mode, ecn, mark_below, .. } = *self;
        PieConfig {
            target,
            update,
            alpha,
            beta,
            burst,
            byte_mode,
            ecn,
            mark_below,
            derandomise: true,
            ..PieConfig::default()
        }
    }
}

impl Described for FqPie {
    type Settings = FqPieConfig;

    const KIND: &'static str = "fq_pie";

    const ALSO: &'static [&'static str] = &["fqpie"];
    const SOURCE: &'static str = "RFC 8033, RFC 8290";

    fn limits(config: &FqPieConfig) -> Limits {
        config.limit.into()
    }

    fn marks(config: &FqPieConfig) -> bool {
        config.ecn
    }

    fn queues(config: &FqPieConfig) -> u32 {
        config.queues.unwrap_or(DEFAULT_QUEUES)
    }

    fn check(config: &FqPieConfig) -> Result<(), Refusal> {
        Pie::check(&config.pie())?;
        check_size("quantum", config.quantum)?;
        check_flow_queues(config.classify, config.queues)?;
        check_limit(config.limit)
    }

    fn make(config: &FqPieConfig, _: Rate, mut random: Stream) -> Self {
        let salt = random.next_u64();
        Self {
            pie: config.pie(),
            places: Places::new(config.classify, Self::queues(config), salt),
            turns: Turns::new(size(config.quantum)),
            queues: Vec::new(),
            random,
        }
    }
}

/// Flow queues under PIE, served by deficit round robin.
#[derive(Clone, Debug)]
pub struct FqPie {
    pie: PieConfig,
    places: Places,
    turns: Turns,
    queues: Vec<Pie>,
    random: Stream,
}

impl Queueing for FqPie {
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, log: &mut Log) -> Admission {
        let place = self.places.of(packet.class);
        while self.queues.len() <= place {
            let random = Stream::new(self.random.next_u64(), "flow queue");
            self.queues.push(Pie::new(self.pie, random));
        }
        let admission = self.queues[place].offer(now, packet, room, log);
        if admission == Admission::Taken {
            self.turns.join(place);
        }
        admission
    }

    fn next(&mut self, now: Instant, log: &mut Log) -> Option<Waiting> {
        loop {
            let place = self.turns.next()?;
            if let Some(next) = self.queues[place].next(now, log) {
                self.turns.sends(place, next.packet.size);
                return Some(next);
            }
            self.turns.rests();
        }
    }

    fn pop_last(&mut self) -> Option<Packet> {
        let longest = self.queues.iter_mut().rev().max_by_key(|queue| queue.bytes())?;
        longest.pop_last()
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::Reason;
    use super::super::fixtures::{ROOM, asking_for_ecn, full, millis, next, packet};
    use super::*;

    fn fq_pie(config: FqPieConfig) -> FqPie {
        let config = FqPieConfig { classify: Classify::Flow, ..config };
        FqPie::check(&config).unwrap();
        FqPie::make(&config, Rate::from_bps(10_000_000), Stream::new(1, "queue"))
    }

    /// ns-3's test of deficits in its FQ-PIE: as in FQ-COBALT's, a quantum of 90 and packets of 120 B.
    #[test]
    fn deficits_are_those_of_ns_3() {
        let mut queue = fq_pie(FqPieConfig { quantum: Bytes::new(90), ..FqPieConfig::default() });
        let push = |queue: &mut FqPie, id, class| {
            queue.offer(millis(0), packet(id, 120, class), &ROOM, &mut Log::default());
        };
        (0..3).for_each(|id| push(&mut queue, id, 0));
        assert_eq!(next(&mut queue, millis(0)).0, Some(0));
        assert_eq!(queue.turns.deficit(0), -30);
        (10..12).for_each(|id| push(&mut queue, id, 1));
        let mut seen = Vec::new();
        for expected in [10, 1, 11, 2] {
            assert_eq!(next(&mut queue, millis(0)).0, Some(expected));
            seen.push((queue.turns.deficit(0), queue.turns.deficit(1)));
        }
        assert_eq!(seen, [(60, -30), (-60, 60), (30, -60), (-90, 30)]);
    }

    /// Flow 0 sends a packet each millisecond and gets one of two departures, flow 1 sends one each 10 ms: the first waits
    /// longer and longer and is marked, the second never is.
    #[test]
    fn each_flow_has_a_probability_of_its_own() {
        let mut queue =
            fq_pie(FqPieConfig { ecn: true, mark_below: 1.0, ..FqPieConfig::default() });
        let mut marked = [0, 0];
        for at in 0..4000_u64 {
            let mut log = Log::default();
            let mut offer = |class: u32| {
                let packet = asking_for_ecn(packet(class, 1000, class));
                queue.offer(millis(at), packet, &ROOM, &mut log);
            };
            offer(0);
            if at % 10 == 0 {
                offer(1);
            }
            for id in super::super::fixtures::told(&mut log).1 {
                marked[id as usize] += 1;
            }
            if at % 2 == 0 {
                next(&mut queue, millis(at));
            }
        }
        assert!(marked[0] > 10 && marked[1] == 0, "{marked:?}");
    }

    #[test]
    fn a_full_buffer_refuses() {
        let mut queue = fq_pie(FqPieConfig::default());
        let refused = queue.offer(millis(0), packet(0, 1000, 0), &full(0), &mut Log::default());
        assert_eq!(refused, Admission::Refused(Reason::Full));
        assert!(queue.pop_last().is_none() && next(&mut queue, millis(1)).0.is_none());
    }
}
