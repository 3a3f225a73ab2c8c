//! Queues, as data.

use ackclock_net::{
    Classes, CoDelConfig, DelayEstimate, Discipline, FqCoDelConfig, PieConfig, QueueLimit,
    QueueUnit, RedConfig,
};
use ackclock_units::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Text;

/// The queue in front of a link, and its discipline: which packet is dequeued next.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum QueueSpec {
    /// First in, first out; an arrival that finds the queue full is dropped.
    Droptail {
        /// The most that waits: packets ("50 packet"), bytes ("64 kB"), a multiple of the
        /// bandwidth-delay product ("1 BDP", floor(rate x largest base RTT across the link / 1500 B)
        /// packets), or "unlimited".
        #[serde(default = "unlimited")]
        limit: Text<Limit>,
        /// True if the packet being sent counts against the limit, too.
        #[serde(default)]
        counts_in_service: bool,
        /// The length of the queue from which an arrival is marked with congestion (ECN), in the
        /// units of `limit` and counted like it. Packets that do not ask for ECN are not marked.
        /// Default: no packet is marked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mark: Option<Text<Limit>>,
    },
    /// One queue a flow and one a cross-traffic source, served in turn a packet at a time (with
    /// equal sizes, processor sharing by flow); an arrival that finds the shared buffer full is
    /// dropped.
    Fair {
        /// The most that waits, in all queues together.
        #[serde(default = "unlimited")]
        limit: Text<Limit>,
        /// True if the packet being sent counts against the limit, too.
        #[serde(default)]
        counts_in_service: bool,
        /// The length of all queues together from which an arrival is marked with congestion (ECN).
        /// Default: no packet is marked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mark: Option<Text<Limit>>,
    },
    /// Random early detection (Floyd and Jacobson 1993). An arrival is dropped or marked with a
    /// probability that rises with the average length of the queue.
    Red {
        /// The most that waits; an arrival beyond it is dropped whatever the average is.
        #[serde(default = "unlimited")]
        limit: Text<Limit>,
        /// The average below which nothing is dropped. In bytes ("7500 B"), so is the average, and
        /// smaller packets are dropped with a smaller probability.
        #[serde(default = "packets::<5>")]
        min_th: Text<Limit>,
        /// The average at which the probability comes to `max_p`, in the unit of `min_th`.
        #[serde(default = "packets::<15>")]
        max_th: Text<Limit>,
        /// The weight of a new sample in the average, above 0 and up to 1.
        #[serde(default = "red_weight")]
        weight: f64,
        /// The probability as the average comes to `max_th`, above 0 and up to 1.
        #[serde(default = "red_max_p")]
        max_p: f64,
        /// True if the probability rises from `max_p` to 1 between `max_th` and twice that; otherwise
        /// all arrivals are dropped from `max_th` on.
        #[serde(default = "yes")]
        gentle: bool,
        /// True if `max_p` moves, every 0.5 s, so that the average comes to the middle of the
        /// thresholds.
        #[serde(default)]
        adaptive: bool,
        /// True if packets that ask for ECN are marked where others are dropped with a probability.
        #[serde(default)]
        ecn: bool,
        /// A full packet: while the link is idle the average falls as if it sent these, and with
        /// thresholds in bytes these are dropped with the whole probability.
        #[serde(default = "bytes::<1500>")]
        packet_size: Text<Bytes>,
    },
    /// Controlled delay (RFC 8289). Packets are dropped or marked at the head, the faster the longer
    /// the delay stands above a target.
    #[serde(rename = "codel")]
    CoDel {
        /// The most that waits.
        #[serde(default = "unlimited")]
        limit: Text<Limit>,
        /// The standing delay that is accepted.
        #[serde(default = "millis::<5>")]
        target: Text<Duration>,
        /// The time for which the delay may stay above the target: about the longest round trip of
        /// the flows.
        #[serde(default = "millis::<100>")]
        interval: Text<Duration>,
        /// True if packets that ask for ECN are marked instead of dropped.
        #[serde(default)]
        ecn: bool,
        /// The delay above which every packet that asks for ECN is marked, for laws such as `dctcp`;
        /// default: none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ce_threshold: Option<Text<Duration>>,
    },
    /// Flow queues under controlled delay, served by deficit round robin (RFC 8290). Flows that send
    /// little go first. Where the buffer is full, the longest flow queue loses packets from its head.
    #[serde(rename = "fq_codel")]
    FqCoDel {
        /// The most that waits, in all flow queues together.
        #[serde(default = "packets::<10_240>")]
        limit: Text<Limit>,
        /// The standing delay that each flow queue accepts.
        #[serde(default = "millis::<5>")]
        target: Text<Duration>,
        /// The time for which the delay of a flow queue may stay above the target.
        #[serde(default = "millis::<100>")]
        interval: Text<Duration>,
        /// True if packets that ask for ECN are marked instead of dropped.
        #[serde(default = "yes")]
        ecn: bool,
        /// The delay above which every packet that asks for ECN is marked; default: none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ce_threshold: Option<Text<Duration>>,
        /// The bytes that a flow queue sends in its turn.
        #[serde(default = "bytes::<1514>")]
        quantum: Text<Bytes>,
        /// The way to a packet's flow queue.
        #[serde(default)]
        classify: Classify,
        /// The number of flow queues that a hash leads to, with `classify = "hash"` alone; 1024 if
        /// left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queues: Option<u32>,
        /// The most packets that the longest flow queue loses at once when the buffer is full.
        #[serde(default = "drop_batch")]
        drop_batch: u32,
    },
    /// The proportional integral controller enhanced (RFC 8033). An arrival is dropped or marked with
    /// a probability that is moved so that the delay comes to a target.
    Pie {
        /// The most that waits.
        #[serde(default = "unlimited")]
        limit: Text<Limit>,
        /// The delay that is aimed at (`QDELAY_REF`).
        #[serde(default = "millis::<15>")]
        target: Text<Duration>,
        /// The interval at which the probability is computed (`T_UPDATE`).
        #[serde(default = "millis::<15>")]
        update: Text<Duration>,
        /// The weight in the probability of a second of delay beyond the target, before the steps
        /// are made smaller for small probabilities.
        #[serde(default = "pie_alpha")]
        alpha: f64,
        /// The weight of a second by which the delay has grown.
        #[serde(default = "pie_beta")]
        beta: f64,
        /// The time for which nothing is dropped as congestion begins (`MAX_BURST`).
        #[serde(default = "millis::<150>")]
        burst: Text<Duration>,
        /// The estimate of the delay.
        #[serde(default)]
        estimate: Estimate,
        /// The mean size of a packet: where no more than two of these wait, nothing is dropped.
        #[serde(default = "bytes::<1500>")]
        packet_size: Text<Bytes>,
        /// True if smaller packets are dropped with a smaller probability.
        #[serde(default)]
        byte_mode: bool,
        /// True if packets that ask for ECN are marked instead of dropped, while the probability is
        /// below `mark_below`.
        #[serde(default)]
        ecn: bool,
        /// The probability from which packets that ask for ECN are dropped, too.
        #[serde(default = "pie_mark_below")]
        mark_below: f64,
        /// True if drops keep a distance from one another.
        #[serde(default)]
        derandomise: bool,
    },
}

