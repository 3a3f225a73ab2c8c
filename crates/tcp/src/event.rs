//! What happens to a sender, as its four choices are told it: one struct an event, fields with
//! units, so that a new algorithm never changes the signature of an old one.

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant, Mss};

/// What kept the sender from sending more when the acknowledged data was in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The application had nothing more.
    Application,
    /// The congestion window was full.
    Cwnd,
    /// The receiver's window was full.
    ReceiveWindow,
}

/// The handshake is done.
#[derive(Clone, Copy, Debug)]
pub struct Handshake {
    /// How often the SYN, or the SYN-ACK, had to be sent again, less what the settings forgive
    /// ([`AfterLostSyn`](crate::AfterLostSyn)).
    pub retransmissions: u32,
    /// Payload bytes of a full segment, as agreed.
    pub mss: Mss,
}

/// An ACK of new data.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Instant,
    /// Data that it acknowledges for the first time.
    pub newly_acked: Bytes,
    /// SND.UNA after it.
    pub una: Seq,
    /// SND.NXT when it arrived: a round that begins now ends when this is acknowledged.
    pub nxt: Seq,
    /// The round-trip time that it measured, if it did.
    pub rtt: Option<Duration>,
    /// The smoothed round-trip time, once there is one.
    pub srtt: Option<Duration>,
    /// Data in flight before the ACK.
    pub in_flight_before: Bytes,
    /// Data in flight after it.
    pub in_flight: Bytes,
    /// What limited the sender.
    pub limited_by: Limit,
    /// Whether losses are being repaired.
    pub in_recovery: bool,
    /// Payload bytes of a full segment.
    pub mss: Mss,
}

/// Why the window is to be reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A segment was found lost while ACKs kept coming.
    Loss,
    /// The peer echoed a mark of congestion (RFC 3168 §6.1.2): nothing is lost.
    Ecn {
        /// Whether a mark is to cost less than a loss (RFC 8511).
        abe: bool,
    },
    /// The retransmission timer expired.
    Timeout {
        /// How often in a row, this time included.
        consecutive: u32,
    },
}

/// The network is congested: once an episode, and once more for each timeout.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// When it was noticed.
    pub now: Instant,
    /// How.
    pub signal: Signal,
    /// The volume that the reduction starts from, as the idle rule and the settings have it: data in
    /// flight, the window, or what of it was used.
    pub reduce_from: Bytes,
    /// Payload bytes of a full segment.
    pub mss: Mss,
}

/// All that was lost in an episode is repaired.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryEnd {
    /// When.
    pub now: Instant,
    /// Data in flight.
    pub in_flight: Bytes,
    /// The most that recovery lets the window be, if it says so (RFC 6582 §3.2 step 3).
    pub at_most: Option<Bytes>,
    /// Payload bytes of a full segment.
    pub mss: Mss,
}

/// Why a start or idle rule proposes another window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The handshake is done.
    Established,
    /// Nothing was sent for a while.
    Idle,
}

/// A window that a start or idle rule proposes to the growth law, which owns it.
#[derive(Clone, Copy, Debug)]
pub struct Proposal {
    /// The congestion window, if it is to change.
    pub cwnd: Option<Bytes>,
    /// The slow-start threshold, if it is to change.
    pub ssthresh: Option<Bytes>,
    /// Payload bytes of a full segment.
    pub mss: Mss,
    /// Why.
    pub why: Why,
}

/// What the slow-start law says of one ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowStartStep {
    /// By how much the window grows.
    pub increase: Bytes,
    /// Whether slow start ends here although nothing was lost.
    pub exit: bool,
}
