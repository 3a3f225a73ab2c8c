//! End points of your own: a transport that is told the time and handed datagrams, such as a QUIC stack.

pub use ackclock_packet::Ecn;
pub use ackclock_sim::{DATAGRAM_HEADERS, Datagram, FlowSetup, Transport, TransportState};
