//! Video over HTTP: what a server sends, and a player that shows it or does not.
//!
//! A video is a row of pictures of known sizes, at equal intervals, in the order in which they are
//! sent and shown.

mod any_player;
mod dash;
mod player;
mod stream;
mod synthetic;
mod vlc;

use std::sync::Arc;

use ackclock_units::{Bytes, Duration};

pub use any_player::Player;
pub use dash::{Adaptation, DashClient, DashReport, DashServer, DashSettings, Ladder, dash_pair};
pub use player::{DeadlinePlayer, PictureGroup, PlayerReport, PlayerSettings};
pub use stream::{VideoClient, VideoPace, VideoServer};
pub use synthetic::Synthetic;
pub use vlc::VlcPlayer;

/// The pictures of a video, shared by all that play it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pictures {
    /// The end of each picture, counted in bytes from the beginning of the file.
    ends: Arc<[u64]>,
    interval: Duration,
}

impl Pictures {
    /// The most pictures of a video: a day at 60 a second.
    pub const MOST: usize = 24 * 60 * 60 * 60;

    /// Pictures of so many bytes each, one every `interval`.
    ///
    /// # Errors
    /// A line that says what is wrong: no pictures, too many, one without bytes, or no time between
    /// them.
    pub fn new(sizes: &[u32], interval: Duration) -> Result<Self, &'static str> {
        if sizes.is_empty() || sizes.len() > Self::MOST {
            return Err("expected from 1 to 5184000 pictures");
        }
        if interval == Duration::ZERO {
            return Err("expected more than 0 s between pictures");
        }
        if sizes.contains(&0) {
            return Err("expected at least 1 B in every picture");
        }
        let ends = sizes.iter().scan(0_u64, |end, size| {
            *end += u64::from(*size);
            Some(*end)
        });
        Ok(Self { ends: ends.collect(), interval })
    }

    /// The number of pictures.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// The time from one to the next.
    pub const fn interval(&self) -> Duration {
        self.interval
    }

    /// All their bytes.
    pub fn volume(&self) -> Bytes {
        Bytes::new(self.ends.last().copied().unwrap_or(0))
    }

    /// The first byte of picture `n`.
    pub fn start(&self, n: usize) -> u64 {
        n.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// The end of picture `n`.
    pub fn end(&self, n: usize) -> u64 {
        self.ends[n]
    }

    /// The number of pictures that are whole when so many bytes have come.
    pub fn whole(&self, bytes: u64) -> usize {
        self.ends.partition_point(|end| *end <= bytes)
    }

    /// The least constant rate, in bytes a second, at which all that follows byte `from` would be there
    /// when it is due, if picture 0 was due `since` ago: the slope of the tightest string under the
    /// deadlines (J. Salehi, Z.-L. Zhang, J. Kurose and D. Towsley, "Supporting Stored Video", 1998).
    /// `None` if something is late; zero if nothing is missing.
    pub fn least_rate(&self, from: u64, since: Duration) -> Option<f64> {
        let (interval, since) = (self.interval.as_secs_f64(), since.as_secs_f64());
        let first = self.whole(from);
        let mut rate = 0.0_f64;
        for (n, end) in self.ends.iter().enumerate().skip(first) {
            let left = n as f64 * interval - since;
            if left <= 0.0 {
                return None;
            }
            rate = rate.max((end - from) as f64 / left);
        }
        Some(rate)
    }

    /// The bytes needed in the buffer when play begins with picture `n`, so that it never waits
    /// while `rate` bytes a second arrive.
    pub fn head_start(&self, n: usize, rate: f64) -> Bytes {
        let (from, each) = (self.start(n), rate * self.interval.as_secs_f64());
        let behind = self.ends.iter().skip(n).zip(0_u32..);
        let behind = behind.map(|(end, later)| (end - from) as f64 - f64::from(later) * each);
        whole_bytes(behind.fold(0.0, f64::max))
    }

    /// The bytes of the largest.
    pub fn largest(&self) -> Bytes {
        let sizes = (0..self.count()).map(|n| self.end(n) - self.start(n));
        Bytes::new(sizes.max().unwrap_or(0))
    }
}

/// A volume in whole bytes, rounded up.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not below zero")]
fn whole_bytes(volume: f64) -> Bytes {
    Bytes::new(volume.ceil() as u64)
}
