use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant, Mss};
use proptest::prelude::*;

use super::*;
use crate::event::{Limit, RateSample, Repair, Signal, Why};
use crate::start::{AnyStart, SlowStartChoice, Start, SynLossChoice, WindowChoice};
use crate::words::Slot;

mod response;

/// Drives one law with events, as a story. The flight fills the window.
pub(super) struct Story {
    pub law: AnyGrowth,
    pub start: AnyStart,
    pub mss: Mss,
    pub now: Instant,
    /// The round-trip time of each ACK, and the smoothed one.
    pub rtt: Duration,
    pub limited_by: Limit,
    /// True if ACKs measure the round-trip time.
    pub measures: bool,
    una: Seq,
    /// For laws that model the path: data delivered and lost.
    delivered: Bytes,
    lost: Bytes,
}

impl Story {
    pub fn new(choice: GrowthChoice, window_segments: u64) -> Self {
        Self::with(choice, SlowStartChoice::Standard(()), window_segments)
    }

    /// The story of a law that no table has.
    pub fn of(law: impl Growth + 'static, window_segments: u64) -> Self {
        let law = AnyGrowth::Other(Box::new(law));
        Self::begun(law, SlowStartChoice::Standard(()), window_segments)
    }

    pub fn with(choice: GrowthChoice, slow_start: SlowStartChoice, window_segments: u64) -> Self {
        Self::begun(AnyGrowth::new(choice), slow_start, window_segments)
    }

    fn begun(mut law: AnyGrowth, slow_start: SlowStartChoice, window_segments: u64) -> Self {
        let mss = Mss::new(1000).unwrap();
        law.rebase(&Proposal {
            cwnd: Some(mss.times(window_segments)),
            ssthresh: None,
            mss,
            why: Why::Established,
        });
        Self {
            law,
            start: AnyStart::new(WindowChoice::Rfc3390, SynLossChoice::Rfc5681, slow_start),
            mss,
            now: Instant::START,
            rtt: Duration::from_millis(100),
            limited_by: Limit::Cwnd,
            measures: true,
            una: Seq::FIRST_BYTE,
            delivered: Bytes::ZERO,
            lost: Bytes::ZERO,
        }
    }

    /// In avoidance, with the window for its threshold.
    pub fn avoiding(choice: GrowthChoice, segments: u64) -> Self {
        let mut story = Self::new(choice, segments);
        let ssthresh = Some(story.mss.times(segments));
        let mss = story.mss;
        story.law.rebase(&Proposal { cwnd: None, ssthresh, mss, why: Why::Established });
        story
    }

    pub fn ack(&mut self, segments: u64) -> &mut Self {
        let newly_acked = self.mss.times(segments);
        let in_flight_before = match self.limited_by {
            Limit::Cwnd => self.law.cwnd().max(newly_acked),
            Limit::Application | Limit::ReceiveWindow | Limit::Pacing => newly_acked,
        };
        let nxt = self.una + in_flight_before;
        self.una = self.una + newly_acked;
        let ack = Ack {
            now: self.now,
            newly_acked,
            newly_delivered: newly_acked,
            una: self.una,
            nxt,
            rtt: self.measures.then_some(self.rtt),
            srtt: Some(self.rtt),
            in_flight_before,
            in_flight: nxt.since(self.una),
            limited_by: self.limited_by,
            in_recovery: false,
            may_grow: true,
            paced: false,
            mss: self.mss,
        };
        if let Some(rtt) = ack.rtt {
            self.law.on_rtt(&RttSample { now: self.now, rtt });
        }
        let step = self
            .law
            .in_slow_start()
            .then(|| self.start.on_ack(&ack, self.law.cwnd(), self.law.ssthresh()));
        self.law.on_ack(&ack, step);
        self
    }

    pub fn acks(&mut self, n: u64) -> &mut Self {
        for _ in 0..n {
            self.ack(1);
        }
        self
    }

    /// ACKs of one segment for `span`, a window of them a round-trip time, evenly spread.
    pub fn run(&mut self, span: Duration) -> &mut Self {
        let end = self.now + span;
        loop {
            let spacing = Duration::from_secs_f64(self.rtt.as_secs_f64() / self.cwnd());
            if self.now + spacing > end {
                return self;
            }
            self.now += spacing;
            self.ack(1);
        }
    }

