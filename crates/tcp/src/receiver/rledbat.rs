//! rLEDBAT: RFC 9840 (September 2025). The receiver advertises no more than a window of its own, RLWND, which follows the
//! delay as LEDBAT's or LEDBAT++'s does, so that a sender with any law is a background flow.
//!
//! DEVIATION(rfc9840): its text was read through implementations that cite its sections. LEDBAT++'s periodic slowdowns are
//! not here.

use ackclock_laws::data::delays::DelayHistory;
use ackclock_packet::{Segment, Seq};
use ackclock_units::{Bytes, Duration, Instant};

use crate::config::RledbatLaw;
use crate::data::clock::timestamp_clock;

/// The least RLWND, and the first, in segments.
const LEAST: f64 = 2.0;
/// The targets of LEDBAT (RFC 6817 §2.5) and LEDBAT++ (§4.2), in seconds.
const TARGET: f64 = 0.1;
const PLUS_TARGET: f64 = 0.06;
/// LEDBAT++'s largest divisor of the gain, and the part of its target at which slow start ends.
const LARGEST_DIVISOR: f64 = 16.0;
const EXIT: f64 = 0.75;

/// The gain and the target of a law, where the base delay is so many seconds.
fn gain_and_target(law: RledbatLaw, base: f64) -> (f64, f64) {
    match law {
        RledbatLaw::Ledbat => (1.0, TARGET),
        RledbatLaw::Ledbatpp => {
            let divisor = libm::ceil(2.0 * PLUS_TARGET / base.max(1e-9));
            (1.0 / divisor.clamp(1.0, LARGEST_DIVISOR), PLUS_TARGET)
        }
    }
}

/// The state of an rLEDBAT receiver. Volumes are bytes, as real numbers.
#[derive(Clone, Debug)]
pub(super) struct Rledbat {
    law: RledbatLaw,
    mss: f64,
    window: f64,
    ssthresh: Option<f64>,
    /// The part of a reduction that waits for bytes to arrive: the window's right edge never moves back (§4.1.1).
    pending: f64,
    delays: DelayHistory,
    rtt: Option<Duration>,
    last_echo: Option<u32>,
    /// The number after the highest byte that came, and the timestamp of its segment: RCV.HGH and TSV.HGH (§4.3).
    highest: Seq,
    newest: u32,
    /// No loss reduces before.
    quiet_until: Instant,
}

impl Rledbat {
    pub(super) fn new(law: RledbatLaw, mss: Bytes) -> Self {
        let mss = mss.as_f64();
        Self {
            law,
            mss,
            window: LEAST * mss,
            ssthresh: None,
            pending: 0.0,
            delays: DelayHistory::default(),
            rtt: None,
            last_echo: None,
            highest: Seq::FIRST_BYTE,
            newest: 0,
            quiet_until: Instant::START,
        }
    }

    /// The handshake agreed on segments of `mss`.
    pub(super) fn on_established(&mut self, mss: Bytes) {
        self.mss = mss.as_f64();
        self.window = self.window.max(LEAST * self.mss);
    }

    /// RLWND.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
    pub(super) const fn window(&self) -> u64 {
        self.window as u64
    }

    /// A segment came with data. Without timestamps nothing is known of the path, and RLWND grows as slow start has it.
    pub(super) fn on_data(&mut self, now: Instant, segment: &Segment) {
        if segment.len == 0 {
            return;
        }
        let len = segment.payload().as_f64();
        if segment.timestamps {
            self.measure(now, segment.ts_ecr);
            if self.is_sent_again(segment) && now >= self.quiet_until {
                self.on_loss(now);
            }
        }
        let end = segment.seq + segment.payload();
        if end > self.highest {
            self.highest = end;
            self.newest = segment.ts_val;
        }
        if self.pending > 0.0 {
            self.drain(len);
        } else {
            self.follow(len);
        }
    }

