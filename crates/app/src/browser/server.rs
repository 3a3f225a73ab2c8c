use std::collections::VecDeque;

use ackclock_units::{Bytes, Instant};

use super::Http;
use crate::session::Exchange;
use crate::{App, Note, Transport};

/// The answering end of a connection whose requests come as a browser makes them.
///
/// Bytes have no content here: who lets a browser ask [tells](Self::expect) this end what the request
/// will mean. Requests are answered one after another, each after its own delay.
#[derive(Clone, Debug, Default)]
pub struct WebServer {
    http: Http,
    expected: VecDeque<Exchange>,
    /// Bytes of requests that arrived and are not answered yet.
    came: Bytes,
    /// When the answer to the first is due, once all of it has come.
    due: Option<Instant>,
}

impl WebServer {
    /// Resets the server to a new one that closes as `http` has it, in the memory of this one.
    pub fn restart(&mut self, http: Http) {
        self.expected.clear();
        *self = Self { http, expected: std::mem::take(&mut self.expected), ..Self::default() };
    }

    /// A request will come.
    pub fn expect(&mut self, exchange: Exchange) {
        self.expected.push_back(exchange);
    }
}

impl<T: Transport> App<T> for WebServer {
    fn poll(&mut self, now: Instant, endpoint: &mut T, _: &mut Vec<Note>) -> Option<Instant> {
        self.came += endpoint.read(now, endpoint.readable());
        while let Some(exchange) = self.expected.front().copied() {
            if self.due.is_none() {
                if self.came < exchange.request {
                    break;
                }
                self.came -= exchange.request;
                self.due = Some(now + exchange.server_delay);
            }
            if let Some(due) = self.due.filter(|due| *due > now) {
                return Some(due);
            }
            endpoint.write(exchange.response.max(Bytes::new(1)));
            self.expected.pop_front();
            self.due = None;
            if self.http == Http::OneEach {
                // With the response's last segment.
                endpoint.shutdown_write();
            }
        }
        if endpoint.peer_finished() {
            endpoint.shutdown_write();
        }
        None
    }
}
