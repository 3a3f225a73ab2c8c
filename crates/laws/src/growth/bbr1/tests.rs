use super::*;
use crate::event::RateSample;
use crate::growth::bbr::path::{Path, segments};

/// The bandwidth of the path: 100 segments a round trip of 100 ms.
const BW: f64 = 1e6;

fn assert_close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-4 * b.abs(), "{a} is not {b}");
}

/// A flow that has filled a pipe of 100 segments a round trip: ten segments at first, double each
/// round, then three rounds without growth.
fn full_pipe() -> Path<Bbr1> {
    let mut path = Path::new(Bbr1::default());
    for data in [10, 20, 40, 80, 100] {
        path.round(data);
    }
    path.rounds(3, 100);
    path
}

fn phase(path: &Path<Bbr1>) -> Option<usize> {
    match path.law.mode {
        Mode::ProbeBw { phase } => Some(phase),
        _ => None,
    }
}

/// In the middle of a cycle. All ACKs of a round come as one, so that the window allows for as much.
fn cruising() -> Path<Bbr1> {
    let mut path = full_pipe();
    path.ack(path.rtt, 100, 90);
    while phase(&path) != Some(2) {
        // Enough in flight for a phase that probes, few enough for one that drains.
        let flight = if phase(&path) == Some(0) { 200 } else { 90 };
        path.ack(Duration::from_millis(101), 101, flight);
    }
    path
}

#[test]
fn the_first_window_leaves_at_2_89_windows_a_round_trip() {
    // 2/ln 2 · 10,000 B / 100 ms · 0.99 = 285,654 B/s.
    let path = Path::new(Bbr1::default());
    assert_close(path.pacing(), 285_654.0);
    // Without a round-trip time, of 1 ms.
    let mut law = Bbr1::default();
    law.rebase(&Proposal {
        cwnd: Some(segments(10)),
        ssthresh: None,
        mss: Mss::new(1000).unwrap(),
        why: Why::Established,
    });
    assert_close(law.pacing_rate().unwrap().as_bps() as f64 / 8.0, 28_565_400.0);
}

#[test]
fn startup_ends_after_three_rounds_without_a_quarter_more() {
    let mut path = Path::new(Bbr1::default());
    path.rounds(1, 10).rounds(1, 20).rounds(1, 40).rounds(1, 80);
    // 25 % more than 80 is 100: growth still. 2/ln 2 · 1e6 B/s · 0.99 = 2,856,540 B/s.
    path.round(100);
    assert_close(path.pacing(), 2_856_540.0);
    path.rounds(2, 110);
    assert!(path.law.in_slow_start());
    // The third round that is not beyond 125, with a queue.
    path.ack(path.rtt, 110, 150);
    assert_eq!(path.law.mode, Mode::Drain);
    // ln 2 / 2 · 1.1e6 B/s · 0.99 = 377,420 B/s.
    assert_close(path.pacing(), 377_420.0);
    // One bandwidth-delay product is 110 segments. Startup's rate, 3,142,194 B/s, sends three
    // segments in 1/1024 s: 119, made even.
    assert_eq!(path.law.ssthresh(), Some(segments(120)));
    // Drain's sends less than one, for which two count: 116.
    path.ack(path.rtt, 110, 117);
    assert_eq!(path.law.mode, Mode::Drain);
    path.ack(path.rtt, 110, 116);
    assert!(phase(&path).is_some());
}

#[test]
fn rounds_that_the_application_limits_do_not_end_startup() {
    let mut path = Path::new(Bbr1::default());
    path.round(10);
    path.is_app_limited = true;
    path.rounds(20, 5);
    assert!(path.law.in_slow_start());
    // Nor do they lower the bandwidth, but they may raise it.
    assert_close(path.law.bw(), 1e5);
    path.round(30);
    assert_close(path.law.bw(), 3e5);
}

#[test]
fn the_bandwidth_is_the_largest_of_ten_rounds() {
    let mut path = cruising();
    assert_close(path.law.bw(), BW);
    path.rounds(10, 50);
    assert_close(path.law.bw(), BW);
    path.round(50);
    assert_close(path.law.bw(), BW / 2.0);
}

#[test]
fn the_rate_goes_through_its_cycle_in_eight_round_trips() {
    let mut path = cruising();
    let mut gains = Vec::new();
    for _ in 0..16 {
        // A phase ends after more than the least round-trip time.
        path.ack(Duration::from_millis(101), 101, 200);
        // The rate is the largest of ten rounds, 101 segments in 101 ms.
        gains.push((path.pacing() / (0.99 * BW) * 100.0).round());
    }
    let cycle = [100.0, 100.0, 100.0, 100.0, 100.0, 125.0, 75.0, 100.0];
    assert_eq!(gains, [cycle, cycle].concat());
}

