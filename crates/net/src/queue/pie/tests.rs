use super::*;
use crate::queue::fixtures::{ROOM, asking_for_ecn, millis, packet, told};

fn pie(config: PieConfig) -> Pie {
    Pie::new(config, Stream::new(1, "queue"))
}

/// A queue in which ten packets wait, with no burst left, and this probability.
fn busy(config: PieConfig, probability: f64) -> Pie {
    let mut pie = pie(config);
    for id in 0..10 {
        pie.queue.push(millis(0), packet(id, 1500, 0));
    }
    Pie { probability, delay: 0.020, burst_left: Duration::ZERO, ..pie }
}

/// The probability after an update that finds this delay after that one, in seconds.
fn updated(probability: f64, before: f64, delay: f64) -> f64 {
    let mut pie = busy(PieConfig::default(), probability);
    (pie.delay, pie.sojourn) = (before, delay);
    pie.update();
    pie.probability
}

#[test]
fn steps_are_smaller_the_smaller_the_probability() {
    // 25 ms after 15 ms: 0.125 * 0.010 + 1.25 * 0.010 = 0.01375, divided by 2048, 512, 128, 32, 8, 2
    // and 1 (RFC 8033 §4.2).
    for (before, after) in [
        (0.0, 6.713_867e-6),
        (0.000_005, 0.000_031_855_468_75),
        (0.000_05, 0.000_157_421_875),
        (0.000_5, 0.000_929_687_5),
        (0.005, 0.006_718_75),
        (0.05, 0.056_875),
        (0.5, 0.513_75),
    ] {
        let found = updated(before, 0.015, 0.025);
        assert!((found - after).abs() < 1e-11, "{before}: {found}");
    }
    // Below the target it falls: 0.125 * -0.005 + 1.25 * -0.005 = -0.006875 at 10 ms after 15 ms.
    assert!((updated(0.5, 0.015, 0.010) - 0.493_125).abs() < 1e-12);
    assert!((updated(0.05, 0.015, 0.010) - 0.046_562_5).abs() < 1e-12);
    assert!(updated(0.000_000_5, 0.015, 0.010) <= 0.0);
}

#[test]
fn a_step_from_a_tenth_on_is_at_most_two_hundredths() {
    // 60 ms after 0: 0.125 * 0.045 + 1.25 * 0.060 = 0.080625 (§5.5).
    assert!((updated(0.5, 0.0, 0.060) - 0.52).abs() < 1e-12);
    // Below a tenth half of it, whole.
    assert!((updated(0.05, 0.0, 0.060) - 0.090_312_5).abs() < 1e-12);
    assert!((updated(0.99, 0.060, 1.0) - 1.0).abs() < 1e-12);
}

#[test]
fn without_delay_the_probability_decays() {
    // (0.5 - 0.125 * 0.015) * 0.98.
    assert!((updated(0.5, 0.0, 0.0) - 0.488_162_5).abs() < 1e-12);
    // Not after a delay: 0.5 - 0.001875 - 1.25 * 0.010.
    assert!((updated(0.5, 0.010, 0.0) - 0.485_625).abs() < 1e-12);
}

#[test]
fn updates_come_every_fifteen_milliseconds_and_before_what_happens_then() {
    let mut pie = busy(PieConfig::default(), 0.5);
    // Ten packets wait since 0; the one that leaves at 10 ms has waited 10 ms.
    pie.delay = 0.0;
    let mut log = Log::default();
    pie.next(millis(10), &mut log).unwrap();
    assert!((pie.probability - 0.5).abs() < 1e-12);
    // 0.125 * -0.005 + 1.25 * 0.010 = 0.011875, by the 10 ms although one leaves at 15 ms.
    pie.next(millis(15), &mut log).unwrap();
    assert!((pie.probability - 0.511_875).abs() < 1e-12);
    // At 30 and 45 ms, by the 15 ms of the last that left: 1.25 * 0.005, then nothing.
    pie.catch_up(millis(46));
    assert!((pie.probability - 0.518_125).abs() < 1e-12);
}

