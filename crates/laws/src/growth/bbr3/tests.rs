use super::*;
use crate::event::RateSample;
use crate::growth::bbr::path::{Path, segments};

/// The bandwidth of the path: 100 segments a round trip of 100 ms.
const BW: f64 = 1e6;

fn assert_close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-4 * b.abs(), "{a} is not {b}");
}

/// A flow that has found a pipe of 100 segments a round trip full, with a queue as long.
fn full_pipe() -> Path<Bbr> {
    let mut path = Path::new(Bbr::default());
    for data in [10, 20, 40, 80, 100] {
        path.round(data);
    }
    path.ack(path.rtt, 100, 200);
    path.ack(path.rtt, 100, 200);
    assert_eq!(path.law.state, State::Startup);
    path.ack(path.rtt, 100, 200);
    path
}

/// A path on which the law cruises, when the queue is gone.
fn cruising() -> Path<Bbr> {
    let mut path = full_pipe();
    // Drained to what cruising has in flight, so that nothing is left for the phase before it.
    path.ack(path.rtt, 100, 100);
    assert_eq!(path.law.state, State::Cruise);
    path
}

/// A path in the next probe, a round after refilling the pipe.
fn probing() -> Path<Bbr> {
    let mut path = cruising();
    until(&mut path, State::Up);
    path
}

fn until(path: &mut Path<Bbr>, state: State) {
    for _ in 0..100 {
        if path.law.state == state {
            return;
        }
        path.round(100);
    }
    panic!("{:?} and not {state:?}", path.law.state);
}

#[test]
fn the_first_window_leaves_at_2_77_windows_a_round_trip() {
    // 2.77 · 10,000 B / 100 ms.
    assert_close(Path::new(Bbr::default()).pacing(), 277_000.0);
}

#[test]
fn startup_ends_on_a_plateau_and_drain_when_the_queue_is_gone() {
    let mut path = full_pipe();
    assert_eq!(path.law.state, State::Drain);
    assert!(path.law.full_pipe.now && path.law.full_pipe.reached);
    assert_close(path.law.max_bw(), BW);
    assert_close(path.pacing(), 0.5 * 0.99 * BW);
    path.ack(Duration::from_millis(50), 50, 101);
    assert_eq!(path.law.state, State::Drain);
    path.ack(Duration::from_millis(10), 10, 100);
    assert_eq!(path.law.state, State::Cruise);
    assert_close(path.pacing(), 0.99 * BW);
}

#[test]
fn drain_lasts_three_rounds_at_most() {
    let mut path = full_pipe();
    for _ in 0..3 {
        path.ack(path.rtt, 90, 150);
        assert_eq!(path.law.state, State::Drain);
    }
    path.ack(path.rtt, 90, 150);
    assert_eq!(path.law.state, State::Down);
    assert_close(path.pacing(), 0.9 * 0.99 * BW);
}

#[test]
fn rounds_that_the_application_limits_end_nothing() {
    let mut path = Path::new(Bbr::default());
    path.round(10);
    path.is_app_limited = true;
    path.rounds(20, 5);
    assert_eq!(path.law.state, State::Startup);
    let mut path = probing();
    path.is_app_limited = true;
    path.shortens = true;
    path.rounds(20, 50);
    assert_eq!(path.law.state, State::Up);
    assert_close(path.law.max_bw(), BW);
}

