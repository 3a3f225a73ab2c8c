use ackclock_packet::Seq;
use ackclock_units::Bytes;

use super::*;
use crate::event::{Proposal, RecoveryEnd, Why};
use crate::growth::Growth;
use crate::growth::tests::Story;
use crate::growth::{AnyGrowth, GrowthChoice};
use crate::start::SlowStartChoice;

const LINUX: GrowthChoice = GrowthChoice::CubicLinux(());

/// A sender with a window of so many segments, and a round-trip time of 100 ms as the kernel that was
/// measured saw it: its clock ticks every 4 ms, it rounded 100.1 ms up to 104 ms, and all that came
/// later was, by its clock, a tick later after the beginning of the epoch.
fn story(segments: u64) -> Story {
    let mut story = Story::with(LINUX, SlowStartChoice::AbcUnlimited(()), segments);
    story.rtt = Duration::from_millis(108);
    story.law.on_rtt(&RttSample { now: story.now, rtt: story.rtt });
    story
}

fn law(story: &Story) -> CubicLinux {
    match &story.law {
        AnyGrowth::CubicLinux(law) => *law,
        other => panic!("{other:?}"),
    }
}

fn repaired(story: &mut Story, delivered: u64) {
    story.law.on_recovery_end(&RecoveryEnd {
        now: story.now,
        in_flight: Bytes::ZERO,
        newly_delivered: Bytes::ZERO,
        at_most: None,
        mss: story.mss,
    });
    // The ACK that ends the repair is the first one of avoidance. It measures nothing.
    if delivered > 0 {
        story.measures = false;
        story.ack(delivered);
        story.measures = true;
    }
}

/// The window after each of `n` ACKs of `segments`, 100 ms apart.
fn windows(story: &mut Story, n: usize, segments: u64) -> Vec<u64> {
    (0..n)
        .map(|_| {
            story.now += Duration::from_millis(100);
            story.ack(segments);
            law(story).window.cwnd
        })
        .collect()
}

/// Measured with Linux 6.18: a loss at 40 segments, repaired by SACK; then ACKs of four segments every
/// 100 ms, a round-trip time of 100 ms before the loss.
const AFTER_LOSS: [u64; 110] = [
    28, 29, 29, 30, 31, 31, 32, 32, 33, 34, 34, 35, 35, 36, 36, 36, 37, 37, 37, 38, 38, 38, 38, 39,
    39, 39, 39, 39, 39, 39, 39, 39, 39, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 41, 41, 41, 41, 41,
    41, 42, 42, 42, 42, 43, 43, 44, 44, 44, 45, 45, 46, 47, 48, 48, 49, 50, 51, 52, 53, 54, 55, 56,
    58, 59, 60, 62, 63, 64, 67, 69, 71, 73, 75, 77, 79, 81, 83, 85, 87, 89, 91, 93, 95, 97, 99,
    101, 103, 105, 107, 109, 111, 113, 115, 117, 119, 121, 123, 125, 127, 129,
];

#[test]
fn the_curve_after_a_loss_is_the_kernels() {
    let mut story = story(40);
    story.congestion(Signal::Loss, 40);
    repaired(&mut story, 1);
    assert_eq!(windows(&mut story, AFTER_LOSS.len(), 4), AFTER_LOSS);
}

/// Measured with Linux 6.18: all of 40 segments lost, slow start to the threshold of 28 in ACKs of one
/// segment, three such ACKs more; then ACKs of four segments every 100 ms. What is acknowledged was
/// sent twice until the fourth of them, and within a second of the epoch's start afterwards, so that
/// the first round-trip time that counts is that of a segment that waited behind a window of 30.
const AFTER_TIMEOUT: [u64; 70] = [
    28, 28, 28, 29, 29, 29, 29, 29, 30, 30, 30, 30, 30, 31, 31, 31, 31, 32, 32, 33, 33, 34, 34, 35,
    36, 37, 37, 39, 39, 41, 42, 43, 44, 45, 46, 47, 49, 50, 52, 53, 56, 58, 60, 62, 64, 66, 68, 70,
    72, 74, 76, 78, 80, 82, 84, 86, 88, 90, 92, 94, 96, 98, 100, 102, 104, 106, 108, 110, 112, 114,
];

#[test]
fn a_timeout_forgets_where_the_last_loss_was() {
    let mut story = story(40);
    story.congestion(Signal::Timeout { consecutive: 1 }, 40);
    let forgotten = law(&story).module.curve;
    assert!(forgotten.last_max_cwnd == 0 && forgotten.delay_min.is_none());
    // Segments sent again measure nothing.
    story.measures = false;
    story.acks(31);
    assert_eq!(law(&story).window.cwnd, 28);
    let mut measured = windows(&mut story, 10, 4);
    story.measures = true;
    story.rtt = Duration::from_millis(708);
    measured.extend(windows(&mut story, AFTER_TIMEOUT.len() - 10, 4));
    assert_eq!(measured, AFTER_TIMEOUT);
}

