use super::*;
use crate::event::Why;

const MARK: Signal = Signal::Ecn { abe: false };

fn mss() -> Mss {
    Mss::new(1000).unwrap()
}

/// A path on which `now` and the segments acknowledged go on together.
struct Path {
    law: Prague,
    now: Instant,
    una: u64,
    rtt: Duration,
}

impl Path {
    /// A law of this word beyond slow start, with so many segments, on a path of so many milliseconds.
    fn new(argument: Option<&str>, segments: u64, rtt_ms: u64) -> Self {
        let word = Prague::WORDS.iter().find(|word| word.argument == argument).unwrap();
        let mut law = Prague::make(word.settings);
        let rtt = Duration::from_millis(rtt_ms);
        law.on_established(&Established { srtt: Some(rtt), seed: 1 });
        let cwnd = Some(mss().times(segments));
        law.rebase(&Proposal { cwnd, ssthresh: cwnd, mss: mss(), why: Why::Established });
        Self { law, now: Instant::START, una: 0, rtt }
    }

    /// An ACK of so many segments, which echoes a mark or not.
    fn ack(&mut self, segments: u64, marked: bool) {
        self.una += segments;
        let newly = mss().times(segments);
        let una = Seq::FIRST_BYTE + mss().times(self.una);
        let nxt = una + mss().times(1000);
        let none = Bytes::ZERO;
        self.law.on_marks(&MarkReport {
            counted: newly,
            marked: if marked { newly } else { none },
            una,
            nxt,
        });
        if marked {
            return;
        }
        self.law.on_ack(
            &Ack {
                now: self.now,
                newly_acked: newly,
                newly_delivered: newly,
                una,
                nxt,
                rtt: Some(self.rtt),
                srtt: Some(self.rtt),
                in_flight_before: self.law.cwnd(),
                in_flight: self.law.cwnd(),
                limited_by: Limit::Cwnd,
                in_recovery: false,
                may_grow: true,
                paced: true,
                mss: mss(),
            },
            None,
        );
    }

    fn mark(&mut self) {
        self.congestion(MARK);
    }

    fn congestion(&mut self, signal: Signal) {
        let reduce_from = self.law.cwnd();
        self.law.on_congestion(&Congestion { now: self.now, signal, reduce_from, mss: mss() });
    }
}

/// From 0 with all marked: 1 - (15/16)^n. From 1 with none: (15/16)^n.
#[test]
fn the_mean_moves_by_a_sixteenth_a_round() {
    let mut path = Path::new(Some("rttdependent"), 100, 50);
    path.law.marked_ever = true;
    let mut seen = Vec::new();
    for round in 1..=32 {
        path.now += path.rtt;
        path.law.counted = 10.0;
        path.law.marked = 10.0;
        path.law.una = path.law.round_end + mss().times(1);
        path.law.nxt = path.law.una + mss().times(1);
        path.law.tick(path.now);
        if [1, 2, 3, 4, 8, 16, 32].contains(&round) {
            seen.push(path.law.alpha());
        }
    }
    let expected = [0.0625, 0.1211, 0.1760, 0.2275, 0.4033, 0.6439, 0.8732];
    for (seen, expected) in seen.iter().zip(expected) {
        assert!((seen - expected).abs() < 5e-5, "{seen} {expected}");
    }
}

/// The first mark halves, whatever the mean; the mean is 0 until then. With a mean of 0.2 a mark leaves 90 of 100.
#[test]
fn a_mark_costs_half_the_mean_and_the_first_a_half() {
    let mut path = Path::new(Some("rttdependent"), 200, 50);
    path.now += path.rtt;
    path.ack(100, false);
    assert!(path.law.alpha() <= 0.0);
    let before = path.law.window;
    path.mark();
    assert!((path.law.window - before / 2.0).abs() < 1e-6);
    (path.law.window, path.law.ssthresh) = (100_000.0, Some(mss().times(50)));
    path.law.alpha = 0.2;
    path.now += path.rtt;
    path.mark();
    assert_eq!(path.law.cwnd(), mss().times(90));
    assert_eq!(path.law.ssthresh(), Some(mss().times(90)));
}

