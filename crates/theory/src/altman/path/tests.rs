use super::{Mode, Parameters, Path};

const GOOD: Parameters = Parameters {
    mu_pps: 10.0,
    lambda_pps: 2.0,
    tau1_s: 0.25,
    tau2_s: 0.25,
    buffer_packets: 20.0,
    bw_in_pps: None,
};

fn near(actual: f64, expected: f64) {
    assert!((actual - expected).abs() <= 1e-9 * expected.abs(), "{actual} is not {expected}");
}

#[test]
fn the_windows_follow_from_the_parameters() {
    let path = Path::new(&GOOD).unwrap();
    // tau = 2 (0.25 + 0.25) = 1 s; T = 1 + 1/10; mu - lambda = 8; lambda/mu = 0.2
    near(path.tau_s(), 1.0);
    near(path.empty_rtt_s(), 1.1);
    // In flight while the queue is full: 8 packets/s for 1 s, 1 in service, 0.8 of the 20 in the
    // buffer: 8 + 1 + 16 = 25.
    near(path.w_loss(), 25.0);
    near(path.w_max(), 27.0);
    near(path.w_th(), 13.5);
    // 1.1 s at 8 packets/s
    near(path.w_tilde(), 8.8);
    // Bursts come at 18 packets/s; the buffer fills in 20/10 = 2 s.
    near(path.w_b(), 36.0);
    near(path.beta(), 20.0 / 9.0);
    near(path.critical_beta(), 1.0 / 2.8);
    assert_eq!(path.mode(), Mode::OneSlowStart);
}

#[test]
fn the_criterion_is_half_of_w_loss_against_w_b() {
    // mu = 100, lambda = 20, tau = 1 s: W_b = 1.8 B and W_loss/2 = (80 + 1 + 0.8 B)/2, equal at
    // B = 81/2.8 = 28.928...; W_max/2, as the text has it, would be equal at 83/2.8 = 29.64.
    for (buffer_packets, mode) in [
        (28.92, Mode::TwoSlowStarts),
        (28.94, Mode::OneSlowStart),
        (29.5, Mode::OneSlowStart),
        (1.0, Mode::TwoSlowStarts),
    ] {
        let path = Path::from_tau(100.0, 20.0, 1.0, buffer_packets).unwrap();
        assert_eq!(path.mode(), mode, "B = {buffer_packets}");
        assert_eq!(path.w_b() <= path.w_loss() / 2.0, mode == Mode::TwoSlowStarts);
    }
}

#[test]
fn a_whole_delay_is_split_evenly() {
    let path = Path::from_tau(1.0, 0.4, 30.0, 5.0).unwrap();
    near(path.tau_s(), 30.0);
    near(path.tau1_s(), 7.5);
}

#[test]
fn each_bad_parameter_is_named_with_what_was_expected() {
    let nan = f64::NAN;
    for (bad, message) in [
        (
            Parameters { mu_pps: 0.0, ..GOOD },
            "mu_pps = 0: expected packets per second, 1e-9 to 1e12",
        ),
        (
            Parameters { mu_pps: nan, ..GOOD },
            "mu_pps = NaN: expected packets per second, 1e-9 to 1e12",
        ),
        (
            Parameters { lambda_pps: 10.0, ..GOOD },
            "lambda_pps = 10: expected packets per second, at least 0 and below mu_pps (10)",
        ),
        (
            Parameters { lambda_pps: -1.0, ..GOOD },
            "lambda_pps = -1: expected packets per second, at least 0 and below mu_pps (10)",
        ),
        (Parameters { tau1_s: -0.1, ..GOOD }, "tau1_s = -0.1: expected seconds, 0 to 1e6"),
        (Parameters { tau2_s: f64::INFINITY, ..GOOD }, "tau2_s = inf: expected seconds, 0 to 1e6"),
        (
            Parameters { buffer_packets: 0.0, ..GOOD },
            "buffer_packets = 0: expected packets, above 0 and at most 1e12",
        ),
        (
            Parameters { bw_in_pps: Some(nan), ..GOOD },
            "bw_in_pps = NaN: expected packets per second, finite and above 0",
        ),
    ] {
        assert_eq!(Path::new(&bad).unwrap_err().to_string(), message);
    }
    assert_eq!(
        Path::from_tau(1.0, 0.0, -1.0, 1.0).unwrap_err().to_string(),
        "tau_s = -1: expected seconds, 0 to 4e6"
    );
}
