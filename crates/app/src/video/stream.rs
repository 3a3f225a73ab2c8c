//! Progressive download: the client asks for the file, the server sends all of it, the player takes
//! what it has room for.

use ackclock_tcp::Endpoint;
use ackclock_units::{Bytes, Instant};

use super::{Player, PlayerReport};
use crate::{App, Note};

/// What a request for a file takes, with the headers that players send (RFC 9110).
const REQUEST: Bytes = Bytes::new(300);

/// Sends a file when it is asked for, and closes.
#[derive(Clone, Copy, Debug)]
pub struct VideoServer {
    volume: Bytes,
    answered: bool,
}

impl VideoServer {
    /// A server of a file of `volume`.
    pub const fn new(volume: Bytes) -> Self {
        Self { volume, answered: false }
    }
}

impl App for VideoServer {
    #[inline]
    fn poll(
        &mut self,
        now: Instant,
        endpoint: &mut Endpoint,
        notes: &mut Vec<Note>,
    ) -> Option<Instant> {
        endpoint.read(now, endpoint.readable());
        if !self.answered && endpoint.received() >= REQUEST {
            self.answered = true;
            endpoint.write(self.volume);
            notes.push(Note::Object(self.volume));
            endpoint.shutdown_write();
        }
        None
    }
}

/// Asks for a file and plays it.
#[derive(Clone, Debug)]
pub struct VideoClient {
    player: Player,
    asked: Option<Instant>,
}

impl VideoClient {
    /// A client with `player`.
    pub const fn new(player: Player) -> Self {
        Self { player, asked: None }
    }

    /// What became of the video by `now`.
    pub fn report(&self, now: Instant) -> PlayerReport {
        self.player.report(now)
    }

    /// When the connection was opened.
    pub const fn asked(&self) -> Option<Instant> {
        self.asked
    }

    /// The player.
    pub const fn player(&self) -> &Player {
        &self.player
    }
}

impl App for VideoClient {
    fn poll(
        &mut self,
        now: Instant,
        endpoint: &mut Endpoint,
        _: &mut Vec<Note>,
    ) -> Option<Instant> {
        if self.asked.is_none() {
            self.asked = Some(now);
            endpoint.write(REQUEST);
        }
        // What is shown makes room, and what is taken may be what is shown next.
        loop {
            let volume = self.player.room().min(endpoint.readable());
            self.player.take(endpoint.read(now, volume));
            let next = self.player.poll(now);
            if self.player.room().min(endpoint.readable()) == Bytes::ZERO {
                if endpoint.peer_finished() {
                    endpoint.shutdown_write();
                }
                return next;
            }
        }
    }
}
