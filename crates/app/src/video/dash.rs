//! Segments at several rates over one connection, as DASH (ISO/IEC 23009-1) and HLS (RFC 8216) have
//! them: the client chooses the rate of each, asks for it, and plays what is whole.
//!
//! * The client asks for one segment at a time, and for the next as soon as the buffer, with that
//!   segment, holds no more than `buffer` of play.
//! * Play begins when `start` of play is there, and goes on after a stop when `resume` is, or all that
//!   is left. A segment is played from the moment at which it is whole at the earliest, and never
//!   discarded. Nothing is asked for again at another rate, and no download is given up.
//! * The rate of a segment follows from what the segments before it took
//!   ([`Adaptation::Throughput`]) or from what the buffer holds ([`Adaptation::Buffer`]); the first is of
//!   the lowest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use ackclock_tcp::Nagle;
use ackclock_units::{Bytes, Duration, Instant, Rate};

use crate::{App, Note, Transport};

/// The size of a request for a segment, with the headers that players send (RFC 9110).
const REQUEST: Bytes = Bytes::new(300);
/// The number of segments of whose throughputs the harmonic mean is taken, and below it the share of
/// the mean that is trusted (J. Jiang, V. Sekar and H. Zhang, "Improving Fairness, Efficiency, and
/// Stability in HTTP-based Adaptive Video Streaming with FESTIVE", `CoNEXT` 2012, section 4).
const SEGMENTS: usize = 20;
const TRUSTED: f64 = 0.85;
/// BBA-0's reservoir and cushion, 90 s and 126 s of a buffer of 240 s (T.-Y. Huang et al., "A
/// Buffer-Based Approach to Rate Adaptation", SIGCOMM 2014, section 4.2).
const RESERVOIR: f64 = 0.375;
const CUSHION: f64 = 0.525;

/// The sizes of a video's segments at each of its rates, shared by both ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ladder {
    rates: Arc<[Rate]>,
    /// The size of segment n at level l, at the index n · levels + l.
    sizes: Arc<[Bytes]>,
    segment: Duration,
}

impl Ladder {
    /// The most segments: a week of seconds.
    pub const MOST: usize = 7 * 24 * 60 * 60;
    /// The most rates.
    pub const MOST_RATES: usize = 32;

    /// Segments of `segment` of play at each of `rates`, in growing order. `weights` say how the bytes
    /// of one rate are shared out among the segments, in any unit: all alike have a constant rate.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    pub fn new(
        rates: &[Rate],
        segment: Duration,
        weights: &[u64],
    ) -> Result<Self, (&'static str, &'static str)> {
        Self::check_rates(rates)?;
        if segment == Duration::ZERO {
            return Err(("segment", "expected more than 0 s"));
        }
        if weights.is_empty() || weights.len() > Self::MOST {
            return Err(("length", "expected from 1 to 604800 segments"));
        }
        let whole: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
        if whole == 0 {
            return Err(("pictures", "expected more than 0 B"));
        }
        let span = u128::from(segment.as_nanos()) * weights.len() as u128;
        let mut sizes = Vec::with_capacity(weights.len() * rates.len());
        let mut so_far = 0_u128;
        for weight in weights {
            let before = so_far;
            so_far += u128::from(*weight);
            for rate in rates {
                // Where the segment ends in a file of this rate: the roundings do not add up.
                let volume = u128::from(rate.as_bps()) * span / 8_000_000_000;
                let size = so_far * volume / whole - before * volume / whole;
                sizes.push(Bytes::new(u64::try_from(size.max(1)).unwrap_or(u64::MAX)));
            }
        }
        Ok(Self { rates: rates.into(), sizes: sizes.into(), segment })
    }

    /// Checks the rates alone.
    ///
    /// # Errors
    /// The key and the reason.
    pub fn check_rates(rates: &[Rate]) -> Result<(), (&'static str, &'static str)> {
        if rates.is_empty() || rates.len() > Self::MOST_RATES {
            return Err(("rates", "expected from 1 to 32 rates"));
        }
        if !rates.is_sorted_by(|a, b| a.as_bps() < b.as_bps()) || rates[0].as_bps() == 0 {
            return Err(("rates", "expected rates above 0 in growing order"));
        }
        Ok(())
    }

    /// The number of segments.
    pub fn count(&self) -> usize {
        self.sizes.len() / self.rates.len()
    }

    /// The play time of each.
    pub const fn segment(&self) -> Duration {
        self.segment
    }

    /// The rates, the lowest first.
    pub fn rates(&self) -> &[Rate] {
        &self.rates
    }

    /// The bytes of segment `n` at a level.
    pub fn size(&self, n: usize, level: usize) -> Bytes {
        self.sizes[n * self.rates.len() + level]
    }

    /// The highest level of at most `rate`, in bits a second; the lowest if there is none.
    fn at_most(&self, rate: f64) -> usize {
        self.rates.partition_point(|own| own.as_bps() as f64 <= rate).saturating_sub(1)
    }
}

