//! The closed forms against equations 13, 17 to 19, 23 and 24, integrated step by step.

use proptest::prelude::*;

use super::{Cycle, Mode, Period, one_slow_start, two_slow_starts};
use crate::altman::{Parameters, Path};

fn path(tau1_s: f64, tau2_s: f64, buffer_packets: f64) -> Path {
    Path::new(&Parameters {
        mu_pps: 10.0,
        lambda_pps: 2.0,
        tau1_s,
        tau2_s,
        buffer_packets,
        bw_in_pps: None,
    })
    .unwrap()
}

/// Which of the laws holds: slow start or congestion avoidance, with an empty or a growing queue.
#[derive(Clone, Copy)]
struct Law {
    slow_start: bool,
    queue: bool,
}

/// Length, packets and mean round-trip time of a period, by the midpoint rule in time.
fn integrate(path: &Path, law: Law, from: f64, to: f64) -> [f64; 3] {
    let Parameters { mu_pps: mu, lambda_pps: lambda, tau1_s, tau2_s, .. } = *path.parameters();
    let tau = 2.0 * (tau1_s + tau2_s);
    let empty_rtt = tau + 1.0 / mu;
    let output = |window: f64| match (law.slow_start, law.queue) {
        (_, false) => window / empty_rtt,
        (true, true) => mu - lambda / 2.0,
        (false, true) => mu - lambda,
    };
    let growth = |window: f64| output(window) / if law.slow_start { 1.0 } else { window };
    let queue = |window: f64| match (law.slow_start, law.queue) {
        (_, false) => 0.0,
        (true, true) => mu / (mu - lambda / 2.0) * (window - 1.0) - mu * (tau + tau1_s),
        (false, true) => mu / (mu - lambda) * (window - 1.0) - mu * tau,
    };
    let (mut window, mut time, mut packets, mut queued) = (from, 0.0, 0.0, 0.0);
    while window < to {
        let step = 1e-4_f64.min((to - window) / growth(window));
        let middle = window + growth(window) * step / 2.0;
        window += growth(middle) * step;
        time += step;
        packets += output(middle) * step;
        queued += queue(middle) * step;
        if to - window < 1e-9 {
            break;
        }
    }
    [time, packets, empty_rtt + queued / time / mu]
}

const SLOW_EMPTY: Law = Law { slow_start: true, queue: false };
const SLOW_GROWING: Law = Law { slow_start: true, queue: true };
const AVOIDANCE_EMPTY: Law = Law { slow_start: false, queue: false };
const AVOIDANCE_GROWING: Law = Law { slow_start: false, queue: true };

fn assert_periods(path: &Path, periods: &[Period], laws: &[(Law, f64, f64)]) {
    assert_eq!(periods.len(), laws.len());
    for (period, &(law, from, to)) in periods.iter().zip(laws) {
        let integrated = integrate(path, law, from, to);
        let closed = [period.duration_s, period.packets, period.mean_rtt_s];
        for (closed, integrated) in closed.into_iter().zip(integrated) {
            let error = (closed / integrated - 1.0).abs();
            assert!(error < 1e-4, "{}: {closed} is not {integrated}", period.name);
        }
    }
}

#[test]
fn theorem_case_i_is_the_integral_of_equation_18() {
    // The windows are worked out in path/tests.rs: W~ = 8.8, W_th = 13.5, W_max = 27.
    let path = path(0.25, 0.25, 20.0);
    let laws = [(SLOW_EMPTY, 1.0, 8.8), (SLOW_GROWING, 8.8, 13.5), (AVOIDANCE_GROWING, 13.5, 27.0)];
    assert_periods(&path, &one_slow_start(&path).periods, &laws);
}

#[test]
fn an_uneven_split_of_the_delay_enters_the_growing_slow_start() {
    let path = path(0.05, 0.45, 20.0);
    let laws = [(SLOW_EMPTY, 1.0, 8.8), (SLOW_GROWING, 8.8, 13.5), (AVOIDANCE_GROWING, 13.5, 27.0)];
    assert_periods(&path, &one_slow_start(&path).periods, &laws);
}