    pub fn congestion(&mut self, signal: Signal, from_segments: u64) -> &mut Self {
        self.reduce(signal, self.mss.times(from_segments))
    }

    pub fn reduce(&mut self, signal: Signal, reduce_from: Bytes) -> &mut Self {
        self.law.on_congestion(&Congestion { now: self.now, signal, reduce_from, mss: self.mss });
        self
    }

    pub fn cwnd(&self) -> f64 {
        self.law.cwnd().segments(self.mss)
    }

    pub fn ssthresh(&self) -> f64 {
        self.law.ssthresh().unwrap().segments(self.mss)
    }
}

const RENO: GrowthChoice = GrowthChoice::Reno(RenoWord::NewReno);

/// Every law that a word names.
fn laws() -> impl Iterator<Item = GrowthChoice> {
    GrowthChoice::rows().iter().map(|row| row.choice)
}

/// The laws whose window answers to each ACK and each loss.
fn window_laws() -> impl Iterator<Item = GrowthChoice> {
    laws().filter(|choice| !AnyGrowth::new(*choice).wants().models_path)
}

/// Every slow-start law that a word names.
fn slow_starts() -> impl Iterator<Item = SlowStartChoice> {
    SlowStartChoice::rows().iter().map(|row| row.choice)
}

#[test]
fn slow_start_adds_a_segment_an_ack() {
    // Vegas and others have their own: see their tests. XCP has none.
    let other = |law: &GrowthChoice| {
        let own = law.about().owns.iter().any(|(slot, _)| *slot == Slot::SlowStart);
        own || law.about().outgrows_acks
            || matches!(law, GrowthChoice::Vegas(_) | GrowthChoice::Xcp(()))
    };
    for choice in window_laws().filter(|choice| !other(choice)) {
        let mut story = Story::new(choice, 2);
        assert!((story.acks(6).cwnd() - 8.0).abs() < 1e-9, "{choice:?}");
    }
}

#[test]
fn tahoe_counts_acks_in_avoidance() {
    // Equation 7 from W = 8: eight ACKs add 8 * 1/8 = 1, the next three 3 * 1/9.
    let mut story = Story::new(GrowthChoice::Tahoe(Counting::Acks), 1);
    story.congestion(Signal::Loss, 16);
    assert!((story.ssthresh() - 8.0).abs() < 1e-9 && (story.cwnd() - 1.0).abs() < 1e-9);
    story.acks(7);
    assert!((story.cwnd() - 8.0).abs() < 1e-9);
    assert!((story.acks(8).cwnd() - 9.0).abs() < 1e-9);
    assert!((story.acks(3).cwnd() - 9.333).abs() < 1e-3);
    // An ACK of two segments counts as one ACK: 4 * 1/9.
    assert!((story.ack(2).cwnd() - 9.444).abs() < 1e-3);
}

#[test]
fn tahoe_may_count_bytes_instead() {
    let mut story = Story::new(GrowthChoice::Tahoe(Counting::Bytes), 1);
    story.congestion(Signal::Loss, 16).acks(7);
    // Eight segments acknowledged by four ACKs of two add one segment.
    story.ack(2).ack(2).ack(2);
    assert!((story.cwnd() - 8.0).abs() < 1e-9);
    assert!((story.ack(2).cwnd() - 9.0).abs() < 1e-9);
}

#[test]
fn tahoe_keeps_the_half_segment_of_its_threshold() {
    let mut story = Story::new(GrowthChoice::Tahoe(Counting::Acks), 1);
    story.congestion(Signal::Loss, 15);
    assert!((story.ssthresh() - 7.5).abs() < 1e-9);
    // W: 1 + 7 = 8 > 7.5 on the seventh ACK.
    assert!((story.acks(7).cwnd() - 8.0).abs() < 1e-9);
}

#[test]
fn reno_halves_the_flight_and_adds_a_segment_a_window() {
    let mut story = Story::new(RENO, 3);
    story.acks(17).congestion(Signal::Loss, 18);
    assert!((story.cwnd() - 9.0).abs() < 1e-9 && (story.ssthresh() - 9.0).abs() < 1e-9);
    assert!((story.acks(8).cwnd() - 9.0).abs() < 1e-9);
    assert!((story.acks(1).cwnd() - 10.0).abs() < 1e-9);
    // The next segment costs ten.
    assert!((story.acks(10).cwnd() - 11.0).abs() < 1e-9);
}