/// At 10 ms a second mark 20 ms later costs nothing, one 25 ms later does. Independence begins four rounds after slow start.
#[test]
fn marks_cost_once_in_a_virtual_round_trip() {
    let mut path = Path::new(None, 100, 10);
    path.law.marked_ever = true;
    path.law.alpha = 1.0;
    path.law.rounds = DEPENDENT_ROUNDS;
    assert_eq!(path.law.virtual_rtt(), Duration::from_millis(25));
    path.now += Duration::from_secs(1);
    let reduced = |path: &mut Path, later_ms: u64| {
        path.now += Duration::from_millis(later_ms);
        path.law.alpha = 1.0;
        let before = path.law.window;
        path.mark();
        path.law.window < before
    };
    assert!(reduced(&mut path, 0));
    assert!(!reduced(&mut path, 20));
    assert!(reduced(&mut path, 5));
    // The threshold never makes it slow start.
    assert!(!path.law.in_slow_start());
    path.law.rounds = DEPENDENT_ROUNDS - 1;
    assert_eq!(path.law.virtual_rtt(), Duration::from_millis(10));
    let mut path = Path::new(Some("rttdependent"), 100, 10);
    path.law.rounds = 1000;
    assert_eq!(path.law.virtual_rtt(), Duration::from_millis(10));
}

/// A window of ACKs adds (RTT / 25 ms)^2 segments: 0.04 at 5 ms, 0.16 at 10 ms, 0.64 at 20 ms, 1 from 25 ms on.
#[test]
fn a_window_of_acks_adds_a_segment_a_reference_round_trip() {
    for (rtt_ms, expected) in [(5, 0.04), (10, 0.16), (20, 0.64), (25, 1.0), (100, 1.0)] {
        let mut path = Path::new(None, 1000, rtt_ms);
        path.law.rounds = DEPENDENT_ROUNDS;
        for _ in 0..1000 {
            path.ack(1, false);
        }
        let added = path.law.window / 1000.0 - 1000.0;
        // The window grows while it is counted: less than 0.1 % of it.
        assert!((added - expected).abs() < 0.002, "{rtt_ms} ms: {added}");
    }
}

/// An ACK with a mark for 3 of its 10 segments lets the window grow for the 7 others, where the path counts exactly.
#[test]
fn what_came_unmarked_counts_beside_marks() {
    let mut path = Path::new(Some("rttdependent"), 100, 50);
    path.law.on_marks(&MarkReport {
        counted: mss().times(10),
        marked: mss().times(3),
        una: Seq::FIRST_BYTE,
        nxt: Seq::FIRST_BYTE,
    });
    // 7 segments of a window of 100 are 0.07 segments.
    assert!((path.law.window - 100_070.0).abs() < 1e-6, "{}", path.law.window);
}

#[test]
fn a_loss_costs_what_it_costs_reno_and_an_undo_takes_it_back() {
    let mut path = Path::new(None, 100, 50);
    path.congestion(Signal::Loss);
    assert_eq!((path.law.cwnd(), path.law.ssthresh()), (mss().times(50), Some(mss().times(50))));
    path.law.on_spurious();
    assert_eq!(path.law.cwnd(), mss().times(100));
    path.congestion(Signal::Timeout { consecutive: 1 });
    assert_eq!((path.law.cwnd(), path.law.ssthresh()), (mss().times(1), Some(mss().times(50))));
}

/// With every segment marked the rate goes on falling below two segments a round trip, to 100 kbit/s: at 10 ms that is
/// 12,500 B/s, with an offset of 3 % to either side.
#[test]
fn the_rate_falls_below_two_segments_a_round_trip() {
    let mut path = Path::new(Some("rttdependent"), 4, 10);
    path.law.marked_ever = true;
    path.law.alpha = 1.0;
    for _ in 0..20 {
        path.now += path.rtt;
        path.mark();
    }
    assert_eq!(path.law.cwnd(), mss().times(2));
    let rate = path.law.pacing_rate().unwrap().as_bps() as f64;
    assert!((96_900.0..103_100.0).contains(&rate), "{rate}");
}

/// A deviation of 3 ms is log2(4) = 2 above the scale, a depth of 8 ms as well: 1 a round, so that the third round from -1 has
/// the whole 0.6 of CUBIC, and marks cost 30 %.
#[test]
fn the_fall_back_costs_what_cubic_pays() {
    let mut path = Path::new(Some("fallback"), 100, 50);
    path.law.marked_ever = true;
    path.law.fallback = Fallback { mean: 0.028, deviation: 0.003, least: 0.020, score: -1.0 };
    path.law.fallback.end_round();
    path.law.fallback.end_round();
    assert!((path.law.fallback.score - 1.0).abs() < 1e-9, "{}", path.law.fallback.score);
    path.now += Duration::from_secs(1);
    path.mark();
    assert_eq!(path.law.cwnd(), mss().times(70));
    // A queue of L4S: 0.2 ms of variation and 0.5 ms of depth.
    path.law.fallback = Fallback { mean: 0.0205, deviation: 0.0002, least: 0.020, score: 1.0 };
    (0..3).for_each(|_| path.law.fallback.end_round());
    assert!(path.law.fallback.score < 0.0);
}
