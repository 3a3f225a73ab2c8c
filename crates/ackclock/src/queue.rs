//! Queueing disciplines: their trait, and what a queue is told of packets.
//!
//! A queue is watched: one that gives away a packet twice, or none while packets wait, ends the run.

pub use ackclock_net::queue::{Admission, Log, Queueing, Reason, Room, Waiting};
pub use ackclock_net::{Packet, PacketId};
pub use ackclock_units::random::Stream;
