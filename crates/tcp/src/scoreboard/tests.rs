use proptest::prelude::*;

use super::*;

const LEN: u64 = 100;

fn at(segment: u64) -> Seq {
    Seq::new(1 + segment * LEN)
}

fn block(first: u64, after: u64) -> Range {
    Range { start: at(first), end: at(after) }
}

/// A scoreboard of `n` segments of 100 bytes in flight.
fn flight(n: u64) -> Scoreboard {
    let mut board = Scoreboard::default();
    for segment in 0..n {
        board.on_sent(at(segment), Bytes::new(LEN), Instant::START);
    }
    board
}

/// 200 segments are in flight at a time and then 20, and the stream goes on past 2^17 bytes.
#[test]
fn what_a_long_flight_took_is_given_back() {
    let mut board = Scoreboard::default();
    for n in 0..1400 {
        board.on_sent(at(n), Bytes::new(LEN), Instant::START);
        let held = if n < 400 { 200 } else { 20 };
        board.on_plain_ack(at(n.saturating_sub(held)));
    }
    assert!(board.segments.capacity() < 64, "{}", board.segments.capacity());
}

fn sack(board: &mut Scoreboard, blocks: &[Range]) -> AckFacts {
    let mut told = AckFacts::default();
    board.on_sack(blocks, &mut told);
    told
}

/// A case of RFC 6691 §3: of the third of five segments of 100 bytes, found lost and sent again, 60 bytes go out once
/// more, which leaves the
/// rest of the room to options.
#[test]
fn the_rest_of_a_segment_that_was_cut_waits_to_be_sent_again() {
    for mut board in [flight(5), Scoreboard { by_time: Some(ByTime::default()), ..flight(5) }] {
        sack(&mut board, &[block(3, 5)]);
        board.all_is_lost();
        board.on_resent(at(0), Instant::START);
        board.on_resent(at(1), Instant::START);
        assert_eq!(board.next_lost(), Some(block(2, 3)));
        assert_eq!(board.cut(at(2), Bytes::new(60)), Some(3));
        let middle = at(2) + Bytes::new(60);
        // Three lost segments are four now, as many bytes.
        assert_eq!((board.lost_segments(), board.len(), board.pipe()), (4, 6, Bytes::new(200)));
        assert_eq!(board.next_lost(), Some(Range { start: at(2), end: middle }));
        board.on_resent(at(2), Instant::START);
        assert_eq!((board.pipe(), board.pipe_segments()), (Bytes::new(260), 3));
        assert_eq!(board.next_lost(), Some(Range { start: middle, end: at(3) }));
        board.on_resent(middle, Instant::START);
        assert_eq!((board.next_lost(), board.pipe_segments()), (None, 4));
        // What is SACKed is not sent again, nor is there anything to cut of a shorter one.
        assert_eq!(board.cut(at(3), Bytes::new(60)), None);
        assert_eq!(board.cut(middle, Bytes::new(40)), None);
        let mut told = AckFacts::default();
        board.on_cumulative_ack(middle, &mut told);
        assert_eq!((board.len(), board.pipe(), board.resent_segments()), (3, Bytes::new(40), 1));
    }
}

#[test]
fn blocks_ascend_in_whatever_order_they_came() {
    let digits = 0..256_u64;
    for choice in digits.map(|n| [n & 3, n >> 2 & 3, n >> 4 & 3, n >> 6]) {
        for count in 1..=4 {
            let blocks: Vec<Range> = choice[..count].iter().map(|n| block(*n, n + 1)).collect();
            let mut sorted = blocks.clone();
            sorted.sort_by_key(|block| block.start);
            let all = ascending(&blocks);
            assert_eq!(&all[..count], sorted, "{choice:?}");
            assert!(all[count..].iter().all(|block| block.is_empty()), "{choice:?}");
        }
    }
}

#[test]
fn three_sacked_segments_above_a_hole_lose_it() {
    let mut board = flight(10);
    assert_eq!(sack(&mut board, &[block(1, 2)]).newly_sacked, Bytes::new(100));
    assert_eq!(sack(&mut board, &[block(1, 3)]).newly_lost, Bytes::ZERO);
    assert_eq!(board.next_lost(), None);
    let told = sack(&mut board, &[block(1, 4)]);
    assert_eq!((told.newly_sacked, told.newly_lost), (Bytes::new(100), Bytes::new(100)));
    assert_eq!(board.next_lost(), Some(block(0, 1)));
    // Ten sent, three SACKed, one lost.
    assert_eq!(board.pipe(), Bytes::new(600));
    board.on_resent(at(0), Instant::START);
    assert_eq!(board.pipe(), Bytes::new(700));
    assert_eq!(board.next_lost(), None);
}