/// quinn-rs/quinn#2481: six segments dropped in a row, as by a short outage, are one place of six that the draft asks for
/// (§5.3.1.3, `StartupFullLossCnt`).
#[test]
fn six_segments_lost_in_a_row_do_not_end_startup() {
    for (in_a_row, ends) in [(true, false), (false, true)] {
        let mut path = Path::new(Bbr::default());
        path.is_app_limited = true;
        path.round(10).round(20).round(40);
        for n in 1..=6 {
            if in_a_row {
                path.lose_next(120, n);
            } else {
                path.lose(120, n);
            }
        }
        path.congestion(Signal::Loss);
        path.repair = Repair::Recovery;
        path.now += Duration::from_millis(100);
        let prior = path.delivered;
        path.delivered += segments(80);
        // Six of 120 are 5 %, more than the 2 % of LossThresh.
        let sample = RateSample {
            delivered: segments(80),
            interval: Some(Duration::from_millis(100)),
            prior_delivered: prior,
            is_app_limited: true,
            tx_in_flight: segments(120),
            lost: segments(6),
        };
        path.tell(80, 150, Bytes::ZERO, Some(sample));
        assert_eq!(path.law.full_pipe.reached, ends, "in a row: {in_a_row}");
    }
}

/// n0-computer/noq#800: before a round trip was measured the rate rests on 1 ms; a sender that its application limits from
/// the start then paced at that rate for good.
#[test]
fn the_first_round_trip_sets_the_pace_of_a_limited_sender() {
    let mut law = Bbr::default();
    law.rebase(&Proposal {
        cwnd: Some(segments(10)),
        ssthresh: None,
        mss: Mss::new(1000).unwrap(),
        why: Why::Established,
    });
    law.on_established(&Established { srtt: None, seed: 1 });
    // 2.77 · 10 kB / 1 ms = 27.7 MB/s.
    assert_close(law.pacing_rate, 27.7e6);
    let mut path = Path::new(Bbr::default());
    path.law = law;
    path.is_app_limited = true;
    path.ack(Duration::from_millis(100), 2, 0);
    // 2.77 · 10 kB / 100 ms = 277 kB/s, which samples of 20 kB/s do not lower while the pipe was never full.
    assert_close(path.pacing(), 277e3);
    path.round(2);
    assert_close(path.pacing(), 277e3);
}

#[test]
fn startup_ends_when_much_is_lost_in_six_places_of_a_round() {
    for (places, lost, ends) in [(6, 3, true), (5, 3, false), (6, 2, false)] {
        let mut path = Path::new(Bbr::default());
        path.is_app_limited = true;
        path.round(10).round(20).round(40);
        for n in 1..=places {
            path.lose(120, n);
        }
        path.congestion(Signal::Loss);
        path.repair = Repair::Recovery;
        let sample = |prior| RateSample {
            delivered: segments(80),
            interval: Some(Duration::from_millis(100)),
            prior_delivered: prior,
            is_app_limited: true,
            // Of 120 in flight 2 % are 2.4: three are too many, two are not.
            tx_in_flight: segments(120),
            lost: segments(lost),
        };
        // Within the round of the first loss nothing ends.
        path.now += Duration::from_millis(50);
        path.tell(0, 80, Bytes::ZERO, Some(sample(Bytes::ZERO)));
        assert_eq!(path.law.state, State::Startup);
        path.now += Duration::from_millis(50);
        let prior = path.delivered;
        path.delivered += segments(80);
        path.tell(80, 150, Bytes::ZERO, Some(sample(prior)));
        assert_eq!(path.law.full_pipe.reached, ends, "{places} {lost}");
        assert_eq!(path.law.state != State::Startup, ends);
        if ends {
            assert_eq!(path.law.state, State::Drain);
            // 80 segments delivered in the last round, as many as bandwidth and delay allow for.
            assert_close(path.law.inflight_longterm, 80_000.0);
            // It was for nothing: back to Startup.
            path.law.on_spurious();
            assert_eq!(path.law.state, State::Startup);
            assert!(path.law.inflight_longterm.is_infinite());
        }
    }
}

