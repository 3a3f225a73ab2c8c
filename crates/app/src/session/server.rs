use ackclock_units::{Bytes, Instant, Rate};

use super::{Exchange, Session, Side};
use crate::{App, Note, Transport};

/// The end of a session that answers.
#[derive(Clone, Debug)]
pub struct Server {
    exchanges: Vec<Exchange>,
    closes: Side,
    /// The rate that it asks the routers for with each response.
    asks: Option<Rate>,
    /// The number of the exchange under way, and the exchange, if there is one.
    at: usize,
    exchange: Option<Exchange>,
    /// The bytes still to come of the request.
    missing: Bytes,
    /// Some of it has come.
    begun: bool,
    /// When the response to it is due, once all of it has come.
    due: Option<Instant>,
}

impl Server {
    /// A server that plays `session`.
    pub fn new(session: &Session) -> Self {
        let mut server = Self {
            exchanges: Vec::new(),
            closes: Side::Server,
            asks: None,
            at: 0,
            exchange: None,
            missing: Bytes::ZERO,
            begun: false,
            due: None,
        };
        server.restart(session);
        server
    }

    /// Resets the server to a new one with `session`, in the memory of this one.
    pub fn restart(&mut self, session: &Session) {
        self.exchanges.clear();
        self.exchanges.extend_from_slice(&session.exchanges);
        self.closes = session.closes;
        self.asks = session.asks;
        self.at = 0;
        self.await_request();
    }

    fn await_request(&mut self) {
        self.exchange = self.exchanges.get(self.at).copied();
        self.missing = self.exchange.map_or(Bytes::ZERO, |next| next.request);
        self.begun = false;
        self.due = None;
    }

    /// All of the request came, and the server's delay has passed.
    fn answer(&mut self, exchange: Exchange, endpoint: &mut impl Transport) {
        if exchange.response > Bytes::ZERO {
            if let Some(rate) = self.asks {
                endpoint.request_quick_start(rate);
            }
            endpoint.write(exchange.response);
        }
        self.at += 1;
        self.await_request();
        if self.at == self.exchanges.len() && self.closes == Side::Server {
            // With the response's last segment.
            endpoint.shutdown_write();
        }
    }

    /// `came` of a request, perhaps none; whether it is complete.
    fn take(&mut self, came: Bytes, exchange: Exchange, notes: &mut Vec<Note>) -> bool {
        if self.due.is_some() {
            return true;
        }
        let is_object = exchange.response == Bytes::ZERO;
        if is_object && came > Bytes::ZERO && !self.begun {
            self.begun = true;
            notes.push(Note::Begun);
        }
        self.missing = self.missing - came.min(self.missing);
        if is_object && self.missing == Bytes::ZERO {
            notes.push(Note::Completed);
        }
        self.missing == Bytes::ZERO
    }
}

impl<T: Transport> App<T> for Server {
    fn poll(&mut self, now: Instant, endpoint: &mut T, notes: &mut Vec<Note>) -> Option<Instant> {
        let came = endpoint.read(now, endpoint.readable());
        if let Some(exchange) = self.exchange
            && self.take(came, exchange, notes)
        {
            let due = *self.due.get_or_insert(now + exchange.server_delay);
            if now < due {
                return Some(due);
            }
            self.answer(exchange, endpoint);
        }
        if endpoint.peer_finished() {
            endpoint.shutdown_write();
        }
        None
    }
}
