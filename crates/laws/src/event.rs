//! The events of a sender, as its four choices are told them: one struct an event, fields with
//! units, so that a new algorithm never changes the signature of an old one.

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant, Mss};

/// The limit that kept the sender from sending more when the acknowledged data was in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The application had nothing more.
    Application,
    /// The congestion window was full.
    Cwnd,
    /// The receiver's window was full.
    ReceiveWindow,
    /// The next segment's time had not come, at a pacing rate of the law's own.
    Pacing,
}

/// The handshake is done.
#[derive(Clone, Copy, Debug)]
pub struct Handshake {
    /// Retransmissions of this end's SYN: zero on the end that was called.
    pub syn_retransmissions: u32,
    /// Retransmissions of its SYN-ACK: zero on the end that called, but for a
    /// simultaneous open.
    pub syn_ack_retransmissions: u32,
    /// True if timestamps show that the first of them was answered, only late: on a path whose
    /// round-trip time exceeds the timeout. False where there are no timestamps to tell.
    pub spurious: bool,
    /// The number of retransmissions that the settings forgive
    /// (`AfterLostSyn`); `None` leaves it to the rule.
    pub forgiven: Option<u32>,
    /// The largest window that the peer can advertise (RFC 7323 §2).
    pub largest_rwnd: Bytes,
    /// Payload bytes of a full segment, as agreed.
    pub mss: Mss,
}

impl Handshake {
    /// One without losses.
    pub const fn clean(mss: Mss) -> Self {
        Self {
            syn_retransmissions: 0,
            syn_ack_retransmissions: 0,
            spurious: false,
            forgiven: None,
            largest_rwnd: Bytes::new(65_535),
            mss,
        }
    }

    /// Retransmissions of this end's SYN or SYN-ACK.
    pub const fn retransmissions(&self) -> u32 {
        self.syn_retransmissions + self.syn_ack_retransmissions
    }
}

/// The facts that a growth law may want when the handshake is done.
#[derive(Clone, Copy, Debug)]
pub struct Established {
    /// The smoothed round-trip time, if the handshake measured one.
    pub srtt: Option<Duration>,
    /// The seed of the random choices that the law makes.
    pub seed: u64,
}

/// An ACK of new data.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Instant,
    /// Data that it acknowledges for the first time; zero if it only SACKs.
    pub newly_acked: Bytes,
    /// Data that it shows to have arrived for the first time (`DeliveredData` of RFC 9937 §6): without
    /// what was SACKed before, and with what it SACKs.
    pub newly_delivered: Bytes,
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
    /// The limit of the sender.
    pub limited_by: Limit,
    /// True if losses are being repaired.
    pub in_recovery: bool,
    /// True if the idle rule lets the window grow on it. False only for a law that is told of such ACKs too.
    pub may_grow: bool,
    /// True if segments are paced, at whatever rate.
    pub paced: bool,
    /// Payload bytes of a full segment.
    pub mss: Mss,
}

/// The timestamps of an ACK (RFC 7323 §3), as numbers of the two clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamps {
    /// `TSval`: the peer's clock when it sent the ACK.
    pub value: u32,
    /// `TSecr`: this end's clock when the segment that it answers was sent.
    pub echo: u32,
    /// This end's clock now.
    pub now: u32,
}

/// An ACK, new or duplicate, before anything comes of it but for the round-trip time: `pkts_acked` and `in_ack_event` of
/// Linux's modules.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// When it arrived.
    pub now: Instant,
    /// Data that it acknowledges for the first time, SACKed before or not.
    pub newly_acked: Bytes,
    /// Data that it shows to have arrived for the first time.
    pub newly_delivered: Bytes,
    /// SND.UNA after it, and the number after all that was sent.
    pub una: Seq,
    /// See [`una`](Self::una).
    pub nxt: Seq,
    /// The round-trip time that it measured, if it did.
    pub rtt: Option<Duration>,
    /// Data delivered since the newest segment that it acknowledges was sent, itself included; `None` if it acknowledges
    /// nothing.
    pub delivered_since_sent: Option<Bytes>,
    /// True if something is SACKed beyond SND.UNA.
    pub sacked: bool,
    /// True if it echoes a mark of congestion.
    pub echoed: bool,
    /// The state before it.
    pub state: CaState,
    /// Its timestamps, if both ends use them.
    pub stamps: Option<Stamps>,
    /// The random number that the law is to take in the place of one that it draws: a recorded trace has it.
    pub drawn: Option<u32>,
    /// Payload bytes of a full segment.
    pub mss: Mss,
}

