//! A player: which pictures are shown, which come too late, when it has nothing to show.
//!
//! The model is ours (docs/guides/video.md): its source, the paper of Watanabe et al. (2013), counts
//! what `VLC` counts and does not say by which rules.
//!
//! * Play begins when the playout buffer holds `start`, or the rest of the video.
//! * Every picture has a deadline, an interval after that of the one before. A picture that is whole
//!   by then is shown. One of which a part is there is discarded: it will not be shown, and what is
//!   missing of it is thrown away when it comes.
//! * If nothing of it is there the buffer is empty, an underflow: the player freezes until the buffer
//!   holds `resume`, or the rest of the video. Then it goes on with that picture, and faster by
//!   `catch_up` until the time that it stood still is made up for. No picture is discarded because
//!   it is late by the clock on the wall.
//! * The buffer never holds more than `buffer`: what does not fit waits in the connection.

use ackclock_units::{Bytes, Duration, Instant};

use super::Pictures;

/// The numbers of a player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayerSettings {
    /// The most that the playout buffer holds; at least the largest picture.
    pub buffer: Bytes,
    /// What it holds when play begins; at most `buffer`.
    pub start: Bytes,
    /// What it holds when play goes on after an underflow; at most `buffer`.
    pub resume: Bytes,
    /// How many times as fast as usual late pictures are shown: 1 makes up for nothing.
    pub catch_up: f64,
}

/// What became of a video so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayerReport {
    /// Pictures shown.
    pub shown: u64,
    /// Those of them shown later than if play had never stopped.
    pub late: u64,
    /// Pictures discarded.
    pub discarded: u64,
    /// How often the buffer ran empty.
    pub underflows: u64,
    /// How long play stood still, up to the time of the report.
    pub stalled: Duration,
    /// When play began.
    pub began: Option<Instant>,
    /// When the last picture had been shown or discarded, and its time was over.
    pub finished: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Filling,
    Playing,
    /// Frozen, since then.
    Frozen(Instant),
    Over,
}

/// A player.
#[derive(Clone, Debug)]
pub struct Player {
    settings: PlayerSettings,
    pictures: Pictures,
    state: State,
    /// The first picture that was neither shown nor discarded.
    next: usize,
    /// Its deadline, while playing.
    due: Instant,
    /// What it would be if play had never stopped.
    nominal: Instant,
    /// What was taken from the connection.
    taken: u64,
    report: PlayerReport,
}

impl Player {
    /// A player of `pictures`.
    ///
    /// # Errors
    /// A line that says which setting is impossible.
    pub fn new(settings: PlayerSettings, pictures: Pictures) -> Result<Self, &'static str> {
        if settings.buffer < pictures.largest() {
            return Err("the buffer is smaller than the largest picture");
        }
        if settings.start > settings.buffer || settings.resume > settings.buffer {
            return Err("the buffer is smaller than what play waits for");
        }
        if !(1.0..=10.0).contains(&settings.catch_up) {
            return Err("expected a speed of catching up from 1 to 10");
        }
        Ok(Self {
            settings,
            pictures,
            state: State::Filling,
            next: 0,
            due: Instant::NEVER,
            nominal: Instant::NEVER,
            taken: 0,
            report: PlayerReport::default(),
        })
    }

    /// How much more the playout buffer takes.
    pub fn room(&self) -> Bytes {
        self.settings.buffer.saturating_sub(self.held())
    }

    /// What the playout buffer holds.
    pub fn held(&self) -> Bytes {
        // What is left of a discarded picture is thrown away as it comes.
        Bytes::new(self.taken.saturating_sub(self.pictures.start(self.next)))
    }

    /// Data comes from the connection, no more than there is [room](Self::room) for.
    pub fn take(&mut self, volume: Bytes) {
        self.taken += volume.get();
        debug_assert!(self.taken <= self.pictures.volume().get());
    }

    /// Does what is due by `now`, with what was [taken](Self::take) by then; returns when to come
    /// again if nothing is taken before. May make room.
    pub fn poll(&mut self, now: Instant) -> Option<Instant> {
        match self.state {
            State::Filling if self.holds(self.settings.start) => {
                self.report.began = Some(now);
                self.state = State::Playing;
                self.due = now;
                self.nominal = now;
            }
            State::Frozen(since) if self.holds(self.settings.resume) => {
                self.report.stalled += now.since(since);
                self.state = State::Playing;
                self.due = now;
            }
            State::Filling | State::Frozen(_) | State::Over => return None,
            State::Playing => {}
        }
        while self.due <= now {
            if self.next == self.pictures.count() {
                self.report.finished = Some(self.due);
                self.state = State::Over;
                return None;
            }
            if self.taken >= self.pictures.end(self.next) {
                self.report.shown += 1;
                self.report.late += u64::from(self.due > self.nominal);
            } else if self.held() > Bytes::ZERO {
                self.report.discarded += 1;
            } else {
                self.report.underflows += 1;
                self.state = State::Frozen(self.due);
                return None;
            }
            self.advance();
        }
        Some(self.due)
    }

    /// What became of the video by `now`.
    pub fn report(&self, now: Instant) -> PlayerReport {
        let mut report = self.report;
        if let State::Frozen(since) = self.state {
            report.stalled += now.since(since);
        }
        report
    }

    /// What was taken from the connection.
    pub const fn taken(&self) -> Bytes {
        Bytes::new(self.taken)
    }

    /// The video.
    pub const fn pictures(&self) -> &Pictures {
        &self.pictures
    }

    fn holds(&self, level: Bytes) -> bool {
        self.held() >= level || self.taken == self.pictures.volume().get()
    }

    fn advance(&mut self) {
        let interval = self.pictures.interval();
        self.next += 1;
        self.nominal += interval;
        let hurried = Duration::from_secs_f64(interval.as_secs_f64() / self.settings.catch_up);
        self.due = self.nominal.max(self.due + hurried);
    }
}

#[cfg(test)]
mod tests;
