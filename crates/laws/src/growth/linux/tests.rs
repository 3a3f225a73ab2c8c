use ackclock_units::Rate;

use super::*;
use crate::growth::dctcp_linux::Dctcp;
use crate::growth::highspeed::decrease;
use crate::growth::highspeed_linux::HighSpeed;
use crate::growth::tests::Story;
use crate::growth::{AnyGrowth, GrowthChoice};
use crate::start::SlowStartChoice;

/// A law in avoidance with so many segments, and a round-trip time of 100 ms.
fn avoiding(choice: GrowthChoice, segments: u64) -> Story {
    let mut story = Story::with(choice, SlowStartChoice::AbcUnlimited(()), segments);
    story.law.rebase(&Proposal {
        cwnd: None,
        ssthresh: Some(story.mss.times(segments)),
        mss: story.mss,
        why: Why::Established,
    });
    story
}

#[test]
fn a_window_that_fell_buys_one_segment_with_what_was_saved_up() {
    // tcp_cong_avoid_ai: nine of ten were counted when a round brings the cost down to 4: one segment, not two.
    let mut window = Window { cwnd: 10, cwnd_cnt: 9, ..Window::default() };
    window.avoid(4, 2);
    assert_eq!((window.cwnd, window.cwnd_cnt), (11, 2));
    // Otherwise what is over stays: 2 + 7 = 2 * 4 + 1.
    window.avoid(4, 7);
    assert_eq!((window.cwnd, window.cwnd_cnt), (13, 1));
}

#[test]
fn the_rows_of_highspeed_are_those_of_appendix_b() {
    let law = |row| HighSpeed::at(row);
    for row in 0..72 {
        let (w, md) = law(row).row();
        // b(w) of §5, in 256ths; its loss of precision is the kernel's.
        let b = decrease(w as f64) * 256.0;
        assert!(md as f64 <= b && b < md as f64 + 1.0, "{w}: {md} for {b}");
    }
}

#[test]
fn highspeed_counts_acks_and_takes_the_row_of_the_upper_window() {
    // 39 segments are in the row of 118: a = 2. Twenty ACKs are 40, however much each acknowledges: one segment more.
    let mut story = avoiding(GrowthChoice::HighSpeedLinux(()), 39);
    for _ in 0..20 {
        story.ack(3);
    }
    assert!((story.cwnd() - 40.0).abs() < 1e-9);
    // b = 112/256: of 57 segments 24 go, of 2028 in the row of 2076 (74/256) 586. Both are in the kernel's traces.
    for (cwnd, left) in [(57, 33.0), (2028, 1442.0)] {
        let mut story = avoiding(GrowthChoice::HighSpeedLinux(()), cwnd);
        story.ack(1).congestion(Signal::Loss, cwnd);
        assert!((story.ssthresh() - left).abs() < 1e-9, "{cwnd}");
    }
}

#[test]
fn a_loss_in_slow_start_costs_highspeed_a_half() {
    // The row is that of the last avoidance, and there was none (trace c_queue100: 402 -> 201).
    let mut story =
        Story::with(GrowthChoice::HighSpeedLinux(()), SlowStartChoice::AbcUnlimited(()), 402);
    story.congestion(Signal::Loss, 402);
    assert!((story.ssthresh() - 201.0).abs() < 1e-9);
}

#[test]
fn vegas_moves_once_a_round_by_the_smallest_round_trip_time() {
    // A round ends with the first ACK beyond what was out at its beginning, and is judged by its own samples. All have a
    // microsecond more than was measured, and what waits is rounded down. From 20 segments and a base of 100 ms:
    // 130 ms: 20 * 30/100.001 = 5 wait, more than 4: 19; 110 ms: 19 * 10/100.001 = 1: 20; 115 ms: 2 wait: nothing.
    let mut story = avoiding(GrowthChoice::VegasLinux(()), 20);
    story.ack(1);
    for (millis, acks, cwnd) in [(130, 20, 19.0), (110, 20, 20.0), (115, 19, 20.0)] {
        story.rtt = Duration::from_millis(millis);
        let before = story.acks(acks - 1).cwnd();
        assert!((before - 20.0).abs() < 1e-9 || millis == 110, "nothing between rounds");
        assert!((story.ack(1).cwnd() - cwnd).abs() < 1e-9, "{millis}");
    }
}

#[test]
fn vegas_leaves_slow_start_with_what_the_path_carries() {
    // Ten segments grow by what is delivered: 20 after the first round of base 100 ms. In the next, of 150 ms,
    // 39 * 50/100.001 = 19 wait: min(39, 39 * 100.001/150.001 + 1 = 27), which is the threshold, too.
    let mut story = Story::with(GrowthChoice::VegasLinux(()), SlowStartChoice::Standard(()), 10);
    assert!((story.acks(10).cwnd() - 20.0).abs() < 1e-9);
    story.rtt = Duration::from_millis(150);
    while story.law.in_slow_start() {
        story.ack(1);
    }
    assert!((story.cwnd() - story.ssthresh()).abs() < 1e-9);
    assert!(story.cwnd() < 27.0 + 1e-9, "{}", story.cwnd());
}

#[test]
fn dctcp_goes_down_to_two_where_all_is_marked() {
    // alpha stays at 1024: 10 - 5 = 5, 5 - 2 = 3, 3 - 1 = 2, and no less.
    let mut story = avoiding(GrowthChoice::DctcpLinux(()), 10);
    let windows = [(); 4].map(|()| story.congestion(Signal::Ecn { abe: true }, 10).cwnd());
    assert!(windows.iter().zip([5.0, 3.0, 2.0, 2.0]).all(|(a, b)| (a - b).abs() < 1e-9));
}

#[test]
fn a_small_alpha_falls_to_nothing() {
    // dctcp_update_alpha: below 16/1024 all of it goes at once, as a sixteenth of it rounds to nothing.
    let mut law = Dctcp::default();
    let mut una = Seq::FIRST_BYTE;
    let mut alphas = Vec::new();
    while law.alpha() > 0 {
        una = una + Bytes::new(1000);
        let report = MarkReport { counted: Bytes::new(1000), marked: Bytes::ZERO, una, nxt: una };
        Module::on_marks(&mut law, &report, [1, 0]);
        alphas.push(law.alpha());
    }
    assert_eq!(alphas[..3], [960, 900, 844]);
    let last = alphas[alphas.len() - 2];
    assert!(last < 16 && last > 0, "{last}");
}

#[test]
fn no_law_of_linux_here_paces() {
    for choice in [GrowthChoice::VegasLinux(()), GrowthChoice::DctcpLinux(())] {
        assert_eq!(AnyGrowth::new(choice).pacing_rate(), None::<Rate>);
    }
}
