use super::{Constants, cubic_window_packets, loss_rate_for, throughput_pps, window_packets};

/// RFC 9438 §5.2, tables 1 (0.1 s) and 2 (0.01 s): mean windows for C = 0.04, 0.4 and 4.
#[test]
fn the_window_meets_the_published_tables() {
    for (rtt_s, p, packets) in [
        (0.1, 1e-2, [12.0, 12.0, 12.0]),
        (0.1, 1e-3, [38.0, 38.0, 59.0]),
        (0.1, 1e-4, [120.0, 187.0, 333.0]),
        (0.1, 1e-5, [593.0, 1054.0, 1874.0]),
        (0.1, 1e-8, [105_383.0, 187_400.0, 333_250.0]),
        (0.01, 1e-4, [120.0, 120.0, 120.0]),
        (0.01, 1e-8, [18_740.0, 33_325.0, 59_261.0]),
    ] {
        for (c, packets) in [0.04, 0.4, 4.0].into_iter().zip(packets) {
            let found = window_packets(rtt_s, p, &Constants { c, beta: 0.7 }).unwrap();
            let tolerance = 0.5 + 1e-5 * packets;
            assert!((found - packets).abs() < tolerance, "{rtt_s} s, {p}, C = {c}: {found}");
        }
    }
}

/// The coefficient of §5.1 with the default constants.
#[test]
fn the_default_coefficient_is_1_054() {
    // One-second rounds leave the coefficient: 1.054/0.001 at p = 1e-4.
    let found = cubic_window_packets(1.0, 1e-4, &Constants::default()).unwrap();
    assert!((found - 1054.0).abs() < 0.5, "{found}");
}

/// RFC 9438 §5.2, table 3, printed to two digits: 1500-byte packets, a round of 0.1 s.
#[test]
fn the_loss_rate_meets_the_published_table() {
    for (mbps, p) in [(1.0, 2.0e-2), (10.0, 2.9e-4), (100.0, 1.4e-5), (1e3, 6.3e-7), (1e4, 2.9e-8)]
    {
        // 1 Mbit/s is 1e5 bits or 8.333 packets of 12000 bits a round.
        let found = loss_rate_for(0.1, mbps * 1e5 / 12_000.0, &Constants::default()).unwrap();
        assert!((found / p - 1.0).abs() < 0.05, "{mbps} Mbit/s: {found}");
    }
}

#[test]
fn throughput_is_a_window_a_round() {
    // 187.4 packets of 12000 bits in 0.1 s: 22.5 Mbit/s
    let found = throughput_pps(0.1, 1e-4, &Constants::default()).unwrap();
    assert!((found * 12_000.0 / 22.49e6 - 1.0).abs() < 1e-3, "{found}");
}

#[test]
fn bad_input_is_named() {
    let message = |rtt_s, p, c, beta| {
        window_packets(rtt_s, p, &Constants { c, beta }).unwrap_err().to_string()
    };
    assert_eq!(message(0.1, 0.1, 0.0, 0.7), "c = 0: expected a finite number above 0");
    assert_eq!(message(0.1, 0.1, 0.4, 1.0), "beta = 1: expected a number in (0, 1)");
    assert_eq!(message(-0.1, 0.1, 0.4, 0.7), "rtt_s = -0.1: expected a finite number above 0");
    assert_eq!(message(0.1, 2.0, 0.4, 0.7), "loss_rate = 2: expected a number in (0, 1)");
}
