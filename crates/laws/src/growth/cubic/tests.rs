use ackclock_units::Duration;

use super::*;
use crate::event::{SlowStartStep, Why};
use crate::growth::tests::Story;
use crate::growth::{AnyGrowth, GrowthChoice, Value};

const RFC: GrowthChoice = GrowthChoice::Cubic(LawForm::Published);

/// A window of so many segments just after a loss, at a round-trip time of 100 ms.
fn after_loss(segments: u64) -> Story {
    let mut story = Story::new(RFC, segments);
    story.congestion(Signal::Loss, segments);
    story
}

fn state(story: &Story) -> State {
    match &story.law {
        AnyGrowth::Cubic(cubic) => cubic.state,
        other => panic!("{other:?}"),
    }
}

fn assert_between(low: f64, value: f64, high: f64) {
    assert!(low <= value && value <= high, "{value} is not in [{low}, {high}]");
}

#[test]
fn a_loss_leaves_seven_tenths() {
    let story = after_loss(1000);
    assert!((story.cwnd() - 700.0).abs() < 1e-9 && (story.ssthresh() - 700.0).abs() < 1e-9);
    assert!((state(&story).w_max.unwrap() - 1000.0).abs() < 1e-9);
}

#[test]
fn a_step_is_towards_the_curve_a_round_trip_ahead() {
    // K = cbrt(300/0.4) = cbrt(750) = 9.0856 s. At t = 0 the curve is at 700 and W_est an ACK
    // further: 700 + 0.5294/700 = 700.0008. At t = 0.01 the curve is at 1000 - 0.4 · 9.0756³ =
    // 700.99, beyond W_est; W(0.11) = 1000 - 0.4 · 8.9756³ = 710.76; the ACK adds 10.76/700 = 0.01537.
    let step = |segments| {
        let mut story = after_loss(1000);
        story.ack(1);
        story.now += Duration::from_millis(10);
        story.ack(segments);
        story
    };
    assert!((state(&step(1)).epoch.unwrap().k - 9.0856).abs() < 1e-4);
    assert!((state(&step(1)).cwnd - 700.0161).abs() < 1e-4);
    // An ACK of two segments makes two steps.
    assert!((state(&step(2)).cwnd - 700.0315).abs() < 1e-4);
}

#[test]
fn the_window_follows_the_curve() {
    // W(t) = 1000 + 0.4 (t - 9.0856)³. The window aims at W(t + 0.1) and lags behind it by about a
    // round trip, so that it lies between W(t - 0.1) and W(t + 0.1).
    let mut story = after_loss(1000);
    story.ack(1);
    for (span, low, high) in [
        // t = 5: 1000 - 0.4 · 4.1856³ = 970.67; 1000 - 0.4 · 3.9856³ = 974.68.
        (Duration::from_secs(5), 970.67, 974.68),
        // t = 9.0856: the plateau. W(9.0856 ± 0.1) = 1000 ± 0.0004.
        (Duration::from_micros(4_085_600), 999.9, 1000.1),
        // t = 12: 1000 + 0.4 · 2.8144³ = 1008.92; 1000 + 0.4 · 3.0144³ = 1010.96.
        (Duration::from_micros(2_914_400), 1008.92, 1010.96),
    ] {
        story.run(span);
        assert_between(low, story.cwnd(), high);
    }
}

#[test]
fn the_target_is_at_most_half_a_window_away() {
    // A minute after the loss the curve is beyond 1000 + 0.4 · 50.9³ = 53 000: 0.5 a segment.
    let mut story = after_loss(1000);
    story.ack(1);
    let before = story.cwnd();
    story.now += Duration::from_secs(60);
    story.ack(1);
    assert_between(before + 0.499, story.cwnd(), before + 0.501);
}

#[test]
fn a_small_window_grows_as_renos_would() {
    // At 10 ms and 10 segments the curve hardly moves in a round trip. W_est adds 0.5294/cwnd a
    // segment: seven ACKs from 7 on add between 7 · 0.5294/7.53 = 0.492 and 0.5294.
    let mut story = after_loss(10);
    story.rtt = Duration::from_millis(10);
    story.ack(1);
    let before = story.cwnd();
    for _ in 0..7 {
        story.now += Duration::from_micros(1_400);
        story.ack(1);
    }
    assert_between(before + 0.492, story.cwnd(), before + 0.5294);
    // From the window of the last loss on it adds a segment a window, as Reno does: eleven ACKs from
    // 11 on add between 11/12 and 1.
    while story.cwnd() < 11.0 {
        story.ack(1);
    }
    let before = story.cwnd();
    story.acks(11);
    assert_between(before + 0.91, story.cwnd(), before + 1.0);
}

#[test]
fn a_second_loss_before_the_plateau_gives_room_to_others() {
    // §4.7: 70 < 100, so that W_max = 70 · 1.7/2 = 59.5; the window is 49.
    let mut story = after_loss(100);
    story.congestion(Signal::Loss, 70);
    assert!((state(&story).w_max.unwrap() - 59.5).abs() < 1e-9);
    assert!((story.cwnd() - 49.0).abs() < 1e-9);
    // K = cbrt(10.5/0.4) = cbrt(26.25) = 2.972.
    story.ack(1);
    assert!((state(&story).epoch.unwrap().k - 2.972).abs() < 1e-3);
}