#[test]
fn theorem_case_ii_is_the_integral_of_equation_19() {
    // tau = 2 s: W~ = 2.1 * 8 = 16.8; W_max = 16 + 1 + 0.8 * 10 + 2 = 27; W_th = 13.5
    let path = path(0.4, 0.6, 10.0);
    let laws =
        [(SLOW_EMPTY, 1.0, 13.5), (AVOIDANCE_EMPTY, 13.5, 16.8), (AVOIDANCE_GROWING, 16.8, 27.0)];
    assert_periods(&path, &one_slow_start(&path).periods, &laws);
}

#[test]
fn two_slow_starts_are_the_integrals_of_section_4() {
    // tau = 4 s: W~ = 4.1 * 8 = 32.8; W_max = 32 + 1 + 0.8 * 5 + 2 = 39; W_b = 1.8 * 5 = 9
    let path = path(1.0, 1.0, 5.0);
    let cycle = two_slow_starts(&path);
    assert_eq!(cycle.periods[1].packets.to_bits(), 0.0_f64.to_bits());
    let laws = [
        (SLOW_EMPTY, 1.0, 9.0),
        (SLOW_EMPTY, 1.0, 4.5),
        (AVOIDANCE_EMPTY, 4.5, 32.8),
        (AVOIDANCE_GROWING, 32.8, 39.0),
    ];
    let mut periods = cycle.periods;
    periods.remove(1);
    assert_periods(&path, &periods, &laws);
}

#[test]
fn a_forced_second_slow_start_passes_through_a_growing_queue() {
    // As case (i), W_b = 36: five periods, the second threshold 18 above W~ = 8.8.
    let path = path(0.25, 0.25, 20.0);
    let laws = [
        (SLOW_EMPTY, 1.0, 8.8),
        (SLOW_GROWING, 8.8, 36.0),
        (SLOW_EMPTY, 1.0, 8.8),
        (SLOW_GROWING, 8.8, 18.0),
        (AVOIDANCE_GROWING, 18.0, 27.0),
    ];
    assert_periods(&path, &two_slow_starts(&path).periods, &laws);
}

#[test]
fn the_means_weigh_periods_by_time_and_by_packets() {
    let period =
        |duration_s, packets, mean_rtt_s| Period { name: "", duration_s, packets, mean_rtt_s };
    let cycle = Cycle {
        mode: Mode::OneSlowStart,
        periods: vec![period(1.0, 10.0, 0.1), period(3.0, 90.0, 0.2)],
    };
    // 100 packets in 4 s; (10 * 0.1 + 90 * 0.2)/100 = 0.19 s
    assert!((cycle.throughput_pps() - 25.0).abs() < 1e-12);
    assert!((cycle.rtt_s() - 0.19).abs() < 1e-12);
}

proptest! {
    /// No path makes a formula negative, infinite or not a number, in either mode.
    #[test]
    fn every_path_has_a_cycle(
        mu_log in -9.0..12.0_f64,
        share in 0.0..1.0_f64,
        tau1_log in -9.0..6.0_f64,
        tau2_log in -9.0..6.0_f64,
        buffer_log in -6.0..12.0_f64,
    ) {
        let power = |exponent| libm::pow(10.0, exponent);
        let mu_pps = power(mu_log);
        let path = Path::new(&Parameters {
            mu_pps,
            lambda_pps: share * mu_pps,
            tau1_s: power(tau1_log),
            tau2_s: power(tau2_log),
            buffer_packets: power(buffer_log),
            bw_in_pps: None,
        })
        .unwrap();
        for mode in [Mode::OneSlowStart, Mode::TwoSlowStarts] {
            let cycle = Cycle::of(&path, mode);
            for period in &cycle.periods {
                prop_assert!(period.duration_s >= 0.0 && period.duration_s.is_finite());
                prop_assert!(period.packets >= 0.0 && period.packets.is_finite());
                prop_assert!(period.mean_rtt_s.is_finite());
            }
            let throughput = cycle.throughput_pps();
            prop_assert!(throughput > 0.0 && throughput <= mu_pps * (1.0 + 1e-9));
            // In a forced mode the whole cycle may pass in a queue that the formula makes negative.
            prop_assert!(cycle.rtt_s() > 0.0 || (mode != path.mode() && cycle.rtt_s() == 0.0));
        }
    }
}
