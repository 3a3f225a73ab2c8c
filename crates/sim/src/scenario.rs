//! A scenario: everything a run needs, as data.
//!
//! The same definition is read from TOML, from JSON and from Python, and its JSON schema is
//! generated from these types. Quantities are text with a unit ("10 Mbit/s"); unknown keys are
//! refused by name.

mod browser;
mod change;
mod channel;
mod endpoint;
mod program;
mod quick_start;
mod tcp;
mod text;
mod traffic;

use core::num::NonZeroU64;

use ackclock_net::{Discipline, Loss};
use ackclock_tcp::{Config, Profile, Variant};
use ackclock_units::{Bytes, Duration, PacketRate, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use ackclock_app::Application;
pub use ackclock_app::application::{ProgramConfig, Side, VideoConfig, fill};
pub use ackclock_net::{RcpConfig, XcpConfig};
pub use ackclock_units::written::{
    Draw, DurationDraw, ExponentialDraw, Lognormal, LognormalDraw, ParetoDraw, Quantile,
    QuantilesDraw, Quantity, Scaled, UniformDraw, ValuesDraw, WeibullDraw,
};
pub use browser::{BrowserHttp, BrowserSpec, SurgeConstants, SurgeSizes};
pub use change::{
    After, EventTime, FlowEvent, LinkChange, PathEvent, QueueChange, RateOrZero, Span,
};
pub use channel::{BurstLoss, ChannelSpec, RateStep};
pub use endpoint::{EndpointSpec, NetworkSpec};
pub use program::programs_asked;
pub(crate) use quick_start::{A_RATE, is_below_all};
pub use quick_start::{
    DenialSpec, QuickStartAdmission, QuickStartRule, QuickStartSpec, QuickStartTcp, QuickStartWord,
};
pub use tcp::{
    AutotuneOn, AutotuneSpec, DelayedAckOn, DelayedAckSpec, EcnEchoSpec, EcnSpec, LossReducesSpec,
    NagleSpec, Off, PacingSpec, TcpSpec,
};
pub use traffic::{
    AccessLine, AccessSpec, ArrivalsSpec, Closes, DumbbellSide, LineLaws, Traffic, TrafficApp,
    UtilisationFull, UtilisationSpec, VariantChoice, VariantFeedback, VariantShare,
};

/// A run, as data: topology, flows, cross-traffic, what to measure, a seed.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What the scenario shows, in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// How much time is simulated.
    pub duration: Duration,
    /// The seed of every random stream.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// The links, and how they are joined.
    pub topology: Topology,
    /// The TCP connections.
    #[serde(default, rename = "flow", skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<Flow>,
    /// Connections that come and go.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traffic: Vec<Traffic>,
    /// Traffic that no end point controls.
    #[serde(default, rename = "cross_traffic", skip_serializing_if = "Vec::is_empty")]
    pub cross_traffic: Vec<CrossTraffic>,
    /// Changes of the path on the way.
    #[serde(default, rename = "event", skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<PathEvent>,
    /// Windows of time over which flows and links are measured; the whole run is always measured
    /// too, under the name `run`.
    #[serde(default, rename = "measure", skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<Measure>,
    /// What is recorded over time.
    #[serde(default, rename = "probe", skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<Probe>,
}

const fn default_seed() -> u64 {
    1
}

/// The links, and how they are joined.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[expect(clippy::large_enum_variant, reason = "one a scenario; boxes would only blur the schema")]
pub enum Topology {
    /// Every flow has an access link on each side of one shared link, `bottleneck`.
    Dumbbell {
        /// The shared link, from the senders to the receivers.
        bottleneck: LinkSpec,
        /// The access links of the senders, and of the receivers unless `access_right` is given.
        access: LinkSpec,
        /// The access links of the receivers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        access_right: Option<LinkSpec>,
    },
    /// Any nodes, joined by named links; flows take the path of least delay.
    Graph {
        /// The links.
        #[serde(rename = "link")]
        links: Vec<GraphLink>,
    },
}

