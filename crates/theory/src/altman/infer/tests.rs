use proptest::prelude::*;

use super::{Candidate, Cause, Measured, Measurements, Outcome, Parameter, infer};
use crate::altman::{Mode, Parameters, Path, predict};

/// Case 4 of table 1: one slow start per cycle.
const CASE_4: Parameters = Parameters {
    mu_pps: 60.0,
    lambda_pps: 22.0,
    tau1_s: 0.15,
    tau2_s: 0.15,
    buffer_packets: 10.0,
    bw_in_pps: None,
};

const ALL: [Parameter; 4] = [Parameter::Mu, Parameter::Lambda, Parameter::Tau, Parameter::Buffer];

fn field(parameter: Parameter, parameters: &Parameters) -> f64 {
    match parameter {
        Parameter::Mu => parameters.mu_pps,
        Parameter::Lambda => parameters.lambda_pps,
        Parameter::Tau => 2.0 * (parameters.tau1_s + parameters.tau2_s),
        Parameter::Buffer => parameters.buffer_packets,
    }
}

fn within(value: f64, relative_half_width: f64) -> Measured {
    Measured { value, half_width: relative_half_width * value }
}

/// The report of a measurement of `parameters` with the given relative uncertainty.
fn measured(parameters: &Parameters, throughput: bool, rtt: bool, width: f64) -> Measurements {
    let prediction = predict(&Path::new(parameters).unwrap());
    Measurements {
        throughput_pps: throughput.then(|| within(prediction.throughput_pps, width)),
        rtt_s: rtt.then(|| within(prediction.rtt_s, width)),
    }
}

fn holds(candidate: &Candidate, truth: f64) -> bool {
    candidate.low <= truth * (1.0 + 1e-9) && truth * (1.0 - 1e-9) <= candidate.high
}

fn identified(outcome: Outcome) -> Candidate {
    match outcome {
        Outcome::Identified(inference) => inference.fit,
        Outcome::NotIdentifiable(refusal) => panic!("{refusal:?}"),
    }
}

fn refused(outcome: Outcome) -> super::NotIdentifiable {
    match outcome {
        Outcome::NotIdentifiable(refusal) => refusal,
        Outcome::Identified(inference) => panic!("{inference:?}"),
    }
}

#[test]
fn both_measures_recover_each_parameter() {
    let measurements = measured(&CASE_4, true, true, 0.01);
    for parameter in ALL {
        let fit = identified(infer(parameter, &CASE_4, &measurements).unwrap());
        let truth = field(parameter, &CASE_4);
        assert!((fit.estimate / truth - 1.0).abs() < 1e-6, "{parameter:?}: {fit:?}");
        assert!(holds(&fit, truth) && fit.low < fit.high, "{parameter:?}: {fit:?}");
        assert!(fit.residual < 1e-9);
    }
}

#[test]
fn the_inferred_field_is_not_read() {
    let measurements = measured(&CASE_4, true, true, 0.01);
    let unread = [
        (Parameter::Mu, Parameters { mu_pps: f64::NAN, ..CASE_4 }),
        (Parameter::Lambda, Parameters { lambda_pps: f64::NAN, ..CASE_4 }),
        (Parameter::Buffer, Parameters { buffer_packets: -1.0, ..CASE_4 }),
        // Only the ratio is read.
        (Parameter::Tau, Parameters { tau1_s: 7.0, tau2_s: 7.0, ..CASE_4 }),
        (Parameter::Tau, Parameters { tau1_s: 0.0, tau2_s: 0.0, ..CASE_4 }),
    ];
    for (parameter, known) in unread {
        let fit = identified(infer(parameter, &known, &measurements).unwrap());
        assert!(holds(&fit, field(parameter, &CASE_4)), "{parameter:?}: {fit:?}");
    }
}

