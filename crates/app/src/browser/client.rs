use std::collections::VecDeque;

use ackclock_units::{Bytes, Instant};

use crate::session::Exchange;
use crate::{App, Note, Transport};

/// The asking end of a connection whose requests come as a browser makes them.
///
/// What is [asked](Self::ask) is written at the next call, at once, whatever is still to come; the
/// first once the handshake's last ACK has gone. Responses come in the order of the requests.
#[derive(Clone, Debug, Default)]
pub struct WebClient {
    /// Requests that are not yet written.
    unwritten: Bytes,
    /// The bytes still to come of each response, in order.
    missing: VecDeque<Bytes>,
    /// Some of the first has come.
    begun: bool,
    /// The handshake is done, and its last ACK gone.
    open: bool,
    closes: bool,
}

impl WebClient {
    /// Resets the client to a new one, in the memory of this one.
    pub fn restart(&mut self) {
        self.missing.clear();
        *self = Self { missing: std::mem::take(&mut self.missing), ..Self::default() };
    }

    /// Asks for an object, of at least 1 B.
    pub fn ask(&mut self, exchange: Exchange) {
        self.unwritten += exchange.request;
        self.missing.push_back(exchange.response.max(Bytes::new(1)));
    }

    /// Closes the connection.
    pub const fn close(&mut self) {
        self.closes = true;
    }

    fn take(&mut self, mut came: Bytes, notes: &mut Vec<Note>) {
        while came > Bytes::ZERO
            && let Some(first) = self.missing.front_mut()
        {
            if !self.begun {
                self.begun = true;
                notes.push(Note::Begun);
            }
            let part = came.min(*first);
            *first -= part;
            came -= part;
            if *first == Bytes::ZERO {
                self.missing.pop_front();
                self.begun = false;
                notes.push(Note::Completed);
            }
        }
    }
}

impl<T: Transport> App<T> for WebClient {
    fn poll(&mut self, now: Instant, endpoint: &mut T, notes: &mut Vec<Note>) -> Option<Instant> {
        let came = endpoint.read(now, endpoint.readable());
        self.take(came, notes);
        if endpoint.failed() {
            return None;
        }
        if self.closes || endpoint.peer_finished() {
            endpoint.shutdown_write();
            return None;
        }
        if self.open {
            if self.unwritten > Bytes::ZERO {
                endpoint.write(std::mem::take(&mut self.unwritten));
            }
        } else if endpoint.established_at().is_some() {
            self.open = true;
            return Some(now);
        }
        // Idle, but not done: the browser may ask again.
        Some(Instant::NEVER)
    }
}
