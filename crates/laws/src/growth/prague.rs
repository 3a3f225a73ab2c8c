//! Prague: draft-briscoe-iccrg-prague-congestion-control-04 (July 2024), with the constants of its implementations for UDP
//! and for Linux.
//!
//! A scalable law for L4S (RFC 9331): marks are frequent, and each round with some takes away half of their mean share. It
//! grows by a segment in a reference round trip of 25 ms, however short the path's own is.

mod fallback;

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant, Mss, Rate};

use super::bbr::{NOMINAL_RTT, pacing_rate};
use super::contract::{About, Growth, Law, Wants};
use super::variables::variables;
use crate::event::{
    Ack, Congestion, Established, Limit, MarkReport, Proposal, RecoveryEnd, RttSample, Signal,
    SlowStartStep,
};
use crate::words::{Described, Word};
use fallback::Fallback;

/// The weight of the last round in the mean.
const GAIN: f64 = 1.0 / 16.0;
/// The round trip by which the law goes where the path's own is shorter.
const REFERENCE_RTT: Duration = Duration::from_millis(25);
/// The rounds after slow start from which it goes by that.
const DEPENDENT_ROUNDS: u32 = 4;
/// The least rate, in bytes per second: 100 kbit/s.
const LEAST_RATE: f64 = 12_500.0;
/// The share by which the pacing rate is above the window's in the first half of a round, and below in the second.
const RATE_OFFSET: f64 = 0.03;
/// The largest gain of the pacing rate, well below the threshold.
const START_GAIN: f64 = 2.0;

/// The choices that a name makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PragueSettings {
    /// True if it goes by the reference round trip.
    independent: bool,
    /// True if it looks for queues that mark as RFC 3168 has it, and reduces for them as CUBIC does.
    fallback: bool,
}

/// A scalable law: half of the mean share of marks a round, a segment a reference round trip.
#[derive(Clone, Debug)]
pub struct Prague {
    settings: PragueSettings,
    /// The window in bytes, which may be a part of a segment.
    window: f64,
    ssthresh: Option<Bytes>,
    /// The window and the threshold before the last reduction.
    undo: Option<(f64, Option<Bytes>)>,
    /// True from a timeout until the window has two segments again.
    timed_out: bool,
    /// The mean share of data that met congestion, 0 to 1.
    alpha: f64,
    /// True once something was marked: before, the mean is not kept, and the first mark halves the window.
    marked_ever: bool,
    /// Data acknowledged in the round, and the part that met congestion.
    counted: f64,
    marked: f64,
    /// True from a report of a mark to the event that tells the time.
    mark_waits: bool,
    /// SND.UNA and SND.NXT as of the last report.
    una: Seq,
    nxt: Seq,
    /// The round is over when more than this is acknowledged, and [`round_began`](Self::round_began) is a round trip ago.
    round_end: Seq,
    round_began: Instant,
    /// The rounds since slow start.
    rounds: u32,
    /// The last reduction by a mark.
    reduced_at: Option<Instant>,
    srtt: Duration,
    /// The time of the last event.
    now: Instant,
    mss: Mss,
    fallback: Fallback,
}

impl Prague {
    fn new(settings: PragueSettings) -> Self {
        Self {
            settings,
            window: 0.0,
            ssthresh: None,
            undo: None,
            timed_out: false,
            alpha: 0.0,
            marked_ever: false,
            counted: 0.0,
            marked: 0.0,
            mark_waits: false,
            una: Seq::FIRST_BYTE,
            nxt: Seq::FIRST_BYTE,
            round_end: Seq::FIRST_BYTE,
            round_began: Instant::START,
            rounds: 0,
            reduced_at: None,
            srtt: NOMINAL_RTT,
            now: Instant::START,
            mss: Mss::default(),
            fallback: Fallback::default(),
        }
    }

    /// The mean share of data that met congestion, 0 to 1.
    pub const fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The round trip by which the law goes.
    fn virtual_rtt(&self) -> Duration {
        let independent = self.settings.independent && self.rounds >= DEPENDENT_ROUNDS;
        if independent { self.srtt.max(REFERENCE_RTT) } else { self.srtt }
    }

