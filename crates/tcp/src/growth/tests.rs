use ackclock_units::{Bytes, Duration, Instant, Mss};
use proptest::prelude::*;

use super::*;
use crate::event::{Limit, Signal, Why};
use crate::start::{SlowStart, Standard};

/// Drives one law with events, as a story.
struct Story {
    law: AnyGrowth,
    mss: Mss,
}

impl Story {
    fn new(choice: GrowthChoice, window_segments: u64) -> Self {
        let mss = Mss::new(1000).unwrap();
        let mut law = AnyGrowth::new(choice);
        law.rebase(&Proposal {
            cwnd: Some(mss.times(window_segments)),
            ssthresh: None,
            mss,
            why: Why::Established,
        });
        Self { law, mss }
    }

    fn ack(&mut self, segments: u64) -> &mut Self {
        let ack = Ack {
            now: Instant::START,
            newly_acked: self.mss.times(segments),
            una: ackclock_packet::Seq::FIRST_BYTE,
            nxt: ackclock_packet::Seq::FIRST_BYTE,
            rtt: None,
            srtt: Some(Duration::from_millis(100)),
            in_flight_before: self.law.cwnd(),
            in_flight: self.law.cwnd(),
            limited_by: Limit::Cwnd,
            in_recovery: false,
            mss: self.mss,
        };
        let step = self.law.in_slow_start().then(|| Standard.on_ack(&ack, self.law.cwnd()));
        self.law.on_ack(&ack, step);
        self
    }

    fn acks(&mut self, n: u64) -> &mut Self {
        for _ in 0..n {
            self.ack(1);
        }
        self
    }

    fn congestion(&mut self, signal: Signal, from_segments: u64) -> &mut Self {
        self.law.on_congestion(&Congestion {
            now: Instant::START,
            signal,
            reduce_from: self.mss.times(from_segments),
            mss: self.mss,
        });
        self
    }

    fn cwnd(&self) -> f64 {
        self.law.cwnd().segments(self.mss)
    }

    fn ssthresh(&self) -> f64 {
        self.law.ssthresh().unwrap().segments(self.mss)
    }
}

const RENO: GrowthChoice = GrowthChoice::Reno { word: RenoWord::NewReno };
const ALL: [GrowthChoice; 3] = [GrowthChoice::Tahoe, GrowthChoice::TahoeBytes, RENO];

#[test]
fn slow_start_adds_a_segment_an_ack() {
    for choice in ALL {
        let mut story = Story::new(choice, 2);
        assert!((story.acks(6).cwnd() - 8.0).abs() < 1e-9, "{choice:?}");
    }
}

#[test]
fn tahoe_counts_acks_in_avoidance() {
    // Equation 7 from W = 8: eight ACKs add 8 * 1/8 = 1, the next three 3 * 1/9.
    let mut story = Story::new(GrowthChoice::Tahoe, 1);
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
    let mut story = Story::new(GrowthChoice::TahoeBytes, 1);
    story.congestion(Signal::Loss, 16).acks(7);
    // Eight segments acknowledged by four ACKs of two add one segment.
    story.ack(2).ack(2).ack(2);
    assert!((story.cwnd() - 8.0).abs() < 1e-9);
    assert!((story.ack(2).cwnd() - 9.0).abs() < 1e-9);
}

#[test]
fn tahoe_keeps_the_half_segment_of_its_threshold() {
    let mut story = Story::new(GrowthChoice::Tahoe, 1);
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

#[test]
fn a_repeated_timeout_leaves_the_threshold() {
    for choice in ALL {
        let mut story = Story::new(choice, 20);
        story.congestion(Signal::Timeout { consecutive: 1 }, 20);
        assert!((story.ssthresh() - 10.0).abs() < 1e-9, "{choice:?}");
        story.congestion(Signal::Timeout { consecutive: 2 }, 1);
        assert!((story.ssthresh() - 10.0).abs() < 1e-9, "{choice:?}");
        assert!((story.cwnd() - 1.0).abs() < 1e-9, "{choice:?}");
    }
}

#[test]
fn the_threshold_is_at_least_two_segments() {
    for choice in ALL {
        let mut story = Story::new(choice, 1);
        assert!((story.congestion(Signal::Loss, 1).ssthresh() - 2.0).abs() < 1e-9, "{choice:?}");
    }
}

#[derive(Clone, Debug)]
enum Operation {
    Ack(u64),
    Loss(u64),
    Timeouts(u32),
    RecoveryEnd(u64),
    Restart(u64),
    NewMss(u16),
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        8 => (1_u64..40).prop_map(Operation::Ack),
        1 => (0_u64..100_000).prop_map(Operation::Loss),
        1 => (1_u32..10).prop_map(Operation::Timeouts),
        1 => (0_u64..1000).prop_map(Operation::RecoveryEnd),
        1 => (1_u64..20).prop_map(Operation::Restart),
        1 => (64_u16..9000).prop_map(Operation::NewMss),
    ]
}

proptest! {
    /// Whatever happens, every law keeps at least a segment, a threshold of at least two, and
    /// grows on an ACK by no more than slow start would.
    #[test]
    fn every_law_keeps_its_bounds(operations in prop::collection::vec(operation(), 1..200)) {
        for choice in ALL {
            let mut story = Story::new(choice, 3);
            for operation in &operations {
                let before = story.law.cwnd();
                match *operation {
                    Operation::Ack(segments) => {
                        story.ack(segments);
                        let grown = story.law.cwnd().saturating_sub(before);
                        prop_assert!(grown <= story.mss.bytes() + Bytes::new(1), "{choice:?}");
                    }
                    Operation::Loss(segments) => {
                        story.congestion(Signal::Loss, segments);
                    }
                    Operation::Timeouts(consecutive) => {
                        story.congestion(Signal::Timeout { consecutive }, 10);
                        prop_assert_eq!(story.law.cwnd(), story.mss.bytes());
                    }
                    Operation::RecoveryEnd(segments) => story.law.on_recovery_end(&RecoveryEnd {
                        now: Instant::START,
                        in_flight: story.mss.times(segments),
                        at_most: Some(story.mss.times(segments + 1)),
                        mss: story.mss,
                    }),
                    Operation::Restart(segments) => story.law.rebase(&Proposal {
                        cwnd: Some(story.mss.times(segments)),
                        ssthresh: None,
                        mss: story.mss,
                        why: Why::Idle,
                    }),
                    Operation::NewMss(bytes) => {
                        story.mss = Mss::new(bytes).unwrap();
                        story.law.rebase(&Proposal {
                            cwnd: Some(story.mss.times(3)),
                            ssthresh: Some(story.mss.times(5)),
                            mss: story.mss,
                            why: Why::Established,
                        });
                    }
                }
                prop_assert!(story.law.cwnd() >= story.mss.bytes(), "{choice:?} {operation:?}");
                prop_assert!(story.law.cwnd() < Bytes::UNLIMITED);
                if let Some(ssthresh) = story.law.ssthresh() {
                    prop_assert!(ssthresh >= story.mss.times(2), "{choice:?} {operation:?}");
                }
            }
        }
    }
}
