use super::*;

#[test]
fn a_small_workload_uses_its_bottleneck() {
    let result = bench_dumbbell(2, 10_000_000, 2.0, "newreno", "droptail").unwrap();
    assert!(result.delivered_packets > 100 && result.events >= result.delivered_packets);
}

#[test]
fn nanoseconds_are_coarse_at_100_gbit_per_s() {
    // A packet that finds the wire idle takes 119 ns instead of 119.04, a SYN 3 instead of 3.2: of some
    // 9000 packets of slow start 360 ns are lost, and a packet takes 119.
    let result = bench_dumbbell(100, 100_000_000_000, 0.6, "newreno+sack", "droptail").unwrap();
    assert!(result.delivered_packets > 9000, "{result:?}");
}

#[test]
fn short_connections_carry_what_they_are_to_carry() {
    // 10 kB are 7 packets of at most 1448 B; with a SYN, the handshake's ACK and a FIN that travels with
    // data or alone, and the last ACK, at least 9 and at most 11 from the opening end without losses.
    let result = bench_short(500, "newreno+sack", "droptail").unwrap();
    assert_eq!((result.connections, result.dropped_packets), (500, 0));
    assert!((9 * 500..=11 * 500).contains(&result.delivered_packets), "{result:?}");
}

#[test]
fn what_is_no_workload_is_refused() {
    let message = |flows, rate, duration, variant| {
        bench_dumbbell(flows, rate, duration, variant, "droptail").unwrap_err().to_string()
    };
    assert!(
        message(1, 0, 1.0, "newreno").starts_with("topology.bottleneck.rate: `0 bit/s` is not ")
    );
    assert!(message(1, 1000, -1.0, "newreno").starts_with("duration: `-1 s` is not a duration"));
    assert!(
        message(1, 1000, f64::NAN, "newreno").starts_with("duration: `NaN s` is not a duration")
    );
    assert!(message(1, 1000, 1.0, "cubik").starts_with("flow[0].variant: unknown part `cubik`"));
    assert!(message(0, 1000, 1.0, "newreno").starts_with("flow[0].count: "));
}