/// Fast convergence took a window some hundredths of a segment short of the plateau for a path with
/// less room, and `W_max` fell by 15 % at every such loss.
#[test]
fn a_loss_on_the_plateau_takes_no_room_away() {
    // K = cbrt(30/0.4) = 4.217 s. t = 4: the window lies between W(3.9) = 100 - 0.4 · 0.317³ = 99.987
    // and W(4.1) = 99.999. t = 2.4: between W(2.3) = 100 - 0.4 · 1.917³ = 97.18 and W(2.5) = 97.98.
    let w_max_of_a_loss_at = |millis| {
        let mut story = after_loss(100);
        story.ack(1).run(Duration::from_millis(millis));
        story.congestion(Signal::Loss, 90);
        state(&story).w_max.unwrap()
    };
    assert_between(99.987, w_max_of_a_loss_at(4_000), 99.999);
    assert_between(0.85 * 97.18, w_max_of_a_loss_at(2_400), 0.85 * 97.98);
}

#[test]
fn after_a_timeout_the_curve_begins_at_its_plateau() {
    // §4.8: ssthresh = 70; the stage begins at 70 with K = 0: W(t) = 70 + 0.4 t³.
    let mut story = Story::new(RFC, 100);
    story.congestion(Signal::Timeout { consecutive: 1 }, 100).acks(69);
    assert!((story.cwnd() - 70.0).abs() < 1e-9 && !story.law.in_slow_start());
    story.ack(1);
    let epoch = state(&story).epoch.unwrap();
    assert!(epoch.k.abs() < 1e-9 && (epoch.w_max - 70.0).abs() < 1e-9);
    // t = 5: 70 + 0.4 · 4.9³ = 117.06 and 70 + 0.4 · 5.1³ = 123.06; Reno has added fewer than 30.
    story.run(Duration::from_secs(5));
    assert_between(117.06, story.cwnd(), 123.06);
}

#[test]
fn a_slow_start_without_a_loss_ends_at_the_plateau() {
    // §4.10: cwnd_prior = W_max = cwnd, K = 0.
    let mut story = Story::new(RFC, 40);
    let ack = Ack {
        now: story.now,
        newly_acked: story.mss.bytes(),
        newly_delivered: story.mss.bytes(),
        una: ackclock_packet::Seq::FIRST_BYTE,
        nxt: ackclock_packet::Seq::FIRST_BYTE,
        rtt: None,
        srtt: Some(story.rtt),
        in_flight_before: story.law.cwnd(),
        in_flight: story.law.cwnd(),
        limited_by: Limit::Cwnd,
        in_recovery: false,
        may_grow: true,
        paced: false,
        mss: story.mss,
    };
    story.law.on_ack(&ack, Some(SlowStartStep { exit: true, ..SlowStartStep::grow(Bytes::ZERO) }));
    assert!(!story.law.in_slow_start());
    assert!((story.ssthresh() - 40.0).abs() < 1e-9);
    story.ack(1);
    let state = state(&story);
    assert!((state.cwnd_prior.unwrap() - 40.0).abs() < 1e-9);
    assert!(state.epoch.unwrap().k.abs() < 1e-9);
}

#[test]
fn time_without_data_does_not_count() {
    // Five seconds along the curve, then a minute in which the application sends next to nothing:
    // 0.2 s later the curve is where it would have been, at most 1000 - 0.4 · 3.7856³ = 978.30. With
    // the minute counted each ACK would have added half a segment.
    let mut story = after_loss(1000);
    story.ack(1).run(Duration::from_secs(5));
    story.limited_by = Limit::Application;
    let before = story.cwnd();
    story.ack(1);
    assert!((story.cwnd() - before).abs() < 1e-9, "an unused window does not grow");
    for _ in 0..60 {
        story.now += Duration::from_secs(1);
        story.ack(1);
    }
    assert!((story.cwnd() - before).abs() < 1e-9);
    story.now += Duration::from_secs(1);
    story.limited_by = Limit::Cwnd;
    story.run(Duration::from_millis(200));
    assert_between(before, story.cwnd(), 978.30);
}

#[test]
fn silence_does_not_count_even_if_the_window_is_always_filled() {
    // A window of segments an hour. Reno adds a segment for each: 2, 3, 4. With the hour counted the
    // three segments of the second would add half a segment each: 4.5.
    let mut story = after_loss(2);
    story.limited_by = Limit::Application;
    assert!((story.ack(2).cwnd() - 3.0).abs() < 1e-9);
    story.now += Duration::from_secs(3600);
    assert!((story.ack(3).cwnd() - 4.0).abs() < 1e-9);
}

#[test]
fn slow_start_does_not_grow_an_unused_window() {
    let mut story = Story::new(RFC, 10);
    story.limited_by = Limit::Application;
    assert!((story.acks(5).cwnd() - 10.0).abs() < 1e-9);
}

