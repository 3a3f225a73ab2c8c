use crate::altman::{Mode, Parameters, Path, predict, predict_in_mode};

const CASE_4: Parameters = Parameters {
    mu_pps: 60.0,
    lambda_pps: 22.0,
    tau1_s: 0.15,
    tau2_s: 0.15,
    buffer_packets: 10.0,
    bw_in_pps: Some(150.0),
};

fn reasons(parameters: &Parameters) -> Vec<String> {
    let validity = predict(&Path::new(parameters).unwrap()).validity;
    assert_eq!(validity.ok, validity.reasons.is_empty());
    validity.reasons
}

fn assert_only(parameters: &Parameters, parts: &[&str]) {
    let reasons = reasons(parameters);
    assert_eq!(reasons.len(), parts.len(), "{reasons:?}");
    for part in parts {
        assert!(reasons.iter().any(|reason| reason.contains(part)), "{part} not in {reasons:?}");
    }
}

#[test]
fn table_2_case_1_is_a_slow_source_link() {
    let case = Parameters {
        lambda_pps: 10.0,
        tau1_s: 0.06,
        tau2_s: 0.06,
        buffer_packets: 20.0,
        bw_in_pps: Some(20.0),
        ..CASE_4
    };
    assert_only(&case, &["source link of 20 packets/s"]);
    // 1.1 (60 - 10) = 55
    assert_only(&Parameters { bw_in_pps: Some(54.9), ..case }, &["source link of 54.9"]);
    assert_only(&Parameters { bw_in_pps: Some(55.1), ..case }, &[]);
    assert_only(&Parameters { bw_in_pps: None, ..case }, &[]);
}

#[test]
fn table_2_case_2_is_too_much_exogenous_traffic() {
    let case = Parameters { lambda_pps: 50.0, ..CASE_4 };
    // 50/60 = 0.833; W_max = 0.6 * 10 + 1 + 10/6 + 2 = 10.67, half of it 5.33;
    // 50/(10 * 6.33) = 79 %
    assert_only(&case, &["takes 0.833 of the bottleneck", "raises the throughput by 79 %"]);
}

#[test]
fn table_2_case_3_is_a_suspected_third_slow_start() {
    let case = Parameters { buffer_packets: 5.0, ..CASE_4 };
    // W_b = (2 - 22/60) 5 = 8.17; half of W_th = (22.8 + 1 + 3.17 + 2)/4 = 7.24; 5 * 22/60 = 1.83
    assert_only(&case, &["third slow start"]);
    let reason = reasons(&case).remove(0);
    for number in ["7.24", "8.17", "1.83"] {
        assert!(reason.contains(number), "{number} not in {reason}");
    }
    let gap = |parameters| predict(&Path::new(parameters).unwrap()).third_slow_start_gap_packets;
    // 8.1667 - 7.2417
    assert!((gap(&case).unwrap() - 0.925).abs() < 1e-3);
    assert_eq!(gap(&CASE_4), None);
}

#[test]
fn a_buffer_at_the_criterion_leaves_the_mode_in_doubt() {
    // The criterion is met exactly at B = 81/2.8 = 28.93 (path/tests.rs).
    let case = Parameters {
        mu_pps: 100.0,
        lambda_pps: 20.0,
        tau1_s: 0.25,
        tau2_s: 0.25,
        buffer_packets: 29.5,
        bw_in_pps: None,
    };
    assert_only(&case, &["one slow start or two"]);
    assert_only(&Parameters { buffer_packets: 31.0, ..case }, &[]);
}

#[test]
fn a_mode_against_the_criterion_is_reported() {
    let path = Path::new(&CASE_4).unwrap();
    let validity = predict_in_mode(&path, Mode::TwoSlowStarts).validity;
    assert!(validity.reasons.iter().any(|reason| reason.contains("asks for 1 slow start(s)")));
}

#[test]
fn a_path_of_hardly_a_packet_is_no_fluid() {
    let case = Parameters {
        mu_pps: 10.0,
        lambda_pps: 1.0,
        tau1_s: 0.0,
        tau2_s: 0.0,
        buffer_packets: 0.1,
        bw_in_pps: None,
    };
    // W_max = 0 + 1 + 0.09 + 2; W~ = 0.9; W_b/2 = 0.095; the buffer's 0.02 s exceed a delay of 0
    assert_only(
        &case,
        &["W_max = 3.09 is below 4; W~ = 0.90 is below 1", "bursts of successive rounds overlap"],
    );
}

/// 3 % of the mean is the most that a search over paths with lambda up to mu/2 found.
#[test]
fn a_negative_queue_in_slow_start_is_reported_where_it_matters() {
    let case = Parameters {
        mu_pps: 10.0,
        lambda_pps: 4.9,
        tau1_s: 0.0645,
        tau2_s: 0.0025,
        buffer_packets: 0.73,
        bw_in_pps: None,
    };
    let reasons = reasons(&case);
    assert!(reasons.iter().any(|reason| reason.contains("negative at first")), "{reasons:?}");
}
