//! The network between end points: queues, links, loss, delay, reordering, duplicates, flipped bits.
//!
//! A [`Link`] is told the time and never asks for it. It holds packets by their [`PacketId`] alone. A [`Path`] puts
//! links together, over any payload: simulated segments under the simulator's clock, real bytes under the real one.

mod ack;
mod agenda;
mod bucket;
mod check;
mod counters;
mod fate;
mod header;
mod limit;
mod line;
mod link;
mod packet;
pub mod parts;
pub mod path;
pub mod queue;
mod serializer;

pub use ack::Ack;
pub use agenda::Agenda;
pub use check::Refusal;
pub use counters::{Counters, SourceCounters, Volume};
pub use fate::Fate;
pub use header::{Dscp, Header};
pub use line::{AccessLine, AccessLineConfig, Passage};
pub use link::{Departure, Link, LinkChange, LinkConfig, LinkParts, Verdict};
pub use packet::{Packet, PacketId, PacketKind};
pub use parts::aggregation::{Aggregation, AggregationConfig};
pub use parts::channel::{Channel, ChannelConfig};
pub use parts::delay::DelayHistogram;
pub use parts::feedback::{FeedbackRouter, Load, RcpConfig, RcpRouter, XcpConfig, XcpRouter};
pub use parts::hazards::Hazards;
pub use parts::impairments::{Arrival, Corrupt, Duplicate, ImpairmentConfig, Impairments, Reorder};
pub use parts::jitter::{Jitter, JitterConfig};
pub use parts::loss::{BurstLoss, Loss, PeriodicLoss};
pub use parts::quick_start::{
    Behaviour, Decision, Denial, QuickStartAdmission, QuickStartConfig, QuickStartRouter,
    QuickStartRule, QuickStartSpec, QuickStartWord,
};
pub use parts::thinning::{AckThinning, Thinning};
pub use parts::{Install, Installed, Part};
pub use path::Path;
pub use queue::{Discipline, Effect, Limit, QueueLimit, QueueUnit, Serving};
pub use serializer::Serializer;