    /// The time is `now`: a round may be over, and its marks count.
    fn tick(&mut self, now: Instant) {
        self.now = now;
        if self.una > self.round_end && now.since(self.round_began) >= self.virtual_rtt() {
            self.end_round();
        }
        if std::mem::take(&mut self.mark_waits) {
            self.on_mark();
        }
    }

    /// The round is over.
    fn end_round(&mut self) {
        if self.marked_ever && self.counted > 0.0 {
            self.alpha += GAIN * (self.marked / self.counted - self.alpha);
        }
        if self.ssthresh.is_some() {
            self.rounds = self.rounds.saturating_add(1);
        }
        if self.settings.fallback {
            self.fallback.end_round();
        }
        (self.counted, self.marked) = (0.0, 0.0);
        (self.round_end, self.round_began) = (self.nxt, self.now);
    }

    /// Adds what `bytes` without a mark are worth: a segment a virtual round trip, in which the window passes as often as
    /// the path's round trip fits.
    fn grow(&mut self, bytes: Bytes) {
        let share = self.srtt.as_secs_f64() / self.virtual_rtt().as_secs_f64();
        let step = bytes.as_f64() * f64::from(self.mss.get()) * share * share / self.window;
        // Below a segment the window would more than double with each.
        self.window += step.min(bytes.as_f64());
    }

    /// The window becomes `left`, and no less than the rate may be.
    fn reduce_to(&mut self, left: f64) {
        self.undo = Some((self.window, self.ssthresh));
        self.window = left.max(self.least()).min(self.window);
        self.ssthresh = Some(self.cwnd().max(self.mss.times(2)));
    }

    /// The window of the least rate.
    fn least(&self) -> f64 {
        LEAST_RATE * self.srtt.as_secs_f64()
    }

    /// A mark was told, of a packet of whatever round.
    fn on_mark(&mut self) {
        let first = !self.marked_ever || self.in_slow_start();
        let since = self.reduced_at.map(|at| self.now.since(at));
        let least = if first { self.srtt } else { self.virtual_rtt() };
        self.marked_ever = true;
        if since.is_some_and(|since| since < least) {
            return;
        }
        self.reduced_at = Some(self.now);
        let share = if first { 1.0 } else { self.share() };
        self.reduce_to(self.window * (1.0 - share / 2.0));
    }

    /// Twice the share of the window that a mark takes.
    fn share(&self) -> f64 {
        if self.settings.fallback { self.fallback.share(self.alpha) } else { self.alpha }
    }
}

impl Described for Prague {
    type Settings = PragueSettings;

    const WORDS: &'static [Word<PragueSettings>] = &[
        Word::alone(
            "prague",
            PragueSettings { independent: true, fallback: false },
            "Prague for L4S: reduced by the share of marks, as fast at any round trip below 25 ms",
        ),
        Word::with(
            "prague",
            "rttdependent",
            PragueSettings { independent: false, fallback: false },
            "Prague that grows by a segment in the path's own round trip",
        ),
        Word::with(
            "prague",
            "fallback",
            PragueSettings { independent: true, fallback: true },
            "Prague that looks for queues which mark as RFC 3168 has it, and reduces more for them",
        ),
    ];
}

impl Law for Prague {
    const ABOUT: About = About {
        source: "draft-briscoe-iccrg-prague-congestion-control-04",
        needs_marks: true,
        l4s: true,
        ..About::PLAIN
    };

    fn make(settings: PragueSettings) -> Self {
        Self::new(settings)
    }
}

impl Growth for Prague {
    variables! { law =>
        "alpha", "the mean share of data that met congestion": law.alpha;
        "window_bytes", "the window, which may be a part of a segment": law.window;
        "virtual_rtt_s", "the round trip by which the law goes": law.virtual_rtt();
        "classic_score", "the fall-back's belief in a queue that marks as RFC 3168 has it, sure from 1 on":
            law.fallback.score;
    }

