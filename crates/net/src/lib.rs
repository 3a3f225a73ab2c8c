//! What lies between end points: queues, links, loss, delay, reordering, duplicates, flipped bits.
//!
//! A [`Link`] is told the time and never asks for it. It holds packets by their [`PacketId`] alone,
//! so that the same link carries simulated segments, cross-traffic and, one day, real bytes.

mod channel;
mod counters;
mod delay;
mod feedback;
mod impairments;
mod line;
mod link;
mod loss;
mod packet;
mod queue;
mod quick_start;
mod serializer;

pub use channel::{Cellular, Channel, Opportunities, RateSeries, Wifi, WifiConfig};
pub use counters::{Counters, SourceCounters, Volume};
pub use delay::DelayHistogram;
pub use feedback::{FeedbackRouter, Load, RcpConfig, RcpRouter, XcpConfig, XcpRouter};
pub use impairments::{Arrival, Fate, ImpairmentConfig, Impairments, Reorder};
pub use line::{Line, LineConfig, Passage};
pub use link::{Departure, Link, LinkConfig, Verdict};
pub use loss::Loss;
pub use packet::{Packet, PacketId, PacketKind};
pub use queue::{
    Classes, CoDelConfig, DelayEstimate, Discipline, Effect, FqCoDelConfig, PieConfig, QueueLimit,
    QueueUnit, Reason, RedConfig,
};
pub use quick_start::{Behaviour, Decision, Denial, QuickStartConfig, QuickStartRouter};
pub use serializer::Serializer;
