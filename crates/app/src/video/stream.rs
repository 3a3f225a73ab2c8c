//! Progressive download: the client asks for the file, the server sends all of it, the player takes
//! what it has room for.

use ackclock_units::{Bytes, Duration, Instant, Rate};

use super::{Pictures, Player, PlayerReport};
use crate::{App, Note, Transport};

/// The size of a request for a file, with the headers that players send (RFC 9110).
const REQUEST: Bytes = Bytes::new(300);

/// The interval at which a server that paces looks at what has arrived.
const LOOK: Duration = Duration::from_secs(1);

/// A bound on the rate at which a server sends: `gain` times the least constant rate at which the rest
/// of the film would be there in time.
///
/// The server knows what was acknowledged, and takes play to have begun when it was asked: the player
/// that began later, or stood still, is farther ahead than it thinks. Until something is ahead at all
/// there is no bound.
#[derive(Clone, Debug)]
pub struct VideoPace {
    /// The bound as a multiple of that rate.
    pub gain: f64,
    /// The film.
    pub pictures: Pictures,
}

impl VideoPace {
    /// The bound when so much was acknowledged `since` the request.
    fn bound(&self, acked: Bytes, since: Duration) -> Option<Rate> {
        let rate = self.pictures.least_rate(acked.get(), since)?;
        Some(bits_per_second(self.gain * rate))
    }
}

/// A rate that is never zero.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
fn bits_per_second(bytes_per_second: f64) -> Rate {
    Rate::from_bps(((8.0 * bytes_per_second) as u64).max(1000))
}

/// Sends a file when it is asked for, and closes.
#[derive(Clone, Debug)]
pub struct VideoServer {
    volume: Bytes,
    pace: Option<VideoPace>,
    asked: Option<Instant>,
    look: Instant,
}

impl VideoServer {
    /// A server of a file of `volume`.
    pub const fn new(volume: Bytes) -> Self {
        Self { volume, pace: None, asked: None, look: Instant::NEVER }
    }

    /// A server with a bound on its rate.
    pub fn paced(pace: VideoPace) -> Self {
        let volume = pace.pictures.volume();
        Self { pace: Some(pace), ..Self::new(volume) }
    }
}

impl<T: Transport> App<T> for VideoServer {
    #[inline]
    fn poll(&mut self, now: Instant, endpoint: &mut T, notes: &mut Vec<Note>) -> Option<Instant> {
        endpoint.read(now, endpoint.readable());
        if self.asked.is_none() && endpoint.received() >= REQUEST {
            self.asked = Some(now);
            endpoint.write(self.volume);
            notes.push(Note::Object(self.volume));
            endpoint.shutdown_write();
            self.look = now;
        }
        let (pace, asked) = self.pace.as_ref().zip(self.asked)?;
        if now >= self.look {
            let acked = endpoint.acked();
            endpoint.pace_at_most(pace.bound(acked, now.since(asked)));
            self.look = if acked < self.volume { now + LOOK } else { Instant::NEVER };
        }
        (self.look != Instant::NEVER).then_some(self.look)
    }
}

/// Asks for a file and plays it.
#[derive(Clone, Debug)]
pub struct VideoClient {
    player: Player,
    asked: Option<Instant>,
    at_start: Option<Bytes>,
}

impl VideoClient {
    /// A client with `player`.
    pub const fn new(player: Player) -> Self {
        Self { player, asked: None, at_start: None }
    }

    /// The outcome of the video by `now`.
    pub fn report(&self, now: Instant) -> PlayerReport {
        self.player.report(now)
    }

    /// When the connection was opened.
    pub const fn asked(&self) -> Option<Instant> {
        self.asked
    }

    /// The bytes that had arrived in order when play began.
    pub const fn at_start(&self) -> Option<Bytes> {
        self.at_start
    }

    /// The player.
    pub const fn player(&self) -> &Player {
        &self.player
    }
}

impl<T: Transport> App<T> for VideoClient {
    fn poll(&mut self, now: Instant, endpoint: &mut T, _: &mut Vec<Note>) -> Option<Instant> {
        if self.asked.is_none() {
            self.asked = Some(now);
            endpoint.write(REQUEST);
        }
        // What is shown makes room, and what is taken may be what is shown next.
        loop {
            let volume = self.player.room().min(endpoint.readable());
            self.player.take(endpoint.read(now, volume));
            let next = self.player.poll(now);
            if self.at_start.is_none() && self.player.has_begun() {
                self.at_start = Some(endpoint.received());
            }
            if self.player.room().min(endpoint.readable()) == Bytes::ZERO {
                if endpoint.peer_finished() {
                    endpoint.shutdown_write();
                }
                return next;
            }
        }
    }
}
