use std::fmt;

use proptest::prelude::*;

use super::*;
use crate::scoreboard::AckFacts;

const LEN: u64 = 1000;
const MSS: fn() -> Mss = || Mss::new(1000).unwrap();

fn ms(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

fn at(segment: u64) -> Seq {
    Seq::new(1 + segment * LEN)
}

fn block(first: u64, after: u64) -> Range {
    Range { start: at(first), end: at(after) }
}

fn segments(n: u64) -> Bytes {
    Bytes::new(n * LEN)
}

impl Tracker {
    /// Segment `n` goes out, with which so many are in flight.
    fn send(&mut self, now: Instant, n: u64, in_flight: u64) {
        self.on_sent(now, block(n, n + 1), segments(in_flight), None);
    }

    /// Everything before segment `n` is acknowledged.
    fn ack(&mut self, now: Instant, n: u64) -> Delivered {
        self.on_cumulative_ack(now, at(n), None);
        self.finish(now, Duration::ZERO, MSS())
    }
}

/// 50 segments are in flight at a time and then 5, and the stream goes on past 2^17 bytes.
#[test]
fn what_a_long_flight_took_is_given_back() {
    let mut tracker = Tracker::by_itself();
    for n in 0..140 {
        let held = if n < 60 { 50 } else { 5 };
        tracker.send(ms(n), n, held);
        tracker.ack(ms(n), n.saturating_sub(held));
    }
    assert!(tracker.records.capacity() < 20, "{}", tracker.records.capacity());
}

#[test]
fn the_rate_is_the_slower_of_the_ack_rate_and_the_send_rate() {
    let mut tracker = Tracker::by_itself();
    // Four segments, 10 ms apart; the ACKs come in a burst after 100 ms, as if something had held
    // them together.
    for n in 0..4 {
        tracker.send(ms(10 * n), n, n + 1);
    }
    let delivered = tracker.ack(ms(130), 4);
    assert_eq!(delivered.data, segments(4));
    let sample = delivered.sample.unwrap();
    // The last was sent at 30 ms when nothing had been delivered; the flight began at 0 ms. Sent in
    // 30 ms, delivered in 130 ms: 4000 B / 130 ms.
    assert_eq!(sample.interval, Some(Duration::from_millis(130)));
    assert!((sample.rate() - 4000.0 / 0.130).abs() < 1e-6);
    assert_eq!((sample.prior_delivered, sample.tx_in_flight), (Bytes::ZERO, segments(4)));
    assert_eq!(delivered.rtt, Some(Duration::from_millis(100)));
    // Four more, 40 ms apart from 140 ms on, each sent with the last one's ACK still to come; their
    // ACKs are squeezed together: 380, 381, 382, 383 ms. The last was sent at 260 ms. The flight
    // began at 140 ms with nothing in flight, so that delivery counts from there too: sent in
    // 260 - 140 = 120 ms, acknowledged in 383 - 140 = 243 ms.
    for n in 4..8 {
        tracker.send(ms(140 + 40 * (n - 4)), n, n - 3);
    }
    for n in 4..7 {
        tracker.ack(ms(380 + (n - 4)), n + 1);
    }
    let sample = tracker.ack(ms(383), 8).sample.unwrap();
    assert_eq!(sample.interval, Some(Duration::from_millis(243)));
}

#[test]
fn acks_that_bunch_do_not_make_the_path_faster_than_the_sender() {
    let mut tracker = Tracker::by_itself();
    // A segment every 10 ms. The ACK of the first comes after 100 ms, then those of 1 to 9 with it.
    for n in 0..10 {
        tracker.send(ms(10 * n), n, n + 1);
    }
    tracker.ack(ms(100), 1);
    // Ten more while nine are in flight, a segment every 10 ms from 100 ms on.
    for n in 10..20 {
        tracker.send(ms(100 + 10 * (n - 10)), n, 10);
    }
    // All that is left arrives in one ACK at 191 ms. The newest segment, sent at 190 ms with
    // C.delivered = 1, C.delivered_time = 100 ms and C.first_send_time = 0 ms (segment 0's): sent in
    // 190 ms, acknowledged in 91 ms. 19 segments in 190 ms is the rate at which they were sent.
    let sample = tracker.ack(ms(191), 20).sample.unwrap();
    assert_eq!(
        (sample.delivered, sample.interval),
        (segments(19), Some(Duration::from_millis(190)))
    );
    assert!((sample.rate() - 100_000.0).abs() < 1e-6);
}

#[test]
fn a_sacked_segment_is_delivered_once() {
    let mut tracker = Tracker::by_itself();
    for n in 0..4 {
        tracker.send(ms(n), n, n + 1);
    }
    assert!(tracker.on_change(ms(100), Change::Sacked(block(2, 3)), None).is_none());
    let delivered = tracker.finish(ms(100), Duration::ZERO, MSS());
    assert_eq!(delivered.data, segments(1));
    assert_eq!(delivered.sample.unwrap().tx_in_flight, segments(3));
    assert_eq!(delivered.rtt, Some(Duration::from_millis(98)));
    // Told again, and then acknowledged with the rest.
    tracker.on_change(ms(101), Change::Sacked(block(2, 3)), None);
    assert_eq!(tracker.finish(ms(101), Duration::ZERO, MSS()).data, Bytes::ZERO);
    assert_eq!(tracker.ack(ms(102), 4).data, segments(3));
    assert_eq!(tracker.delivered(), segments(4));
}

#[test]
fn what_is_sent_again_is_measured_from_then_and_times_nothing() {
    let mut tracker = Tracker::by_itself();
    for n in 0..3 {
        tracker.send(ms(n), n, n + 1);
    }
    tracker.on_change(ms(100), Change::Sacked(block(1, 2)), None);
    tracker.on_change(ms(100), Change::Sacked(block(2, 3)), None);
    let lost = tracker.on_change(ms(100), Change::Lost(block(0, 1)), None).unwrap();
    // Sent first, alone in flight; it is all that is lost since.
    assert_eq!((lost.start, lost.end), (at(0), at(1)));
    assert_eq!((lost.tx_in_flight, lost.lost), (segments(1), segments(1)));
    assert_eq!(lost.delivered, segments(2));
    tracker.finish(ms(100), Duration::ZERO, MSS());
    tracker.send(ms(101), 0, 2);
    let delivered = tracker.ack(ms(201), 3);
    let sample = delivered.sample.unwrap();
    assert_eq!((sample.tx_in_flight, sample.lost), (segments(2), Bytes::ZERO));
    assert_eq!(delivered.rtt, None);
    assert_eq!(tracker.lost(), segments(1));
}

#[test]
fn a_sample_of_less_than_the_least_round_trip_is_of_no_use() {
    let mut tracker = Tracker::by_itself();
    tracker.send(ms(0), 0, 1);
    tracker.ack(ms(100), 1);
    tracker.send(ms(110), 1, 1);
    tracker.send(ms(150), 1, 1);
    // The ACK answers the first copy, but the second was sent 60 ms ago.
    tracker.on_cumulative_ack(ms(210), at(2), None);
    let sample = tracker.finish(ms(210), Duration::from_millis(100), MSS()).sample.unwrap();
    assert_eq!(sample.interval, None);
    assert!(sample.rate().abs() < f64::EPSILON);
}

#[test]
fn samples_are_application_limited_until_the_bubble_has_gone() {
    let mut tracker = Tracker::by_itself();
    for n in 0..3 {
        tracker.send(ms(n), n, n + 1);
    }
    tracker.ack(ms(100), 1);
    // Nothing to send with two in flight: the bubble is behind segment 2.
    tracker.mark_app_limited(segments(2));
    tracker.send(ms(110), 3, 3);
    assert!(!tracker.ack(ms(111), 3).sample.unwrap().is_app_limited);
    tracker.send(ms(112), 4, 2);
    // 3 was sent after the bubble began. Its ACK shows the bubble gone: more than 3 delivered.
    assert!(tracker.ack(ms(210), 4).sample.unwrap().is_app_limited);
    tracker.send(ms(211), 5, 2);
    assert!(tracker.ack(ms(212), 5).sample.unwrap().is_app_limited);
    assert!(!tracker.ack(ms(311), 6).sample.unwrap().is_app_limited);
}

#[test]
fn without_sack_a_duplicate_ack_is_a_segment() {
    let mut tracker = Tracker::by_itself();
    for n in 0..4 {
        tracker.send(ms(n), n, n + 1);
    }
    for n in 0..3 {
        tracker.on_anonymous(ms(100 + n), at(0), MSS(), None);
        let delivered = tracker.finish(ms(100 + n), Duration::ZERO, MSS());
        assert_eq!(delivered.data, segments(1));
        assert!(delivered.sample.is_none());
    }
    assert_eq!(tracker.lose(ms(103), at(0), None).unwrap().lost, segments(1));
    tracker.send(ms(103), 0, 4);
    // The ACK of everything is for the one that was missing.
    let delivered = tracker.ack(ms(203), 4);
    assert_eq!((delivered.data, tracker.delivered()), (segments(1), segments(4)));
    // More duplicates than there is data behind the first segment say nothing.
    tracker.send(ms(300), 4, 1);
    tracker.send(ms(300), 5, 2);
    tracker.on_anonymous(ms(301), at(4), MSS(), None);
    tracker.on_anonymous(ms(302), at(4), MSS(), None);
    assert_eq!(tracker.finish(ms(302), Duration::ZERO, MSS()).data, segments(1));
}

#[test]
fn every_ack_of_more_delivers_what_was_missing() {
    let mut tracker = Tracker::by_itself();
    for n in 0..4 {
        tracker.send(ms(0), n, n + 1);
    }
    // All but the last are lost; it arrives three times, as the path doubles packets. A rate of zero
    // would follow if the three counted for those that go out again.
    for _ in 0..3 {
        tracker.on_anonymous(ms(100), at(0), MSS(), None);
    }
    tracker.finish(ms(100), Duration::ZERO, MSS());
    for n in 0..3 {
        tracker.send(ms(200 + 100 * n), n, 1);
        let delivered = tracker.ack(ms(300 + 100 * n), n + 1);
        assert_eq!(delivered.data, segments(1), "{n}");
        assert!(delivered.sample.unwrap().rate() > 0.0);
    }
}

#[test]
fn part_of_a_segment_is_part_of_what_is_delivered() {
    let mut tracker = Tracker::by_itself();
    tracker.send(ms(0), 0, 1);
    tracker.on_cumulative_ack(ms(100), at(0) + Bytes::new(300), None);
    let delivered = tracker.finish(ms(100), Duration::ZERO, MSS());
    assert_eq!((delivered.data, delivered.sample.is_some()), (Bytes::new(300), false));
    assert_eq!(tracker.ack(ms(101), 1).data, Bytes::new(700));
    // Sent anew in other stretches, as go-back-N may: 500 B of the old and 500 B of the new.
    tracker.send(ms(200), 1, 1);
    let stretch = Range { start: at(1) + Bytes::new(500), end: at(2) + Bytes::new(500) };
    tracker.on_sent(ms(201), stretch, segments(2), None);
    assert_eq!(tracker.ack(ms(300), 2).data, segments(1));
    tracker.on_cumulative_ack(ms(301), stretch.end, None);
    assert_eq!(tracker.finish(ms(301), Duration::ZERO, MSS()).data, Bytes::new(500));
}

#[test]
fn a_short_segment_alone_may_have_been_answered_late() {
    let mut tracker = Tracker::by_itself();
    let short = |n: u64, len| Range { start: at(n), end: at(n) + Bytes::new(len) };
    tracker.on_sent(ms(0), short(0, 10), Bytes::new(10), None);
    tracker.on_cumulative_ack(ms(240), short(0, 10).end, None);
    assert!(tracker.finish(ms(240), Duration::ZERO, MSS()).maybe_delayed);
    // A full one is not suspect, nor one in company.
    let mut tracker = Tracker::by_itself();
    tracker.send(ms(0), 0, 1);
    assert!(!tracker.ack(ms(100), 1).maybe_delayed);
    tracker.send(ms(200), 1, 1);
    tracker.on_sent(ms(201), short(2, 10), Bytes::new(1010), None);
    tracker.ack(ms(300), 2);
    tracker.on_cumulative_ack(ms(301), short(2, 10).end, None);
    assert!(!tracker.finish(ms(301), Duration::ZERO, MSS()).maybe_delayed);
}

#[test]
fn a_record_takes_24_bytes() {
    assert_eq!(size_of::<Record>(), 24);
}

#[test]
fn counters_beyond_four_gigabytes_say_the_same() {
    const FAR: u64 = (1 << 32) - 1500;
    let samples = [0, FAR].map(|before| {
        let mut tracker = Tracker {
            delivering: Delivering { total: Bytes::new(before), ..Delivering::default() },
            lost: Bytes::new(before),
            ..Tracker::by_itself()
        };
        let segment = |n: u64| Range {
            start: at(n) + Bytes::new(before),
            end: at(n + 1) + Bytes::new(before),
        };
        for n in 0..6 {
            tracker.on_sent(ms(10 * n), segment(n), segments(n + 1), None);
        }
        // The third is lost and sent again; then four and five are SACKed, and then all of it has arrived.
        let lost = tracker.lose(ms(90), segment(2).start, None).unwrap();
        assert_eq!((lost.lost, lost.tx_in_flight), (segments(1), segments(3)));
        tracker.on_cumulative_ack(ms(100), segment(2).start, None);
        tracker.finish(ms(100), Duration::ZERO, MSS());
        tracker.on_sent(ms(101), segment(2), segments(4), None);
        for n in 4..6 {
            tracker.on_change(ms(150), Change::Sacked(segment(n)), None);
        }
        tracker.finish(ms(150), Duration::ZERO, MSS());
        tracker.on_cumulative_ack(ms(201), segment(6).start, None);
        let delivered = tracker.finish(ms(201), Duration::ZERO, MSS());
        let sample = delivered.sample.unwrap();
        assert_eq!(sample.prior_delivered, segments(2) + Bytes::new(before));
        (
            sample.delivered,
            sample.interval,
            sample.lost,
            delivered.data,
            tracker.delivered() - Bytes::new(before),
        )
    });
    // Two had been delivered when the third went out again, and six were in the end; sent in 101 - 0 ms or so, and
    // acknowledged in 201 - 100 ms; nothing was lost since. The third and the fourth came with the last ACK.
    assert_eq!(samples[0].0, segments(4));
    assert_eq!((samples[0].2, samples[0].3, samples[0].4), (Bytes::ZERO, segments(2), segments(6)));
    assert_eq!(samples[0], samples[1]);
}

/// The scoreboard has what a tracker by itself keeps: both say the same of whatever is sent, sent again, SACKed, lost and
/// acknowledged, of segments of several sizes and parts of them.
#[derive(Default)]
struct Both {
    board: Scoreboard,
    trackers: [Tracker; 2],
    now: Instant,
    una: Seq,
    max: Seq,
}

impl Both {
    fn new() -> Self {
        let mut board = Scoreboard::default();
        board.keep_journal();
        let trackers = [Tracker::default(), Tracker::by_itself()];
        Self { board, trackers, una: at(0), max: at(0), ..Self::default() }
    }

    /// Both answers, each with the board or without.
    fn each<T: fmt::Debug>(&mut self, ask: impl Fn(&mut Tracker, Option<&Scoreboard>) -> T) -> T {
        let [with, without] = &mut self.trackers;
        let (answer, other) = (ask(with, Some(&self.board)), ask(without, None));
        assert_eq!(format!("{answer:?}"), format!("{other:?}"));
        answer
    }

    fn send(&mut self, range: Range) {
        let (now, in_flight) = (self.now, self.board.pipe());
        self.each(|tracker, board| tracker.on_sent(now, range, in_flight, board));
    }

    fn step(&mut self, kind: u8, size: u64) {
        self.now += Duration::from_millis(1 + size % 7);
        let now = self.now;
        let mut told = AckFacts::at(now, Duration::ZERO);
        match kind {
            0 | 1 => {
                let range = Range { start: self.max, end: self.max + Bytes::new(1 + size % LEN) };
                self.board.on_sent(range.start, range.len(), now);
                self.max = range.end;
                self.send(range);
            }
            2 => {
                let outstanding = self.max.since(self.una).get();
                self.una = self.una + Bytes::new(size % (outstanding + 1));
                let una = self.una;
                self.each(|tracker, board| tracker.on_cumulative_ack(now, una, board));
                self.board.on_cumulative_ack(una, &mut told);
            }
            3 => {
                // All that begins behind the first segment and a part of what is out.
                let start = self.una + Bytes::new(1 + size % (2 * LEN));
                self.board.on_sack(&[Range { start, end: start + Bytes::new(size) }], &mut told);
            }
            _ => {
                if let Some(range) = self.board.next_lost() {
                    self.board.on_resent(range.start, now);
                    self.send(range);
                }
            }
        }
        for change in std::mem::take(self.board.journal().expect("one is kept")) {
            self.each(|tracker, board| tracker.on_change(now, change, board));
        }
        self.each(|tracker, _| tracker.finish(now, Duration::ZERO, MSS()));
        self.each(|tracker, _| (tracker.delivered(), tracker.lost()));
    }
}

proptest! {
    #[test]
    fn a_scoreboard_has_what_a_tracker_by_itself_keeps(
        steps in prop::collection::vec((0_u8..5, 0_u64..6000), 1..200),
    ) {
        let mut both = Both::new();
        for (kind, size) in steps {
            both.step(kind, size);
        }
        // All that was sent is delivered once, whatever was SACKed before.
        let all = both.max.since(at(0));
        let outstanding = both.max.since(both.una).get();
        both.step(2, outstanding);
        prop_assert_eq!(both.trackers[0].delivered(), all);
    }
}

#[test]
fn times_of_hours_are_told_as_they_were() {
    for hours in [0, 1, 19] {
        // Sent so long after what was delivered last, and acknowledged a second later.
        let mut tracker = Tracker::by_itself();
        tracker.send(ms(0), 0, 1);
        tracker.ack(ms(1), 1);
        let late = ms(hours * 3_600_000 + 5000);
        tracker.send(late, 1, 2);
        let sample = tracker.ack(late + Duration::from_secs(1), 2).sample.unwrap();
        let expected = late + Duration::from_secs(1);
        assert_eq!(sample.interval, Some(expected.since(ms(1))), "{hours}");
    }
}

#[test]
fn a_probe_on_the_board_says_nothing() {
    let (mut board, mut tracker) = (Scoreboard::default(), Tracker::default());
    board.on_sent(at(0), Bytes::new(1), ms(0));
    tracker.on_probe(Some(&board));
    board.on_sent(at(0) + Bytes::new(1), segments(1), ms(1));
    let segment = Range { start: at(0) + Bytes::new(1), end: at(1) + Bytes::new(1) };
    tracker.on_sent(ms(1), segment, segments(1), Some(&board));
    tracker.on_cumulative_ack(ms(100), segment.start, Some(&board));
    let delivered = tracker.finish(ms(100), Duration::ZERO, MSS());
    assert_eq!((delivered.data, delivered.sample.is_some()), (Bytes::ZERO, false));
    board.on_cumulative_ack(segment.start, &mut AckFacts::default());
    tracker.on_cumulative_ack(ms(101), segment.end, Some(&board));
    let delivered = tracker.finish(ms(101), Duration::ZERO, MSS());
    assert_eq!((delivered.data, delivered.rtt), (segments(1), Some(Duration::from_millis(100))));
}
