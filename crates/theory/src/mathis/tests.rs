use super::{throughput_pps, window_packets};

fn near(actual: f64, expected: f64) {
    assert!((actual / expected - 1.0).abs() < 1e-4, "{actual} is not {expected}");
}

#[test]
fn the_window_is_the_square_root_law() {
    // sqrt(1.5/0.0001) = sqrt(15000) = 122.47; with delayed ACKs sqrt(7500) = 86.60
    near(window_packets(1e-4, 1.0).unwrap(), 122.474);
    near(window_packets(1e-4, 2.0).unwrap(), 86.6025);
    // a round of 0.1 s
    near(throughput_pps(0.1, 1e-4, 1.0).unwrap(), 1224.74);
}

#[test]
fn bad_input_is_named() {
    let message = |rtt_s, p, b| throughput_pps(rtt_s, p, b).unwrap_err().to_string();
    assert_eq!(message(0.1, 0.0, 1.0), "loss_rate = 0: expected a number in (0, 1)");
    assert_eq!(message(0.1, f64::NAN, 1.0), "loss_rate = NaN: expected a number in (0, 1)");
    assert_eq!(message(0.0, 0.1, 1.0), "rtt_s = 0: expected a finite number above 0");
    assert!(message(0.1, 0.1, 0.5).starts_with("packets_per_ack = 0.5: expected a number from 1"));
}
