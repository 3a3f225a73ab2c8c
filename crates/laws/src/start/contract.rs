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

    /// True if the law has a word on the window during the first repair ([`in_repair`](Self::in_repair)).
    fn follows_repair(&self) -> bool {
        false
    }

    /// An ACK of a repair that began with the growth law's reduction to `reduced_to`: it delivers so much, and so much was
    /// found lost since. The window to propose, if any.
    fn in_repair(&mut self, _reduced_to: Bytes, _delivered: Bytes, _lost: Bytes) -> Option<Bytes> {
        None
    }

    /// All is repaired: the window, and with it the threshold, to propose, if any.
    fn after_repair(&mut self) -> Option<Bytes> {
        None
    }
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

    /// See [`SlowStart::follows_repair`].
    fn follows_repair(&self) -> bool {
        false
    }

    /// See [`SlowStart::in_repair`].
    fn in_repair(&mut self, _reduced_to: Bytes, _delivered: Bytes, _lost: Bytes) -> Option<Bytes> {
        None
    }

    /// See [`SlowStart::after_repair`].
    fn after_repair(&mut self) -> Option<Bytes> {
        None
    }
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

    /// True if an ACK may add more than what it acknowledges.
    const OUTGROWS_ACKS: bool = false;

    /// The most between two ACKs of a train whose length may end slow start; `None` if no train does.
    const TRAIN_GAP: Option<Duration> = None;
}
