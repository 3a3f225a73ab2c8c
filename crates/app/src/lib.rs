//! What asks for data: an application sits on an end point, writes, reads and closes.

mod bulk;
mod packmime;

pub use bulk::Bulk;
pub use packmime::{Exchange, PackMimeArrivals, PackMimeSessions, WebConnection};

use std::fmt::Debug;

use ackclock_tcp::Endpoint;
use ackclock_units::Instant;

/// An application on one end point.
pub trait App: Debug + Send {
    /// Something changed: the connection opened, data arrived, or the moment that the last call
    /// asked for has come. Returns the next moment at which to be called even if nothing changes.
    fn poll(&mut self, now: Instant, endpoint: &mut Endpoint) -> Option<Instant>;
}

/// The application at the receiving end of a one-way transfer: it reads all that arrives, and
/// closes when the sender has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sink;

impl App for Sink {
    #[inline]
    fn poll(&mut self, now: Instant, endpoint: &mut Endpoint) -> Option<Instant> {
        endpoint.read(now, endpoint.readable());
        if endpoint.peer_finished() {
            endpoint.shutdown_write();
        }
        None
    }
}

/// The applications that scenarios name, dispatched without an indirect call, and any other behind
/// one.
#[derive(Debug)]
pub enum AnyApp {
    /// A bulk transfer.
    Bulk(Bulk),
    /// A sink.
    Sink(Sink),
    /// A user's own.
    Other(Box<dyn App>),
}

impl App for AnyApp {
    #[inline]
    fn poll(&mut self, now: Instant, endpoint: &mut Endpoint) -> Option<Instant> {
        match self {
            Self::Bulk(app) => app.poll(now, endpoint),
            Self::Sink(app) => app.poll(now, endpoint),
            Self::Other(app) => app.poll(now, endpoint),
        }
    }
}
