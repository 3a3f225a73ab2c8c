use super::*;
use crate::queue::fixtures::{ROOM, asking_for_ecn, millis, next, packet};

fn push(codel: &mut CoDel, now: Instant, ids: std::ops::Range<u32>, ecn: bool) {
    for id in ids {
        let packet = packet(id, 1000, 0);
        let packet = if ecn { asking_for_ecn(packet) } else { packet };
        assert_eq!(codel.offer(now, packet, &ROOM, &mut Log::default()), Admission::Taken);
    }
}

/// Takes a packet every millisecond of `span`; returns when packets were dropped, when marked.
fn serve(codel: &mut CoDel, span: std::ops::Range<u64>) -> (Vec<u64>, Vec<u64>) {
    let (mut drops, mut marks) = (Vec::new(), Vec::new());
    for at in span {
        let (sent, dropped, marked) = next(codel, millis(at));
        assert!(sent.is_some(), "{at}");
        drops.extend(dropped.iter().map(|_| at));
        marks.extend(marked.iter().map(|_| at));
    }
    (drops, marks)
}

/// 1000 packets come at 0 and leave one a millisecond, so that the delay at t ms is t ms. It comes to
/// the target at 5 ms; an interval later, at 105 ms, the first is dropped. The next are due 100 ms,
/// 100/sqrt(2) = 70.711, 100/sqrt(3) = 57.735, 50, 44.721, 40.825, 37.796 ms after one another: at
/// 205, 275.711, 333.446, 383.446, 428.167, 468.992, 506.788, and fall on the first packet that
/// leaves at or after.
const DROPS: [u64; 8] = [105, 205, 276, 334, 384, 429, 469, 507];

#[test]
fn drops_follow_the_control_law() {
    let mut codel = CoDel::new(CoDelConfig::default());
    push(&mut codel, millis(0), 0..1000, false);
    assert!(serve(&mut codel, 0..105).0.is_empty());
    // 105 have left: number 105 is dropped, and 106 sent.
    assert_eq!(next(&mut codel, millis(105)), (Some(106), vec![105], vec![]));
    assert_eq!(serve(&mut codel, 106..540).0, DROPS[1..]);
}

#[test]
fn the_law_of_linux_takes_a_step_of_newtons_a_drop() {
    let law = CoDelLaw { rules: CoDelRules::Linux, ..CoDelLaw::default() };
    let mut codel = CoDel::new(CoDelConfig { law, ..CoDelConfig::default() });
    push(&mut codel, millis(0), 0..1000, false);
    // The root y of count n becomes y (3 - n y^2) / 2: from 1 for one it is 1/2 for two, 0.5625 for three, 0.4878 for four,
    // 0.4415 for five. Drops are due at 205, 255, 311.3, 360.03 and 404.2 ms.
    assert_eq!(serve(&mut codel, 0..420).0, [105, 205, 255, 312, 361, 405]);
}

#[test]
fn marks_replace_drops_at_the_same_times() {
    let config = CoDelConfig { ecn: true, ..CoDelConfig::default() };
    let mut codel = CoDel::new(config);
    push(&mut codel, millis(0), 0..1000, true);
    assert_eq!(serve(&mut codel, 0..540), (vec![], DROPS.to_vec()));
    // What does not ask for ECN is dropped none the less.
    let mut codel = CoDel::new(config);
    push(&mut codel, millis(0), 0..1000, false);
    assert_eq!(serve(&mut codel, 0..540), (DROPS.to_vec(), vec![]));
}

#[test]
fn a_new_dropping_state_begins_where_the_last_one_ended() {
    let mut codel = CoDel::new(CoDelConfig::default());
    push(&mut codel, millis(0), 0..1000, false);
    serve(&mut codel, 0..508);
    while next(&mut codel, millis(508)).0.is_some() {}
    // Eight drops, of which the state began with one: it begins with seven, since the last drop was
    // due at 506.788 + 100/sqrt(8) = 542.1 ms, less than 16 intervals ago. 705 + 100/sqrt(7) =
    // 742.796, + 100/sqrt(8) = 778.152, + 100/3 = 811.485.
    push(&mut codel, millis(600), 1000..2000, false);
    assert_eq!(serve(&mut codel, 600..820).0, [705, 743, 779, 812]);
    while next(&mut codel, millis(820)).0.is_some() {}
    // The next drop was due at 811.485 + 100/sqrt(10) = 843.1; 16 intervals on, all is forgotten.
    push(&mut codel, millis(2_400), 2000..3000, false);
    assert_eq!(serve(&mut codel, 2_400..2_650).0, [2_505, 2_605]);
}

/// RFC 8289 §5.5: `now - drop_next < 16 * interval`.
#[test]
fn the_last_dropping_state_is_remembered_for_sixteen_intervals() {
    // As above, the last drop was due at 542.1 ms: an arrival at 2,036 ms is dropped at 2,141 ms, 1,598.9 ms later, and one
    // at 2,038 ms at 2,143 ms, 1,600.9 ms later. In the first case the next drop comes 100/sqrt(7) = 37.8 ms later, in the
    // second 100 ms.
    for (from, second) in [(2_036, 2_141 + 38), (2_038, 2_143 + 100)] {
        let mut codel = CoDel::new(CoDelConfig::default());
        push(&mut codel, millis(0), 0..1000, false);
        serve(&mut codel, 0..508);
        while next(&mut codel, millis(508)).0.is_some() {}
        push(&mut codel, millis(from), 1000..2000, false);
        let drops = serve(&mut codel, from..from + 250).0;
        assert_eq!(drops[..2], [from + 105, second], "{from}");
    }
}

#[test]
fn a_line_of_one_full_packet_is_not_a_standing_queue() {
    let mut codel = CoDel::new(CoDelConfig::default());
    // Every 10 ms one comes and finds one; each waits 10 ms, twice the target.
    push(&mut codel, millis(0), 0..1, false);
    for at in 1..100 {
        push(&mut codel, millis(10 * at), 1..2, false);
        let (sent, dropped, _) = next(&mut codel, millis(10 * at));
        assert!(sent.is_some() && dropped.is_empty());
    }
}

#[test]
fn a_delay_below_the_target_starts_the_interval_anew() {
    let mut codel = CoDel::new(CoDelConfig::default());
    push(&mut codel, millis(0), 0..90, false);
    assert!(serve(&mut codel, 0..88).0.is_empty());
    while next(&mut codel, millis(88)).0.is_some() {}
    // 105 ms, when the first interval would have been over, passes; 95 + 105 = 200 ms counts.
    push(&mut codel, millis(95), 0..1000, false);
    assert_eq!(serve(&mut codel, 95..201).0, [200]);
}

#[test]
fn a_threshold_marks_all_that_come_late() {
    let threshold = Some(Duration::from_millis(2));
    let mut codel = CoDel::new(CoDelConfig {
        law: CoDelLaw { ce_threshold: threshold, ..CoDelLaw::default() },
        ..CoDelConfig::default()
    });
    push(&mut codel, millis(0), 0..6, true);
    assert_eq!(serve(&mut codel, 0..6).1, [3, 4, 5]);
}

#[test]
fn a_full_queue_refuses() {
    let mut codel = CoDel::new(CoDelConfig::default());
    let room = crate::queue::fixtures::full(1);
    let refused = Admission::Refused(Reason::Full);
    assert_eq!(codel.offer(millis(0), packet(0, 1000, 0), &room, &mut Log::default()), refused);
}