    fn wants(&self) -> Wants {
        Wants { measures_marks: true, grows_unused: true, ..Wants::ACKS }
    }

    fn on_established(&mut self, established: &Established) {
        if let Some(srtt) = established.srtt {
            self.srtt = srtt.max(Duration::from_micros(1));
        }
    }

    fn on_rtt(&mut self, sample: &RttSample) {
        if self.settings.fallback {
            self.fallback.on_rtt(sample.rtt);
        }
        self.tick(sample.now);
    }

    fn on_marks(&mut self, report: &MarkReport) {
        self.counted += report.counted.as_f64();
        self.marked += report.marked.as_f64();
        self.mark_waits |= report.marked > Bytes::ZERO;
        (self.una, self.nxt) = (report.una, report.nxt);
    }

    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        self.mss = ack.mss;
        if let Some(srtt) = ack.srtt {
            self.srtt = srtt.max(Duration::from_micros(1));
        }
        self.tick(ack.now);
        self.timed_out &= self.window < ack.mss.times(2).as_f64();
        if let Some(step) = slow_start {
            if ack.may_grow || step.exit {
                self.window += step.increase.as_f64();
            }
            if step.exit {
                self.ssthresh = Some(self.cwnd());
            }
            return;
        }
        let two = ack.mss.times(2).as_f64();
        if ack.may_grow {
            self.grow(ack.newly_acked);
        } else if self.window < two {
            // The rate alone holds packets back, so that the window seems unused.
            self.grow(ack.newly_acked);
            self.window = self.window.min(two);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.mss = congestion.mss;
        // Marks are heard of one by one, and this is but the first of a round trip.
        self.mark_waits |= matches!(congestion.signal, Signal::Ecn { .. });
        self.tick(congestion.now);
        let half = (congestion.reduce_from / 2).max(congestion.mss.times(2));
        match congestion.signal {
            Signal::Ecn { .. } => {}
            Signal::Loss => {
                self.reduce_to(half.as_f64());
                self.reduced_at = Some(congestion.now);
            }
            Signal::Timeout { consecutive } => {
                if consecutive <= 1 {
                    self.undo = Some((self.window, self.ssthresh));
                    self.ssthresh = Some(half);
                }
                self.window = congestion.mss.bytes().as_f64();
                self.timed_out = true;
            }
        }
    }

    fn on_recovery_end(&mut self, end: &RecoveryEnd) {
        if let Some(at_most) = end.at_most {
            self.window = self.window.min(at_most.as_f64());
        }
    }

    fn on_spurious(&mut self) {
        if let Some((window, ssthresh)) = self.undo.take() {
            self.window = self.window.max(window);
            self.ssthresh = match (self.ssthresh, ssthresh) {
                (Some(now), Some(then)) => Some(now.max(then)),
                _ => None,
            };
        }
    }

    fn rebase(&mut self, proposal: &Proposal) {
        self.mss = proposal.mss;
        if let Some(cwnd) = proposal.cwnd {
            self.window = cwnd.as_f64();
            self.timed_out = cwnd < proposal.mss.times(2);
        }
        if let Some(ssthresh) = proposal.ssthresh {
            self.ssthresh = Some(ssthresh);
        }
    }

    /// Two segments at least, but for a timeout: less than these the pacing rate has in flight.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive window, rounded down to whole bytes"
    )]
    fn cwnd(&self) -> Bytes {
        let least = self.mss.times(if self.timed_out { 1 } else { 2 });
        Bytes::new(self.window as u64).max(least)
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.ssthresh
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let base = self.window.max(self.least()) / self.srtt.as_secs_f64();
        let starts = self.ssthresh.is_none_or(|ssthresh| self.cwnd() < ssthresh / 2);
        let gain = if starts {
            START_GAIN
        } else if self.now.since(self.round_began) * 2 < self.virtual_rtt() {
            1.0 + RATE_OFFSET
        } else {
            1.0 - RATE_OFFSET
        };
        Some(pacing_rate(base * gain))
    }
}

#[cfg(test)]
mod tests;
