//! The contract of a start, and of a slow-start law.

use std::fmt::Debug;

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant};

use crate::event::{Ack, Handshake, Proposal, SlowStartStep};
use crate::words::Described;

/// A slow-start law: it says by how much the window grows on an ACK, and when slow start ends
/// although nothing was lost.
pub trait SlowStart: Debug + Send {
    /// An ACK of new data during slow start, with the window `cwnd` and the threshold `ssthresh`. If
    /// the idle rule lets the window not grow on it, only [`SlowStartStep::exit`] counts.
    fn on_ack(&mut self, ack: &Ack, cwnd: Bytes, ssthresh: Option<Bytes>) -> SlowStartStep;

    /// True if [`on_sample`](Self::on_sample) does anything. Never changes.
    fn follows_samples(&self) -> bool {
        false
    }

    /// In the states of Linux: an ACK during slow start, new or duplicate, that measured the round-trip time, before
    /// anything else comes of it. `least` is the smallest delay that the growth law knows, if it knows one. Answers whether
    /// slow start ends.
    fn on_sample(
        &mut self,
        _: &Ack,
        _least: Option<Duration>,
        _cwnd: Bytes,
        _: Option<Bytes>,
    ) -> bool {
        false
    }

    /// In the states of Linux: the retransmission timer expired, when SND.NXT was `nxt`.
    fn on_timeout(&mut self, _now: Instant, _nxt: Seq) {}
}

/// The beginning of data: the second of a sender's four choices.
pub trait Start: Debug + Send {
    /// The window to propose now that the handshake is done.
    fn on_established(&mut self, handshake: &Handshake) -> Proposal;

    /// An ACK of new data during slow start, with the window `cwnd` and the threshold `ssthresh`. If
    /// the idle rule lets the window not grow on it, only [`SlowStartStep::exit`] counts.
    fn on_ack(&mut self, ack: &Ack, cwnd: Bytes, ssthresh: Option<Bytes>) -> SlowStartStep;

    /// See [`SlowStart::follows_samples`].
    fn follows_samples(&self) -> bool {
        false
    }

    /// See [`SlowStart::on_sample`].
    fn on_sample(
        &mut self,
        _: &Ack,
        _least: Option<Duration>,
        _cwnd: Bytes,
        _: Option<Bytes>,
    ) -> bool {
        false
    }

    /// See [`SlowStart::on_timeout`].
    fn on_timeout(&mut self, _now: Instant, _nxt: Seq) {}
}

/// A slow-start law that names can choose.
pub trait Law: SlowStart + Described {
    /// The law, before the first ACK.
    fn make(settings: Self::Settings) -> Self;

    /// The parameter of a Linux module that switches it off; empty if there is none.
    const SWITCH: &'static str = "";

    /// True if the window grows by a segment an ACK, however much that acknowledges.
    const COUNTS_ACKS: bool = false;

    /// True if slow start may end before anything is lost.
    const LEAVES_EARLY: bool = false;
}