    /// The round-trip time from an ACK of this end to the first segment that echoes it.
    fn measure(&mut self, now: Instant, echo: u32) {
        if self.last_echo == Some(echo) {
            return;
        }
        self.last_echo = Some(echo);
        let ticks = timestamp_clock(now).wrapping_sub(echo);
        // An echo of what was never sent.
        if ticks > u32::MAX / 2 {
            return;
        }
        let rtt = Duration::from_millis(ticks.into());
        self.delays.sample(now, rtt);
        self.rtt = Some(self.rtt.map_or(rtt, |mean| (mean * 7 + rtt) / 8));
    }

    /// §4.3: a segment below the highest that was sent after it.
    fn is_sent_again(&self, segment: &Segment) -> bool {
        let later = segment.ts_val.wrapping_sub(self.newest).cast_signed() > 0;
        segment.seq < self.highest && later
    }

    fn on_loss(&mut self, now: Instant) {
        self.quiet_until = now + self.rtt.unwrap_or_default();
        let left = (self.window / 2.0).max(LEAST * self.mss);
        self.ssthresh = Some(left);
        self.pending = (self.window - left).max(0.0);
    }

    /// `len` bytes came: the window may be smaller by so much without its edge moving back.
    fn drain(&mut self, len: f64) {
        let taken = self.pending.min(len);
        self.pending -= taken;
        self.window = (self.window - taken).max(LEAST * self.mss);
    }

    fn follow(&mut self, len: f64) {
        let queueing = self.delays.queueing().map_or(0.0, Duration::as_secs_f64);
        let base = self.delays.base().map_or(f64::INFINITY, Duration::as_secs_f64);
        let (gain, target) = gain_and_target(self.law, base);
        if self.ssthresh.is_none_or(|ssthresh| self.window < ssthresh) {
            let exit = match self.law {
                RledbatLaw::Ledbat => target,
                RledbatLaw::Ledbatpp => EXIT * target,
            };
            if self.ssthresh.is_some() || queueing <= exit {
                let grown = self.window + gain * len;
                self.window = self.ssthresh.map_or(grown, |ssthresh| grown.min(ssthresh));
                return;
            }
            self.ssthresh = Some(self.window);
        }
        let change = self.change(gain, (target - queueing) / target) * len / self.window;
        if change >= 0.0 {
            self.window += change;
        } else {
            // A threshold above the window would begin slow start.
            self.ssthresh = Some((self.window + change).max(LEAST * self.mss));
            self.pending = -change;
            self.drain(len);
        }
    }