/// A link: it holds packets in a queue, puts them on the wire at its rate, and delivers them a
/// delay later.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// The rate, both ways.
    pub rate: Rate,
    /// What takes the place of a constant rate, both ways; `rate` is its mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<ChannelSpec>,
    /// The propagation delay, one way.
    pub delay: Duration,
    /// The queue, both ways. Default: drop-tail, one bandwidth-delay product on a dumbbell's
    /// bottleneck, without limit elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Discipline>,
    /// Packets that others overtake, both ways.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<ReorderSpec>,
    /// The probability that a packet arrives twice, both ways.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub duplicate: f64,
    /// The probability that a bit of a packet is flipped on the way, both ways: the host that it is
    /// for discards it, as its checksum is wrong.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub corrupt: f64,
    /// Which packets are lost after they were sent, both ways: a probability such as `0.01`,
    /// `{ every = 1000 }`, or in bursts `{ to_bad = 0.001, to_good = 0.2 }`.
    #[serde(default, skip_serializing_if = "LossSpec::is_none")]
    pub loss: LossSpec,
    /// What the router in front of this link does for Quick-Start: `"approve"`, `"deny"`, or
    /// `{ threshold = 1.0, slot = "1 s", history = 2 }`. A path's first link has no router in front.
    /// Default: it takes no part, and requests fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quick_start: Option<QuickStartSpec>,
    /// The router in front of this link, the path's first too, offers RCP flows a rate: `{}`. Every link
    /// on the way of an RCP flow needs it. Default: it takes no part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rcp: Option<RcpConfig>,
    /// The router in front of this link, the path's first too, rules XCP flows: `{}`. Every link on the
    /// way of an XCP flow needs it. Default: it takes no part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xcp: Option<XcpConfig>,
    /// What differs on the way back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse: Option<ReverseSpec>,
}

/// Which packets a link loses after they were sent.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a probability such as 0.01, { every = 1000 }, or { to_bad = 0.001, to_good = 0.2 }"
)]
pub enum LossSpec {
    /// Each with this probability, from 0 to 1, independently of the others.
    Random(f64),
    /// One in so many, without chance.
    Periodic(PeriodicLoss),
    /// In bursts.
    Bursts(BurstLoss),
}

/// A loss at regular intervals, as the models of response functions have it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeriodicLoss {
    /// Of the packets that carry a flow's data, new or sent again, every so-manieth is lost, in the
    /// order in which the link sends them; each direction counts for itself, over all flows. Packets
    /// without data, and cross-traffic, are neither lost nor counted.
    pub every: u64,
    /// The number of the first that is lost, from 1; default: `every`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
}

impl Default for LossSpec {
    fn default() -> Self {
        Self::Random(0.0)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl LossSpec {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// As a link has it.
    ///
    /// # Panics
    /// If a number of packets is 0, which [`Scenario::check`] refuses.
    pub fn model(self) -> Loss {
        match self {
            Self::Random(probability) => Loss::Random(probability),
            Self::Bursts(BurstLoss { to_bad, to_good, in_bad, in_good }) => {
                Loss::Bursts { to_bad, to_good, in_bad, in_good }
            }
            Self::Periodic(PeriodicLoss { every, first }) => {
                let count = |n| NonZeroU64::new(n).expect("the check found at least 1");
                Loss::Periodic { period: count(every), first: count(first.unwrap_or(every)) }
            }
        }
    }
}

/// What differs on the way back of a link.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReverseSpec {
    /// The rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// What takes the place of a constant rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<ChannelSpec>,
    /// The propagation delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// The queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Discipline>,
    /// Which packets are lost after they were sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossSpec>,
    /// Packets that others overtake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<ReorderSpec>,
    /// The probability that a packet arrives twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<f64>,
    /// The probability that a bit of a packet is flipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrupt: Option<f64>,
    /// What the router in front of the way back does for Quick-Start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quick_start: Option<QuickStartSpec>,
    /// The router in front of the way back, for RCP flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rcp: Option<RcpConfig>,
    /// The same for XCP flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xcp: Option<XcpConfig>,
}

/// Packets that others overtake: a share of a link's packets, chosen at random, is held back after
/// it was sent.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReorderSpec {
    /// The probability that a packet is held back.
    pub share: f64,
    /// By how much it arrives later than it would.
    pub delay: Duration,
}

