//! A player by the rules of VLC 3.0, in our words (docs/guides/video.md#vlcs-rules). Measured against
//! VLC 3.0.24; what is read in its source names the file and the function there.
//!
//! * The demultiplexer reads the film in slices of 250 ms (`modules/demux/mp4/mp4.c`, `DemuxMoov`:
//!   `DEMUX_INCREMENT`), and tells the clock after each of them.
//! * Play begins when more than `pts_delay` of the film was read since the clock's first time, and 10 ms
//!   later; `pts_delay` is at first the network cache of 1 s (`src/input/es_out.c`,
//!   `EsOutDecodersStopBuffering`). So 1.25 s are read.
//! * From then on a slice is read when the one before is `pts_delay`, and up to 100 ms, before its time
//!   (`src/input/clock.c`, `input_clock_GetWakeup`); what else comes waits in a cache of 16 MiB
//!   (`modules/stream_filter/prefetch.c`), and then in the connection.
//! * A slice that is whole only after its time is an underflow: what the decoder holds is thrown away,
//!   and as much as at first is read anew before play goes on (`es_out.c`, `ES_OUT_SET_PCR`). Play is
//!   later from then on, and never hurries.
//! * By the median of its last three latenesses `pts_delay` grows then, and never shrinks (`clock.c`,
//!   `input_clock_GetJitter` and `input_clock_SetJitter`); a slow refill counts among them. Beyond 5 s
//!   more than at first the lateness is ignored: the clock begins anew with the next slice.
//! * After a throw-away the clock begins at the end of the next slice, so that the pictures of that slice
//!   are late, but for the first, which is shown whenever it comes.
//! * A picture that is decoded later than half an interval after its time is lost
//!   (`src/video_output/video_output.c`, `ThreadDisplayPreparePicture`). Of more than four in a row the
//!   following are decoded and not shown, of more than eleven not decoded (`modules/codec/avcodec/video.c`,
//!   `check_frame_should_be_dropped`): nobody counts them as lost.
//! * The decoder gives a picture when four later ones are there: two by the order of pictures, two by its
//!   three threads (`video.c`, `OpenVideoCodec`; a thread more than processors).

use std::collections::VecDeque;

use ackclock_units::{Bytes, Duration, Instant};

use super::{Pictures, PlayerReport};

/// The play time of a slice.
const SLICE: i64 = 250_000_000;
/// The network cache of VLC's settings.
const CACHING: i64 = 1_000_000_000;
/// The most by which `pts_delay` grows (`--clock-jitter`).
const MOST_JITTER: i64 = 5_000_000_000;
/// The most that is read ahead of `pts_delay`, and the share of each slice by which it grows.
const MOST_AHEAD: i64 = 100_000_000;
const AHEAD_SHARE: (i64, i64) = (48, 256);
/// The time from the end of filling to the first picture.
const WAKE_UP: i64 = 10_000_000;
/// The volume of the cache before the demultiplexer.
const PREFETCH: Bytes = Bytes::new(16 << 20);
/// By how many pictures the order of sending leads that of showing, as x264 has it.
const REORDER: usize = 2;
/// The pictures that the threads of the decoder hold.
const THREADS: usize = 2;
/// The time of decoding a picture, where many wait: that of libavcodec with one thread at 640x360 and
/// 5 Mbit/s.
const DECODING: i64 = 3_000_000;
/// The most late pictures in a row of which the next is still lost, and still decoded.
const MOST_LATE: u32 = 4;
const MOST_DECODED: u32 = 11;

/// The clock of the stream: which time of the film belongs to which instant. All in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clock {
    /// Filling: the film's time at which it began, and when; none before a slice was told.
    Filling(Option<(i64, i64)>),
    /// The film's beginning would have been shown at this instant.
    Running(i64),
    /// Reset without filling: the next slice sets it.
    Unset,
    /// All is shown.
    Over,
}

/// A player by VLC's rules.
#[derive(Clone, Debug)]
pub struct VlcPlayer {
    pictures: Pictures,
    interval: i64,
    clock: Clock,
    /// The bytes taken from the connection.
    taken: u64,
    /// The pictures that the decoder has got, and the first that has not left it.
    decoded: usize,
    next: usize,
    /// Slices that the clock was told of.
    slices: i64,
    /// When the next slice may be read.
    wake: i64,
    pts_delay: i64,
    /// The time by which reading is ahead of `pts_delay`.
    ahead: i64,
    lateness: [i64; 3],
    newest: usize,
    /// True if the next picture that leaves the decoder is shown whenever that is.
    forced: bool,
    late_in_row: u32,
    /// The times of pictures that are ready.
    ready: VecDeque<i64>,
    /// When the film's beginning was shown, and is shown.
    first_origin: Option<i64>,
    origin: i64,
    report: PlayerReport,
}

