use super::{loss_rate_for, throughput_pps, window_packets};

/// The column for standard TCP of RFC 9438 §5.2, tables 1 and 2.
#[test]
fn the_window_meets_the_published_table() {
    for (p, packets) in [(1e-2, 12.0), (1e-3, 38.0), (1e-4, 120.0), (1e-5, 379.0), (1e-8, 12_000.0)]
    {
        assert!((window_packets(p).unwrap() - packets).abs() < 0.5, "p = {p}");
    }
}

/// RFC 9438 §5.2, table 3, printed to two digits: 1500-byte packets, a round of 0.1 s.
#[test]
fn the_loss_rate_meets_the_published_table() {
    for (mbps, p) in [(1.0, 2.0e-2), (10.0, 2.0e-4), (100.0, 2.0e-6), (1e3, 2.0e-8), (1e4, 2.0e-10)]
    {
        // 1 Mbit/s is 1e5 bits or 8.333 packets of 12000 bits a round.
        let found = loss_rate_for(mbps * 1e5 / 12_000.0).unwrap();
        assert!((found / p - 1.0).abs() < 0.05, "{mbps} Mbit/s: {found}");
    }
}

#[test]
fn throughput_is_a_window_a_round() {
    // 120 packets in 0.1 s
    assert!((throughput_pps(0.1, 1e-4).unwrap() - 1200.0).abs() < 1e-9);
    assert!(throughput_pps(0.1, 1.0).is_err());
    assert!(loss_rate_for(-1.0).is_err());
}