/// A link of a graph.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphLink {
    /// The name, by which cross-traffic, probes and results refer to it.
    pub name: String,
    /// The node it starts from.
    pub from: String,
    /// The node it leads to.
    pub to: String,
    /// The rate, both ways.
    pub rate: Rate,
    /// What takes the place of a constant rate, both ways; `rate` is its mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<ChannelSpec>,
    /// The propagation delay, one way.
    pub delay: Duration,
    /// The queue, both ways. Default: drop-tail without limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Discipline>,
    /// Packets that others overtake, both ways.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<ReorderSpec>,
    /// The probability that a packet arrives twice, both ways.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub duplicate: f64,
    /// The probability that a bit of a packet is flipped on the way, both ways: the host that it is
    /// for discards it, as its checksum is wrong.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub corrupt: f64,
    /// Which packets are lost after they were sent, both ways: a probability such as `0.01`,
    /// `{ every = 1000 }`, or in bursts `{ to_bad = 0.001, to_good = 0.2 }`.
    #[serde(default, skip_serializing_if = "LossSpec::is_none")]
    pub loss: LossSpec,
    /// What the router in front of this link does for Quick-Start: `"approve"`, `"deny"`, or
    /// `{ threshold = 1.0, slot = "1 s", history = 2 }`. A path's first link has no router in front.
    /// Default: it takes no part, and requests fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quick_start: Option<QuickStartSpec>,
    /// The router in front of this link, the path's first too, offers RCP flows a rate: `{}`. Every link
    /// on the way of an RCP flow needs it. Default: it takes no part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rcp: Option<RcpConfig>,
    /// The router in front of this link, the path's first too, rules XCP flows: `{}`. Every link on the
    /// way of an XCP flow needs it. Default: it takes no part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xcp: Option<XcpConfig>,
    /// What differs on the way back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse: Option<ReverseSpec>,
}

impl GraphLink {
    /// The link without its place in the graph.
    pub fn spec(&self) -> LinkSpec {
        LinkSpec {
            rate: self.rate,
            channel: self.channel.clone(),
            delay: self.delay,
            queue: self.queue,
            loss: self.loss,
            reorder: self.reorder.clone(),
            duplicate: self.duplicate,
            corrupt: self.corrupt,
            quick_start: self.quick_start.clone(),
            rcp: self.rcp,
            xcp: self.xcp,
            reverse: self.reverse.clone(),
        }
    }
}

/// One TCP connection, or `count` alike.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// The name; with `count` above 1 the flows are `name-1`, `name-2` ...
    pub name: String,
    /// How many alike.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: u32,
    /// The sender: a growth law and what differs from its default parts, as in `newreno+iw10`.
    pub variant: Variant,
    /// Whose habits supply what is not said.
    #[serde(default)]
    pub profile: Profile,
    /// Settings of the connection that differ from the profile's.
    #[serde(default, skip_serializing_if = "TcpSpec::is_default")]
    pub tcp: TcpSpec,
    /// Whose the ends are in a live run. A simulation has our own always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<EndpointSpec>,
    /// What the ends speak in a live run. A simulation's packets are those of IPv4 always, 20 bytes
    /// shorter than those of IPv6.
    #[serde(default, skip_serializing_if = "NetworkSpec::is_ipv4")]
    pub network: NetworkSpec,
    /// What asks for data.
    #[serde(default)]
    pub app: Application,
    /// When the connection opens.
    #[serde(default)]
    pub start: DurationDraw,
    /// The time between the starts of one flow of `count` and the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stagger: Option<Duration>,
    /// The node of the sender; only in a graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The node of the receiver; only in a graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_one(count: &u32) -> bool {
    *count == 1
}

