use super::*;
use crate::sender::JumpPhase::{self, *};

fn write(pair: &mut Pair, bytes: u64) {
    pair.ends[0].write(Bytes::new(bytes));
}

fn phase(pair: &Pair) -> JumpPhase {
    pair.ends[0].jump_phase()
}

fn cwnd(pair: &Pair) -> u64 {
    pair.ends[0].sender().cwnd().get()
}

fn ssthresh(pair: &Pair) -> Option<u64> {
    pair.ends[0].sender().ssthresh().map(Bytes::get)
}

#[test]
fn jump_start_paces_all_there_is_over_a_round_trip() {
    // 50 segments in 20 ms: one each 0.4 ms from 20 ms on, the last at 20 + 49 * 0.4 = 39.6 ms. Two
    // or three in each whole millisecond: 20.0, 20.4, 20.8; 21.2, 21.6; ...
    let mut pair = pair("newreno+sack+jumpstart");
    write(&mut pair, 50_000);
    pair.until(39);
    assert_eq!(pair.sent_at(20), [0, 1, 2]);
    assert_eq!(pair.sent_at(21), [3, 4]);
    assert_eq!(pair.sent_at(29), [23, 24]);
    assert_eq!((cwnd(&pair), ssthresh(&pair)), (50_000, Some(50_000)));
    assert_eq!(phase(&pair), Unvalidated);
    pair.until(60);
    assert_eq!(pair.data_sent, 50);
    assert_eq!(pair.log.last().unwrap().0, 39);
    // Additive increase: a window acknowledged is worth a segment.
    assert_eq!((phase(&pair), cwnd(&pair)), (Normal, 51_000));
}

#[test]
fn a_jump_start_with_losses_ends_with_half_of_what_came_through() {
    // D = 50 segments, R = 20 of them sent again: (50 - 20)/2 = 15. RFC 5681 alone: the flight is 40
    // when the loss of the eleventh is noticed, which would leave 20.
    let mut pair = pair("newreno+sack+jumpstart");
    pair.drop = (10..30).collect();
    write(&mut pair, 50_000);
    pair.until(54);
    assert_eq!((phase(&pair), cwnd(&pair)), (SafeRetreat, 20_000));
    pair.until(200);
    assert_eq!(pair.ends[0].sender().stats().segments_retransmitted, 20);
    assert_eq!((phase(&pair), cwnd(&pair), ssthresh(&pair)), (Normal, 15_000, Some(15_000)));
}

#[test]
fn what_fits_the_first_window_needs_no_jump_start() {
    let mut pair = pair("newreno+jumpstart");
    write(&mut pair, 4_000);
    pair.until(20);
    assert_eq!((phase(&pair), cwnd(&pair), ssthresh(&pair)), (Normal, 4_000, None));
    assert_eq!(pair.sent_at(20).len(), 4);
}

#[test]
fn the_peers_window_bounds_a_jump_start() {
    // The window of a SYN-ACK is not scaled: 65,535 bytes, of which 65 segments are whole, each
    // 20 ms * 1000/65535 = 0.3052 ms after the one before: the last at 20 + 64 * 0.3052 = 39.53 ms.
    let mut pair = pair("newreno+sack+jumpstart");
    write(&mut pair, 100_000);
    pair.until(39);
    assert_eq!((cwnd(&pair), pair.data_sent), (65_535, 64));
    // What was used of it is what is left of it.
    pair.until(40);
    assert_eq!(ssthresh(&pair), Some(65_000));
}

#[test]
fn a_lost_syn_leaves_no_round_trip_to_jump_by() {
    for name in ["newreno+jumpstart", "newreno+resume(1000,20ms)"] {
        let mut pair = pair(name);
        // The first SYN is lost.
        while pair.ends[0].poll_transmit(pair.now).is_some() {}
        write(&mut pair, 100_000);
        pair.until(1_025);
        assert_eq!((phase(&pair), cwnd(&pair)), (Normal, 1_000), "{name}");
    }
}

/// 300 saved segments, of which 150 are jumped to, a round trip of 20 ms, a first window of ten.
fn resuming() -> Pair {
    pair("newreno+sack+iw10+resume(300,20ms)")
}

#[test]
fn careful_resume_jumps_to_half_of_the_saved_window() {
    // The draft's first example, where the path is confirmed as early as it may be: when the tenth
    // segment is acknowledged, at 40 ms. By then nine ACKs have let out 18 more, so that
    // 150 - 18 = 132 unvalidated segments follow, 20 ms/150 = 0.1333 ms apart: until 57.5 ms.
    let mut pair = resuming();
    write(&mut pair, 10_000_000);
    pair.until(39);
    assert_eq!((phase(&pair), cwnd(&pair)), (Reconnaissance, 10_000));
    pair.until(50);
    assert_eq!((phase(&pair), cwnd(&pair)), (Unvalidated, 150_000));
    assert!((7..=8).contains(&pair.sent_at(49).len()), "{:?}", pair.sent_at(49));
    pair.until(58);
    assert_eq!((phase(&pair), cwnd(&pair), pair.data_sent), (Validating, 150_000, 10 + 150));
    // Slow start goes on: 150 segments acknowledged, the last of them unvalidated.
    pair.until(78);
    assert_eq!((phase(&pair), cwnd(&pair), ssthresh(&pair)), (Normal, 300_000, None));
}