/// The way to a packet's flow queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Classify {
    /// By a salted hash of its flow: flows may meet in one queue.
    #[default]
    Hash,
    /// Each flow and each cross-traffic source has a queue of its own.
    Flow,
}

/// How PIE knows the delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Estimate {
    /// The wait of the packet that left last.
    #[default]
    Sojourn,
    /// The length of the queue over the rate at which packets have left.
    DepartureRate,
}

const fn unlimited() -> Text<Limit> {
    Text(Limit::Fixed(QueueLimit::UNLIMITED))
}

const fn packets<const N: u64>() -> Text<Limit> {
    Text(Limit::Fixed(QueueLimit { amount: N, unit: QueueUnit::Packets }))
}

const fn bytes<const N: u64>() -> Text<Bytes> {
    Text(Bytes::new(N))
}

const fn millis<const N: u64>() -> Text<Duration> {
    Text(Duration::from_millis(N))
}

const fn yes() -> bool {
    true
}

fn red_weight() -> f64 {
    RedConfig::default().weight
}

fn red_max_p() -> f64 {
    RedConfig::default().max_p
}

fn drop_batch() -> u32 {
    FqCoDelConfig::default().drop_batch
}

fn pie_alpha() -> f64 {
    PieConfig::default().alpha
}

fn pie_beta() -> f64 {
    PieConfig::default().beta
}

fn pie_mark_below() -> f64 {
    PieConfig::default().mark_below
}

/// A queue's limit, as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// So many packets or bytes, or none.
    Fixed(QueueLimit),
    /// So many times the bandwidth-delay product.
    Bdp(f64),
}