/// The threshold, in segments, after a timeout at twenty of them, where nothing was measured.
fn left_of_twenty(choice: GrowthChoice) -> f64 {
    match choice {
        // 0.7 * 20.
        GrowthChoice::Cubic(_) | GrowthChoice::CubicLinux(()) => 14.0,
        // Linux knows no rate, which fills no window: the least.
        GrowthChoice::WestwoodLinux(_) => 2.0,
        // 20 - 20/8, rounded down; YeAH's queue is empty.
        GrowthChoice::ScalableLinux(()) | GrowthChoice::YeahLinux(()) => 18.0,
        // Exactly 20 - 20/8.
        GrowthChoice::Scalable(_) | GrowthChoice::Yeah(_) | GrowthChoice::Bic(_) => 17.5,
        // 4/5 * 20: nothing waits.
        GrowthChoice::Veno(_) | GrowthChoice::VenoLinux(()) => 16.0,
        // 819/1024 * 20 = 15.996, rounded down.
        GrowthChoice::BicLinux(_) | GrowthChoice::NvLinux(_) => 15.0,
        _ => 10.0,
    }
}

#[test]
fn a_repeated_timeout_leaves_the_threshold() {
    for choice in window_laws() {
        let expected = left_of_twenty(choice);
        let mut story = Story::new(choice, 20);
        story.congestion(Signal::Timeout { consecutive: 1 }, 20);
        assert!((story.ssthresh() - expected).abs() < 1e-9, "{choice:?}");
        story.congestion(Signal::Timeout { consecutive: 2 }, 1);
        assert!((story.ssthresh() - expected).abs() < 1e-9, "{choice:?}");
        assert!((story.cwnd() - 1.0).abs() < 1e-9, "{choice:?}");
    }
}

#[test]
fn the_threshold_is_at_least_two_segments() {
    for choice in window_laws() {
        let mut story = Story::new(choice, 1);
        assert!((story.congestion(Signal::Loss, 1).ssthresh() - 2.0).abs() < 1e-9, "{choice:?}");
    }
}

#[test]
fn a_reduction_for_nothing_is_taken_back() {
    // Tahoe, and what it was made for, know no way back.
    let tahoe = |law: &GrowthChoice| matches!(law, GrowthChoice::Tahoe(_));
    let back = |law: &GrowthChoice| !tahoe(law) && !AnyGrowth::new(*law).wants().models_path;
    for choice in laws().filter(back) {
        for signal in [Signal::Loss, Signal::Timeout { consecutive: 1 }] {
            let mut story = Story::new(choice, 40);
            story.congestion(Signal::Loss, 40);
            let before = (story.cwnd(), story.ssthresh());
            story.congestion(signal, 20);
            assert!(story.cwnd() < before.0, "{choice:?} {signal:?}");
            story.law.on_spurious();
            assert_eq!((story.cwnd(), story.ssthresh()), before, "{choice:?} {signal:?}");
            // Not twice.
            story.law.on_spurious();
            assert_eq!((story.cwnd(), story.ssthresh()), before, "{choice:?} {signal:?}");
        }
    }
}

#[derive(Clone, Debug)]
enum Operation {
    Ack(u64),
    /// Time passes, in milliseconds.
    Wait(u64),
    /// The round-trip time changes, in microseconds.
    Rtt(u64),
    Limit(Limit),
    /// A loss, from so many thousandths of the window.
    Loss(u64),
    Timeouts(u32),
    Spurious,
    /// Data goes out after so many milliseconds of silence.
    SendStart(u64, bool),
    RecoveryEnd(u64),
    Restart(u64),
    NewMss(u16),
    /// A delivery of so many segments, of which so many were found lost, with so many in flight
    /// after it, over an interval of so many microseconds (none if zero); what is being repaired;
    /// whether the application limits.
    Deliver([u64; 4], Repair, bool),
    /// A segment is found lost, sent with so many in flight, so many lost since.
    Lose(u64, u64),
    /// Data goes out after silence.
    /// The routers' word: a rate, and a change of the throughput, in bytes per second.
    Feedback(u32, i32),
}

