//! The application that reads all.

use ackclock_units::Instant;

use crate::{App, Note, Transport};

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