/// The marks that an ACK of new data reports, for a law that measures how common they are.
#[derive(Clone, Copy, Debug)]
pub struct MarkReport {
    /// Data that counts. After RFC 8257 §3.3 step 1 it is what the ACK acknowledges for the first time: what was
    /// SACKed before counts, and what is only SACKed does not. In Linux it is what the ACK delivers
    /// ([`Ack::newly_delivered`]).
    pub counted: Bytes,
    /// The part of it that met congestion, by the ACK's ECN echo: all or nothing.
    pub marked: Bytes,
    /// SND.UNA after it.
    pub una: Seq,
    /// SND.NXT when it arrived: a round that begins now ends when more than this is acknowledged.
    pub nxt: Seq,
}

/// A round-trip time was measured, on an ACK of new data or on a duplicate, whether or not the window
/// may grow on it. The handshake's is not one.
#[derive(Clone, Copy, Debug)]
pub struct RttSample {
    /// When.
    pub now: Instant,
    /// The round-trip time.
    pub rtt: Duration,
}

/// Data goes out while nothing is outstanding.
#[derive(Clone, Copy, Debug)]
pub struct SendStart {
    /// When.
    pub now: Instant,
    /// When data was last sent; `None` the first time.
    pub last_send: Option<Instant>,
    /// SND.NXT before it.
    pub nxt: Seq,
    /// True if the application had nothing to send. Only of a law that models the path.
    pub app_limited: bool,
}

/// The state of a sender with regard to congestion, as Linux has it (`tcp_ca_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaState {
    /// Nothing is amiss.
    Open,
    /// Something was SACKed, and nothing found lost.
    Disorder,
    /// A mark has reduced the window.
    Cwr,
    /// Losses are being repaired.
    Recovery,
    /// A timeout is being repaired.
    Loss,
}

/// The sender's state is another one.
#[derive(Clone, Copy, Debug)]
pub struct StateChange {
    /// When.
    pub now: Instant,
    /// The state before.
    pub from: CaState,
    /// The state now.
    pub to: CaState,
    /// SND.UNA.
    pub una: Seq,
    /// SND.NXT.
    pub nxt: Seq,
}

/// The routers' word on a sender's rate, for a law that goes by that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Feedback {
    /// RCP: the rate at which payload may be sent.
    Rate {
        /// In bytes per second.
        bytes_per_s: f64,
    },
    /// XCP: by how much the throughput is to change.
    Throughput {
        /// Payload in bytes per second.
        delta: f64,
        /// The smoothed round-trip time.
        srtt: Duration,
    },
}

/// Why the window is to be reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A segment was found lost while ACKs kept coming.
    Loss,
    /// The peer echoed a mark of congestion (RFC 3168 §6.1.2): nothing is lost.
    Ecn {
        /// True if a mark is to cost less than a loss (RFC 8511).
        abe: bool,
    },
    /// The retransmission timer expired.
    Timeout {
        /// Timeouts in a row, this one included; at least two where the window was already reduced for the same data
        /// (Linux: a timeout in Recovery or CWR).
        consecutive: u32,
    },
}

/// The network is congested: once an episode, and once more for each timeout.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// When it was noticed.
    pub now: Instant,
    /// The kind of congestion.
    pub signal: Signal,
    /// The volume that the reduction starts from, as the idle rule and the settings have it: data in
    /// flight, the window, or what of it was used.
    pub reduce_from: Bytes,
    /// Payload bytes of a full segment.
    pub mss: Mss,
}

