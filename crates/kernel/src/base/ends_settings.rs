//! The settings of Quick-Start's end points in the kernel, and the steps that they tell: plain numbers.

use std::net::Ipv4Addr;

/// An end's part in Quick-Start. Rates are codes of RFC 4782 §3.1, 0 for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct EndSettings {
    /// The rate that it asks for.
    pub asks: u8,
    /// True if its SYN or SYN-ACK asks.
    pub at_setup: bool,
    /// True if the first data after silence asks.
    pub after_idle: bool,
    /// True if it answers requests.
    pub answers: bool,
    /// The most that it lets the peer have.
    pub most: u8,
    /// The rate with which a receiver that lies answers.
    pub lies: u8,
    /// Bytes of a full packet.
    pub packet: u32,
    /// Bytes of its payload.
    pub payload: u32,
    /// True if the threshold becomes the approved window.
    pub sets_threshold: bool,
}

/// The steps of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestStep {
    /// The request went out.
    Asked,
    /// A rate was approved, and is used.
    Approved,
    /// A rate was approved that fills less than the window that there is.
    NotNeeded,
    /// There was no answer, or one of no rate.
    Unanswered,
    /// The answer's TTL difference is another than the request's.
    TtlMismatch,
    /// The answer's nonce does not show that nobody raised the rate.
    NonceMismatch,
    /// The answer's rate is more than was asked for.
    RateTooHigh,
    /// A segment was sent again before the first round trip after a jump was over.
    Lost,
}

/// A step of a request, at the end that asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndStep {
    /// The time by the monotonic clock.
    pub time_ns: u64,
    /// The end that asked.
    pub local: Ipv4Addr,
    /// Its peer.
    pub remote: Ipv4Addr,
    /// The step.
    pub step: RequestStep,
    /// The code of the rate that was asked for.
    pub asked: u8,
    /// The code of the rate that was approved, as far as is known.
    pub approved: u8,
    /// The round trip that the request took, in microseconds.
    pub rtt_us: u32,
    /// The window that the rate fills in it, in segments.
    pub window: u32,
}
