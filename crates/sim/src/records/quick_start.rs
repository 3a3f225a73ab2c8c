//! The fate of Quick-Start requests.

use ackclock_net::Decision;
use ackclock_packet::QuickStartRate;
use ackclock_tcp::{QuickStartEvent, QuickStartStep};
use ackclock_units::{Instant, Rate};

/// A step of a Quick-Start request, as a router or the end that asked took it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuickStartRow {
    /// When, in nanoseconds since the run began.
    pub time_ns: u64,
    /// Which flow, or beyond those which traffic class, as in [`Objects`](super::Objects).
    pub flow: u32,
    /// Which of its connections.
    pub connection: u32,
    /// The wire behind the router, an index into [`Run::link_names`](super::Run::link_names); none of an end.
    pub link: Option<u32>,
    /// The step of the request.
    pub step: QuickStartWhat,
    /// The rate that was asked for; at a router, the one that came.
    pub asked_bps: u64,
    /// The rate that was approved, zero if none was.
    pub approved_bps: u64,
    /// The traffic that the router measured.
    pub measured_bps: Option<u64>,
    /// The rate that the router had reserved before.
    pub reserved_bps: Option<u64>,
}

fn bps(rate: QuickStartRate) -> u64 {
    rate.rate().map_or(0, Rate::as_bps)
}

impl QuickStartRow {
    /// The router in front of `wire` has decided over a request of `of`, a flow and its connection.
    pub fn of_router(at: Instant, of: (u32, u32), wire: u32, decision: &Decision) -> Self {
        let step = if decision.approved == QuickStartRate::NONE {
            QuickStartWhat::RouterDenied
        } else if decision.approved < decision.asked {
            QuickStartWhat::RouterLowered
        } else if decision.approved > decision.asked {
            QuickStartWhat::RouterRaised
        } else {
            QuickStartWhat::RouterApproved
        };
        Self {
            time_ns: at.as_nanos(),
            flow: of.0,
            connection: of.1,
            link: Some(wire),
            step,
            asked_bps: bps(decision.asked),
            approved_bps: bps(decision.approved),
            measured_bps: Some(decision.measured.as_bps()),
            reserved_bps: Some(decision.reserved.as_bps()),
        }
    }

    /// The end of `of` that asked took a step.
    pub fn of_end(of: (u32, u32), event: &QuickStartEvent) -> Self {
        Self {
            time_ns: event.at.as_nanos(),
            flow: of.0,
            connection: of.1,
            link: None,
            step: QuickStartWhat::Sender(event.step),
            asked_bps: bps(event.asked),
            approved_bps: bps(event.approved),
            measured_bps: None,
            reserved_bps: None,
        }
    }
}

/// A step of a request.
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