#[test]
fn what_slow_start_does_not_need_counts_in_avoidance() {
    // Measured with Linux 6.18: after a timeout at 40 segments, ACKs of 1, 2, 4, 8, 16, 10 and 20
    // segments. The fifth needs 12 of its 16 to reach 28; 4 + 10 + 20 are the first to exceed the 20
    // that another segment costs while no loss is known.
    let mut story = story(40);
    story.congestion(Signal::Timeout { consecutive: 1 }, 40);
    let cwnd: Vec<u64> =
        [1, 2, 4, 8, 16, 10, 20].iter().flat_map(|n| windows(&mut story, 1, *n)).collect();
    assert_eq!(cwnd, [2, 4, 8, 16, 28, 28, 29]);
}

#[test]
fn silence_does_not_count() {
    // Measured with Linux 6.18, once with 0.1 s and once with 2 s without data after the seventh
    // ACK, with the same windows: a loss at 40 segments, six ACKs of four segments every 100 ms, one
    // of six, silence, ACKs of four segments.
    let before = [28, 29, 29, 30, 31, 31];
    let after = [
        32, 32, 32, 33, 33, 34, 34, 34, 35, 35, 35, 36, 36, 37, 37, 37, 38, 38, 38, 38, 38, 39, 39,
        39, 39, 39, 39, 39, 39, 39, 39, 40, 40, 40, 40, 40, 40, 40, 40, 40,
    ];
    for silence in [100, 2000] {
        let mut story = story(40);
        story.congestion(Signal::Loss, 40);
        repaired(&mut story, 1);
        // A hundred segments were written: of 30 + 40 + 4 acknowledged with a window of 28 the rest
        // is on its way.
        let last_send = Some(story.now + Duration::from_millis(100));
        assert_eq!(windows(&mut story, before.len(), 4), before);
        assert_eq!(windows(&mut story, 1, 6), [32]);
        story.now += Duration::from_millis(silence);
        story.law.on_send_start(&SendStart {
            now: story.now,
            last_send,
            nxt: Seq::FIRST_BYTE,
            app_limited: false,
        });
        assert_eq!(windows(&mut story, after.len(), 4), after, "{silence}");
    }
}

#[test]
fn a_loss_leaves_717_of_1024_and_a_second_one_gives_way() {
    let mut story = story(40);
    // 40 * 717 / 1024 = 28.008.
    story.congestion(Signal::Loss, 40);
    assert_eq!((law(&story).window.cwnd, law(&story).window.ssthresh), (28, Some(28)));
    assert_eq!(law(&story).module.curve.last_max_cwnd, 40);
    // Fast convergence: 28 * (1024 + 717) / 2048 = 23.8; 28 * 717 / 1024 = 19.6.
    story.congestion(Signal::Loss, 28);
    assert_eq!((law(&story).window.cwnd, law(&story).module.curve.last_max_cwnd), (19, 23));
    // Never below two.
    for _ in 0..20 {
        story.congestion(Signal::Loss, 1);
    }
    assert_eq!((law(&story).window.cwnd, law(&story).window.ssthresh), (2, Some(2)));
}

#[test]
fn the_window_is_reduced_whatever_was_in_flight() {
    let mut story = story(40);
    story.congestion(Signal::Loss, 10);
    assert_eq!(law(&story).window.cwnd, 28);
}

#[test]
fn an_undo_gives_back_the_window_and_at_least_three_quarters_of_it_as_threshold() {
    // tcp_current_ssthresh: max(ssthresh, cwnd/2 + cwnd/4), without end in the first slow start.
    let mut story = story(40);
    story.congestion(Signal::Loss, 40);
    story.law.on_spurious();
    assert_eq!((law(&story).window.cwnd, law(&story).window.ssthresh), (40, None));
    story.congestion(Signal::Loss, 40);
    story.congestion(Signal::Timeout { consecutive: 1 }, 28);
    // Of 28 segments 14 + 7; ssthresh was 28.
    story.law.on_spurious();
    assert_eq!((law(&story).window.cwnd, law(&story).window.ssthresh), (28, Some(28)));
    // 100 segments with a threshold of 28: 50 + 25.
    story.law.rebase(&Proposal {
        cwnd: Some(story.mss.times(100)),
        ssthresh: None,
        mss: story.mss,
        why: Why::Idle,
    });
    story
        .congestion(Signal::Timeout { consecutive: 1 }, 28)
        .congestion(Signal::Timeout { consecutive: 2 }, 28);
    story.law.on_spurious();
    assert_eq!((law(&story).window.cwnd, law(&story).window.ssthresh), (100, Some(75)));
    // Only once.
    story.congestion(Signal::Timeout { consecutive: 2 }, 28);
    story.law.on_spurious();
    assert_eq!(law(&story).window.cwnd, 1);
}

