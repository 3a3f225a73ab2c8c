//! A player with deadlines: which pictures are shown, which come too late, when it has nothing to show.
//!
//! The model is ours (docs/guides/video.md): its source, the paper of Watanabe et al. (2013), counts
//! what `VLC` counts and does not say by which rules. VLC's are in `vlc.rs`.
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
//! * With `resize` the buffer follows the path: play, at first and after an underflow, also waits until
//!   what is held and the rate at which data came let the rest of the video play without a stop, and
//!   the buffer grows to that. A player knows the sizes of pictures from the file's index.
//! * With the kinds of a group's pictures, one that refers to a discarded one is discarded too, whenever
//!   it comes: after an I or a P all that follows until the next I.

use ackclock_units::{Bytes, Duration, Instant};

use super::Pictures;

/// Over which the rate is measured, and of how many such spans it is the mean.
const SPAN: Duration = Duration::from_secs(1);
const SPANS: usize = 8;

/// The numbers of a player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayerSettings {
    /// The most that the playout buffer holds; at least the largest picture.
    pub buffer: Bytes,
    /// The bytes that the buffer holds when play begins; at most `buffer`.
    pub start: Bytes,
    /// The bytes that the buffer holds when play goes on after an underflow; at most `buffer`.
    pub resume: Bytes,
    /// The speed at which late pictures are shown, as a multiple of the usual one: 1 makes up for
    /// nothing.
    pub catch_up: f64,
    /// The most that the buffer grows to, if it follows the path; at least `buffer`.
    pub resize: Option<Bytes>,
}

/// The kinds of the pictures of a group, over and over: true for those to which others refer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureGroup(Vec<bool>);

impl PictureGroup {
    /// The longest group.
    pub const MOST: usize = 1000;

    /// Reads kinds in the order of sending, such as `IBBP`.
    ///
    /// # Errors
    /// A line that says what is wrong.
    pub fn parse(kinds: &str) -> Result<Self, &'static str> {
        let wrong = "expected an I, then P and B, in all at most 1000, such as IBBPBBP";
        let (first, rest) = kinds.split_at_checked(1).ok_or(wrong)?;
        let known = first == "I" && rest.bytes().all(|kind| b"PB".contains(&kind));
        if !known || kinds.len() > Self::MOST {
            return Err(wrong);
        }
        Ok(Self(kinds.bytes().map(|kind| kind != b'B').collect()))
    }

    /// True if picture `n` refers to no other.
    const fn begins_at(&self, n: usize) -> bool {
        n.is_multiple_of(self.0.len())
    }

    /// True if others refer to picture `n`.
    fn is_referred_to(&self, n: usize) -> bool {
        self.0[n % self.0.len()]
    }
}

/// The outcome of a video so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayerReport {
    /// Pictures shown.
    pub shown: u64,
    /// Those of them shown later than if play had never stopped.
    pub late: u64,
    /// Pictures discarded.
    pub discarded: u64,
    /// The number of times that the buffer ran empty.
    pub underflows: u64,
    /// The time for which play stood still, up to the time of the report.
    pub stalled: Duration,
    /// When play began.
    pub began: Option<Instant>,
    /// When the last picture had been shown or discarded, and its time was over.
    pub finished: Option<Instant>,
    /// The present limit of the playout buffer.
    pub buffer: Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Filling,
    Playing,
    /// Frozen, since then.
    Frozen(Instant),
    Over,
}

/// A meter of the rate of arrivals while the player takes all that there is.
#[derive(Clone, Copy, Debug, Default)]
struct Meter {
    /// When the span began that is being measured, and what had been taken by then.
    span: Option<(Instant, u64)>,
    /// The last spans, in bytes per second.
    rates: [f64; SPANS],
    count: usize,
}

impl Meter {
    /// By `now` so much was taken; `waits` if there was room for more. Returns whether a span is over.
    fn see(&mut self, now: Instant, taken: u64, waits: bool) -> bool {
        if !waits {
            self.span = None;
            return false;
        }
        let (from, before) = *self.span.get_or_insert((now, taken));
        if now.since(from) < SPAN {
            return false;
        }
        let rate = (taken - before) as f64 / now.since(from).as_secs_f64();
        self.rates[self.count % SPANS] = rate;
        self.count += 1;
        self.span = Some((now, taken));
        true
    }

    /// The mean rate, in bytes per second: before a span is over, of its part.
    fn rate(&self, now: Instant, taken: u64) -> Option<f64> {
        if self.count > 0 {
            let known = self.count.min(SPANS);
            return Some(self.rates[..known].iter().sum::<f64>() / known as f64);
        }
        let (from, before) = self.span?;
        let passed = now.since(from).as_secs_f64();
        (passed > 0.0).then(|| (taken - before) as f64 / passed)
    }
}

