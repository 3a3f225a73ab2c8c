//! What the window is worth after silence, or after not being used.

mod rfc5681;

use std::fmt::Debug;

use ackclock_units::{Bytes, Duration, Instant, Mss};

use crate::event::{Ack, Proposal};

pub use rfc5681::Rfc5681;

/// An idle rule, as a name spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleChoice {
    /// RFC 5681's restart window.
    Rfc5681,
    /// None.
    NoIdle,
}

/// The sender as an idle rule sees it just before a segment of new data goes out.
#[derive(Clone, Copy, Debug)]
pub struct BeforeSend {
    /// When.
    pub now: Instant,
    /// When a segment of data was last sent; `None` before the first.
    pub last_send: Option<Instant>,
    /// The retransmission timeout.
    pub rto: Duration,
    /// The congestion window.
    pub cwnd: Bytes,
    /// The first window of the connection.
    pub initial_window: Bytes,
    /// Payload bytes of a full segment.
    pub mss: Mss,
}

/// An idle rule.
pub trait Idle: Debug + Send {
    /// The window to propose before a segment of new data goes out, if it is to change.
    fn before_send(&mut self, send: &BeforeSend) -> Option<Proposal>;

    /// Whether the window may grow on this ACK. Standard TCP lets it grow even when it was not
    /// full.
    fn may_grow(&self, _: &Ack) -> bool {
        true
    }
}

/// The window keeps its worth.
#[derive(Clone, Copy, Debug)]
pub struct NoIdle;

impl Idle for NoIdle {
    fn before_send(&mut self, _: &BeforeSend) -> Option<Proposal> {
        None
    }
}

/// The rules of the registry, and any other behind an indirect call.
#[derive(Debug)]
pub enum AnyIdle {
    /// RFC 5681's.
    Rfc5681(Rfc5681),
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
            IdleChoice::NoIdle => Self::NoIdle(NoIdle),
        }
    }
}

impl Idle for AnyIdle {
    #[inline]
    fn before_send(&mut self, send: &BeforeSend) -> Option<Proposal> {
        match self {
            Self::Rfc5681(rule) => rule.before_send(send),
            Self::NoIdle(rule) => rule.before_send(send),
            Self::Other(rule) => rule.before_send(send),
        }
    }

    #[inline]
    fn may_grow(&self, ack: &Ack) -> bool {
        match self {
            Self::Rfc5681(rule) => rule.may_grow(ack),
            Self::NoIdle(rule) => rule.may_grow(ack),
            Self::Other(rule) => rule.may_grow(ack),
        }
    }
}