/// Packets that no end point controls, entering at a link's queue and leaving at the link's end.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CrossTraffic {
    /// The name; default `cross-1`, `cross-2` ... in the order of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The link it enters at.
    pub link: String,
    /// The direction in which it crosses the link.
    #[serde(default)]
    pub direction: Direction,
    /// When packets come.
    pub kind: CrossKind,
    /// How many come.
    pub rate: PacketRate,
    /// Their size on the wire.
    pub size: Bytes,
    /// The first packet of a periodic source comes this fraction of a period after `start`; drawn
    /// from the source's random stream when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<f64>,
    /// When it begins.
    #[serde(default = "zero", skip_serializing_if = "is_zero_duration")]
    pub start: Duration,
    /// When it ends; default: with the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

const fn zero() -> Duration {
    Duration::ZERO
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero_duration(value: &Duration) -> bool {
    *value == Duration::ZERO
}

/// When the packets of a cross-traffic source come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CrossKind {
    /// At equal intervals.
    Periodic,
    /// As a Poisson process.
    Poisson,
}

/// A direction across a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the link's `from` to its `to`; on a dumbbell from the senders to the receivers.
    #[default]
    Forward,
    /// The way back.
    Reverse,
}

impl Direction {
    /// The word used in files and tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
        }
    }
}

/// A window of time over which flows and links are measured.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// The name, a column of the results.
    pub name: String,
    /// When it begins: a moment of the run, or each flow's own event, as in `{ after = "resume" }`. In
    /// the second case every flow has a window of its own, and a flow without the event no row; links
    /// and sources are measured from the first flow's beginning to the last one's end.
    pub from: EventTime,
    /// How long it lasts, in time or in the flow's base round trips (`"5 RTT"`); default: to the end of
    /// the run.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub lasts: Option<Span>,
    /// The flow, by its name (with `count` above 1: all of that name, or one as `name-2`); default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// Links at which the packets of each flow are counted over the flow's own window: the table
    /// `crossings`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crossings: Vec<String>,
}

/// Something recorded over time, of one flow or one link.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// The flow, by its name (with `count` above 1: all of that name, or one as `name-2`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// The link, by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The direction across the link.
    #[serde(default)]
    pub direction: Direction,
    /// Which values: `cwnd`, `ssthresh`, `srtt`, `in_flight` of a flow, `queue` of a link; the
    /// columns of the others stay null. Default: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub what: Vec<What>,
    /// How often: `"change"` (of a flow, whenever one of the values does; of a link, whenever a packet
    /// comes to it), or an interval such as `"10 ms"`.
    pub every: Every,
    /// When recording begins.
    #[serde(default = "zero", skip_serializing_if = "is_zero_duration")]
    pub from: Duration,
    /// When it ends; default: with the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Duration>,
}

/// A value that a probe records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// The congestion window of a flow.
    Cwnd,
    /// The slow-start threshold of a flow.
    Ssthresh,
    /// The smoothed round-trip time of a flow.
    Srtt,
    /// The data of a flow that was sent and not acknowledged.
    InFlight,
    /// The play time that the player of a video holds; only if it is named.
    Playout,
    /// The queue of a link, and its counters.
    Queue,
}

/// How often a probe records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// Whenever one of the values changes.
    Change,
    /// At fixed intervals.
    Interval(Duration),
}

impl Flow {
    /// The settings of this flow's connections.
    ///
    /// # Errors
    /// One line saying which choices do not go together.
    pub fn config(&self) -> Result<Config, String> {
        let config = config(&self.variant, self.profile, &self.tcp)?;
        asking(config, self.app.asks().is_some())
    }
}

/// The same where an application may ask the routers for a rate: both ends answer.
fn asking(mut config: Config, asks: bool) -> Result<Config, String> {
    if asks {
        if let Some(why) = config.parts.owns_jump() {
            return Err(format!("{why}; expected another variant with `app.quick_start`"));
        }
        config.quick_start.answers = true;
    }
    Ok(config)
}

/// The settings of the connections of a sender.
fn config(variant: &Variant, profile: Profile, tcp: &TcpSpec) -> Result<Config, String> {
    let mut parts = variant.resolve(profile).map_err(|e| e.to_string())?;
    if let Some(segments) = tcp.initial_window {
        parts.window = ackclock_tcp::WindowChoice::Segments(segments);
    }
    Ok(tcp.config(Config::new(parts, profile)))
}
