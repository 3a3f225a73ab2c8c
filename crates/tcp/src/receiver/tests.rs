use ackclock_packet::NearBlocks;
use ackclock_units::Duration;
use proptest::prelude::*;

use super::*;
use crate::{Profile, Variant};

fn receiver(delayed: bool) -> Receiver {
    let parts = "reno".parse::<Variant>().unwrap().resolve(Profile::Rfc).unwrap();
    let mut config = Config::new(parts, Profile::Rfc);
    if !delayed {
        config.delayed_ack = None;
    }
    Receiver::new(&config)
}

fn rtt() -> RttEstimator {
    let parts = "reno".parse::<Variant>().unwrap().resolve(Profile::Linux).unwrap();
    RttEstimator::new(Config::new(parts, Profile::Linux).rto)
}

fn data(receiver: &mut Receiver, millis: u64, first: u64, len: u64) {
    let now = Instant::START + Duration::from_millis(millis);
    let len = u32::try_from(len).unwrap();
    let segment = Segment { seq: Seq::new(first), len, flags: Flags::ACK, ..Segment::default() };
    receiver.on_data(now, &segment, &rtt());
}

#[test]
fn an_ack_waits_for_a_second_segment_or_the_timer() {
    let mut r = receiver(true);
    data(&mut r, 0, 1, 1000);
    assert!(!r.ack_due());
    assert_eq!(r.due(), Instant::START + Duration::from_millis(200));
    data(&mut r, 10, 1001, 1000);
    assert!(r.ack_due());
    r.on_ack_sent(0);
    assert!(!r.ack_due() && r.due() == Instant::NEVER);
    data(&mut r, 20, 2001, 1000);
    r.on_timer(Instant::START + Duration::from_millis(219), &rtt());
    assert!(!r.ack_due());
    r.on_timer(Instant::START + Duration::from_millis(220), &rtt());
    assert!(r.ack_due());
}

#[test]
fn a_gap_and_what_fills_it_are_acknowledged_at_once() {
    let mut r = receiver(true);
    data(&mut r, 0, 1001, 1000);
    assert!(r.ack_due());
    assert_eq!(r.nxt(), Seq::new(1));
    r.on_ack_sent(0);
    data(&mut r, 1, 1, 1000);
    assert!(r.ack_due());
    assert_eq!(r.nxt(), Seq::new(2001));
}

#[test]
fn what_arrived_before_is_acknowledged_at_once() {
    let mut r = receiver(true);
    data(&mut r, 0, 1, 1000);
    r.on_ack_sent(0);
    data(&mut r, 1, 1, 1000);
    assert!(r.ack_due());
}

#[test]
fn the_window_is_what_the_field_can_carry() {
    let mut r = receiver(false);
    // 64 MiB needs a shift of 11: 2^26 >> 10 = 65,536 is one too many for 16 bits.
    assert_eq!(r.offered_shift(), 11);
    assert_eq!(r.window(), 0xffff);
    r.on_established(Instant::START, Mss::default(), 0, 11);
    assert_eq!(r.window(), 64 << 20);
    // 1000 bytes unread: (2^26 - 1000) >> 11 << 11 = 2^26 - 2048.
    data(&mut r, 0, 1, 1000);
    assert_eq!(r.window(), (64 << 20) - 2048);
    r.read(Instant::START, Bytes::new(1000));
    assert_eq!(r.window(), 64 << 20);
}

fn blocks(r: &Receiver) -> Vec<(u64, u64)> {
    // What was there before does not matter.
    let mut blocks = NearBlocks::default();
    (0..4).for_each(|n| blocks.set(n, Range { start: Seq::new(1), end: Seq::new(2) }));
    let count = r.has_sack().then(|| r.report(false, &mut blocks).expect("all are near"));
    let sack = count.map(|_| blocks.near(r.nxt())).unwrap_or_default();
    assert_eq!(sack.as_slice().len(), usize::from(count.unwrap_or(0)));
    assert!(count.is_none() || sack == r.report_far(false));
    sack.as_slice().iter().map(|b| (b.start.get(), b.end.get())).collect()
}

#[test]
fn what_comes_again_after_two_gigabytes_is_reported_as_well() {
    let mut r = receiver(false);
    r.permit_sack();
    r.nxt = Seq::new(2 + (1 << 31));
    for (first, is_near) in [(2, true), (1, false)] {
        data(&mut r, 0, first, 1);
        assert_eq!(r.report(false, &mut NearBlocks::default()).is_some(), is_near);
        let duplicate = Range { start: Seq::new(first), end: Seq::new(first + 1) };
        assert_eq!(r.report_far(false).as_slice(), [duplicate]);
        r.on_ack_sent(0);
    }
}

#[test]
fn sack_blocks_come_most_recent_first() {
    let mut r = receiver(false);
    data(&mut r, 0, 1001, 1000);
    assert_eq!(blocks(&r), [], "before the peer permits it");
    r.permit_sack();
    assert_eq!(blocks(&r), [(1001, 2001)]);
    data(&mut r, 0, 3001, 1000);
    data(&mut r, 0, 5001, 1000);
    data(&mut r, 0, 7001, 1000);
    // RFC 2018 §4: the block of the segment that triggered the ACK first; four fit into 40 bytes.
    assert_eq!(blocks(&r), [(7001, 8001), (5001, 6001), (3001, 4001), (1001, 2001)]);
    // A segment that joins an older block brings it to the front.
    data(&mut r, 0, 4001, 1000);
    assert_eq!(blocks(&r), [(3001, 6001), (7001, 8001), (1001, 2001)]);
    data(&mut r, 0, 1, 1000);
    assert_eq!(blocks(&r), [(3001, 6001), (7001, 8001)]);
}

