//! A scenario: everything a run needs, as data.
//!
//! The same definition is read from TOML, from JSON and from Python, and its JSON schema is
//! generated from these types. Quantities are text with a unit ("10 Mbit/s"); unknown keys are
//! refused by name.

mod browser;
mod change;
mod endpoint;
mod left_out;
mod link;
mod outage;
mod program;
mod text;
mod traffic;

use ackclock_net::Dscp;
use ackclock_tcp::{Config, Profile, TcpSpec, Variant};
use ackclock_units::{Bytes, Duration, PacketRate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use ackclock_app::Application;
pub use ackclock_app::application::{ProgramConfig, Side, VideoConfig, fill};
pub use ackclock_units::written::{
    Draw, DurationDraw, ExponentialDraw, Lognormal, LognormalDraw, ParetoDraw, Quantile,
    QuantilesDraw, Quantity, Scaled, UniformDraw, ValuesDraw, WeibullDraw,
};
pub use browser::{BrowserHttp, BrowserSpec, SurgeConstants, SurgeSizes};
pub use change::{After, EventTime, FlowEvent, LinkChange, PathEvent, QueueChange, Span};
pub use endpoint::{EndpointSpec, NetworkSpec};
pub use link::{Direction, GraphLink, LinkSpec, PathSpec, ReverseSpec, Topology};
pub use outage::OutageSpec;
pub use program::programs_asked;
pub use traffic::{
    AccessLine, AccessSpec, ArrivalsSpec, Closes, DumbbellSide, LineLaws, Traffic, TrafficApp,
    UtilisationFull, UtilisationSpec, VariantChoice, VariantFeedback, VariantShare,
};

use endpoint::config;
use left_out::{is_default, is_one, one};

/// A run, as data: topology, flows, cross-traffic, what to measure, a seed.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The title, in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The time that is simulated.
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
    /// The probes, which record over time.
    #[serde(default, rename = "probe", skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<Probe>,
    /// The kernel of a run on Linux in virtual time that nobody names another one for: a version such as `7.2`, or
    /// `7.2, hz 1000`. Other runs do not read it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub linux: String,
}

const fn default_seed() -> u64 {
    1
}

/// One TCP connection, or `count` alike.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// The name; with `count` above 1 the flows are `name-1`, `name-2` ... Default: `flow-1`, `flow-2` ... in the order of
    /// the file.
    #[serde(default)]
    pub name: String,
    /// The number of flows of this kind.
    #[serde(default = "one::<u32>", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub count: u32,
    /// The sender: a growth law and what differs from its default parts, as in `newreno+iw10`.
    pub variant: Variant,
    /// The profile that supplies what is not said.
    #[serde(default)]
    pub profile: Profile,
    /// Settings of the connection that differ from the profile's.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tcp: TcpSpec,
    /// The kind of end point in a live run; default: the kernel's. A simulation has our own always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<EndpointSpec>,
    /// The network protocol in a live run. A simulation's packets are those of IPv4 always, 20 bytes shorter than
    /// those of IPv6.
    #[serde(default, skip_serializing_if = "is_default")]
    pub network: NetworkSpec,
    /// The application, which asks for data.
    #[serde(default)]
    pub app: Application,
    /// When the connection opens.
    #[serde(default)]
    pub start: DurationDraw,
    /// The time between the starts of one flow of `count` and the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stagger: Option<Duration>,
    /// The DSCP of its packets, both ways, for disciplines that sort by it; default: CS0. It changes nothing else, and in a
    /// live run packets do not carry it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
    /// The node of the sender; only in a graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The node of the receiver; only in a graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
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
    /// The rate of arrivals.
    pub rate: PacketRate,
    /// Their size on the wire.
    pub size: Bytes,
    /// The first packet of a periodic source comes this fraction of a period after `start`; drawn
    /// from the source's random stream when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<f64>,
    /// The DSCP of its packets, for disciplines that sort by it; default: CS0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
    /// When it begins.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start: Duration,
    /// When it ends; default: with the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
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
    /// The length of the window, in time or in the flow's base round trips (`"5 RTT"`); default: to the end of the
    /// run.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub lasts: Option<Span>,
    /// The flow, by its name (with `count` above 1: all of that name, or one as `name-2`); default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// Links at which the packets of each flow are counted over the flow's own window: the table
    /// `crossings`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crossings: Vec<String>,
    /// True if the ACKs that reach each sender are counted, in all windows: columns of `flows`. They are without this
    /// where a link has `aggregation` or `ack_thinning`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub acks: bool,
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
    /// The time between samples, such as `"10 ms"`, or `"change"`: of a flow, whenever one of the values changes; of
    /// a link, whenever a packet comes to it.
    pub every: Every,
    /// When recording begins.
    #[serde(default, skip_serializing_if = "is_default")]
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
    /// The variables that the law of a flow publishes, in the table `law_samples`; only if it is named.
    Law,
    /// The queue of a link, and its counters.
    Queue,
}

/// The time between two records of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// Whenever one of the values changes.
    Change,
    /// At fixed intervals.
    Interval(Duration),
}

impl Scenario {
    /// Reads a scenario from JSON. What a derived reader becomes is large: each crate that calls `serde_json` itself
    /// compiles it once more.
    ///
    /// # Errors
    /// The first key that is unknown, is missing or has no such value.
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }
}

impl Flow {
    /// The settings of this flow's connections.
    ///
    /// # Errors
    /// One line saying which choices do not go together.
    pub fn config(&self) -> Result<Config, String> {
        config(&self.variant, self.profile, &self.tcp, self.app.asks().is_some())
    }
}