/// The rule by which the rate of a segment is chosen; the first is of the lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "AdaptSpec")]
pub enum Adaptation {
    /// The highest of at most 85 % of the harmonic mean of the last 20 segments' throughputs (FESTIVE).
    // Each from the request to the last byte.
    #[default]
    Throughput,
    /// By what the buffer holds: the lowest below 37.5 % of `buffer`, the highest above 90 %, and on a
    /// line between them (BBA-0).
    // The rate stays as it was within a step of that.
    Buffer,
}

/// The numbers of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DashSettings {
    /// The most play that the buffer holds; at least two segments.
    pub buffer: Duration,
    /// The play that the buffer holds when play begins; at most `buffer`.
    pub start: Duration,
    /// The play that the buffer holds when play goes on after a stop; at most `buffer`.
    pub resume: Duration,
    /// The choice of rates.
    pub adaptation: Adaptation,
    /// The time from a picture to the next.
    pub picture: Duration,
}

/// The outcome of a video in segments so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DashReport {
    /// Segments that came whole.
    pub segments: u64,
    /// The play that was shown.
    pub played: Duration,
    /// The number of times that the buffer ran empty before the end.
    pub underflows: u64,
    /// The time for which play stood still, up to the time of the report.
    pub stalled: Duration,
    /// The part of `played` that was shown later than if play had never stopped.
    pub late: Duration,
    /// The number of segments that had another rate than the one before.
    pub switches: u64,
    /// The mean of the rates of the segments that came, in bits a second.
    pub mean_bps: f64,
    /// When play began.
    pub began: Option<Instant>,
    /// When all had been played.
    pub finished: Option<Instant>,
    /// Bytes of segments that came.
    pub taken: Bytes,
}

/// The contents of requests, since bytes here have none: the level of each segment, written before the
/// request is and read when it has arrived.
type Asked = Arc<[AtomicU8]>;

/// Both ends of a video in segments.
///
/// # Errors
/// A line that says which duration is impossible.
pub fn dash_pair(
    ladder: &Ladder,
    settings: DashSettings,
) -> Result<(DashServer, DashClient), &'static str> {
    let asked: Asked = (0..ladder.count()).map(|_| AtomicU8::new(0)).collect();
    let client = DashClient::new(ladder.clone(), settings, Arc::clone(&asked))?;
    Ok((DashServer { ladder: ladder.clone(), asked, answered: 0 }, client))
}

/// Sends the segments that are asked for.
#[derive(Debug)]
pub struct DashServer {
    ladder: Ladder,
    asked: Asked,
    answered: usize,
}

