//! The contract of an idle rule.

use std::fmt::Debug;

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant, Mss};

use crate::event::{Ack, Limit, Proposal};
use crate::words::Described;

/// The use that a sender makes of its window.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// When.
    pub now: Instant,
    /// When a segment of data was last sent; `None` before the first.
    pub last_send: Option<Instant>,
    /// When an ACK last left nothing outstanding; `None` before the first.
    pub all_acked_at: Option<Instant>,
    /// The retransmission timeout.
    pub rto: Duration,
    /// The timeout without its minimum.
    pub unclamped_rto: Duration,
    /// The smoothed round-trip time, once there is one.
    pub srtt: Option<Duration>,
    /// The congestion window.
    pub cwnd: Bytes,
    /// The slow-start threshold.
    pub ssthresh: Option<Bytes>,
    /// True if the window is in slow start.
    pub in_slow_start: bool,
    /// Data believed to be in the network.
    pub in_flight: Bytes,
    /// Data sent and not acknowledged cumulatively.
    pub outstanding: Bytes,
    /// SND.UNA.
    pub una: Seq,
    /// SND.NXT.
    pub nxt: Seq,
    /// The limit that keeps the sender from sending more.
    pub limited_by: Limit,
    /// The receiver's window.
    pub peer_window: Bytes,
    /// No loss is being repaired.
    pub undisturbed: bool,
    /// The first window of the connection.
    pub initial_window: Bytes,
    /// Payload bytes of a full segment.
    pub mss: Mss,
}

/// An idle rule.
pub trait Idle: Debug + Send {
    /// The window to propose before a segment of new data goes out while nothing is in flight, if
    /// it is to change.
    fn before_send(&mut self, usage: &Usage) -> Option<Proposal>;

    /// True if [`before_send`](Self::before_send) has nothing to say; `unused` says that no data ever went out, nor was
    /// acknowledged.
    fn says_nothing(&self, _unused: bool) -> bool {
        false
    }

    /// True if the rule learns from ACKs, or keeps the window from growing by them. Never changes.
    fn wants_acks(&self) -> bool {
        true
    }

    /// True if [`after_burst`](Self::after_burst) is to be asked.
    fn looks_after_bursts(&self) -> bool {
        false
    }

    /// The window to propose when nothing more goes out for now, if it is to change.
    fn after_burst(&mut self, _: &Usage) -> Option<Proposal> {
        None
    }

    /// True if the window `cwnd` may grow on this ACK. Standard TCP lets it grow even when it was
    /// not full.
    fn may_grow(&mut self, _: &Ack, _cwnd: Bytes, _in_slow_start: bool) -> bool {
        true
    }

    /// A loss or a mark was noticed, and no timeout: the volume that the reduction is to start from,
    /// at most the window, if it is another than usual. The window is brought down to it before.
    fn on_loss(&mut self, _: &Usage) -> Option<Bytes> {
        None
    }

    /// All is repaired, with `again` bytes sent again, after the loss had reduced the window to
    /// `reduced_to`: the most that the window is to be now, if the rule says so.
    fn after_repair(&mut self, _reduced_to: Bytes, _again: Bytes) -> Option<Bytes> {
        None
    }
}

/// An idle rule that names can choose.
pub trait Rule: Idle + Described {
    /// The rule.
    fn make(settings: Self::Settings) -> Self;

    /// The words of the rule by which silence costs nothing, where that is switched off
    /// (`tcp_slow_start_after_idle=0`).
    const WITHOUT_RESTART: &'static str = "noidle";
}
