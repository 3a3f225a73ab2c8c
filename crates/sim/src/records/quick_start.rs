//! What became of Quick-Start requests.

use ackclock_tcp::QuickStartStep;

/// A step of a Quick-Start request, as a router or the end that asked took it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuickStartRow {
    /// When, in nanoseconds since the run began.
    pub time_ns: u64,
    /// Which flow, or beyond those which traffic class, as in [`Objects`](super::Objects).
    pub flow: u32,
    /// Which of its connections.
    pub connection: u32,
    /// Of a router: the wire behind it, an index into [`Run::link_names`](super::Run::link_names).
    pub link: Option<u32>,
    /// What happened.
    pub step: QuickStartWhat,
    /// The rate that was asked for; at a router, the one that came.
    pub asked_bps: u64,
    /// The rate that was approved, zero if none was.
    pub approved_bps: u64,
    /// Of a router: the traffic that it measured.
    pub measured_bps: Option<u64>,
    /// Of a router: what was reserved before.
    pub reserved_bps: Option<u64>,
}

/// What happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuickStartWhat {
    /// A router let it pass as it was.
    RouterApproved,
    /// A router lowered it.
    RouterLowered,
    /// A router denied it.
    RouterDenied,
    /// A router raised it.
    RouterRaised,
    /// The end that asked took this step.
    Sender(QuickStartStep),
}

impl QuickStartWhat {
    /// The word used in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RouterApproved => "router_approved",
            Self::RouterLowered => "router_lowered",
            Self::RouterDenied => "router_denied",
            Self::RouterRaised => "router_raised",
            Self::Sender(QuickStartStep::Asked) => "asked",
            Self::Sender(QuickStartStep::Approved) => "approved",
            Self::Sender(QuickStartStep::NotNeeded) => "not_needed",
            Self::Sender(QuickStartStep::Unanswered) => "unanswered",
            Self::Sender(QuickStartStep::TtlMismatch) => "ttl_mismatch",
            Self::Sender(QuickStartStep::NonceMismatch) => "nonce_mismatch",
            Self::Sender(QuickStartStep::RateTooHigh) => "rate_too_high",
            Self::Sender(QuickStartStep::Expired) => "expired",
            Self::Sender(QuickStartStep::Lost) => "lost",
        }
    }
}
