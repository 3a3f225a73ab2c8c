use super::*;
use crate::queue::fixtures::{ROOM, asking_for_ecn, full, millis, packet};

fn red(config: RedConfig) -> Red {
    // 1500 B take a millisecond.
    Red::new(config, Rate::from_bps(12_000_000), Stream::new(1, "queue"))
}

fn at_average(config: RedConfig, average: f64) -> Red {
    Red { average, idle_since: None, ..red(config) }
}

#[test]
fn the_average_follows_the_queue() {
    let mut red = red(RedConfig { weight: 0.5, ..RedConfig::default() });
    let mut log = Log::default();
    red.offer(millis(0), packet(0, 1500, 0), &ROOM, &mut log);
    red.next(millis(0), &mut log).unwrap();
    // Arrivals find 0, 1, 2, 3 waiting: 0, 0.5, 1.25, 2.125.
    for (id, average) in [(1, 0.0), (2, 0.5), (3, 1.25), (4, 2.125)] {
        red.offer(millis(0), packet(id, 1500, 0), &ROOM, &mut log);
        assert!((red.average - average).abs() < 1e-12, "{id}: {}", red.average);
    }
    for at in 1..=4 {
        red.next(millis(at), &mut log).unwrap();
    }
    assert!(red.next(millis(5), &mut log).is_none());
    // The link could have sent three packets by 8 ms and one more by 9 ms: 2.125 / 2^4.
    red.offer(millis(8), packet(5, 1500, 0), &Room { fits: false, ..ROOM }, &mut log);
    red.offer(millis(9), packet(6, 1500, 0), &ROOM, &mut log);
    // Below the lower threshold that is not counted before it is asked for.
    red.count_missed();
    assert!((red.average - 0.132_812_5).abs() < 1e-12, "{}", red.average);
}

#[test]
fn an_idle_link_at_another_rate_forgets_at_that_rate() {
    let mut red = Red { average: 8.0, ..red(RedConfig { weight: 0.5, ..RedConfig::default() }) };
    // 2 ms a packet: 6 ms are three.
    red.set_rate(Rate::from_bps(6_000_000));
    red.offer(millis(6), packet(0, 1500, 0), &ROOM, &mut Log::default());
    assert!((red.average - 1.0).abs() < 1e-12);
}

#[test]
fn the_average_may_count_bytes() {
    let bytes = RedConfig {
        min_th: Limit::bytes(7_500),
        max_th: Limit::bytes(22_500),
        weight: 0.25,
        ..RedConfig::default()
    };
    let mut red = at_average(bytes, 0.0);
    red.queue.push(millis(0), packet(0, 1500, 0));
    red.queue.push(millis(0), packet(1, 500, 0));
    red.offer(millis(0), packet(2, 1500, 0), &ROOM, &mut Log::default());
    assert!((red.average - 500.0).abs() < 1e-12);
}

#[test]
fn the_probability_is_linear_between_the_thresholds() {
    let probability = |config: RedConfig, average: f64| at_average(config, average).probability();
    let close = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-12;
    let gentle = RedConfig::default();
    // 0.1 * (10 - 5)/10; then from 0.1 to 1 between 15 and 30.
    assert!(close(probability(gentle, 10.0), 0.05));
    assert!(close(probability(gentle, 15.0), 0.1));
    assert!(close(probability(gentle, 22.5), 0.55));
    assert_eq!(probability(gentle, 30.0), None);
    let harsh = RedConfig { gentle: false, ..gentle };
    assert!(close(probability(harsh, 14.0), 0.09));
    assert_eq!(probability(harsh, 15.0), None);
}

/// The number of packets of `size` from one signal to the next.
fn gaps(config: RedConfig, average: f64, size: u32) -> Vec<u32> {
    let mut red = at_average(config, average);
    let (mut gaps, mut gap) = (Vec::new(), 0);
    for _ in 0..200_000 {
        gap += 1;
        if red.call(size) == Call::Signal {
            gaps.push(gap);
            gap = 0;
        }
    }
    gaps.split_off(1)
}