#[test]
fn the_curve_is_looked_at_when_the_window_moved_or_a_thirty_second_of_a_second_later() {
    let mut story = story(40);
    story.congestion(Signal::Loss, 40);
    story.ack(1);
    assert_eq!(law(&story).module.curve.last_time, Some(0));
    // 1000/32 = 31 ticks.
    story.now += Duration::from_millis(31);
    story.ack(1);
    assert_eq!(law(&story).module.curve.last_time, Some(0));
    story.now += Duration::from_millis(1);
    story.ack(1);
    assert_eq!(law(&story).module.curve.last_time, Some(32));
}

#[test]
fn round_trip_times_of_an_epochs_first_second_do_not_count() {
    let mut story = story(40);
    story.congestion(Signal::Loss, 40);
    story.ack(1);
    let least = |story: &Story| law(story).module.curve.delay_min.unwrap();
    story.rtt = Duration::from_millis(50);
    story.now += Duration::from_millis(999);
    story.ack(1);
    assert_eq!(least(&story), Duration::from_millis(108));
    story.now += Duration::from_millis(1);
    story.ack(1);
    assert_eq!(least(&story), Duration::from_millis(50));
}

#[test]
fn a_small_window_grows_at_renos_pace() {
    // After a timeout at 8 segments the threshold is 8 * 717/1024 = 5, and a segment costs 20 ACKs.
    // Reno's window takes 5 * 15/8 = 9 of them and moves with the next: 6 > 5 makes cnt = 5/(6 - 5),
    // which the 9 saved up exceed. Then 6 * 15/8 = 11, counted from the tenth on: the 21st.
    let mut story = story(8);
    story.congestion(Signal::Timeout { consecutive: 1 }, 8);
    story.measures = false;
    story.acks(4);
    assert_eq!(law(&story).window.cwnd, 5);
    let grows: Vec<u64> = (1..=22)
        .filter(|_| {
            let before = law(&story).window.cwnd;
            story.now += Duration::from_millis(40);
            story.ack(1);
            law(&story).window.cwnd > before
        })
        .collect();
    assert_eq!(grows, [10, 21]);
}

#[test]
fn at_most_a_segment_for_two_acknowledged() {
    // Ten seconds after the plateau of 40 the curve is 400 segments above it: cnt would be zero.
    let mut story = story(40);
    story.congestion(Signal::Loss, 40);
    story.ack(1);
    story.now += Duration::from_secs(13);
    story.ack(1);
    let cwnd = law(&story).window.cwnd;
    story.ack(20);
    assert_eq!(law(&story).module.curve.cnt, 2);
    assert_eq!(law(&story).window.cwnd, cwnd + 10);
}

#[test]
fn k_is_what_the_kernel_finds() {
    // In traces of Linux 6.18's module (`tests/data/linux-laws`): the distance to the plateau in segments, and K. The exact
    // roots of 10, 58 and 258 are 2993, 5377 and 8844.
    for (distance, k) in [
        (7, 2657),
        (9, 2889),
        (10, 2991),
        (13, 3266),
        (15, 3426),
        (17, 3573),
        (30, 4316),
        (43, 4867),
        (58, 5379),
        (61, 5472),
        (121, 6870),
        (156, 7478),
        (258, 8851),
        (315, 9455),
    ] {
        assert_eq!(cube_root(distance * CUBE_FACTOR), k, "{distance}");
    }
    assert_eq!(cube_root(0), 0);
}

#[test]
fn k_is_the_kernels_at_every_distance_that_was_measured() {
    // Read from a running Linux 6.18 at distances of 1 to 16,383 segments; the sums are of all of them.
    let roots = (1..16_384).map(|distance| (distance, cube_root(distance * CUBE_FACTOR)));
    let (plain, weighted) =
        roots.fold((0, 0), |(plain, weighted), (distance, k)| (plain + k, weighted + distance * k));
    assert_eq!((plain, weighted), (433_529_684, 4_058_533_546_603));
    for (distance, k) in [
        (1, 1388),
        (2, 1750),
        (3, 2003),
        (4, 2203),
        (5, 2375),
        (6, 2523),
        (8, 2777),
        (11, 3090),
        (12, 3179),
        (14, 3347),
        (16, 3500),
        (20, 3770),
        (25, 4062),
        (35, 4541),
        (50, 5120),
        (75, 5859),
        (100, 6451),
        (200, 8125),
        (400, 10240),
        (700, 12340),
        (1000, 13897),
        (2000, 17492),
        (5000, 23753),
        (10000, 29930),
        (16383, 35254),
    ] {
        assert_eq!(cube_root(distance * CUBE_FACTOR), k, "{distance}");
    }
}

#[test]
fn every_distance_has_a_root_within_half_a_percent() {
    for distance in (1..10_000).chain([1 << 20, u64::MAX / CUBE_FACTOR]) {
        let exact = libm::cbrt((distance * CUBE_FACTOR) as f64);
        let root = cube_root(distance * CUBE_FACTOR) as f64;
        assert!((root / exact - 1.0).abs() < 0.005, "{distance}: {root} for {exact}");
    }
}