#[test]
fn a_probe_lasts_until_it_has_filled_the_pipe_or_cost_a_loss() {
    let mut path = cruising();
    for _ in 0..6 {
        path.ack(Duration::from_millis(101), 101, 100);
    }
    assert_eq!(phase(&path), Some(0));
    // 1.25 · 100 segments, three quanta of two, an even number, and two more: 134. What was in
    // flight before the ACK, and the quantum that follows, make so much with 31 in flight after.
    path.ack(Duration::from_millis(101), 101, 30);
    assert_eq!(phase(&path), Some(0));
    path.ack(Duration::from_millis(101), 101, 31);
    assert_eq!(phase(&path), Some(1));
    // The queue is let go until one bandwidth-delay product is in flight.
    path.ack(Duration::from_millis(20), 20, 87);
    assert_eq!(phase(&path), Some(1));
    path.ack(Duration::from_millis(20), 20, 86);
    assert_eq!(phase(&path), Some(2));

    let mut path = cruising();
    for _ in 0..6 {
        path.ack(Duration::from_millis(101), 101, 0);
    }
    assert_eq!(phase(&path), Some(0));
    path.now += Duration::from_millis(101);
    path.tell(1, 0, segments(1), None);
    assert_eq!(phase(&path), Some(1));
}

#[test]
fn a_new_flow_begins_its_cycle_anywhere_but_in_the_phase_that_drains() {
    let mut seen = [false; 8];
    for seed in 0..200 {
        let mut law = Bbr1 { random: Stream::new(seed, "bbr1"), ..Bbr1::default() };
        law.enter_probe_bw();
        let Mode::ProbeBw { phase } = law.mode else { panic!("{:?}", law.mode) };
        seen[phase] = true;
    }
    assert_eq!(seen, [true, false, true, true, true, true, true, true]);
}

#[test]
fn the_window_is_two_bandwidth_delay_products_and_three_quanta() {
    let mut path = cruising();
    path.rounds(3, 100);
    // 2 · 100 + 3 · 2, as the rate of 1e6 B/s sends less than a segment in 1/1024 s; and the 100 of a
    // round that come as one.
    assert_eq!(path.cwnd(), 306);
    let mut path = Path::new(Bbr1::default());
    // 10 Gbit/s: 125,000 segments a round trip. 0.99 · 1.25e9 B/s in 1/1024 s is beyond 65 kB: 65.
    for data in [10_000, 20_000, 40_000, 80_000, 125_000, 125_000, 125_000, 125_000] {
        path.round(data);
    }
    path.rounds(20, 125_000);
    let least = 2 * 125_000 + 125_000 + 3 * 65;
    assert!((least..=least + 3).contains(&path.cwnd()), "{}", path.cwnd());
}

#[test]
fn every_ten_seconds_four_segments_look_for_the_path_without_a_queue() {
    let mut path = cruising();
    // Nothing as short as the least round-trip time is seen for ten seconds.
    path.rtt = Duration::from_millis(120);
    let begin = path.now;
    while !path.law.limits_flight() {
        path.round(120);
        assert!(path.now.since(begin) < Duration::from_secs(12));
    }
    assert!(path.now.since(begin) > Duration::from_millis(9_500));
    assert_eq!(path.cwnd(), 4);
    // The time runs from when four segments are in flight.
    path.ack(Duration::from_millis(100), 90, 10);
    path.rtt = Duration::from_millis(100);
    path.ack(Duration::from_millis(10), 6, 4);
    let few = path.now;
    path.ack(Duration::from_millis(190), 4, 4);
    assert_eq!((path.cwnd(), path.law.limits_flight()), (4, true));
    path.ack(Duration::from_millis(11), 4, 4);
    assert!(path.now.since(few) > Duration::from_millis(200));
    // Two bandwidth-delay products at least.
    assert!(!path.law.limits_flight() && path.cwnd() > 200, "{}", path.cwnd());
    assert_eq!(path.law.min_rtt, Some(Duration::from_millis(100)));
    // And the next ten seconds begin.
    let begin = path.now;
    path.rtt = Duration::from_millis(120);
    while !path.law.limits_flight() {
        path.round(100);
    }
    assert!(path.now.since(begin) > Duration::from_secs(10));
}