impl<T: Transport> App<T> for DashServer {
    fn poll(&mut self, now: Instant, endpoint: &mut T, notes: &mut Vec<Note>) -> Option<Instant> {
        endpoint.read(now, endpoint.readable());
        let count = self.ladder.count();
        if self.answered == 0 {
            // As web servers have it: otherwise the end of every segment waits for a delayed ACK.
            endpoint.set_nagle(Nagle::Off);
        }
        while self.answered < count && endpoint.received() >= REQUEST * (self.answered as u64 + 1) {
            let level = usize::from(self.asked[self.answered].load(Ordering::Relaxed));
            let size = self.ladder.size(self.answered, level);
            endpoint.write(size);
            notes.push(Note::Object(size));
            self.answered += 1;
        }
        if endpoint.peer_finished() {
            endpoint.shutdown_write();
        }
        None
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing was played yet.
    Filling,
    /// Until the buffer is empty, at this moment, if nothing comes.
    Playing(Instant),
    /// Standing still, since then.
    Stopped(Instant),
    Over,
}

/// The segment that is being downloaded.
#[derive(Clone, Copy, Debug)]
struct Download {
    asked: Instant,
    level: usize,
    missing: Bytes,
}

/// Asks for segments and plays them.
#[derive(Debug)]
pub struct DashClient {
    ladder: Ladder,
    settings: DashSettings,
    asked: Asked,
    opened: Option<Instant>,
    state: State,
    download: Option<Download>,
    /// The level of the last segment.
    level: usize,
    /// Play time that is there while it stands still.
    held: Duration,
    /// The reciprocals of the last throughputs, in seconds per bit.
    slowness: [f64; SEGMENTS],
    report: DashReport,
    /// The sum of the rates of segments, in bits a second.
    rates: f64,
}

impl DashClient {
    fn new(ladder: Ladder, settings: DashSettings, asked: Asked) -> Result<Self, &'static str> {
        if settings.buffer < ladder.segment * 2 {
            return Err("the buffer is shorter than two segments");
        }
        if settings.start > settings.buffer || settings.resume > settings.buffer {
            return Err("the buffer is shorter than what play waits for");
        }
        Ok(Self {
            ladder,
            settings,
            asked,
            opened: None,
            state: State::Filling,
            download: None,
            level: 0,
            held: Duration::ZERO,
            slowness: [0.0; SEGMENTS],
            report: DashReport::default(),
            rates: 0.0,
        })
    }

    /// The video.
    pub const fn ladder(&self) -> &Ladder {
        &self.ladder
    }

    /// The number of pictures in so much of play.
    pub fn pictures(&self, play: Duration) -> u64 {
        // Half of one for what the time between two was rounded to whole nanoseconds.
        let picture = self.settings.picture.as_nanos();
        (play.as_nanos() + picture / 2) / picture.max(1)
    }

    /// When the connection was opened.
    pub const fn opened(&self) -> Option<Instant> {
        self.opened
    }

    /// The outcome of the video by `now`.
    pub fn report(&self, now: Instant) -> DashReport {
        let mut report = self.report;
        match self.state {
            State::Stopped(since) => report.stalled += now.since(since),
            // Nobody looked since.
            State::Playing(empty) if self.next() < self.ladder.count() && now > empty => {
                report.underflows += 1;
                report.stalled += now.since(empty);
            }
            State::Filling | State::Playing(_) | State::Over => {}
        }
        let came = self.ladder.segment * report.segments;
        report.played = came.saturating_sub(self.buffered(now));
        if report.segments > 0 {
            report.mean_bps = self.rates / report.segments as f64;
        }
        // All that came after the first stop is late: nothing is played faster.
        report.late = report.late.saturating_sub(came.saturating_sub(report.played));
        report
    }

    /// The play time in the buffer.
    pub fn buffered(&self, now: Instant) -> Duration {
        match self.state {
            State::Playing(empty) => empty.since(now),
            State::Filling | State::Stopped(_) => self.held,
            State::Over => Duration::ZERO,
        }
    }

    /// The number of the segment that is asked for next.
    #[expect(clippy::cast_possible_truncation, reason = "at most `Ladder::MOST`")]
    const fn next(&self) -> usize {
        self.report.segments as usize
    }

    fn choose(&self, now: Instant) -> usize {
        if self.report.segments == 0 {
            return 0;
        }
        match self.settings.adaptation {
            Adaptation::Throughput => {
                let known = self.next().min(SEGMENTS);
                let mean = known as f64 / self.slowness[..known].iter().sum::<f64>();
                self.ladder.at_most(TRUSTED * mean)
            }
            Adaptation::Buffer => self.by_buffer(self.buffered(now)),
        }
    }

