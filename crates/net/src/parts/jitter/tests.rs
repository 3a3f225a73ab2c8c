use serde_json::json;

use super::*;

fn jitter(settings: serde_json::Value) -> Jitter {
    let config: JitterConfig = serde_json::from_value(settings).unwrap();
    config.check(Rate::from_bps(1_000_000)).unwrap();
    Jitter::new(&config, Stream::new(1, "jitter"))
}

/// The delays of packets that would arrive a second apart, in milliseconds.
fn delays(settings: serde_json::Value, count: u64) -> Vec<f64> {
    let mut jitter = jitter(settings);
    let delay = |n: u64| {
        let at = Instant::from_nanos(n * 1_000_000_000);
        jitter.arrival(at).since(at).as_secs_f64() * 1e3
    };
    (0..count).map(delay).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn draws_have_the_means_of_their_laws() {
    let n = 200_000;
    // The mean of an even draw from 0 to 10 ms, of standard deviation 2.89: 5 ± 0.026 (four of its mean's).
    let uniform = delays(json!({"kind": "uniform", "most": "10 ms"}), n);
    assert!((mean(&uniform) - 5.0).abs() < 0.026, "{}", mean(&uniform));
    assert!(uniform.iter().all(|ms| (0.0..10.0).contains(ms)));
    // The mean of |N(0, 5 ms)| cut at 15 ms: 5 (sqrt(2/pi) (1 - exp(-4.5)) + 3 * 0.0027) = 3.986.
    let normal = delays(json!({"kind": "normal"}), n);
    assert!((mean(&normal) - 3.986).abs() < 0.028, "{}", mean(&normal));
    assert!(normal.iter().all(|ms| (0.0..=15.0).contains(ms)));
    // C4's formula: 1 ms, less half a millisecond where there is one, 1 - 0.5 (1 - 1/e) = 0.684, and 90 ms in (T - 1)/90
    // of the packets. A spike has a standard deviation of 26 ms, so that of T = 7 is 23.8: 6.684 ± 0.21.
    let wifi = delays(json!({"kind": "wifi"}), n);
    assert!((mean(&wifi) - 6.684).abs() < 0.21, "{}", mean(&wifi));
    // Without a spike, 1 - 6/90 = 0.933 of them, no more than some milliseconds.
    let few = wifi.iter().filter(|ms| **ms < 10.0).count() as f64 / n as f64;
    assert!((few - 0.933).abs() < 0.003, "{few}");
}

#[test]
fn packets_keep_their_order_unless_told_otherwise() {
    for (reorders, late) in [(false, false), (true, true)] {
        let mut jitter = jitter(json!({"kind": "uniform", "most": "10 ms", "reorders": reorders}));
        let arrive = |n: u64| jitter.arrival(Instant::from_nanos(n * 1_000_000));
        let arrivals: Vec<Instant> = (0..1000).map(arrive).collect();
        assert_eq!(arrivals.windows(2).any(|two| two[1] < two[0]), late);
        assert!(arrivals.iter().zip(0..).all(|(at, n)| *at >= Instant::from_nanos(n * 1_000_000)));
    }
}

#[test]
fn a_trace_is_replayed_slot_by_slot() {
    let mut jitter = jitter(json!({"kind": "trace", "delays_ms": [20, 5.5, 0], "every": "10 ms"}));
    let mut arrival = |ms: u64| jitter.arrival(Instant::from_nanos(ms * 1_000_000)).as_nanos();
    // 20 ms on packets up to 10 ms, then 5.5: the packet at 12 ms would arrive at 17.5, and waits for that at 29.
    let arrivals = [0, 9, 12, 24, 30, 31].map(&mut arrival);
    let expected = [20, 29, 29, 29, 50, 51].map(|ms| ms * 1_000_000);
    assert_eq!(arrivals, expected);
}

#[test]
fn steps_hold_for_their_time_and_slots_bundle() {
    let steps = delays(json!({"kind": "steps", "every": "15 s", "most": "40 ms"}), 60);
    for held in steps.chunks(15) {
        assert!(held.iter().all(|ms| (ms - held[0]).abs() < 1e-9) && held[0] < 40.0);
    }
    assert!((steps[0] - steps[15]).abs() > 1e-6);
    let mut slots = jitter(json!({"kind": "slots", "every": "4 ms"}));
    let arrivals =
        [1, 3, 4, 5].map(|ms| slots.arrival(Instant::from_nanos(ms * 1_000_000)).as_nanos());
    assert_eq!(arrivals, [4, 4, 4, 8].map(|ms| ms * 1_000_000));
}

#[test]
fn settings_that_cannot_be_are_refused() {
    for (settings, key) in [
        (json!({"kind": "uniform", "most": "0 s"}), "most"),
        (json!({"kind": "normal", "sd": "0 s"}), "sd"),
        (json!({"kind": "wifi", "mean": "200 ms"}), "mean"),
        (json!({"kind": "steps", "every": "1 us"}), "every"),
        (json!({"kind": "trace", "delays_ms": []}), "delays_ms"),
        (json!({"kind": "trace", "delays_ms": [1, -1]}), "delays_ms"),
        (json!({"kind": "slots", "every": "0 s"}), "every"),
    ] {
        let config: JitterConfig = serde_json::from_value(settings).unwrap();
        assert_eq!(config.check(Rate::from_bps(1_000_000)).unwrap_err().0, key);
    }
}
