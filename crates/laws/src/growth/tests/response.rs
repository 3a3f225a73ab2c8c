//! Response functions: the mean window of a law when exactly one packet in 1/p is lost.

use super::*;

const RFC_CUBIC: GrowthChoice = GrowthChoice::Cubic(LawForm::Published);

const LINUX_CUBIC: GrowthChoice = GrowthChoice::CubicLinux(());

/// The mean window of `choice` with a loss after every `period` packets, at a round-trip time of
/// `rtt`, over the later half of `losses` losses. The loss is noticed at once and repaired in no
/// time, as in the model of RFC 9438 §5.
fn mean_window(choice: GrowthChoice, rtt: Duration, period: u64, losses: u64, from: u64) -> f64 {
    let mut story = Story::new(choice, from);
    story.rtt = rtt;
    story.reduce(Signal::Loss, story.law.cwnd());
    let (mut packets, mut begun) = (0.0, story.now);
    for loss in 0..losses {
        if loss == losses / 2 {
            (packets, begun) = (0.0, story.now);
        }
        for _ in 0..period {
            story.now += Duration::from_secs_f64(rtt.as_secs_f64() / story.cwnd());
            story.ack(1);
        }
        packets += period as f64;
        story.reduce(Signal::Loss, story.law.cwnd());
    }
    packets * rtt.as_secs_f64() / story.now.since(begun).as_secs_f64()
}

fn assert_means(choice: GrowthChoice, rtt_millis: u64, rows: &[(u64, u64, u64)]) {
    for &(period, losses, expected) in rows {
        // From twice the mean, so that the law has to find it.
        let from = 2 * expected;
        let mean = mean_window(choice, Duration::from_millis(rtt_millis), period, losses, from);
        assert!(
            (mean / expected as f64 - 1.0).abs() < 0.1,
            "{choice:?}, a loss in {period}: {mean} and not {expected}"
        );
    }
}

#[test]
fn reno_meets_its_response_function() {
    // RFC 9438 §5.1, table 1, column Reno: 1.2/sqrt(p).
    assert_means(RENO, 100, &[(1_000, 100, 38), (10_000, 40, 120), (100_000, 20, 379)]);
}

#[test]
fn cubic_meets_its_response_function() {
    // RFC 9438 §5.1, table 1 (RTT 0.1 s, C = 0.4): 38 where Reno's 1.2/sqrt(p) is the larger, then
    // 1.054 RTT^0.75/p^0.75. Table 2 (RTT 0.01 s): Reno's down to 1e-5. The curve is flat where the
    // losses come, so that the cycle of the model is approached slowly.
    assert_means(
        RFC_CUBIC,
        100,
        &[(1_000, 1_000, 38), (10_000, 1_000, 187), (100_000, 100, 1_054)],
    );
    assert_means(RFC_CUBIC, 10, &[(10_000, 100, 120), (100_000, 60, 379)]);
}

#[test]
fn highspeed_meets_its_response_function() {
    // RFC 3649 §5: 0.12/p^0.835, worked out in RFC 9438 §5.1, table 1, column HSTCP.
    assert_means(
        GrowthChoice::HighSpeed(LawForm::OfProfile),
        100,
        &[(1_000, 200, 38), (10_000, 100, 263), (100_000, 60, 1_795)],
    );
}

#[test]
fn linux_cubic_meets_the_response_function_of_cubic() {
    assert_means(LINUX_CUBIC, 100, &[(10_000, 1_000, 187), (100_000, 100, 1_054)]);
    assert_means(LINUX_CUBIC, 10, &[(10_000, 100, 120), (100_000, 60, 379)]);
}

#[test]
fn linux_cubic_is_bolder_where_windows_are_small() {
    // Below the plateau Linux rounds the distance to it down, so that the window grows by at least a
    // segment a round trip, and not by 0.529 of one, as Reno's would with a reduction to 0.7. The
    // mean windows of AIMD(a, 0.7), sqrt(a (1 + 0.7)/(2 (1 - 0.7) p)), are 38.7 and 53.2.
    let mean = mean_window(LINUX_CUBIC, Duration::from_millis(100), 1_000, 1_000, 76);
    assert!(38.7 < mean && mean < 53.2, "{mean}");
}

#[test]
fn compound_meets_its_response_function() {
    // draft-sridharan-tcpm-ctcp-02, table 1: w = 0.255/p^0.8 gives 64, 404 and 2552 packets. Within
    // 15 %: the bound that was set beforehand.
    for (period, losses, expected) in
        [(1_000, 200, 64.0), (10_000, 100, 404.0), (100_000, 60, 2552.0)]
    {
        let rtt = Duration::from_millis(100);
        let mean = mean_window(GrowthChoice::Compound(()), rtt, period, losses, 200);
        assert!((mean / expected - 1.0).abs() < 0.15, "a loss in {period}: {mean}, not {expected}");
    }
}