impl VlcPlayer {
    /// A player of `pictures`.
    pub fn new(pictures: Pictures) -> Self {
        Self {
            interval: signed(pictures.interval().as_nanos()),
            pictures,
            clock: Clock::Filling(None),
            taken: 0,
            decoded: 0,
            next: 0,
            slices: 0,
            wake: 0,
            pts_delay: CACHING,
            ahead: 0,
            lateness: [0; 3],
            newest: 0,
            forced: true,
            late_in_row: 0,
            ready: VecDeque::new(),
            first_origin: None,
            origin: 0,
            report: PlayerReport { buffer: PREFETCH, ..PlayerReport::default() },
        }
    }

    /// The bytes for which the cache has room.
    pub fn room(&self) -> Bytes {
        let read = self.pictures.start(self.decoded);
        let held = Bytes::new(self.taken.saturating_sub(read));
        let left = Bytes::new(self.pictures.volume().get() - self.taken);
        PREFETCH.saturating_sub(held).min(left)
    }

    /// The play time of the whole pictures that were not shown yet.
    pub fn playable(&self) -> Duration {
        let whole = self.pictures.whole(self.taken).saturating_sub(self.next) + self.ready.len();
        self.pictures.interval() * whole as u64
    }

    /// Data comes from the connection, no more than there is [room](Self::room) for.
    pub fn take(&mut self, volume: Bytes) {
        self.taken += volume.get();
    }

    /// Does what is due by `now`; returns when to come again if nothing is taken before. May make room.
    pub fn poll(&mut self, now: Instant) -> Option<Instant> {
        let time = signed(now.as_nanos());
        while self.read(time) {}
        self.show(time);
        let shown = self.ready.front().copied();
        let waits = self.wake > time && self.decoded < self.pictures.count();
        let read = waits.then_some(self.wake);
        let over = (self.has_left() && self.clock != Clock::Over).then(|| self.end());
        let next = [shown, read, over].into_iter().flatten().min();
        next.map(|at| instant(at.max(time + 1)))
    }

