//! The applications that a host holds.

use std::convert::Infallible;

use ackclock_tcp::Endpoint;
use ackclock_units::Instant;

use crate::{
    App, Bulk, Cbr, Client, DashClient, DashServer, Note, OnOff, Other, Server, Sink, Transport,
    VideoClient, VideoServer, WebClient, WebServer,
};

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

impl<T> From<Bulk> for AnyApp<T> {
    fn from(app: Bulk) -> Self {
        Self::Bulk(app)
    }
}

impl<T> From<Sink> for AnyApp<T> {
    fn from(app: Sink) -> Self {
        Self::Sink(app)
    }
}

impl<T, A: App<T> + 'static> From<Other<A>> for AnyApp<T> {
    fn from(app: Other<A>) -> Self {
        Self::Other(Box::new(app.0))
    }
}

impl<T> From<Infallible> for AnyApp<T> {
    fn from(app: Infallible) -> Self {
        match app {}
    }
}

/// The larger ones, in a box.
macro_rules! boxed {
    ($($App:ident)*) => {
        $(impl<T> From<$App> for AnyApp<T> {
            fn from(app: $App) -> Self {
                Self::$App(Box::new(app))
            }
        })*
    };
}

boxed! { VideoServer VideoClient DashServer DashClient Cbr OnOff }