#[test]
fn signals_are_spread_evenly() {
    let mean = |gaps: &[u32]| f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
    // p = 0.05 and p_a = p/(1 - n p) for the n-th packet: 1 to 19, alike, as 1/(1/p - 1) each. The
    // mean is 10; the standard deviation sqrt((19^2 - 1)/12) = 5.5, of 20,000 gaps 0.04.
    let found = gaps(RedConfig::default(), 10.0, 1500);
    assert!((mean(&found) - 10.0).abs() < 0.2, "{}", mean(&found));
    assert_eq!((found.iter().min(), found.iter().max()), (Some(&1), Some(&19)));
    let first = found.iter().filter(|gap| **gap == 1).count() as f64 / found.len() as f64;
    assert!((first - 1.0 / 19.0).abs() < 0.008, "{first}");
    // In packets a small one is as good as any; in bytes half a packet has half the probability: 1 to
    // 39, mean 20.
    assert!((mean(&gaps(RedConfig::default(), 10.0, 750)) - 10.0).abs() < 0.2);
    let bytes = RedConfig {
        min_th: Limit::bytes(7_500),
        max_th: Limit::bytes(22_500),
        ..RedConfig::default()
    };
    let found = gaps(bytes, 15_000.0, 750);
    assert!((mean(&found) - 20.0).abs() < 0.5, "{}", mean(&found));
    assert_eq!(found.iter().max(), Some(&39));
}

#[test]
fn nothing_is_signalled_below_the_lower_threshold_and_all_beyond_the_last() {
    let mut calm = at_average(RedConfig::default(), 4.999);
    assert!((0..1000).all(|_| calm.call(1500) == Call::Pass));
    let mut mad = at_average(RedConfig::default(), 30.0);
    assert!((0..1000).all(|_| mad.call(1500) == Call::Drop));
}

#[test]
fn marks_replace_the_drops_that_chance_makes() {
    let config = RedConfig { ecn: true, weight: 1e-9, ..RedConfig::default() };
    let offers = |average: f64, asks: bool| {
        let mut red = at_average(config, average);
        let (mut refused, mut log) = (0, Log::default());
        for id in 0..1000 {
            let plain = packet(id, 1500, 0);
            let offered = if asks { asking_for_ecn(plain) } else { plain };
            refused += u32::from(
                red.offer(millis(0), offered, &ROOM, &mut log) == Admission::Refused(Reason::Early),
            );
        }
        (crate::queue::fixtures::told(&mut log).1.len(), refused)
    };
    // A signal every 10 packets in the mean.
    let (marked, refused) = offers(10.0, true);
    assert!((80..120).contains(&marked) && refused == 0, "{marked} {refused}");
    let (marked, refused) = offers(10.0, false);
    assert!(marked == 0 && (80..120).contains(&refused), "{marked} {refused}");
    // Where nothing is left to chance, whatever comes is dropped.
    assert_eq!(offers(31.0, true), (0, 1000));
}

#[test]
fn a_full_queue_refuses_and_the_average_sees_it() {
    let mut red = at_average(RedConfig { weight: 0.5, ..RedConfig::default() }, 0.0);
    red.queue.push(millis(0), packet(0, 1500, 0));
    let refused = red.offer(millis(0), packet(1, 1500, 0), &full(1), &mut Log::default());
    assert_eq!(refused, Admission::Refused(Reason::Full));
    assert!((red.average - 0.5).abs() < 1e-12);
}

#[test]
fn the_largest_probability_may_adapt() {
    let config = RedConfig { adaptive: true, ..RedConfig::default() };
    let adapted = |average: f64, max_p: f64, at: u64| {
        let mut red = Red { max_p, ..at_average(config, average) };
        red.adapt(millis(at));
        red.max_p
    };
    let close = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
    // The middle is 9 to 11: above it + min(0.01, max_p/4), below it * 0.9, every half second.
    assert!(close(adapted(11.5, 0.1, 500), 0.11));
    assert!(close(adapted(11.5, 0.02, 500), 0.025));
    assert!(close(adapted(8.5, 0.1, 500), 0.09));
    assert!(close(adapted(10.0, 0.1, 500), 0.1));
    assert!(close(adapted(11.5, 0.1, 499), 0.1));
    // From 0.5 up and from 0.01 down there is no way.
    assert!(close(adapted(11.5, 0.505, 500), 0.505));
    assert!(close(adapted(8.5, 0.009, 500), 0.009));
}
