use super::*;

fn at(micros: u64) -> Instant {
    Instant::START + Duration::from_micros(micros)
}

/// Segments of 1000 bytes; a window of 90 of which six are free, and packets of ten; the last segment left 0.5 ms ago,
/// and the ACK of the first is due in 0.2 ms.
fn room() -> Room {
    Room {
        now: at(100_000),
        mss: 1000,
        goal: 10,
        cwnd: Bytes::new(90_000),
        free: Bytes::new(6000),
        rwnd: Bytes::new(1_000_000),
        open: Bytes::new(500_000),
        last_send: Some(at(99_500)),
        first_sent: Some(at(50_200)),
        srtt: Some(Duration::from_millis(50)),
        hurries: false,
    }
}

#[test]
fn a_packet_is_what_the_pacing_rate_fills_in_a_millisecond() {
    // 115 Mbit/s are 14,375,000 bytes a second, of which 1/1024 is 14,038: nine segments of 1448.
    let rtt = Duration::from_millis(40);
    assert_eq!(goal(Rate::from_bps(115_000_000), rtt, 1448), 9);
    // 2 Mbit/s: 244 bytes, but two segments at least; 1.2 Gbit/s: 146,484 bytes, but 65,215 at most.
    assert_eq!(goal(Rate::from_bps(2_000_000), rtt, 1448), 2);
    assert_eq!(goal(Rate::from_bps(1_200_000_000), rtt, 1448), 45);
    // A round trip of 1.1 ms is 2 times 2^9 us: a quarter of 65,215 more, 16,303 + 244 bytes.
    assert_eq!(goal(Rate::from_bps(2_000_000), Duration::from_micros(1100), 1448), 11);
}

#[test]
fn less_than_a_packet_waits_for_an_ack_that_is_near() {
    assert!(room().waits());
    // A whole packet, or a third of the window.
    assert!(!Room { free: Bytes::new(10_000), ..room() }.waits());
    assert!(!Room { cwnd: Bytes::new(18_000), ..room() }.waits());
    // The ACK is due in 1.2 ms.
    assert!(!Room { first_sent: Some(at(51_200)), ..room() }.waits());
    // The last segment left 1.1 ms ago.
    assert!(!Room { last_send: Some(at(98_900)), ..room() }.waits());
    assert!(!Room { first_sent: None, ..room() }.waits());
    assert!(!Room { hurries: true, ..room() }.waits());
}

#[test]
fn a_packet_that_has_begun_goes_out_whole() {
    let mut packet = Segmentation::default();
    let begins = Room { free: Bytes::new(10_000), ..room() };
    assert!(packet.takes(&begins));
    for left in (1..10).rev() {
        assert!(packet.continues());
        assert!(packet.takes(&Room { free: Bytes::new(left * 1000), ..room() }));
    }
    assert!(!packet.continues());
    assert!(!packet.takes(&room()));
}

#[test]
fn a_packet_is_at_most_half_of_the_congestion_window() {
    let small = Room { cwnd: Bytes::new(8000), free: Bytes::new(8000), ..room() };
    assert_eq!(small.segments(), 4);
    let tiny = Room { cwnd: Bytes::new(1000), free: Bytes::new(1000), ..room() };
    assert_eq!(tiny.segments(), 1);
}
