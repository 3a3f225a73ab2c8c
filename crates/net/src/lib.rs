//! The network between end points: queues, links, loss, delay, reordering, duplicates, flipped bits.
//!
//! A [`Link`] is told the time and never asks for it. It holds packets by their [`PacketId`] alone. A [`Path`] puts
//! links together, over any payload: simulated segments under the simulator's clock, real bytes under the real one.

mod ack;
mod agenda;
mod aggregation;
mod bucket;
mod channel;
mod check;
mod counters;
mod delay;
mod feedback;
mod hazards;
mod header;
mod impairments;
mod jitter;
mod line;
mod link;
mod loss;
mod packet;
pub mod path;
pub mod queue;
mod quick_start;
mod serializer;
mod thinning;

pub use ack::Ack;
pub use agenda::Agenda;
pub use aggregation::{Aggregation, AggregationConfig};
pub use channel::{Channel, ChannelConfig};
pub use check::Refusal;
pub use counters::{Counters, SourceCounters, Volume};
pub use delay::DelayHistogram;
pub use feedback::{FeedbackRouter, Load, RcpConfig, RcpRouter, XcpConfig, XcpRouter};
pub use hazards::Hazards;
pub use header::{Dscp, Header};
pub use impairments::{Arrival, Fate, ImpairmentConfig, Impairments, Reorder};
pub use jitter::{Jitter, JitterConfig};
pub use line::{AccessLine, AccessLineConfig, Passage};
pub use link::{Departure, Link, LinkChange, LinkConfig, LinkParts, Verdict};
pub use loss::{BurstLoss, Loss, PeriodicLoss};
pub use packet::{Packet, PacketId, PacketKind};
pub use path::Path;
pub use queue::{Discipline, Effect, Limit, QueueLimit, QueueUnit, Serving};
pub use quick_start::{
    Behaviour, Decision, Denial, QuickStartAdmission, QuickStartConfig, QuickStartRouter,
    QuickStartRule, QuickStartSpec, QuickStartWord,
};
pub use serializer::Serializer;
pub use thinning::{AckThinning, Thinning};