/// The interval of a single measure is where the prediction stays within the half-width.
#[test]
fn a_single_measure_bounds_by_its_half_width() {
    // Rarer traffic than 22 packets/s could be mistaken for that of a cycle with two slow starts.
    let measurements = measured(&Parameters { lambda_pps: 40.0, ..CASE_4 }, true, false, 0.02);
    let fit = identified(infer(Parameter::Lambda, &CASE_4, &measurements).unwrap());
    let measured = measurements.throughput_pps.unwrap();
    let throughput = |lambda_pps| {
        predict(&Path::new(&Parameters { lambda_pps, ..CASE_4 }).unwrap()).throughput_pps
    };
    // More exogenous traffic, less throughput.
    assert!((throughput(fit.low) - measured.value - measured.half_width).abs() < 1e-6);
    assert!((throughput(fit.high) - measured.value + measured.half_width).abs() < 1e-6);
}

#[test]
fn conflicting_measures_are_weighed_by_their_uncertainty() {
    let truth = measured(&CASE_4, true, true, 0.01);
    let shifted = truth.throughput_pps.unwrap();
    let estimate = |rtt_width| {
        let measurements = Measurements {
            throughput_pps: Some(Measured { value: 1.01 * shifted.value, ..shifted }),
            rtt_s: Some(within(truth.rtt_s.unwrap().value, rtt_width)),
        };
        identified(infer(Parameter::Buffer, &CASE_4, &measurements).unwrap()).estimate
    };
    let (by_rtt, between) = (estimate(1e-6), estimate(0.01));
    assert!((by_rtt - 10.0).abs() < 1e-3, "{by_rtt}");
    assert!((between - 10.0).abs() > (by_rtt - 10.0).abs(), "{between}");
}

#[test]
fn a_throughput_near_capacity_says_nothing_of_a_large_buffer() {
    let known = Parameters { buffer_packets: 2000.0, ..CASE_4 };
    let refusal =
        refused(infer(Parameter::Buffer, &known, &measured(&known, true, false, 0.05)).unwrap());
    assert_eq!(refusal.cause, Cause::Flat, "{refusal:?}");
    assert!(refusal.reason.contains("depends too little on Buffer"), "{}", refusal.reason);
    // The delay is proportional to it and settles the matter.
    let both = measured(&known, true, true, 0.05);
    assert!(holds(&identified(infer(Parameter::Buffer, &known, &both).unwrap()), 2000.0));
}

#[test]
fn a_throughput_above_the_bottleneck_has_no_solution() {
    let measurements = Measurements { throughput_pps: Some(within(70.0, 0.01)), rtt_s: None };
    let refusal = refused(infer(Parameter::Lambda, &CASE_4, &measurements).unwrap());
    assert_eq!(refusal.cause, Cause::NoSolution);
    assert!(refusal.reason.starts_with("No value of Lambda in 0.0000e0"), "{}", refusal.reason);
    // The least exogenous traffic comes closest.
    assert!(refusal.solutions[0].estimate < 1.0);
}

/// More exogenous traffic lowers the throughput, but where it saves the cycle its second slow start
/// the throughput jumps up: a rate on either side of the jump may explain the same measurement.
#[test]
fn the_jump_between_modes_makes_two_solutions() {
    let at = |lambda_pps| Parameters { lambda_pps, tau1_s: 0.17, tau2_s: 0.17, ..CASE_4 };
    let mode = |lambda_pps| Path::new(&at(lambda_pps)).unwrap().mode();
    // 10 (3 - lambda/60) = 0.68 (60 - lambda) + 1 at lambda = 11.8/0.51333 = 22.99
    assert_eq!((mode(22.9), mode(23.1)), (Mode::TwoSlowStarts, Mode::OneSlowStart));
    let measurements = measured(&at(23.1), true, false, 1e-4);
    let refusal = refused(infer(Parameter::Lambda, &at(0.0), &measurements).unwrap());
    assert_eq!(refusal.cause, Cause::SeveralSolutions);
    assert_eq!(refusal.solutions.len(), 2);
    let [two, one] = [refusal.solutions[0], refusal.solutions[1]];
    assert!(two.high < 22.98 && holds(&one, 23.1), "{two:?} {one:?}");
    assert!(refusal.reason.starts_with("2 separate values of Lambda"), "{}", refusal.reason);
    // The round-trip time tells them apart.
    let both = measured(&at(23.1), true, true, 1e-4);
    assert!(holds(&identified(infer(Parameter::Lambda, &at(0.0), &both).unwrap()), 23.1));
}

