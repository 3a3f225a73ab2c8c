use super::*;
use crate::growth::GrowthChoice;
use crate::growth::tests::Story;

/// In congestion avoidance with a window of so many segments.
fn compound(segments: u64) -> Story {
    let mut story = Story::new(GrowthChoice::Compound(()), 2 * segments);
    story.congestion(Signal::Loss, 2 * segments);
    story
}

/// A round: a window of ACKs at the round-trip time that stands.
fn round(story: &mut Story) -> f64 {
    let acks = story.law.cwnd().whole_segments(story.mss);
    story.acks(acks).cwnd()
}

#[test]
fn without_a_queue_a_round_adds_an_eighth_of_the_power() {
    // dw/dround = w^(3/4)/8, so that the fourth root of w grows by 1/32 a round: from 81 = 3^4 ten
    // rounds lead to 3.3125^4 = 120.4. Reno's window takes ten of them.
    let mut story = compound(81);
    for _ in 0..10 {
        round(&mut story);
    }
    assert!((story.cwnd() - 120.4).abs() < 1.5, "{}", story.cwnd());
    assert!((parts(&story).cwnd - 91.0).abs() < 0.3, "{}", parts(&story).cwnd);
}

#[test]
fn below_the_low_window_the_law_is_renos() {
    // 20 segments, and three rounds: 23 (a little less, because whole ACKs do not make up a whole
    // window), and nothing more although 20^(3/4)/8 = 1.18.
    let mut story = compound(20);
    for _ in 0..3 {
        round(&mut story);
    }
    assert!((story.cwnd() - 23.0).abs() < 0.2, "{}", story.cwnd());
}

#[test]
fn a_queue_of_gamma_takes_the_delay_window_back() {
    // 100 segments at 100 ms, then at 150 ms: a third of the window waits, more than γ = 30, and dwnd
    // gives up as much a round until only Reno's window is left, which goes on growing by one.
    let mut story = compound(100);
    for _ in 0..10 {
        round(&mut story);
    }
    let Parts { cwnd, dwnd } = parts(&story);
    assert!(dwnd > 20.0, "{cwnd} {dwnd}");
    story.rtt = Duration::from_millis(150);
    for _ in 0..4 {
        round(&mut story);
    }
    let after = parts(&story);
    assert!(after.dwnd < 1e-9, "{}", after.dwnd);
    // Four rounds, less what the first of them lost to the delay window's share of the ACKs.
    assert!((after.cwnd - cwnd - 4.0).abs() < 0.5, "{} {cwnd}", after.cwnd);
}

struct Parts {
    cwnd: f64,
    dwnd: f64,
}

fn parts(story: &Story) -> Parts {
    match &story.law {
        crate::growth::AnyGrowth::Compound(law) => Parts { cwnd: law.cwnd, dwnd: law.dwnd },
        _ => unreachable!(),
    }
}

fn gamma(story: &Story) -> f64 {
    match &story.law {
        crate::growth::AnyGrowth::Compound(law) => law.gamma,
        _ => unreachable!(),
    }
}

#[test]
fn a_loss_halves_the_sum_and_renos_share_of_it() {
    let mut story = compound(100);
    for _ in 0..10 {
        round(&mut story);
    }
    let before = parts(&story);
    story.reduce(Signal::Loss, story.law.cwnd());
    let after = parts(&story);
    assert!((after.cwnd - before.cwnd / 2.0).abs() < 1e-3);
    assert!((after.dwnd - before.dwnd / 2.0).abs() < 1e-3);
}

#[test]
fn a_timeout_ends_the_delay_part() {
    let mut story = compound(100);
    for _ in 0..10 {
        round(&mut story);
    }
    story.congestion(Signal::Timeout { consecutive: 1 }, 100);
    assert!(parts(&story).dwnd.abs() < 1e-9 && (story.cwnd() - 1.0).abs() < 1e-9);
    // Slow start to half of 100, with no delay window on the way.
    story.acks(49);
    assert!((story.cwnd() - 50.0).abs() < 1e-9 && parts(&story).dwnd.abs() < 1e-9);
}

#[test]
fn gamma_follows_what_reno_alone_would_have_waiting() {
    // 60 segments, all Reno's; base 100 ms, then 125 ms: a fifth waits, 12 segments, of which three
    // quarters are 9. γ = 7/8 · 30 + 9/8 = 27.375 after one loss. The window grows a little
    // meanwhile: within 0.3.
    let mut story = compound(60);
    round(&mut story);
    round(&mut story);
    story.rtt = Duration::from_millis(125);
    round(&mut story);
    let reno = parts(&story).cwnd;
    story.reduce(Signal::Loss, story.law.cwnd());
    let expected = 30.0 * 7.0 / 8.0 + 0.75 * reno * 0.2 / 8.0;
    assert!((gamma(&story) - expected).abs() < 0.05, "{} {expected}", gamma(&story));
    assert!((gamma(&story) - 27.375).abs() < 0.3);
    // A second loss before a round was measured changes nothing.
    let once = gamma(&story);
    story.reduce(Signal::Loss, story.law.cwnd());
    assert!((gamma(&story) - once).abs() < 1e-12);
}

#[test]
fn gamma_keeps_its_lower_bound() {
    // Losses without any queue: γ falls by an eighth each, to 5 and not below.
    let mut story = compound(60);
    for _ in 0..40 {
        for _ in 0..3 {
            round(&mut story);
        }
        while story.cwnd() < 60.0 {
            round(&mut story);
        }
        story.reduce(Signal::Loss, story.law.cwnd());
    }
    assert!((gamma(&story) - 5.0).abs() < 1e-9, "{}", gamma(&story));
}
