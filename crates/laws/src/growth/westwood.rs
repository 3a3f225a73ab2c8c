//! Westwood+: L. A. Grieco and S. Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP
//! congestion control", ACM CCR 34(2), April 2004; S. Mascolo, L. A. Grieco, R. Ferorelli, P. Camarda and G. Piscitelli,
//! "Performance evaluation of Westwood+ TCP congestion control", Performance Evaluation 55, 2004.
//!
//! Additive increase, adaptive decrease: the rate of the ACKs says how much the path carries, and after a loss the window
//! is what fills the path at that rate without a queue.

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant};

use super::contract::{About, Growth, Law, LawForm, Wants, Window, whole_bytes};
use super::variables::variables;
use crate::event::{Ack, Congestion, Proposal, RecoveryEnd, RttSample, Signal, SlowStartStep};
use crate::words::{Described, Word};

/// The weight of a new sample of the bandwidth; the mean keeps the other 7/8.
const WEIGHT: f64 = 1.0 / 8.0;

/// One segment a round trip; after a loss what the measured bandwidth fills the least round trip with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Westwood {
    window: Window,
    /// Acknowledged bytes that have not yet bought a segment.
    acked: Bytes,
    /// The window before the last reduction.
    undo: Option<Window>,
    /// The last round-trip time, and the least of all (`RTTmin`).
    rtt: Option<Duration>,
    rtt_min: Option<Duration>,
    /// The beginning of the sample under way, and SND.UNA then.
    sample: Option<(Instant, Seq)>,
    /// The mean of the samples, in bytes per second.
    bandwidth: Option<f64>,
}

impl Westwood {
    /// One sample a round trip: what was acknowledged in it, divided by its length.
    ///
    /// DEVIATION(grieco2004): the paper counts a duplicate ACK as a segment when it comes. A law is not told of the
    /// ACKs of a repair: what they acknowledge counts with the first ACK after it, in one sample over all that time.
    fn measure(&mut self, ack: &Ack) {
        let Some((begin, una)) = self.sample else {
            self.sample = Some((ack.now, ack.una));
            return;
        };
        let length = ack.now.since(begin);
        if length == Duration::ZERO || self.rtt.is_none_or(|rtt| length < rtt) {
            return;
        }
        let sample = ack.una.since(una).as_f64() / length.as_secs_f64();
        // The first sample is the mean.
        self.bandwidth =
            Some(self.bandwidth.map_or(sample, |mean| mean + WEIGHT * (sample - mean)));
        self.sample = Some((ack.now, ack.una));
    }

    /// The threshold: max(2 segments, bandwidth · `RTTmin`).
    fn threshold(&self, congestion: &Congestion) -> Bytes {
        let path = self.bandwidth.zip(self.rtt_min).map(|(bandwidth, rtt_min)| {
            // To the nearest byte: one byte less than six segments is five.
            let bytes = bandwidth * rtt_min.as_secs_f64() + 0.5;
            whole_bytes(bytes / congestion.mss.bytes().as_f64(), congestion.mss)
        });
        // DEVIATION(grieco2004): half of the flight before the first sample, of which the paper says nothing.
        path.unwrap_or(congestion.reduce_from / 2).max(congestion.mss.times(2))
    }
}

impl Described for Westwood {
    type Settings = LawForm;

    const WORDS: &'static [Word<LawForm>] = &[
        Word::alone(
            "westwood",
            LawForm::OfProfile,
            "Westwood+: after a loss the measured bandwidth times the least RTT (Grieco and Mascolo 2004)",
        ),
        Word::with(
            "westwood",
            "papers",
            LawForm::Published,
            "Westwood+ as its papers have it, which is the form of `rfc` and `ns2`",
        ),
    ];
}

impl Law for Westwood {
    const ABOUT: About = About {
        source: "Grieco and Mascolo 2004, \"Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP congestion control\"",
        ..About::PLAIN
    };

    fn make(_: LawForm) -> Self {
        Self::default()
    }

    fn published(_: LawForm) -> LawForm {
        LawForm::Published
    }

    fn is_same(_: LawForm, _: LawForm) -> bool {
        true
    }
}

