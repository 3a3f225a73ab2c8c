//! The contract of an application with the connection that it sits on, and with the run.

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

/// An application on one end of a connection: our own end point, or another [`Transport`](crate::Transport).
pub trait App<T: ?Sized = Endpoint>: Debug + Send {
    /// Something changed: the connection opened, data arrived, or the moment that the last call
    /// asked for has come. Returns the next moment at which to be called even if nothing changes;
    /// `notes` takes what the run is to know.
    fn poll(&mut self, now: Instant, endpoint: &mut T, notes: &mut Vec<Note>) -> Option<Instant>;
}