    /// The outcome of the video by `now`.
    pub fn report(&self, now: Instant) -> PlayerReport {
        let mut report = self.report;
        if let (Clock::Filling(_) | Clock::Unset, Some(_)) = (self.clock, self.first_origin) {
            // Play would be late by this if it went on now with the slice that is read.
            let resumes = self.origin + (self.slices + 1) * SLICE;
            report.stalled += span(signed(now.as_nanos()) - resumes);
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

    /// Reads on; returns true if a slice was finished, so that there may be more to do.
    fn read(&mut self, now: i64) -> bool {
        let all = self.pictures.count();
        if self.decoded == all || now < self.wake {
            return false;
        }
        let slice = (self.slices + 1) * SLICE;
        let sent = usize::try_from(slice / self.interval).unwrap_or(usize::MAX);
        let target = sent.saturating_add(REORDER + 1).min(all);
        let whole = self.pictures.whole(self.taken).min(target);
        if self.clock == Clock::Filling(None) && self.first_origin.is_none() && whole > 0 {
            self.clock = Clock::Filling(Some((0, now)));
        }
        while self.decoded < whole {
            self.decoded += 1;
            self.decode(now);
        }
        if self.decoded < target {
            return false;
        }
        self.slices += 1;
        self.tell(slice, now);
        true
    }

    /// The decoder has got another picture.
    fn decode(&mut self, now: i64) {
        if matches!(self.clock, Clock::Running(_) | Clock::Unset)
            && self.decoded > self.next + REORDER + THREADS
        {
            self.leave(now);
        }
    }

    /// A picture leaves the decoder at `now`.
    fn leave(&mut self, now: i64) {
        let n = self.next;
        self.next += 1;
        let Clock::Running(origin) = self.clock else {
            // Without a clock it has no time.
            self.report.discarded += 1;
            return;
        };
        let due = origin + signed(n as u64) * self.interval;
        if std::mem::take(&mut self.forced) {
            self.ready.push_back(due.max(now));
            return;
        }
        let late = now - due >= self.interval / 2;
        if self.late_in_row > MOST_DECODED {
            self.late_in_row -= 1;
            return;
        }
        let unseen = self.late_in_row > MOST_LATE;
        self.late_in_row = if late { self.late_in_row + 1 } else { 0 };
        match (unseen, late) {
            (true, _) => {}
            (false, true) => self.report.discarded += 1,
            (false, false) => self.ready.push_back(due.max(now)),
        }
    }

    /// The clock is told that the film was read up to `slice`.
    fn tell(&mut self, slice: i64, now: i64) {
        let end = self.decoded == self.pictures.count();
        match self.clock {
            Clock::Filling(None) if end => self.begin(slice, slice, now),
            Clock::Filling(None) => self.clock = Clock::Filling(Some((slice, now))),
            Clock::Filling(Some((from, since))) => {
                self.note(now - self.pts_delay - (since + slice - from));
                if slice - from > self.pts_delay || end {
                    self.begin(from, slice, now);
                }
            }
            Clock::Unset => {
                self.shift(now + self.pts_delay - slice);
                self.clock = Clock::Running(self.origin);
                self.ahead = 0;
                self.pace(slice);
            }
            Clock::Running(origin) if now > origin + slice => {
                self.note(now - origin - slice);
                self.underflow();
            }
            Clock::Running(_) => {
                self.ahead = MOST_AHEAD.min(self.ahead + SLICE * AHEAD_SHARE.0 / AHEAD_SHARE.1);
                self.pace(slice);
            }
            Clock::Over => {}
        }
        if end {
            while self.next < self.pictures.count() {
                self.leave(now);
            }
        }
    }

    /// Play begins, or goes on, with the time `from` of the film, which was read up to `slice`.
    fn begin(&mut self, from: i64, slice: i64, now: i64) {
        self.shift(now + WAKE_UP - from);
        self.clock = Clock::Running(self.origin);
        self.ahead = MOST_AHEAD.min((slice - from) * AHEAD_SHARE.0 / AHEAD_SHARE.1);
        self.pace(slice);
        self.report.began.get_or_insert_with(|| instant(now + WAKE_UP));
        let mut at = now;
        while self.decoded > self.next + REORDER + THREADS {
            self.leave(at);
            at += DECODING;
        }
    }

    /// The slice after `slice` is read when its own time is that near.
    const fn pace(&mut self, slice: i64) {
        self.wake = self.origin + slice - self.pts_delay - self.ahead;
    }

    fn underflow(&mut self) {
        self.report.underflows += 1;
        let [a, b, c] = self.lateness;
        let median = a.max(b).min(a.min(b).max(c));
        let grown = self.pts_delay + median;
        self.wake = 0;
        if grown > CACHING + MOST_JITTER {
            self.clock = Clock::Unset;
            return;
        }
        self.clock = Clock::Filling(None);
        self.next = self.decoded;
        self.ready.clear();
        self.forced = true;
        self.late_in_row = 0;
        if median > 0 {
            // Oldest first, less what is now allowed for.
            let old = [1, 2, 3].map(|n| self.lateness[(self.newest + n) % 3] - median);
            self.lateness = [0; 3];
            self.newest = 0;
            for late in old {
                self.note(late);
            }
            self.pts_delay = grown;
        }
    }

    /// Remembers a lateness, if it is one.
    const fn note(&mut self, late: i64) {
        if late > 0 {
            self.lateness[self.newest] = late;
            self.newest = (self.newest + 1) % 3;
        }
    }

    /// The film's beginning belongs to another instant.
    fn shift(&mut self, origin: i64) {
        match self.first_origin {
            None => self.first_origin = Some(origin),
            Some(_) => self.report.stalled += span(origin - self.origin),
        }
        self.origin = origin;
    }

    /// Shows what is due.
    fn show(&mut self, now: i64) {
        let late = self.first_origin.is_some_and(|first| self.origin > first);
        while self.ready.front().is_some_and(|at| *at <= now) {
            self.ready.pop_front();
            self.report.shown += 1;
            self.report.late += u64::from(late);
        }
        let over = self.has_left() && self.ready.is_empty() && now >= self.end();
        if over && self.clock != Clock::Over {
            self.report.finished = Some(instant(self.end()));
            self.clock = Clock::Over;
        }
    }

    /// True if no picture is before or in the decoder.
    fn has_left(&self) -> bool {
        self.next == self.pictures.count() && self.first_origin.is_some()
    }

    /// When the time of the last picture is over.
    fn end(&self) -> i64 {
        self.origin + signed(self.pictures.count() as u64) * self.interval
    }
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn instant(nanos: i64) -> Instant {
    Instant::from_nanos(u64::try_from(nanos).unwrap_or(0))
}

/// A time, none if it is below zero.
fn span(nanos: i64) -> Duration {
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
}

#[cfg(test)]
mod tests;