#[test]
fn a_rest_of_any_length_is_caught_up_with() {
    let mut pie = busy(PieConfig::default(), 0.5);
    for at in 20..30 {
        pie.next(millis(at), &mut Log::default()).unwrap();
    }
    // Nothing waits: 0.98 a step forgets 0.5 within 30 s, and the burst is allowed again.
    pie.catch_up(millis(3_600_000));
    assert!(pie.probability <= 0.0 && pie.burst_left == Duration::from_millis(150));
    assert_eq!(pie.next_update, millis(3_600_015));
}

#[test]
fn a_burst_passes() {
    // Two come a millisecond, one leaves: the delay grows by half a millisecond a millisecond.
    let mut pie = pie(PieConfig::default());
    let mut first_drop = None;
    for half in 0..4_000_u32 {
        let now = Instant::from_nanos(u64::from(half) * 500_000);
        let admission = pie.offer(now, packet(half, 1000, 0), &ROOM, &mut Log::default());
        if admission != Admission::Taken {
            first_drop = first_drop.or(Some(half / 2));
        }
        if half % 2 == 0 {
            pie.next(now, &mut Log::default());
        }
    }
    // The probability leaves zero at the first or the second update, and from then on the allowance
    // of 150 ms falls by 15 ms an update.
    let first_drop = first_drop.unwrap();
    assert!((150..1_000).contains(&first_drop), "{first_drop}");
}

/// RFC 8033 §4.4: the allowance is given again where both delays are below half the target, 7.5 ms, and nothing is dropped.
#[test]
fn the_allowance_is_given_again_below_half_the_target() {
    let left = |before: f64, delay: f64, probability: f64| {
        let mut pie = busy(PieConfig::default(), probability);
        (pie.delay, pie.sojourn) = (before, delay);
        pie.update();
        pie.burst_left
    };
    let whole = Duration::from_millis(150);
    assert_eq!(left(0.0074, 0.0074, 0.0), whole);
    assert_eq!(left(0.0076, 0.0074, 0.0), Duration::ZERO);
    assert_eq!(left(0.0074, 0.0076, 0.0), Duration::ZERO);
    assert_eq!(left(0.0074, 0.0074, 0.5), Duration::ZERO);
}

#[test]
fn few_packets_and_a_small_delay_are_left_alone() {
    let strikes = |pie: &mut Pie| (0..1000).filter(|_| pie.strikes(1500)).count();
    let mut pie = busy(PieConfig::default(), 1.0);
    assert_eq!(strikes(&mut pie), 1000);
    // Two mean packets or less (§4.1).
    (0..8).for_each(|_| {
        pie.queue.pop();
    });
    assert_eq!(strikes(&mut pie), 0);
    // Half the target, while the probability is below 0.2.
    let mut calm = Pie { delay: 0.007, ..busy(PieConfig::default(), 0.19) };
    assert_eq!(strikes(&mut calm), 0);
    let mut calm = Pie { probability: 0.21, ..calm };
    // 210 expected, standard deviation 12.9.
    assert!((160..260).contains(&strikes(&mut calm)));
}

/// The number of packets from one drop to the next, at a probability of 0.1.
fn gaps(config: PieConfig) -> Vec<u32> {
    let mut pie = busy(config, 0.1);
    let (mut gaps, mut gap) = (Vec::new(), 0);
    for _ in 0..100_000 {
        gap += 1;
        if pie.strikes(1500) {
            pie.accumulated = 0.0;
            gaps.push(gap);
            gap = 0;
        }
    }
    gaps
}