#[test]
fn a_cycle_cruises_refills_and_probes() {
    let mut path = full_pipe();
    path.shortens = true;
    path.ack(path.rtt, 100, 100);
    assert_eq!(path.law.state, State::Cruise);
    let begin = path.now;
    assert_close(path.pacing(), 0.99 * BW);
    until(&mut path, State::Refill);
    // 2 to 3 s after it began; 63 rounds would be longer.
    let waited = path.now.since(begin);
    assert!(waited > Duration::from_secs(2) && waited < Duration::from_millis(3100), "{waited:?}");
    assert_close(path.pacing(), 0.99 * BW);
    path.round(100);
    assert_eq!(path.law.state, State::Up);
    assert_close(path.pacing(), 1.25 * 0.99 * BW);
    // Three rounds without a quarter more than the last of refilling.
    path.rounds(2, 110);
    assert_eq!(path.law.state, State::Up);
    path.round(110);
    assert_eq!(path.law.state, State::Down);
    // A round later the cycle's maximum begins anew: the last one's still counts, the one before
    // does not.
    path.rounds(1, 100);
    assert_close(path.law.max_bw(), 1.1 * BW);
    until(&mut path, State::Up);
    path.rounds(4, 100);
    assert_eq!(path.law.state, State::Cruise);
    assert_close(path.law.max_bw(), BW);
}

#[test]
fn a_short_path_probes_as_often_as_reno_would() {
    // 20 segments in flight: after as many rounds, less the one that chance gives.
    let mut path = Path::new(Bbr::default());
    path.rtt = Duration::from_millis(10);
    path.law.on_established(&Established { srtt: Some(path.rtt), seed: 3 });
    for _ in 0..5 {
        path.round(20);
    }
    assert!(path.law.state.is_probe_bw(), "{:?}", path.law.state);
    until_refill(&mut path, 20);
    // And a long one after 63 rounds at most.
    let mut path = Path::new(Bbr::default());
    path.rtt = Duration::from_millis(10);
    path.law.on_established(&Established { srtt: Some(path.rtt), seed: 3 });
    for _ in 0..5 {
        path.round(500);
    }
    until_refill(&mut path, 63);
}

fn until_refill(path: &mut Path<Bbr>, rounds: u64) {
    let data = path.law.target_inflight() / 1000.0;
    let data = bytes(data).get();
    let begin = path.law.rounds.count;
    let drawn = path.law.probing.rounds_since_up;
    while path.law.state != State::Refill {
        path.round(data);
    }
    assert_eq!(path.law.rounds.count - begin + drawn, rounds);
}

#[test]
fn a_probe_that_loses_too_much_ends_and_leaves_a_bound() {
    let mut path = probing();
    // Two of 120 in flight are within 2 %: 2.4.
    path.lose(120, 1).lose(120, 2);
    assert_eq!(path.law.state, State::Up);
    path.lose(120, 3);
    assert_eq!(path.law.state, State::Down);
    // 119 segments before it, of which 2 lost: (0.02 · 119 - 2)/0.98 = 0.3878 of the segment more.
    assert_close(path.law.inflight_longterm, 119_387.8);
    // One response a probe.
    path.lose(120, 10);
    assert_close(path.law.inflight_longterm, 119_387.8);
    // The bound holds while it drains; cruising leaves 15 % to others.
    path.ack(Duration::from_millis(9), 9, 110);
    assert_eq!(path.law.state, State::Down);
    assert!(path.law.cwnd() <= Bytes::new(119_388));
    path.ack(Duration::from_millis(10), 10, 100);
    assert_eq!(path.law.state, State::Cruise);
    assert!(path.law.cwnd() <= Bytes::new(101_480));
}

#[test]
fn a_bound_is_at_least_seven_tenths_of_the_target() {
    let mut path = probing();
    // Lost of a small flight: the bound is 0.7 · 100 segments.
    path.lose(20, 1);
    assert_eq!(path.law.state, State::Down);
    assert_close(path.law.inflight_longterm, 70_000.0);
}

#[test]
fn a_loss_of_limited_data_ends_the_probe_without_a_bound() {
    let mut path = probing();
    path.is_app_limited = true;
    path.lose(20, 1);
    assert_eq!(path.law.state, State::Down);
    assert!(path.law.inflight_longterm.is_infinite());
}

