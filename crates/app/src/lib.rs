//! Applications, the sources of data: an application sits on an end point, writes, reads and
//! closes.

pub mod application;
mod arrivals;
mod browser;
mod packmime;
mod session;
mod transport;
pub mod video;

pub use application::{Application, Apps, Bulk, Burst, Cbr, Draws, Load, OnOff, Refusal, Turn};
pub use arrivals::{AnyArrivals, Arrivals, Listed, Periodic, Poisson};
pub use browser::{
    Act, Browsing, Http, Page, PageModel, PageView, SizeLaw, Surge, User, WebClient, WebServer,
};
pub use packmime::{
    PACKMIME_QUANTITIES, PackMimeArrivals, PackMimeMemory, PackMimeSessions, WebConnection,
    packmime_reference,
};
pub use session::{
    AnySessions, Client, Exchange, MOST_EXCHANGES, Requests, Server, Session, Sessions, Side,
};
pub use transport::Transport;
pub use video::{DashClient, DashServer, VideoClient, VideoServer};

use std::fmt::Debug;

use ackclock_tcp::Endpoint;
use ackclock_units::{Bytes, Instant};

/// A note of an application to the run, besides its calls of the end point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// It gives the connection an object (a message, a file, a picture) of so many bytes, more than
    /// none, which follow in the stream those of the last object.
    Object(Bytes),
    /// An exchange of a session begins, whose object has so many bytes.
    Requested {
        /// The response, or, if there is none, the request.
        bytes: Bytes,
        /// When the application asked; it may be before now.
        at: Instant,
    },
    /// The first byte of the exchange's object was read by the end that it is for.
    Begun,
    /// The last byte was.
    Completed,
    /// Something happens to it that measures and changes of the path can wait for.
    Moment(Moment),
}

/// A moment in the life of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// It falls silent.
    Idle,
    /// The silence is over: the first data after it is given at this instant.
    Resume,
    /// It has less to send from now on.
    Limited,
    /// It has as much to send as before: the first data is given at this instant.
    Restore,
}

/// An application on one end of a connection: our own end point, or another [`Transport`].
pub trait App<T: ?Sized = Endpoint>: Debug + Send {
    /// Something changed: the connection opened, data arrived, or the moment that the last call
    /// asked for has come. Returns the next moment at which to be called even if nothing changes;
    /// `notes` takes what the run is to know.
    fn poll(&mut self, now: Instant, endpoint: &mut T, notes: &mut Vec<Note>) -> Option<Instant>;
}

/// The application at the receiving end of a one-way transfer: it reads all that arrives, and
/// closes when the sender has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sink;

impl<T: Transport> App<T> for Sink {
    #[inline]
    fn poll(&mut self, now: Instant, endpoint: &mut T, _: &mut Vec<Note>) -> Option<Instant> {
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
#[repr(u8)]
pub enum AnyApp<T = Endpoint> {
    /// A bulk transfer.
    Bulk(Bulk),
    /// A sink.
    Sink(Sink),
    /// The asking end of a session; boxed, as it is larger than the others.
    Client(Box<Client>),
    /// The answering end of a session.
    Server(Box<Server>),
    /// The asking end of a browser's connection.
    WebClient(Box<WebClient>),
    /// The answering end of it.
    WebServer(Box<WebServer>),
    /// The server of a video.
    VideoServer(Box<VideoServer>),
    /// The player of a video.
    VideoClient(Box<VideoClient>),
    /// The server of a video in segments at several rates.
    DashServer(Box<DashServer>),
    /// The player that chooses the segments' rates.
    DashClient(Box<DashClient>),
    /// Messages at a constant rate; boxed, as it is larger than the others.
    Cbr(Box<Cbr>),
    /// Bursts.
    OnOff(Box<OnOff>),
    /// A user's own.
    Other(Box<dyn App<T>>),
}

impl<T: Transport> AnyApp<T> {
    /// [`poll`](App::poll) for applications that have more to do than to write at once or to read.
    #[inline(never)]
    fn poll_another(
        &mut self,
        now: Instant,
        endpoint: &mut T,
        notes: &mut Vec<Note>,
    ) -> Option<Instant> {
        match self {
            Self::Bulk(app) => app.poll(now, endpoint, notes),
            Self::Sink(app) => app.poll(now, endpoint, notes),
            Self::Client(app) => app.poll(now, endpoint, notes),
            Self::Server(app) => app.poll(now, endpoint, notes),
            Self::WebClient(app) => app.poll(now, endpoint, notes),
            Self::WebServer(app) => app.poll(now, endpoint, notes),
            Self::VideoServer(app) => app.poll(now, endpoint, notes),
            Self::VideoClient(app) => app.poll(now, endpoint, notes),
            Self::DashServer(app) => app.poll(now, endpoint, notes),
            Self::DashClient(app) => app.poll(now, endpoint, notes),
            Self::Cbr(app) => app.poll(now, endpoint, notes),
            Self::OnOff(app) => app.poll(now, endpoint, notes),
            Self::Other(app) => app.poll(now, endpoint, notes),
        }
    }
}

impl<T: Transport> App<T> for AnyApp<T> {
    #[inline]
    fn poll(&mut self, now: Instant, endpoint: &mut T, notes: &mut Vec<Note>) -> Option<Instant> {
        match self {
            Self::Bulk(app) => app.poll(now, endpoint, notes),
            Self::Sink(app) => app.poll(now, endpoint, notes),
            _ => self.poll_another(now, endpoint, notes),
        }
    }
}