#[test]
fn bad_input_is_named() {
    let good = measured(&CASE_4, true, true, 0.01);
    let message = |parameter, known: &Parameters, measurements: &Measurements| {
        infer(parameter, known, measurements).unwrap_err().to_string()
    };
    assert_eq!(
        message(Parameter::Lambda, &CASE_4, &Measurements::default()),
        "measurements = NaN: expected a throughput, a round-trip time, or both"
    );
    let unsure = Measurements { rtt_s: Some(within(0.5, 0.0)), ..good };
    assert_eq!(
        message(Parameter::Lambda, &CASE_4, &unsure),
        "rtt_s.half_width = 0: expected a finite number above 5e-10, a billionth of the mean"
    );
    let negative = Measurements { throughput_pps: Some(within(-1.0, 0.1)), ..good };
    assert_eq!(
        message(Parameter::Lambda, &CASE_4, &negative),
        "throughput_pps = -1: expected a finite number above 0"
    );
    let known = Parameters { lambda_pps: -2.0, ..CASE_4 };
    assert!(message(Parameter::Mu, &known, &good).starts_with("lambda_pps = -2: expected"));
    let known = Parameters { mu_pps: f64::NAN, ..CASE_4 };
    assert!(message(Parameter::Lambda, &known, &good).starts_with("mu_pps = NaN: expected"));
}

fn any_path() -> impl Strategy<Value = Parameters> {
    (10.0..1e4_f64, 0.0..0.7_f64, 0.005..0.5_f64, 0.05..0.95_f64, 0.05..3.0_f64).prop_map(
        |(mu_pps, share, tau_s, first, beta)| {
            let lambda_pps = share * mu_pps;
            Parameters {
                mu_pps,
                lambda_pps,
                tau1_s: tau_s / 2.0 * first,
                tau2_s: tau_s / 2.0 * (1.0 - first),
                buffer_packets: beta * (tau_s * (mu_pps - lambda_pps) + 1.0),
                bw_in_pps: None,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is predicted is found again, or refused for a stated reason that includes it.
    #[test]
    fn inference_inverts_prediction(
        truth in any_path(),
        which in 0..4_usize,
        (throughput, rtt) in prop_oneof![Just((true, false)), Just((false, true)), Just((true, true))],
        width in prop_oneof![Just(1e-6), Just(1e-3), Just(0.05)],
    ) {
        let parameter = ALL[which];
        let value = field(parameter, &truth);
        let measurements = measured(&truth, throughput, rtt, width);
        match infer(parameter, &truth, &measurements).unwrap() {
            Outcome::Identified(inference) => {
                prop_assert_eq!(inference.parameter, parameter);
                prop_assert!(holds(&inference.fit, value), "{:?} lacks {}", inference, value);
                prop_assert!(inference.fit.residual < 1e-3);
            }
            Outcome::NotIdentifiable(refusal) => {
                prop_assert_ne!(refusal.cause, Cause::NoSolution, "{:?}", refusal);
                let found = refusal.solutions.iter().any(|solution| holds(solution, value));
                prop_assert!(found, "{:?} lacks {}", refusal, value);
            }
        }
    }

    /// With both measures and a small uncertainty the answer is the truth itself, whenever there is one.
    #[test]
    fn precise_measures_recover_the_parameter(truth in any_path(), which in 0..4_usize) {
        let parameter = ALL[which];
        let measurements = measured(&truth, true, true, 1e-6);
        if let Outcome::Identified(found) = infer(parameter, &truth, &measurements).unwrap() {
            let value = field(parameter, &truth);
            let error = (found.fit.estimate - value).abs();
            prop_assert!(error <= (found.fit.high - found.fit.low).max(1e-6 * value), "{:?}", found);
        }
    }
}