#[test]
fn in_the_first_round_of_recovery_as_much_goes_out_as_is_delivered() {
    let mut path = cruising();
    path.rounds(3, 100);
    assert_eq!(path.cwnd(), 306);
    path.congestion(Signal::Loss);
    path.repair = Repair::Recovery;
    let prior = path.delivered - segments(1);
    // One delivered, two lost, 120 in flight: 121.
    path.now += Duration::from_millis(1);
    path.delivered += segments(1);
    path.lost += segments(2);
    let sample = RateSample {
        delivered: segments(100),
        interval: Some(Duration::from_millis(100)),
        prior_delivered: prior,
        is_app_limited: false,
        tx_in_flight: segments(120),
        lost: segments(2),
    };
    path.tell(1, 120, segments(2), Some(sample));
    assert_eq!(path.cwnd(), 121);
    path.delivered += segments(1);
    path.tell(1, 119, Bytes::ZERO, Some(sample));
    assert_eq!(path.cwnd(), 121);
    // After a round it grows by what is delivered, toward its target.
    path.ack(Duration::from_millis(100), 3, 118);
    assert_eq!(path.cwnd(), 124);
    // When all is repaired it is what it was.
    path.repair = Repair::None;
    path.ack(Duration::from_millis(10), 1, 118);
    assert_eq!(path.cwnd(), 306);
}

#[test]
fn a_repair_of_less_than_a_segment_leaves_one() {
    // Two short segments: 300 bytes delivered, 200 in flight. The window is one segment, not 500 bytes.
    let mut path = cruising();
    path.congestion(Signal::Loss);
    path.law.on_delivery(&Delivery {
        now: path.now,
        newly_delivered: Bytes::new(300),
        newly_lost: Bytes::ZERO,
        delivered: path.delivered + Bytes::new(300),
        lost: path.lost,
        sample: None,
        rtt: None,
        maybe_delayed: false,
        srtt: Some(path.rtt),
        in_flight_before: Bytes::new(500),
        in_flight: Bytes::new(200),
        is_cwnd_limited: false,
        repair: Repair::Recovery,
        selective: true,
        mss: Mss::new(1000).unwrap(),
    });
    assert_eq!(path.law.cwnd(), Bytes::new(1000));
}

#[test]
fn after_a_timeout_the_window_grows_from_one_segment_and_then_comes_back() {
    let mut path = cruising();
    path.rounds(3, 100);
    path.congestion(Signal::Timeout { consecutive: 1 });
    assert_eq!(path.cwnd(), 1);
    path.repair = Repair::AfterTimeout;
    // One delivered: two; but four at least.
    path.ack(path.rtt, 1, 2);
    assert_eq!(path.cwnd(), 4);
    path.ack(path.rtt, 3, 3);
    assert_eq!(path.cwnd(), 7);
    path.repair = Repair::None;
    path.ack(path.rtt, 4, 4);
    assert_eq!(path.cwnd(), 306);
}

#[test]
fn after_silence_the_rate_is_the_bandwidth() {
    let mut path = cruising();
    for _ in 0..6 {
        path.ack(Duration::from_millis(101), 101, 100);
    }
    assert_close(path.pacing(), 1.25 * 0.99 * BW);
    path.send_after_silence(path.now + Duration::from_secs(1));
    assert_close(path.pacing(), 0.99 * BW);
    // Silence of more than ten seconds has shown the path without a queue.
    path.now += Duration::from_secs(11);
    path.ack(path.rtt, 4, 4);
    assert!(!path.law.limits_flight());
}

#[test]
fn what_acks_deliver_beyond_the_bandwidth_is_remembered_for_five_to_ten_rounds() {
    let mut aggregation = Aggregation::default();
    let acked = |millis: u64, data, round_start| Acked {
        now: Instant::from_nanos(millis * 1_000_000),
        data: segments(data),
        round_start,
        bw: BW,
        cwnd: segments(300),
        segment: segments(1),
    };
    // The epoch begins with the first ACK: 20 at once, 20 beyond nothing; then 30 in 10 ms, in which
    // 10 are expected: 50 - 10.
    aggregation.update(&acked(0, 20, true));
    aggregation.update(&acked(10, 30, false));
    assert_close(aggregation.extra(BW), 40_000.0);
    // At 100 ms 100 are expected and 55 came: another epoch, with 7, and 40 at 101 ms, where 1 is
    // expected.
    aggregation.update(&acked(20, 5, false));
    aggregation.update(&acked(100, 7, false));
    assert_close(aggregation.extra(BW), 40_000.0);
    aggregation.update(&acked(101, 40, false));
    assert_close(aggregation.extra(BW), 46_000.0);
    // No more than the path carries in 100 ms.
    assert_close(aggregation.extra(BW / 5.0), 20_000.0);
    // Round 1 was the first of a window of five, then come rounds 2 to 5 with one segment each.
    for round in 2..=9 {
        aggregation.update(&acked(200 * round, 1, true));
        assert_close(aggregation.extra(BW), 46_000.0);
    }
    aggregation.update(&acked(2000, 1, true));
    assert_close(aggregation.extra(BW), 1000.0);
}