#[test]
fn holes_apart_are_resent_in_order() {
    // RFC 6675's order: 0, then 2, then 4, each with three or more SACKed above.
    let mut board = flight(10);
    sack(&mut board, &[block(1, 2)]);
    sack(&mut board, &[block(3, 4), block(1, 2)]);
    sack(&mut board, &[block(5, 8), block(3, 4), block(1, 2)]);
    for hole in [0, 2, 4] {
        assert_eq!(board.next_lost(), Some(block(hole, hole + 1)));
        board.on_resent(at(hole), Instant::START);
    }
    assert_eq!(board.next_lost(), None);
    // 0, 2, 4 resent; 8 and 9 as they were.
    assert_eq!(board.pipe(), Bytes::new(500));
    let mut told = AckFacts::default();
    board.on_cumulative_ack(at(2), &mut told);
    assert_eq!((board.pipe(), told.acked_after_sack), (Bytes::new(400), Bytes::new(100)));
}

#[test]
fn a_timeout_loses_all_that_is_not_sacked() {
    let mut board = flight(5);
    sack(&mut board, &[block(2, 3)]);
    board.all_is_lost();
    assert_eq!(board.pipe(), Bytes::ZERO);
    let mut resent = Vec::new();
    while let Some(range) = board.next_lost() {
        board.on_resent(range.start, Instant::START);
        resent.push(range);
    }
    assert_eq!(resent, [block(0, 1), block(1, 2), block(3, 4), block(4, 5)]);
    assert_eq!(board.pipe(), Bytes::new(400));
}

/// RFC 2018 §8: the first segment is SACKed although an ACK says that it is missing. Nothing of what was SACKed counts
/// any more, and all ten segments are to go out again.
#[test]
fn a_receiver_that_reneged_is_believed_no_more() {
    for by_time in [false, true] {
        let mut board = if by_time { Scoreboard::by_time() } else { Scoreboard::default() };
        for n in 0..12 {
            board.on_sent(at(n), Bytes::new(LEN), Instant::START);
        }
        sack(&mut board, &[block(2, 5), block(8, 12)]);
        assert!(!board.forget_sacks_if_reneged());
        board.on_cumulative_ack(at(2), &mut AckFacts::default());
        assert!(board.forget_sacks_if_reneged());
        board.all_is_lost();
        assert_eq!(
            (board.sacked(), board.pipe(), board.lost_segments()),
            (Bytes::ZERO, Bytes::ZERO, 10)
        );
        for n in 2..12 {
            assert_eq!(board.next_lost(), Some(block(n, n + 1)));
            board.on_resent(at(n), Instant::from_nanos(n));
        }
        assert_eq!((board.next_lost(), board.pipe()), (None, Bytes::new(1000)));
        // Blocks that were told before are new again.
        assert_eq!(sack(&mut board, &[block(8, 12)]).newly_sacked, Bytes::new(400));
    }
}

#[test]
fn what_is_neither_lost_nor_sacked_is_a_last_resort() {
    let mut board = flight(5);
    sack(&mut board, &[block(3, 4)]);
    assert_eq!(board.next_doubtful(), Some(block(0, 1)));
    board.on_resent(at(0), Instant::START);
    assert_eq!(board.next_doubtful(), Some(block(1, 2)));
}

#[test]
fn numbers_go_on_beyond_32_bits() {
    // 42 segments of 100 MB, each acknowledged: the next number is 4,200,000,001. Then ten of 20 MB, of which the
    // fifth lies across 2^32 = 4,294,967,296.
    let mut board = Scoreboard::default();
    let number = |bytes: u64| Seq::new(1 + bytes);
    for n in 0..42 {
        board.on_sent(number(n * 100_000_000), Bytes::new(100_000_000), Instant::START);
        assert!(board.on_plain_ack(number((n + 1) * 100_000_000)).flatten().is_some());
    }
    let place = |n: u64| number(4_200_000_000 + n * 20_000_000);
    for n in 0..10 {
        board.on_sent(place(n), Bytes::new(20_000_000), Instant::START);
    }
    // Three above them lose the first five.
    let told = sack(&mut board, &[Range { start: place(5), end: place(8) }]);
    assert_eq!(told.newly_lost, Bytes::new(100_000_000));
    for n in 0..5 {
        assert_eq!(board.next_lost(), Some(Range { start: place(n), end: place(n + 1) }));
        board.on_resent(place(n), Instant::START);
    }
    assert_eq!(board.next_lost(), None);
    assert_eq!(board.last(), Some(Range { start: place(9), end: place(10) }));
    // Half of the fifth is acknowledged, the first half of what lies across.
    let half = number(4_290_000_000);
    board.on_cumulative_ack(half, &mut AckFacts::default());
    board.all_is_lost();
    assert_eq!(board.next_lost(), Some(Range { start: half, end: place(5) }));
    board.on_cumulative_ack(place(10), &mut AckFacts::default());
    assert_eq!((board.len(), board.highest_delivered()), (0, number(4_400_000_000)));
}

