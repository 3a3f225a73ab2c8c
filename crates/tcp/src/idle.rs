//! What the window is worth after silence, or after not being used.

mod linux;
mod rfc5681;

use std::fmt::Debug;

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant, Mss};

use crate::event::{Ack, Limit, Proposal};

pub use linux::LinuxIdle;
pub use rfc5681::Rfc5681;

/// An idle rule, as a name spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleChoice {
    /// RFC 5681's restart window.
    Rfc5681,
    /// Linux's.
    Linux {
        /// Whether silence costs window (`tcp_slow_start_after_idle`).
        restart: bool,
    },
    /// None.
    NoIdle,
}

/// How a sender uses its window.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// When.
    pub now: Instant,
    /// When a segment of data was last sent; `None` before the first.
    pub last_send: Option<Instant>,
    /// The retransmission timeout.
    pub rto: Duration,
    /// The congestion window.
    pub cwnd: Bytes,
    /// The slow-start threshold.
    pub ssthresh: Option<Bytes>,
    /// Whether the window is in slow start.
    pub in_slow_start: bool,
    /// Data believed to be in the network.
    pub in_flight: Bytes,
    /// Data sent and not acknowledged cumulatively.
    pub outstanding: Bytes,
    /// SND.UNA.
    pub una: Seq,
    /// SND.NXT.
    pub nxt: Seq,
    /// What keeps the sender from sending more.
    pub limited_by: Limit,
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

    /// Whether [`after_burst`](Self::after_burst) is to be asked.
    fn looks_after_bursts(&self) -> bool {
        false
    }

    /// The window to propose when nothing more goes out for now, if it is to change.
    fn after_burst(&mut self, _: &Usage) -> Option<Proposal> {
        None
    }

    /// Whether the window `cwnd` may grow on this ACK. Standard TCP lets it grow even when it was
    /// not full.
    fn may_grow(&self, _: &Ack, _cwnd: Bytes, _in_slow_start: bool) -> bool {
        true
    }
}

/// The window keeps its worth.
#[derive(Clone, Copy, Debug)]
pub struct NoIdle;

impl Idle for NoIdle {
    fn before_send(&mut self, _: &Usage) -> Option<Proposal> {
        None
    }
}

/// The rules of the registry, and any other behind an indirect call.
#[derive(Debug)]
pub enum AnyIdle {
    /// RFC 5681's.
    Rfc5681(Rfc5681),
    /// Linux's.
    Linux(LinuxIdle),
    /// None.
    NoIdle(NoIdle),
    /// A user's own.
    Other(Box<dyn Idle>),
}

impl AnyIdle {
    /// The rule that `choice` names.
    pub fn new(choice: IdleChoice) -> Self {
        match choice {
            IdleChoice::Rfc5681 => Self::Rfc5681(Rfc5681),
            IdleChoice::Linux { restart } => Self::Linux(LinuxIdle::new(restart)),
            IdleChoice::NoIdle => Self::NoIdle(NoIdle),
        }
    }
}

macro_rules! each {
    ($self:ident, $rule:ident => $call:expr) => {
        match $self {
            AnyIdle::Rfc5681($rule) => $call,
            AnyIdle::Linux($rule) => $call,
            AnyIdle::NoIdle($rule) => $call,
            AnyIdle::Other($rule) => $call,
        }
    };
}

impl Idle for AnyIdle {
    #[inline]
    fn before_send(&mut self, usage: &Usage) -> Option<Proposal> {
        each!(self, rule => rule.before_send(usage))
    }

    #[inline]
    fn looks_after_bursts(&self) -> bool {
        each!(self, rule => rule.looks_after_bursts())
    }

    fn after_burst(&mut self, usage: &Usage) -> Option<Proposal> {
        each!(self, rule => rule.after_burst(usage))
    }

    #[inline]
    fn may_grow(&self, ack: &Ack, cwnd: Bytes, in_slow_start: bool) -> bool {
        each!(self, rule => rule.may_grow(ack, cwnd, in_slow_start))
    }
}

#[cfg(test)]
mod tests;
