//! Routers that rule every packet's sender: RCP and XCP.
//!
//! Both are asked for each packet that carries their header, before it is offered to the link behind.
//! They have no timers: an interval that is over is ended when the next such packet comes, over the
//! time that it really lasted. All traffic counts, with the header or without: the link's own counters
//! say what came to it.

mod bounds;
mod rcp;
mod xcp;

use ackclock_packet::CongestionHeader;
use ackclock_units::{Instant, Rate};

pub use rcp::{RcpConfig, RcpRouter};
pub use xcp::{XcpConfig, XcpRouter};

/// The link behind a router, as a packet finds it.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Bytes that have come to the link since it was made, dropped ones too, this packet's not.
    pub arrived: u64,
    /// Bytes that wait, the packet being sent not among them.
    pub queued: u64,
    /// The link's rate.
    pub capacity: Rate,
}

/// The feedback that the router in front of a link gives.
#[derive(Clone, Debug, Default)]
pub struct FeedbackRouter {
    rcp: Option<RcpRouter>,
    xcp: Option<XcpRouter>,
}

impl FeedbackRouter {
    /// One with these functions, in front of a link of `capacity`.
    pub fn new(rcp: Option<RcpConfig>, xcp: Option<XcpConfig>, capacity: Rate) -> Self {
        Self {
            rcp: rcp.map(|config| RcpRouter::new(config, capacity)),
            xcp: xcp.map(XcpRouter::new),
        }
    }

    /// A packet of `size` bytes with `header` comes at `now`. The header is changed in place.
    pub fn process(&mut self, now: Instant, header: &mut CongestionHeader, size: u32, load: &Load) {
        match header {
            CongestionHeader::Rcp(header) => {
                if let Some(router) = &mut self.rcp {
                    router.process(now, header, size, load);
                }
            }
            CongestionHeader::Xcp(header) => {
                if let Some(router) = &mut self.xcp {
                    router.process(now, header, size, load);
                }
            }
        }
    }
}
