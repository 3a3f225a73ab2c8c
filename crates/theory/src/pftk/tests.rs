use super::{Connection, full_pps, tfrc_pps, tfrc_timeout_s};
use crate::mathis;

const DELAYED: Connection =
    Connection { rtt_s: 0.1, t_rto_s: 1.0, packets_per_ack: 2.0, w_max_packets: f64::INFINITY };

fn near(actual: f64, expected: f64) {
    assert!((actual / expected - 1.0).abs() < 2e-4, "{actual} is not {expected}");
}

#[test]
fn the_full_model_without_a_limit() {
    // p = 0.01, b = 2. E[W] = 4/6 + sqrt(7.92/0.06 + 4/9) = 0.66667 + 11.50845 = 12.17512.
    // q = 0.99: 1 - q^3 = 0.029701; q^3 = 0.970299; q^9.17512 = 0.911909; q^12.17512 = 0.884825.
    // Q = 0.029701 (1 + 0.970299 * 0.088091)/0.115175 = 0.27992.
    // f = 1 + 0.01 + 0.0002 + 0.000004 = 1.010204
    // Packets: 99 + 12.17512 + 0.27992/0.99 = 111.45787.
    // Time: 0.1 (12.17512 + 1) + 0.27992 * 1.010204/0.99 = 1.31751 + 0.28563 = 1.60314 s.
    near(full_pps(0.01, &DELAYED).unwrap(), 69.525);
}

#[test]
fn the_full_model_with_a_limit() {
    // As above with W_max = 8: q^5 = 0.950990, q^8 = 0.922745;
    // Q = 0.029701 (1 + 0.970299 * 0.049010)/0.077255 = 0.40274.
    // Packets: 99 + 8 + 0.40274/0.99 = 107.40681.
    // Time: 0.1 (2 + 0.99/0.08 + 2) + 0.40274 * 1.010204/0.99 = 1.63750 + 0.41096 = 2.04846 s.
    let limited = Connection { w_max_packets: 8.0, ..DELAYED };
    near(full_pps(0.01, &limited).unwrap(), 52.433);
}

#[test]
fn every_loss_in_a_tiny_window_is_a_timeout() {
    // p = 0.5, b = 1. E[W] = 1 + sqrt(8 * 0.5/(3 * 0.5) + 1) = 1 + sqrt(3.66667) = 2.91485 < 3, so Q = 1.
    // f = 1 + 0.5 + 0.5 + 0.5 + 0.5 + 0.5 + 0.5 = 4
    // (1 + 2.91485 + 2)/(0.1 (1.45743 + 1) + 4/0.5) = 5.91485/8.24574
    let single = Connection { packets_per_ack: 1.0, ..DELAYED };
    near(full_pps(0.5, &single).unwrap(), 0.717_322);
}

#[test]
fn rare_losses_leave_the_square_root_law_or_the_window() {
    let p = 1e-9;
    let law = mathis::throughput_pps(0.1, p, 2.0).unwrap();
    assert!((full_pps(p, &DELAYED).unwrap() / law - 1.0).abs() < 1e-3);
    let limited = Connection { w_max_packets: 20.0, ..DELAYED };
    // 20 packets each 0.1 s
    assert!((full_pps(p, &limited).unwrap() / 200.0 - 1.0).abs() < 1e-5);
}

#[test]
fn the_tfrc_form() {
    // p = 0.01, b = 1, R = 0.1, t_RTO = 1: 0.1 sqrt(0.0066667) = 0.00816497;
    // 3 sqrt(0.00375) * 0.01 * 1.0032 = 0.18371173 * 0.010032 = 0.00184300; 1/0.01000797
    near(tfrc_pps(0.1, tfrc_timeout_s(0.1), 0.01, 1.0).unwrap(), 99.9204);
    near(tfrc_timeout_s(0.1), 1.0);
    near(tfrc_timeout_s(0.5), 2.0);
}

#[test]
fn bad_input_is_named() {
    let message = |connection: Connection| full_pps(0.1, &connection).unwrap_err().to_string();
    assert_eq!(
        message(Connection { w_max_packets: f64::NAN, ..DELAYED }),
        "w_max_packets = NaN: expected a number of packets, at least 1; may be infinite"
    );
    assert_eq!(
        message(Connection { t_rto_s: f64::INFINITY, ..DELAYED }),
        "t_rto_s = inf: expected a finite number above 0"
    );
    assert!(tfrc_pps(0.1, 1.0, 1.0, 1.0).is_err());
}