#[test]
fn after_a_probe_that_went_too_high_the_next_stops_at_the_bound() {
    let mut path = probing();
    path.lose(110, 3);
    assert_eq!(path.law.state, State::Down);
    let bound = path.law.inflight_longterm;
    let half = Duration::from_millis(50);
    while path.law.state != State::Up {
        path.ack(half, 50, 50);
    }
    assert_close(path.law.inflight_longterm, bound);
    // The bound is 109.2 segments: reached, and left at once, before it is known what comes of it.
    let reach = |path: &mut Path<Bbr>, flight| {
        path.now += Duration::from_millis(1);
        path.delivered += segments(1);
        let sample = RateSample {
            delivered: segments(100),
            interval: Some(Duration::from_millis(100)),
            prior_delivered: Bytes::ZERO,
            is_app_limited: false,
            tx_in_flight: segments(100),
            lost: Bytes::ZERO,
        };
        path.tell(1, flight, Bytes::ZERO, Some(sample));
    };
    reach(&mut path, 109);
    assert_eq!(path.law.state, State::Up);
    reach(&mut path, 110);
    assert_eq!(path.law.state, State::Down);
    // A round of feedback without loss: it probes again without cruising, and stays.
    path.ack(half, 50, 50);
    assert_eq!(path.law.state, State::Refill);
    path.ack(half, 50, 50);
    assert_eq!(path.law.state, State::Up);
    reach(&mut path, 112);
    assert_eq!(path.law.state, State::Up);
}

#[test]
fn at_the_bound_a_probe_raises_it_by_1_2_4_segments_a_round() {
    let mut path = cruising();
    until(&mut path, State::Refill);
    path.law.inflight_longterm = 110_000.0;
    let segment = Duration::from_millis(1);
    path.ack_of(segment, 1, 100, Bytes::ZERO);
    assert_eq!((path.law.state, path.cwnd()), (State::Refill, 110));
    path.ack(segment, 1, 100);
    assert_eq!(path.law.state, State::Up);
    let mut bounds = Vec::new();
    for _ in 0..4 {
        for _ in 1..path.cwnd() {
            path.ack_of(segment, 1, 100, Bytes::ZERO);
        }
        path.ack(segment, 1, 100);
        bounds.push(path.law.inflight_longterm);
    }
    assert_eq!(bounds, [111_000.0, 113_000.0, 117_000.0, 125_000.0]);
}

#[test]
fn while_cruising_a_round_with_a_loss_costs_up_to_three_tenths() {
    let mut path = cruising();
    path.round(100);
    let cwnd = path.law.cwnd().get() as f64;
    // 80 segments a round trip arrive while others take the rest: the last round's maxima are what
    // is left, as 0.7 of before would be less.
    path.round(80);
    path.lose(100, 1);
    path.round(80);
    assert_close(path.law.bw_shortterm, 0.8 * BW);
    assert_close(path.law.inflight_shortterm, 0.7 * cwnd);
    assert_close(path.pacing(), 0.8 * 0.99 * BW);
    // 40 of 80 would be less than 0.7 · 0.8. The maximum of the round before counts too, so that the
    // first round with 40 still has 80.
    path.round(40);
    path.lose(100, 1);
    path.round(40);
    assert_close(path.law.bw_shortterm, 0.56 * BW);
    // The next probe forgets both.
    until(&mut path, State::Refill);
    assert!(path.law.bw_shortterm.is_infinite() && path.law.inflight_shortterm.is_infinite());
}

#[test]
fn a_spurious_loss_is_taken_back() {
    let mut path = cruising();
    path.round(100);
    let cwnd = path.cwnd();
    path.congestion(Signal::Loss);
    path.repair = Repair::Recovery;
    path.lose(100, 1);
    path.round(70);
    assert!(path.law.bw_shortterm.is_finite() && path.cwnd() < cwnd);
    path.law.on_spurious();
    assert!(path.law.bw_shortterm.is_infinite() && path.law.inflight_shortterm.is_infinite());
    assert_eq!(path.cwnd(), cwnd);
    // Of a probe that it ended: it refills the pipe and probes again.
    let mut path = probing();
    path.congestion(Signal::Loss);
    path.lose(120, 3);
    assert_eq!(path.law.state, State::Down);
    path.law.on_spurious();
    assert_eq!(path.law.state, State::Refill);
    assert!(path.law.inflight_longterm.is_infinite());
}

