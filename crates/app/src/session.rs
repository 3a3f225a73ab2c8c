//! Requests and responses on one connection: what the two ends of a session do, and models of many.
//!
//! A [`Session`] is the plan of one connection, drawn when it opens: its [`Exchange`]s, in order, and
//! who closes first. [`Client`] and [`Server`] play it. Bytes have no content here: each end counts
//! what arrives, and both know the plan. A class of connections has a model that makes the plans
//! ([`Sessions`]): adding one is one type that implements it.

mod any;
mod client;
mod server;

use std::fmt::Debug;

use ackclock_units::random::{Law, Stream};
use ackclock_units::{Bytes, Duration, Rate};

pub use any::AnySessions;
pub use client::Client;
pub use server::Server;

/// One request and its response; the next exchange of a connection begins when the response has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// The time from the response before, of a connection's first exchange from the opening, to the
    /// request.
    pub gap: Duration,
    /// The request.
    pub request: Bytes,
    /// The time from the request's last byte, at the server, to the response.
    pub server_delay: Duration,
    /// The response; nothing if the client only sends, and then the exchange is over when all of the
    /// request is acknowledged.
    pub response: Bytes,
}

/// An end of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// The end that opens the connection and asks.
    Client,
    /// The end that answers.
    #[default]
    Server,
}

/// The plan of one connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Session {
    /// At least one.
    pub exchanges: Vec<Exchange>,
    /// The end that closes first: the server with the last byte that it sends, as HTTP without
    /// persistence has it, or the client once it has all. The other follows.
    pub closes: Side,
    /// The one-way delays of the client's and the server's private lines, where the model draws them;
    /// otherwise the scenario does.
    pub delays: Option<[Duration; 2]>,
    /// The rate that the server asks the routers for with each response (RFC 4782).
    pub asks: Option<Rate>,
}

/// A model of what the connections of a class do.
pub trait Sessions: Debug + Send {
    /// Makes the plan of connection `number`, counted from 0 in the order in which connections open;
    /// called once for each, in that order and some time before it opens.
    ///
    /// `session` is what the connection before did, to be overwritten: its memory is used again.
    /// `random` is the connection's own stream, keyed by (seed, class, number): a model that draws
    /// from it alone gives a connection the same plan whatever happens to the others. Streams of its
    /// own, for draws that hang together from one connection to the next, a model gets when it is
    /// made.
    fn plan(&mut self, number: u64, random: &mut Stream, session: &mut Session);

    /// True if it fills in [`Session::delays`].
    fn draws_delays(&self) -> bool {
        false
    }
}

/// The most exchanges of a connection: a heavy tail would otherwise plan more than memory holds.
pub const MOST_EXCHANGES: u64 = 1_000_000;

/// Sessions whose parts are independent draws.
#[derive(Clone, Debug)]
pub struct Requests {
    /// The number of exchanges of a connection, rounded up; at least one, and at most [`MOST_EXCHANGES`].
    pub exchanges: Law,
    /// The gap before every exchange but a connection's first, in s.
    pub gap: Law,
    /// The request, in B, rounded up; at least one.
    pub request: Law,
    /// The server's delay, in s.
    pub server_delay: Law,
    /// The response, in B, rounded up.
    pub response: Law,
    /// The end that closes first.
    pub closes: Side,
    /// The rate that the server asks the routers for with each response.
    pub asks: Option<Rate>,
}

impl Requests {
    /// One transfer a connection, from the client, which closes behind it.
    pub const fn upload(size: Law) -> Self {
        Self {
            exchanges: Law::Fixed(1.0),
            gap: Law::Fixed(0.0),
            request: size,
            server_delay: Law::Fixed(0.0),
            response: Law::Fixed(0.0),
            closes: Side::Client,
            asks: None,
        }
    }
}

impl Sessions for Requests {
    fn plan(&mut self, _: u64, random: &mut Stream, session: &mut Session) {
        session.exchanges.clear();
        session.closes = self.closes;
        session.asks = self.asks;
        let count = whole(self.exchanges.sample(random)).clamp(1, MOST_EXCHANGES);
        for n in 0..count {
            // In one order for every connection, so that a longer plan begins as a shorter one does.
            let gap = if n == 0 { 0.0 } else { self.gap.sample(random) };
            session.exchanges.push(Exchange {
                gap: Duration::from_secs_f64(gap),
                request: Bytes::new(whole(self.request.sample(random)).max(1)),
                server_delay: Duration::from_secs_f64(self.server_delay.sample(random)),
                response: Bytes::new(whole(self.response.sample(random))),
            });
        }
    }
}

/// The next whole number; none is so large or negative as the cast would cut off.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, and a volume of 2^64 bytes is beyond any run"
)]
pub(crate) fn whole(number: f64) -> u64 {
    // 1 TB: the volumes of a session's exchanges, a million at most, stay below 2^63 in all.
    number.ceil().min(1e12) as u64
}