/// A player with deadlines.
#[derive(Clone, Debug)]
pub struct DeadlinePlayer {
    settings: PlayerSettings,
    pictures: Pictures,
    state: State,
    /// The first picture that was neither shown nor discarded.
    next: usize,
    /// Its deadline, while playing.
    due: Instant,
    /// The deadline if play had never stopped.
    nominal: Instant,
    /// The bytes taken from the connection.
    taken: u64,
    meter: Meter,
    /// The bytes for which play waits, until the rate changes.
    awaited: Option<Bytes>,
    group: Option<PictureGroup>,
    /// True from a discarded picture, to which others refer, to the next that begins a group.
    broken: bool,
    report: PlayerReport,
}

impl DeadlinePlayer {
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
        if settings.resize.is_some_and(|most| most < settings.buffer) {
            return Err("expected at least as much as the buffer has from the beginning");
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
            meter: Meter::default(),
            awaited: None,
            group: None,
            broken: false,
            report: PlayerReport { buffer: settings.buffer, ..PlayerReport::default() },
        })
    }

    /// This player of a film whose pictures refer to one another.
    #[must_use]
    pub fn with_group(self, group: Option<PictureGroup>) -> Self {
        Self { group, ..self }
    }

    /// The bytes for which the playout buffer has room.
    pub fn room(&self) -> Bytes {
        self.report.buffer.saturating_sub(self.held())
    }

    /// The bytes in the playout buffer.
    pub fn held(&self) -> Bytes {
        // What is left of a discarded picture is thrown away as it comes.
        Bytes::new(self.taken.saturating_sub(self.pictures.start(self.next)))
    }

    /// The play time of the whole pictures that it holds.
    pub fn playable(&self) -> Duration {
        let whole = self.pictures.whole(self.taken).saturating_sub(self.next);
        self.pictures.interval() * whole as u64
    }

    /// Data comes from the connection, no more than there is [room](Self::room) for.
    pub fn take(&mut self, volume: Bytes) {
        self.taken += volume.get();
        debug_assert!(self.taken <= self.pictures.volume().get());
    }

    /// Does what is due by `now`, with what was [taken](Self::take) by then; returns when to come
    /// again if nothing is taken before. May make room.
    pub fn poll(&mut self, now: Instant) -> Option<Instant> {
        if self.settings.resize.is_some()
            && self.meter.see(now, self.taken, self.room() > Bytes::ZERO)
        {
            self.awaited = None;
        }
        if let Some(least) = self.waits_for()
            && !self.may_play(now, least)
        {
            return None;
        }
        match self.state {
            State::Filling => {
                self.report.began = Some(now);
                self.nominal = now;
                self.due = now;
            }
            State::Frozen(since) => {
                self.report.stalled += now.since(since);
                self.due = now;
            }
            State::Over => return None,
            State::Playing => {}
        }
        self.state = State::Playing;
        while self.due <= now {
            if self.next == self.pictures.count() {
                self.report.finished = Some(self.due);
                self.state = State::Over;
                return None;
            }
            if self.group.as_ref().is_some_and(|group| group.begins_at(self.next)) {
                self.broken = false;
            }
            if self.taken >= self.pictures.end(self.next) && self.broken {
                self.report.discarded += 1;
            } else if self.taken >= self.pictures.end(self.next) {
                self.report.shown += 1;
                self.report.late += u64::from(self.due > self.nominal);
            } else if self.held() > Bytes::ZERO {
                self.report.discarded += 1;
                self.broken |= self.group.as_ref().is_some_and(|g| g.is_referred_to(self.next));
            } else {
                self.report.underflows += 1;
                self.awaited = None;
                self.state = State::Frozen(self.due);
                return None;
            }
            self.advance();
        }
        Some(self.due)
    }

    /// The outcome of the video by `now`.
    pub fn report(&self, now: Instant) -> PlayerReport {
        let mut report = self.report;
        if let State::Frozen(since) = self.state {
            report.stalled += now.since(since);
        }
        report
    }

    /// True once play has begun.
    pub const fn has_begun(&self) -> bool {
        self.report.began.is_some()
    }

    /// The bytes taken from the connection.
    pub const fn taken(&self) -> Bytes {
        Bytes::new(self.taken)
    }

    /// The video.
    pub const fn pictures(&self) -> &Pictures {
        &self.pictures
    }

    /// The least bytes in the buffer for play to begin or go on, while it waits.
    const fn waits_for(&self) -> Option<Bytes> {
        match self.state {
            State::Filling => Some(self.settings.start),
            State::Frozen(_) => Some(self.settings.resume),
            State::Playing | State::Over => None,
        }
    }

    /// True if play may begin or go on: the buffer holds `least` and, if it may grow, all that play waits
    /// for. Raises the buffer's limit to that.
    fn may_play(&mut self, now: Instant, least: Bytes) -> bool {
        if self.taken == self.pictures.volume().get() {
            return true;
        }
        if self.held() < least {
            return false;
        }
        let Some(most) = self.settings.resize else { return true };
        let (next, taken) = (self.next, self.taken);
        let awaited = *self.awaited.get_or_insert_with(|| {
            // All at one moment: nothing will be waited for.
            let rate = self.meter.rate(now, taken).unwrap_or(f64::INFINITY);
            self.pictures.head_start(next, rate).clamp(least, most)
        });
        self.report.buffer = awaited.max(self.report.buffer);
        self.held() >= awaited
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