fn operation() -> impl Strategy<Value = Operation> {
    let delivery = [0_u64..40, 0..10, 0..200, 0..300_000];
    let repairs = vec![Repair::None, Repair::None, Repair::Recovery, Repair::AfterTimeout];
    let limits = vec![Limit::Application, Limit::Cwnd, Limit::ReceiveWindow];
    prop_oneof![
        12 => (1_u64..40).prop_map(Operation::Ack),
        4 => (0_u64..5_000).prop_map(Operation::Wait),
        1 => Just(Operation::Wait(u64::from(u32::MAX))),
        2 => (0_u64..1_000_000).prop_map(Operation::Rtt),
        1 => prop::sample::select(limits).prop_map(Operation::Limit),
        1 => (0_u64..=1000).prop_map(Operation::Loss),
        1 => (1_u32..10).prop_map(Operation::Timeouts),
        1 => Just(Operation::Spurious),
        2 => (0_u64..5_000, any::<bool>()).prop_map(|(millis, app_limited)| Operation::SendStart(millis, app_limited)),
        1 => (0_u64..1000).prop_map(Operation::RecoveryEnd),
        1 => (1_u64..20).prop_map(Operation::Restart),
        1 => (64_u16..9000).prop_map(Operation::NewMss),
        12 => (delivery, prop::sample::select(repairs), prop::bool::ANY)
            .prop_map(|(numbers, repair, limited)| Operation::Deliver(numbers, repair, limited)),
        2 => (1_u64..200, 1_u64..20).prop_map(|(flight, lost)| Operation::Lose(flight, lost)),
        2 => (any::<u32>(), any::<i32>())
            .prop_map(|(rate, delta)| Operation::Feedback(rate, delta)),
    ]
}

impl Story {
    fn perform(&mut self, operation: &Operation) {
        let mss = self.mss;
        match *operation {
            Operation::Ack(segments) => {
                self.ack(segments);
            }
            Operation::Wait(millis) => self.now += Duration::from_millis(millis),
            Operation::Rtt(micros) => self.rtt = Duration::from_micros(micros),
            Operation::Limit(limit) => self.limited_by = limit,
            Operation::Loss(thousandths) => {
                let reduce_from = self.law.cwnd() * thousandths / 1000;
                self.reduce(Signal::Loss, reduce_from);
            }
            Operation::Timeouts(consecutive) => {
                self.reduce(Signal::Timeout { consecutive }, self.law.cwnd());
            }
            Operation::Spurious => self.law.on_spurious(),
            Operation::SendStart(millis, app_limited) => {
                let last_send = Some(self.now);
                self.now += Duration::from_millis(millis);
                let nxt = self.una;
                self.law.on_send_start(&SendStart { now: self.now, last_send, nxt, app_limited });
            }
            Operation::RecoveryEnd(segments) => self.law.on_recovery_end(&RecoveryEnd {
                now: self.now,
                in_flight: mss.times(segments),
                newly_delivered: mss.times(segments),
                at_most: Some(mss.times(segments + 1)),
                mss,
            }),
            Operation::Restart(segments) => self.law.rebase(&Proposal {
                cwnd: Some(mss.times(segments)),
                ssthresh: None,
                mss,
                why: Why::Idle,
            }),
            Operation::NewMss(bytes) => {
                self.mss = Mss::new(bytes).unwrap();
                self.law.rebase(&Proposal {
                    cwnd: Some(self.mss.times(3)),
                    ssthresh: Some(self.mss.times(5)),
                    mss: self.mss,
                    why: Why::Established,
                });
            }
            Operation::Deliver(numbers, repair, is_app_limited) => {
                self.deliver(numbers, repair, is_app_limited);
            }
            Operation::Lose(flight, lost) => {
                self.lost += mss.bytes();
                self.law.on_lost(&LostSegment {
                    now: self.now,
                    start: self.una,
                    end: self.una + mss.bytes(),
                    tx_in_flight: mss.times(flight),
                    lost: mss.times(lost),
                    delivered: self.delivered,
                    is_app_limited: false,
                });
            }
            Operation::Feedback(rate, delta) => {
                self.law.on_feedback(&Feedback::Rate { bytes_per_s: f64::from(rate) });
                self.law
                    .on_feedback(&Feedback::Throughput { delta: f64::from(delta), srtt: self.rtt });
            }
        }
    }