#[test]
fn what_arrives_twice_is_reported_once() {
    let mut r = receiver(false);
    r.permit_sack();
    data(&mut r, 0, 1, 1000);
    r.on_ack_sent(0);
    data(&mut r, 0, 1, 1000);
    assert_eq!(blocks(&r), [(1, 1001)]);
    r.on_ack_sent(0);
    assert_eq!(blocks(&r), []);
    // RFC 2883 §4: a duplicate above the cumulative ACK, then the block that holds it.
    data(&mut r, 0, 3001, 2000);
    r.on_ack_sent(0);
    data(&mut r, 0, 3001, 1000);
    assert_eq!(blocks(&r), [(3001, 4001), (3001, 5001)]);
}

#[test]
fn a_block_that_is_filled_does_not_come_back_far_ahead() {
    let mut r = receiver(false);
    r.permit_sack();
    data(&mut r, 0, 3001, 1000);
    data(&mut r, 0, 1, 3000);
    assert_eq!((r.nxt(), blocks(&r)), (Seq::new(4001), vec![]));
    // 2^32 - 2000 bytes more: the low 32 bits of 3001 come again a thousand ahead.
    let mut next = 4001;
    for len in [1 << 31, (1 << 31) - 2000] {
        data(&mut r, 0, next, len);
        next += len;
    }
    data(&mut r, 0, next + 5000, 1000);
    assert_eq!(blocks(&r), [(next + 5000, next + 6000)]);
}

#[test]
fn a_block_that_is_filled_keeps_its_turn_and_no_more() {
    const WINDOW: u64 = 1 << 30;
    // Something is ahead all the time, each time by a window: the first block has its turn until two others have come,
    // three windows later, where its low bits stand for what is a window ahead.
    let mut r = receiver(false);
    r.permit_sack();
    data(&mut r, 0, WINDOW, 1000);
    data(&mut r, 0, 3001, 1000);
    data(&mut r, 0, 1, 3000);
    for n in 1..3 {
        let next = r.nxt().get();
        data(&mut r, 0, next, n * WINDOW - 1 - next);
        data(&mut r, 0, (n + 1) * WINDOW, 1000);
        data(&mut r, 0, n * WINDOW - 1, 1);
    }
    let next = r.nxt().get();
    assert_eq!(next, 2 * WINDOW + 1000);
    data(&mut r, 0, next, 3 * WINDOW - 1 - next);
    assert_eq!(blocks(&r), [(3 * WINDOW, 3 * WINDOW + 1000)]);
}

proptest! {
    /// Blocks are those of the segments that arrived last, each block once: against a set of the numbers received, of
    /// which each of the last four segments in ranges of their own names one.
    #[test]
    fn blocks_are_where_the_last_segments_went(
        segments in prop::collection::vec((1_u64..60, 1_u64..6), 1..80),
    ) {
        let mut r = receiver(false);
        r.permit_sack();
        let mut received = [false; 80];
        let mut last: Vec<usize> = Vec::new();
        for (first, len) in segments {
            let was_next = usize::try_from(r.nxt().get()).unwrap();
            data(&mut r, 0, first, len);
            r.duplicate = None;
            let first = usize::try_from(first).unwrap();
            received[first..first + usize::try_from(len).unwrap()].fill(true);
            let block = |n: usize| {
                let start = (0..n).rev().find(|m| !received[*m]).unwrap() + 1;
                let end = (n..80).find(|m| !received[*m]).unwrap();
                (start, end)
            };
            if first > was_next {
                let (start, end) = block(first);
                last.retain(|n| *n < start || end <= *n);
                last.insert(0, first);
                last.truncate(4);
            }
            let next = (1..80).find(|n| !received[*n]).unwrap();
            let expected: Vec<(u64, u64)> = last
                .iter()
                .filter(|n| **n > next)
                .map(|n| block(*n))
                .map(|(start, end)| (start as u64, end as u64))
                .collect();
            prop_assert_eq!(blocks(&r), expected);
        }
    }

    /// Segments in any order, overlapping and repeated, give every byte once: against a set of
    /// the numbers received.
    #[test]
    fn any_order_is_reassembled(segments in prop::collection::vec((1_u64..60, 1_u64..12), 1..80)) {
        let mut r = receiver(false);
        let mut received = [false; 80];
        for (first, len) in segments {
            data(&mut r, 0, first, len);
            for byte in first..first + len {
                received[usize::try_from(byte).unwrap()] = true;
            }
            let next = (1..80_usize).find(|n| !received[*n]).unwrap();
            prop_assert_eq!(r.nxt().get(), next as u64);
            prop_assert_eq!(r.received().get(), next as u64 - 1);
            for (a, b) in r.ahead.iter().zip(r.ahead.iter().skip(1)) {
                prop_assert!(a.end < b.start, "{:?}", r.ahead);
            }
        }
    }
}
