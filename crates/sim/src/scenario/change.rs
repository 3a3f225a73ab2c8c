//! Changes of the path at a moment of the run.

use ackclock_app::Moment;
use ackclock_net::{JitterConfig, Limit, Loss};
use ackclock_units::{Duration, RateOrZero};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::left_out::{is_one, one};
use super::link::Direction;

/// A change of the path. What has left a link arrives as it was to: a shorter delay lets later packets
/// overtake it. What is left of the packet being sent is sent at the new rate, and so is what waits; what a smaller limit
/// has no room for is dropped from the tail. A flow's new route is for what its ends send from then on.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathEvent {
    /// When: a moment of the run, or the first flow's event, as in `{ after = "restore" }`.
    pub at: EventTime,
    /// The link that changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The direction in which it does; default: both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// The new values; keys that are left out stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<LinkChange>,
    /// The flow that takes another way; only in a graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// Its links from the sender to the receiver; the way back is the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
}

/// The keys of a link that change at a moment.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkChange {
    /// The rate; `"0 bit/s"` sends nothing until an event gives the link another. Not of a link with a `channel`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateOrZero>,
    /// The propagation delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// The queue's limit; the discipline stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueChange>,
    /// Which packets are lost after they were sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<Loss>,
    /// A delay that varies, of a link that had another one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<JitterConfig>,
}

/// The keys of a queue that change at a moment.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueChange {
    /// The most that waits. "1 BDP" is of the link as the event leaves it.
    pub limit: Limit,
}

/// When something happens.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, expecting = "expected a duration such as \"10 s\", or { after = \"resume\" }")]
pub enum EventTime {
    /// A time after the start of the run.
    At(Duration),
    /// At a flow's own event.
    After(After),
}

/// A flow's own event.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct After {
    /// The event: `idle`, `resume`, `limited` or `restore`.
    pub after: FlowEvent,
    /// Which of a flow's events of that name, from 1.
    #[serde(default = "one::<u64>", skip_serializing_if = "is_one")]
    pub number: u64,
}

/// An event in the life of a flow's application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlowEvent {
    /// It falls silent.
    Idle,
    /// The silence is over.
    Resume,
    /// It has less to send.
    Limited,
    /// It has as much to send as before.
    Restore,
}

impl FlowEvent {
    /// The moment in the application's life.
    pub const fn moment(self) -> Moment {
        match self {
            Self::Idle => Moment::Idle,
            Self::Resume => Moment::Resume,
            Self::Limited => Moment::Limited,
            Self::Restore => Moment::Restore,
        }
    }

    /// True if the application means this event.
    pub fn is(self, moment: Moment) -> bool {
        self.moment() == moment
    }
}

/// A span of time, in time or in round trips.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Span {
    /// A time.
    Time(Duration),
    /// A number of the flow's base round-trip times, the propagation delays of its way there and back at the start of
    /// the run.
    RoundTrips(f64),
}

impl Span {
    /// The span of a flow whose base round trip is `rtt`.
    pub fn of(self, rtt: Duration) -> Duration {
        match self {
            Self::Time(time) => time,
            Self::RoundTrips(n) => Duration::from_secs_f64(rtt.as_secs_f64() * n),
        }
    }
}