    /// The change in a round trip, in bytes, by the distance from the target.
    fn change(&self, gain: f64, off: f64) -> f64 {
        match self.law {
            RledbatLaw::Ledbat => off * self.mss,
            RledbatLaw::Ledbatpp if off >= 0.0 => gain * self.mss,
            RledbatLaw::Ledbatpp => (gain * self.mss + off * self.window).max(-self.window / 2.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 500;

    fn receiver(window: f64, ssthresh: Option<f64>) -> Rledbat {
        Rledbat { window, ssthresh, ..Rledbat::new(RledbatLaw::Ledbat, Bytes::new(MSS)) }
    }

    /// Delays that make the next segment see so many milliseconds of queueing over 5.
    fn delayed(receiver: &mut Rledbat, queueing: u64) {
        receiver.delays = DelayHistory::default();
        for delay in [5, 5 + queueing, 5 + queueing, 5 + queueing, 5 + queueing] {
            receiver.delays.sample(Instant::START, Duration::from_millis(delay));
        }
    }

    /// RLWND after each segment, to the next byte.
    fn follow(receiver: &mut Rledbat, segments: usize) -> Vec<f64> {
        (0..segments)
            .map(|_| {
                if receiver.pending > 0.0 {
                    receiver.drain(500.0);
                } else {
                    receiver.follow(500.0);
                }
                receiver.window.round()
            })
            .collect()
    }

    fn close(found: &[f64], expected: &[f64]) {
        // ns-3 rounds to whole bytes at each step.
        let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 4.0);
        assert!(near && found.len() == expected.len(), "{found:?}, expected {expected:?}");
    }

    #[test]
    fn windows_are_those_of_the_fork_of_ns3() {
        // tcp-r-ledbat of an ns-3 fork, with segments of 500 bytes and a target of 100 ms. Slow start; avoidance at the base;
        // then 195 ms beyond it.
        close(&follow(&mut receiver(500.0, None), 5), &[1000.0, 1500.0, 2000.0, 2500.0, 3000.0]);
        let mut avoiding = receiver(1000.0, Some(1000.0));
        close(&follow(&mut avoiding, 4), &[1250.0, 1450.0, 1622.0, 1776.0]);
        let mut avoiding = receiver(2168.0, Some(1000.0));
        delayed(&mut avoiding, 195);
        let expected = [2059.0, 1944.0, 1822.0, 1692.0, 1552.0, 1399.0];
        close(&follow(&mut avoiding, 6), &expected);
        // 1000 - 0.95 * 250 = 763 is less than two segments.
        let mut avoiding = receiver(1000.0, Some(1000.0));
        delayed(&mut avoiding, 195);
        close(&follow(&mut avoiding, 1), &[1000.0]);
    }

    #[test]
    fn a_reduction_waits_for_the_bytes_that_arrive() {
        // 595 ms: 5.95 - 1 times 500 * 500/1916 are 646 bytes. 500 with the first segment, 146 with the next: 1416, 1270.
        let mut avoiding = receiver(1916.0, Some(1000.0));
        delayed(&mut avoiding, 595);
        close(&follow(&mut avoiding, 2), &[1416.0, 1271.0]);
    }

    fn segment(seq: u64, ts_val: u32, ts_ecr: u32) -> Segment {
        Segment {
            seq: Seq::new(seq),
            len: 500,
            timestamps: true,
            ts_val,
            ts_ecr,
            ..Segment::default()
        }
    }

    #[test]
    fn a_newer_segment_below_the_highest_was_sent_again() {
        let at = |millis| Instant::START + Duration::from_millis(millis);
        let mut r = receiver(4000.0, Some(1000.0));
        r.on_data(at(100), &segment(1, 50, 1));
        r.on_data(at(110), &segment(1001, 60, 11));
        let before = r.window;
        // Overtaken, and sent before: no loss.
        r.on_data(at(112), &segment(501, 55, 11));
        assert!(r.window > before && r.pending < 1e-9);
        // Sent again: half of it, by 500 bytes a segment.
        let before = r.window;
        r.on_data(at(200), &segment(501, 140, 101));
        assert!((r.ssthresh.unwrap() - before / 2.0).abs() < 1e-9);
        assert!((r.window - (before - 500.0)).abs() < 1e-9);
        // Not twice in a round trip.
        let ssthresh = r.ssthresh;
        r.on_data(at(205), &segment(501, 145, 101));
        assert!((r.ssthresh.unwrap() - ssthresh.unwrap()).abs() < 1e-9);
    }

    #[test]
    fn two_segments_are_left_of_a_small_window() {
        // ns-3's fork: 1250 bytes and a retransmission leave 1000, and as much for the threshold.
        let mut r = receiver(1250.0, Some(1000.0));
        r.on_loss(Instant::START);
        r.drain(500.0);
        assert!((r.window - 1000.0).abs() < 1e-9 && (r.ssthresh.unwrap() - 1000.0).abs() < 1e-9);
    }

    #[test]
    fn ledbatpp_decreases_by_the_window() {
        // A base of 40 ms, F = 3: at 75 ms of queueing 500/3 - W/4 a round trip, of W = 10000: -2333, a twentieth of it with
        // each segment: 117 bytes.
        let mut r = receiver(10_000.0, Some(1000.0));
        r.law = RledbatLaw::Ledbatpp;
        for delay in [40, 115, 115, 115, 115] {
            r.delays.sample(Instant::START, Duration::from_millis(delay));
        }
        r.follow(500.0);
        assert!((r.window - (10_000.0 - 116.67)).abs() < 0.1, "{}", r.window);
    }
}