/// All that was lost in an episode is repaired; in Linux also: the data that a mark reduced the window for is acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryEnd {
    /// When.
    pub now: Instant,
    /// Data in flight.
    pub in_flight: Bytes,
    /// The data that the ACK which ended the repair delivered ([`Ack::newly_delivered`]).
    pub newly_delivered: Bytes,
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
    /// A jump past slow start, or its end.
    Jump,
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

/// The slow-start law's answer to one ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowStartStep {
    /// By how much the window grows.
    pub increase: Bytes,
    /// True if slow start ends here although nothing was lost.
    pub exit: bool,
    /// The data that the ACK delivered beyond the increase, where slow start ends with it: congestion
    /// avoidance may count it. Zero from laws that let an ACK that ends slow start count once.
    pub left_over: Bytes,
}

impl SlowStartStep {
    /// The window grows by `increase`, and nothing else.
    pub const fn grow(increase: Bytes) -> Self {
        Self { increase, exit: false, left_over: Bytes::ZERO }
    }
}

/// The delivery rate of the path, from the segment sent last among those that an ACK delivered, by
/// draft-ietf-ccwg-bbr-06 §4.1.2.
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// Data delivered in the interval.
    pub delivered: Bytes,
    /// The time that this took; `None` if it seems to have taken less than the least round-trip time, so
    /// that the sample is of no use.
    pub interval: Option<Duration>,
    /// Data that had been delivered when the segment was sent.
    pub prior_delivered: Bytes,
    /// True if the application limited what could be delivered.
    pub is_app_limited: bool,
    /// Data in flight when the segment was sent, itself included.
    pub tx_in_flight: Bytes,
    /// Data found lost since the segment was sent.
    pub lost: Bytes,
}

impl RateSample {
    /// The rate, in bytes per second; zero if the sample is of no use.
    pub fn rate(&self) -> f64 {
        self.interval.map_or(0.0, |interval| self.delivered.as_f64() / interval.as_secs_f64())
    }
}

/// The repair under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Nothing.
    None,
    /// Losses that were found while ACKs kept coming.
    Recovery,
    /// All that was in flight when the retransmission timer expired.
    AfterTimeout,
}

/// An ACK, new or duplicate, in recovery or not, as a law that models the path sees it.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// When it arrived.
    pub now: Instant,
    /// Data that it acknowledges or SACKs for the first time.
    pub newly_delivered: Bytes,
    /// Data found lost by it.
    pub newly_lost: Bytes,
    /// Data delivered since the connection began.
    pub delivered: Bytes,
    /// Data found lost since the connection began; lost twice, counted twice.
    pub lost: Bytes,
    /// The rate sample, if it delivered a segment.
    pub sample: Option<RateSample>,
    /// The round-trip time of the segment sent last among those that it delivered and that were
    /// sent once.
    pub rtt: Option<Duration>,
    /// True if the receiver may have kept the ACK back.
    pub maybe_delayed: bool,
    /// The smoothed round-trip time, once there is one.
    pub srtt: Option<Duration>,
    /// Data in flight before the ACK.
    pub in_flight_before: Bytes,
    /// Data in flight after it.
    pub in_flight: Bytes,
    /// True if the window was in full use at some moment of the last round trip.
    pub is_cwnd_limited: bool,
    /// The repair under way after it.
    pub repair: Repair,
    /// True if the receiver says which segments arrived (SACK).
    pub selective: bool,
    /// Payload bytes of a full segment.
    pub mss: Mss,
}

/// A segment was found lost.
#[derive(Clone, Copy, Debug)]
pub struct LostSegment {
    /// When that was found.
    pub now: Instant,
    /// Its first number.
    pub start: Seq,
    /// The number after it.
    pub end: Seq,
    /// Data in flight when it was sent, itself included.
    pub tx_in_flight: Bytes,
    /// Data found lost since it was sent, itself included.
    pub lost: Bytes,
    /// Data delivered since the connection began.
    pub delivered: Bytes,
    /// True if the application limited the sender when it was sent.
    pub is_app_limited: bool,
}