/// The scoreboard by definition: recomputed from nothing at every question.
#[derive(Default)]
struct Model {
    /// (sacked, lost, retransmitted) of every segment sent.
    segments: Vec<(bool, bool, bool)>,
    una: usize,
}

impl Model {
    fn pipe(&self) -> u64 {
        self.segments[self.una..]
            .iter()
            .map(
                |(sacked, lost, again)| {
                    if *sacked { 0 } else { (u64::from(!lost) + u64::from(*again)) * LEN }
                },
            )
            .sum()
    }

    fn find_lost(&mut self) {
        for n in self.una..self.segments.len() {
            let above = self.segments[n + 1..].iter().filter(|s| s.0).count();
            if above >= 3 && !self.segments[n].0 {
                self.segments[n].1 = true;
            }
        }
    }

    fn next_lost(&self) -> Option<usize> {
        (self.una..self.segments.len()).find(|n| matches!(self.segments[*n], (false, true, false)))
    }

    fn next_doubtful(&self) -> Option<usize> {
        let highest = self.segments.iter().rposition(|(sacked, ..)| *sacked)?;
        (self.una..highest).find(|n| matches!(self.segments[*n], (false, _, false)))
    }

    /// SACK blocks as a receiver would send them: the run around `recent`, then others.
    fn blocks(&self, recent: usize) -> Vec<Range> {
        let mut runs = Vec::new();
        let mut n = self.una;
        while n < self.segments.len() {
            let start = n;
            while n < self.segments.len() && self.segments[n].0 {
                n += 1;
            }
            if n > start {
                runs.push((start, n));
            }
            n += 1;
        }
        runs.sort_by_key(|(start, end)| !(*start <= recent && recent < *end));
        runs.truncate(3);
        runs.iter().map(|(start, end)| block(*start as u64, *end as u64)).collect()
    }
}

proptest! {
    /// Against the model, through any mixture of sending, arriving out of order, resending,
    /// cumulative ACKs and timeouts.
    #[test]
    fn agrees_with_the_definition(steps in prop::collection::vec((0_u8..10, any::<prop::sample::Index>()), 1..200)) {
        let mut board = Scoreboard::default();
        let mut model = Model::default();
        for (what, which) in steps {
            match what {
                0..=3 => {
                    board.on_sent(at(model.segments.len() as u64), Bytes::new(LEN), Instant::START);
                    model.segments.push((false, false, false));
                }
                4..=6 if model.una + 1 < model.segments.len() => {
                    // A segment other than the first unacknowledged one arrives.
                    let arrived = model.una + 1 + which.index(model.segments.len() - model.una - 1);
                    model.segments[arrived].0 = true;
                    let blocks = model.blocks(arrived);
                    sack(&mut board, &blocks);
                    model.find_lost();
                }
                7 => {
                    let next = board.next_lost();
                    let expected = model.next_lost();
                    prop_assert_eq!(next, expected.map(|n| block(n as u64, n as u64 + 1)));
                    let next = expected.or_else(|| {
                        // Nothing lost waits: what is doubtful goes next.
                        let doubtful = model.next_doubtful();
                        let expected = doubtful.map(|n| block(n as u64, n as u64 + 1));
                        assert_eq!(board.next_doubtful(), expected);
                        doubtful.filter(|_| which.index(2) == 0)
                    });
                    if let Some(n) = next {
                        board.on_resent(at(n as u64), Instant::START);
                        model.segments[n].2 = true;
                    }
                }
                8 if model.una < model.segments.len() => {
                    // The first unacknowledged segment arrives: the ACK covers the run behind it.
                    model.una += 1;
                    while model.una < model.segments.len() && model.segments[model.una].0 {
                        model.una += 1;
                    }
                    board.on_cumulative_ack(at(model.una as u64), &mut AckFacts::default());
                }
                9 if which.index(5) == 0 => {
                    board.all_is_lost();
                    for segment in &mut model.segments[model.una..] {
                        segment.1 = !segment.0;
                        segment.2 = false;
                    }
                }
                _ => {}
            }
            prop_assert_eq!(board.pipe().get(), model.pipe());
        }
    }
}