#[test]
fn every_five_seconds_half_a_window_looks_for_the_path_without_a_queue() {
    let mut path = cruising();
    path.rtt = Duration::from_millis(120);
    while path.law.state != State::ProbeRtt {
        path.round(120);
    }
    // Five seconds after the first ACK, at 100 ms, which none was faster than.
    let since = path.now.since(Instant::START + Duration::from_millis(5100));
    assert!(since > Duration::ZERO && since <= Duration::from_millis(120), "{since:?}");
    // Half of 1e6 B/s · 100 ms: 50 segments.
    assert_eq!(path.cwnd(), 50);
    assert_close(path.pacing(), 0.99 * BW);
    assert!(path.law.limits_flight());
    path.rtt = Duration::from_millis(100);
    path.ack(Duration::from_millis(100), 70, 51);
    path.ack(Duration::from_millis(10), 1, 50);
    let few = path.now;
    path.ack(Duration::from_millis(199), 50, 50);
    assert_eq!(path.law.state, State::ProbeRtt);
    path.ack(Duration::from_millis(2), 1, 50);
    assert!(path.now.since(few) > Duration::from_millis(200));
    assert_eq!(path.law.state, State::Cruise);
    assert!(path.cwnd() >= 200, "{}", path.cwnd());
}

#[test]
fn before_the_pipe_was_full_startup_goes_on_after_that() {
    let mut path = Path::new(Bbr::default());
    path.is_app_limited = true;
    path.round(10);
    path.rtt = Duration::from_millis(120);
    while path.law.state != State::ProbeRtt {
        path.round(10);
    }
    path.ack(Duration::from_millis(100), 10, 4);
    path.ack(Duration::from_millis(201), 4, 4).ack(Duration::from_millis(1), 4, 4);
    assert_eq!(path.law.state, State::Startup);
}

#[test]
fn after_silence_the_rate_is_the_bandwidth_and_nothing_is_to_be_drained() {
    let mut path = probing();
    assert_close(path.pacing(), 1.25 * 0.99 * BW);
    path.now += Duration::from_secs(6);
    path.send_after_silence(path.now);
    assert_close(path.pacing(), 0.99 * BW);
    path.ack(path.rtt, 4, 4);
    assert_ne!(path.law.state, State::ProbeRtt);
}

#[test]
fn after_a_timeout_the_window_grows_from_one_segment_and_then_comes_back() {
    let mut path = cruising();
    path.rounds(2, 100);
    let before = path.cwnd();
    path.congestion(Signal::Timeout { consecutive: 1 });
    assert_eq!(path.cwnd(), 1);
    path.repair = Repair::AfterTimeout;
    path.ack(path.rtt, 1, 2);
    assert_eq!(path.cwnd(), 4);
    path.ack(path.rtt, 3, 3);
    assert_eq!(path.cwnd(), 7);
    path.repair = Repair::None;
    path.ack(path.rtt, 4, 4);
    assert!(path.cwnd() >= before.min(200), "{}", path.cwnd());
}

#[test]
fn a_path_of_less_than_a_segment_gets_four() {
    let mut path = Path::new(Bbr::default());
    path.rtt = Duration::from_micros(100);
    path.law.on_established(&Established { srtt: Some(path.rtt), seed: 1 });
    // A segment a millisecond: a tenth of a segment a round trip. Three quanta of two are six.
    for _ in 0..30 {
        path.ack(Duration::from_millis(1), 1, 3);
    }
    assert!((4..=8).contains(&path.cwnd()), "{}", path.cwnd());
    assert!(path.pacing() >= 0.89 * BW, "{}", path.pacing());
}
