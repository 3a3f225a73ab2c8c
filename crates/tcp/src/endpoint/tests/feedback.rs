use ackclock_packet::{CongestionHeader, RcpHeader, XcpHeader};

use super::*;

/// The client's segments at `millis` and after, at which microsecond, until `until`.
fn sent(pair: &mut Pair, until: u64) -> usize {
    pair.until(until);
    usize::try_from(pair.data_sent).unwrap()
}

fn header(transmit: &mut Transmit) -> Option<&mut CongestionHeader> {
    transmit.options.as_mut()?.congestion.as_mut()
}

/// A router that offers 4 Mbit/s.
fn offers(transmit: &mut Transmit) {
    if let Some(CongestionHeader::Rcp(header)) = header(transmit)
        && header.rate_kbps > 0
    {
        header.rate_kbps = header.rate_kbps.min(4_000);
    }
}

/// A router that gives each packet of data 20 kB/s.
fn gives(transmit: &mut Transmit) {
    if let Some(CongestionHeader::Xcp(header)) = header(transmit) {
        header.delta = if header.spacing_ns > 0 { header.delta.min(20_000) } else { 0 };
    }
}

#[test]
fn an_rcp_sender_begins_at_the_rate_that_its_syn_was_offered() {
    // Segments of 1000 - 20 bytes, 1040 on the wire with 40 bytes of headers and 20 of the option: one
    // each 1040 * 8/4e6 = 2.08 ms from 20 ms on. By 40.5 ms ten, at 20 + 9 * 2.08 = 38.72 ms the last;
    // by 120.5 ms 49: 20 + 48 * 2.08 = 119.84 ms.
    let mut pair = pair("rcp");
    pair.tamper = offers;
    pair.ends[0].write(Bytes::new(1_000_000));
    assert_eq!(sent(&mut pair, 40), 10);
    assert_eq!(pair.log[0], (20, 1, 980));
    assert_eq!(sent(&mut pair, 120), 49);
    let (_, _, data) = pair.wire.iter().find(|(_, to, t)| *to == 1 && t.segment.len > 0).unwrap();
    assert_eq!(data.segment.wire_size(), Bytes::new(1040));
    // The round trip is told to the routers once it is known, and their rate given back.
    let Some(CongestionHeader::Rcp(told)) = data.options.unwrap().congestion else { panic!() };
    assert_eq!((told.rate_kbps, told.rtt_us), (4_000, 20_000));
    let (_, _, ack) = pair.wire.iter().find(|(_, to, _)| *to == 0).unwrap();
    let given_back = RcpHeader { reverse_kbps: 4_000, ..RcpHeader::default() };
    assert_eq!(ack.options.unwrap().congestion, Some(CongestionHeader::Rcp(given_back)));
}

#[test]
fn a_loss_costs_an_rcp_sender_no_rate() {
    let mut pair = pair("rcp");
    pair.tamper = offers;
    pair.drop = vec![5, 6, 7];
    pair.ends[0].write(Bytes::new(1_000_000));
    // 49 segments as without losses, three of which are the lost ones.
    assert_eq!(sent(&mut pair, 120), 49);
    let stats = *pair.ends[0].sender().stats();
    assert_eq!((stats.segments_retransmitted, stats.timeouts), (3, 0));
}

#[test]
fn an_xcp_window_moves_by_what_each_ack_brings() {
    // Ten segments of 980 bytes, ten ACKs: each 20 kB/s of 1040 bytes a packet, of which 980 are
    // payload, over the smoothed round trip of 20 ms: 20,000 * 980/1040 * 0.02 = 376.9 bytes.
    let mut pair = pair("xcp");
    pair.tamper = gives;
    pair.ends[0].write(Bytes::new(1_000_000));
    pair.until(39);
    assert_eq!(pair.ends[0].sender().cwnd(), Bytes::new(9_800));
    let (_, _, ack) = pair.wire.iter().find(|(_, to, _)| *to == 0).unwrap();
    let Some(CongestionHeader::Xcp(ack)) = ack.options.unwrap().congestion else { panic!() };
    assert_eq!(ack, XcpHeader { reverse: 20_000, ..XcpHeader::default() });
    pair.until(40);
    let cwnd = pair.ends[0].sender().cwnd().get();
    assert!((13_565..=13_575).contains(&cwnd), "{cwnd}");
}

#[test]
fn an_xcp_sender_tells_its_spacing_and_what_it_wants() {
    // 9,800 bytes in 20 ms: a segment of 980 each 2 ms. 20 kB and no more are to be sent: 10,200
    // more than the window, 510 kB/s of payload in 20 ms, times 1040/980: 541.2 kB/s.
    let mut pair = pair("xcp");
    pair.ends[0].write(Bytes::new(20_000));
    pair.until(20);
    let (_, _, data) = pair.wire.iter().find(|(_, to, t)| *to == 1 && t.segment.len > 0).unwrap();
    let Some(CongestionHeader::Xcp(told)) = data.options.unwrap().congestion else { panic!() };
    assert_eq!((told.rtt_us, told.spacing_ns), (20_000, 2_000_000));
    assert!((541_000..=541_500).contains(&told.delta), "{told:?}");
}

#[test]
fn who_takes_no_part_is_told_nothing() {
    for law in ["rcp", "xcp"] {
        let mut pair = Pair::new(config(law), config("newreno"));
        pair.ends[0].write(Bytes::new(1_000_000));
        pair.until(45);
        let (_, _, data) =
            pair.wire.iter().find(|(_, to, t)| *to == 1 && t.segment.len > 0).expect(law);
        assert!(data.options.is_none(), "{law}");
        // The first window a round trip.
        assert_eq!(data.segment.len, 1000);
        assert_eq!(pair.ends[0].sender().cwnd(), Bytes::new(10_000), "{law}");
    }
}
