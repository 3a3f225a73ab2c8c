use super::{Mode, Parameters, Path, predict, predict_in_mode};

/// B, source link, μ, λ, τ₁, τ₂ and the published analytic round-trip time of table 1.
const TABLE_1: [[f64; 7]; 9] = [
    [5.0, 300.0, 170.0, 10.0, 0.05, 0.05, 0.222],
    [15.0, 300.0, 170.0, 40.0, 0.06, 0.04, 0.248],
    [10.0, 290.0, 160.0, 10.0, 0.07, 0.08, 0.332],
    [10.0, 150.0, 60.0, 22.0, 0.15, 0.15, 0.685],
    [10.0, 150.0, 60.0, 22.0, 0.08, 0.15, 0.557],
    [5.0, 150.0, 80.0, 10.0, 0.11, 0.11, 0.481],
    [5.0, 100.0, 60.0, 20.0, 0.06, 0.06, 0.312],
    [10.0, 100.0, 60.0, 20.0, 0.08, 0.05, 0.379],
    [5.0, 100.0, 60.0, 5.0, 0.15, 0.10, 0.560],
];

fn table_path([buffer, bw_in, mu, lambda, tau1, tau2, _]: [f64; 7]) -> Path {
    Path::new(&Parameters {
        mu_pps: mu,
        lambda_pps: lambda,
        tau1_s: tau1,
        tau2_s: tau2,
        buffer_packets: buffer,
        bw_in_pps: Some(bw_in),
    })
    .unwrap()
}

fn share_used(lambda: f64, tau: f64, buffer: f64) -> f64 {
    let path = Path::from_tau(1.0, lambda, tau, buffer).unwrap();
    predict_in_mode(&path, Mode::OneSlowStart).throughput_pps / (1.0 - lambda)
}

#[test]
fn table_1_has_the_published_number_of_slow_starts() {
    let counts = TABLE_1.map(|row| predict(&table_path(row)).slow_starts_per_cycle);
    assert_eq!(counts, [2, 1, 2, 1, 1, 2, 1, 1, 2]);
}

#[test]
fn table_1_is_taken_as_valid() {
    for row in TABLE_1 {
        let validity = predict(&table_path(row)).validity;
        assert!(validity.ok, "{row:?}: {:?}", validity.reasons);
    }
}

/// The published column is not met exactly under any reading; with τ = τ₁ + τ₂ the error
/// would be about a half.
#[test]
fn table_1_round_trip_times_are_close_to_the_published() {
    for row in TABLE_1 {
        let error = predict(&table_path(row)).rtt_s / row[6] - 1.0;
        assert!(error.abs() < 0.05, "{row:?}: {error}");
    }
}

/// Figure 4 (B = 20, mu = 1): at a small delay a higher exogenous rate leaves TCP a larger share,
/// above 1; at a large delay a smaller one. The values are an independent evaluation.
#[test]
fn figure_4_follows_theorem_3_1() {
    let shares = [0.05, 0.2, 0.4, 0.6].map(|lambda| share_used(lambda, 2.0, 20.0));
    for (share, expected) in shares.into_iter().zip([0.996, 1.001, 1.013, 1.036]) {
        assert!((share - expected).abs() < 6e-4, "{share} is not {expected}");
    }
    let far = [0.05, 0.2, 0.4, 0.6].map(|lambda| share_used(lambda, 100.0, 20.0));
    assert!(far.is_sorted_by(|a, b| a > b), "{far:?}");
}

/// Figure 5 (tau = 30, mu = 1): the share never exceeds 1, and a buffer of one packet leaves nearly
/// 30 % unused. The values are an independent evaluation.
#[test]
fn figure_5_follows_theorem_3_1() {
    let shares = [0.05, 0.2, 0.4, 0.6].map(|lambda| share_used(lambda, 30.0, 1.0));
    for share in shares {
        assert!((0.7265..=0.7635).contains(&share), "{share}");
    }
    for lambda in [0.05, 0.2, 0.4, 0.6] {
        let shares = [1.0, 5.0, 10.0, 20.0, 30.0, 40.0].map(|b| share_used(lambda, 30.0, b));
        assert!(shares.is_sorted_by(|a, b| a < b) && shares[5] < 1.0, "{lambda}: {shares:?}");
    }
}

#[test]
fn a_timeout_adds_a_window_and_its_own_time() {
    let path = Path::from_tau(10.0, 2.0, 1.0, 20.0).unwrap();
    let mut prediction = predict(&path);
    (prediction.packets_per_cycle, prediction.w_max, prediction.cycle_s) = (273.0, 27.0, 34.5);
    // (273 + 27)/(34.5 + 0.5) = 300/35
    let throughput = prediction.throughput_with_timeout(0.5).unwrap();
    assert!((throughput - 8.571_428_571).abs() < 1e-8);
    assert_eq!(
        prediction.throughput_with_timeout(-0.5).unwrap_err().to_string(),
        "rto_s = -0.5: expected a finite number of seconds, at least 0"
    );
}

#[test]
fn a_prediction_sums_its_periods() {
    let path = table_path(TABLE_1[0]);
    let prediction = predict(&path);
    assert_eq!(prediction.periods.len(), 5);
    let total: f64 = prediction.periods.iter().map(|period| period.packets).sum();
    assert!((total - prediction.packets_per_cycle).abs() < 1e-9);
    let rate = prediction.packets_per_cycle / prediction.cycle_s;
    assert!((rate - prediction.throughput_pps).abs() < 1e-9);
}