impl Limit {
    /// The limit of a link of `rate` whose longest base round trip is `rtt`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "floor of a positive number of packets"
    )]
    pub fn resolve(self, rate: Rate, rtt: Duration) -> QueueLimit {
        match self {
            Self::Fixed(limit) => limit,
            Self::Bdp(multiple) => {
                let bdp = (rate.volume_in(rtt).get() / 1500) as f64;
                QueueLimit { amount: ((bdp * multiple) as u64).max(1), unit: QueueUnit::Packets }
            }
        }
    }

    /// In what it counts.
    pub const fn unit(self) -> QueueUnit {
        match self {
            Self::Fixed(limit) => limit.unit,
            Self::Bdp(_) => QueueUnit::Packets,
        }
    }
}

impl QueueSpec {
    /// A drop-tail queue.
    pub const fn droptail(limit: Limit) -> Self {
        Self::Droptail { limit: Text(limit), counts_in_service: false, mark: None }
    }

    /// The most that waits.
    pub const fn limit(&self) -> Limit {
        match self {
            Self::Droptail { limit, .. }
            | Self::Fair { limit, .. }
            | Self::Red { limit, .. }
            | Self::CoDel { limit, .. }
            | Self::FqCoDel { limit, .. }
            | Self::Pie { limit, .. } => limit.0,
        }
    }

    /// What waits when an arrival is marked, if that is all that decides.
    pub fn mark(&self) -> Option<Limit> {
        match self {
            Self::Droptail { mark, .. } | Self::Fair { mark, .. } => mark.map(|mark| mark.0),
            _ => None,
        }
    }

    /// True if the packet being sent counts against the limit, too.
    pub const fn counts_in_service(&self) -> bool {
        match self {
            Self::Droptail { counts_in_service, .. } | Self::Fair { counts_in_service, .. } => {
                *counts_in_service
            }
            _ => false,
        }
    }

    /// The discipline of a checked queue, in front of a link of `rate` whose longest base round trip
    /// is `rtt`.
    ///
    /// # Panics
    /// With a size that [`Scenario::check`](crate::Scenario::check) refuses.
    pub fn discipline(&self, rate: Rate, rtt: Duration) -> Discipline {
        let size = |text: Text<Bytes>| u32::try_from(text.0.get()).expect("the check bounds it");
        match *self {
            Self::Droptail { .. } => Discipline::Fifo,
            Self::Fair { .. } => Discipline::Fair,
            Self::Red {
                limit: _,
                min_th,
                max_th,
                weight,
                max_p,
                gentle,
                adaptive,
                ecn,
                packet_size,
            } => Discipline::Red(RedConfig {
                unit: min_th.0.unit(),
                min_th: min_th.0.resolve(rate, rtt).amount as f64,
                max_th: max_th.0.resolve(rate, rtt).amount as f64,
                weight,
                max_p,
                gentle,
                adaptive,
                ecn,
                packet_size: size(packet_size),
            }),
            Self::CoDel { limit: _, target, interval, ecn, ce_threshold } => {
                Discipline::CoDel(CoDelConfig {
                    target: target.0,
                    interval: interval.0,
                    ecn,
                    ce_threshold: ce_threshold.map(|threshold| threshold.0),
                })
            }
            Self::FqCoDel {
                limit: _,
                target,
                interval,
                ecn,
                ce_threshold,
                quantum,
                classify,
                queues,
                drop_batch,
            } => Discipline::FqCoDel(FqCoDelConfig {
                codel: CoDelConfig {
                    target: target.0,
                    interval: interval.0,
                    ecn,
                    ce_threshold: ce_threshold.map(|threshold| threshold.0),
                },
                quantum: size(quantum),
                classes: match classify {
                    Classify::Hash => Classes::Hashed(queues.unwrap_or(DEFAULT_QUEUES)),
                    Classify::Flow => Classes::Own,
                },
                drop_batch,
            }),
            Self::Pie {
                limit: _,
                target,
                update,
                alpha,
                beta,
                burst,
                estimate,
                packet_size,
                byte_mode,
                ecn,
                mark_below,
                derandomise,
            } => Discipline::Pie(PieConfig {
                target: target.0,
                update: update.0,
                alpha,
                beta,
                burst: burst.0,
                estimate: match estimate {
                    Estimate::Sojourn => DelayEstimate::Sojourn,
                    Estimate::DepartureRate => DelayEstimate::DepartureRate,
                },
                packet_size: size(packet_size),
                byte_mode,
                ecn,
                mark_below,
                derandomise,
            }),
        }
    }
}

/// Flow queues that a hash leads to if nothing is said (RFC 8290 §5.2.5).
const DEFAULT_QUEUES: u32 = 1024;