#[test]
fn new_data_of_the_same_instant_shows_no_retransmission_lost() {
    let mut board = Scoreboard::by_time();
    let (first, second) = (Instant::from_nanos(0), Instant::from_nanos(100));
    for n in 0..3 {
        board.on_sent(at(n), Bytes::new(LEN), first);
    }
    let lost_by = |board: &mut Scoreboard, newest| {
        let mut lost = Bytes::ZERO;
        board.find_lost_by_time(newest, Duration::ZERO, Instant::from_nanos(200), &mut lost);
        lost.get() / LEN
    };
    sack(&mut board, &[block(2, 3)]);
    // Numbers say which of two originals of one instant was sent first: two are lost.
    assert_eq!(lost_by(&mut board, Delivered { at: first, end: at(3) }), 2);
    // Two ACKs arrive at 100 ns: the first lets segment 3 out, the second segment 0 once more.
    board.on_sent(at(3), Bytes::new(LEN), second);
    board.on_resent(at(0), second);
    // Segment 3 arrives first, as it was sent first, and so says nothing of segment 0.
    sack(&mut board, &[block(2, 4)]);
    assert_eq!(lost_by(&mut board, Delivered { at: second, end: at(4) }), 0);
    // The next one does.
    board.on_sent(at(4), Bytes::new(LEN), Instant::from_nanos(101));
    assert_eq!(lost_by(&mut board, Delivered { at: Instant::from_nanos(101), end: at(5) }), 1);
}

proptest! {
    /// Which transmission comes first by time, against a list of all of them, through any mixture of sending,
    /// arriving out of order, losing, resending, cumulative ACKs and losses that were none.
    #[test]
    fn transmissions_come_in_the_order_of_time(
        steps in prop::collection::vec((0_u8..12, 0_u64..3, any::<prop::sample::Index>()), 1..200),
    ) {
        let mut board = Scoreboard::by_time();
        // When, and which segment.
        let mut all: Vec<(Instant, u64)> = Vec::new();
        let (mut sent, mut una, mut now) = (0, 0, 0);
        for (what, later, which) in steps {
            now += later;
            let at_once = Instant::from_nanos(now);
            match what {
                0..=3 => {
                    board.on_sent(at(sent), Bytes::new(LEN), at_once);
                    all.push((at_once, sent));
                    sent += 1;
                }
                4..=6 if una + 1 < sent => {
                    let arrived = una + 1 + which.index(usize::try_from(sent - una - 1).unwrap()) as u64;
                    sack(&mut board, &[block(arrived, arrived + 1)]);
                }
                7 => {
                    // Lost is what was sent before the last that was delivered, and is old enough.
                    let newest = Delivered { at: at_once, end: at(sent) };
                    board.find_lost_by_time(newest, Duration::from_nanos(4), at_once, &mut Bytes::default());
                }
                8..=9 => {
                    if let Some(range) = board.next_lost() {
                        let n = (range.start.get() - 1) / LEN;
                        now += 1;
                        board.on_resent(range.start, Instant::from_nanos(now));
                        all.push((Instant::from_nanos(now), n));
                    }
                }
                10 if una < sent => {
                    una += 1 + which.index(usize::try_from(sent - una).unwrap()) as u64;
                    board.on_cumulative_ack(at(una), &mut AckFacts::default());
                }
                11 if which.index(5) == 0 => {
                    board.nothing_is_lost();
                    all = (0..).zip(board.segments.iter()).map(|(n, sent)| (sent.at, una + n)).collect();
                    all.sort_unstable();
                }
                _ => {}
            }
            let is_open = |(at, n): &(Instant, u64)| {
                n.checked_sub(una).and_then(|n| board.segments.get(usize::try_from(n).unwrap())).is_some_and(|sent| {
                    sent.at == *at && !sent.is(SACKED) && (sent.is(RETRANSMITTED) || !sent.is(LOST))
                })
            };
            let expected = all.iter().copied().find(is_open).map(|(_, n)| n);
            prop_assert_eq!(board.clone().first_by_time().map(|(_, n)| n), expected);
        }
    }
}