#[test]
fn careful_resume_keeps_no_window_that_was_not_used() {
    // The second example: 50 unvalidated segments, 68 in flight with the 18 from before. At 60.01 ms,
    // when the round trip is over, the ACKs of those 18 are coming in: after n of them the window
    // becomes the flight, 68 - n. By 60.5 ms 18 + 4 ACKs have come; in slow start the others of them
    // add a segment each: 68 - n + 22 - n. With n from 10 to 18 that is from 54 to 70.
    let mut pair = resuming();
    write(&mut pair, 78_000);
    pair.until(59);
    assert_eq!((phase(&pair), cwnd(&pair), pair.data_sent), (Unvalidated, 150_000, 78));
    pair.until(60);
    assert_eq!(phase(&pair), Validating);
    assert!((54_000..=70_000).contains(&cwnd(&pair)), "{}", cwnd(&pair));
    pair.until(70);
    assert_eq!(phase(&pair), Normal);
}

#[test]
fn careful_resume_is_left_if_what_is_sent_is_less_than_was_before() {
    // Five unvalidated segments: what is in flight when the round trip is over is no more than
    // PipeSize, 18, which is the window then; in slow start the eight ACKs that may be missing yet
    // add up to eight segments.
    let mut pair = resuming();
    write(&mut pair, 33_000);
    pair.until(59);
    assert_eq!(phase(&pair), Unvalidated);
    pair.until(65);
    assert_eq!(phase(&pair), Normal);
    assert!((18_000..=26_000).contains(&cwnd(&pair)), "{}", cwnd(&pair));
}

#[test]
fn a_loss_in_careful_resume_is_a_safe_retreat() {
    // The third example: the 35th unvalidated segment is lost, the 63rd of all. The third SACK above
    // it finds PipeSize at 18 + 34 + 3 = 55 segments: the window becomes half of that.
    let mut pair = resuming();
    pair.drop = vec![62];
    write(&mut pair, 10_000_000);
    pair.until(64);
    assert_eq!(phase(&pair), Validating);
    pair.until(66);
    assert_eq!((phase(&pair), cwnd(&pair)), (SafeRetreat, 27_500));
    // It does not grow until all is repaired. Then 131 of 132 have come through at once: the threshold
    // is Beta (18 + 131) = 74.5 segments.
    let end = (67..300).find(|millis| {
        let retreating = phase(pair.until(*millis)) == SafeRetreat;
        assert!(!retreating || cwnd(&pair) == 27_500);
        !retreating
    });
    assert!(end.is_some());
    assert_eq!((phase(&pair), ssthresh(&pair)), (Normal, Some(74_500)));
    assert!(cwnd(&pair) < 40_000, "{}", cwnd(&pair));
    assert_eq!(pair.ends[0].sender().stats().timeouts, 0);
}

#[test]
fn careful_resume_does_not_jump_on_another_path() {
    for (name, drop, why) in [
        ("newreno+sack+iw10+resume(300,40ms)", None, "20 ms is half of 40"),
        ("newreno+sack+iw10+resume(300,1.9ms)", None, "20 ms is more than ten times 1.9"),
        ("newreno+sack+iw10+resume(40,20ms)", None, "half of 40 is what slow start has"),
        ("newreno+sack+iw10+resume(300,20ms)", Some(3), "a loss among the initial data"),
    ] {
        let mut pair = pair(name);
        pair.drop = drop.into_iter().collect();
        write(&mut pair, 10_000_000);
        pair.until(55);
        assert_eq!(phase(&pair), Normal, "{why}");
        assert!(cwnd(&pair) <= 20_000, "{why}");
    }
}

#[test]
fn every_law_that_takes_a_window_takes_a_jump() {
    for law in [
        "tahoe",
        "reno",
        "cubic",
        "cubic(linux)",
        "highspeed",
        "vegas",
        "westwood",
        "westwood(linux)",
        "scalable",
        "hybla",
        "htcp",
        "veno",
        "yeah",
        "illinois",
        "bic",
        "nv",
        "cdg",
        "lp",
        "lp(linux)",
        "ledbat",
        "ledbatpp",
        "compound",
        "dctcp",
    ] {
        let mut pair = pair(&format!("{law}+iw10+resume(300,20ms)"));
        write(&mut pair, 10_000_000);
        pair.until(50);
        // Half of 300 segments, without the timestamps that some laws' ends use.
        let window = pair.ends[0].sender().mss().times(150).get();
        assert_eq!((phase(&pair), cwnd(&pair)), (Unvalidated, window), "{law}");
        assert!([150_000, 148_200].contains(&window));
    }
    for refused in ["bbr+jumpstart", "bbr1+resume(300,20ms)", "ccp(1)+jumpstart"] {
        assert!(refused.parse::<Variant>().unwrap().resolve(Profile::Rfc).is_err(), "{refused}");
    }
}
