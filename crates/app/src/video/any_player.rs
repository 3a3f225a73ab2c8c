//! The players that a video knows.

use ackclock_units::{Bytes, Duration, Instant};

use super::{DeadlinePlayer, PictureGroup, Pictures, PlayerReport, PlayerSettings, VlcPlayer};

/// A player.
#[derive(Clone, Debug)]
pub enum Player {
    /// With deadlines.
    Deadline(Box<DeadlinePlayer>),
    /// By the rules of VLC.
    Vlc(Box<VlcPlayer>),
}

impl Player {
    /// A player with deadlines.
    ///
    /// # Errors
    /// A line that says which setting is impossible.
    pub fn new(settings: PlayerSettings, pictures: Pictures) -> Result<Self, &'static str> {
        Self::of_group(settings, pictures, None)
    }

    /// A player with deadlines, of pictures that refer to one another.
    ///
    /// # Errors
    /// A line that says which setting is impossible.
    pub fn of_group(
        settings: PlayerSettings,
        pictures: Pictures,
        group: Option<PictureGroup>,
    ) -> Result<Self, &'static str> {
        let player = DeadlinePlayer::new(settings, pictures)?;
        Ok(Self::Deadline(Box::new(player.with_group(group))))
    }

    /// A player by the rules of VLC.
    pub fn vlc(pictures: Pictures) -> Self {
        Self::Vlc(Box::new(VlcPlayer::new(pictures)))
    }

    /// The bytes that it would take now.
    pub fn room(&self) -> Bytes {
        match self {
            Self::Deadline(player) => player.room(),
            Self::Vlc(player) => player.room(),
        }
    }

    /// The play time of the whole pictures that it holds.
    pub fn playable(&self) -> Duration {
        match self {
            Self::Deadline(player) => player.playable(),
            Self::Vlc(player) => player.playable(),
        }
    }

    /// Data comes from the connection, no more than there is [room](Self::room) for.
    pub fn take(&mut self, volume: Bytes) {
        match self {
            Self::Deadline(player) => player.take(volume),
            Self::Vlc(player) => player.take(volume),
        }
    }

    /// Does what is due by `now`, with what was [taken](Self::take) by then; returns when to come
    /// again if nothing is taken before. May make room.
    pub fn poll(&mut self, now: Instant) -> Option<Instant> {
        match self {
            Self::Deadline(player) => player.poll(now),
            Self::Vlc(player) => player.poll(now),
        }
    }

    /// The outcome of the video by `now`.
    pub fn report(&self, now: Instant) -> PlayerReport {
        match self {
            Self::Deadline(player) => player.report(now),
            Self::Vlc(player) => player.report(now),
        }
    }

    /// True once play has begun.
    pub const fn has_begun(&self) -> bool {
        match self {
            Self::Deadline(player) => player.has_begun(),
            Self::Vlc(player) => player.has_begun(),
        }
    }

    /// The bytes taken from the connection.
    pub const fn taken(&self) -> Bytes {
        match self {
            Self::Deadline(player) => player.taken(),
            Self::Vlc(player) => player.taken(),
        }
    }

    /// The video.
    pub const fn pictures(&self) -> &Pictures {
        match self {
            Self::Deadline(player) => player.pictures(),
            Self::Vlc(player) => player.pictures(),
        }
    }
}