#[test]
fn a_reduction_for_nothing_is_taken_back() {
    let mut story = after_loss(100);
    story.acks(20).law.on_spurious();
    assert!((story.cwnd() - 100.0).abs() < 1e-9);
    assert_eq!(story.law.ssthresh(), None);
    // A second time there is nothing to take back.
    story.congestion(Signal::Loss, 100);
    story.law.on_spurious();
    story.law.on_spurious();
    assert!((story.cwnd() - 100.0).abs() < 1e-9);
    // §4.9.2: not when the window has outgrown what it was.
    let mut story = after_loss(100);
    story.ack(1).run(Duration::from_secs(12));
    let grown = story.cwnd();
    assert!(grown > 100.0);
    story.law.on_spurious();
    assert!((story.cwnd() - grown).abs() < 1e-9);
}

#[test]
fn a_timeout_for_nothing_is_taken_back_at_once() {
    let mut story = Story::new(RFC, 100);
    story.congestion(Signal::Timeout { consecutive: 1 }, 100);
    story.congestion(Signal::Timeout { consecutive: 2 }, 1);
    story.law.on_spurious();
    assert!((story.cwnd() - 100.0).abs() < 1e-9);
}

#[test]
fn another_rules_window_begins_another_stage() {
    let mut story = after_loss(100);
    story.ack(1).run(Duration::from_secs(2));
    story.law.rebase(&Proposal {
        cwnd: Some(story.mss.times(10)),
        ssthresh: None,
        mss: story.mss,
        why: Why::Idle,
    });
    // Back to ssthresh by slow start; then the curve towards the old plateau begins anew:
    // K = cbrt(30/0.4) = cbrt(75) = 4.217.
    assert!(story.law.in_slow_start());
    story.acks(60);
    assert!(!story.law.in_slow_start());
    story.ack(1);
    let epoch = state(&story).epoch.unwrap();
    assert_eq!(epoch.start, story.now);
    assert!((epoch.k - 4.217).abs() < 1e-3);
}

#[test]
fn a_mark_may_cost_less_than_a_loss() {
    // RFC 9438 §4.6: 0.7 of 100 segments; RFC 8511 §3: 0.85 of them.
    for (abe, left) in [(false, 70.0), (true, 85.0)] {
        let mut story = Story::new(RFC, 100);
        story.congestion(Signal::Ecn { abe }, 100);
        assert!((story.cwnd() - left).abs() < 1e-9);
    }
}

#[test]
fn the_published_variables_are_those_of_the_stage() {
    let mut story = after_loss(100);
    story.ack(1);
    let mut told = Vec::new();
    let mut names = Vec::new();
    story.law.variables(&mut |variable, value| {
        names.push(variable.name);
        told.push(value);
    });
    assert_eq!(names, ["w_max_segments", "k_s", "w_est_segments", "region"]);
    // h2o/quicly#679, RFC 9438 §4.2: K is that of the window after the reduction, cbrt((100 - 70) / 0.4) = cbrt(75) = 4.2172.
    let Value::Number(k) = told[1] else { panic!("{told:?}") };
    assert!((k - 4.2172).abs() < 1e-4, "{k}");
    assert_eq!(told[0], Value::Number(100.0));
    let region = |story: &Story| {
        let mut last = Value::Unknown;
        story.law.variables(&mut |_, value| last = value);
        last
    };
    // K = 9.0856 s of 1000 segments: after 0.1 s the curve is at 1000 - 0.4 · 8.9856³ = 709.8, and W_est still at 700.
    let mut large = after_loss(1000);
    large.ack(1);
    large.now += Duration::from_millis(100);
    large.ack(1);
    assert_eq!(region(&large), Value::Word("concave"));
    // After 12 s it is beyond the last loss, and W_est at 700 + 120 · 0.53 = 764.
    large.run(Duration::from_secs(12));
    assert_eq!(region(&large), Value::Word("convex"));
    // At 10 ms and 10 segments the curve hardly moves, and Reno's window is ahead (h2o/quicly#678).
    let mut small = after_loss(10);
    small.rtt = Duration::from_millis(10);
    small.ack(1);
    small.run(Duration::from_millis(200));
    assert_eq!(region(&small), Value::Word("reno_friendly"));
    assert_eq!(region(&Story::new(RFC, 10)), Value::Word("slow_start"));
}

proptest::proptest! {
    /// google/gvisor#13958: there an ACK could lower the window, where the curve is below it.
    #[test]
    fn an_ack_never_lowers_the_window(
        segments in 2_u64..2000,
        rtt in 1_u64..500,
        steps in proptest::collection::vec((0_u64..2000, 1_u64..20), 1..60),
        second in proptest::option::of(1_usize..30),
    ) {
        let mut story = after_loss(segments);
        story.rtt = Duration::from_millis(rtt);
        for (n, (millis, acked)) in steps.into_iter().enumerate() {
            story.now += Duration::from_millis(millis);
            if second == Some(n) {
                story.reduce(Signal::Loss, story.law.cwnd());
            }
            let before = story.cwnd();
            story.ack(acked);
            proptest::prop_assert!(story.cwnd() >= before, "{} after {before}", story.cwnd());
        }
    }
}