impl Growth for Westwood {
    variables! { law =>
        "bandwidth_bps", "the mean of the rate samples (BWE)": law.bandwidth.map(|rate| 8.0 * rate);
        "rtt_min_s", "the least round-trip time (RTTmin)": law.rtt_min;
    }

    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        self.measure(ack);
        if let Some(step) = slow_start {
            let unused = SlowStartStep { exit: step.exit, ..SlowStartStep::grow(Bytes::ZERO) };
            let step = if ack.may_grow { step } else { unused };
            self.window.slow_start(step);
            self.acked += step.left_over;
        } else if ack.may_grow {
            self.acked += ack.newly_acked;
            if self.acked >= self.window.cwnd {
                self.acked -= self.window.cwnd;
                self.window.cwnd += ack.mss.bytes();
            }
        }
    }

    fn on_rtt(&mut self, sample: &RttSample) {
        self.rtt = Some(sample.rtt);
        self.rtt_min = Some(self.rtt_min.map_or(sample.rtt, |least| least.min(sample.rtt)));
    }

    fn wants(&self) -> Wants {
        Wants { grows_unused: true, ..Wants::ACKS }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let threshold = self.threshold(congestion);
        self.acked = Bytes::ZERO;
        if !matches!(congestion.signal, Signal::Timeout { consecutive: 2.. }) {
            self.undo = Some(self.window);
        }
        match congestion.signal {
            // DEVIATION(grieco2004): a mark is answered as a loss is; the paper knows no ECN.
            Signal::Loss | Signal::Ecn { .. } => {
                self.window.ssthresh = Some(threshold);
                // DEVIATION(grieco2004): cwnd = ssthresh there. As in the first Westwood (Mascolo et al., MobiCom 2001),
                // a loss does not raise a window that was below it, as after a timeout.
                let most = self.window.cwnd.max(congestion.mss.times(2));
                self.window.cwnd = threshold.min(most);
            }
            Signal::Timeout { consecutive } => {
                // RFC 5681 §3.1: a segment that times out again leaves ssthresh as it is.
                if consecutive <= 1 {
                    self.window.ssthresh = Some(threshold);
                }
                self.window.cwnd = congestion.mss.bytes();
            }
        }
    }

    fn on_recovery_end(&mut self, end: &RecoveryEnd) {
        if let Some(at_most) = end.at_most {
            self.window.cwnd = self.window.cwnd.min(at_most);
        }
    }

    fn on_spurious(&mut self) {
        if let Some(before) = self.undo.take() {
            self.window = self.window.undone(before);
        }
    }

    fn rebase(&mut self, proposal: &Proposal) {
        self.window.rebase(proposal);
    }

    fn cwnd(&self) -> Bytes {
        self.window.cwnd
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.window.ssthresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::GrowthChoice;
    use crate::growth::tests::Story;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// A flow of 1000-byte segments, with 40 of them in its window and 100 ms to go round, on whose `acks` a whole window's
    /// worth of data is acknowledged at once.
    fn flow(acks: &[u64]) -> Story {
        let mut story = Story::new(GrowthChoice::Westwood(LawForm::OfProfile), 40);
        // The first ACK begins the first sample.
        story.ack(1);
        for segments in acks {
            story.now += MS(100);
            story.ack(*segments);
        }
        story
    }

    fn segments(story: &Story) -> [f64; 2] {
        [story.cwnd(), story.ssthresh()]
    }

    #[track_caller]
    fn assert_near(found: [f64; 2], expected: [f64; 2]) {
        let near = found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 2e-3);
        assert!(near, "{found:?}, expected {expected:?}");
    }

    #[test]
    fn the_first_sample_is_the_bandwidth() {
        // 20 segments in 100 ms are 200 kB/s; in RTTmin = 100 ms 20 segments again.
        let mut story = flow(&[20]);
        story.congestion(Signal::Loss, 40);
        assert_near(segments(&story), [20.0, 20.0]);
    }

    #[test]
    fn a_sample_moves_the_mean_by_an_eighth() {
        // 20, then 7/8 * 20 + 1/8 * 28 = 17.5 + 3.5 = 21, then 7/8 * 21 + 1/8 * 45 = 18.375 + 5.625 = 24.
        let mut story = flow(&[20, 28, 45]);
        story.congestion(Signal::Loss, 40);
        assert_near(segments(&story), [24.0, 24.0]);
    }

    #[test]
    fn there_is_one_sample_a_round_trip() {
        // Ten ACKs of two segments, 10 ms apart, are one sample of 20 segments; nine more are none yet.
        let mut story = flow(&[]);
        for _ in 0..19 {
            story.now += MS(10);
            story.ack(2);
        }
        story.congestion(Signal::Loss, 40);
        assert_near(segments(&story), [20.0, 20.0]);
    }

    #[test]
    fn the_window_after_a_loss_leaves_no_queue() {
        // 20 segments in 100 ms without a queue. Then a queue doubles the round trip, and 40 segments come in 200 ms, the
        // same 200 kB/s: 40 are in flight, of which 200 kB/s * 100 ms = 20 remain.
        let mut story = flow(&[20]);
        story.rtt = MS(200);
        for _ in 0..2 {
            story.now += MS(200);
            story.ack(40);
        }
        story.congestion(Signal::Loss, 40);
        assert_near(segments(&story), [20.0, 20.0]);
    }

    #[test]
    fn a_timeout_leaves_the_same_threshold_and_one_segment() {
        let mut story = flow(&[20]);
        story.congestion(Signal::Timeout { consecutive: 1 }, 40);
        assert_near(segments(&story), [1.0, 20.0]);
        // A loss in the slow start that follows does not raise the window to the 20 segments: 1 + 4 ACKs = 5.
        story.acks(4).congestion(Signal::Loss, 5);
        assert_near(segments(&story), [5.0, 20.0]);
    }

    #[test]
    fn two_segments_are_the_least() {
        // One segment in 100 ms is 10 kB/s, which fills 100 ms with one.
        let mut story = flow(&[1]);
        story.congestion(Signal::Loss, 40);
        assert_near(segments(&story), [2.0, 2.0]);
    }

    #[test]
    fn half_is_left_where_nothing_was_measured() {
        let mut story = flow(&[]);
        story.congestion(Signal::Loss, 40);
        assert_near(segments(&story), [20.0, 20.0]);
    }

    #[test]
    fn the_window_grows_as_renos() {
        // After a loss at 20 segments the next costs 20 ACKs, the one after it 21.
        let mut story = flow(&[20]);
        story.congestion(Signal::Loss, 40);
        let law = story.law.cwnd();
        assert_eq!(story.acks(19).law.cwnd(), law);
        assert_eq!(story.acks(1).law.cwnd(), law + story.mss.bytes());
        assert_eq!(story.acks(20).law.cwnd(), law + story.mss.bytes());
        assert_eq!(story.acks(1).law.cwnd(), law + story.mss.times(2));
    }

    #[test]
    fn a_repair_is_one_long_sample() {
        // 20 segments in 100 ms, then none for 300 ms in which 40 arrived: 40/300 ms = 133.3 kB/s, and
        // 7/8 * 200 + 1/8 * 133.33 = 191.67 kB/s, in 100 ms 19.167 segments.
        let mut story = flow(&[20]);
        story.now += MS(300);
        story.ack(40);
        story.congestion(Signal::Loss, 40);
        assert_near(segments(&story), [19.167, 19.167]);
    }

    #[test]
    fn the_mean_window_is_that_of_the_papers_model() {
        // Grieco and Mascolo 2004: sqrt(RTT/Tq) sqrt((1 - p)/p) segments in a round trip where losses are random, with Tq the
        // part of RTT that is queueing. Where exactly one segment in 1/p is lost, a loss takes the window from W to
        // W (RTT - Tq)/RTT; with RTT = 150 ms and Tq = 50 ms to 2/3 W. A cycle has W/3 rounds of 5/6 W segments in the mean,
        // 5/18 W^2 = 1/p, and the mean is 5/6 sqrt(18/5) = 1.58/sqrt(p): 158 and 500 (sqrt(3) = 1.73 in the random form).
        for (period, losses, expected) in [(10_000, 40, 158.0), (100_000, 20, 500.0)] {
            let mut story = flow(&[20]);
            story.rtt = MS(150);
            let mut means = Vec::new();
            for _ in 0..losses {
                let begun = story.now;
                for _ in 0..period {
                    story.now += Duration::from_secs_f64(0.15 / story.cwnd());
                    story.ack(1);
                }
                let rounds = story.now.since(begun).as_secs_f64() / 0.15;
                means.push(f64::from(period) / rounds);
                story.reduce(Signal::Loss, story.law.cwnd());
            }
            let later = &means[means.len() / 2..];
            let mean = later.iter().sum::<f64>() / later.len() as f64;
            assert!((mean / expected - 1.0).abs() < 0.1, "{period}: {mean}, expected {expected}");
        }
    }

    #[test]
    fn a_window_that_is_not_in_use_is_measured_and_does_not_grow() {
        let window = Window { cwnd: Bytes::new(40_000), ssthresh: Some(Bytes::new(30_000)) };
        let mut law = Westwood { window, ..Westwood::default() };
        law.on_rtt(&RttSample { now: Instant::START, rtt: MS(100) });
        let mut una = Seq::FIRST_BYTE;
        for round in 0..3 {
            una = una + Bytes::new(45_000);
            law.on_ack(&unused(Instant::START + MS(100 * round), una), None);
        }
        assert_eq!(law.cwnd(), Bytes::new(40_000));
        // 45 kB in 100 ms are 450 kB/s.
        assert!(law.bandwidth.is_some_and(|mean| (mean - 450_000.0).abs() < 1e-6));
        // Nor in slow start, whose end is heeded all the same.
        law.window.ssthresh = None;
        let step = SlowStartStep { exit: true, ..SlowStartStep::grow(Bytes::new(1000)) };
        law.on_ack(&unused(Instant::START + MS(300), una), Some(step));
        assert_eq!((law.cwnd(), law.ssthresh()), (Bytes::new(40_000), Some(Bytes::new(40_000))));
    }

    /// An ACK of 45 segments, of a sender that the application limits.
    fn unused(now: Instant, una: Seq) -> Ack {
        Ack {
            now,
            newly_acked: Bytes::new(45_000),
            newly_delivered: Bytes::new(45_000),
            una,
            nxt: una,
            rtt: None,
            srtt: None,
            in_flight_before: Bytes::new(45_000),
            in_flight: Bytes::ZERO,
            limited_by: crate::event::Limit::Application,
            in_recovery: false,
            may_grow: false,
            paced: false,
            mss: ackclock_units::Mss::new(1000).unwrap(),
        }
    }
}