/// Five rounds, of which the last ends with a fifth of what was delivered lost.
fn lossy_interval(policer: &mut Policer, at: &mut Reading, rounds: u32, delivered: u64, lost: u64) {
    lossy_rounds(policer, at, (rounds, Duration::from_millis(100)), delivered, lost);
}

fn lossy_rounds(
    policer: &mut Policer,
    at: &mut Reading,
    (rounds, lasts): (u32, Duration),
    delivered: u64,
    lost: u64,
) {
    for round in 0..rounds {
        at.at += lasts;
        at.delivered += segments(delivered);
        at.lost += segments(lost);
        policer.update(&PolicerSample {
            reading: *at,
            has_loss: round + 1 == rounds,
            round_start: true,
            is_app_limited: false,
            probes_bandwidth: true,
        });
    }
}

#[test]
fn two_lossy_intervals_of_one_rate_are_a_policer() {
    let (mut policer, mut at) = (Policer::default(), Reading::default());
    // The first loss begins the sampling.
    lossy_interval(&mut policer, &mut at, 1, 10, 2);
    // 4 · 10 segments in 400 ms, with 20 % lost: 1e5 B/s.
    lossy_interval(&mut policer, &mut at, 4, 10, 2);
    assert_eq!(policer.rate(), None);
    // 11 a round: 1.1e5 B/s, within an eighth. The mean is believed in.
    lossy_interval(&mut policer, &mut at, 4, 11, 3);
    assert_close(policer.rate().unwrap(), 1.05e5);
    // For 48 rounds.
    lossy_interval(&mut policer, &mut at, 47, 11, 0);
    assert!(policer.rate().is_some());
    lossy_interval(&mut policer, &mut at, 1, 11, 0);
    assert_eq!(policer.rate(), None);
}

#[test]
fn few_losses_or_different_rates_are_no_policer() {
    let (mut policer, mut at) = (Policer::default(), Reading::default());
    lossy_interval(&mut policer, &mut at, 1, 20, 2);
    // A tenth is lost, less than 50/256.
    for _ in 0..10 {
        lossy_interval(&mut policer, &mut at, 4, 20, 2);
    }
    assert_eq!(policer.rate(), None);
    let (mut policer, mut at) = (Policer::default(), Reading::default());
    lossy_interval(&mut policer, &mut at, 1, 10, 2);
    for n in 0..4 {
        // 1e5 B/s and 1.3e5 B/s in turns.
        let delivered = 10 + 3 * (n % 2);
        lossy_interval(&mut policer, &mut at, 4, delivered, 4);
    }
    assert_eq!(policer.rate(), None);
}

#[test]
fn an_interval_below_a_millisecond_says_nothing() {
    // `bbr_lt_bw_sampling` of Linux leaves with t < 1 ms: four rounds of 0.2 ms are none, of 0.25 ms are one each.
    for (round, known) in [(200, false), (250, true)] {
        let (mut policer, mut at) = (Policer::default(), Reading::default());
        lossy_interval(&mut policer, &mut at, 1, 10, 2);
        for _ in 0..2 {
            lossy_rounds(&mut policer, &mut at, (4, Duration::from_micros(round)), 10, 3);
        }
        assert_eq!(policer.rate().is_some(), known, "{round} us");
    }
}

#[test]
fn a_policed_flow_sends_at_the_rate_that_it_is_let() {
    let mut path = cruising();
    let (mut policer, mut at) = (Policer::default(), path.law.last);
    lossy_interval(&mut policer, &mut at, 1, 10, 2);
    lossy_interval(&mut policer, &mut at, 4, 10, 2);
    lossy_interval(&mut policer, &mut at, 4, 10, 2);
    path.law.policer = policer;
    for _ in 0..10 {
        path.ack(Duration::from_millis(101), 10, 10);
        // 1e5 B/s whatever the phase.
        assert_close(path.pacing(), 0.99e5);
    }
}