#[test]
fn drops_may_keep_a_distance() {
    let mean = |gaps: &[u32]| f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
    // Geometric: 10 in the mean, standard deviation 9.5; of 10,000, 0.095.
    let random = gaps(PieConfig::default());
    assert!((mean(&random) - 10.0).abs() < 0.5);
    assert!(random.contains(&1));
    // Nine packets bring the sum to 0.9, beyond 0.85; from there geometric: 8 + 10. At 85 the sum is
    // 8.5, which drops for sure (§5.4).
    let spaced = gaps(PieConfig { derandomise: true, ..PieConfig::default() });
    assert!((mean(&spaced) - 18.0).abs() < 0.6, "{}", mean(&spaced));
    assert_eq!(spaced.iter().min(), Some(&9));
    assert!(*spaced.iter().max().unwrap() <= 86);
}

#[test]
fn a_sum_of_eight_and_a_half_drops_for_sure() {
    let config = PieConfig { derandomise: true, byte_mode: true, ..PieConfig::default() };
    let mut pie = busy(config, 1e-9);
    pie.accumulated = 8.5;
    assert!(pie.strikes(1500));
}

#[test]
fn small_packets_may_be_spared() {
    let mut pie = busy(PieConfig { byte_mode: true, ..PieConfig::default() }, 0.5);
    // 0.5 * 150/1500: 500 of 10,000, standard deviation 21.8.
    let struck = (0..10_000).filter(|_| pie.strikes(150)).count();
    assert!((410..590).contains(&struck), "{struck}");
}

#[test]
fn marks_replace_drops_below_a_tenth() {
    let marked_of = |probability: f64| {
        let mut pie = busy(PieConfig { ecn: true, ..PieConfig::default() }, probability);
        let (mut refused, mut log) = (0, Log::default());
        for id in 0..10_000 {
            let asks = asking_for_ecn(packet(id, 1500, 0));
            refused += u32::from(pie.offer(millis(1), asks, &ROOM, &mut log) != Admission::Taken);
        }
        (told(&mut log).1.len(), refused)
    };
    // 900 expected, standard deviation 28.6; then 1100 and 31.3.
    let (marked, refused) = marked_of(0.09);
    assert!((780..1020).contains(&marked) && refused == 0, "{marked} {refused}");
    let (marked, refused) = marked_of(0.11);
    assert!(marked == 0 && (970..1230).contains(&refused), "{marked} {refused}");
    // At a tenth packets are dropped (RFC 8033 §5.1: only below it they are marked).
    let (marked, refused) = marked_of(0.1);
    assert!(marked == 0 && refused > 0, "{marked} {refused}");
}

#[test]
fn the_rate_is_measured_over_sixteen_kilobytes() {
    let mut meter = Meter::default();
    // 1500 B a millisecond while 30 kB wait: eleven packets are 16,500 B in 11 ms.
    for at in 0..11 {
        meter.on_departure(millis(at), 1500, 30_000);
        assert_eq!(meter.byte_time, None);
    }
    meter.on_departure(millis(11), 1500, 30_000);
    assert!((meter.byte_time.unwrap() - 0.011 / 16_500.0).abs() < 1e-15);
    // Half the rate: 22 ms for as much, of which a quarter counts: 1.25 times the time.
    for packet in 1..=11 {
        meter.on_departure(millis(11 + 2 * packet), 1500, 30_000);
    }
    assert!((meter.byte_time.unwrap() - 1.25 * 0.011 / 16_500.0).abs() < 1e-15);
    // A short queue is not measured.
    let mut short = Meter::default();
    (0..100).for_each(|at| short.on_departure(millis(at), 1500, 16_000));
    assert_eq!(short.byte_time, None);
}

#[test]
fn the_delay_may_come_from_the_rate() {
    let config = PieConfig { estimate: DelayEstimate::DepartureRate, ..PieConfig::default() };
    let mut pie = busy(config, 0.0);
    pie.meter.byte_time = Some(1e-6);
    // 15,000 B at a microsecond a byte.
    assert!((pie.current_delay() - 0.015).abs() < 1e-12);
}