    /// BBA-0, algorithm 1 of Huang et al.
    fn by_buffer(&self, buffered: Duration) -> usize {
        let rates = self.ladder.rates();
        let top = rates.len() - 1;
        let full = buffered.as_secs_f64() / self.settings.buffer.as_secs_f64();
        let place = ((full - RESERVOIR) / CUSHION).clamp(0.0, 1.0);
        let bps = |level: usize| rates[level].as_bps() as f64;
        let asked = bps(0) + place * (bps(top) - bps(0));
        if place <= 0.0 {
            0
        } else if place >= 1.0 {
            top
        } else if asked >= bps((self.level + 1).min(top)) {
            // The highest rate below what the line gives.
            (0..=top).rev().find(|level| bps(*level) < asked).unwrap_or(0).max(self.level)
        } else if asked <= bps(self.level.saturating_sub(1)) {
            // The lowest above it.
            (0..=top).find(|level| bps(*level) > asked).unwrap_or(top).min(self.level)
        } else {
            self.level
        }
    }

    /// Lets time pass: what was to run empty does.
    fn catch_up(&mut self, now: Instant) {
        let State::Playing(empty) = self.state else { return };
        if self.next() == self.ladder.count() {
            if now >= empty {
                self.report.finished = Some(empty);
                self.state = State::Over;
            }
        } else if now > empty {
            self.report.underflows += 1;
            self.held = Duration::ZERO;
            self.state = State::Stopped(empty);
        }
    }

    /// A segment is whole.
    fn arrived(&mut self, now: Instant, download: Download) {
        let size = self.ladder.size(self.next(), download.level);
        let took = now.since(download.asked).as_secs_f64();
        self.slowness[self.next() % SEGMENTS] = took / size.bits() as f64;
        self.report.switches += u64::from(self.report.segments > 0 && download.level != self.level);
        self.level = download.level;
        self.rates += self.ladder.rates()[download.level].as_bps() as f64;
        self.report.segments += 1;
        self.report.taken += size;
        let segment = self.ladder.segment;
        if self.report.underflows > 0 {
            self.report.late += segment;
        }
        let last = self.next() == self.ladder.count();
        match self.state {
            State::Playing(empty) => self.state = State::Playing(empty + segment),
            State::Filling | State::Stopped(_) => {
                self.held += segment;
                let awaited = if self.state == State::Filling {
                    self.settings.start
                } else {
                    self.settings.resume
                };
                if self.held >= awaited || last {
                    if let State::Stopped(since) = self.state {
                        self.report.stalled += now.since(since);
                    } else {
                        self.report.began = Some(now);
                    }
                    self.state = State::Playing(now + self.held);
                    self.held = Duration::ZERO;
                }
            }
            State::Over => {}
        }
    }

    /// When the next segment is to be asked for; `None` if all were.
    fn asks_at(&self, now: Instant) -> Option<Instant> {
        if self.next() == self.ladder.count() {
            return None;
        }
        // What stands still has room for all that play waits for.
        let State::Playing(_) = self.state else { return Some(now) };
        let room = self.settings.buffer.saturating_sub(self.ladder.segment);
        Some(now + self.buffered(now).saturating_sub(room))
    }
}

impl<T: Transport> App<T> for DashClient {
    fn poll(&mut self, now: Instant, endpoint: &mut T, _: &mut Vec<Note>) -> Option<Instant> {
        self.opened.get_or_insert(now);
        self.catch_up(now);
        if let Some(mut download) = self.download.take() {
            let came = endpoint.read(now, endpoint.readable().min(download.missing));
            download.missing = download.missing.saturating_sub(came);
            if download.missing == Bytes::ZERO {
                self.arrived(now, download);
            } else {
                self.download = Some(download);
            }
        }
        let mut wake = match self.state {
            State::Playing(empty) if self.next() == self.ladder.count() => Some(empty),
            _ => None,
        };
        if self.download.is_none() {
            match self.asks_at(now) {
                Some(at) if at <= now => {
                    let n = self.next();
                    let level = self.choose(now);
                    self.asked[n].store(u8::try_from(level).unwrap_or(u8::MAX), Ordering::Relaxed);
                    let missing = self.ladder.size(n, level);
                    self.download = Some(Download { asked: now, level, missing });
                    endpoint.write(REQUEST);
                }
                Some(at) => wake = Some(at),
                None => endpoint.shutdown_write(),
            }
        }
        wake
    }
}

#[cfg(test)]
mod tests;
