use ackclock_units::{Bytes, Instant};

use super::{Exchange, Session, Side};
use crate::{App, Note, Transport};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Not yet polled.
    New,
    /// The connection opens.
    Opening,
    /// The request is to be written when it is due.
    Thinking,
    /// The response is awaited, or the acknowledgment of what has none.
    Asked,
    /// Nothing is left to ask.
    Done,
}

/// The end of a session that opens the connection: asks, waits for the response, asks again.
///
/// The first request counts as [made](Note::Requested) when the connection begins to open, so that
/// the handshake is part of its response time; it is written once the handshake's last ACK has gone.
#[derive(Clone, Debug)]
pub struct Client {
    exchanges: Vec<Exchange>,
    closes: Side,
    stage: Stage,
    /// The number of the exchange under way, and the exchange: it is looked at on every occasion, and
    /// elsewhere in memory are the others.
    at: usize,
    exchange: Exchange,
    /// When its request is due.
    due: Instant,
    /// The bytes still to come of the response.
    missing: Bytes,
    /// Some of the response has come.
    begun: bool,
}

impl Client {
    /// A client that plays `session`.
    pub fn new(session: &Session) -> Self {
        let mut client = Self {
            exchanges: Vec::new(),
            closes: Side::Server,
            stage: Stage::New,
            at: 0,
            exchange: Exchange::default(),
            due: Instant::START,
            missing: Bytes::ZERO,
            begun: false,
        };
        client.restart(session);
        client
    }

    /// Resets the client to a new one with `session`, in the memory of this one.
    pub fn restart(&mut self, session: &Session) {
        self.exchanges.clear();
        self.exchanges.extend_from_slice(&session.exchanges);
        self.closes = session.closes;
        self.stage = Stage::New;
        self.begin(0);
        self.missing = Bytes::ZERO;
        self.begun = false;
    }

    fn begin(&mut self, at: usize) {
        self.at = at;
        self.exchange = self.exchanges.get(at).copied().unwrap_or_default();
    }

    fn is_last(&self) -> bool {
        self.at + 1 >= self.exchanges.len()
    }

    fn request(&self) -> Note {
        let exchange = self.exchange;
        let answered = exchange.response > Bytes::ZERO;
        let bytes = if answered { exchange.response } else { exchange.request };
        Note::Requested { bytes, at: self.due }
    }

    fn ask(&mut self, endpoint: &mut impl Transport) {
        let exchange = self.exchange;
        endpoint.write(exchange.request);
        self.missing = exchange.response;
        self.begun = false;
        self.stage = Stage::Asked;
        if self.is_last() && exchange.response == Bytes::ZERO && self.closes == Side::Client {
            // With the request's last segment.
            endpoint.shutdown_write();
        }
    }

    /// The exchange under way is over.
    fn go_on(&mut self, now: Instant, notes: &mut Vec<Note>) {
        if self.is_last() {
            self.stage = Stage::Done;
            return;
        }
        self.begin(self.at + 1);
        self.due = now + self.exchange.gap;
        self.stage = Stage::Thinking;
        notes.push(self.request());
    }

    /// `came` of the response, perhaps none; whether the exchange is over.
    fn take(&mut self, came: Bytes, endpoint: &impl Transport, notes: &mut Vec<Note>) -> bool {
        if self.exchange.response == Bytes::ZERO {
            // The server tells of it.
            return endpoint.all_acked();
        }
        if came > Bytes::ZERO && !self.begun {
            self.begun = true;
            notes.push(Note::Begun);
        }
        self.missing = self.missing - came.min(self.missing);
        if self.missing > Bytes::ZERO {
            return false;
        }
        notes.push(Note::Completed);
        true
    }
}

impl<T: Transport> App<T> for Client {
    fn poll(&mut self, now: Instant, endpoint: &mut T, notes: &mut Vec<Note>) -> Option<Instant> {
        let came = endpoint.read(now, endpoint.readable());
        match self.stage {
            Stage::New => {
                self.due = now + self.exchange.gap;
                self.stage = Stage::Opening;
                notes.push(self.request());
            }
            Stage::Opening => {
                endpoint.established_at()?;
                self.stage = Stage::Thinking;
                return Some(self.due.max(now));
            }
            Stage::Thinking if now >= self.due => self.ask(endpoint),
            Stage::Asked => {
                if self.take(came, endpoint, notes) {
                    self.go_on(now, notes);
                }
            }
            Stage::Thinking | Stage::Done => {}
        }
        let served = self.stage == Stage::Done && self.closes == Side::Client;
        if served || endpoint.peer_finished() {
            endpoint.shutdown_write();
        }
        (self.stage == Stage::Thinking).then_some(self.due)
    }
}