    fn deliver(&mut self, numbers: [u64; 4], repair: Repair, is_app_limited: bool) {
        let mss = self.mss;
        let [segments, lost, flight, micros] = numbers;
        let data = mss.times(segments);
        let prior_delivered = self.delivered.saturating_sub(mss.times(flight));
        self.delivered += data;
        self.lost += mss.times(lost);
        let sample = RateSample {
            delivered: self.delivered - prior_delivered,
            interval: (micros > 0).then(|| Duration::from_micros(micros)),
            prior_delivered,
            is_app_limited,
            tx_in_flight: mss.times(flight + 1),
            lost: mss.times(lost),
        };
        self.law.on_delivery(&Delivery {
            now: self.now,
            newly_delivered: data,
            newly_lost: mss.times(lost),
            delivered: self.delivered,
            lost: self.lost,
            sample: (segments > 0).then_some(sample),
            rtt: (segments > 0).then_some(self.rtt),
            maybe_delayed: false,
            srtt: Some(self.rtt),
            in_flight_before: mss.times(flight + segments + lost),
            in_flight: mss.times(flight),
            is_cwnd_limited: self.limited_by == Limit::Cwnd,
            repair,
            selective: true,
            mss,
        });
    }
}

proptest! {
    /// Whatever happens, every law with every slow start keeps at least a segment and a threshold of
    /// at least two, grows on an ACK by no more than what it acknowledges, and never on a loss.
    #[test]
    fn every_law_keeps_its_bounds(operations in prop::collection::vec(operation(), 1..200)) {
        for (choice, slow_start) in
            laws().flat_map(|law| slow_starts().map(move |slow_start| (law, slow_start)))
        {
            let mut story = Story::with(choice, slow_start, 3);
            for operation in &operations {
                let before = story.law.cwnd();
                story.perform(operation);
                let (cwnd, mss) = (story.law.cwnd(), story.mss);
                match *operation {
                    Operation::Ack(segments) => {
                        // Linux's modules hand in one segment more where the window has shrunk below what
                        // they had counted (`tcp_cong_avoid_ai`).
                        let counted = u64::from(choice.about().is_linux());
                        let most = mss.times(segments.max(1) + counted) + Bytes::new(1);
                        let bound = !choice.about().outgrows_acks && !slow_start.outgrows_acks();
                        prop_assert!(!bound || cwnd.saturating_sub(before) <= most, "{choice:?}");
                    }
                    Operation::Loss(_) => prop_assert!(cwnd <= before.max(mss.times(2)), "{choice:?}"),
                    Operation::Timeouts(_) => prop_assert_eq!(cwnd, mss.bytes()),
                    _ => {}
                }
                prop_assert!(cwnd >= mss.bytes(), "{choice:?} {operation:?}");
                if let Some(rate) = story.law.pacing_rate() {
                    prop_assert!((1..u64::MAX / 2).contains(&rate.as_bps()), "{choice:?} {operation:?}");
                }
                // A window that is not a number is zero bytes, an infinite one beyond this.
                prop_assert!(cwnd < Bytes::UNLIMITED, "{choice:?} {operation:?}");
                if let Some(ssthresh) = story.law.ssthresh() {
                    // Linux's Vegas takes the window that its rates allow, and then raises the window alone.
                    let vegas = matches!(story.law, AnyGrowth::VegasLinux(_));
                    let least = mss.times(if vegas { 1 } else { 2 });
                    prop_assert!(ssthresh >= least, "{choice:?} {operation:?}");
                    prop_assert!(ssthresh < Bytes::UNLIMITED, "{choice:?} {operation:?}");
                }
            }
        }
    }
}

#[test]
fn every_variable_of_a_law_has_a_name_and_a_meaning() {
    let mut publish = 0;
    for row in GrowthChoice::rows() {
        let variables = row.choice.variables();
        let name = row.spelled();
        let mut names: Vec<&str> = variables.iter().map(|variable| variable.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), variables.len(), "{name}: a name stands twice");
        for variable in &variables {
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(variable.name.chars().all(plain), "{name}: {variable:?}");
            assert!(!variable.help.is_empty(), "{name}: {variable:?}");
        }
        publish += usize::from(!variables.is_empty());
    }
    // Tahoe, Reno, HighSpeed TCP, Scalable TCP and XCP keep no more than the window and the threshold.
    assert!(publish > GrowthChoice::rows().len() / 2, "{publish}");
}
