use super::*;
use crate::growth::GrowthChoice;
use crate::growth::tests::Story;

/// A path that carries so many segments a 100 ms without a queue.
const PIPE: f64 = 40.0;

/// A round: a window of ACKs, with the round-trip time that the window has on the path.
fn round(story: &mut Story) -> f64 {
    let queued = (story.cwnd() / PIPE).max(1.0);
    story.rtt = Duration::from_secs_f64(0.1 * queued);
    let acks = story.law.cwnd().whole_segments(story.mss);
    story.acks(acks).cwnd()
}

fn vegas(segments: u64) -> Story {
    Story::new(GrowthChoice::Vegas(LawForm::OfProfile), segments)
}

#[test]
fn slow_start_doubles_every_other_round() {
    let mut story = vegas(2);
    let windows: Vec<f64> = (0..6).map(|_| round(&mut story)).collect();
    for (window, expected) in windows.iter().zip([4.0, 4.0, 8.0, 8.0, 16.0, 16.0]) {
        assert!((window - expected).abs() < 1e-9, "{windows:?}");
    }
    assert!(story.law.in_slow_start());
}

#[test]
fn slow_start_ends_when_more_than_a_segment_waits() {
    // 2, 4, 4, ..., 32, 32, 64: the first window beyond the 40 that the path carries. 24 wait, which the
    // round without growth that follows finds.
    let mut story = vegas(2);
    let windows: Vec<f64> = (0..12).map(|_| round(&mut story)).collect();
    assert!(!story.law.in_slow_start());
    assert!((story.ssthresh() - 64.0).abs() < 4.0, "{windows:?}");
}

#[test]
fn the_window_settles_with_two_to_four_segments_waiting() {
    // 100 ms and 40 segments: a window of W has W - 40 waiting. From below and from above.
    for from in [20, 60] {
        let mut story = vegas(from);
        story.rtt = Duration::from_millis(100);
        story.ack(1);
        // ssthresh at the window: congestion avoidance.
        story.law.rebase(&Proposal {
            cwnd: None,
            ssthresh: Some(story.mss.times(2)),
            mss: story.mss,
            why: crate::event::Why::Idle,
        });
        for _ in 0..100 {
            round(&mut story);
        }
        assert!((42.0..=44.0).contains(&story.cwnd()), "{from}: {}", story.cwnd());
    }
}

#[test]
fn a_window_that_is_not_used_stays() {
    let mut story = vegas(20);
    story.law.rebase(&Proposal {
        cwnd: None,
        ssthresh: Some(story.mss.times(2)),
        mss: story.mss,
        why: crate::event::Why::Idle,
    });
    story.limited_by = Limit::Application;
    assert!((story.acks(100).cwnd() - 20.0).abs() < 1e-9);
}

#[test]
fn a_loss_costs_half() {
    let mut story = vegas(20);
    story.congestion(Signal::Loss, 20);
    assert!((story.cwnd() - 10.0).abs() < 1e-9 && (story.ssthresh() - 10.0).abs() < 1e-9);
}
