//! The opening of a connection: LISTEN, SYN-SENT, SYN-RECEIVED, and what the handshake agrees on.

mod handshake;

use ackclock_packet::Options;
use ackclock_units::{Duration, Instant};

use super::fast_open::Fast;
use crate::config::Config;
use crate::rtt::RttEstimator;

/// The counts of the segments that open a connection, sent by an end and repeated by its peer. A SYN-ACK that went out
/// twice to an end that sent one SYN was lost, or its answer was; a SYN that went out twice to an
/// end that saw it once was lost itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpeningCounts {
    /// SYNs sent.
    pub syns: u32,
    /// SYN-ACKs sent.
    pub syn_acks: u32,
    /// SYNs of the peer beyond the first, while the SYN-ACK was not acknowledged.
    pub repeated_syns: u32,
}

/// The handshake's own state.
#[derive(Debug)]
pub(super) struct Opening {
    /// The peer's SYN carried timestamps.
    pub(super) peer_timestamps: bool,
    /// A SYN or SYN-ACK is to be sent.
    pub(super) send_syn: bool,
    /// Transmissions of the SYN or SYN-ACK.
    syns_sent: u32,
    /// Transmissions among these as a SYN-ACK.
    syn_acks_sent: u32,
    /// Expiries of the timer. Answers to the peer's repeated SYNs are not among them, and cost no retry: Linux
    /// counts as much (`reqsk_timer_handler`).
    timeouts: u32,
    /// Repetitions of the peer's SYN: the SYN-ACK was lost, or is late.
    repeated_syns: u32,
    syn_sent_at: Instant,
    pub(super) timer: Option<Instant>,
    rtt: RttEstimator,
    /// Bytes of text that came with the peer's SYN and wait for the end of the handshake.
    text: u32,
    /// The peer's options, once its SYN has arrived.
    peer: Option<Options>,
    passive: bool,
    pub(super) fast: Fast,
}

impl Opening {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            peer_timestamps: false,
            send_syn: false,
            syns_sent: 0,
            syn_acks_sent: 0,
            timeouts: 0,
            repeated_syns: 0,
            syn_sent_at: Instant::START,
            timer: None,
            rtt: RttEstimator::new(config.rto),
            text: 0,
            peer: None,
            passive: false,
            fast: Fast::default(),
        }
    }

    /// Begins anew as [`new`](Self::new) does, in the memory of this one.
    pub(super) fn reset(&mut self, config: &Config) {
        let Self {
            peer_timestamps,
            send_syn,
            syns_sent,
            syn_acks_sent,
            timeouts,
            repeated_syns,
            syn_sent_at,
            timer,
            rtt,
            text,
            peer,
            passive,
            fast,
        } = self;
        *peer_timestamps = false;
        *send_syn = false;
        *syns_sent = 0;
        *syn_acks_sent = 0;
        *timeouts = 0;
        *repeated_syns = 0;
        *syn_sent_at = Instant::START;
        *timer = None;
        *rtt = RttEstimator::new(config.rto);
        *text = 0;
        *peer = None;
        *passive = false;
        *fast = Fast::default();
    }

    /// The options of the peer's SYN.
    pub(super) const fn peer(&self) -> Option<&Options> {
        self.peer.as_ref()
    }

    /// The handshake is done; its round-trip time, unless something was sent again.
    pub(super) fn end(&mut self, now: Instant) -> Option<Duration> {
        self.timer = None;
        self.send_syn = false;
        (self.syns_sent == 1).then(|| now.since(self.syn_sent_at))
    }

    pub(super) const fn syns_sent(&self) -> u32 {
        self.syns_sent
    }
}

/// The first multiple of `tick` after `due`: Linux's timers never expire on a step that has begun.
const fn coarse(due: Instant, tick: Duration) -> Instant {
    match due.as_nanos().checked_div(tick.as_nanos()) {
        None => due,
        Some(steps) => Instant::from_nanos((steps + 1).saturating_mul(tick.as_nanos())),
    }
}
